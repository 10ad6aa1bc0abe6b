"""The effect of the order of tied documents on the values of a judged run, and in a report."""

from __future__ import annotations

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.keywords import takes, with_defaults
from fastrank.common.messages import counted
from fastrank.common.rendering.document import Document, Paragraph
from fastrank.core.data.columns import Frozen
from fastrank.core.data.texts import decoded
from fastrank.core.evaluation.scoring import batch_of, scores_of
from fastrank.core.formats.qrels import Preferences
from fastrank.core.matching.judged import JudgedRun
from fastrank.core.matching.keywords import EVALUATION, DepthOptions, evaluation_options
from fastrank.core.matching.match import match
from fastrank.core.matching.options import BY_GRADE
from fastrank.core.matching.plan import Plan
from fastrank.core.measures.over_ties import (
    check_range,
    has_expected_value,
    has_range,
    is_share_of_judged,
)
from fastrank.core.measures.selection import DEFAULT_MEASURES, Selection
from fastrank.core.native import kernels
from fastrank.core.native.buffers import zeros
from fastrank.core.native.codes import SORT_BYTES, SORT_COLUMNS
from fastrank.core.results.result import Result
from fastrank.core.results.table import Table, grid_of, table_of_rows
from fastrank.errors import EvaluationError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.common.rendering.document import Block
    from fastrank.core.formats.inputs import QrelsLike, RunLike
    from fastrank.core.formats.run import Run
    from fastrank.core.matching.options import Options
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.measures.selection import Measures
    from fastrank.core.scores.scores import Scores
    from fastrank.core.scores.text import Range


def ties_of(plan: Plan, run: JudgedRun) -> Ties | None:
    """The ties of a run; None without ties of judged documents, or where their effect is not known.

    It is not where a depth or judged_only removes documents: what can take their places is not
    kept.
    """
    judged = run.judged
    if judged is None or not judged.has_ties or not _are_known(plan.options):
        return None
    if plan.reuses_dict_memory and batch_of(plan, judged) is not None:
        # The next run gets this memory.
        judged = judged.copied()
    return Ties(plan, run.changed(judged=judged))


def ties_later(plan: Plan, match: Callable[[], JudgedRun]) -> Ties | None:
    """The same of a run with ties that `match` judges when it is asked for."""
    return Ties(plan, match) if _are_known(plan.options) else None


def _are_known(options: Options) -> bool:
    """Whether the effect of ties is known."""
    return not (
        options.ties in BY_GRADE
        or options.relevance_format != "qrels"
        or options.is_cut
        or options.judged_only
        or options.relevance_level < 0
    )


def scores_and_ties(plan: Plan, run: JudgedRun) -> Scores:
    """The scores of a run, with its ties."""
    scores = scores_of(plan, run)
    ties = ties_of(plan, run)
    with_ties: Scores = scores if ties is None else scores.changed(ties=ties)
    return with_ties


class Ties:
    """Computes values with the ties of a run ordered otherwise, as `tie_report` does.

    Nothing is computed before it is asked for, or the Scores are pickled. Of the measures, only
    those count that "best" and "worst" bound.
    """

    def __init__(self, plan: Plan, run: JudgedRun | Callable[[], JudgedRun]) -> None:
        # Without the memory that the plan keeps for further runs.
        self._plan = plan.changed()
        self._run = run
        # A cache of functools would be a cycle, which keeps memory until it is found.
        self._known: dict[str, Scores] = {}
        self._ranges: dict[str, Range] | None = None

    def __getstate__(self) -> dict[str, object]:
        return {"_ranges": self.ranges(), "_known": self._known}

    def of_group(self, select: Callable[[Scores], Scores]) -> TiesOfGroup:
        """The ties of a group of queries."""
        return TiesOfGroup(self, select)

    def scores(self, ties: str) -> Scores:
        """The scores with ties="best" or "worst"."""
        if ties not in self._known:
            from fastrank.core.matching.rankings import settle_ties

            options = self._plan.options.changed(ties=ties)
            plan = self._plan.changed(measures=self._ranged(), options=options)
            self._run = run = self._run if isinstance(self._run, JudgedRun) else self._run()
            assert run.judged is not None
            tied = settle_ties(run.judged.copied(), plan.judging)
            run = run.changed(judged=tied.judged, tied=tied)
            self._known[ties] = scores_of(plan, run)
        return self._known[ties]

    def _ranged(self) -> list[BoundMeasure]:
        return [bound for bound in self._plan.measures if has_range(bound)]

    def ranges(self) -> dict[str, Range]:
        """The lowest and the highest mean of each measure, and whether it has an expected value."""
        if self._ranges is None:
            measures = self._ranged()
            worst, best = (self.scores(ties).mean if measures else {} for ties in ("worst", "best"))
            self._ranges = {
                name: (worst[name], best[name], has_expected_value(bound, is_cut=False))
                for bound in measures
                for name in map(decoded, bound.names)
                if name in worst
            }
        return self._ranges


class TiesOfGroup(Ties):
    """The ties of a group of queries, whose scores `select` takes from those of all."""

    def __init__(self, every: Ties, select: Callable[[Scores], Scores]) -> None:
        self._every, self._select = every, select
        self._known, self._ranges = {}, None

    def scores(self, ties: str) -> Scores:
        """The scores of the group with ties="best" or "worst"."""
        if ties not in self._known:
            self._known[ties] = self._select(self._every.scores(ties))
        return self._known[ties]

    def ranges(self) -> dict[str, Range]:
        """As those of all queries, of the means over the group."""
        if self._ranges is None:
            known = {name: has_value for name, (*_, has_value) in self._every.ranges().items()}
            worst, best = (self.scores(ties).mean if known else {} for ties in ("worst", "best"))
            self._ranges = {name: (worst[name], best[name], known[name]) for name in known}
        return self._ranges


# The number of queries printed, those with most ties first.
PRINTED = 10
QUERIES = ("query", "tied")


class TieRange(Frozen):
    """The range of a measure over the orders of tied documents.

    value: in trec_eval's order. worst, best: over all orders. expected: the expected value over all
    orders, None if no closed form is known.

    >>> fr.tie_report({"q1": {"d1": 1}}, {"q1": {"d1": 1, "d2": 1}}, "map").measures["map"]
    <TieRange 0.5: 0.5 to 1.0, expected 0.75>
    """

    value: float
    worst: float
    best: float
    expected: float | None

    def __repr__(self) -> str:
        return f"<TieRange {self.value}: {self.worst} to {self.best}, expected {self.expected}>"


class TieReport(Result, Frozen):
    """The ties of a run.

    tag: the run's name. lines: the number of results. tied: the number of results with the same
    score as another result of their query. largest: the size of the largest group of ties.
    evaluated: the number of queries. queries: {query: number of tied results} for queries with
    ties, in the order of the run. measures: {printed name: TieRange} of the means over the judged
    queries, empty without judgments.

    >>> report = fr.tie_report(None, {"q1": {"d1": 1, "d2": 1, "d3": 0}, "q2": {"d1": 1}})
    >>> report.lines, report.tied, report.largest, report.queries
    (4, 2, 2, {'q1': 2})
    """

    made_by = "fastrank.tie_report"

    tag: str
    lines: int
    tied: int
    largest: int
    evaluated: int
    queries: dict[str, int]
    measures: dict[str, TieRange]

    def __repr__(self) -> str:
        return f"<TieReport of {self.tag!r}: {self.tied} of {self.lines} lines tied>"

    def table(self) -> Table:
        """A row for each measure with its range; without measures, for each query with ties.

        >>> print(fr.tie_report(None, {"q1": {"d1": 1, "d2": 1}}).table())
        query      tied
        -------  ------
        q1            2
        """
        if not self.measures:
            return table_of_rows(QUERIES, self.queries.items())
        names = ("value", "worst", "best", "expected")
        rows = [
            (measure, *(getattr(bounds, name) for name in names))
            for measure, bounds in self.measures.items()
        ]
        return table_of_rows(("measure", *names), rows)

    def _document(self) -> Document:
        most = sorted(self.queries.items(), key=lambda item: -item[1])
        blocks: list[Block] = [Paragraph(self._summary())]
        if most:
            blocks.append(grid_of(table_of_rows(QUERIES, most[:PRINTED])))
        if len(most) > PRINTED:
            more = counted(len(most) - PRINTED, "more query", "more queries")
            blocks.append(Paragraph(f"and {more}"))
        if self.measures:
            blocks.append(grid_of(self.table()))
        return Document(blocks)

    def _summary(self) -> str:
        if not self.tied:
            return f"no ties in {counted(self.lines, 'line')}"
        return (
            f"{self.tied} of {self.lines} lines are tied, in {len(self.queries)} of"
            f" {self.evaluated} queries; the largest group of ties has {self.largest} documents"
        )

    def _content(self) -> dict[str, object]:
        names = ("tag", "lines", "tied", "largest", "evaluated", "queries")
        measures: Table | list[object] = self.table() if self.measures else []
        return {name: getattr(self, name) for name in names} | {"measures": measures}


@takes(DepthOptions, EVALUATION)
def tie_report(
    qrels: QrelsLike | None,
    run: RunLike,
    measures: Measures | None = None,
    **options: Unpack[DepthOptions],
) -> TieReport:
    """Count the results of a run with equal scores, and compute their effect on measures.

    qrels, run: as for `evaluate`; qrels may be None, which counts ties and computes no measures.
    measures: as for `evaluate`; by default map, ndcg_cut_10 and P_10.
    **options: see `DepthOptions`.

    In 9.0.8, scores tie if they are equal as 32-bit floats. The range of a measure contains its
    value for every order of the tied documents: "worst" and "best" rank the lowest or the highest
    grades first. Only measures that cannot decrease when a higher grade moves up are supported.
    Raises MeasureError for other measures (such as G, infAP, Rndcg or custom gains), OptionError
    for measures without judgments or a negative level, EvaluationError for a NaN score, and what
    `evaluate` raises.

    >>> qrels, run = {"q1": {"d1": 1}}, {"q1": {"d1": 1, "d2": 1, "d3": 0}}
    >>> print(fr.tie_report(qrels, run, "map"))
    2 of 3 lines are tied, in 1 of 1 queries; the largest group of ties has 2 documents
    <BLANKLINE>
    query      tied
    -------  ------
    q1            2
    <BLANKLINE>
    measure      value    worst    best    expected
    ---------  -------  -------  ------  ----------
    map         0.5000   0.5000  1.0000      0.7500
    """
    from fastrank.core.formats.inputs import as_qrels, as_run

    checked = evaluation_options(with_defaults(tie_report, options))
    judgments = (
        None if qrels is None else as_qrels(qrels, trec_eval_version=checked.trec_eval_version)
    )
    if isinstance(judgments, Preferences):
        raise TypeError("qrels: expected Qrels, found Preferences, which have no grades")
    if judgments is None and measures is not None:
        raise OptionError("measures", "measures need judgments, but qrels is None")
    if checked.relevance_level < 0:
        raise OptionError("relevance_level", f"expected 0 or more, found {checked.relevance_level}")
    bound = Selection(DEFAULT_MEASURES if measures is None else measures).bind(
        checked.trec_eval_version
    )
    check_range(bound)
    taken = as_run(run, trec_eval_version=checked.trec_eval_version)
    tied, largest = _count(taken, single=checked.trec_eval_version == DEFAULT_VERSION)
    counts = zip(taken.queries, tied, strict=True)
    ranges = {}
    if judgments is not None:
        ranges = tie_ranges(Plan(judgments, bound, checked), taken)
    return TieReport(
        tag=taken.tag,
        lines=len(taken.docs),
        tied=sum(tied),
        largest=max(largest, default=0),
        evaluated=len(taken),
        queries={decoded(query): count for query, count in counts if count},
        measures=ranges,
    )


def _count(run: Run, *, single: bool) -> tuple[Any, Any]:
    """For each query the number of tied results, and the size of the largest group of ties."""
    tied, largest = zeros("q", len(run)), zeros("q", len(run))
    deepest = kernels.widest(run.offset_column)
    keys, memory = zeros("d", deepest), zeros("q", SORT_COLUMNS * deepest + SORT_BYTES)
    done = kernels.count_ties(run.columns, single, keys, memory, tied, largest)
    if done < len(run):
        query = run.queries[done]
        reason = f"{run.source}: query '{decoded(query)}': a score is NaN"
        raise EvaluationError("", query, reason)
    return tied, largest


def tie_ranges(plan: Plan, run: Run) -> dict[str, TieRange]:
    """The range of the mean of each measure, by its printed name; `check_range` accepts them."""
    measures, options = plan.measures, plan.options

    def mean(measures: list[BoundMeasure], ties: str, **changes: object) -> dict[str, float]:
        changed = plan.changed(measures=measures, options=options.changed(ties=ties, **changes))
        return scores_of(changed, match(changed, run)).mean

    value, worst, best = (mean(measures, ties) for ties in ("docno_desc", "worst", "best"))
    for share in filter(is_share_of_judged, measures if options.is_cut else []):
        level = (share.options or {}).get("rel", options.relevance_level)
        changes = {"relevance_level": level, "judged_only": True, "unjudged_between": True}
        worst |= mean([share], "worst", **changes)
        best |= mean([share], "best", **changes)
    with_expected = [
        measure for measure in measures if has_expected_value(measure, is_cut=options.is_cut)
    ]
    if options.judged_only and options.is_cut:
        # No closed form is known.
        with_expected = []
    expected = mean(with_expected, "average") if with_expected else {}
    return {
        name: TieRange(
            value=value[name], worst=worst[name], best=best[name], expected=expected.get(name)
        )
        for name in value
    }
