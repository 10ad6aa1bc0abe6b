"""Turn results of faiss into rankings: order ties, remove excluded documents, cut at k."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from fastrank.searching.row_ids import RowIds

    Array = npt.NDArray[Any]


class Ranked:
    """Rankings of some queries.

    rows: int64[n, k]. scores: float32[n, k]. ties_at_cutoff: bool[n], whether a tie was cut at rank
    k. excluded: int64[n], the number of excluded documents above the last one of the ranking.
    """

    def __init__(self, rows: Array, scores: Array, ties_at_cutoff: Array, excluded: Array) -> None:
        self.rows, self.scores = rows, scores
        self.ties_at_cutoff, self.excluded = ties_at_cutoff, excluded


def rank(scores: Array, rows: Array, k: int, names: RowIds, excluded: list[Array] | None) -> Ranked:
    """The best k of the results, which must contain one more if the corpus has it.

    scores: float32[n, depth], higher is better. rows: int64[n, depth], -1 for none.
    """
    import numpy

    none = rows < 0
    if none.any():
        scores[none] = -numpy.inf
    scores, rows = _in_order(scores, rows, names)
    removed = numpy.zeros(len(rows), numpy.int64)
    if excluded is not None:
        scores, rows = _drop(scores, rows, k, excluded, removed)
    cut = numpy.zeros(len(rows), bool)
    if rows.shape[1] > k:
        cut = (rows[:, k] >= 0) & (scores[:, k] == scores[:, k - 1])
    rows, scores = (numpy.ascontiguousarray(table[:, :k]) for table in (rows, scores))
    return Ranked(rows, scores, cut, removed)


def _in_order(scores: Array, rows: Array, names: RowIds) -> tuple[Array, Array]:
    """Order ties by document id, descending, where that matters."""
    import numpy

    doubtful = (scores[:, 1:] >= scores[:, :-1]) & (rows[:, 1:] >= 0)
    affected = numpy.flatnonzero(doubtful.any(axis=1))
    if not len(affected):
        return scores, rows
    their_scores, their_rows = scores[affected], rows[affected]
    none = their_rows < 0
    keys = names.sort_keys(numpy.where(none, 0, their_rows))
    order = numpy.lexsort([*(-key for key in keys), -their_scores, none])
    scores[affected] = numpy.take_along_axis(their_scores, order, axis=1)
    rows[affected] = numpy.take_along_axis(their_rows, order, axis=1)
    return scores, rows


def _drop(
    scores: Array, rows: Array, k: int, excluded: list[Array], counts: Array
) -> tuple[Array, Array]:
    """Remove the excluded documents and move those below up; counts them in `counts`."""
    import numpy

    dropped = numpy.zeros(rows.shape, bool)
    single = numpy.array(
        [row_excluded[0] if len(row_excluded) == 1 else -2 for row_excluded in excluded],
        numpy.int64,
    )
    dropped |= rows == single[:, None]
    for i, row_excluded in enumerate(excluded):
        if len(row_excluded) > 1:
            dropped[i] = numpy.isin(rows[i], row_excluded)
    affected = numpy.flatnonzero(dropped.any(axis=1))
    if not len(affected):
        return scores, rows
    is_excluded = dropped[affected]
    counts[affected] = (is_excluded & (numpy.cumsum(~is_excluded, axis=1) < k)).sum(axis=1)
    order = numpy.argsort(is_excluded, axis=1, kind="stable")
    gone = numpy.take_along_axis(is_excluded, order, axis=1)
    scores[affected] = numpy.where(
        gone, -numpy.inf, numpy.take_along_axis(scores[affected], order, axis=1)
    )
    rows[affected] = numpy.where(gone, -1, numpy.take_along_axis(rows[affected], order, axis=1))
    return scores, rows
