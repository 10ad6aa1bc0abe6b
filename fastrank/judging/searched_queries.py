"""Find the judged queries of a search, and count properties of their results."""

from __future__ import annotations

from fastrank.searching.row_ids import RowIds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from fastrank.data.qrels import Qrels
    from fastrank.searching import Found

    Array = npt.NDArray[Any]


class SearchedQueries:
    """The queries of a search, batch by batch.

    places: for each query its index in the judgments or -1; None if the queries are not known in
    advance.
    """

    def __init__(self, qrels: Qrels, queries: RowIds) -> None:
        self._queries, self._known = queries, RowIds(qrels.queries, len(qrels))
        self._skipped: list[bytes] = []
        self._excluded = self._ties_at_cutoff = 0
        self.places: Array | None = None
        if queries.count is not None:
            import numpy

            self.places = self._places_of(numpy.arange(queries.count))

    def _places_of(self, rows: Array) -> Array:
        return self._known.rows_of(self._queries.take(rows))

    def judged(self, found: Found) -> tuple[Array, Array]:
        """The judged queries of a batch: their indexes in it and in the judgments. Counts them."""
        import numpy

        if self.places is not None:
            places = self.places[found.queries]
        else:
            places = self._places_of(found.queries)
            self._skipped += self._queries.take(found.queries[places < 0])
        judged = numpy.flatnonzero(places >= 0)
        self._excluded += int(found.excluded[judged].sum())
        self._ties_at_cutoff += int(found.ties_at_cutoff[judged].sum())
        return judged, places[judged]

    @property
    def counts(self) -> dict[str, int]:
        """The counts of all batches, for `Scores.counts`."""
        return {"excluded": self._excluded, "ties_at_cutoff": self._ties_at_cutoff}

    def unjudged_queries(self) -> list[bytes]:
        """The ids of the queries without judgments, after all batches."""
        import numpy

        if self.places is None:
            return self._skipped
        return list(self._queries.take(numpy.flatnonzero(self.places < 0)))
