"""The similarity functions of sentence-transformers and MTEB, which name them alike."""

from __future__ import annotations

from fastrank.errors import OptionError
from fastrank.searching.vectors import METRICS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.choices import Metric

BY_METRIC: dict[Metric, str] = {"cosine": "cosine", "ip": "dot", "l2": "euclidean"}


def metric_of(similarity: Any) -> Metric:
    """The metric for the similarity function of a model. Raises OptionError if there is none."""
    wanted = getattr(similarity, "value", similarity)
    for metric, name in BY_METRIC.items():
        if wanted == name:
            return metric
    expected = ", ".join(map(repr, METRICS))
    reason = f"the model's similarity function is {wanted!r}; give one of {expected}"
    raise OptionError("metric", reason)
