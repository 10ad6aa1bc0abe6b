"""Runs whose queries' lines are scattered: the results of judged queries are kept, then judged.

What is kept of a line is its score and its document's id: of a line of 41 bytes 16, with an id
of 7.
"""

from __future__ import annotations

from itertools import pairwise

from fastrank.data.qrels import Qrels
from fastrank.formats.chunks import SHORTEST_LINE, Feeder, Parts, block_index, feed_all
from fastrank.judging.scratch import judging_scratch, room_for_judged
from fastrank.native import codes as at
from fastrank.native import kernels
from fastrank.native.buffers import filled, table_size, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.judging.judged import Judged
    from fastrank.judging.needs import JudgingOptions

# Longer sheets are read faster, shorter ones leave less room unused.
SHORTEST_SHEET, LONGEST_SHEET = 1 << 7, 1 << 10
# A query fills about so many of them, on average, unless that makes them too short or too long.
SHEETS = 16
# Room for the results of a compressed run: who knows how long it is. Unused room costs nothing.
ROOM_IF_UNKNOWN = 1 << 28


class Collector:
    """Collects the results of the judged queries from the parts of a run.

    The results of further lines come last: see `add`.
    """

    def __init__(self, qrels: Qrels, parts: Parts, *, comments: bool) -> None:
        self._qrels, self._parts, self._comments = qrels, parts, comments
        # One stretch per part, and one for the lines added.
        self._stretches = len(parts) + 1
        self._index = zeros("q", 2 * table_size(len(qrels)))
        kernels.index_texts(*qrels.queries.columns, self._index)

    def collect(self) -> bytes | None:
        """Keep the results of all parts; the tag of the last line, or None if that cannot be done.

        Should there be too little room all is read again, and has more.
        """
        times = 1
        while True:
            self._make_room(times)
            feeders = [self._feeder(part) for part in range(len(self._parts))]
            tag = feed_all(feeders, self._parts, comments=self._comments)
            if at.NO_SHEET_LEFT not in {feeder.status for feeder in feeders}:
                return tag
            times *= 4

    def among(self, queries: Any) -> Any:
        """Those of some queries that have results."""
        totals, _ = self._totals()
        return filled("q", [query for query in queries if totals[query]])

    def add(self, lines: bytes) -> bool:
        """Keep the results of further lines, one for each query at most; whether that was done."""
        feeder = self._feeder(len(self._parts))
        feeder.feed_text(lines)
        return feeder.status == at.DONE

    def judge(self, queries: Any, options: JudgingOptions) -> Judged | None:
        """The judged rankings of some queries, all of which have results; None if one cannot be."""
        qrels = self._qrels
        _, deepest = self._totals()
        listed = kernels.count_picked(qrels.offset_column, queries)
        judged, columns = room_for_judged(qrels, queries, listed, options)
        problem = zeros("q", 3)
        kernels.judge_records(
            *qrels.columns,
            self._records,
            self._sheet,
            self._stretches,
            self._firsts,
            queries,
            options.places(stop_if_none_judged=True),
            zeros("q", deepest),
            zeros("q", deepest),
            zeros("d", deepest),
            *judging_scratch(qrels, deepest),
            *columns,
            problem,
        )
        return judged if problem[0] == at.FINE else None

    def _totals(self) -> tuple[Any, int]:
        """How many results each query has, and the largest of these numbers."""
        totals = zeros("q", len(self._qrels))
        return totals, kernels.add_counts(self._stretches, self._counts, totals)

    def _make_room(self, times: int) -> None:
        """Have sheets for every part, none of them in use, and so many times as many as usual."""
        queries = len(self._qrels)
        columns = (zeros("q", self._stretches * queries) for _ in range(3))
        self._counts, self._firsts, self._ends = columns
        sizes = [stop - start for start, stop in pairwise(self._parts.cuts)]
        if self._parts.size is None:
            sizes = [ROOM_IF_UNKNOWN]
        self._sheet = SHORTEST_SHEET
        while self._sheet < min(LONGEST_SHEET, sum(sizes) // (SHEETS * max(1, queries))):
            self._sheet *= 2
        self._rooms = []
        # Where the first sheet would be is nowhere.
        stop = self._sheet
        for size in (*sizes, queries * SHORTEST_LINE):
            # A line is longer than what is kept of it, but no sheet of a query is quite full.
            sheets = times * size // self._sheet + min(queries, size // SHORTEST_LINE + 1)
            room = zeros("q", at.ROOM_SIZE)
            room[at.SHEET_SIZE], room[at.FREE_SHEET] = self._sheet, stop
            stop += self._sheet * sheets
            room[at.SHEETS_END] = stop
            self._rooms.append(room)
        self._records = zeros("B", stop)

    def _feeder(self, part: int) -> Feeder:
        count = len(self._qrels)
        own = slice(part * count, (part + 1) * count)

        def prepare(text: Any, _: int, cursor: Any, state: Any) -> Callable[[], int]:
            return kernels.prepare(
                "collect_run",
                text,
                *self._qrels.queries.columns,
                self._index,
                *block_index(),
                *(zeros("q", at.CHUNK) for _ in range(7)),
                self._counts[own],
                self._firsts[own],
                self._ends[own],
                self._records,
                self._rooms[part],
                cursor,
                state,
            )

        return Feeder(prepare)
