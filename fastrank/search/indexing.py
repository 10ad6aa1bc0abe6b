"""Indexes: faiss's, with the ids of their vectors and their metric."""

from __future__ import annotations

import threading

from fastrank.arguments import at_least
from fastrank.errors import ArrayError, OptionError
from fastrank.search.faiss_api import check_gpu, metric_of, parts_of, reason_of
from fastrank.search.progress import bar
from fastrank.search.row_ids import RowIds, check_row_ids
from fastrank.search.vectors import block_rows, check_metric, open_vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import numpy.typing as npt

    from fastrank.data.texts import Texts
    from fastrank.search.vectors import Vectors

    Array = npt.NDArray[Any]

# A sample for training has so many vectors for each list, or as many as codes need.
PER_LIST, FOR_CODES = 64, 1 << 16
SEED = 1


class Index:
    """An index of faiss, the ids of its vectors and the metric.

    faiss: the object of faiss. ids: a sequence of bytes, or None where faiss's numbers are the ids,
    which are those of the rows unless faiss was told others.
    metric: "ip", "l2" or "cosine". dimension: of the vectors. Its length is how many there are.

    >>> from fastrank.search import build_index
    >>> index = build_index([[1.0, 0.0], [0.0, 1.0]], metric="l2", ids=["d1", "d2"])
    >>> index
    <Index IndexFlat: 2 vectors of dimension 2, metric l2>
    >>> len(index), list(index.ids), index.faiss.ntotal
    (2, [b'd1', b'd2'], 2)
    """

    def __init__(self, faiss: Any, names: RowIds, metric: str) -> None:
        self.faiss, self.metric, self.names = faiss, metric, names
        # Parameters are set for the time of a search.
        self.lock = threading.Lock()

    @property
    def ids(self) -> Texts | None:
        """The ids of the vectors, None if they are faiss's numbers."""
        return self.names.texts

    def with_ids(self, argument: str, ids: Any) -> Index:
        """The same index with ids for its vectors, which it lacks; `argument` is for messages.

        Raises ArrayError for ids that repeat or are not one per vector, OptionError where the index
        has ids or numbers of its own.
        """
        if self.ids is not None:
            raise OptionError(argument, "an Index has the ids of its vectors already")
        if self.names.count is None:
            reason = "the vectors of the index have numbers of their own, which are their ids"
            raise OptionError(argument, reason)
        made = Index(self.faiss, check_row_ids(argument, ids, len(self)), self.metric)
        made.lock = self.lock
        return made

    @property
    def dimension(self) -> int:
        """The dimension of the vectors."""
        return int(self.faiss.d)

    def __len__(self) -> int:
        return int(self.faiss.ntotal)

    def __repr__(self) -> str:
        return (
            f"<Index {type(self.faiss).__name__}: {len(self)} vectors of dimension"
            f" {self.dimension}, metric {self.metric}>"
        )


def build_index(
    vectors: Any,
    index_factory: str = "Flat",
    metric: str = "ip",
    ids: Any = None,
    train_size: int | None = None,
    *,
    gpu: bool = False,
    progress: bool | None = None,
) -> Index:
    """Index vectors with faiss.

    vectors: floats[n, dimension]: an array of any float type (or of integers), a memory map, the
        path of a `.npy` file, or an iterator of such blocks; or a sparse matrix of scipy or tensor
        of torch. Inside they are float32.
    index_factory: what to build, in the language of faiss's index_factory: "Flat", "IVF1024,Flat",
        "HNSW32", "OPQ16_64,IVF256,PQ16x4fs", ...
    metric: "ip" (inner product), "l2" (Euclidean distance; squared, as faiss has it), or "cosine",
        for which copies of the vectors are brought to length 1, block by block.
    ids: the id of each vector, text, bytes or integers; without it their row numbers.
    train_size: with how many vectors to train, by default 64 for each inverted list and at least
        65,536. Of an array they are a sample with a fixed seed, of an iterator the first.
    gpu: build on the GPUs, where faiss is built for them; the Index is in main memory.
    progress: a bar on standard error; by default where that is a terminal and the work is long.

    Memory: the index, the training sample and a block. Raises ArrayError for vectors of several
    dimensions, a NaN or an infinity, a zero vector under "cosine", no vectors at all, and ids that
    repeat or are not one per vector; OptionError for what faiss cannot build; ReadError.

    >>> from fastrank.search import build_index
    >>> build_index([[1.0, 0.0], [0.0, 1.0]], "HNSW8", "cosine")
    <Index IndexHNSWFlat: 2 vectors of dimension 2, metric cosine>
    """
    import faiss

    unit = check_metric(metric) == "cosine"
    on_gpu = check_gpu(gpu)
    if train_size is not None:
        at_least("train_size", train_size, 1)
    found = open_vectors("vectors", vectors)
    names = check_row_ids("ids", ids, found.count)
    index = make_index(index_factory, found.dimension, metric)
    if found.count == 0:
        raise ArrayError("vectors", "expected vectors, found none")
    found.check(unit=unit)
    if on_gpu:
        index = faiss.index_cpu_to_all_gpus(index)
    with bar("index", found.count, "vectors", progress) as shown:
        for block in _trained(index, found, _sample_size(index, train_size), unit=unit):
            try:
                index.add(block)
            except RuntimeError as error:
                raise OptionError(
                    "index_factory", f"{index_factory!r}: {reason_of(error)}"
                ) from None
            shown.update(len(block))
    if names.count is None:
        names = RowIds(names.texts, index.ntotal)
    if names.count != index.ntotal:
        raise ArrayError("ids", f"expected {index.ntotal} ids, one per vector, found {names.count}")
    if on_gpu:
        index = faiss.index_gpu_to_cpu(index)
    return Index(index, names, metric)


def make_index(index_factory: str, dimension: int, metric: str) -> Any:
    """An empty index. Raises OptionError for what faiss cannot build."""
    import faiss

    if not isinstance(index_factory, str):
        raise OptionError("index_factory", f"expected a text, found {type(index_factory).__name__}")
    if index_factory.startswith("B"):
        raise OptionError(
            "index_factory",
            f"{index_factory!r} is a binary index, which holds bits and no vectors of floats",
        )
    try:
        index = faiss.index_factory(dimension, index_factory, metric_of(faiss, metric))
    except RuntimeError as error:
        raise OptionError(
            "index_factory", f"faiss cannot build {index_factory!r} of dimension {dimension} for"
            f" the metric {metric!r}: {reason_of(error)}",
        ) from None  # fmt: skip
    if maps_ids(index):
        raise OptionError(
            "index_factory", f"{index_factory!r}: ids are given as ids=, not as IDMap"
        )
    if index.metric_type != metric_of(faiss, metric):
        # faiss says nothing, and its distances would be taken for scores.
        reason = f"{index_factory!r}: faiss builds it for L2 distances only, not for {metric!r}"
        raise OptionError("index_factory", reason)
    return index


def maps_ids(index: Any) -> bool:
    """Whether a part of the index gives numbers of its own."""
    import faiss

    return any(isinstance(p, (faiss.IndexIDMap, faiss.IndexIDMap2)) for p in parts_of(index))


def _sample_size(index: Any, train_size: int | None) -> int:
    if train_size is not None:
        return train_size
    lists = max((getattr(part, "nlist", 0) for part in parts_of(index)), default=0)
    return max(FOR_CODES, PER_LIST * lists)


def _trained(index: Any, vectors: Vectors, size: int, *, unit: bool) -> Iterator[Array]:
    """All blocks of the vectors, after the index was trained with a sample of them."""
    import numpy

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


def _train(index: Any, sample: Array) -> None:
    try:
        index.train(sample)
    except RuntimeError as error:
        reason = f"faiss cannot train with {len(sample)} vectors: {reason_of(error)}"
        raise OptionError("index_factory", reason) from None
