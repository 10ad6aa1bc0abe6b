"""The result of training classifiers on embeddings."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.lazy import optional
from fastrank.messages import counted
from fastrank.scores.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import pandas

TASK = "task"


class ProbeResult(Frozen):
    """Test values of the classifiers that a protocol trained on a task.

    name: of the task. protocol, metric: their names; metric is the main one. value, std: mean and
    standard deviation of the main metric. interval: the bounds (low, high) of the mean, or None;
    level: their confidence level, or None. values: {metric: list of float}, one value per trained
    classifier. rows: the number of texts or pairs. classes: the labels, sorted. seed: of the random
    numbers, or None. seconds: the time of encoding, training and
    tests. notes: a tuple of remarks about the
    result. records: {column: list}, a long table with more details than `values`, or None.

    >>> probed
    <ProbeResult shift: matthews 0.9040 ± 0.2035, 5 tests, protocol ulysses>
    >>> probed.metric, len(probed.values["matthews"]), probed.rows, probed.classes
    ('matthews', 5, 1000, [0, 1])
    """

    name: str
    protocol: str
    metric: str
    value: float
    std: float
    interval: tuple[float, float] | None = None
    level: float | None = None
    values: dict[str, list[float]]
    rows: int
    classes: list[Any]
    seed: int | None = None
    seconds: float
    notes: tuple[str, ...] = ()
    records: dict[str, list[Any]] | None = None

    @property
    def mean(self) -> dict[str, float]:
        """The mean of every metric."""
        found = {name: sum(values) / len(values) for name, values in self.values.items()}
        return {**found, self.metric: self.value}

    def frame(self) -> pandas.DataFrame:
        """A pandas frame with a row per value: task, experiment (from 1), metric and value.

        With protocol="ulysses" it has the rows and columns of the package's `return_all_results`:
        task, kfold_repetition, kfold_partition, train_epoch (-1 for tests), metric and value.

        >>> probed.frame().columns.tolist()[1:]
        ['kfold_repetition', 'kfold_partition', 'train_epoch', 'metric', 'value']
        """
        records = self.records
        if records is None:
            values_of_tests = [
                (place, metric, value)
                for metric, values in self.values.items()
                for place, value in enumerate(values, 1)
            ]
            columns = zip(*values_of_tests, strict=True)
            records = dict(zip(("experiment", "metric", "value"), map(list, columns), strict=True))
        rows = len(next(iter(records.values())))
        frames = optional("pandas", "ProbeResult.frame")
        return frames.DataFrame({TASK: [self.name] * rows, **records})

    def table(self) -> Table:
        """A table with a row per metric: its mean, and the interval of the main metric.

        >>> probed.table().names
        ['task', 'metric', 'mean', 'std', 'low', 'high']
        """
        means = self.mean
        names = [self.metric, *(name for name in means if name != self.metric)]
        columns: dict[str, list[Any]] = {
            TASK: [self.name] * len(names),
            "metric": names,
            "mean": [means[name] for name in names],
        }
        empty = [None] * (len(names) - 1)
        columns["std"] = [self.std, *empty]
        if self.interval is not None:
            columns["low"], columns["high"] = ([bound, *empty] for bound in self.interval)
        return Table(columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """All fields but the records, for JSON.

        >>> sorted(probed.to_dict())[:6]
        ['classes', 'interval', 'level', 'mean', 'metric', 'name']
        """
        kept = {name: getattr(self, name) for name in sorted(self.field_names - {"records"})}
        return {**kept, "notes": list(self.notes), "mean": self.mean}

    def __repr__(self) -> str:
        tests = counted(len(self.values[self.metric]), "test")
        return (
            f"<ProbeResult {self.name}: {self.metric} {self.value:.4f} ± {self.std:.4f},"
            f" {tests}, protocol {self.protocol}>"
        )
