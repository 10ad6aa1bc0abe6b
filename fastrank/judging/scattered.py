"""Judge runs in which the lines of a query are scattered: collect the results of judged queries.

Only the score and the document id of a line are kept: 16 bytes of a line of 41 bytes with an id of
7 bytes.
"""

from __future__ import annotations

from itertools import pairwise

from fastrank.data.qrels import Qrels
from fastrank.data.texts import spans
from fastrank.formats.chunks import (
    SHORTEST_LINE,
    ChunkReader,
    FileParts,
    feed_all,
    met_comment,
    result_fields,
    unknown_queries,
)
from fastrank.judging.judged import Judged
from fastrank.judging.scratch import judging_scratch, room_for_judged, room_for_ties
from fastrank.native import codes, kernels, records
from fastrank.native.buffers import filled, table_size, zeros
from fastrank.native.records.runs import (
    FilledPages,
    PageRoom,
    ResultPages,
    Results,
    ScatteredFields,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.judging.needs import JudgingOptions

# Larger pages are read faster, smaller ones waste less memory.
SMALLEST_PAGE, LARGEST_PAGE = 1 << 7, 1 << 10
# The average number of pages per query, unless that makes pages too small or too large.
PAGES = 16
# Memory for a compressed run, whose size is unknown. Unused memory costs nothing.
ROOM_IF_UNKNOWN = 1 << 28


class Collector:
    """Collects the results of the judged queries from the parts of a run.

    The results of further lines come last: see `add`.
    """

    def __init__(
        self,
        qrels: Qrels,
        parts: FileParts,
        options: JudgingOptions,
        *,
        comments: bool,
        strict: bool,
    ) -> None:
        self._qrels, self._parts, self._comments = qrels, parts, comments
        self._options, self._strict = options, strict
        self._unknown_ids: set[bytes] = set()
        # One stretch per part, and one for the lines added.
        self._stretches = len(parts) + 1
        self._queries = records.TextTable(
            texts=qrels.queries.columns, table=zeros("q", 2 * table_size(len(qrels)))
        )
        kernels.index_texts(self._queries)

    def collect(self) -> bytes | None:
        """Keep the results of all parts; the tag of the last line, or None if that is not possible.

        Everything is read again with more memory if there is too little, and with comments if the
        first line that cannot be read looks like one.
        """
        times = 1
        while True:
            self._make_room(times)
            feeders = [self._feeder(part) for part in range(len(self._parts))]
            tag = feed_all(feeders, self._parts, comments=self._comments, strict=self._strict)
            if codes.NO_PAGE_LEFT in {feeder.status for feeder in feeders}:
                times *= 4
            elif not self._comments and met_comment(feeders):
                self._comments = True
            else:
                self._unknown_ids.update(*(feeder.unknown_ids for feeder in feeders))
                return tag

    def missing(self, order: Any) -> set[int]:
        """Those of the given queries of which no results were found."""
        totals, _ = self._totals()
        return {query for query in order if not totals[query]}

    def unknown_ids(self) -> set[bytes]:
        """The ids of the run's queries without judgments, if they are kept."""
        return self._unknown_ids

    def add(self, lines: bytes) -> bool:
        """Keep the results of more lines, at most one per query; returns whether that succeeded."""
        feeder = self._feeder(len(self._parts))
        feeder.feed_text(lines)
        return feeder.status == codes.DONE

    def judge(self, order: Any) -> tuple[Any, Judged] | None:
        """The queries with results, in the given order, and their rankings; None if one of these
        cannot be judged."""
        qrels, options = self._qrels, self._options
        totals, deepest = self._totals()
        queries = filled("q", [query for query in order if totals[query]])
        listed = kernels.count_picked(qrels.offset_column, queries)
        rankings = room_for_judged(qrels, queries, listed, options).columns
        ties = room_for_ties(len(queries), listed)
        problem = zeros("q", 3)
        kernels.judge_pages(
            qrels.columns,
            FilledPages(
                buffer=self._buffer, firsts=self._firsts, page_size=self._page,
                parts=self._stretches,
            ),
            queries,
            options.codes(),
            Results(docs=spans(deepest), scores=zeros("d", deepest)),
            judging_scratch(deepest, kernels.widest(qrels.offset_column)),
            records.RankingsAndTies(rankings=rankings, ties=ties),
            problem,
        )  # fmt: skip
        if problem[0] != codes.FINE:
            return None
        return queries, Judged(columns=rankings, ties=ties)

    def _totals(self) -> tuple[Any, int]:
        """The number of results of each query, and the largest of these numbers."""
        totals = zeros("q", len(self._qrels))
        return totals, kernels.add_counts(self._stretches, self._counts, totals)

    def _make_room(self, times: int) -> None:
        """Allocate empty pages for every part; `times`: multiple of the usual number."""
        queries = len(self._qrels)
        columns = (zeros("q", self._stretches * queries) for _ in range(3))
        self._counts, self._firsts, self._ends = columns
        sizes = [stop - start for start, stop in pairwise(self._parts.cuts)]
        if self._parts.size is None:
            sizes = [ROOM_IF_UNKNOWN]
        self._page = SMALLEST_PAGE
        while self._page < min(LARGEST_PAGE, sum(sizes) // (PAGES * max(1, queries))):
            self._page *= 2
        self._rooms = []
        # Offset 0 means no page.
        stop = self._page
        for size in (*sizes, queries * SHORTEST_LINE):
            # A line is longer than its kept part, but pages are rarely full.
            pages = times * size // self._page + min(queries, size // SHORTEST_LINE + 1)
            room = PageRoom(page_size=self._page, free=stop)
            stop += self._page * pages
            room.end = stop
            self._rooms.append(room)
        self._buffer = zeros("B", stop)

    def _feeder(self, part: int) -> ChunkReader:
        count = len(self._qrels)
        own = slice(part * count, (part + 1) * count)

        unknown = unknown_queries(kept=self._strict)
        pages = ResultPages(
            buffer=self._buffer, counts=self._counts[own], firsts=self._firsts[own],
            ends=self._ends[own], room=self._rooms[part],
        )  # fmt: skip

        def prepare(
            reader: records.LineReader, _: int, state: records.Reading
        ) -> Callable[[], int]:
            fields = ScatteredFields(
                queries=spans(codes.CHUNK),
                numbers=zeros("q", codes.CHUNK),
                results=result_fields(codes.CHUNK),
            )
            return kernels.prepare(
                "collect_run", reader, self._queries, fields, pages, unknown, state
            )

        return ChunkReader(prepare, unknown)
