"""Metrics for MLflow: any measure of fastrank, in `mlflow.models.evaluate` and `mlflow.genai`.

>>> from fastrank.compat.mlflow import ranking_metric, ranking_scorer
>>> ranking_metric("nDCG@10").eval_fn([["c", "b"]], [["a", "b"]]).scores
[0.386...
>>> ranking_scorer("RR")(outputs=["c", "b"], expectations={"expected_ids": ["a", "b"]})
0.5
"""

from __future__ import annotations

import re

from mlflow.genai.scorers import scorer
from mlflow.metrics import MetricValue, make_metric
from mlflow.metrics.base import standard_aggregations

from fastrank.compat.metric_names import is_greater_better
from fastrank.compat.retrieved import ListEvaluator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ranking_metric", "ranking_scorer"]


def ranking_metric(measure: str, **options: Any) -> Any:
    """A metric for `mlflow.models.evaluate(model_type="retriever", extra_metrics=[...])`.

    Predictions and targets are columns of lists of ids, as for MLflow's `ndcg_at_k`. measure: one
    measure; MLflow allows few characters in names, so that nDCG@10 is `nDCG_at_10`. options: those
    of `fastrank.evaluate`. Raises MeasureError and OptionError, and for a row without targets, or
    in which an id was retrieved twice, unless `duplicates="first"`, InputError or EvaluationError.
    """
    evaluator = ListEvaluator(measure, **options)

    def eval_fn(predictions: Any, targets: Any) -> Any:
        scores = evaluator.values(targets, predictions)
        return MetricValue(scores=scores, aggregate_results=standard_aggregations(scores))

    return make_metric(
        eval_fn=eval_fn,
        greater_is_better=is_greater_better(evaluator.name),
        name=_allowed(evaluator.name),
    )


def ranking_scorer(measure: str, *, expected: str = "expected_ids", **options: Any) -> Any:
    """A scorer for `mlflow.genai.evaluate`, with the name and the errors of `ranking_metric`.

    Outputs are ids, or documents with an id, such as those of a retriever span;
    `expectations[expected]` has the relevant ids.
    """
    evaluator = ListEvaluator(measure, **options)

    def score(outputs: Any, expectations: dict[str, Any]) -> float:
        (value,) = evaluator.values([expectations.get(expected)], [outputs])
        return value

    return scorer(score, name=_allowed(evaluator.name))


def _allowed(name: str) -> str:
    """The name of a metric in MLflow."""
    return re.sub(r"[^\w.: /-]", "_", name.replace("@", "_at_"))
