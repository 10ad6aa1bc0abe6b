"""From judged runs to Scores: values per query, and what became of every query."""

from __future__ import annotations

from fastrank.data.grade_scale import Graded
from fastrank.data.texts import TextSelection, decoded
from fastrank.errors import EvaluationError
from fastrank.evaluation.values import Values
from fastrank.judging.judged import QueryError, count_retrieved
from fastrank.judging.needs import first_impossible, first_with_rankings, needs_rankings
from fastrank.judging.queries import count_without_relevant, missing_queries
from fastrank.scores.scores import Scores
from fastrank.scores.summary import (
    Coverage,
    counts_missing,
    positive_grades,
    summaries,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from fastrank.data.preferences import Preferences
    from fastrank.data.qrels import Qrels
    from fastrank.data.texts import Ids
    from fastrank.judging.judge import Given, Judge
    from fastrank.judging.judged import Judged, JudgedRun
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure
    from fastrank.scores.zscores import ZScores

    Judgments = Qrels | Preferences | Graded


def score(
    judgments: Judgments,
    run: JudgedRun,
    measures: list[BoundMeasure],
    options: Options,
    *,
    zscores: ZScores | None = None,
    trace: Callable[[Ids, Judged], None] | None = None,
    left_out: Sequence[bytes] = (),
    zero_rows: bool = True,
    order: Sequence[bytes] | None = None,
) -> Scores:
    """Evaluate measures for a judged run.

    judgments: those of the judge. trace: is shown the rankings before the values are computed.
    left_out: the queries that `choose_queries` has left out of the judgments. zero_rows: where
    judged queries without results count, they are among the values per query; the command
    trec_eval does not print them. order: the ids of all judged queries in the order of the
    scores, by default byte order. Raises NoQueriesError, MeasureError and EvaluationError; the
    latter's `before` has the queries before the one that failed.
    """
    if options.missing_is_error and run.missing:
        raise missing_queries(judgments, TextSelection(judgments.queries, run.queries))
    if not needs_rankings(measures, options):
        run = run.changed(judged=None)
    evaluated = run.before_failure()
    queries = TextSelection(judgments.queries, evaluated.queries)
    failure = None
    if run.failure is not None:
        measure = measures[first_with_rankings(measures, options)].measure.name
        failure = run.failure.error(measure, judgments.queries[run.queries[run.failure.place]])
    zero_rows = zero_rows and options.complete and zscores is None
    if not queries and failure is None and not (zero_rows and len(judgments)):
        # The trec_eval command has a message of its own.
        from fastrank.evaluation.no_queries import no_queries_error

        raise no_queries_error(judgments.queries, run.skipped, left_out=len(left_out))
    # What no query survives is found at the first one, unless its ranking fails an earlier
    # measure: trec_eval goes through the measures query by query.
    impossible = first_impossible(measures, options)
    if impossible is not None:
        place, reason = impossible
        if failure is None or queries or place < first_with_rankings(measures, options):
            name = measures[place].measure.name
            raise EvaluationError(name, judgments.queries[0], reason)
    if failure is not None and not queries:
        raise failure
    if trace is not None and run.judged is not None:
        trace(queries, run.judged)
    computed = Values(judgments, measures, options, evaluated)
    values = [_values(computed, bound, queries) for bound in measures]
    # The command trec_eval does without these modules, but for -c and -Z.
    if evaluated.placeholders:
        from fastrank.judging.placeholders import clear_placeholders

        clear_placeholders(measures, values, evaluated.placeholders)
    if zscores is not None:
        from fastrank.scores.zscores import to_zscores

        to_zscores(measures, values, queries, zscores)
    extended = [
        computed.with_missing(bound, column, queries)
        if zscores is None and options.complete and counts_missing(bound)
        else None
        for bound, column in zip(measures, values, strict=True)
    ]
    scores = to_scores(
        judgments, run, measures, options, values, extended,
        left_out=left_out, zscored=zscores is not None,
        zero_rows=zero_rows and failure is None, order=order,
    )  # fmt: skip
    if failure is not None:
        failure.before = scores
        raise failure
    return scores


def score_run(
    judge: Judge[Given],
    run: Given,
    measures: list[BoundMeasure],
    options: Options,
    *,
    left_out: Sequence[bytes] = (),
    order: Sequence[bytes] | None = None,
) -> Scores:
    """Judge a run, and evaluate measures for it. Raises what the judge and `score` raise."""
    judged = judge.judge(run)
    return score(judge.judgments, judged, measures, options, left_out=left_out, order=order)


def to_scores(
    judgments: Judgments,
    run: JudgedRun,
    measures: list[BoundMeasure],
    options: Options,
    values: list[Any],
    extended: list[Any],
    *,
    left_out: Sequence[bytes] = (),
    zscored: bool = False,
    zero_rows: bool = False,
    order: Sequence[bytes] | None = None,
) -> Scores:
    """Scores of values that are computed: their summary, and what is counted of the run.

    values, extended: a column for each measure, as `summaries` takes them. zero_rows, order: as
    `score` takes them.
    """
    evaluated = run.before_failure()
    skipped = run.skipped
    if skipped and left_out:
        known = set(left_out)
        skipped = [query for query in skipped if query not in known]
    # A file that is judged by several threads tells them in any order.
    skipped = skipped and sorted(skipped)
    coverage = Coverage(
        complete=options.complete,
        judged=judgments.queries,
        found=_without(run.queries, run.placeholders),
        unknown=skipped,
        positive=positive_grades(judgments, measures) if options.complete else None,
    )
    retrieved = {}
    if run.judged is not None:
        retrieved = count_retrieved(run.judged, evaluated.placeholders)
    query_ids: Ids = TextSelection(judgments.queries, evaluated.queries)
    summary = summaries(
        measures, values, extended, len(query_ids), coverage, run.tag, zscored=zscored
    )
    zeros: list[int] = []
    if zero_rows and len(query_ids) < len(judgments):
        # The trec_eval command does without the module.
        from fastrank.scores.zero_rows import ZeroRows

        rows = ZeroRows(coverage, query_ids, order)
        values = [rows.insert(*own) for own in zip(measures, values, extended, strict=True)]
        query_ids, zeros = rows.query_ids, rows.places
    return Scores(
        bound=measures,
        counts={
            "evaluated": len(evaluated.queries),
            "missing": run.missing,
            **({} if skipped is None else {"skipped": len(skipped)}),
            "no_relevant": count_without_relevant(judgments, options),
            "left_out": len(left_out),
            **retrieved,
            "removed": 0,
            "repeated": 0,
            **run.counts,
        },
        coverage=coverage,
        tag_bytes=run.tag,
        zscored=zscored,
        query_ids=query_ids,
        value_columns=values,
        zero_rows=zeros,
        summaries=summary,
    )


def _values(computed: Values, bound: BoundMeasure, queries: Ids) -> Any:
    """The values of a measure. Raises EvaluationError where a measure of the user's fails."""
    try:
        return computed.of(bound)
    except QueryError as error:
        name, query = bound.measure.name, queries[error.place]
        reason = f"measure '{name}' of query '{decoded(query)}': {error}"
        raise EvaluationError(name, query, reason) from error.__cause__


def _without(places: Any, placeholders: list[int]) -> Any:
    """The places of the queries that have results of their own."""
    if not placeholders:
        return places
    excluded = set(placeholders)
    return [place for i, place in enumerate(places) if i not in excluded]
