"""Means of measures from a few human judgments and those of a model, with intervals that hold."""

from __future__ import annotations

import os
import warnings
from typing import NamedTuple

import numpy as np

from fastrank.arguments import check_choice
from fastrank.comparing.compare import compare
from fastrank.comparing.corrections import adjust
from fastrank.comparing.options import COMPARISON, settings
from fastrank.data.columns import Frozen
from fastrank.errors import GroupError, MeasureError, OptionError
from fastrank.judges.labels import judge_names, judgments_of, rescaled
from fastrank.judges.merging import merge_qrels
from fastrank.judges.prediction_powered import Estimated, combined, estimated
from fastrank.messages import counted
from fastrank.scores.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    import pandas

    from fastrank.choices import Correction, EstimateInterval, Judges, Population
    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Floats
    from fastrank.formats.inputs import QrelsLike, RunLike, RunsLike
    from fastrank.judges.labels import Judgments
    from fastrank.judges.plans import JudgmentPlan
    from fastrank.measures.selection import Measures

# Below so many human queries intervals of Student's t may be short of their level.
FEW = 20
# Where so many values are equal, n would have to be hundreds.
MOSTLY = 0.8
PERMUTATIONS = 10_000
NOT_RANDOM = 0.01


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


class JudgeEstimate(Frozen):
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
        found = self._of(measure, run)
        return found.low, found.high

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
        0.278...
        """
        self._of(measure, a), self._of(measure, b)
        if a == b:
            raise OptionError("pair", f"expected two systems, found {a!r} twice")
        turned = (measure, a, b) not in self._pairs
        found, p_adjusted = self._pairs[(measure, b, a) if turned else (measure, a, b)]
        made = EstimatedPair(found.value, found.low, found.high, found.p, p_adjusted)
        if not turned:
            return made
        return made._replace(
            difference=0.0 - made.difference, low=0.0 - made.high, high=0.0 - made.low
        )

    def _of(self, measure: str, run: str) -> Estimated:
        if measure not in self.measures:
            raise MeasureError(
                measure, f"{measure!r} was not estimated; expected {', '.join(self.measures)}"
            )
        if run not in self.names:
            expected = ", ".join(map(repr, self.names))
            raise OptionError("run", f"{run!r} is not one of the systems: {expected}")
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
            (measure, run, own.value, own.low, own.high, own.human, own.judge, own.weight,
             own.width, own.effective)
            for (measure, run), own in self._estimates.items()
        ]  # fmt: skip
        names = (
            "measure", "run", "estimate", "low", "high", "human", "judge", "weight", "width",
            "effective",
        )  # fmt: skip
        return Table(columns=dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))

    def pairs(self) -> Table:
        """A row for each measure and pair of systems; columns as in `EstimatedPair`.

        >>> estimate.pairs().names[:4]
        ['measure', 'a', 'b', 'difference']
        """
        rows = [(*key, *self.pair(*key)) for key in self._pairs]
        names = ("measure", "a", "b", *EstimatedPair._fields)
        columns = map(list, zip(*rows, strict=True)) if rows else [[] for _ in names]
        return Table(columns=dict(zip(names, columns, strict=True)))

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a DataFrame of pandas. Raises ImportError without pandas.

        >>> estimate.to_pandas()["run"].tolist()
        ['a', 'b']
        """
        return self.table().to_pandas()

    def __repr__(self) -> str:
        of = f"of {len(self.queries)} queries" if self.by == "queries" else "pairs"
        systems = counted(len(self.names), "system")
        return (
            f"<JudgeEstimate of {systems} in {' '.join(self.measures)}: {self.n} {of} judged by"
            " people>"
        )

    def __str__(self) -> str:
        from fastrank.document.text import text
        from fastrank.judges.shown import document_of_estimate

        return text(document_of_estimate(self))

    def _repr_html_(self) -> str:
        from fastrank.document.html import html
        from fastrank.judges.shown import document_of_estimate

        return html(document_of_estimate(self))


def estimate(
    human: QrelsLike,
    judge: QrelsLike | Sequence[QrelsLike],
    runs: RunsLike | RunLike,
    measures: Measures,
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

    human: the judgments of people for a random sample of the queries.
    judge: a judge's for all queries, such as a language model's; or a list of several judges'.
    runs: runs as a list or {name: run}. Judged queries that a run lacks count as 0.
    measures: as `evaluate` takes them, with values per query.
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
    plan: what drew the pairs that people judged, if they judged a sample of pairs rather than of
        queries: the estimate is then the judge's mean plus the estimated sum of what people would
        change, for measures that add over documents (P@k, DCG@k, RBP).
    partial: whether some pairs of the plan may lack a grade, missing at random.

    The estimate is mean(f) - lambda (mean(g) - mean of g over the other queries), where f are the
    values by people and g those by the judge on the same queries; lambda has the least variance.
    With a useless judge it is 0, and the estimate is that of people alone. Pairs of query and
    document that the judge lacks are left out of the human judgments, and counted in a note.

    Raises GroupError if people judged fewer than 3 queries or one that the judge did not, or if
    both judgments are the same; OptionError for invalid options; what `compare` raises. Warns if
    the human queries do not look like a random sample of the judge's. Sources: Angelopoulos, Duchi
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
    chosen = settings({
        **{one.name: one.default for one in COMPARISON}, "interval": interval, "level": level,
        "correction": correction, "resamples": resamples, "seed": seed,
    })  # fmt: skip
    if correction == "max-t":
        raise OptionError("correction", "'max-t' is not for estimates; use 'holm'")
    if plan is not None and plan.by == "pairs":
        return _by_pairs(human, judge, runs, measures, plan, chosen, partial=partial)
    people = judgments_of(human, "human")
    given = list(judge) if isinstance(judge, (list, tuple)) else [judge]
    models = _models(given, scale, judges)
    notes: list[str] = []
    queries = _shared_queries(people, models)
    people = _without_unjudged(people, models, notes)
    sampled = sorted(people, key=os.fsencode)
    sides = [
        _values({query: own[query] for query in wanted}, runs, measures)
        for own, wanted in ((people, sampled), *((own, queries) for own in models))
    ]
    place = {query: at for at, query in enumerate(queries)}
    labelled = np.array([place[query] for query in sides[0].queries])
    samples = _Samples(sides[0], sides[1:], labelled, chosen, finite=population == "queries")
    notes += samples.cautions()
    return JudgeEstimate(
        names=sides[0].names, measures=sides[0].measures, by="queries", n=len(labelled),
        queries=queries, population=population, level=level, correction=correction, notes=notes,
        _estimates={
            (measure, name): samples.estimate(measure, [(row, 1.0)])
            for measure in sides[0].measures for row, name in enumerate(sides[0].names)
        },
        _pairs=_all_pairs(
            sides[0].measures, sides[0].names, correction,
            lambda measure, i, j: samples.estimate(measure, [(i, 1.0), (j, -1.0)]),
        ),
    )  # fmt: skip


def _by_pairs(
    human: QrelsLike,
    judge: QrelsLike | Sequence[QrelsLike],
    runs: RunsLike | RunLike,
    measures: Measures,
    plan: JudgmentPlan,
    chosen: Settings,
    *,
    partial: bool,
) -> JudgeEstimate:
    """Estimate from a sample of pairs."""
    from fastrank.judges.pair_estimate import PairSample, notes_of

    if isinstance(judge, (list, tuple)):
        (judge,) = judge if len(judge) == 1 else [merge_qrels(judge, "mean")]
    grades = plan.grades_of(human, partial=partial)
    sample = PairSample(plan, grades, judgments_of(judge, "judge"), runs, measures)
    names = sample.names
    return JudgeEstimate(
        names=names, measures=list(sample.measures), by="pairs", n=len(sample.pairs),
        queries=sample.queries, population="queries", level=chosen.level,
        correction=chosen.correction, notes=list(notes_of(sample)),
        _estimates={
            (measure, name): sample.estimate(measure, [(name, 1.0)], chosen)
            for measure in sample.measures for name in names
        },
        _pairs=_all_pairs(
            list(sample.measures), names, chosen.correction,
            lambda measure, i, j: sample.estimate(
                measure, [(names[i], 1.0), (names[j], -1.0)], chosen
            ),
        ),
    )  # fmt: skip


class _Samples:
    """The values per query of people and of judges."""

    def __init__(
        self,
        human: Comparison,
        models: Sequence[Comparison],
        labelled: Any,
        chosen: Settings,
        *,
        finite: bool,
    ) -> None:
        self.human, self.models, self.labelled = human, models, labelled
        self.chosen, self.finite = chosen, finite
        self.others = np.ones(len(models[0].queries), bool)
        self.others[labelled] = False

    def estimate(self, measure: str, systems: list[tuple[int, float]]) -> Estimated:
        """The estimated mean of a weighted sum of systems."""
        human = self._sum(self.human, measure, systems)
        judged = np.stack([self._sum(own, measure, systems) for own in self.models])
        predicted, others = judged[:, self.labelled], judged[:, self.others]
        if len(judged) > 1:
            own, beside = combined(human, predicted, others)
        else:
            (own,), (beside,) = predicted, others
        return estimated(human, own, beside, self.chosen, finite=self.finite)

    def _sum(self, side: Comparison, measure: str, systems: list[tuple[int, float]]) -> Floats:
        values = side.values(measure)
        if np.isnan(values).any():
            raise MeasureError(measure, f"{measure!r} has no value for some queries")
        found: Floats = np.sum([sign * values[row] for row, sign in systems], axis=0)
        return found

    def cautions(self) -> list[str]:
        """Notes on the size of the human sample, and whether it looks random."""
        n = len(self.labelled)
        found = [
            f"assumed: the {n} queries that people judged are a random sample of the"
            f" {len(self.others)}; hand-picked ones give wrong estimates"
        ]
        if n < FEW:
            found.append(f"{n} queries are few: the intervals may be short of their level")
        for measure in self.human.measures:
            for name, own in zip(self.human.names, self.human.values(measure), strict=True):
                share = np.unique(own, return_counts=True)[1].max() / n
                if share >= MOSTLY:
                    found.append(
                        f"{measure} of {name} is the same for {share:.0%} of the queries that"
                        " people judged: its interval may be far short of its level"
                    )
        measure = self.human.measures[0]
        if self.others.any() and (p := self._p_random(measure)) < NOT_RANDOM:
            note = (
                "the queries that people judged do not look like a random sample: the judge's"
                f" {measure} differs on them from that on the others (permutation test,"
                f" p = {p:.4f})"
            )
            warnings.warn(note, stacklevel=4)
            found.append(note)
        return found

    def _p_random(self, measure: str) -> float:
        """The p-value of a permutation test of the judge's values, on the mean of the systems."""
        values = self.models[0].values(measure).mean(axis=0)
        n, draw = len(self.labelled), np.random.default_rng(self.chosen.seed)
        observed = abs(values[self.labelled].mean() - values.mean())
        means = [draw.permutation(values)[:n].mean() for _ in range(PERMUTATIONS)]
        reached = np.abs(np.array(means) - values.mean()) >= observed * (1 - 1e-9)
        return float((reached.sum() + 1) / (PERMUTATIONS + 1))


def _models(
    given: list[QrelsLike], scale: Mapping[float, float] | None, judges: Judges
) -> list[Judgments]:
    """The judgments of the judges: one for each, or their mean or majority."""
    if judges != "linear" and len(given) > 1:
        given = [merge_qrels(given, judges)]
    names = judge_names(given, None)
    found = [judgments_of(own, name) for own, name in zip(given, names, strict=True)]
    if scale is None:
        return found
    return [rescaled(own, scale, name) for own, name in zip(found, names, strict=True)]


def _shared_queries(people: Judgments, models: list[Judgments]) -> list[str]:
    """The queries of all judges, in byte order. Raises GroupError."""
    queries = set.intersection(*(set(own) for own in models))
    lacking = sorted(people.keys() - queries, key=os.fsencode)
    if lacking:
        count = counted(len(lacking), "query", "queries")
        raise GroupError(
            f"the judge lacks {count} that people judged, such as {lacking[0]!r}: the human queries"
            " must be a sample of the judge's"
        )
    if any(own == people for own in models):
        raise GroupError("the judgments of people and of the judge are the same")
    if len(people) < 3:
        raise GroupError(f"expected 3 or more queries judged by people, found {len(people)}")
    return sorted(queries, key=os.fsencode)


def _without_unjudged(people: Judgments, models: list[Judgments], notes: list[str]) -> Judgments:
    """The human judgments of the pairs that every judge has, with notes on the others."""
    kept = {
        query: {
            document: grade
            for document, grade in documents.items()
            if all(document in own[query] for own in models)
        }
        for query, documents in people.items()
    }
    lost = sum(map(len, people.values())) - sum(map(len, kept.values()))
    if lost:
        notes.append(
            f"{counted(lost, 'pair')} that people judged and the judge did not: unjudged on both"
            " sides"
        )
    empty = [query for query, documents in kept.items() if not documents]
    if empty:
        raise GroupError(f"query {empty[0]!r}: people and the judge have no document in common")
    grades = [
        {grade for docs in own.values() for grade in docs.values()} for own in (kept, models[0])
    ]
    if grades[0] != grades[1]:
        shown = [", ".join(f"{grade:g}" for grade in sorted(own)) for own in grades]
        notes.append(
            f"people gave the grades {shown[0]}, the judge {shown[1]}: if they mean different"
            " things, map them with scale"
        )
    return kept


def _values(judgments: Judgments, runs: RunsLike | RunLike, measures: Measures) -> Comparison:
    return compare(judgments, runs, measures, missing="zero", interval="none")


def _all_pairs(
    measures: list[str],
    names: list[str],
    correction: str,
    difference: Callable[[str, int, int], Estimated],
) -> dict[tuple[str, str, str], tuple[Estimated, float]]:
    """The estimated difference of each pair of systems, and its corrected p-value."""
    found: dict[tuple[str, str, str], tuple[Estimated, float]] = {}
    for measure in measures:
        own = {
            (measure, a, b): difference(measure, i, j)
            for i, a in enumerate(names)
            for j, b in enumerate(names)
            if i < j
        }
        adjusted = adjust(np.array([one.p for one in own.values()]), correction).tolist()
        found |= {key: (one, p) for (key, one), p in zip(own.items(), adjusted, strict=True)}
    return found
