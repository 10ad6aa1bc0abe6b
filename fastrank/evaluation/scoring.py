"""Measures over judged rankings: values per query, and what became of every query."""

from __future__ import annotations

from fastrank.data.grade_scale import Graded
from fastrank.data.run import Run
from fastrank.data.texts import Chosen, decoded
from fastrank.errors import EvaluationError, NoQueriesError
from fastrank.evaluation.plan import Plan
from fastrank.judging.judged import JudgedRun, StoppedError, count_retrieved
from fastrank.judging.queries import (
    clear_placeholders,
    count_without_relevant,
    evaluates_missing,
    match_queries,
    missing_queries,
    with_placeholder,
    without_documents,
)
from fastrank.scores.coverage import Coverage, others
from fastrank.scores.scores import Scores
from fastrank.scores.summary import counts_missing, positive_grades, summaries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from fastrank.data.preferences import Preferences
    from fastrank.data.qrels import Qrels
    from fastrank.data.texts import Ids
    from fastrank.judging.judged import Judged
    from fastrank.judging.options import Options
    from fastrank.judging.queries import Matched
    from fastrank.measures.selection import BoundMeasure
    from fastrank.scores.zscores import ZScores

    Judgments = Qrels | Preferences | Graded


def evaluate_bound(
    judgments: Judgments,
    run: Run | JudgedRun,
    bound: list[BoundMeasure],
    options: Options,
    *,
    zscores: ZScores | None = None,
    watch: Callable[[Ids, Judged], None] | None = None,
    left_out: Sequence[bytes] = (),
    matching: Matched | None = None,
) -> Scores:
    """Evaluate measures that are already looked up; `watch` sees the judged rankings.

    left_out: the queries that `choose_queries` has left out of the judgments. matching: the judged
    queries in the order to evaluate them, with their places in a run that keeps no others; by
    default they are looked up, and evaluated in byte order. Raises NoQueriesError, OptionError,
    MeasureError and EvaluationError; the latter's `before` has the queries before the one that
    failed.
    """
    plan = Plan(judgments, bound, options)
    failure: EvaluationError | None = None
    removed = repeated = 0
    more_counts: dict[str, int] = {}
    if isinstance(run, JudgedRun):
        queries: Ids = Chosen(judgments.queries, run.queries)
        absent, missing = run.absent, run.missing
        places, unknown, more_counts = run.queries, run.unknown, run.counts
        if plan.needs_judging:
            plan.judged = run.judged
        if options.missing_is_error and missing:
            raise missing_queries(judgments, queries)
    else:
        assert not isinstance(judgments, Graded)
        matched, missing = match_queries(judgments, run, options, matching)
        if options.missing_is_error and missing:
            raise missing_queries(judgments, judgments.queries.take(matched.judgments))
        if not options.can_stream:
            run, removed, repeated = without_documents(run, matched, options)
        if missing and evaluates_missing(options):
            run = with_placeholder(run)
            absent = [i for i, own in enumerate(matched.rankings) if own == len(run) - 1]
        else:
            absent = []
        places = matched.judgments
        unknown = others(run.queries, matched.rankings) if matching is None else None
        queries = judgments.queries.take(matched.judgments)
        try:
            plan.judge(run, matched)
        except StoppedError as stop:
            failure = stop.error(plan.first_to_fail(), queries[stop.place])
            matched, queries = matched.first(stop.place), queries[: stop.place]
            absent = [place for place in absent if place < stop.place]
    if unknown and left_out:
        known = set(left_out)
        unknown = [query for query in unknown if query not in known]
    coverage = Coverage(
        complete=options.complete,
        judged=judgments.queries,
        found=_without(places, absent) if absent else places,
        unknown=unknown,
        positive=positive_grades(judgments, bound) if options.complete else None,
    )
    if not queries and failure is None:
        left = f"; {len(left_out)} without a relevant document were left out" if left_out else ""
        raise NoQueriesError(f"No queries with both results and relevance info{left}")
    # What no query survives is found at the first one, unless its ranking fails an earlier
    # measure: trec_eval goes through the measures query by query.
    hopeless = plan.hopeless()
    if hopeless is not None:
        place, reason = hopeless
        if failure is None or queries or place < plan.first_place():
            name = bound[place].measure.name
            raise EvaluationError(name, judgments.queries[0], reason)
    if failure is not None:
        if not queries:
            raise failure
        assert not isinstance(run, JudgedRun)
        plan.judge(run, matched)
    if watch is not None and plan.judged is not None:
        watch(queries, plan.judged)
    plan.unretrieved = absent
    values = [_values(plan, own, queries) for own in bound]
    if absent:
        clear_placeholders(bound, values, absent)
    if zscores is not None:
        # The command trec_eval does without the module, but for -Z.
        from fastrank.scores.zscores import to_zscores

        to_zscores(bound, values, queries, zscores)
    extended = [
        plan.with_missing(own, column, queries)
        if zscores is None and counts_missing(own, options)
        else None
        for own, column in zip(bound, values, strict=True)
    ]
    scores = Scores(
        bound=bound,
        counts={
            "evaluated": len(queries),
            "missing": missing,
            **({} if unknown is None else {"skipped": len(unknown)}),
            "no_relevant": count_without_relevant(judgments, options),
            "left_out": len(left_out),
            **({} if plan.judged is None else count_retrieved(plan.judged, absent)),
            "removed": removed,
            "repeated": repeated,
            **more_counts,
        },
        coverage=coverage,
        tag=run.tag,
        zscored=zscores is not None,
        query_ids=queries,
        value_columns=values,
        extended_columns=extended,
        summaries=summaries(
            bound, values, extended, len(queries), coverage, run.tag, zscored=zscores is not None
        ),
    )
    if failure is not None:
        failure.before = scores
        raise failure
    return scores


def _values(plan: Plan, own: BoundMeasure, queries: Ids) -> Any:
    """The values of a measure. Raises EvaluationError where a measure of the user's fails."""
    try:
        return plan.values(own, len(queries))
    except StoppedError as stop:
        name, query = own.measure.name, queries[stop.place]
        reason = f"measure '{name}' of query '{decoded(query)}': {stop}"
        raise EvaluationError(name, query, reason) from stop.__cause__


def _without(places: Any, absent: list[int]) -> list[int]:
    """The places of the queries that are not absent from the run."""
    gone = set(absent)
    return [place for i, place in enumerate(places) if i not in gone]
