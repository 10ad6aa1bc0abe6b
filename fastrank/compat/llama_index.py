"""A metric for LlamaIndex's RetrieverEvaluator: any measure of fastrank.

>>> from fastrank.compat.llama_index import RankingMetric
>>> metric = RankingMetric("nDCG@10")
>>> metric.compute(expected_ids=["n1", "n4"], retrieved_ids=["n4", "n2", "n1"]).score
0.9197207891481876
"""

from __future__ import annotations

from llama_index.core.evaluation.retrieval.metrics_base import (
    BaseRetrievalMetric,
    RetrievalMetricResult,
)
from pydantic import PrivateAttr

from fastrank.compat.retrieved import ListEvaluator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["RankingMetric"]


class RankingMetric(BaseRetrievalMetric):
    """A metric of expected and retrieved ids, for `RetrieverEvaluator(metrics=[...])`.

    measure: one measure; its name is the metric's. options: those of `fastrank.evaluate`.

    The constructor raises MeasureError and OptionError. `compute` raises InputError without
    expected ids, and if an id was retrieved twice, unless `duplicates="first"`. Nothing retrieved
    counts 0; LlamaIndex's own metrics raise ValueError.
    """

    measure: str
    _evaluator: Any = PrivateAttr()

    def __init__(self, measure: str, **options: Any) -> None:
        evaluator = ListEvaluator(measure, **options)
        super().__init__(measure=evaluator.name)
        self._evaluator = evaluator

    @property
    def metric_name(self) -> str:
        """The name of the measure."""
        return self.measure

    def compute(
        self,
        query: str | None = None,  # noqa: ARG002
        expected_ids: list[str] | None = None,
        retrieved_ids: list[str] | None = None,
        *others: Any,  # noqa: ARG002
        **options: Any,  # noqa: ARG002
    ) -> RetrievalMetricResult:
        """The value of one query, of which only the ids count."""
        (score,) = self._evaluator.values([expected_ids], [retrieved_ids])
        return RetrievalMetricResult(score=score)
