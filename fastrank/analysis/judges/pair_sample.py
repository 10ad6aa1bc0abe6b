"""Means of measures that add over documents, from a planned sample of judged pairs."""

from __future__ import annotations

import math

import numpy as np

from fastrank.analysis.judges.labels import pairs_of
from fastrank.analysis.judges.merging import named_rankings
from fastrank.analysis.judges.prediction_powered import Estimated, half_width, p_of_zero
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
    from fastrank.analysis.judges.labels import Judgments
    from fastrank.analysis.judges.plans import JudgmentPlan
    from fastrank.common.arrays import Floats, Integers
    from fastrank.core.formats.inputs import RunLike, RunsLike
    from fastrank.core.measures.selection import Measures

# The kinds of gain in measures that are sums over documents, where no document affects the gain of
# another.
SUMS = ("relevance", "discounted gain", "weighted gain", "weighted relevance")
DIVISORS = ("", "k")
# How many pairs are added to a stratum that have the grades of all with the same judge's grade, and
# how many to these that have each grade equally often: the four of Agresti and Coull, The American
# Statistician 52(2), 1998. `python -m bench coverage` tells how often the intervals then hold.
SAME_GRADE, EVEN = 16, 4
# The fewest pairs of which there is an interval.
LEAST = 2
# Judges with more grades, such as the means of several, do not have those that people give.
MOST_GRADES = 10


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
        if self.n < LEAST:
            raise GroupError(f"expected {LEAST} or more judged pairs, found {self.n}")
        listed: Any = runs if are_named(runs) or isinstance(runs, (list, tuple)) else [runs]
        rankings = dict(named_rankings(listed, plan.depth))
        self.names = list(rankings)
        rows = {(query, doc): row for row, (query, doc, *_) in enumerate(plan.pairs.rows())}
        self.queries = sorted({query for query, _ in rows})
        names = list(plan.strata)
        codes = {name: code for code, name in enumerate(names)}
        self._strata = np.array([codes[name] for name in plan.pairs.columns["stratum"]])
        self._sizes = np.array([stratum.size for stratum in plan.strata.values()])
        self._judged_rows = np.array([rows[pair] for pair in grades])
        self._counts = np.bincount(self._strata[self._judged_rows], minlength=len(names))
        for name in names:
            if not self._counts[codes[name]]:
                raise GroupError(f"no pair of the stratum {name!r} has a grade")
        ranks = list(map(pairs_of, rankings.values()))
        # The rank of each pair of the pool in each system; 0 if the system does not retrieve it.
        self._ranks = np.array([[rank_of.get(pair, 0) for pair in rows] for rank_of in ranks])
        self._human = np.array(list(grades.values()), float)
        # NaN where the judge has no grade.
        self._judge = np.array([judge.get(query, {}).get(doc, np.nan) for query, doc in rows])
        self._scale, self._probabilities = self._expected_grades()
        self._grades = np.unique([*self._scale, *self._human, *np.nan_to_num(self._judge)])
        self._additions = self._all_additions()
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
        outside = sum(pair not in rows for rank_of in ranks for pair in rank_of if pair[0] in asked)
        self.notes = list(self._assumptions(outside))

    def _expected_grades(self) -> tuple[Floats, Floats]:
        """The grades that people may give, and the probability of each, float64[pairs, grades].

        It is estimated from the judged pairs with the same judge's grade in the same stratum, and
        SAME_GRADE more with the shares of grades in all strata. To these, EVEN pairs are added that
        have each grade equally often: the few judged pairs may lack a grade that people give.
        """
        of_judge = np.unique(self._judge[~np.isnan(self._judge)])
        scale = np.union1d([0.0, 1.0], self._human)
        if len(of_judge) <= MOST_GRADES:
            scale = np.union1d(scale, of_judge)
        # The nearest grade of the scale, or one more where the judge has none.
        labels = np.abs(self._judge[:, None] - scale).argmin(axis=1)
        labels[np.isnan(self._judge)] = len(scale)
        counts = np.zeros((len(self._sizes), len(scale) + 1, len(scale)))
        rows = self._judged_rows
        np.add.at(
            counts, (self._strata[rows], labels[rows], np.searchsorted(scale, self._human)), 1
        )
        of_label = counts.sum(axis=0) + EVEN / len(scale)
        shares = of_label / of_label.sum(axis=1, keepdims=True)
        smoothed = counts + SAME_GRADE * shares
        smoothed /= smoothed.sum(axis=2, keepdims=True)
        return scale, smoothed[self._strata, labels]

    def estimate(self, measure: str, weights: Floats) -> Estimated:
        """The estimated mean of a weighted sum of the systems, over the queries of the pool."""
        rows, additions = self._judged_rows, self._additions[measure]

        def added(grades: Floats, rows: Integers | slice = slice(None)) -> Floats:
            codes = np.searchsorted(self._grades, grades)
            by_system: Floats = weights @ additions[codes, self._ranks[:, rows]]
            return by_system

        human, judge = added(self._human, rows), added(np.nan_to_num(self._judge))
        possible = np.stack([added(grade) for grade in self._scale], axis=1)
        judged = float(weights @ self._judged[measure])
        total, error = self._total(human - judge[rows], possible - judge[:, None])
        alone, alone_error = self._total(human, possible)
        df = self.n - 1
        value, half = judged + total, half_width(error, df, self.chosen.level)
        bounds = value - half, value + half
        p = p_of_zero(value, error, df)
        return Estimated(value, *bounds, error, p, df, 1.0, alone, alone_error, judged, 0.0, self.n)

    def _total(self, values: Floats, possible: Floats) -> tuple[float, float]:
        """The estimated sum over the pool per query, and its standard error, by strata.

        values: of the judged pairs. possible: of each pair with each grade of the scale. The
        variance in a stratum is what the probabilities of the grades lead one to expect: that of
        two or three judged pairs is 0 whenever people and the judge agree on them.
        """
        strata, sizes, counts = self._strata, self._sizes, self._counts
        sums = np.bincount(strata[self._judged_rows], values, len(sizes))
        mean = (self._probabilities * possible).sum(axis=1)
        square = (self._probabilities * possible**2).sum(axis=1)
        squares, means, variances = (
            np.bincount(strata, column, len(sizes)) for column in (square, mean, square - mean**2)
        )
        deviations = squares - (means**2 + variances) / sizes
        spread = np.maximum(deviations, 0.0) / np.maximum(sizes - 1, 1)
        variance = sizes * (sizes - counts) * spread / counts
        total, error = float((sizes * sums / counts).sum()), math.sqrt(variance.sum())
        if not possible.any() and (counts < sizes).any():
            # No grade so far counts, but one of the others may.
            error = math.nan
        return total / len(self.queries), error / len(self.queries)

    def _all_additions(self) -> dict[str, Floats]:
        """What a document of each grade adds at each rank, float64[grades, ranks]; 0 at rank 0."""
        additions: dict[str, list[list[float]]] = {measure: [] for measure in self.measures}
        indices = range(self.plan.depth + 1)
        runs = {f"q{i:06}": {f"d{i}": float(-i) for i in indices} for i in indices}
        for grade in self._grades.tolist():
            qrels = {f"q{i:06}": {f"d{i}": grade} for i in indices}
            scores = evaluate(qrels, runs, self._requested)
            for measure, rows in additions.items():
                *values, below = scores[measure].tolist()
                if below:
                    raise MeasureError(
                        measure,
                        f"{measure!r} counts results below rank {self.plan.depth}, the depth of"
                        " the plan; cut the measure, as in RBP@10, or plan deeper",
                    )
                rows.append([0.0, *values])
        return {measure: np.array(rows) for measure, rows in additions.items()}

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
