"""The result of a model in a task."""

from __future__ import annotations

from fastrank.common.messages import counted, visible
from fastrank.core.data.columns import Frozen
from fastrank.core.results.result import Result
from fastrank.core.results.table import Table, table_of_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt


class TaskResult(Result, Frozen):
    """The metrics of a model or of vectors in a task.

    name: of the task. kind: what evaluated it, such as "classification" or "pairs". protocol: what
    defines the metrics, such as "ulysses" or "mteb". metric, value: the main metric and its value.
    mean: {metric: value} of all metrics. std: the standard deviation of the main metric over
    trained classifiers, or None. interval: the bounds (low, high) of the main metric, or None;
    level: their confidence level, or None. values: {metric: list of float} of the metrics that are
    means, with a value for each trained classifier, triplet or row. similarities: {similarity:
    float32 array} with an item per pair, for evaluations of pairs. rows: the number of texts, pairs
    or triplets. classes: the labels, sorted, if they are classes. seed: of the random numbers, or
    None. seconds: the time that it took; with encoding only for classifiers. notes: a tuple of what
    a reader must know, which tables show. records: {column: list}, a table with more details than
    `values`, or None.

    >>> probed
    <TaskResult shift: classification, matthews 0.9040 ± 0.2035, 1,000 rows>
    >>> probed.metric, len(probed.values["matthews"]), probed.rows, probed.classes
    ('matthews', 5, 1000, [0, 1])
    >>> found = fr.tasks.evaluate_triplets(([[1, 0]], [[1, 1]], [[0, 1]]))
    >>> found.mean
    {'cosine_accuracy': 1.0}
    """

    name: str
    kind: str
    protocol: str
    metric: str
    value: float
    mean: dict[str, float]
    std: float | None = None
    interval: tuple[float, float] | None = None
    level: float | None = None
    values: dict[str, list[float]] = {}  # noqa: RUF012
    similarities: dict[str, npt.NDArray[Any]] = {}  # noqa: RUF012
    rows: int
    classes: list[object] = []  # noqa: RUF012
    seed: int | None = None
    seconds: float
    notes: tuple[str, ...] = ()
    records: dict[str, list[Any]] | None = None

    def details(self) -> Table:
        """A table of `records`, or with a row per value: task, item (from 1), metric, value.

        That of classifiers has the rows and columns of the package's `return_all_results`:
        task, kfold_repetition, kfold_partition, train_epoch (-1 for tests), metric and value.

        >>> probed.details().names[1:]
        ['kfold_repetition', 'kfold_partition', 'train_epoch', 'metric', 'value']
        >>> print(fr.tasks.evaluate_triplets(([[1, 0]], [[1, 1]], [[0, 1]])).details())
        task       item  metric             value
        -------  ------  ---------------  -------
        vectors       1  cosine_accuracy   1.0000
        """
        if self.records is not None:
            rows = len(next(iter(self.records.values()), []))
            return Table(columns={"task": [self.name] * rows, **self.records})
        items = [
            (self.name, item, metric, value)
            for metric, values in self.values.items()
            for item, value in enumerate(values, 1)
        ]
        return table_of_rows(("task", "item", "metric", "value"), items)

    def table(self) -> Table:
        """A table with a row per metric, the main one first, with its deviation and interval.

        >>> print(probed.table())
        task    metric      mean     std     low    high
        ------  --------  ------  ------  ------  ------
        shift   matthews  0.9040  0.2035  0.8101  1.2680
        shift   loss      0.1970
        """
        names = [self.metric, *(name for name in self.mean if name != self.metric)]
        columns: dict[str, list[Any]] = {
            "task": [self.name] * len(names),
            "metric": names,
            "mean": [self.mean[name] for name in names],
        }
        low, high = self.interval or (None, None)
        for name, value in (("std", self.std), ("low", low), ("high", high)):
            if value is not None:
                columns[name] = [value, *[None] * (len(names) - 1)]
        return Table(columns=columns, notes=self.notes)

    def to_dict(self) -> dict[str, Any]:
        """All fields but `records` and `similarities`, for JSON.

        >>> sorted(probed.to_dict())[:6]
        ['classes', 'interval', 'kind', 'level', 'mean', 'metric']
        """
        names = sorted(self.field_names - {"records", "similarities"})
        return {**{name: getattr(self, name) for name in names}, "notes": list(self.notes)}

    def __repr__(self) -> str:
        spread = "" if self.std is None else f" ± {self.std:.4f}"
        return (
            f"<TaskResult {visible(self.name)}: {self.kind}, {self.metric} {self.value:.4f}"
            f"{spread}, {counted(self.rows, 'row')}>"
        )
