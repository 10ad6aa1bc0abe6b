"""Fuse the columns of runs, in threads over parts of the queries."""

from __future__ import annotations

import numpy as np

from fastrank.data.run import Run
from fastrank.data.texts import Texts, joined, memory_of
from fastrank.formats.tables import tag_of
from fastrank.fusion.problems import refuse
from fastrank.kernels.fusion import codes
from fastrank.native import kernels, records
from fastrank.native.buffers import filled, table_size, zeros
from fastrank.native.codes import SORT_BYTES
from fastrank.native.records.runs import FusedRankings, FusedSize, FusionScratch, RankedEntries
from fastrank.native.threads import default_threads, in_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy.typing as npt

    from fastrank.fusion.inputs import NamedRun
    from fastrank.fusion.options import Settings

    Integers = npt.NDArray[np.int64]

SOURCE = "<fusion>"
# Rows that are fused at once, whose memory stays in the caches; and rows for each thread.
BLOCK = 1 << 14
WORTH_A_THREAD = 1 << 18


def fuse_runs(runs: list[NamedRun], queries: list[bytes], settings: Settings) -> Run:
    """The fused run of some queries, in their order. Raises EvaluationError and InputError."""
    given = _Rankings(runs, queries, settings)
    output = _Output(given)

    def work(part: int) -> None:
        _fuse_part(given, output, part)

    in_threads(work, given.parts)
    return output.run(queries, tag_of(settings.tag, SOURCE))


class _Rankings:
    """The rankings of the runs for the queries: where they are and how large.

    places: int64[runs, queries], the place of each query in each run, or -1. sizes: int64[runs,
    queries], its rows. rows, lengths: of each query, the rows to fuse and the bytes of all ids.
    edges: the queries at which the parts begin, and their number.
    """

    def __init__(self, runs: list[NamedRun], queries: list[bytes], settings: Settings) -> None:
        self.runs, self.queries, self.settings = runs, queries, settings
        self.columns = [run.run.columns for run in runs]
        shape = len(runs), len(queries)
        self.places, self.sizes = np.full(shape, -1, np.int64), np.zeros(shape, np.int64)
        self.lengths = np.zeros(len(queries), np.int64)
        for r, (run, columns) in enumerate(zip(runs, self.columns, strict=True)):
            places = run.places()
            self.places[r] = [places.get(query, -1) for query in queries]
            found = self.places[r] >= 0
            at = self.places[r][found]
            lengths = zeros("q", len(run.run))
            kernels.count_bytes(columns, lengths)
            self.lengths[found] += np.asarray(lengths)[at]
            self.sizes[r][found] = np.diff(run.run.offsets)[at]
        self.rows = np.minimum(self.sizes, settings.rules.depth).sum(axis=0)
        most = default_threads(int(self.rows.sum()), WORTH_A_THREAD)
        wanted = np.linspace(0, self.rows.sum(), 1 + min(settings.threads or most, most))
        before = np.concatenate([[0], np.cumsum(self.rows)])
        self.edges = np.unique([0, *np.searchsorted(before, wanted), len(queries)]).tolist()
        self.parts = max(1, len(self.edges) - 1)
        if not queries:
            self.edges = [0, 0]

    def blocks(self, part: int) -> list[tuple[int, int]]:
        """The ranges of queries of a part that are fused at once."""
        first, stop = self.edges[part], self.edges[part + 1]
        # A query without rows takes memory too.
        work = np.cumsum(self.rows[first:stop] + 1)
        blocks, done = [], 0
        while first < stop:
            end = self.edges[part] + int(np.searchsorted(work, done + BLOCK, "right"))
            end = max(end, first + 1)
            blocks.append((first, end))
            done = int(work[end - 1 - self.edges[part]])
            first = end
        return blocks


class _Output:
    """Memory for the fused rankings; each part has more than it can need."""

    def __init__(self, given: _Rankings) -> None:
        self._edges = given.edges
        kept = np.minimum(given.rows, given.settings.rules.keep)
        self._first_rows = np.concatenate([[0], np.cumsum(kept)])[given.edges]
        bytes_before = np.concatenate([[0], np.cumsum(given.lengths)])[given.edges]
        self._first_bytes = bytes_before + codes.SLACK * np.arange(len(bytes_before))
        rows = int(self._first_rows[-1])
        text = zeros("B", int(self._first_bytes[-1]))
        self.docs = records.Texts(text, zeros("q", rows), zeros("q", rows))
        self.scores, self.counts = zeros("d", rows), zeros("q", len(given.queries))

    def size_before(self, part: int) -> FusedSize:
        """What the output has before a part."""
        return FusedSize(rows=int(self._first_rows[part]), bytes=int(self._first_bytes[part]))

    def rankings(self, first: int, stop: int) -> FusedRankings:
        """The output of a range of queries."""
        return FusedRankings(docs=self.docs, scores=self.scores, counts=self.counts[first:stop])

    def run(self, queries: list[bytes], tag: bytes) -> Run:
        """The run of all parts."""
        counts = np.asarray(self.counts)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        rows = int(offsets[-1])
        columns = [self.docs.starts, self.docs.lengths, self.scores]
        for place, first in enumerate(self._first_rows[1:-1].tolist(), 1):
            # Close the gap before the rows of a part.
            start, stop = offsets[self._edges[place]], offsets[self._edges[place + 1]]
            for column in map(np.asarray, columns):
                column[start:stop] = column[first : first + stop - start]
        starts, lengths, scores = (column[:rows] for column in columns)
        return Run(
            queries=joined(b"".join(queries), queries),
            docs=Texts(self.docs.buffer, starts, lengths),
            tag_bytes=tag,
            source=SOURCE,
            offset_column=memory_of(offsets),
            score_column=scores,
        )


def _fuse_part(given: _Rankings, output: _Output, part: int) -> None:
    """Fuse the queries of a part, block by block."""
    settings = given.settings
    blocks = given.blocks(part)
    entries, scratch = _memory(given, blocks)
    size, problem = output.size_before(part), zeros("q", codes.PROBLEM_SIZE)
    weights = filled("d", settings.weights)
    for first, stop in blocks:
        at = 0
        entries.offsets[0] = 0
        for r, columns in enumerate(given.columns):
            at = kernels.collect_rankings(
                columns, given.places[r, first:stop], r * (stop - first), at, settings.rules,
                scratch.ranking, entries,
            )  # fmt: skip
        kernels.fuse_rankings(
            entries, settings.rules, weights, scratch, output.rankings(first, stop), size,
            problem,
        )  # fmt: skip
        if problem[0] != codes.FINE:
            query = first + problem[1]
            refuse(problem, given.runs, given.queries[query], entries)


def _memory(given: _Rankings, blocks: list[tuple[int, int]]) -> tuple[RankedEntries, FusionScratch]:
    """Memory for the largest of some blocks, and for the largest of their queries."""
    rows = max((int(given.rows[a:b].sum()) for a, b in blocks), default=0)
    text = max((int(given.lengths[a:b].sum()) for a, b in blocks), default=0) + codes.SLACK
    queries = max((b - a for a, b in blocks), default=0)
    runs = len(given.runs)
    first, stop = (blocks[0][0], blocks[-1][1]) if blocks else (0, 0)
    widest = int(given.rows[first:stop].max(initial=0))
    deepest = max(widest, int(given.sizes[:, first:stop].max(initial=0)))
    buffer = zeros("B", text)
    entries = RankedEntries(
        docs=records.Texts(buffer, zeros("q", rows), zeros("q", rows)),
        scores=zeros("d", rows),
        offsets=zeros("q", runs * queries + 1),
    )
    scratch = FusionScratch(
        table=zeros("q", table_size(widest)),
        numbers=zeros("q", rows),
        values=zeros("d", rows),
        docs=records.Texts(buffer, zeros("q", widest), zeros("q", widest)),
        counts=zeros("q", widest),
        ends=zeros("q", widest),
        grouped=zeros("q", widest),
        fused=zeros("d", widest),
        ranking=records.RankingScratch(
            keys=zeros("d", deepest), order=zeros("q", deepest), merge=zeros("q", deepest)
        ),
        words=zeros("q", widest),
        other_words=zeros("q", widest),
        other_order=zeros("q", widest),
        terms=zeros("d", runs),
        lowest=zeros("d", runs),
        histogram=zeros("q", SORT_BYTES),
    )
    return entries, scratch
