"""Runs whose queries' lines are scattered: read twice, the judged queries' lines kept by query.

The first time the lines of each query are counted, so that the second time every document and
score goes where it belongs. That is all that is kept: of a line of 41 bytes 23, with an id of 7.
"""

from __future__ import annotations

from fastrank.columns import Qrels
from fastrank.judge import judging_scratch, room_for_judged
from fastrank.kernels import places as at
from fastrank.native import kernels
from fastrank.native.buffers import zeros
from fastrank.parts import Feeder, Parts, feed_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.judge import Judged, JudgingOptions


class Collector:
    """Collects the results of the judged queries from the parts of a run.

    `table` finds the queries by id. The results of further lines come last: see `add`.
    """

    def __init__(self, qrels: Qrels, table: Any, parts: Parts, *, comments: bool) -> None:
        self._qrels, self._table, self._parts, self._comments = qrels, table, parts, comments
        # One stretch per part, and one for the lines added.
        stretches = (len(parts) + 1) * len(qrels)
        self._rows, self._places = zeros("q", stretches), zeros("q", stretches)
        self._records = zeros("B", 0)
        self._added = b""

    def count(self) -> bool:
        """Count the lines of each query; whether that was possible."""
        return (
            feed_all(self._feeders(storing=False), self._parts, comments=self._comments) is not None
        )

    def has_lines(self, query: int) -> bool:
        """Whether any line of a query was counted."""
        rows, count = self._rows, len(self._qrels)
        return any(rows[part * count + query] for part in range(len(self._parts) + 1))

    def add(self, lines: bytes) -> None:
        """Count further lines, for queries that have none."""
        self._added = lines
        self._feed_added(storing=False)

    def judge(self, queries: Any, options: JudgingOptions) -> tuple[Judged, bytes] | None:
        """The judged rankings of some queries, all of which have lines, and the run's tag.

        None if the run cannot be read in pieces or a query cannot be judged.
        """
        qrels = self._qrels
        offsets = zeros("q", len(qrels) + 1)
        deepest = kernels.place_records(len(self._parts) + 1, self._rows, self._places, offsets)
        self._records = zeros("B", offsets[len(qrels)])
        tag = feed_all(self._feeders(storing=True), self._parts, comments=self._comments)
        if tag is None:
            return None
        self._feed_added(storing=True)
        listed = kernels.count_picked(qrels.offset_column, queries)
        judged, columns = room_for_judged(qrels, queries, listed, options)
        problem = zeros("q", 3)
        kernels.judge_records(
            *qrels.columns,
            self._records,
            offsets,
            queries,
            options.places(stop_if_none_judged=True),
            zeros("q", deepest),
            zeros("q", deepest),
            zeros("d", deepest),
            *judging_scratch(qrels, deepest),
            *columns,
            problem,
        )
        return (judged, tag) if problem[0] == at.FINE else None

    def _feeders(self, *, storing: bool) -> list[Feeder]:
        return [self._feeder(part, storing) for part in range(len(self._parts))]

    def _feed_added(self, *, storing: bool) -> None:
        if self._added:
            self._feeder(len(self._parts), storing).feed_text(self._added)

    def _feeder(self, part: int, storing: bool) -> Feeder:
        count = len(self._qrels)
        own = slice(part * count, (part + 1) * count)

        def prepare(text: Any, lines: int, cursor: Any, state: Any) -> Callable[[], int]:
            return kernels.prepare(
                "collect_run",
                text,
                storing,
                *self._qrels.queries.columns,
                self._table,
                zeros("q", at.BLOCK_PLACES),
                zeros("q", at.BLOCK_PLACES),
                *(zeros("q", lines) for _ in range(4)),
                self._rows[own],
                self._places[own],
                self._records,
                cursor,
                state,
            )

        return Feeder(prepare)
