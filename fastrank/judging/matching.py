"""Match the rankings of a run with the judged queries."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.data.texts import byte_order, remaining
from fastrank.judging.judged import JudgedRun
from fastrank.judging.queries import evaluates_missing
from fastrank.native import kernels, records
from fastrank.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.preferences import Preferences
    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.options import Options


class MatchedQueries(Frozen):
    """Queries to evaluate, in byte order: their indexes in the judgments and in the run (or -1)."""

    __slots__ = ("judgments", "rankings")

    judgments: Any
    rankings: Any

    @property
    def columns(self) -> records.Matched:
        """The input of kernels."""
        return records.Matched(judgments=self.judgments, rankings=self.rankings)

    def __len__(self) -> int:
        return len(self.judgments)

    def first(self, count: int) -> MatchedQueries:
        """The first `count` of the queries."""
        return MatchedQueries(judgments=self.judgments[:count], rankings=self.rankings[:count])


def match_queries(judgments: Qrels | Preferences, run: Run) -> MatchedQueries:
    """Every judged query, in byte order of its id, with its index in the run or -1."""
    order, run_order = byte_order(judgments), byte_order(run)
    rankings = zeros("q", len(order))
    kernels.match_texts(judgments.queries.columns, order, run.queries.columns, run_order, rankings)
    return MatchedQueries(judgments=order, rankings=rankings)


def match_run(
    judgments: Qrels | Preferences,
    run: Run,
    options: Options,
    matched: MatchedQueries | None = None,
) -> tuple[Run, MatchedQueries, JudgedRun]:
    """The run without the documents that options remove, its matched queries, and a JudgedRun.

    matched: every judged query in evaluation order, with its index in a run that has no other
    queries, or -1; by default they are looked up and evaluated in byte order. The JudgedRun has no
    rankings yet.
    """
    all_queries = match_queries(judgments, run) if matched is None else matched
    chosen, missing = _evaluated(judgments, run, options, all_queries)
    excluded = duplicates = 0
    unknown = 0
    # Neither rows of arrays without judgments nor skipped queries are known here.
    if options.exclude and matched is None and options.no_relevant != "skip":
        unknown = len({*options.exclude}.difference(run.queries, judgments.queries))
    if options.has_filters:
        run, excluded, duplicates = _without_documents(run, chosen, options)
    placeholders = []
    if missing and evaluates_missing(options):
        # Imported late: the trec_eval command needs the module only for -c.
        from fastrank.judging.placeholders import with_placeholder

        run = with_placeholder(run)
        placeholders = [i for i, own in enumerate(chosen.rankings) if own == len(run) - 1]
    judged = JudgedRun(
        queries=chosen.judgments,
        missing=missing,
        placeholders=placeholders,
        unjudged_queries=remaining(run.queries, chosen.rankings) if matched is None else None,
        counts={
            "excluded": excluded,
            "duplicates": duplicates,
            **({"unknown_exclusions": unknown} if unknown else {}),
        },
        tag=run.tag_bytes,
    )
    return run, chosen, judged


def _evaluated(
    judgments: Qrels | Preferences, run: Run, options: Options, matched: MatchedQueries
) -> tuple[MatchedQueries, int]:
    """The queries to evaluate, and the number of judged queries missing from the run."""
    pairs = list(zip(matched.judgments, matched.rankings, strict=True))
    if options.query is not None:
        pairs = [pair for pair in pairs if judgments.queries[pair[0]] == options.query]
    found = [pair for pair in pairs if pair[1] >= 0]
    missing = len(pairs) - len(found)
    if evaluates_missing(options):
        # The index at which with_placeholder adds the ranking of queries without results.
        found = [(query, ranking if ranking >= 0 else len(run)) for query, ranking in pairs]
    chosen = MatchedQueries(
        judgments=filled("q", [query for query, _ in found]),
        rankings=filled("q", [ranking for _, ranking in found]),
    )
    return chosen, missing


def _without_documents(run: Run, matched: MatchedQueries, options: Options) -> tuple[Run, int, int]:
    """The run without excluded and duplicate documents, and the numbers of both removed."""
    from fastrank.judging.filters import rows_of, without_excluded, without_repeats

    # The placeholder of queries without results has no rows yet.
    rankings = filled("q", [ranking for ranking in matched.rankings if ranking < len(run)])
    before = rows_of(run, rankings)
    run = without_excluded(run, options.exclude, identical=options.ignore_identical_ids)
    between = rows_of(run, rankings)
    if options.duplicates != "error":
        run = without_repeats(run, by_score=options.duplicates == "max")
    return run, before - between, between - rows_of(run, rankings)
