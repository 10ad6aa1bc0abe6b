"""Means of measures from a few human judgments and those of a model, with intervals that hold."""

from __future__ import annotations

from functools import partial
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from fastrank.analysis.comparing.options import CORRECTION_NAMES, settings_of
from fastrank.analysis.comparing.pair_tests import adjust
from fastrank.analysis.comparing.pairs import place_of
from fastrank.analysis.judges.labels import (
    compare_scales,
    judge_names,
    judged,
    judgments_of,
    rescaled,
)
from fastrank.analysis.judges.merging import merge_qrels
from fastrank.analysis.judges.pair_sample import PairSample
from fastrank.analysis.judges.prediction_powered import half_width
from fastrank.analysis.judges.query_sample import QuerySample
from fastrank.common.arguments import check_choice
from fastrank.common.messages import counted, visible
from fastrank.common.rendering.document import Document, Paragraph
from fastrank.common.rendering.numbers import interval as bounds_text
from fastrank.common.rendering.numbers import number, p_text, signed
from fastrank.core.data.columns import Frozen
from fastrank.core.measures.selection import DEFAULT_MEASURES
from fastrank.core.results.result import Result
from fastrank.core.results.table import Estimate, Table, grid_of, table_of_rows
from fastrank.errors import MeasureError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from matplotlib.axes import Axes

    from fastrank.analysis.judges.labels import Judgments
    from fastrank.analysis.judges.plans import JudgmentPlan
    from fastrank.analysis.judges.prediction_powered import Estimated
    from fastrank.common.choices import Correction, EstimateInterval, Judges, Population
    from fastrank.common.plots.frame import Frame
    from fastrank.common.rendering.document import Block
    from fastrank.core.formats.inputs import QrelsLike, RunLike, RunsLike
    from fastrank.core.measures.selection import Measures

# The columns of the table that are fields of an estimate, after its value and interval.
PARTS = ("human", "judge", "weight", "width", "effective")
# The intervals of each system in a plot, from the top, and how far each is moved.
SHOWN = (("people alone", -0.22), ("combined", 0.0), ("judge alone", 0.22))

# The default measure that adds over documents, for plans of pairs.
ADDITIVE = "P.10"


class EstimatedPair(NamedTuple):
    """The difference a - b of two systems, its interval, and its p-value.

    p_adjusted: the p-value corrected for the pairs of a measure.

    >>> estimate.pair("nDCG@2", "a", "b").difference
    0.0855...
    """

    difference: float
    low: float
    high: float
    p: float
    p_adjusted: float


class JudgeEstimate(Result, Frozen):
    """Means estimated from human judgments of some queries and a judge's of all.

    names: the systems. measures: their names. by: what people judged, "queries" or "pairs". n: the
    number of them. queries: those that the judge judged. notes: what is assumed and what a reader
    must know.

    >>> estimate
    <JudgeEstimate of 2 systems in nDCG@2: 7 of 20 queries judged by people>
    >>> print(estimate.table().transpose("of"))
    of           nDCG@2    nDCG@2 (2)
    ---------  --------  ------------
    run               a             b
    estimate     0.6494        0.5561
    low          0.3364        0.1730
    high         0.9624        0.9392
    human        0.6088        0.5561
    judge        0.8155        0.8155
    weight       1.0000        0.0000
    width        0.7563        1.0000
    effective   12.2382        7.0000
    """

    made_by = "fastrank.estimate"

    names: list[str]
    measures: list[str]
    by: str
    n: int
    queries: list[str]
    population: str
    level: float
    correction: str
    notes: list[str]
    _estimates: dict[tuple[str, str], Estimated]
    _pairs: dict[tuple[str, str, str], tuple[Estimated, float]]

    def value(self, measure: str, run: str) -> float:
        """The estimated mean of a system.

        Raises MeasureError for a measure that was not estimated, OptionError for another system.

        >>> estimate.value("nDCG@2", "a")
        0.649...
        """
        return self._of(measure, run).value

    def interval(self, measure: str, run: str) -> tuple[float, float]:
        """The confidence interval of the estimated mean.

        >>> estimate.interval("nDCG@2", "a")
        (0.336..., 0.962...)
        """
        mean = self._of(measure, run)
        return mean.low, mean.high

    def human(self, measure: str, run: str) -> float:
        """The mean over the queries that people judged, by their judgments alone.

        >>> estimate.human("nDCG@2", "a")
        0.6...
        """
        return self._of(measure, run).human

    def judge(self, measure: str, run: str) -> float:
        """The mean over all queries, by the judge's judgments alone.

        >>> estimate.judge("nDCG@2", "a")
        0.8...
        """
        return self._of(measure, run).judge

    def weight(self, measure: str, run: str) -> float:
        """How much the judge counts: lambda, from 0 (people alone) to 1.

        >>> estimate.weight("nDCG@2", "a")
        1.0
        """
        return self._of(measure, run).weight

    def pair(self, measure: str, a: str, b: str) -> EstimatedPair:
        """The estimated difference of two systems; (b, a) has the opposite signs.

        >>> estimate.pair("nDCG@2", "a", "b").p_adjusted
        0.514...
        """
        self._of(measure, a), self._of(measure, b)
        if a == b:
            raise OptionError("pair", f"expected two systems, found {a!r} twice")
        if (measure, a, b) in self._pairs:
            difference, p_adjusted = self._pairs[measure, a, b]
            return EstimatedPair(
                difference.value, difference.low, difference.high, difference.p, p_adjusted
            )
        pair = self.pair(measure, b, a)
        return pair._replace(
            difference=0.0 - pair.difference, low=0.0 - pair.high, high=0.0 - pair.low
        )

    def _of(self, measure: str, run: str) -> Estimated:
        if measure not in self.measures:
            raise MeasureError(
                measure, f"{measure!r} was not estimated; expected {', '.join(self.measures)}"
            )
        place_of(run, self.names, "run")
        return self._estimates[measure, run]

    def table(self) -> Table:
        """A row for each measure and system.

        estimate, low, high: the mean and its interval. human, judge: the means of either alone.
        weight: lambda. width: that of the interval, as a share of the width from people alone.
        effective: how many queries judged by people alone would give this interval.

        >>> estimate.table().columns["run"]
        ['a', 'b']
        """
        rows = [
            (*key, mean.value, mean.low, mean.high, *(getattr(mean, name) for name in PARTS))
            for key, mean in self._estimates.items()
        ]
        return table_of_rows(("measure", "run", "estimate", "low", "high", *PARTS), rows)

    def pairs(self) -> Table:
        """A row for each measure and pair of systems; columns as in `EstimatedPair`.

        >>> estimate.pairs().names[:4]
        ['measure', 'a', 'b', 'difference']
        """
        rows = [(*key, *self.pair(*key)) for key in self._pairs]
        return table_of_rows(("measure", "a", "b", *EstimatedPair._fields), rows)

    def _drawings(self) -> Mapping[str, Callable[[Axes], Frame]]:
        """A drawing for each measure: the means by people alone, combined, and by the judge alone.

        The interval of the judge alone is the usual one, which is wrong: it knows nothing of the
        judge's errors.
        """
        return {measure: partial(self._draw, measure=measure) for measure in self.measures}

    def _long_names(self) -> Sequence[str]:
        return self.names

    def _draw(self, axes: Axes, measure: str) -> Frame:
        from fastrank.common.plots.frame import Frame
        from fastrank.common.plots.style import COLORS

        said, handles = [], {}
        for row, name in enumerate(self.names):
            estimates = self._of(measure, name)
            human, judge = (
                half_width(error, estimates.df, self.level)
                for error in (estimates.human_error, estimates.judge_error)
            )
            bounds = (
                (estimates.human, estimates.human - human, estimates.human + human),
                (estimates.value, estimates.low, estimates.high),
                (estimates.judge, estimates.judge - judge, estimates.judge + judge),
            )
            for (label, shift), color, (mean, low, high) in zip(
                SHOWN, COLORS, bounds, strict=False
            ):
                y = row + shift
                (handles[label],) = axes.plot([low, high], [y, y], color=color, lw=1.6, label=label)
                axes.plot([mean], [y], "o", color=color, ms=5)
                said.append(f"{name}, {label} {number(mean)} {bounds_text(low, high)}")
        return Frame(
            f"{measure}: means with {100 * self.level:g}% intervals",
            [self.n],
            [f"People judged {counted(self.n, self.by[:-1], self.by)}"],
            ["; ".join(said)],
            rows=self.names,
            handles=list(handles.values()),
            grid="x",
            inches=(7.5, 1.4 + 0.45 * len(self.names)),
        )

    def __repr__(self) -> str:
        of = f"of {len(self.queries):,} queries" if self.by == "queries" else "pairs"
        systems = counted(len(self.names), "system")
        return (
            f"<JudgeEstimate of {systems} in {visible(' '.join(self.measures))}:"
            f" {self.n:,} {of} judged by people>"
        )

    def _document(self) -> Document:
        level = f"{100 * self.level:g}%"
        estimated = f"estimate [{level} interval]"
        head = ("measure", "run", estimated, "human", "judge", "lambda", "width", "effective")
        rows = [
            (
                *key,
                Estimate(mean.value, mean.low, mean.high),
                *(getattr(mean, name) for name in PARTS),
            )
            for key, mean in self._estimates.items()
        ]
        shown = {"lambda": "{:.2f}".format, "width": "{:.2f}".format, "effective": "{:.0f}".format}
        legend = (
            f"human: from the {self.n:,} {self.by} that people judged, alone; judge: from its"
            f" judgments of {len(self.queries):,} queries, alone. lambda: how much the judge"
            " counts. width: of the interval, as a share of that of people alone. effective: how"
            f" many {self.by} judged by people alone would give this interval."
        )
        blocks: list[Block] = [
            grid_of(table_of_rows(head, rows), shown),
            Paragraph(legend, "legend"),
        ]
        if self._pairs:
            gap = f"difference [{level} interval]"
            pairs = [
                (measure, a, b, Estimate(pair.difference, pair.low, pair.high), pair.p_adjusted)
                for (measure, a, b), pair in ((key, self.pair(*key)) for key in self._pairs)
            ]
            grid = grid_of(
                table_of_rows(("measure", "a", "b", gap, "p"), pairs), {gap: _signed, "p": p_text}
            )
            several = self.correction != "none" and len(pairs) > len(self.measures)
            beside = "; the intervals are not" * several
            corrected = CORRECTION_NAMES[self.correction]
            blocks += [grid, Paragraph(f"p: {corrected}{beside}.", "legend")]
        return Document([*blocks, *(Paragraph(note, "note") for note in self.notes)])

    def _title(self) -> str:
        return "Estimated means"

    def _content(self) -> dict[str, object]:
        return {
            "by": self.by,
            "n": self.n,
            "queries": len(self.queries),
            "population": self.population,
            "level": self.level,
            "correction": self.correction,
            "estimates": self.table(),
            "pairs": self.pairs(),
            "notes": self.notes,
        }


def _signed(value: Any) -> str:
    return f"{signed(value)} {bounds_text(value.low, value.high, signed)}"


def estimate(
    human: QrelsLike,
    judge: QrelsLike | Sequence[QrelsLike],
    runs: RunsLike | RunLike,
    measures: Measures | None = None,
    *,
    population: Population = "all",
    judges: Judges = "linear",
    scale: Mapping[float, float] | None = None,
    interval: EstimateInterval = "t",
    level: float = 0.95,
    correction: Correction = "holm",
    resamples: int = 10_000,
    seed: int = 0,
    plan: JudgmentPlan | None = None,
    partial: bool = False,
) -> JudgeEstimate:
    """Estimate the means that people would give, from their judgments of a few random queries.

    human: the judgments of people for a random sample of the queries; negative grades, here and
        of the judge, mean unjudged.
    judge: a judge's for all queries, such as a language model's; or a list of several judges'.
    runs: runs as a list or {name: run}. Judged queries that a run lacks count as 0.
    measures: as `evaluate` takes them, with values per query; by default "map ndcg_cut.10 P.10", of
        a plan of pairs "P.10", which adds over documents.
    population: "all": the queries are a sample of what users ask; "queries": they are all there
        are, so that nothing is uncertain once people have judged each.
    judges: how several judges become one: "mean" and "majority" of their grades, or the best
        "linear" combination of their values, fitted on the human sample with cross-fitting.
    scale: {grade: grade}, which maps the judge's grades to those of people.
    interval: "t" (Student's, n - 1 degrees of freedom) or "percentile", from resampled queries.
    level: the confidence level of the intervals.
    correction: of the p-values of the pairs of a measure, as in `compare`.
    resamples: the number of random resamples of "percentile".
    seed: the seed of the resamples.
    plan: what drew the sample; `human` then has the grades of its sheet. With a plan of pairs the
        estimate is the judge's mean plus the estimated sum of what people would change, for
        measures that add over documents (P@k, CG@k, DCG@k, RBP). It is about the queries of the
        plan, as with population="queries", and several judges become their mean or majority.
    partial: whether some pairs of the plan may lack a grade, missing at random. With a plan of
        queries, only those count whose pairs all have one.

    The estimate is mean(f) - lambda (mean(g) - mean of g over the other queries), where f are the
    values by people and g those by the judge on the same queries; lambda has the least variance.
    With a useless judge it is 0, and the estimate is that of people alone. Pairs of query and
    document that the judge lacks are left out of the human judgments, and counted in a note.

    Raises GroupError if people judged fewer than 3 queries or one that the judge did not, or if
    both judgments are the same; OptionError for invalid options; what `compare` raises. Warns if
    the human queries do not look like a random sample of the judge's, and if the grades of people
    and the judge differ. Sources: Angelopoulos, Duchi
    and Zrnic, 2023, arXiv 2311.01453; Zrnic and Candès, PNAS 121(15), 2024.

    >>> model = {f"q{i}": {"d1": i % 2, "d2": 1 - i % 2} for i in range(20)}
    >>> people = {f"q{i}": {"d1": i % 2, "d2": 0} for i in range(0, 20, 3)}
    >>> run = {f"q{i}": {"d1": 2.0, "d2": 1.0} for i in range(20)}
    >>> fr.estimate(people, model, {"a": run}, "nDCG@2").human("nDCG@2", "a")
    0.428...
    """
    check_choice("population", population, ("all", "queries"))
    check_choice("judges", judges, ("linear", "mean", "majority"))
    check_choice("interval", interval, ("t", "percentile"))
    if correction == "max-t":
        raise OptionError("correction", "'max-t' is not for estimates; use 'holm'")
    chosen = settings_of(
        interval=interval, level=level, correction=correction, resamples=resamples, seed=seed
    )
    by_judge = _judged(judge, scale)
    by_pairs = plan is not None and plan.by == "pairs"
    if plan is None:
        people = judged(judgments_of(human, "human"))
    else:
        grades = plan.grades_of(human, partial=partial)
        people = plan._judged(grades)
    if measures is None:
        measures = ADDITIVE if by_pairs else DEFAULT_MEASURES
    by_name = {"human": people, **by_judge}
    if len(by_judge) > 1 and (by_pairs or judges != "linear"):
        kind = "mean" if judges == "linear" else judges
        by_judge = {"the judges": merge_qrels(list(by_judge.values()), kind).to_dict()}
    sample: PairSample | QuerySample
    if plan is not None and by_pairs:
        sample = PairSample(plan, grades, next(iter(by_judge.values())), runs, measures, chosen)
    else:
        sample = QuerySample(people, by_judge, runs, measures, population, chosen)
    compare_scales(by_name, sample.notes)
    names, units = sample.names, np.eye(len(sample.names))
    if interval == "percentile" and len(names) > 1:
        sample.notes.append("p is from Student's t, the intervals are from resampled queries")
    pairs: dict[tuple[str, str, str], tuple[Estimated, float]] = {}
    for measure in sample.measures:
        estimates = {
            (measure, names[i], names[j]): sample.estimate(measure, units[i] - units[j])
            for i, j in combinations(range(len(names)), 2)
        }
        adjusted = adjust(
            np.array([difference.p for difference in estimates.values()]), correction
        ).tolist()
        pairs |= {
            key: (difference, p)
            for (key, difference), p in zip(estimates.items(), adjusted, strict=True)
        }
    return JudgeEstimate(
        names=names,
        measures=sample.measures,
        by=sample.by,
        n=sample.n,
        queries=sample.queries,
        population=sample.population,
        level=level,
        correction=correction,
        notes=sample.notes,
        _estimates={
            (measure, name): sample.estimate(measure, units[row])
            for measure, (row, name) in product(sample.measures, enumerate(names))
        },
        _pairs=pairs,
    )


def _judged(
    judge: QrelsLike | Sequence[QrelsLike], scale: Mapping[float, float] | None
) -> dict[str, Judgments]:
    """{name: judgments} of the judges, on the scale of people."""
    sources = list(judge) if isinstance(judge, (list, tuple)) else [judge]
    names = judge_names(sources) if len(sources) > 1 else ["the judge"]
    judgments = {
        name: judgments_of(source, name) for name, source in zip(names, sources, strict=True)
    }
    if scale is not None:
        judgments = {name: rescaled(grades, scale, name) for name, grades in judgments.items()}
    return {name: judged(grades) for name, grades in judgments.items()}
