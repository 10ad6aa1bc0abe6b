"""Judge run files of any size while they are read.

Where the lines of a query are scattered, the results of judged queries are collected first: of a
line of 41 bytes with an id of 7 bytes, 16 bytes for the score and the id.

A run with a duplicate document or a malformed line is left to the readers and the judging of runs
in memory, which handle all cases and report errors.
"""

from __future__ import annotations

from itertools import pairwise

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.core.data.texts import spans, text_table
from fastrank.core.formats.files.chunks import (
    ChunkReader,
    FileParts,
    feed_all,
    feed_in_turn,
    met_comment,
    result_fields,
    unknown_queries,
)
from fastrank.core.matching.judged import (
    Judged,
    JudgedRun,
    judging_scratch,
    room_for_judged,
    room_for_ties,
)
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import filled, zeros
from fastrank.core.native.codes import SHORTEST_LINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from fastrank.core.data.texts import Texts
    from fastrank.core.formats.files.chunks import Prepare
    from fastrank.core.formats.qrels import Qrels
    from fastrank.core.matching.options import Options
    from fastrank.core.matching.plan import Plan
    from fastrank.core.native.record import Int64Array


def match_file(plan: Plan, parts: FileParts) -> JudgedRun | None:
    """Judge a run file in TREC format, for measures and options that need only rankings.

    None if it must be loaded into memory. Raises ReadError.
    """
    table = plan.known(_streamable)
    if table is None:
        return None
    options = plan.judging
    memory = plan.memory.take(
        lambda memory: isinstance(memory, _Streams) and memory.count > parts.threads
    )
    if memory is None:
        memory = _Streams(plan.judgments, options, table, parts.threads + 1)
    streams: _Streams | Collector = memory
    comments = options.trec_eval_version != DEFAULT_VERSION
    tag = memory.feed(parts, comments=comments)
    if not comments and memory.met_comment and not memory.are_scattered:
        comments = True
        tag = memory.feed(parts, comments=comments)
    if memory.are_scattered:
        streams = Collector(plan.judgments, options, parts, comments=comments)
        tag = streams.collect()
    judged = None if tag is None else _judged_run_of_parts(plan, streams, tag)
    plan.memory.keep(memory)
    return judged


def _streamable(plan: Plan) -> records.TextTable | None:
    """The ids of the judged queries; None if runs cannot be judged while they are read."""
    if plan.judging.list_unjudged:
        return None
    table = text_table(plan.judgments.queries)
    # Judgments that were not read from a file may have ids with blanks.
    if plan.options.evaluates_missing and kernels.find_no_field(table.texts) >= 0:
        return None
    return table


def _judged_run_of_parts(plan: Plan, streams: _Streams | Collector, tag: bytes) -> JudgedRun | None:
    """The rankings in what was read; None if one cannot be judged."""
    missing: Collection[int] = ()
    if plan.options.evaluates_missing:
        missing = streams.missing(plan.order)
        if not streams.add(_placeholder_lines(plan.judgments.queries, missing)):
            return None
    queries_and_rankings = streams.judge(plan.order)
    if queries_and_rankings is None:
        return None
    queries, judged = queries_and_rankings
    pairs = enumerate(queries) if missing else ()
    return JudgedRun(
        queries=queries,
        judged=judged,
        missing=len(plan.order) - len(queries) + len(missing),
        placeholders=[i for i, query in pairs if query in missing],
        unjudged_queries=None if plan.options.original else sorted(streams.unknown_ids()),
        tag=tag,
    )


def _placeholder_lines(ids: Texts, queries: Collection[int]) -> bytes:
    from fastrank.core.matching.queries import PLACEHOLDER

    return b"".join(b"%b Q0 %b 1 1 -\n" % (ids[query], PLACEHOLDER) for query in queries)


class _Fed:
    """Feeders of a kernel that read a run, the last ones in `_fed`."""

    def __init__(self, qrels: Qrels, options: Options) -> None:
        self._qrels, self._options, self._strict = qrels, options, not options.original
        self._fed: list[ChunkReader] = []

    def unknown_ids(self) -> set[bytes]:
        """The ids of the run's queries without judgments, if they are kept."""
        return set[bytes]().union(*(feeder.unknown_ids for feeder in self._fed))


class _Streams(_Fed):
    """Feeders of the streaming kernel and their results: columns with a section for each."""

    # For `batch_of` in core/evaluation/scoring.py: no run's rankings are in this memory.
    judged = None

    def __init__(
        self, qrels: Qrels, options: Options, queries: records.TextTable, count: int
    ) -> None:
        super().__init__(qrels, options)
        self.count = count
        self._ranking_options, self._queries = options.codes(), queries
        # A section of the first four columns has a row per judgment; of the other five, per query.
        self._sizes = [len(qrels.docs)] * 4 + [len(qrels)] * 5
        self._streamed = records.StreamedRankings(*(zeros("q", count * n) for n in self._sizes))
        self.feeders = [self._feeder(number) for number in range(count)]

    def _feeder(self, number: int) -> ChunkReader:
        unknown = unknown_queries(keep=self._strict)
        return ChunkReader(self._kernel_of(number, unknown), unknown)

    def _kernel_of(self, number: int, unknown: records.UnknownQueries) -> Prepare:
        streamed = records.StreamedRankings(
            *(
                column[number * size : (number + 1) * size]
                for column, size in zip(self._streamed, self._sizes, strict=True)
            )
        )
        # Not self, which holds the feeders: a cycle would keep large buffers until the next garbage
        # collection.
        queries, qrels, options = self._queries, self._qrels.columns, self._ranking_options
        most_judged = kernels.widest(qrels.offsets)

        def prepare(
            reader: records.LineReader, lines: int, state: records.Reading
        ) -> Callable[[], int]:
            scratch = records.StreamScratch(
                fields=result_fields(lines),
                scores=zeros("d", lines),
                ranks=zeros("q", lines),
                judging=judging_scratch(lines, most_judged),
                unknown=unknown,
            )
            return kernels.prepare(
                "stream_run",
                reader,
                queries,
                qrels,
                options,
                scratch,
                streamed,
                zeros("q", 3),
                state,
            )

        return prepare

    def feed(self, parts: FileParts, *, comments: bool) -> bytes | None:
        """Judge all parts; the tag of the last line, or None if one could not be judged."""
        seen = self._streamed.first_listed
        if len(seen) and self._fed:
            seen.cast("B")[:] = bytes(seen.nbytes)
        self._fed = self.feeders[: parts.threads]
        return feed_in_turn(self._fed, parts, comments=comments, strict=self._strict)

    @property
    def met_comment(self) -> bool:
        """Whether a part could not be judged because of a comment."""
        return met_comment(self._fed)

    @property
    def are_scattered(self) -> bool:
        """Whether lines of a query are known to be scattered; there may be other problems."""
        statuses = {feeder.status for feeder in self._fed}
        if statuses == {codes.DONE}:
            return bool(kernels.is_in_two_parts(self.count, self._streamed.first_listed))
        return codes.SCATTERED in statuses

    def missing(self, order: Int64Array) -> set[int]:
        """The given queries that have no results."""
        seen, queries = self._streamed.first_listed, len(self._qrels)
        return {
            query
            for query in order
            if not any(seen[part * queries + query] for part in range(self.count))
        }

    def add(self, lines: bytes) -> bool:
        """Judge more lines, of queries without results; whether that succeeded."""
        self.feeders[-1].feed_text(lines)
        return self.feeders[-1].status == codes.DONE

    def judge(self, order: Int64Array) -> tuple[Int64Array, Judged] | None:
        """The queries found, in the given order, and their rankings; None if one is invalid."""
        qrels, options = self._qrels, self._options
        queries = zeros("q", len(order))
        rankings = room_for_judged(qrels, order, len(qrels.docs), options).columns
        ties = room_for_ties(len(order), len(qrels.docs))
        count = kernels.gather_judged(
            order,
            self.count,
            self._streamed,
            qrels.columns,
            self._ranking_options,
            queries,
            records.RankingsAndTies(rankings=rankings, ties=ties),
        )
        if count < 0:
            return None
        return queries[:count], Judged(columns=rankings, ties=ties).first(count)


# Larger pages are read faster, smaller ones waste less memory.
SMALLEST_PAGE, LARGEST_PAGE = 1 << 7, 1 << 10
# The average number of pages per query, unless that makes pages too small or too large.
PAGES = 16
# Memory for a compressed run, whose size is unknown. Unused memory costs nothing.
ROOM_IF_UNKNOWN = 1 << 28


class Collector(_Fed):
    """Collects the results of the judged queries from the parts of a run.

    The results of further lines come last: see `add`.
    """

    def __init__(self, qrels: Qrels, options: Options, parts: FileParts, *, comments: bool) -> None:
        super().__init__(qrels, options)
        self._parts, self._comments = parts, comments
        # One stretch per part, and one for the lines added.
        self._stretches = len(parts) + 1
        self._queries = records.TextTable(
            texts=qrels.queries.columns, table=zeros("q", 2 * kernels.table_size(len(qrels)))
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
                self._fed = feeders
                return tag

    def missing(self, order: Int64Array) -> set[int]:
        """The given queries that have no results."""
        totals, _ = self._totals()
        return {query for query in order if not totals[query]}

    def add(self, lines: bytes) -> bool:
        """Keep the results of more lines, at most one per query; returns whether that succeeded."""
        feeder = self._feeder(len(self._parts))
        feeder.feed_text(lines)
        return feeder.status == codes.DONE

    def judge(self, order: Int64Array) -> tuple[Int64Array, Judged] | None:
        """The queries with results, in the given order, and their rankings; None if one of these
        cannot be judged."""
        # Imported late, here and below: most runs are not collected.
        from fastrank.core.native.records.runs import FilledPages, Results

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
                buffer=self._buffer,
                firsts=self._firsts,
                page_size=self._page,
                parts=self._stretches,
            ),
            queries,
            options.codes(),
            Results(docs=spans(deepest), scores=zeros("d", deepest)),
            judging_scratch(deepest, kernels.widest(qrels.offset_column)),
            records.RankingsAndTies(rankings=rankings, ties=ties),
            problem,
        )
        if problem[0] != codes.FINE:
            return None
        return queries, Judged(columns=rankings, ties=ties)

    def _totals(self) -> tuple[Int64Array, int]:
        """The number of results of each query, and the largest of these numbers."""
        totals = zeros("q", len(self._qrels))
        return totals, kernels.add_counts(self._stretches, self._counts, totals)

    def _make_room(self, times: int) -> None:
        """Allocate empty pages for every part; `times`: multiple of the usual number."""
        from fastrank.core.native.records.runs import PageRoom

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
        from fastrank.core.native.records.runs import ResultPages, ScatteredFields

        count = len(self._qrels)
        section = slice(part * count, (part + 1) * count)
        # Not self, which holds the feeders.
        queries, unknown = self._queries, unknown_queries(keep=self._strict)
        pages = ResultPages(
            buffer=self._buffer,
            counts=self._counts[section],
            firsts=self._firsts[section],
            ends=self._ends[section],
            room=self._rooms[part],
        )

        def prepare(
            reader: records.LineReader, _: int, state: records.Reading
        ) -> Callable[[], int]:
            fields = ScatteredFields(
                queries=spans(codes.CHUNK),
                numbers=zeros("q", codes.CHUNK),
                results=result_fields(codes.CHUNK),
            )
            return kernels.prepare("collect_run", reader, queries, fields, pages, unknown, state)

        return ChunkReader(prepare, unknown)
