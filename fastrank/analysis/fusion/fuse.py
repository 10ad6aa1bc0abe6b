"""Fuse the rankings of runs, in threads over parts of the queries."""

from __future__ import annotations

import numpy as np

from fastrank.analysis.fusion.inputs import missing_queries, named_runs, union_of
from fastrank.analysis.fusion.options import FUSION, FusionOptions, settings_for
from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.keywords import takes, with_defaults
from fastrank.common.messages import python_warning
from fastrank.core.data.texts import Texts, decoded, joined, memory_of
from fastrank.core.formats.run import Run, repetition
from fastrank.core.formats.tables.values import first_repeat, tag_of
from fastrank.core.kernels import fusion as codes
from fastrank.core.native import kernels, records
from fastrank.core.native.buffers import filled, zeros
from fastrank.core.native.codes import SORT_BYTES
from fastrank.core.native.records.runs import FusedRankings, FusedSize, FusionScratch, RankedEntries
from fastrank.core.native.threads import default_threads, in_threads
from fastrank.errors import EvaluationError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from typing_extensions import Unpack

    from fastrank.analysis.fusion.inputs import NamedRun
    from fastrank.analysis.fusion.options import Settings
    from fastrank.common.choices import FusionMethod
    from fastrank.common.messages import Warn
    from fastrank.core.formats.inputs import RunsLike


@takes(FusionOptions, FUSION)
def fuse(
    runs: RunsLike,
    method: FusionMethod = "rrf",
    *,
    warn: Warn = python_warning,
    **options: Unpack[FusionOptions],
) -> Run:
    """Fuse the rankings of several runs into one run.

    runs: a list of runs, or {name: run}; each as `evaluate` takes it.
    method: "rrf", "combsum", "combmnz", "convex", "borda", "isr", "rbc", "combmax", "combmin",
        "combmed", "combanz", "gmnz", "log_isr", "logn_isr", "wmnz", "mixed" or "condorcet"; see
        docs/fusion.md for the formulas and sources.
    warn: what to call with a note on a run that lacks some queries, or if there is only one run; by
        default a Python warning.
    **options: see `FusionOptions`.

    The fused run has all queries of the runs, in byte order, and for each the documents of all
    runs, highest score first. Ranks are those of trec_eval, in the runs and in the result: scores
    are compared as 32-bit floats ("9.0.8") or doubles ("10.0"), and documents with equal fused
    scores are in descending byte order of their ids. A run without results for a query contributes
    nothing to it. The order of the runs makes no difference.

    Raises OptionError for an unknown method, invalid options, and options without effect on the
    method; GroupError if there are no runs, or a run shares no query with the others;
    EvaluationError, which names run, query and document, for a score that is NaN or infinite and
    a method that uses scores; InputError for a document that appears twice in a query; TypeError
    for other objects; and what reading a run raises.

    >>> bm25 = {"q1": {"d1": 14.2, "d2": 13.0, "d3": 8.1}}
    >>> dense = {"q1": {"d3": 0.83, "d1": 0.82, "d4": 0.40}}
    >>> fr.fuse([bm25, dense]).to_dict()
    {'q1': {'d1': 0.0325..., 'd3': 0.0322..., 'd2': 0.0161..., 'd4': 0.0158...}}
    >>> fr.fuse([bm25, dense], "convex", weights=[0.25, 0.75]).to_dict()
    {'q1': {'d1': 0.982..., 'd3': 0.75, 'd2': 0.200..., 'd4': 0.0}}
    """
    all_options = with_defaults(fuse, options)
    version = all_options.get("trec_eval_version", DEFAULT_VERSION)
    loaded = named_runs(runs, version)
    settings = settings_for(method, all_options, len(loaded))
    queries = union_of(loaded)
    for note in missing_queries(loaded, queries):
        warn(note)
    return fuse_runs(loaded, queries, settings)


SOURCE = "<fusion>"
# How many rows are fused at once, so that their memory stays in the caches; and rows per thread.
BLOCK = 1 << 14
WORTH_A_THREAD = 1 << 18


def fuse_runs(runs: list[NamedRun], queries: list[bytes], settings: Settings) -> Run:
    """The fused run of some queries, in their order. Raises EvaluationError and InputError."""
    rankings = _Rankings(runs, queries, settings)
    output = _Output(rankings)

    def work(part: int) -> None:
        _fuse_part(rankings, output, part)

    in_threads(work, rankings.parts)
    return output.run(queries, tag_of(settings.tag, SOURCE))


class _Rankings:
    """The rankings of the runs for the queries: where they are, and their sizes.

    places: int64[runs, queries], the index of each query in each run, or -1. sizes: int64[runs,
    queries], its number of rows. rows, lengths: for each query, the rows to fuse and the bytes of
    all ids. edges: the queries at which the parts begin, and their number.
    """

    def __init__(self, runs: list[NamedRun], queries: list[bytes], settings: Settings) -> None:
        self.runs, self.queries, self.settings = runs, queries, settings
        self.columns = [run.run.columns for run in runs]
        shape = len(runs), len(queries)
        self.places, self.sizes = np.full(shape, -1, np.int64), np.zeros(shape, np.int64)
        self.lengths = np.zeros(len(queries), np.int64)
        for r, (run, columns) in enumerate(zip(runs, self.columns, strict=True)):
            index = run.places
            self.places[r] = [index.get(query, -1) for query in queries]
            mask = self.places[r] >= 0
            rows = self.places[r][mask]
            lengths = zeros("q", len(run.run))
            kernels.count_bytes(columns, lengths)
            self.lengths[mask] += np.asarray(lengths)[rows]
            self.sizes[r][mask] = np.diff(run.run.offsets)[rows]
        self.rows = np.minimum(self.sizes, settings.rules.depth).sum(axis=0)
        most = default_threads(int(self.rows.sum()), WORTH_A_THREAD)
        targets = np.linspace(0, self.rows.sum(), 1 + min(settings.threads or most, most))
        before = np.concatenate([[0], np.cumsum(self.rows)])
        self.edges = np.unique([0, *np.searchsorted(before, targets), len(queries)]).tolist()
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

    def __init__(self, rankings: _Rankings) -> None:
        self._edges = rankings.edges
        sizes = np.minimum(rankings.rows, rankings.settings.rules.keep)
        self._first_rows = np.concatenate([[0], np.cumsum(sizes)])[rankings.edges]
        bytes_before = np.concatenate([[0], np.cumsum(rankings.lengths)])[rankings.edges]
        self._first_bytes = bytes_before + codes.SLACK * np.arange(len(bytes_before))
        rows = int(self._first_rows[-1])
        text = zeros("B", int(self._first_bytes[-1]))
        self.docs = records.Texts(text, zeros("q", rows), zeros("q", rows))
        self.scores, self.counts = zeros("d", rows), zeros("q", len(rankings.queries))

    def size_before(self, part: int) -> FusedSize:
        """The size of the output before a part."""
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
        for part, first in enumerate(self._first_rows[1:-1].tolist(), 1):
            # Close the gap before the rows of a part.
            start, stop = offsets[self._edges[part]], offsets[self._edges[part + 1]]
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


def _fuse_part(rankings: _Rankings, output: _Output, part: int) -> None:
    """Fuse the queries of a part, block by block."""
    settings = rankings.settings
    blocks = rankings.blocks(part)
    entries, scratch = _memory(rankings, blocks)
    size, problem = output.size_before(part), zeros("q", codes.PROBLEM_SIZE)
    weights = filled("d", settings.weights)
    for first, stop in blocks:
        position = 0
        entries.offsets[0] = 0
        for r, columns in enumerate(rankings.columns):
            position = kernels.collect_rankings(
                columns,
                rankings.places[r, first:stop],
                r * (stop - first),
                position,
                settings.rules,
                scratch.ranking,
                entries,
            )
        kernels.fuse_rankings(
            entries, settings.rules, weights, scratch, output.rankings(first, stop), size, problem
        )
        if problem[0] != codes.FINE:
            query = first + problem[1]
            refuse(problem, rankings.runs, rankings.queries[query], entries)


def _memory(
    rankings: _Rankings, blocks: list[tuple[int, int]]
) -> tuple[RankedEntries, FusionScratch]:
    """Memory for the largest of some blocks, and for the largest of their queries."""
    rows = max((int(rankings.rows[a:b].sum()) for a, b in blocks), default=0)
    text = max((int(rankings.lengths[a:b].sum()) for a, b in blocks), default=0) + codes.SLACK
    queries = max((b - a for a, b in blocks), default=0)
    runs = len(rankings.runs)
    first, stop = (blocks[0][0], blocks[-1][1]) if blocks else (0, 0)
    widest = int(rankings.rows[first:stop].max(initial=0))
    deepest = max(widest, int(rankings.sizes[:, first:stop].max(initial=0)))
    buffer = zeros("B", text)
    entries = RankedEntries(
        docs=records.Texts(buffer, zeros("q", rows), zeros("q", rows)),
        scores=zeros("d", rows),
        offsets=zeros("q", runs * queries + 1),
    )
    scratch = FusionScratch(
        table=zeros("q", kernels.table_size(widest)),
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


def refuse(
    problem: Sequence[int], runs: list[NamedRun], query: bytes, entries: RankedEntries
) -> NoReturn:
    """Raise the error that a kernel reports.

    Raises InputError for a document that a run retrieves twice, else EvaluationError.
    """
    kind, _, run, entry = problem
    query_id, doc = decoded(query), decoded(Texts(*entries.docs)[entry])
    score = entries.scores[entry]
    if kind == codes.RESULT_NOT_FINITE:
        reason = f"query {query_id!r}, document {doc!r}: the fused score is not finite"
        raise EvaluationError("", query, f"{reason}; use a normalization or method by rank")
    named_run = runs[run]
    if kind == codes.REPEATED:
        reason = _repetition(named_run.run, named_run.places[query])
        raise InputError(named_run.name, reason)
    where = f"{named_run.name}: query {query_id!r}"
    if kind == codes.NO_MAXIMUM:
        reason = f"{where}: the normalization 'max' needs a score above 0, found at most {score!r}"
        raise EvaluationError("", query, reason)
    reason = f"{where}, document {doc!r}: expected a finite score, found {score!r}"
    raise EvaluationError("", query, f"{reason}; use a method by rank, such as rrf")


def _repetition(run: Run, row: int) -> str:
    """Which document a query of a run has twice, and where."""
    start, stop = run.offset_column[row : row + 2]
    docs = run.docs.take(range(start, stop))
    again = first_repeat(docs)
    return repetition(run, row, start + docs.index(docs[again]), start + again)
