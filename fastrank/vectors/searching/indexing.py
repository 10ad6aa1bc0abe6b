"""faiss indexes with the ids of their vectors and their metric."""

from __future__ import annotations

import threading

import numpy

from fastrank.common.arguments import at_least
from fastrank.common.messages import counted
from fastrank.common.progress import bar
from fastrank.errors import ArrayError, OptionError
from fastrank.vectors.searching.faiss_api import (
    check_gpu,
    load_faiss,
    metric_of,
    parts_of,
    reason_of,
    set_construction,
    split_factory,
)
from fastrank.vectors.searching.row_ids import DIGITS, RowIds, check_row_ids
from fastrank.vectors.searching.vectors import (
    DEFAULT_METRIC,
    block_rows,
    check_metric,
    open_vectors,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import numpy.typing as npt
    from faiss import Index as FaissIndex

    from fastrank.common.arrays import Array
    from fastrank.core.data.texts import Texts
    from fastrank.vectors.searching.row_ids import IdsLike
    from fastrank.vectors.searching.vectors import Vectors, VectorsLike

# The size of a training sample: vectors per inverted list, or at least as many as codes need.
PER_LIST, FOR_CODES = 64, 1 << 16
SEED = 1


class Index:
    """A faiss index with the ids of its vectors and its metric.

    faiss: the faiss object. ids: a sequence of bytes, or None if faiss's numbers are the ids (row
    numbers, unless the vectors were added with others). metric: "ip", "l2" or "cosine". dimension:
    of the vectors. zeros: the rows of zero vectors, if the index is for cosines and was built here.
    len() is the number of vectors.

    >>> from fastrank.searching import build_index
    >>> index = build_index([[1.0, 0.0], [0.0, 1.0]], metric="l2", ids=["d1", "d2"])
    >>> index
    <Index IndexFlat: 2 vectors of dimension 2, metric l2>
    >>> len(index), list(index.ids), index.faiss.ntotal
    (2, [b'd1', b'd2'], 2)
    """

    def __init__(
        self,
        faiss: FaissIndex,
        names: RowIds,
        metric: str,
        lock: threading.Lock | None = None,
        zeros: frozenset[int] = frozenset(),
    ) -> None:
        self.faiss, self.metric, self.names, self.zeros = faiss, metric, names, zeros
        # Parameters of the faiss object are set during a search.
        self.lock = lock or threading.Lock()

    @property
    def ids(self) -> Texts | None:
        """The ids of the vectors, or None if they are faiss's numbers."""
        return self.names.texts

    def with_ids(self, argument: str, ids: IdsLike) -> Index:
        """The same index with ids for its vectors; `argument` is for messages.

        Raises ArrayError for duplicate ids or the wrong number of ids, OptionError if the index has
        ids already.
        """
        if self.ids is not None:
            raise OptionError(argument, "the Index has ids already")
        if self.names.count is None:
            reason = "the faiss index has ids already, with which the vectors were added"
            raise OptionError(argument, reason)
        names = check_row_ids(argument, ids, len(self))
        return Index(self.faiss, names, self.metric, self.lock, self.zeros)

    def of_unit_vectors(self) -> Index:
        """The same index for the metric "cosine": its vectors have length 1, its metric is "ip"."""
        return Index(self.faiss, self.names, "cosine", self.lock)

    @property
    def dimension(self) -> int:
        """The dimension of the vectors."""
        return int(self.faiss.d)

    def __len__(self) -> int:
        return int(self.faiss.ntotal)

    def __repr__(self) -> str:
        return (
            f"<Index {type(self.faiss).__name__}: {counted(len(self), 'vector')} of dimension"
            f" {self.dimension}, metric {self.metric}>"
        )


def build_index(
    vectors: VectorsLike,
    index_factory: str = "Flat",
    metric: str = DEFAULT_METRIC,
    ids: IdsLike | None = None,
    train_size: int | None = None,
    *,
    gpu: bool = False,
    progress: bool | None = None,
) -> Index:
    """Index vectors with faiss.

    vectors: floats[n, dimension]: an array of any float or integer type, a memory map, the path of
        a `.npy` file, an iterator of such blocks, a scipy sparse matrix, or a sparse torch tensor.
        Converted to float32.
    index_factory: the faiss factory string, such as "HNSW32". Others are "Flat", "IVF1024,Flat",
        "OPQ16_64,IVF256,PQ16x4fs", ...; behind it, parameters of the construction by faiss's names:
        efConstruction of a graph ("HNSW32,efConstruction=200"; faiss's default is 40), and niter,
        nredo, seed and max_points_per_centroid of the clustering of inverted lists.
    metric: "cosine", for which copies of the vectors are normalized to length 1, block by block
        (zero vectors have cosine 0 with all others); "ip" (inner product), or "l2" (squared
        Euclidean distance).
    ids: the id of each vector (str, bytes or int), or the path of a file with one id per line or of
        a `.npy` file; by default the row numbers.
    train_size: the number of vectors to train with. By default 64 per inverted list and at least
        65,536: a sample of an array with a fixed seed, or the first vectors of an iterator.
    gpu: build on the GPUs, which requires a GPU build of faiss; the Index is in main memory.
    progress: show a progress bar on standard error, by default on a terminal for long work.

    Memory: the index, the training sample and a block. Raises ArrayError for vectors of different
    dimensions, NaN and infinite values, no vectors, duplicate ids or the wrong number of ids;
    OptionError if faiss cannot build the index; ReadError.

    >>> from fastrank.searching import build_index
    >>> build_index([[1.0, 0.0], [0.0, 1.0]], "HNSW8", "cosine")
    <Index IndexHNSWFlat: 2 vectors of dimension 2, metric cosine>
    """
    faiss = load_faiss()
    metric = check_metric(metric)
    unit = metric == "cosine"
    on_gpu = check_gpu(gpu)
    if train_size is not None:
        at_least("train_size", train_size, 1)
    rows = open_vectors("vectors", vectors)
    names = check_row_ids("ids", ids, rows.count)
    index = make_index(index_factory, rows.dimension, metric)
    if rows.count == 0:
        raise ArrayError("vectors", "expected vectors, found none")
    rows.check(unit=unit)
    if on_gpu:
        index = faiss.index_cpu_to_all_gpus(index)
    with bar("index", rows.count, "vectors", progress) as shown:
        for block in _trained(index, rows, _sample_size(index, train_size), unit=unit):
            try:
                index.add(block)
            except RuntimeError as error:
                raise OptionError(
                    "index_factory", f"{index_factory!r}: {reason_of(error)}"
                ) from None
            shown.update(len(block))
    names.check_count("ids", index.ntotal)
    names = RowIds(names.texts, index.ntotal)
    if on_gpu:
        index = faiss.index_gpu_to_cpu(index)
    return Index(index, names, metric, zeros=rows.zeros)


def make_index(index_factory: str, dimension: int, metric: str) -> FaissIndex:
    """An empty index. Raises OptionError if faiss cannot build it."""
    faiss = load_faiss()
    if not isinstance(index_factory, str):
        raise OptionError("index_factory", f"expected a str, found {type(index_factory).__name__}")
    if index_factory.startswith("B"):
        raise OptionError(
            "index_factory", f"{index_factory!r} is a binary index; expected one for float vectors"
        )
    plain, parameters = split_factory(index_factory)
    try:
        index: FaissIndex = faiss.index_factory(dimension, plain, metric_of(faiss, metric))
    except RuntimeError as error:
        raise OptionError(
            "index_factory",
            f"faiss cannot build {index_factory!r} with dimension {dimension} and"
            f" metric {metric!r}: {reason_of(error)}",
        ) from None
    if maps_ids(index):
        raise OptionError("index_factory", f"{index_factory!r}: use ids= instead of IDMap")
    if index.metric_type != metric_of(faiss, metric):
        # faiss does not report this, and its distances would be taken for scores.
        reason = f"{index_factory!r} supports only the metric 'l2' in faiss, found {metric!r}"
        raise OptionError("index_factory", reason)
    set_construction(index, parameters)
    return index


def maps_ids(index: FaissIndex) -> bool:
    """Whether a part of the index stores ids."""
    faiss = load_faiss()
    return any(isinstance(p, (faiss.IndexIDMap, faiss.IndexIDMap2)) for p in parts_of(index))


def _sample_size(index: FaissIndex, train_size: int | None) -> int:
    if train_size is not None:
        return train_size
    lists = max((getattr(part, "nlist", 0) for part in parts_of(index)), default=0)
    return max(FOR_CODES, PER_LIST * lists)


def _trained(index: FaissIndex, vectors: Vectors, size: int, *, unit: bool) -> Iterator[Array]:
    """Train the index with a sample of the vectors, and yield all blocks."""
    step = block_rows(vectors.dimension)
    blocks = (block for _, block in vectors.blocks(step, unit=unit, check=not vectors.repeatable))
    if index.is_trained:
        yield from blocks
        return
    if vectors.repeatable and vectors.count is not None:
        rows = None
        if vectors.count > size:
            rng = numpy.random.default_rng(SEED)
            rows = numpy.sort(rng.choice(vectors.count, size, replace=False, shuffle=False))
        sample = vectors.blocks(size, unit=unit, selected=rows, check=False)
        _train(index, next(sample)[1])
        yield from blocks
        return
    held: list[Array] = []
    while sum(map(len, held)) < size:
        block = next(blocks, None)
        if block is None:
            break
        held.append(block.copy())
    _train(index, numpy.concatenate(held)[:size])
    while held:
        yield held.pop(0)
    yield from blocks


def _train(index: FaissIndex, sample: Array) -> None:
    try:
        index.train(sample)
    except RuntimeError as error:
        reason = f"faiss cannot train with {len(sample)} vectors: {reason_of(error)}"
        raise OptionError("index_factory", reason) from None


def as_index(argument: str, value: object, metric: str | None) -> Any:
    """Wrap a faiss index, also one from a Hugging Face Dataset, as an Index.

    Anything else is returned unchanged. metric: "cosine" declares that the vectors of an inner
    product index have length 1. Raises ArrayError for an unsupported index.
    """
    # The type that `get_index` of a Dataset returns.
    faiss_index = getattr(value, "faiss_index", value)
    if isinstance(faiss_index, Index) or not hasattr(faiss_index, "ntotal"):
        return value
    try:
        index = index_of(faiss_index)
    except ValueError as error:
        raise ArrayError(argument, str(error)) from None
    is_unit = metric is not None and check_metric(metric) == "cosine"
    return index.of_unit_vectors() if is_unit and index.metric == "ip" else index


def index_of(faiss_index: object) -> Index:
    """Wrap a faiss index as an Index. Raises ValueError."""
    faiss = load_faiss()
    metrics = {faiss.METRIC_INNER_PRODUCT: "ip", faiss.METRIC_L2: "l2"}
    if not isinstance(faiss_index, faiss.Index) or faiss_index.metric_type not in metrics:
        kind = type(faiss_index).__name__
        raise ValueError(f"expected an index for inner products or L2 distances, found {kind}")
    has_map = isinstance(faiss_index, (faiss.IndexIDMap, faiss.IndexIDMap2))
    if maps_ids(faiss_index.index if has_map else faiss_index):
        raise ValueError("expected an index without a nested IDMap")
    return Index(faiss_index, _stored_ids(faiss_index), metrics[faiss_index.metric_type])


def _stored_ids(index: FaissIndex) -> RowIds:
    """The ids that a faiss index stores for its vectors, in an IDMap or in inverted lists."""
    faiss = load_faiss()
    if isinstance(index, (faiss.IndexIDMap, faiss.IndexIDMap2)):
        stored = faiss.vector_to_array(index.id_map)
    else:
        inverted = faiss.try_extract_index_ivf(index)
        if inverted is None:
            return RowIds(None, int(index.ntotal))
        stored = _listed_numbers(inverted.invlists)
    numbers = numpy.sort(stored)
    repeats = numpy.flatnonzero(numbers[1:] == numbers[:-1])
    if len(repeats):
        raise ValueError(f"expected distinct ids of vectors, found {numbers[repeats[0]]} twice")
    if len(numbers) and not (numbers[0] >= 0 and numbers[-1] < 10**DIGITS):
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise ValueError(f"expected ids of vectors from 0 to 10**{DIGITS} - 1, found {wrong}")
    rows = len(numbers) == index.ntotal and bool((numbers == numpy.arange(len(numbers))).all())
    return RowIds(None, int(index.ntotal) if rows else None)


def _listed_numbers(lists: Any) -> npt.NDArray[numpy.int64]:
    """The ids of the vectors in inverted lists, int64[vectors]."""
    faiss = load_faiss()
    stored = [numpy.empty(0, numpy.int64)]
    for number in range(lists.nlist):
        size = lists.list_size(number)
        if size:
            ids = lists.get_ids(number)
            stored.append(faiss.rev_swig_ptr(ids, size).copy())
            lists.release_ids(number, ids)
    return numpy.concatenate(stored)
