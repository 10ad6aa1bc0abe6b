"""Search in shards: a task for each, whose results are merged."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import Any, NamedTuple

from fastrank.errors import FastrankError, OptionError, ReadError
from fastrank.formats.source import is_url
from fastrank.parallel import outcomes
from fastrank.searching.engines import IndexSearch, VectorSearch, queries_per_pass, result_heap
from fastrank.searching.faiss_api import check_gpu, load_faiss
from fastrank.searching.npy_files import load_npy
from fastrank.searching.row_ids import RowIds
from fastrank.searching.storage import load_index
from fastrank.searching.vectors import Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from fastrank.searching.engines import Engine, Tell
    from fastrank.searching.indexing import Index
    from fastrank.searching.shards import Shard, Shards

    Array = npt.NDArray[Any]


class Request(NamedTuple):
    """What all tasks of a search share.

    queries: float32[n, dimension]. total: the number of vectors in all shards. block: the depth and
    the batch size for which the engine chooses how many queries to search at once.
    """

    queries: Array
    depth: int
    metric: str
    total: int
    block: tuple[int, int]
    parameters: dict[str, float]
    gpu: bool
    threads: int | None


class ShardSearch:
    """Searches each shard in a task, and merges the results."""

    once = False

    def __init__(
        self, shards: Shards, metric: str, parameters: dict[str, float], *, gpu: bool
    ) -> None:
        vectors = next((file for file in shards.files if file.metric is None), None)
        if parameters and vectors is not None:
            reason = "exact search has no parameters; use them with indexes"
            raise OptionError("parameters", f"{vectors.name}: {reason}")
        self._shards, self._metric, self._parameters, self._gpu = shards, metric, parameters, gpu
        self._files = [file._replace(ids=None) for file in shards.files if file.size]
        if shards.executor is not None:
            # Workers may have another working directory.
            self._files = [_for_worker(file) for file in self._files]
        self.count: int | None = len(shards)
        self._block = 1, 1

    def at_once(self, depth: int, batch_size: int) -> int | None:
        """How many queries to search at once; None for all."""
        self._block = depth, batch_size
        # Every shard is loaded once for as many queries as fit in memory.
        return queries_per_pass(depth, self._shards.dimension, batch_size)

    def search(self, queries: Array, depth: int, tell: Tell) -> tuple[Array, Array]:
        """As in IndexSearch."""
        request = Request(
            queries, depth, self._metric, len(self._shards), self._block, self._parameters,
            self._gpu, self._shards.threads,
        )  # fmt: skip
        heap = result_heap(len(queries), depth, self._metric)
        found = outcomes(
            self._shards.executor, search_shard, self._files, shared=request, chunk_size=1
        )
        try:
            for file, (value, error) in zip(self._files, found, strict=True):
                if isinstance(error, FastrankError):
                    raise error
                if error is not None:
                    reason = f"the search failed: {type(error).__name__}: {error}"
                    raise ReadError(file.name, reason) from error
                heap.add_result(*value)
                tell(file.size / len(self._shards))
        finally:
            found.close()
        heap.finalize()
        return heap.D, heap.I


def _for_worker(shard: Shard) -> Shard:
    path = shard.path
    return shard if is_url(path) else shard._replace(path=os.path.abspath(path))


def search_shard(request: Request, shard: Shard) -> tuple[Array, Array]:
    """Scores or distances and rows of the corpus, of the best results in a shard.

    Raises FastrankErrors that name the file.
    """
    import numpy

    # For one result, faiss would use another method.
    depth = min(request.depth, max(2, shard.size))
    # An engine may use the memory of the index.
    index = None if shard.metric is None else _loaded(shard)
    with _faiss_threads(request.threads):
        engine = _engine(request, shard, index)
        size = engine.at_once(*request.block) or len(request.queries)
        found = [
            engine.search(request.queries[first : first + size], depth, lambda _: None)
            for first in range(0, len(request.queries), size)
        ]
    scores, rows = (numpy.concatenate(parts) for parts in zip(*found, strict=True))
    numpy.add(rows, shard.first, out=rows, where=rows >= 0)
    return scores, rows


def _loaded(shard: Shard) -> Index:
    index = load_index(shard.path)
    if index.names.count is None:
        reason = "expected an index whose ids are row numbers; the vectors were added with others"
        raise ReadError(shard.name, reason)
    _check_unchanged(shard, len(index), index.dimension)
    return index


def _engine(request: Request, shard: Shard, index: Index | None) -> Engine:
    on_gpu = check_gpu(request.gpu)
    if index is None:
        vectors, metric = Rows(shard.name, load_npy(shard.path, mapped=True)), request.metric
        _check_unchanged(shard, vectors.count, vectors.dimension)
    else:
        try:
            engine = IndexSearch(index, request.parameters, gpu=on_gpu)
        except OptionError as error:
            raise OptionError(error.option, f"{shard.name}: {error.reason}") from None
        flat = None if on_gpu else _flat_vectors(index)
        if flat is None:
            return engine
        # Those of an index for cosines have length 1.
        vectors, metric = Rows(shard.name, flat), "l2" if request.metric == "l2" else "ip"
    names = RowIds(None, shard.size)
    return VectorSearch(vectors, metric, names, gpu=on_gpu, first=shard.first, total=request.total)


def _check_unchanged(shard: Shard, count: int | None, dimension: int) -> None:
    if (count, dimension) != (shard.size, shard.dimension):
        expected = f"{shard.size} vectors of dimension {shard.dimension}"
        reason = f"expected {expected}, as before, found {count} of dimension {dimension}"
        raise ReadError(shard.name, reason)


def _flat_vectors(index: Index) -> Array | None:
    """The vectors of a flat index, float32[n, dimension]; None for other indexes."""
    faiss, found = load_faiss(), index.faiss
    if type(found) not in (faiss.IndexFlat, faiss.IndexFlatIP, faiss.IndexFlatL2):
        return None
    whole = faiss.rev_swig_ptr(found.get_xb(), len(index) * index.dimension)
    vectors: Array = whole.reshape(len(index), index.dimension)
    return vectors


@contextmanager
def _faiss_threads(threads: int | None) -> Iterator[None]:
    """Let faiss use a number of threads, None for its setting, in this thread."""
    faiss = load_faiss()
    before = faiss.omp_get_max_threads()
    if threads is not None:
        faiss.omp_set_num_threads(threads)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
