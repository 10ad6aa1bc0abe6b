"""Judged queries without results as rows of their own, with the values that the means count."""

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
    """Where the judged queries without results go among those that were evaluated.

    evaluated: the ids of the evaluated queries. order: the ids of all judged queries in the order
    to have them; None is byte order, in which the evaluated ones are then too.
    query_ids: all of them. places: the places in it of those without results.
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
        """A column of values of all queries, from one of the evaluated ones.

        extended: None, or the values and after them those of the queries without results, in the
        order of the judgments; without it they are 0, or empty texts.
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
        """What queries without results count: 0, but in num_rel their relevant documents."""
        positive = self._coverage.positive
        if bound.measure.name == "num_rel" and positive is not None:
            return [float(positive[place]) for place in self._judged]
        return [0.0] * (len(self._judged) * bound.width)
