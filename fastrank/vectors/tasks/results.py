"""The results of models in tasks: scores, averages, tables and comparisons."""

from __future__ import annotations

from collections import Counter

import numpy

from fastrank.analysis.comparing.bootstrap import all_the_same, t_interval
from fastrank.analysis.comparing.compare import compare_scores
from fastrank.analysis.comparing.inputs import better_of
from fastrank.analysis.comparing.paired import moments
from fastrank.common.arguments import flag
from fastrank.common.keywords import option_hint
from fastrank.common.messages import counted, visible
from fastrank.core.data.columns import Frozen, WithDropped
from fastrank.core.results.result import Result
from fastrank.core.results.table import Table, best_rows
from fastrank.core.scores.scores import Scores
from fastrank.core.scores.text import named_notes, notes, warn_of_mean
from fastrank.errors import OptionError
from fastrank.vectors.tasks.result import TaskResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.analysis.comparing.options import ComparisonOptions
    from fastrank.vectors.tasks.task import Task

# The level of intervals of means over queries or rows.
LEVEL = 0.95
MEAN_OF_TASKS, MEAN_OF_KINDS = "mean over tasks", "mean over kinds"
COLUMNS = ("task", "kind", "metric", "score", "low", "high", "rows", "seconds")
# Columns beside those of models.
TABLE_COLUMNS = {"kind", "mean", "metric", "task", "tasks"}
# Their values belong to rows, not to repetitions.
OF_ROWS = ("triplets", "bitext")


class TaskScore(Frozen):
    """The main score of a model in a task.

    model, task, kind: their names. metric, value: the main score. interval: its bounds (low, high),
    or None; level: its confidence level, or None. rows: the number of evaluated queries, or of
    texts, pairs or triplets. seconds: the time with encoding. result: what the function of the kind
    returns: Scores or TaskResult.

    The interval is that of the result if it has one (the protocol of Ulysses SentEval: 99 %), else
    Student's t interval (95 %) if the score is a mean over queries or rows.

    >>> score = results["cities", "letters"]
    >>> score
    <TaskScore cities, letters: nDCG@10 1.0000>
    >>> score.items
    {'q1': 1.0, 'q2': 1.0}
    """

    model: str
    task: str
    kind: str
    metric: str
    value: float
    interval: tuple[float, float] | None
    level: float | None
    rows: int
    seconds: float
    result: Scores | TaskResult

    @property
    def items(self) -> dict[str, float] | None:
        """The value of each query or row (from 1), if the score is their mean; else None."""
        return _items(self.result, self.metric)

    def __repr__(self) -> str:
        names = visible(f"{self.task}, {self.model}: {self.metric}")
        return f"<TaskScore {names} {self.value:.4f}>"


class TaskResults(Result, WithDropped):
    """The scores of one or several models in tasks.

    scores: a list of TaskScore, in the order of evaluation. `results["task"]` is the TaskScore of
    the only model, and `results["task", "model"]` that of one of several.

    >>> results
    <TaskResults: 2 tasks, 2 models>
    >>> print(results)
    task             kind        metric             letters    length
    ---------------  ----------  ---------------  ---------  --------
    cities           retrieval   nDCG@10             1.0000    0.5655
    words            similarity  cosine_spearman     1.0000    0.5000
    mean over tasks                                  1.0000    0.5327
    mean over kinds                                  1.0000    0.5327
    <BLANKLINE>
    cities of length: nDCG@10 depends on tied scores: 0.5000 to 0.6309, here 0.5655;
    ties='average' gives the expected value
    >>> results["words", "letters"]
    <TaskScore words, letters: cosine_spearman 1.0000>
    """

    scores: list[TaskScore]

    @property
    def models(self) -> list[str]:
        """The names of the models."""
        return list(dict.fromkeys(score.model for score in self.scores))

    @property
    def tasks(self) -> list[str]:
        """The names of the tasks."""
        return list(dict.fromkeys(score.task for score in self.scores))

    def __iter__(self) -> Iterator[TaskScore]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, key: str | tuple[str, str]) -> TaskScore:
        task, model = key if isinstance(key, tuple) else (key, None)
        _check_name("task", task, self.tasks)
        if model is None:
            if len(self.models) > 1:
                raise OptionError("model", f"expected one of {', '.join(self.models)}, found none")
            model = self.models[0]
        _check_name("model", model, self.models)
        for score in self.scores:
            if (score.task, score.model) == (task, model):
                return score
        raise OptionError("task", f"{task!r} is not evaluated for model {model!r}")

    @property
    def mean(self) -> dict[str, float]:
        """{model: mean of the main scores over its tasks}.

        >>> {model: round(value, 4) for model, value in results.mean.items()}
        {'letters': 1.0, 'length': 0.5327}

        Warns as `Scores.mean`.
        """
        for score in self.scores:
            if isinstance(score.result, Scores):
                warn_of_mean(score.result)
        return {model: _mean([score.value for score in self._of(model)]) for model in self.models}

    @property
    def kind_means(self) -> dict[str, dict[str, float]]:
        """{model: {kind: mean of the main scores over the tasks of this kind}}.

        >>> results.kind_means["letters"]
        {'retrieval': 1.0, 'similarity': 1.0}
        """
        means: dict[str, dict[str, float]] = {}
        for model in self.models:
            values: dict[str, list[float]] = {}
            for score in self._of(model):
                values.setdefault(score.kind, []).append(score.value)
            means[model] = {kind: _mean(of_kind) for kind, of_kind in values.items()}
        return means

    def table(
        self,
        *,
        columns: Sequence[str] = COLUMNS,
        means: bool = True,
        digits: int = 4,
        bold: bool = True,
    ) -> Table:
        """A table with a row per task, then the means; with several models, a column for each.

        columns: of a table of one model; several models have `task`, `kind`, `metric` and their
            scores. `details` has all columns of all models.
        means: whether to add the rows of the means over tasks and over kinds. They average main
            scores of different metrics, as MTEB's leaderboard does.
        digits, bold: as in `fastrank.table`; the best model of each task is bold.

        >>> print(results.table(means=False, digits=2).to_markdown())
        | task   | kind       | metric          |   letters |   length |
        |:-------|:-----------|:----------------|----------:|---------:|
        | cities | retrieval  | nDCG@10         |  **1.00** |     0.57 |
        | words  | similarity | cosine_spearman |  **1.00** |     0.50 |
        <BLANKLINE>
        cities of length: nDCG@10 depends on tied scores: ...
        """
        several = len(self.models) > 1
        if several:
            rows: list[dict[str, object]] = [
                {
                    "task": first.task,
                    "kind": first.kind,
                    "metric": first.metric,
                    **{score.model: score.value for score in self.scores if score.task == task},
                }
                for task, first in ((task, self._first(task)) for task in self.tasks)
            ]
            names = ["task", "kind", "metric", *self.models]
        else:
            rows = [_row(score) for score in self.scores]
            for name in columns:
                _check_name("columns", name, list(COLUMNS))
            names = [
                name
                for name in columns
                if name not in ("low", "high") or any(row[name] is not None for row in rows)
            ]
        if flag("means", means) and len(self.tasks) > 1:
            mean_rows = self._means()
            for name in (MEAN_OF_TASKS, MEAN_OF_KINDS):
                cells = mean_rows[name] if several else {"score": mean_rows[name][self.models[0]]}
                rows.append({"task": name, **cells})
        best = self._best(rows, 3, digits) if flag("bold", bold) and several else frozenset()
        filled = {name: [row.get(name) for row in rows] for name in names}
        return Table(columns=filled, digits=digits, bold=best, notes=self._notes())

    def _notes(self, task: str | None = None) -> tuple[str, ...]:
        """What a reader must know of all results, or of those in a task."""
        several = len(self.models) > 1
        chosen: list[Any] = [score for score in self.scores if task in (None, score.task)]
        names = [score.task + f" of {score.model}" * several for score in chosen]
        return tuple(named_notes(names, chosen, _notes_of))

    def means(self, *, digits: int = 4) -> Table:
        """A table of the means: of each kind, over tasks, and over kinds (each kind counts once).

        >>> print(results.means())
        mean               tasks    letters    length
        ---------------  -------  ---------  --------
        retrieval              1     1.0000    0.5655
        similarity             1     1.0000    0.5000
        mean over tasks        2     1.0000    0.5327
        mean over kinds        2     1.0000    0.5327
        <BLANKLINE>
        cities of length: nDCG@10 depends on tied scores: ...
        """
        counts = Counter(self._first(task).kind for task in self.tasks)
        mean_rows = self._means()
        columns: dict[str, list[object]] = {
            "mean": list(mean_rows),
            "tasks": [*counts.values(), len(self.tasks), len(self.tasks)],
            **{
                model: [values.get(model) for values in mean_rows.values()] for model in self.models
            },
        }
        best = self._best(list(mean_rows.values()), 2, digits)
        return Table(columns=columns, digits=digits, bold=best, notes=self._notes())

    def details(self, *, digits: int = 4) -> Table:
        """A table with a row per model and task, with all columns.

        >>> results.details().names[-5:]
        ['low', 'high', 'level', 'rows', 'seconds']
        """
        rows = [
            {"model": score.model, **_row(score), "level": score.level} for score in self.scores
        ]
        names = ["model", *COLUMNS[:-2], "level", *COLUMNS[-2:]]
        columns = {name: [row[name] for row in rows] for name in names}
        return Table(columns=columns, digits=digits, notes=self._notes())

    def compare(self, task: str | None = None, **options: Unpack[ComparisonOptions]) -> Comparison:
        """Compare the models by their values per query or row of a task, or per task.

        task: a task whose score is a mean over queries or rows: retrieval, reranking, triplets,
            and the accuracy of bitext. None compares the models on the main scores of all tasks,
            one value per task.
        **options: as in `compare_scores`.

        Raises OptionError for an unknown task, and one whose score is not a mean over rows; what
        `compare_scores` raises.

        >>> found = results.compare("cities").pair("nDCG@10", "letters", "length")
        >>> round(found.difference, 4)
        0.4345
        """
        if task is None:
            values: Any = {}
            for score in self.scores:
                if _lower(score.metric):
                    reason = f"lower is better for {score.metric} of {score.task!r}"
                    raise OptionError("task", reason + self._comparable())
                values.setdefault(score.model, {})[score.task] = score.value
            return self._compared(values, task, options)
        values = {}
        for model in self.models:
            score = self[task, model]
            items = score.items
            if items is None:
                reason = f"{score.metric} of {task!r} is not a mean over queries or rows"
                raise OptionError("task", reason + self._comparable())
            values[model] = {item: {score.metric: value} for item, value in items.items()}
        return self._compared(values, task, options)

    def _compared(self, values: Any, task: str | None, options: ComparisonOptions) -> Comparison:
        """The comparison of values, with the notes on them."""
        comparison = compare_scores(values, **options)
        comparison.notes.extend(self._notes(task))
        return comparison

    def _comparable(self) -> str:
        """`; give one of ...`: the tasks that `compare` can compare by themselves."""
        without = {score.task for score in self.scores if score.items is None}
        names = ", ".join(repr(task) for task in self.tasks if task not in without)
        return f"; give one of {names}" if names else ""

    def __repr__(self) -> str:
        tasks, models = counted(len(self.tasks), "task"), counted(len(self.models), "model")
        return f"<TaskResults: {tasks}, {models}>"

    def _of(self, model: str) -> list[TaskScore]:
        return [score for score in self.scores if score.model == model]

    def _first(self, task: str) -> TaskScore:
        return next(score for score in self.scores if score.task == task)

    def _means(self) -> dict[str, dict[str, float]]:
        """{kind: {model: mean}}, and the same of the means over tasks and over kinds."""
        of_models = self.kind_means
        kinds = dict.fromkeys(self._first(task).kind for task in self.tasks)
        by_kind = {
            kind: {model: values[kind] for model, values in of_models.items() if kind in values}
            for kind in kinds
        }
        over_kinds = {model: _mean(list(values.values())) for model, values in of_models.items()}
        return {**by_kind, MEAN_OF_TASKS: self.mean, MEAN_OF_KINDS: over_kinds}

    def _best(
        self, rows: Sequence[Mapping[str, Any]], first: int, digits: int
    ) -> frozenset[tuple[int, int]]:
        """The cells of the best models of each row, and of those that are equal when rounded.

        first: the column of the first model.
        """
        cells: set[tuple[int, int]] = set()
        for i, row in enumerate(rows):
            better = "lower" if "metric" in row and _lower(row["metric"]) else "higher"
            columns = best_rows([row.get(model) for model in self.models], better, digits)
            cells.update((i, first + column) for column in columns)
        return frozenset(cells)


def score_of(result: Any, task: Task, name: str, model: str, seconds: float) -> TaskScore:
    """The main score of a result. Raises OptionError if the result lacks it."""
    metric = task.main_score or result.metric
    mean = result.mean
    if metric not in mean:
        expected = f"expected one of {', '.join(mean)}, found {metric!r}"
        raise OptionError("main_score", expected + option_hint(metric, mean))
    interval, level = None, None
    if not isinstance(result, Scores) and result.interval and metric == result.metric:
        interval, level = result.interval, result.level
    else:
        items = _items(result, metric)
        if items is not None and len(items) > 1:
            interval = _interval(list(items.values()))
            level = LEVEL if interval else None
    rows = len(result.queries) if isinstance(result, Scores) else result.rows
    return TaskScore(
        model=model,
        task=name,
        kind=task.kind,
        metric=metric,
        value=float(mean[metric]),
        interval=interval,
        level=level,
        rows=rows,
        seconds=seconds,
        result=result,
    )


def _notes_of(score: Any) -> list[str]:
    """The notes on the main score."""
    result = score.result
    return notes(result, score.metric) if isinstance(result, Scores) else list(result.notes)


def _items(result: object, metric: str) -> dict[str, float] | None:
    if isinstance(result, Scores):
        averages = {
            name.decode(): bound.measure.average for bound in result.bound for name in bound.names
        }
        if averages.get(metric) != "mean":
            return None
        return dict(zip(result.queries, result[metric].tolist(), strict=True))
    if not isinstance(result, TaskResult) or result.kind not in OF_ROWS:
        return None
    if metric not in result.values or len(result.values[metric]) != result.rows:
        return None
    return {str(row): value for row, value in enumerate(result.values[metric], 1)}


def _interval(values: list[float]) -> tuple[float, float] | None:
    """Student's t interval of a mean, or that of Clopper and Pearson if all values are 0 or 1.

    None if all values are another number: they do not tell how far others may be from it.
    """
    if len(set(values)) == 1:
        if values[0] not in (0.0, 1.0):
            return None
        return all_the_same(values[0], len(values), 0.0, 1.0, LEVEL)
    low, high = t_interval(moments(numpy.array([values])), LEVEL)
    return float(low[0]), float(high[0])


def _row(score: TaskScore) -> dict[str, object]:
    """The cells of a score."""
    low, high = score.interval or (None, None)
    values = (
        score.task,
        score.kind,
        score.metric,
        score.value,
        low,
        high,
        score.rows,
        score.seconds,
    )
    return dict(zip(COLUMNS, values, strict=True))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _lower(metric: str) -> bool:
    """Whether lower values of a metric are better."""
    return metric == "loss" or better_of(metric) == "lower"


def _check_name(option: str, name: str, names: list[str]) -> None:
    if name not in names:
        reason = f"expected one of {', '.join(names)}, found {name!r}"
        raise OptionError(option, reason + option_hint(name, names))
