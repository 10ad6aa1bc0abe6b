"""The values of measures for judged rankings."""

from __future__ import annotations

from fastrank.core.data.texts import decoded
from fastrank.core.formats.qrels import Graded, Preferences, lowest_code, query_and_document
from fastrank.core.matching.judged import Judged, JudgedRun, QueryError
from fastrank.core.matching.options import BY_COLUMN
from fastrank.core.measures.trec import DEFINED_GAINS
from fastrank.core.native import kernels, records
from fastrank.core.native.buffers import WORTH_KEEPING, Recycled, columns, filled, zeros
from fastrank.core.native.record import Record
from fastrank.core.scores.summary import counts_missing
from fastrank.errors import EvaluationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from fastrank.core.data.texts import Ids
    from fastrank.core.matching.dicts import DictBatch
    from fastrank.core.matching.judged import Tied
    from fastrank.core.matching.plan import Plan
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.native.library import Call
    from fastrank.core.native.record import Float64Array

    Arranged = TypeVar("Arranged")

# Gains that are changed once more after they are assigned.
SPECIAL_GAINS = ("best gains", "exact gains")
# With fractional gains, trec_eval's table of all grades up to the highest is needed (see
# kernels/measures/gains.py) and searched for every document; this is the highest grade that we
# support for it. trec_eval's time grows with its square.
LARGEST_DENSE_GRADE = 2**20
# Memory for gains, free again when the values are computed.
_MEMORY = Recycled()


def computed(
    plan: Plan, run: JudgedRun, arrange: Callable[[Values], Arranged], batch: DictBatch | None
) -> tuple[Values, Arranged]:
    """The `Values` of a judged run, and what `arrange` makes of them.

    batch: where both are kept for the next run in the same memory. `arrange` must not refer to the
    batch, which holds what it makes.
    """
    if batch is None:
        values = Values(plan, run)
        return values, arrange(values)
    if batch.prepared is None:
        # Copies: the end of the run frees the memory, and the plan, which has it, would be a cycle.
        values = Values(plan.changed(), run.changed(), repeats=True)
        batch.prepared = values, arrange(values)
    else:
        batch.prepared[0].compute_again()
    prepared: tuple[Values, Arranged] = batch.prepared
    return prepared


class Values:
    """Computes the values of measures for a judged run; measures share intermediate results.

    repeats: the memory of the rankings is reused, for as many rankings of as many queries;
    `compute_again` overwrites the values with those of the current rankings, by the `calls`.
    """

    def __init__(self, plan: Plan, run: JudgedRun, *, repeats: bool = False) -> None:
        self.plan, self._judgments, self.repeats = plan, plan.judgments, repeats
        self._run, self._queries = run, len(run.queries)
        self._gained: dict[tuple[object, ...], records.GainedRankings] = {}
        self._derived: dict[tuple[object, ...], Judged] = {}
        self._missing: Values | None = None
        if repeats:
            self._again: Callable[[], object] | None = None
            self._used, size = 0, self._queries * sum(bound.width for bound in plan.measures)
            self._values = zeros("d", size)
            # Kernels count on zeros where they put values.
            self.calls: list[Call] = [("clear_values", (self._values,))]

    def of(self, bound: BoundMeasure) -> Any:
        """The values of a measure, float64[queries * width]; a list of bytes for relstring.

        Raises EvaluationError, also if a user's function fails.
        """
        values = self._computed(bound)
        if self.plan.options.no_relevant == "one":
            self._count_as_best(bound, values)
        if bound.options is not None and bound.measure.average == "mean":
            for query in self._run.placeholders:
                for j in range(bound.width):
                    values[query * bound.width + j] = 0.0
        return values

    def compute_again(self) -> None:
        """Compute all values that were asked for, of the rankings that are in memory now."""
        self._missing = None
        if self._again is None:
            self._again = kernels.prepare_all(self.calls)
        self._again()

    def _room(self, count: int) -> Float64Array:
        """Zeroed memory for a number of values, which serves again."""
        self._used += count
        return self._values[self._used - count : self._used]

    def _call(self, kernel: str, *arguments: object) -> None:
        """Call a kernel, now and whenever the values are computed again."""
        if self.repeats:
            self.calls.append((kernel, arguments))
        getattr(kernels, kernel)(*arguments)

    def _count_as_best(self, bound: BoundMeasure, values: Float64Array) -> None:
        """Set queries with results, but no relevant document, to 1, if that is the best value."""
        indexes = [j for j in range(bound.width) if bound.reaches_one(j)]
        if not indexes:
            return
        # The values of geometric means are logarithms.
        best = 0.0 if bound.measure.average == "geometric" else 1.0
        without_results = set(self._run.placeholders)
        if bound.measure.needs in ("ranking", *BY_COLUMN):
            relevant = self.judged_for(bound).columns.num_rel
        else:
            offsets = self.gains(bound).ideal_offsets
            relevant = [offsets[i + 1] - offsets[i] for i in range(self._queries)]
        for query in range(self._queries):
            if not relevant[query] and query not in without_results:
                for j in indexes:
                    values[query * bound.width + j] = best

    def _computed(self, bound: BoundMeasure) -> Any:
        measure, run = bound.measure, self._run
        if not measure.kernel:
            return None
        if measure.needs == "custom":
            return self._custom_values(bound)
        is_expected = run.tied is not None and self.plan.options.ties == "average"
        if measure.is_text and not is_expected:
            return self._relevance_strings(bound)
        numbers, size = filled("d", bound.numbers), self._queries * bound.width
        values = self._room(size) if self.repeats else zeros("d", size)
        if measure.needs == "groups":
            judged, offsets = run.others["groups"]
            by_group = zeros("d", len(judged) * bound.width)
            self._call(measure.kernel, judged.columns, numbers, by_group)
            self._call("average_groups", by_group, bound.width, offsets, values)
        else:
            kernel = measure.expected_kernel if is_expected else measure.kernel
            seen = self._columns(bound, spread=kernel != measure.kernel)
            self._call(kernel, seen, numbers, values)
        return values

    def _columns(self, bound: BoundMeasure, *, spread: bool) -> Record:
        """The rankings as a measure needs them; spread: with the ranks of each tie."""
        needs = bound.measure.needs
        rankings = self._run.others.get(needs)
        if isinstance(rankings, Record):
            return rankings
        if rankings is not None:
            tied = self._tied_for(bound)
            return tied.spread(tied.judged.columns)
        is_ranked = needs in ("ranking", "ties")
        ranked = self.judged_for(bound).columns if is_ranked else self.gains(bound)
        return self._tied_for(bound).spread(ranked) if spread or needs == "ties" else ranked

    def _custom_values(self, bound: BoundMeasure) -> Float64Array:
        from fastrank.core.evaluation.custom_values import custom_values
        from fastrank.core.measures.custom import CustomMeasure

        assert isinstance(bound.measure, CustomMeasure)
        assert bound.options is not None
        scale = None if isinstance(self._judgments, Preferences) else self._judgments.scale
        level = bound.options.get("rel", self.plan.options.relevance_level)
        judged = self.judged_for(bound)
        try:
            return custom_values(bound.measure, judged, scale, level, bound.options)
        except QueryError as error:
            name, row = bound.measure.name, self._run.queries[error.place]
            query = self._judgments.queries[row]
            reason = f"measure '{name}' of query '{decoded(query)}': {error}"
            raise EvaluationError(name, query, reason) from error.__cause__

    def _tied_for(self, bound: BoundMeasure) -> Tied:
        """The ties of the rankings that a measure sees."""
        tied: Any = self._run.others.get(bound.measure.needs, self._run.tied)
        judged_only = bound.options is not None and bound.options.get("judged_only", False)
        chosen: Tied = tied.of_judged() if judged_only else tied
        return chosen

    def judged_for(self, bound: BoundMeasure) -> Judged:
        """The rankings as judged for a measure: by its `rel` and `judged_only`."""
        judged, placeholders = self._run.judged, self._run.placeholders
        by_ties = bound.measure.needs == "ties"
        if by_ties and self._run.tied is not None:
            judged = self._run.tied.judged
        assert judged is not None
        if bound.options is None:
            return judged
        level, judged_only = bound.options.get("rel"), bound.options.get("judged_only", False)
        if level is None and not judged_only and not placeholders:
            return judged
        if level is not None:
            level = lowest_code(self._judgments, level)
        key = level, judged_only, by_ties
        if key not in self._derived:
            from fastrank.core.matching.rankings import rejudge

            self._derived[key] = rejudge(
                judged, self._call, level=level, judged_only=judged_only, placeholders=placeholders
            )
        return self._derived[key]

    def with_missing(self, bound: BoundMeasure, values: Float64Array, queries: Ids) -> Float64Array:
        """The values of the evaluated queries, followed by those of the other judged queries."""
        if self._missing is None:
            self._missing = self._of_missing(bound, queries)
        if not self._missing._queries:
            return values
        return filled("d", [*values, *self._missing.of(bound)])

    def _of_missing(self, bound: BoundMeasure, queries: Ids) -> Values:
        """The values of the judged queries that were not evaluated."""
        from fastrank.core.matching.rankings import with_generated_ids, without_results
        from fastrank.core.matching.texts import rankings_of

        plan = self.plan
        qrels = plan.judgments
        with_values = set(queries)
        all_queries = enumerate(qrels.queries)
        missing = filled("q", [i for i, query in all_queries if query not in with_values])
        # An empty ranking has no ties, and only the first one evaluated has to be judged.
        options = plan.options.changed(original=False, ties="docno_desc")
        plan = plan.changed(measures=list(filter(counts_missing, plan.measures)), options=options)
        texts = plan
        if isinstance(qrels, Graded):
            texts = plan.changed(judgments=with_generated_ids(qrels))
        try:
            rankings = rankings_of(texts, *without_results(missing))
        except QueryError as failure:
            query = qrels.queries[missing[failure.place]]
            raise failure.error(bound.measure.name, query) from None
        run = JudgedRun(queries=missing, missing=0, tag=b"", **rankings)
        return Values(plan, run)

    def _relevance_strings(self, bound: BoundMeasure) -> list[bytes]:
        judged = self._run.judged
        assert judged is not None
        assert not isinstance(self._judgments, Preferences)
        if self._judgments.scale is not None:
            row, grade = self._judgments.scale.first_fraction(self._judgments.grade_column)
            query, document = query_and_document(self._judgments, row)
            reason = (
                f"'{bound.measure.name}' shows each grade as a digit and does not support the grade"
                f" {grade!r} of document {document} of query '{decoded(query)}'"
            )
            raise EvaluationError(bound.measure.name, query, reason)
        num_ret = judged.columns.num_ret
        limit = bound.numbers[0]
        queries, length = self._queries, 0
        if limit >= 0:
            length = int(min(limit, max(num_ret, default=0)))
        codes = zeros("B", queries * length)
        kernels.relevance_string(judged.columns, filled("d", []), codes)
        return [
            bytes(codes[i * length : i * length + min(length, num_ret[i])]) for i in range(queries)
        ]

    def gains(self, bound: BoundMeasure) -> records.GainedRankings:
        """The rankings with the gains that a measure gives to grades."""
        judged = self.judged_for(bound)
        rescale = bound.measure.needs == "unit gains"
        assert not isinstance(self._judgments, Preferences)
        if self._judgments.scale is not None:
            from fastrank.core.evaluation.gains import scaled_gains, with_best_gain

            gained = scaled_gains(bound, judged, self._judgments, rescale=rescale)
            if bound.measure.needs == "best gains":
                return with_best_gain(bound, gained, [], self._judgments)
            return gained
        pairs, factor = self.gains_of_grades(bound)
        special = bound.measure.needs if bound.measure.needs in SPECIAL_GAINS else ""
        key = (special, tuple(pairs), rescale, id(judged))
        if key not in self._gained:
            gained = self._assign_gains(bound, judged, pairs, rescale)
            if special == "best gains":
                from fastrank.core.evaluation.gains import with_best_gain

                gained = with_best_gain(bound, gained, pairs, self._judgments)
            if special == "exact gains" and factor != 1.0:
                self._call("divide_gains", gained, factor)
            self._gained[key] = gained
        return self._gained[key]

    def gains_of_grades(self, bound: BoundMeasure) -> tuple[list[tuple[int, float]], float]:
        """Pairs of whole grade and gain, and the factor of these gains."""
        if bound.options is None or bound.measure.needs not in DEFINED_GAINS:
            return [(int(grade), gain) for grade, gain in bound.pairs], 1.0
        assert not isinstance(self._judgments, Preferences)
        from fastrank.core.evaluation.gains import exact_gains, grade_scale

        grades = self.judged_for(bound).columns.grade_values
        if self.repeats:
            # The next rankings may have other grades than these.
            grades = [grade for grade in set(self._judgments.grade_column) if grade >= 0]
        if bound.measure.needs == "best gains":
            grades = [*grades, int(grade_scale(bound, self._judgments))]
        return exact_gains(bound, grades, self._judgments)

    def _assign_gains(
        self, bound: BoundMeasure, judged: Judged, pairs: list[tuple[int, float]], rescale: bool
    ) -> records.GainedRankings:
        rankings = judged.columns
        # trec_eval's search for the largest gain includes grades that no document has.
        dense = bound.options is None and any(
            rescale or gain != gain or gain % 1 for _, gain in pairs
        )
        listed, distinct = rankings.offsets[len(judged)], rankings.grade_offsets[len(judged)]
        if self.repeats:
            # The next rankings may need more than these.
            listed, distinct = len(rankings.ranks), len(rankings.grade_values)
        room = distinct
        if dense:
            room = max(rankings.grade_values, default=0) + 1
            if room > LARGEST_DENSE_GRADE:
                raise EvaluationError(
                    bound.measure.name,
                    self._judgments.queries[0],
                    f"grade {room - 1} is too large for fractional gains; the largest supported"
                    f" grade is {LARGEST_DENSE_GRADE - 1}",
                )
        ideal_offsets, ideal_counts = columns("q", len(judged) + 1, distinct)
        keeps = listed in WORTH_KEEPING
        gained = records.GainedRankings(
            offsets=rankings.offsets,
            ranks=rankings.ranks,
            gains=_MEMORY.make(("d", listed))[0] if keeps else zeros("d", listed),
            ideal_offsets=ideal_offsets,
            ideal_gains=zeros("d", distinct),
            ideal_counts=ideal_counts,
            num_ret=rankings.num_ret,
            num_rel=rankings.num_rel,
        )
        # A grade is its own gain without a look at the table.
        grade_gains, table = _gain_table(pairs, room) if pairs or rescale else _NO_TABLE
        self._call("assign_gains", rankings, grade_gains, dense, rescale, table, gained)
        return gained


def _gain_table(
    pairs: list[tuple[int, float]], room: int
) -> tuple[records.GradeGains, records.GainTable]:
    """The gains of named grades, and a table with room for so many other grades."""
    grades, counts, order, merge = columns("q", *[len(pairs) + room] * 4)
    grade_gains = records.GradeGains(
        filled("q", [grade for grade, _ in pairs]), filled("d", [gain for _, gain in pairs])
    )
    return grade_gains, records.GainTable(
        grades, zeros("d", len(pairs) + room), counts, order, merge
    )


_NO_TABLE = _gain_table([], 0)
