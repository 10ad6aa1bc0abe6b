"""Runs whose queries' lines are scattered: read twice, the judged queries' lines kept by query.

The first time the lines of each query are counted, so that the second time every document and
score goes where it belongs. That is all that is kept: of a line of 40 bytes 31, with an id of 7.
"""

from __future__ import annotations

from fastrank.columns import Qrels, Run, Texts
from fastrank.kernels import places as at
from fastrank.native import kernels
from fastrank.native.buffers import zeros
from fastrank.parts import Feeder, Parts, feed_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Collector:
    """Collects the results of the judged queries from the parts of a run.

    `table` finds the queries by id. The results of further lines come last: see `add`.
    """

    def __init__(self, qrels: Qrels, table: Any, parts: Parts, *, comments: bool) -> None:
        self._qrels, self._table, self._parts, self._comments = qrels, table, parts, comments
        # One stretch per part, and one for the lines added.
        stretches = (len(parts) + 1) * len(qrels)
        self._rows, self._places = zeros("q", stretches), zeros("q", stretches)
        self._documents = (zeros("B", 0), zeros("q", 0), zeros("q", 0), zeros("d", 0))
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

    def collected(self) -> Run | None:
        """The run, of the judged queries only, numbered as in the judgments; None if impossible."""
        qrels = self._qrels
        offsets = zeros("q", len(qrels) + 1)
        size = kernels.place_lines(len(self._parts) + 1, self._rows, self._places, offsets)
        rows = offsets[len(qrels)]
        text, starts, lengths = zeros("B", size), zeros("q", rows), zeros("q", rows)
        scores = zeros("d", rows)
        self._documents = (text, starts, lengths, scores)
        tag = feed_all(self._feeders(storing=True), self._parts, comments=self._comments)
        if tag is None:
            return None
        self._feed_added(storing=True)
        return Run(
            queries=qrels.queries,
            docs=Texts(text, starts, lengths),
            tag=tag,
            source="",
            offset_column=offsets,
            score_column=scores,
        )

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
                *self._documents,
                cursor,
                state,
            )

        return Feeder(prepare)
