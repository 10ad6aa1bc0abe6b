"""The result of evaluating similarities of texts."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.lazy import optional
from fastrank.messages import counted
from fastrank.scores.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    import numpy.typing as npt
    import pandas


class SimilarityResult(Frozen):
    """Metrics of the similarities of texts.

    name: of the task. kind: "similarity", "pairs", "triplets", "clustering", "bitext" or
    "summarization". protocol: what defines the metrics, "sentence-transformers" or "mteb". metric,
    value: the main metric and its value. mean: {metric: value} of all metrics. std: the standard
    deviation of the main metric over repetitions, or None. values: {metric: array} with the value
    of each triplet, text or repetition, for metrics that are means of such. similarities:
    {similarity: float32 array} with an item per pair, for evaluations of pairs. rows: the number of
    pairs, triplets or texts. seconds: the time without embedding. notes: a tuple of remarks.

    >>> found = fr.evaluate_triplets(([[1, 0]], [[1, 1]], [[0, 1]]))
    >>> found
    <SimilarityResult vectors: triplets, cosine_accuracy 1.0000, 1 row>
    >>> found.mean
    {'cosine_accuracy': 1.0}
    """

    defaults: ClassVar[dict[str, Any]] = {
        "interval": None, "level": None, "notes": (), "similarities": {}, "std": None, "values": {},
    }  # fmt: skip

    name: str
    kind: str
    protocol: str
    metric: str
    value: float
    mean: dict[str, float]
    std: float | None
    interval: tuple[float, float] | None
    level: float | None
    values: dict[str, npt.NDArray[Any]]
    similarities: dict[str, npt.NDArray[Any]]
    rows: int
    seconds: float
    notes: tuple[str, ...]

    def frame(self) -> pandas.DataFrame:
        """A pandas frame with a row per value of a triplet, text or repetition, counted from 1.

        >>> fr.evaluate_triplets(([[1, 0]], [[1, 1]], [[0, 1]])).frame()
              task  item           metric  value
        0  vectors     1  cosine_accuracy    1.0
        """
        frames = optional("pandas", "SimilarityResult.frame")
        rows = [
            (self.name, item, metric, value)
            for metric, values in self.values.items()
            for item, value in enumerate(values.tolist(), 1)
        ]
        return frames.DataFrame(rows, columns=["task", "item", "metric", "value"])

    def table(self) -> Table:
        """A table with a row per metric, the main one first.

        >>> print(fr.evaluate_triplets(([[1, 0]], [[1, 1]], [[0, 1]])).table())
        task     metric             mean
        -------  ---------------  ------
        vectors  cosine_accuracy  1.0000
        """
        names = [self.metric, *(name for name in self.mean if name != self.metric)]
        columns: dict[str, list[Any]] = {
            "task": [self.name] * len(names),
            "metric": names,
            "mean": [self.mean[name] for name in names],
        }
        if self.std is not None:
            columns["std"] = [self.std, *[None] * (len(names) - 1)]
        return Table(columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """All fields but the values of single rows, for JSON.

        >>> found = fr.evaluate_triplets(([[1, 0]], [[1, 1]], [[0, 1]])).to_dict()
        >>> found["kind"], found["metric"], found["value"]
        ('triplets', 'cosine_accuracy', 1.0)
        """
        kept = sorted(self.field_names - {"similarities", "values"})
        return {**{name: getattr(self, name) for name in kept}, "notes": list(self.notes)}

    def __repr__(self) -> str:
        return (
            f"<SimilarityResult {self.name}: {self.kind}, {self.metric} {self.value:.4f},"
            f" {counted(self.rows, 'row')}>"
        )


def main_metric(similarities: tuple[str, ...], metric: str, mean: dict[str, float]) -> str:
    """The name of the main metric: of the only similarity, or the highest of several."""
    name = f"{similarities[0] if len(similarities) == 1 else 'max'}_{metric}"
    assert name in mean
    return name
