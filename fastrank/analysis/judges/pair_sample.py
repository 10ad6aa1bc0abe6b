"""Means of measures that add over documents, from a planned sample of judged pairs."""

from __future__ import annotations

import math

import numpy as np

from fastrank.analysis.judges.labels import pairs_of
from fastrank.analysis.judges.merging import named_rankings
from fastrank.analysis.judges.prediction_powered import Estimated, half_width
from fastrank.common.messages import counted
from fastrank.core.evaluation.evaluator import evaluate
from fastrank.core.formats.inputs import are_named
from fastrank.core.measures.selection import Selection
from fastrank.errors import GroupError, MeasureError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from fastrank.analysis.comparing.options import Settings
    from fastrank.analysis.comparing.paired import Floats
    from fastrank.analysis.judges.labels import Judgments
    from fastrank.analysis.judges.plans import JudgmentPlan
    from fastrank.core.formats.inputs import RunLike, RunsLike
    from fastrank.core.measures.selection import Measures

# What documents add in measures that are sums over documents, where no document affects what
# another one adds.
SUMS = ("relevance", "discounted gain", "weighted gain", "weighted relevance")
DIVISORS = ("", "k")


class PairSample:
    """The pairs of a plan that people judged, and what they add to the values of systems.

    queries: those of the pool, which are all that the estimates are about. Source: the difference
    estimator of Särndal, Swensson and Wretman, Model assisted survey sampling, 1992, section 6.3,
    over strata; for rankings Oosterhuis et al., 2024, arXiv 2407.02464.
    """

    by, population = "pairs", "queries"

    def __init__(
        self,
        plan: JudgmentPlan,
        grades: dict[tuple[str, str], float],
        judge: Judgments,
        runs: RunsLike | RunLike,
        measures: Measures,
        chosen: Settings,
    ) -> None:
        if chosen.interval != "t":
            raise OptionError("interval", "expected 't' with a plan of pairs")
        self.plan, self.chosen, self._requested = plan, chosen, measures
        self.measures, self.n = _additive(measures), len(grades)
        listed: Any = runs if are_named(runs) or isinstance(runs, (list, tuple)) else [runs]
        rankings = dict(named_rankings(listed, plan.depth))
        self.names = list(rankings)
        pool = {(query, doc): stratum for query, doc, _, stratum, *_ in plan.pairs.rows()}
        self.queries = sorted({query for query, _ in pool})
        self.stratum = np.array([pool[pair] for pair in grades])
        for name, stratum in plan.strata.items():
            if stratum.sampled and name not in self.stratum:
                raise GroupError(f"no pair of the stratum {name!r} has a grade")
        ranks = list(map(pairs_of, rankings.values()))
        # Of each system and judged pair; 0 if the system does not retrieve it.
        self._ranks = np.array([[rank_of.get(pair, 0) for pair in grades] for rank_of in ranks])
        self._human = np.array(list(grades.values()), float)
        self._judge = np.array([judge.get(query, {}).get(doc, 0.0) for query, doc in grades])
        scores = evaluate(
            {query: judge[query] for query in self.queries if query in judge},
            listed,
            measures,
            missing="zero",
        )
        # The judge's means over the queries of the pool, whether or not it judged them.
        self._judged = {
            measure: np.array([float(run_scores[measure].sum()) for run_scores in scores])
            / len(self.queries)
            for measure in self.measures
        }
        asked = set(self.queries)
        outside = sum(pair not in pool for rank_of in ranks for pair in rank_of if pair[0] in asked)
        self.notes = list(self._assumptions(outside))

    def estimate(self, measure: str, weights: Floats) -> Estimated:
        """The estimated mean of a weighted sum of the systems, over the queries of the pool."""
        human, judge = (
            weights @ self._added(measure, grades) for grades in (self._human, self._judge)
        )
        judged = float(weights @ self._judged[measure])
        total, error = self._total(human - judge)
        alone, alone_error = self._total(human)
        df = max(self.n - sum(stratum.sampled > 0 for stratum in self.plan.strata.values()), 1)
        value, half = judged + total, half_width(error, df, self.chosen.level)
        bounds = value - half, value + half
        return Estimated(value, *bounds, error, df, 1.0, alone, alone_error, judged, 0.0, self.n)

    def _total(self, values: Floats) -> tuple[float, float]:
        """The estimated sum over the pool per query, and its standard error, by strata."""
        total = variance = 0.0
        for name, stratum in self.plan.strata.items():
            sampled = values[self.stratum == name]
            if not len(sampled):
                continue
            total += stratum.size * float(sampled.mean())
            if len(sampled) < stratum.size:
                spread = float(sampled.var(ddof=1)) if len(sampled) > 1 else math.nan
                variance += stratum.size * (stratum.size - len(sampled)) * spread / len(sampled)
        return total / len(self.queries), math.sqrt(variance) / len(self.queries)

    def _added(self, measure: str, grades: Floats) -> Floats:
        """What each pair adds to each system's value of its query, float64[systems, pairs]."""
        additions = np.zeros(self._ranks.shape)
        for grade in np.unique(grades):
            added = self._by_rank(measure, float(grade))[self._ranks]
            additions = np.where(grades == grade, added, additions)
        return additions

    def _by_rank(self, measure: str, grade: float) -> Floats:
        """What a document of this grade adds at each rank; 0 at rank 0."""
        indices = range(self.plan.depth + 1)
        ranking = {f"d{i}": float(-i) for i in indices}
        scores = evaluate(
            {f"q{i:06}": {f"d{i}": grade} for i in indices},
            {f"q{i:06}": ranking for i in indices},
            self._requested,
        )
        *values, below = scores[measure].tolist()
        if below:
            raise MeasureError(
                measure,
                f"{measure!r} counts results below rank {self.plan.depth}, the depth of"
                " the plan; cut the measure, as in RBP@10, or plan deeper",
            )
        return np.array([0.0, *values])

    def _assumptions(self, outside: int) -> Iterator[str]:
        yield (
            f"assumed: people judged the {counted(self.n, 'pair')} that the plan drew at random;"
            " hand-picked ones give wrong estimates"
        )
        several = len(self.queries) > 1
        yield (
            f"the intervals are about {'these' if several else 'this'}"
            f" {counted(len(self.queries), 'query', 'queries')}, not about others that users may"
            " ask"
        )
        missing = sum(stratum.sampled for stratum in self.plan.strata.values()) - self.n
        if missing:
            pairs = counted(missing, "sampled pair has", "sampled pairs have")
            yield (
                f"{pairs} no grade: the probabilities are corrected as if"
                f" {'it was' if missing == 1 else 'they were'} missing at random"
            )
        if outside:
            results = counted(outside, "result of the runs is", "results of the runs are")
            yield (
                f"{results} not in the pool of the plan: only the judge counts for"
                f" {'it' if outside == 1 else 'them'}"
            )


def _additive(measures: Measures) -> list[str]:
    """The names of the measures. Raises MeasureError for one that is not a sum over documents."""
    additive = []
    for bound in Selection(measures).bind("9.0.8"):
        adds, names = bound.measure.adds, [name.decode() for name in bound.names]
        if adds is None or adds[0] not in SUMS or adds[1] not in DIVISORS:
            raise MeasureError(
                names[0],
                f"{names[0]!r} does not add over documents, as P@k, CG@k, DCG@k and RBP"
                " do; for other measures let people judge queries: by='queries'",
            )
        additive += names
    return additive
