"""Compute Scores from judged runs: values per query, summaries and counts."""

from __future__ import annotations

from fastrank.core.data.texts import TextSelection
from fastrank.core.evaluation.values import computed
from fastrank.core.matching.judged import count_retrieved
from fastrank.core.measures.trec import GAINS
from fastrank.core.scores.scores import Scores
from fastrank.core.scores.summary import (
    Coverage,
    counts_missing,
    insert_zero_rows,
    positive_grades,
    summaries,
)
from fastrank.errors import EvaluationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from fastrank.core.data.texts import Ids
    from fastrank.core.evaluation.values import Values
    from fastrank.core.matching.dicts import DictBatch
    from fastrank.core.matching.judged import Judged, JudgedRun
    from fastrank.core.matching.plan import Plan
    from fastrank.core.native.record import Int64Array
    from fastrank.core.scores.differences import ZScores

# The needs of measures whose kernels see nothing but the memory of rankings.
REPEATABLE = (*GAINS, "queries", "ranking", "run")


def scores_of(
    plan: Plan,
    run: JudgedRun,
    *,
    zscores: ZScores | None = None,
    trace: Callable[[Ids, Judged], None] | None = None,
    zero_rows: bool = True,
) -> Scores:
    """Evaluate the measures of a plan for a judged run.

    trace: called with the rankings before values are computed. zero_rows: include judged queries
    without results in the values per query if they count as 0; the trec_eval command does not print
    them. Raises NoQueriesError, MeasureError and EvaluationError, whose `before` has the scores of
    the queries before the one that failed.
    """
    judgments, measures, options = plan.judgments, plan.measures, plan.options
    if options.missing_is_error and run.missing:
        # The trec_eval command has no such option.
        from fastrank.core.matching.queries import missing_queries

        raise missing_queries(judgments, TextSelection(judgments.queries, run.queries))
    batch = batch_of(plan, run.judged) if plan.reuses_dict_memory else None
    if batch is not None and not plan.known(_may_repeat):
        batch = None
    first = plan.requires.first_with_rankings
    if first == len(measures):
        run = run.changed(judged=None)
    before_failure = run.before_failure()
    queries = TextSelection(judgments.queries, before_failure.queries)
    failure = None
    if run.failure is not None:
        measure = measures[first].measure.name
        failure = run.failure.error(measure, judgments.queries[run.queries[run.failure.place]])
    zero_rows = zero_rows and options.complete and zscores is None
    if not queries and failure is None and not (zero_rows and len(judgments)):
        # The trec_eval command has its own message.
        from fastrank.core.evaluation.unshared_ids import no_queries_error

        skipped = len(plan.skipped)
        raise no_queries_error(judgments.queries, run.unjudged_queries, left_out=skipped)
    # Measures that fail for every query fail at the first one, unless its ranking fails for an
    # earlier measure: trec_eval computes all measures query by query.
    if plan.requires.first_impossible is not None:
        number, reason = plan.requires.first_impossible
        if failure is None or queries or number < first:
            name = measures[number].measure.name
            raise EvaluationError(name, judgments.queries[0], reason)
    if failure is not None and not queries:
        raise failure
    if trace is not None and run.judged is not None:
        trace(queries, run.judged)

    def values_of(values: Values) -> list[Any]:
        return list(map(values.of, measures))

    values, columns = computed(plan, before_failure, values_of, batch)
    if values.repeats:
        # The next run of as many queries overwrites them; texts are not computed again with them.
        columns = [
            values.of(bound)
            if bound.measure.is_text
            else column and memoryview(bytearray(column)).cast("d")
            for bound, column in zip(measures, columns, strict=True)
        ]
    # Imported late: the trec_eval command needs these modules only for -c and -Z.
    if before_failure.placeholders:
        from fastrank.core.matching.queries import clear_placeholders

        clear_placeholders(measures, columns, before_failure.placeholders)
    if zscores is not None:
        from fastrank.core.scores.differences import to_zscores

        to_zscores(measures, columns, queries, zscores)
    extended: list[object] = [None] * len(measures)
    if zscores is None and options.complete:
        extended = [
            values.with_missing(bound, column, queries) if counts_missing(bound) else None
            for bound, column in zip(measures, columns, strict=True)
        ]
    scores = scores_of_values(
        plan,
        run,
        queries,
        columns,
        extended,
        zscored=zscores is not None,
        zero_rows=zero_rows and failure is None,
    )
    if failure is not None:
        failure.before = scores
        raise failure
    return scores


def scores_of_values(
    plan: Plan,
    run: JudgedRun,
    queries: Ids,
    values: list[object],
    extended: list[object],
    *,
    zscored: bool = False,
    zero_rows: bool = False,
) -> Scores:
    """Scores of values that were computed, with their summaries and the counts of the run.

    queries: the ids of the evaluated ones, those before the one that failed. values, extended: a
    column for each measure, as `summaries` takes them. zero_rows: as for `scores_of`.
    """
    judgments, measures, options = plan.judgments, plan.measures, plan.options
    before_failure = run.before_failure()
    unjudged = run.unjudged_queries
    if unjudged and plan.skipped:
        skipped = set(plan.skipped)
        unjudged = [query for query in unjudged if query not in skipped]
    # Several threads find the queries of a file in any order.
    unjudged = unjudged and sorted(unjudged)
    coverage = Coverage(
        complete=options.complete,
        judged=judgments.queries,
        found=_without(run.queries, run.placeholders) if run.placeholders else run.queries,
        unknown=unjudged,
        positive=positive_grades(judgments, measures) if options.complete else None,
    )
    retrieved = {}
    if run.judged is not None:
        retrieved = count_retrieved(run.judged, before_failure.placeholders)
    query_ids, count = queries, len(before_failure.queries)
    summary = summaries(measures, values, extended, count, coverage, run.tag, zscored=zscored)
    sampled = {}
    if getattr(judgments, "strata", None) is not None:
        sampled = plan.known(_sample_counts)
    zeros: list[int] = []
    if zero_rows and count < len(judgments):
        query_ids, values, zeros = insert_zero_rows(
            measures, values, extended, coverage, query_ids, plan.query_order
        )
    return Scores(
        bound=measures,
        counts={
            "evaluated_queries": count,
            "missing_queries": run.missing,
            **({} if unjudged is None else {"unjudged_queries": len(unjudged)}),
            "no_relevant_queries": plan.no_relevant,
            "no_relevant_skipped": len(plan.skipped),
            **retrieved,
            "excluded": 0,
            "duplicates": 0,
            **run.counts,
            **sampled,
        },
        coverage=coverage,
        tag_bytes=run.tag,
        zscored=zscored,
        query_ids=query_ids,
        value_columns=values,
        zero_rows=zeros,
        summaries=summary,
    )


def _sample_counts(plan: Plan) -> dict[str, int]:
    """The counts of judgments that are a stratified sample."""
    # Imported late: the trec_eval command does not need it.
    from fastrank.core.matching.column_judgments import sample_counts

    return sample_counts(plan.judgments, plan.requires.needs, plan.options.relevance_level)


def batch_of(plan: Plan, judged: Judged | None) -> DictBatch | None:
    """The batch whose memory holds these rankings, if it serves again for the next run."""
    if judged is not None:
        for memory in plan.memory:
            if memory.judged is judged:
                batch: DictBatch = memory
                return batch
    return None


def _may_repeat(plan: Plan) -> bool:
    """Whether `Values.compute_again` is all it takes to compute the values of another run."""
    return (
        plan.options.no_relevant != "one"
        and not plan.options.evaluates_missing
        and getattr(plan.judgments, "scale", None) is None
        and all(
            bound.measure.needs in REPEATABLE
            # The gains of grades that no document has depend on the highest grade.
            and not bound.pairs
            for bound in plan.measures
        )
    )


def _without(queries: Int64Array, placeholders: Sequence[int]) -> list[int]:
    """The queries that have results, without those that only have a placeholder."""
    excluded = set(placeholders)
    return [query for i, query in enumerate(queries) if i not in excluded]
