"""Evaluate models on tasks."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from time import perf_counter

from fastrank.common.parallel import outcomes
from fastrank.common.progress import bar
from fastrank.core.formats.tools.candidates import Candidates
from fastrank.core.results.table import distinct
from fastrank.errors import OptionError, TaskError
from fastrank.vectors.datasets.dataset import Dataset
from fastrank.vectors.datasets.text_task import TextTask, labels_of
from fastrank.vectors.embeddings.encoders import check_model, needs_fitting
from fastrank.vectors.embeddings.text_vectors import are_vectors
from fastrank.vectors.tasks.metrics import binary_array, number_array
from fastrank.vectors.tasks.results import TABLE_COLUMNS, TaskResults, score_of
from fastrank.vectors.tasks.task import MEASURES, Task, as_task, evaluator

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from typing import Any

    from fastrank.vectors.tasks.results import TaskScore

ONE_TASK = (Task, Dataset, Candidates, TextTask)
# The most texts that `evaluate_model` encodes to check a model.
FEW_TEXTS = 2
# Options that depend on the dimension of the vectors of the real model.
OF_DIMENSION = {"index_factory", "parameters", "train_size"}
# Labels that the functions check after encoding.
LABELS = {"similarity": ("scores", number_array), "pairs": ("labels", binary_array)}


def evaluate_tasks(
    model: Any,
    tasks: Mapping[str, Any] | Iterable[Any],
    *,
    batch_size: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    cache_name: str | None = None,
    executor: Any = None,
    progress: bool | None = None,
) -> TaskResults:
    """Evaluate a model, or several, on tasks of any kind: one table with a row per task.

    model: a model as in `evaluate_model`, or several: {name: model}. Vectors are not accepted,
        because each task has its own texts.
    tasks: {name: task} or a list of tasks. A task is a Dataset (retrieval), Candidates (reranking),
        or a `Task`, which states its kind and options.
    batch_size: the number of texts to encode at once; the option of a Task has precedence.
    cache, cache_name: as in `evaluate_model`, for all tasks. The vectors of several models are
        cached under their names, so that cache_name is for one model only. Models that are fitted
        on a task are not cached.
    executor: evaluates each model on each task in a worker, see docs/scale-out.md. Processes get
        the models and tasks pickled.
    progress: whether to show progress bars; by default on a terminal for long work.

    Each result is that of the function of the task's kind. All tasks are checked before the first
    text is encoded, but for what depends on the vectors, such as the index.

    Raises TypeError for an object that is not a model or a task; OptionError for an invalid option
    or name; TaskError, which names the task, for any error in a task. Its attribute `before` has
    the results of the tasks that are evaluated by then.

    >>> def letters(texts):
    ...     return [[1 + text.count(letter) for letter in "aeilmor"] for text in texts]
    >>> cities = fr.Dataset.from_texts(
    ...     {"d1": "Oslo", "d2": "Madrid", "d3": "Lima"},
    ...     {"q1": "Oslo!", "q2": "to Lima"}, {"q1": {"d1": 1}, "q2": {"d3": 1}},
    ... )
    >>> words = ["a mole", "a lamp", "real"], ["moles", "a room", "ii"], [4.5, 2.0, 1.0]
    >>> tasks = {"cities": cities, "words": fr.Task("similarity", words)}
    >>> results = fr.evaluate_tasks(letters, tasks)
    >>> print(results.table(columns=("task", "kind", "metric", "score", "rows")))
    task             kind        metric             score    rows
    ---------------  ----------  ---------------  -------  ------
    cities           retrieval   nDCG@10           1.0000       2
    words            similarity  cosine_spearman   1.0000       3
    mean over tasks                                1.0000
    mean over kinds                                1.0000
    """
    models = _models(model, cache, cache_name)
    by_name = _tasks(tasks)
    _check(models, by_name)
    scores: list[TaskScore] = []
    items = [(model, name, task) for model in models for name, task in by_name.items()]
    # The bars of several workers would overwrite each other.
    inner = progress if executor is None else False
    common = {"batch_size": batch_size, "cache": cache, "progress": inner}
    results = outcomes(executor, _evaluate_item, items, shared=(models, common), chunk_size=1)
    with closing(results), bar("evaluate", len(items), "tasks", progress) as shown:
        for (model_name, name, _), (score, error) in zip(items, results, strict=True):
            if error is not None:
                failed = TaskError(name, model_name, _reason(error))
                failed.before = TaskResults(scores=scores) if scores else None
                raise failed from error
            scores.append(score)
            shown.update(1)
    return TaskResults(scores=scores)


def _evaluate_item(shared: Any, item: tuple[str, str, Task]) -> TaskScore:
    """The score of a model in a task, in a worker."""
    (models, common), (model_name, name, task) = shared, item
    model, cached_as = models[model_name]
    options = {**common, "cache_name": cached_as, **task.options}
    if task.kind not in MEASURES:
        options["name"] = name
    cached = task.kind == "classification" and common["cache"] is not None
    if cached and needs_fitting(model, task.data.texts[0]):
        # It is fitted on each training part, so that there are no vectors to cache.
        options["cache"] = options["cache_name"] = None
    start = perf_counter()
    result = evaluator(task.kind)(model, task.data, **options)
    return score_of(result, task, name, model_name, perf_counter() - start)


def _models(
    source: Any, cache: object, cache_name: str | None
) -> dict[str, tuple[Any, str | None]]:
    """The models by name, each with its name in the cache. Raises OptionError, TypeError."""
    if not isinstance(source, Mapping):
        if (cache is None) != (cache_name is None):
            absent = "cache" if cache is None else "cache_name"
            raise OptionError(absent, "cache and cache_name must be given together")
        models = {cache_name or _name_of(source): (source, cache_name)}
    else:
        if cache_name is not None and (cache is None or len(source) != 1):
            reason = "only for one model with a cache; several are cached under their names"
            raise OptionError("cache_name", reason)
        models = {
            str(name): (model, None if cache is None else cache_name or str(name))
            for name, model in source.items()
        }
    if not models:
        raise OptionError("model", "expected at least one model, found none")
    for name, (model, _) in models.items():
        if name in TABLE_COLUMNS:
            raise OptionError("model", f"{name!r} is a column of the tables; rename the model")
        if are_vectors(model):
            raise TypeError(f"model {name!r}: expected a model, found vectors")
        check_model(model)
    return models


def _name_of(model: object) -> str:
    """A name for a model that has none."""
    if isinstance(model, (tuple, list)):
        return "model"
    name = getattr(model, "__name__", type(model).__name__)
    return name if name.isidentifier() else "model"


def _tasks(source: Any) -> dict[str, Task]:
    """The tasks by name. Raises OptionError, TypeError."""
    if isinstance(source, Mapping):
        by_name = {str(name): as_task(item) for name, item in source.items()}
        if len(by_name) < len(source):
            raise OptionError("tasks", "expected distinct names")
    else:
        items = [source] if isinstance(source, ONE_TASK) else list(source)
        tasks = [as_task(item) for item in items]
        by_name = dict(zip(distinct(task.name for task in tasks), tasks, strict=True))
    if not by_name:
        raise OptionError("tasks", "expected at least one task, found none")
    return by_name


def _check(models: Mapping[str, tuple[Any, Any]], tasks: Mapping[str, Task]) -> None:
    """Raise TaskError for a task that is invalid for one of the models."""
    counts = {
        len(model) if isinstance(model, (tuple, list)) else None for model, _ in models.values()
    }
    for name, task in tasks.items():
        for count in counts:
            try:
                _check_task(task, name, count)
            except Exception as error:
                raise TaskError(name, None, _reason(error)) from error


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


class _FirstTextError(Exception):
    """All checks before encoding have passed."""


class _StandIn:
    """In place of a model: it has vectors for a few texts and ends an evaluation that has more."""

    def __init__(self, most: int) -> None:
        self._most = most

    def encode(self, texts: list[str]) -> list[list[float]]:
        """Vectors of two dimensions."""
        if len(texts) > self._most:
            raise _FirstTextError
        return [[1.0, 1.0 + row] for row in range(len(texts))]


def _check_task(task: Task, name: str, models: int | None) -> None:
    """Raise what the evaluation of a task raises before a model encodes its first text.

    models: how many models encode the texts of a row, or None if it is the same model.
    """
    if task.kind in LABELS:
        label_name, check = LABELS[task.kind]
        check(label_name, labels_of(task.data, name))
    ranks = task.kind in MEASURES
    standin = _StandIn(FEW_TEXTS if ranks else 0)
    options = {key: value for key, value in task.options.items() if key not in OF_DIMENSION}
    if not ranks:
        options["name"] = name
    model = standin if models is None else (standin,) * models
    try:
        evaluator(task.kind)(model, task.data, progress=False, **options)
    except _FirstTextError:
        return
