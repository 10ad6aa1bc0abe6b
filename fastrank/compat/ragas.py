"""A metric for ragas that compares ids: any measure of fastrank.

>>> from ragas import SingleTurnSample
>>> from fastrank.compat.ragas import RankingMetric
>>> ids = {"reference_context_ids": ["a", "b"], "retrieved_context_ids": ["c", "b"]}
>>> RankingMetric("RR").single_turn_score(SingleTurnSample(**ids))
0.5
"""

from __future__ import annotations

from ragas.metrics.base import MetricOutputType, MetricType, SingleTurnMetric

from fastrank.compat.retrieved import ListEvaluator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["RankingMetric"]

COLUMNS = ("reference_context_ids", "retrieved_context_ids")


class RankingMetric(SingleTurnMetric):
    """A metric of `reference_context_ids` and `retrieved_context_ids`, for `ragas.evaluate`.

    measure: one measure; its name is the metric's. options: those of `fastrank.evaluate`.

    The constructor raises MeasureError and OptionError. Scoring a sample raises InputError without
    reference ids, and if an id was retrieved twice, unless `duplicates="first"`. Nothing retrieved
    counts 0; ragas' own metrics have NaN.
    """

    def __init__(self, measure: str, **options: Any) -> None:
        self._evaluator = ListEvaluator(measure, **options)
        super().__init__(
            _required_columns={MetricType.SINGLE_TURN: set(COLUMNS)}, name=self._evaluator.name
        )
        self.output_type = MetricOutputType.CONTINUOUS

    def init(self, run_config: Any) -> None:
        """Nothing to prepare."""

    async def _single_turn_ascore(self, sample: Any, callbacks: Any) -> float:  # noqa: ARG002
        expected, retrieved = (getattr(sample, name) for name in COLUMNS)
        (score,) = self._evaluator.values([expected], [retrieved])
        return score
