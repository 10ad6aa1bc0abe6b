"""Recall of an index, compared with the exact top k."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]

# Vectors compared at a time, in values: 32 MB as doubles.
BLOCK_VALUES = 1 << 22


class ExactTop:
    """The exact top k of each query, to compute the recall of other indexes.

    index: an exact faiss index that can reconstruct its vectors. queries: float32[n, dimension].
    rows: int64[n, k], best first, -1 for none.
    """

    def __init__(self, index: Any, queries: Array, rows: Array, metric: str) -> None:
        import numpy

        self._index, self._queries, self._rows = index, queries, rows
        self._squares = metric == "l2"
        self._sizes = (rows >= 0).sum(axis=1)
        answered = numpy.flatnonzero(self._sizes)
        last = rows[answered, self._sizes[answered] - 1]
        self._least = numpy.full(len(rows), numpy.inf)
        self._least[answered] = self._scores(answered, last)

    def recall(self, found: Array) -> float:
        """The share of the exact top k that was found, averaged over queries with results.

        found: int64[n, k], -1 for none. A document counts if it is in the exact top k, or if its
        score is at least that of the last one there. Scores are compared in double precision, so
        that neither ties nor rounding matter.
        """
        import numpy

        hits = numpy.zeros(len(found), numpy.int64)
        step = max(1, BLOCK_VALUES // max(1, found.shape[1]))
        for first in range(0, len(found), step):
            hits[first : first + step] = self._hits(found[first : first + step], first)
        answered = self._sizes > 0
        if not answered.any():
            return float("nan")
        return float((hits[answered] / self._sizes[answered]).mean())

    def _hits(self, found: Array, first: int) -> Array:
        import numpy

        exact = self._rows[first : first + len(found)]
        # Rows of distinct queries must not meet.
        width = int(self._index.ntotal) + 1
        offsets = width * numpy.arange(len(found))[:, None]
        is_exact = numpy.isin(found + offsets, exact + offsets) & (found >= 0)
        queries, columns = numpy.nonzero(~is_exact & (found >= 0))
        scores = self._scores(queries + first, found[queries, columns])
        is_exact[queries, columns] = scores >= self._least[queries + first]
        hits: Array = is_exact.sum(axis=1)
        return hits

    def _scores(self, queries: Array, rows: Array) -> Array:
        """The score of each pair of query and document, in double precision."""
        import numpy

        scores = numpy.empty(len(rows))
        step = max(1, BLOCK_VALUES // int(self._index.d))
        for first in range(0, len(rows), step):
            some = slice(first, first + step)
            docs = self._index.reconstruct_batch(rows[some]).astype(numpy.float64)
            asked = self._queries[queries[some]].astype(numpy.float64)
            if self._squares:
                scores[some] = -((asked - docs) ** 2).sum(axis=1)
            else:
                scores[some] = (asked * docs).sum(axis=1)
        return scores
