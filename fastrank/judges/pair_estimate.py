"""Means of measures that add over documents, from a planned sample of judged pairs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastrank.errors import GroupError, MeasureError
from fastrank.evaluation.evaluator import evaluate
from fastrank.formats.inputs import are_named
from fastrank.judges.merging import named_rankings
from fastrank.judges.prediction_powered import Estimated
from fastrank.measures.selection import Selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Floats
    from fastrank.formats.inputs import RunLike, RunsLike
    from fastrank.judges.labels import Judgments
    from fastrank.judges.plans import JudgmentPlan
    from fastrank.measures.selection import Measures

# What the documents add, and its divisor, of measures whose values are sums over documents that do
# not depend on the other documents.
SUMS = ("relevance", "discounted gain", "weighted gain", "weighted relevance")
DIVISORS = ("", "k")


class SampledPair(NamedTuple):
    """A pair that people judged: where it is in the rankings, and its grades."""

    query: str
    document: str
    stratum: str
    human: float
    judge: float


class PairSample:
    """The judged pairs of a plan, and the runs that are estimated with them.

    Source: the difference estimator of Särndal, Swensson and Wretman, Model assisted survey
    sampling, 1992, section 6.3, over strata; for rankings Oosterhuis et al., 2024, arXiv
    2407.02464.
    """

    def __init__(
        self,
        plan: JudgmentPlan,
        grades: dict[tuple[str, str], float],
        judge: Judgments,
        runs: RunsLike | RunLike,
        measures: Measures,
    ) -> None:
        self.plan, self.measures = plan, additive(measures)
        listed: Any = runs if are_named(runs) or isinstance(runs, (list, tuple)) else [runs]
        rankings = dict(named_rankings(listed, plan.depth, "9.0.8"))
        self.names = list(rankings)
        columns = plan.pairs.columns
        self.queries = sorted(set(columns["query"]))
        self.places = {
            name: {
                (query, document): rank
                for query, documents in own.items()
                for rank, document in enumerate(documents, 1)
            }
            for name, own in rankings.items()
        }
        self.pairs = [
            SampledPair(query, doc, stratum, grades[query, doc], judge.get(query, {}).get(doc, 0.0))
            for query, doc, _, stratum, _ in plan.pairs.rows()
            if (query, doc) in grades
        ]
        known = {(pair.query, pair.document) for pair in self.pairs}
        sizes: dict[str, int] = {}
        for pair in self.pairs:
            sizes[pair.stratum] = sizes.get(pair.stratum, 0) + 1
        lacking = [name for name, own in plan.strata.items() if own.sampled and name not in sizes]
        if lacking:
            raise GroupError(f"no pair of the stratum {lacking[0]!r} has a grade")
        self.missing = sum(own.sampled for own in plan.strata.values()) - len(known)
        pool = set(zip(columns["query"], columns["document"], strict=True))
        self.outside = sum(
            pair not in pool and pair[0] in set(self.queries)
            for own in self.places.values()
            for pair in own
        )
        scores = evaluate({query: judge[query] for query in self.queries if query in judge}, listed,
                          measures, missing="zero")  # fmt: skip
        listed_scores = scores if isinstance(scores, list) else [scores]
        # The judge's means over the queries of the pool, whether or not it judged them.
        self._judged = {
            name: {
                measure: float(own[measure].sum()) / len(self.queries) for measure in self.measures
            }
            for name, own in zip(self.names, listed_scores, strict=True)
        }
        self._weights: dict[str, dict[float, list[float]]] = {}

    def estimate(
        self, measure: str, systems: list[tuple[str, float]], chosen: Settings
    ) -> Estimated:
        """The estimated mean of a weighted sum of systems, over the queries of the pool."""
        from scipy.special import stdtrit

        gaps = np.array([self._added(measure, pair, pair.human, systems)
                         - self._added(measure, pair, pair.judge, systems)
                         for pair in self.pairs])  # fmt: skip
        alone = np.array([self._added(measure, pair, pair.human, systems) for pair in self.pairs])
        judge = sum(sign * self._judged[name][measure] for name, sign in systems)
        total, error = self._total(gaps)
        human, human_error = self._total(alone)
        n = len(self.pairs)
        df = max(n - len(self.plan.strata), 1)
        half = float(stdtrit(df, 1 - (1 - chosen.level) / 2)) * error
        value = judge + total
        return Estimated(
            value, value - half, value + half, error, 1.0, human, human_error, judge, n
        )

    def _total(self, values: Floats) -> tuple[float, float]:
        """The estimated sum over the pool per query, and its standard error, by strata."""
        total = variance = 0.0
        for name, stratum in self.plan.strata.items():
            own = values[[pair.stratum == name for pair in self.pairs]]
            if not len(own):
                continue
            total += stratum.size * float(own.mean())
            if len(own) < stratum.size:
                spread = float(own.var(ddof=1)) if len(own) > 1 else math.nan
                variance += stratum.size * (stratum.size - len(own)) * spread / len(own)
        return total / len(self.queries), math.sqrt(variance) / len(self.queries)

    def _added(
        self, measure: str, pair: SampledPair, grade: float, systems: list[tuple[str, float]]
    ) -> float:
        found = 0.0
        for name, sign in systems:
            rank = self.places[name].get((pair.query, pair.document))
            if rank is not None:
                found += sign * self._weight(measure, rank, grade)
        return found

    def _weight(self, measure: str, rank: int, grade: float) -> float:
        """What a document of this grade at this rank adds to the value of a query."""
        known = self._weights.setdefault(measure, {})
        if grade not in known:
            known[grade] = self._weights_of(measure, grade)
        return known[grade][rank - 1]

    def _weights_of(self, measure: str, grade: float) -> list[float]:
        """The values of rankings with one graded document, at each rank."""
        ranks = range(self.plan.depth)
        ranking = {f"d{rank}": float(-rank) for rank in ranks}
        scores = evaluate(
            {f"q{at:06}": {f"d{at}": grade} for at in ranks},
            {f"q{at:06}": ranking for at in ranks},
            self.measures[measure],
        )
        found: list[float] = scores[measure].tolist()
        return found


def additive(measures: Measures) -> dict[str, Any]:
    """{name: measure}. Raises MeasureError for one that is not a sum over documents."""
    found: dict[str, Any] = {}
    for bound in Selection(measures).bind("9.0.8"):
        adds = bound.measure.adds
        names = [name.decode() for name in bound.names]
        if adds is None or adds[0] not in SUMS or adds[1] not in DIVISORS:
            raise MeasureError(
                names[0], f"{names[0]!r} does not add over documents, as P@k, DCG@k and RBP do;"
                " for other measures let people judge queries: by='queries'"
            )  # fmt: skip
        found |= dict.fromkeys(names, measures)
    return found


def notes_of(sample: PairSample) -> Iterable[str]:
    """What a reader must know."""
    yield (
        f"assumed: people judged the {len(sample.pairs)} pairs that the plan drew at random;"
        " hand-picked ones give wrong estimates"
    )
    if sample.missing:
        yield (
            f"{sample.missing} sampled pairs have no grade: the probabilities are corrected as if"
            " they were missing at random"
        )
    if sample.outside:
        yield (
            f"{sample.outside} results of the runs are not in the pool of the plan: only the judge"
            " counts for them"
        )
