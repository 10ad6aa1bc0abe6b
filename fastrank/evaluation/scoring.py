"""Compute Scores from judged runs: values per query, summaries and counts."""

from __future__ import annotations

from fastrank.data.qrels import Qrels
from fastrank.data.texts import TextSelection, decoded
from fastrank.errors import EvaluationError
from fastrank.evaluation.values import computed
from fastrank.judging.judged import QueryError, count_retrieved
from fastrank.judging.options import Options, first_impossible, first_with_rankings
from fastrank.judging.queries import count_without_relevant, evaluates_missing, missing_queries
from fastrank.measures.trec import GAINS
from fastrank.scores.scores import Scores
from fastrank.scores.summary import (
    Coverage,
    counts_missing,
    insert_zero_rows,
    positive_grades,
    summaries,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from fastrank.data.texts import Ids
    from fastrank.evaluation.values import Judgments, Values
    from fastrank.judging.judged import Judged, JudgedRun
    from fastrank.measures.selection import BoundMeasure
    from fastrank.scores.differences import ZScores

# What measures need whose kernels see nothing but the memory of rankings.
REPEATABLE = (*GAINS, "queries", "ranking", "run")


class Scorer:
    """Makes Scores of judged runs; made for judgments, measures and options.

    judgments: those of the judge. left_out: the queries that `choose_queries` skipped. order: the
    ids of all judged queries in the order of the scores, by default byte order.
    """

    def __init__(
        self,
        judgments: Judgments,
        measures: list[BoundMeasure],
        options: Options,
        *,
        left_out: Sequence[bytes] = (),
        order: Sequence[bytes] | None = None,
    ) -> None:
        self.judgments, self.measures, self.options = judgments, measures, options
        self.left_out, self._order = left_out, order
        self._no_relevant: int | None = None

    def scores(
        self,
        run: JudgedRun,
        *,
        zscores: ZScores | None = None,
        trace: Callable[[Ids, Judged], None] | None = None,
        zero_rows: bool = True,
    ) -> Scores:
        """Evaluate the measures for a judged run.

        trace: called with the rankings before values are computed. zero_rows: include judged
        queries without results in the values per query if they count as 0; the trec_eval command
        does not print them. Raises NoQueriesError, MeasureError and EvaluationError, whose `before`
        has the scores of the queries before the one that failed.
        """
        judgments, measures, options = self.judgments, self.measures, self.options
        if options.missing_is_error and run.missing:
            raise missing_queries(judgments, TextSelection(judgments.queries, run.queries))
        first = first_with_rankings(measures, options)
        if first == len(measures):
            run = run.changed(judged=None)
        evaluated = run.before_failure()
        queries = TextSelection(judgments.queries, evaluated.queries)
        failure = None
        if run.failure is not None:
            measure = measures[first].measure.name
            failure = run.failure.error(measure, judgments.queries[run.queries[run.failure.place]])
        zero_rows = zero_rows and options.complete and zscores is None
        if not queries and failure is None and not (zero_rows and len(judgments)):
            # The trec_eval command has its own message.
            from fastrank.evaluation.evaluator import no_queries_error

            left_out = len(self.left_out)
            raise no_queries_error(judgments.queries, run.unjudged_queries, left_out=left_out)
        # Measures that fail for every query fail at the first one, unless its ranking fails for an
        # earlier measure: trec_eval computes all measures query by query.
        impossible = first_impossible(measures, options)
        if impossible is not None:
            place, reason = impossible
            if failure is None or queries or place < first:
                name = measures[place].measure.name
                raise EvaluationError(name, judgments.queries[0], reason)
        if failure is not None and not queries:
            raise failure
        if trace is not None and run.judged is not None:
            trace(queries, run.judged)

        def values_of(made: Values) -> list[Any]:
            return [_values(made, bound, queries) for bound in measures]

        made, values = computed(
            judgments,
            measures,
            options,
            evaluated,
            values_of,
            repeats=run.batch is not None and run.batch.repeats and self._may_repeat(),
        )
        if made.repeats:
            # The next run of as many queries overwrites them.
            values = [own and memoryview(bytearray(own)).cast("d") for own in values]
        # Imported late: the trec_eval command needs these modules only for -c and -Z.
        if evaluated.placeholders:
            from fastrank.judging.queries import clear_placeholders

            clear_placeholders(measures, values, evaluated.placeholders)
        if zscores is not None:
            from fastrank.scores.differences import to_zscores

            to_zscores(measures, values, queries, zscores)
        extended = [
            made.with_missing(bound, column, queries)
            if zscores is None and options.complete and counts_missing(bound)
            else None
            for bound, column in zip(measures, values, strict=True)
        ]
        scores = self.of_values(
            run,
            values,
            extended,
            zscored=zscores is not None,
            zero_rows=zero_rows and failure is None,
        )
        if failure is not None:
            failure.before = scores
            raise failure
        return scores

    def of_values(
        self,
        run: JudgedRun,
        values: list[Any],
        extended: list[Any],
        *,
        zscored: bool = False,
        zero_rows: bool = False,
    ) -> Scores:
        """Scores of values that were computed, with their summaries and the counts of the run.

        values, extended: a column for each measure, as `summaries` takes them. zero_rows: as for
        `scores`.
        """
        judgments, measures, options = self.judgments, self.measures, self.options
        if self._no_relevant is None:
            self._no_relevant = count_without_relevant(judgments, options)
        evaluated = run.before_failure()
        unjudged = run.unjudged_queries
        if unjudged and self.left_out:
            known = set(self.left_out)
            unjudged = [query for query in unjudged if query not in known]
        # Several threads find the queries of a file in any order.
        unjudged = unjudged and sorted(unjudged)
        coverage = Coverage(
            complete=options.complete,
            judged=judgments.queries,
            found=_without(run.queries, run.placeholders),
            unknown=unjudged,
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
            query_ids, values, zeros = insert_zero_rows(
                measures, values, extended, coverage, query_ids, self._order
            )
        return Scores(
            bound=measures,
            counts={
                "evaluated_queries": len(evaluated.queries),
                "missing_queries": run.missing,
                **({} if unjudged is None else {"unjudged_queries": len(unjudged)}),
                "no_relevant_queries": self._no_relevant,
                "no_relevant_skipped": len(self.left_out),
                **retrieved,
                "excluded": 0,
                "duplicates": 0,
                **run.counts,
                **self._sample_counts(),
            },
            coverage=coverage,
            tag_bytes=run.tag,
            zscored=zscored,
            query_ids=query_ids,
            value_columns=values,
            zero_rows=zeros,
            summaries=summary,
        )

    def _sample_counts(self) -> dict[str, int]:
        """The counts of judgments that are a stratified sample."""
        if not isinstance(self.judgments, Qrels) or self.judgments.strata is None:
            return {}
        # Imported late: the trec_eval command does not need it.
        from fastrank.judging.column_judgments import sample_counts

        return sample_counts(self.judgments, self.measures, self.options.relevance_level)

    def _may_repeat(self) -> bool:
        """Whether `Values.compute_again` is all it takes to compute the values of another run."""
        return (
            self.options.no_relevant != "one"
            and not evaluates_missing(self.options)
            and getattr(self.judgments, "scale", None) is None
            and all(
                bound.measure.needs in REPEATABLE
                and not bound.measure.is_text
                # The gains of grades that no document has depend on the highest grade.
                and not bound.pairs
                for bound in self.measures
            )
        )


def score_run(
    judge: Any, run: Any, *, left_out: Sequence[bytes] = (), order: Sequence[bytes] | None = None
) -> Scores:
    """Judge a run, of the kind that the judge takes, and evaluate its measures.

    Raises what the judge and a `Scorer` raise.
    """
    given = judge.judgments, judge.measures, judge.options
    return Scorer(*given, left_out=left_out, order=order).scores(judge.judge(run))


def _values(made: Values, bound: BoundMeasure, queries: Ids) -> Any:
    """The values of a measure. Raises EvaluationError if a user-defined measure fails."""
    try:
        return made.of(bound)
    except QueryError as error:
        name, query = bound.measure.name, queries[error.place]
        reason = f"measure '{name}' of query '{decoded(query)}': {error}"
        raise EvaluationError(name, query, reason) from error.__cause__


def _without(places: Any, placeholders: Sequence[int]) -> Any:
    """The queries that have results, without those that only have a placeholder."""
    if not placeholders:
        return places
    excluded = set(placeholders)
    return [place for i, place in enumerate(places) if i not in excluded]
