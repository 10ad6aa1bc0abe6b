"""Rows for judged queries without results, with the values that the means include."""

from __future__ import annotations

from fastrank.native.buffers import filled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.data.texts import Ids
    from fastrank.measures.binding import BoundMeasure
    from fastrank.scores.summary import Coverage


class ZeroRows:
    """Inserts judged queries without results among the evaluated ones.

    evaluated: the ids of the evaluated queries. order: the ids of all judged queries in the desired
    order; None means byte order, which `evaluated` must have, too.
    query_ids: the ids of all queries. places: the indexes of those without results.
    """

    def __init__(
        self, coverage: Coverage, evaluated: Ids, order: Sequence[bytes] | None = None
    ) -> None:
        self._coverage, self._evaluated = coverage, len(evaluated)
        rows = {query: row for row, query in enumerate(evaluated)}
        self._judged = [place for place, id_ in enumerate(coverage.judged) if id_ not in rows]
        missing = (coverage.judged[place] for place in self._judged)
        rows.update((query, len(evaluated) + i) for i, query in enumerate(missing))
        self.query_ids: list[bytes] = sorted(rows) if order is None else list(order)
        self._rows = [rows[query] for query in self.query_ids]
        self.places = [place for place, row in enumerate(self._rows) if row >= len(evaluated)]

    def insert(self, bound: BoundMeasure, values: Any, extended: Any) -> Any:
        """Extend a column of values of the evaluated queries to all queries.

        extended: the values followed by those of the queries without results, in the order of the
        judgments; if None, the latter are 0, or empty text.
        """
        if values is None:
            return None
        if isinstance(values, list):
            texts = [*values, *[b""] * len(self._judged)]
            return [texts[row] for row in self._rows]
        width = bound.width
        if extended is None:
            extended = [*values, *self._zeros(bound)]
        if width == 1:
            return filled("d", [extended[row] for row in self._rows])
        return filled("d", [extended[row * width + j] for row in self._rows for j in range(width)])

    def _zeros(self, bound: BoundMeasure) -> list[float]:
        """The values of queries without results: 0, except for num_rel."""
        positive = self._coverage.positive
        if bound.measure.name == "num_rel" and positive is not None:
            return [float(positive[place]) for place in self._judged]
        return [0.0] * (len(self._judged) * bound.width)
