"""Search engines, which find the best vectors of a corpus for a batch of queries.

These are faiss indexes and exact search, of dense and of sparse vectors; that of shards is in
searching/shards.py. To add an engine, implement the methods of `Engine` and choose it in
`search_batches`.
"""

from __future__ import annotations

import numpy

from fastrank.errors import OptionError
from fastrank.vectors.searching.faiss_api import Setting, load_faiss, metric_of, reason_of
from fastrank.vectors.searching.vectors import Rows, SparseRows, block_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from faiss import ResultHeap, StandardGpuResources
    from scipy.sparse import csr_matrix

    from fastrank.common.arrays import Array
    from fastrank.vectors.searching.indexing import Index
    from fastrank.vectors.searching.row_ids import RowIds
    from fastrank.vectors.searching.vectors import Vectors

    # Called with the progress of a search, from 0 to 1.
    Progress = Callable[[float], None]

    class Engine(Protocol):
        """Searches one corpus.

        count: the number of vectors, None if unknown before a search. single: whether only one
        search is possible, because the corpus can be read only once. zeros: the rows of zero
        vectors that were normalized.
        """

        count: int | None
        single: bool

        @property
        def zeros(self) -> frozenset[int]:
            """See above."""

        def batched(self, depth: int, batch_size: int, /) -> int | None:
            """How many queries to search at once; None for all."""

        def search(self, queries: Array, depth: int, progress: Progress, /) -> tuple[Array, Array]:
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
# Scores of a block of sparse documents for all queries of a search: 32 MB as doubles.
BLOCK_SCORES = 1 << 22
# faiss multiplies this many vectors of the corpus at a time, its distance_compute_blas_database_bs.
# The last bits of a product depend on the place of the vector in such a block.
FAISS_BLOCK = 1 << 10


class IndexSearch:
    """Searches an index."""

    single = False

    def __init__(self, index: Index, parameters: dict[str, float], *, gpu: bool) -> None:
        self.zeros = index.zeros
        self._index, self._parameters, self._lock = index.faiss, parameters, index.lock
        self.count: int | None = len(index)
        self._dimension = index.dimension
        with self._lock, Setting(self._index, parameters):
            if gpu:
                faiss = load_faiss()
                # The copy keeps the parameters.
                self._index, self._parameters = faiss.index_cpu_to_all_gpus(self._index), {}

    def batched(self, depth: int, batch_size: int) -> int | None:
        """How many queries to search at once; None for all."""
        return queries_at_once(depth, self._dimension, batch_size)

    def search(self, queries: Array, depth: int, progress: Progress) -> tuple[Array, Array]:
        """Scores or distances and rows of the best `depth`, best first; row -1 means none."""
        with self._lock, Setting(self._index, self._parameters):
            try:
                result = self._index.search(queries, depth)
            except RuntimeError as error:
                raise _refused(error) from None
        progress(1.0)
        return result[0], result[1]


class VectorSearch:
    """Compares queries with all vectors of a corpus, which need not fit in memory.

    Blocks of queries and vectors are the same as in a flat index, so that no bit of a score depends
    on how the vectors are stored. first, total: the position of the corpus in a larger one and the
    size of that, whose blocks are used then.
    """

    def __init__(
        self,
        corpus: Vectors,
        metric: str,
        names: RowIds,
        *,
        gpu: bool,
        first: int = 0,
        total: int | None = None,
    ) -> None:
        self._corpus, self._names, self._unit = corpus, names, metric == "cosine"
        self._metric = metric
        self._gpu: StandardGpuResources | None = None
        if gpu:
            faiss = load_faiss()
            self._gpu = faiss.StandardGpuResources()
        self.count = corpus.count
        self.single = not corpus.repeatable
        self._first, self._total = first, corpus.count if total is None else total
        size = block_rows(corpus.dimension)
        # Blocks of very long vectors are too short to be padded.
        self._pads = size >= FAISS_BLOCK and not gpu
        self._size = size // FAISS_BLOCK * FAISS_BLOCK if self._pads else size
        self._step: int | None = None
        self._whole: Array | None = None
        self._checked = False
        fits = not self._pads or self._padding(0, corpus.count or 0) == (0, 0)
        if isinstance(corpus, Rows) and corpus.is_ready and fits and not self._unit:
            corpus.check(unit=False)
            self._whole = corpus.rows

    @property
    def zeros(self) -> frozenset[int]:
        """The rows of zero vectors that were normalized."""
        return self._corpus.zeros

    def batched(self, depth: int, batch_size: int) -> int | None:
        """How many queries to search at once; None for all."""
        self._step = queries_at_once(depth, self._corpus.dimension, batch_size)
        if self.single:
            return None
        if self._whole is not None:
            return self._step
        # Each block is read and prepared once for as many queries as fit in memory.
        return queries_per_pass(depth, self._corpus.dimension, batch_size)

    def search(self, queries: Array, depth: int, progress: Progress) -> tuple[Array, Array]:
        """As in IndexSearch."""
        if self._whole is not None:
            result = self._compare(queries, self._whole, depth)
            progress(1.0)
            return result
        return self._search_blocks(queries, depth, progress)

    def _search_blocks(self, queries: Array, depth: int, progress: Progress) -> tuple[Array, Array]:
        heap = result_heap(len(queries), depth, self._metric)
        seen = 0
        blocks = self._corpus.blocks(self._size, unit=self._unit, check=not self._checked)
        for rows, block in blocks:
            self._names.check_count("corpus_ids", seen + len(block), partial=True)
            before, after = self._padding(seen, len(block)) if self._pads else (0, 0)
            if before or after:
                # faiss never finds vectors of NaN.
                edges = (before, after), (0, 0)
                block = numpy.pad(block, edges, constant_values=numpy.nan)
            # For one vector, faiss would use another method.
            scores, hits = self._compare(queries, block, min(depth, max(2, len(block))))
            numpy.add(hits, seen - before, out=hits, where=hits >= 0)
            heap.add_result(scores, hits)
            seen += len(rows)
            if self.count:
                progress(len(rows) / self.count)
        if not self.count:
            progress(1.0)
        self._names.check_count("corpus_ids", seen)
        self._checked = True
        self.count = seen
        heap.finalize()
        return heap.D, heap.I

    def _padding(self, start: int, count: int) -> tuple[int, int]:
        """The numbers of rows missing before and after some rows to complete blocks of faiss."""
        end = self._first + start + count
        after = 0 if self._total is None else min(-end % FAISS_BLOCK, self._total - end)
        return (self._first + start) % FAISS_BLOCK, after

    def _compare(self, queries: Array, block: Array, depth: int) -> tuple[Array, Array]:
        faiss = load_faiss()
        number = metric_of(faiss, self._metric)
        results = []
        step = len(queries) if self._step is None or self._gpu is not None else self._step
        try:
            for first in range(0, len(queries), step):
                some = queries[first : first + step]
                if self._gpu is not None:
                    result = faiss.knn_gpu(self._gpu, some, block, depth, metric=number)
                else:
                    result = faiss.knn(some, block, depth, number)
                results.append(result)
        except RuntimeError as error:
            raise _refused(error) from None
        if len(results) == 1:
            return results[0][0], results[0][1]
        return numpy.concatenate([part[0] for part in results]), numpy.concatenate(
            [part[1] for part in results]
        )


class SparseSearch:
    """Compares queries with all rows of a sparse matrix.

    Scores are computed in double precision and returned as 32-bit floats.
    """

    single = False

    def __init__(self, corpus: SparseRows, metric: str, *, gpu: bool) -> None:
        if gpu:
            raise OptionError("gpu", "sparse vectors are searched on the CPU")
        corpus.check(unit=metric == "cosine")
        self.count, self._metric, self._matrix = corpus.count, metric, corpus.matrix
        self._lengths, self.zeros = corpus.lengths(), corpus.zeros

    def batched(self, _depth: int, batch_size: int) -> int | None:
        """How many queries to search at once; they are dense until then."""
        return min(batch_size, block_rows(self._matrix.shape[1]))

    def search(
        self, queries: Array, depth: int, progress: Callable[[float], None]
    ) -> tuple[Array, Array]:
        """Scores or distances and rows of the best `depth`, best first; row -1 means none."""
        from scipy import sparse

        sign = -1.0 if self._metric == "l2" else 1.0
        asked = sparse.csr_matrix(queries).astype(numpy.float64)
        heap = result_heap(len(queries), depth, "ip")
        size = max(1, BLOCK_SCORES // len(queries))
        rows = self._matrix.shape[0]
        for first in range(0, rows, size):
            scores = self._scores(asked, slice(first, first + size))
            hits = numpy.broadcast_to(numpy.arange(scores.shape[1]), scores.shape)
            if depth < scores.shape[1]:
                hits = numpy.argpartition(-scores, depth - 1, axis=1)[:, :depth]
                scores = numpy.take_along_axis(scores, hits, axis=1)
            heap.add_result(
                numpy.ascontiguousarray(scores), numpy.ascontiguousarray(hits + first, numpy.int64)
            )
            progress(min(size, rows - first) / rows)
        heap.finalize()
        return sign * heap.D, heap.I

    def _scores(self, asked: csr_matrix, part: slice) -> Array:
        """The scores of all queries for some documents, float32[queries, documents]."""
        documents = self._matrix[part].astype(numpy.float64)
        scores: Array = (asked @ documents.T).toarray()
        if self._metric == "cosine":
            scores /= numpy.where(self._lengths[part] == 0, 1.0, self._lengths[part])
        if self._metric == "l2":
            squares = numpy.asarray(asked.multiply(asked).sum(axis=1)).reshape(-1, 1)
            scores = numpy.minimum(2 * scores - squares - self._lengths[part] ** 2, 0)
        return scores.astype(numpy.float32)


def result_heap(queries: int, depth: int, metric: str) -> ResultHeap:
    """An empty faiss.ResultHeap. Raises OptionError if it does not fit in memory."""
    try:
        heap: ResultHeap = load_faiss().ResultHeap(queries, depth, keep_max=metric != "l2")
    except (MemoryError, ValueError):
        reason = f"{depth} results for each of {queries} queries do not fit in memory"
        raise OptionError("k", reason) from None
    return heap


def queries_at_once(depth: int, dimension: int, batch_size: int) -> int:
    """The number of queries for which faiss multiplies matrices, in whole batches."""
    return _whole_batches(-(-MATRIX_VALUES // dimension), depth, dimension, batch_size)


def queries_per_pass(depth: int, dimension: int, batch_size: int) -> int:
    """The number of queries whose results fit in memory, a multiple of `queries_at_once`."""
    step = queries_at_once(depth, dimension, batch_size)
    return _whole_batches(HEAP_BYTES, depth, dimension, batch_size) // step * step


def _whole_batches(count: int, depth: int, dimension: int, batch_size: int) -> int:
    """The number of queries that fit in memory, in whole batches; at least one batch."""
    fit = HEAP_BYTES // (ITEM_BYTES * depth + 4 * dimension)
    batches = min(-(-count // batch_size), fit // batch_size)
    return max(1, batches) * batch_size


def _refused(error: RuntimeError) -> OptionError:
    return OptionError("search", f"faiss failed: {reason_of(error)}")
