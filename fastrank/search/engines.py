"""Search engines, which find the best vectors of a corpus for a batch of queries.

These are faiss indexes and exact search; that of sparse vectors is in search/sparse.py. To add an
engine, implement the methods of `Engine` and choose it in `search_batches`.
"""

from __future__ import annotations

from fastrank.errors import ArrayError, OptionError
from fastrank.search.faiss_api import load_faiss, metric_of, reason_of
from fastrank.search.parameters import Setting
from fastrank.search.vectors import Rows, block_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    import numpy.typing as npt

    from fastrank.search.indexing import Index
    from fastrank.search.row_ids import RowIds
    from fastrank.search.vectors import Vectors

    Array = npt.NDArray[Any]
    # Called with the progress of a search, from 0 to 1.
    Tell = Callable[[float], None]

    class Engine(Protocol):
        """Searches one corpus.

        count: the number of vectors, None if unknown before a search. once: whether only one search
        is possible, because the corpus can be read only once.
        """

        count: int | None
        once: bool

        def at_once(self, depth: int, batch_size: int, /) -> int | None:
            """How many queries to search at once; None for all."""

        def search(self, queries: Array, depth: int, tell: Tell, /) -> tuple[Array, Array]:
            """Scores, float32[n, depth], and rows of the corpus, int64[n, depth], best first.

            queries: float32[n, dimension], of length 1 if the metric is "cosine". With "l2" scores
            are squared distances. Row -1 means no result. Ties may be in any order.
            """


# Bytes for the heaps of the queries in one pass through the corpus.
HEAP_BYTES = 1 << 28
ITEM_BYTES = 12
# With this many values of queries, faiss multiplies matrices, which is up to ten times as fast: its
# distance_compute_blas_threshold is 128,000 (20 queries before 1.15).
MATRIX_VALUES = 1 << 17


class IndexSearch:
    """Searches an index."""

    once = False

    def __init__(self, index: Index, parameters: dict[str, float], *, gpu: bool) -> None:
        self._index, self._parameters, self._lock = index.faiss, parameters, index.lock
        self.count: int | None = len(index)
        self._dimension = index.dimension
        with self._lock, Setting(self._index, parameters):
            if gpu:
                faiss = load_faiss()
                # The copy keeps the parameters.
                self._index, self._parameters = faiss.index_cpu_to_all_gpus(self._index), {}

    def at_once(self, depth: int, batch_size: int) -> int | None:
        """How many queries to search at once; None for all."""
        wanted = -(-MATRIX_VALUES // self._dimension)
        return _whole_batches(wanted, depth, self._dimension, batch_size)

    def search(self, queries: Array, depth: int, tell: Tell) -> tuple[Array, Array]:
        """Scores or distances and rows of the best `depth`, best first; row -1 is none."""
        with self._lock, Setting(self._index, self._parameters):
            try:
                found = self._index.search(queries, depth)
            except RuntimeError as error:
                raise _refused(error) from None
        tell(1.0)
        return found[0], found[1]


class VectorSearch:
    """Compares queries with all vectors of a corpus, which need not fit in memory."""

    def __init__(self, corpus: Vectors, metric: str, names: RowIds, *, gpu: bool) -> None:
        self._corpus, self._names, self._unit = corpus, names, metric == "cosine"
        self._metric = metric
        self._gpu: Any = None
        if gpu:
            faiss = load_faiss()
            self._gpu = faiss.StandardGpuResources()
        self.count = corpus.count
        self.once = not corpus.repeatable
        self._whole: Array | None = None
        self._checked = False
        if isinstance(corpus, Rows) and corpus.is_ready and not self._unit:
            corpus.check(unit=False)
            self._whole = corpus.rows

    def at_once(self, depth: int, batch_size: int) -> int | None:
        """How many queries to search at once; None for all."""
        if self.once:
            return None
        dimension = self._corpus.dimension
        # Each block is read and prepared once for as many queries as fit in memory.
        wanted = HEAP_BYTES if self._whole is None else -(-MATRIX_VALUES // dimension)
        return _whole_batches(wanted, depth, dimension, batch_size)

    def search(self, queries: Array, depth: int, tell: Tell) -> tuple[Array, Array]:
        """As in IndexSearch."""
        if self._whole is not None:
            found = self._compare(queries, self._whole, depth)
            tell(1.0)
            return found
        return self._search_blocks(queries, depth, tell)

    def _search_blocks(self, queries: Array, depth: int, tell: Tell) -> tuple[Array, Array]:
        faiss = load_faiss()
        try:
            heap = faiss.ResultHeap(len(queries), depth, keep_max=self._metric != "l2")
        except (MemoryError, ValueError):
            reason = f"{depth} results for each of {len(queries)} queries do not fit in memory"
            raise OptionError("k", reason) from None
        seen = 0
        size = block_rows(self._corpus.dimension)
        blocks = self._corpus.blocks(size, unit=self._unit, check=not self._checked)
        for rows, block in blocks:
            seen += len(block)
            self._check_names(seen, whole=False)
            scores, found = self._compare(queries, block, min(depth, len(block)))
            found += rows[0]
            heap.add_result(scores, found)
            if self.count:
                tell(len(block) / self.count)
        if not self.count:
            tell(1.0)
        self._check_names(seen, whole=True)
        self._checked = True
        self.count = seen
        heap.finalize()
        return heap.D, heap.I

    def _check_names(self, seen: int, *, whole: bool) -> None:
        count = None if self._names.texts is None else len(self._names.texts)
        if count is None or count == seen or (count > seen and not whole):
            return
        some = f"expected {seen} ids" if whole else f"expected at least {seen} ids"
        raise ArrayError("corpus_ids", f"{some}, one per vector, found {count}")

    def _compare(self, queries: Array, block: Array, depth: int) -> tuple[Array, Array]:
        faiss = load_faiss()
        number = metric_of(faiss, self._metric)
        try:
            if self._gpu is not None:
                found = faiss.knn_gpu(self._gpu, queries, block, depth, metric=number)
            else:
                found = faiss.knn(queries, block, depth, number)
        except RuntimeError as error:
            raise _refused(error) from None
        return found[0], found[1]


def _whole_batches(wanted: int, depth: int, dimension: int, batch_size: int) -> int:
    """The number of queries that fit in memory, in whole batches; at least one batch."""
    fit = HEAP_BYTES // (ITEM_BYTES * depth + 4 * dimension)
    batches = min(-(-wanted // batch_size), fit // batch_size)
    return max(1, batches) * batch_size


def _refused(error: RuntimeError) -> OptionError:
    return OptionError("search", f"faiss failed: {reason_of(error)}")
