"""The input of a task: vectors, from a model or as given, and labels; and its options."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter

import numpy

from fastrank.common.keywords import Keyword, pick
from fastrank.core.data.columns import Frozen
from fastrank.errors import ArrayError, InputError, OptionError
from fastrank.vectors.datasets.text_task import (
    TextTask,
    as_text_task,
    check_labels,
    labels_of,
)
from fastrank.vectors.embeddings.text_vectors import (
    EncodingOptions,
    are_vectors,
    encode_task,
    part_name,
    refuse_encoding,
    vectors_of,
)
from fastrank.vectors.searching.vectors import SYNONYMS
from fastrank.vectors.tasks.result import TaskResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from fastrank.common.arrays import Array

VECTORS = "vectors"
# In the order of the kernels' columns.
SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")
DISTANCES = ("euclidean", "manhattan")


class TaskOptions(EncodingOptions, total=False):
    """Options of evaluations that encode the texts of a task."""

    name: str | None


class PairOptions(TaskOptions, total=False):
    """Options of evaluations that compare the vectors of a row."""

    similarities: str | tuple[str, ...]


def similarity_name(name: str) -> str:
    """The name of a similarity, which may be that of the metric of a search or a synonym."""
    metric = SYNONYMS.get(name, name)
    return {"ip": "dot", "l2": "euclidean"}.get(metric, metric)


def checked_similarities(name: str, value: str | Iterable[str]) -> tuple[str, ...]:
    """The names of similarities as a tuple. Raises OptionError."""
    names = tuple(map(similarity_name, (value,) if isinstance(value, str) else value))
    expected = ", ".join(map(repr, SIMILARITIES))
    if not names:
        raise OptionError(name, f"expected at least one of {expected}")
    for similarity in names:
        if similarity not in SIMILARITIES:
            raise OptionError(name, f"expected {expected}, found {similarity!r}")
    if len(set(names)) < len(names):
        raise OptionError(name, "expected distinct names")
    return names


TASK = (
    Keyword(
        "similarities",
        ("cosine",),
        """one or several of "cosine", "dot", "euclidean" and "manhattan", or the names of these as
        metrics of a search. They are computed in double precision and rounded once to float32; the
        cosine with a zero vector is 0.""",
        check=checked_similarities,
    ),
    Keyword("name", None, "the name of the task, for messages and tables."),
    Keyword(
        "batch_size",
        None,
        "the number of texts to encode at once, passed to the model if it takes it.",
        least=1,
    ),
    Keyword(
        "prompt",
        None,
        "passed to the model as `prompt` if it takes that, else prepended to each text.",
    ),
    Keyword(
        "cache",
        None,
        "a folder in which to cache vectors, as in `evaluate_model`; with `cache_name`.",
    ),
    Keyword("cache_name", None, "a name for the model and its settings in the cache."),
    Keyword(
        "progress",
        None,
        "whether to show a progress bar; by default on a terminal for long encoding.",
    ),
)


class TaskRows(Frozen):
    """The rows of a task.

    name: for messages and tables. vectors: an array per text of a row. labels: as given, or None.
    started: when they were read, after encoding, in seconds of `time.perf_counter`.
    """

    name: str
    vectors: tuple[Array, ...]
    labels: Any
    started: float

    def __len__(self) -> int:
        return len(self.vectors[0])

    def result(
        self, kind: str, protocol: str, metric: str, mean: dict[str, float], **fields: Any
    ) -> TaskResult:
        """The result of an evaluation of these rows that has the main metric in its means."""
        return TaskResult(
            name=self.name,
            kind=kind,
            protocol=protocol,
            metric=metric,
            value=mean[metric],
            mean=mean,
            rows=len(self),
            seconds=perf_counter() - self.started,
            **fields,
        )


def read_task(
    model_or_vectors: Any, task: Any, options: Mapping[str, Any], *, texts: int, labels: bool
) -> TaskRows:
    """The rows of a task with their vectors, and their labels or None.

    texts: how many texts a row must have. labels: whether the task must have labels. Vectors that
    are given as float32 are not checked for NaN. Raises what `encode_task` raises, and InputError
    and ArrayError for the wrong number of texts, rows or columns and for missing labels.
    """
    encoding = pick(options, EncodingOptions)
    if are_vectors(model_or_vectors):
        refuse_encoding(encoding)
        return rows_of_vectors(model_or_vectors, task, options["name"], texts, labels)
    if task is None:
        raise TypeError("task: expected texts, because a model is given")
    if isinstance(task, tuple) and len(task) != texts + labels:
        columns = f"{texts} columns of texts{' and one of labels' * labels}"
        raise InputError(options["name"] or "task", f"expected {columns}, found {len(task)}")
    text_task = as_text_task(task, labels=labels)
    name = options["name"] or text_task.name
    _check(name, text_task, texts, labels)
    vectors = encode_task(model_or_vectors, text_task, **encoding)
    return TaskRows(name=name, vectors=vectors, labels=text_task.labels, started=perf_counter())


def rows_of_vectors(
    vectors: Any,
    task: Any,
    name: str | None,
    texts: int | None = None,
    labels: bool = True,
    unnamed: str = VECTORS,
) -> TaskRows:
    """The rows of given vectors and of their labels.

    task: the labels, or a TextTask or a table that has them. texts: how many vectors a row must
    have, of one dimension; by default any number, also of different dimensions. labels: whether
    there must be labels. unnamed: the name of what has none. Raises ArrayError and InputError.
    """
    if not (task is None or isinstance(task, TextTask) or _are_labels(task)):
        task = as_text_task(task, labels=labels)
    found_labels = task
    if isinstance(task, TextTask):
        name, found_labels = name or task.name, task.labels
        _check(name, task, texts, labels)
    name = name or unnamed
    if labels and found_labels is None:
        raise InputError(name, "the labels are missing")
    if isinstance(found_labels, (list, tuple)):
        check_labels(name, found_labels)
    parts = vectors if isinstance(vectors, tuple) else (vectors,)
    if texts is not None and len(parts) != texts:
        raise ArrayError(VECTORS, f"expected a tuple of {texts} arrays, found {len(parts)}")
    arrays = tuple(_rows(part, part_name(i, len(parts))) for i, part in enumerate(parts, 1))
    sizes = ("rows",) if texts is None else ("rows", "columns")
    for number, part in enumerate(arrays[1:], 2):
        for axis, unit in enumerate(sizes):
            if part.shape[axis] != arrays[0].shape[axis]:
                raise ArrayError(
                    part_name(number, len(parts)),
                    f"expected {arrays[0].shape[axis]} {unit}, as in text 1, found"
                    f" {part.shape[axis]}",
                )
    count = len(task) if isinstance(task, TextTask) else len(arrays[0])
    if labels:
        count = len(found_labels)
    if count != len(arrays[0]):
        raise ArrayError(VECTORS, f"expected {count} rows, one per label, found {len(arrays[0])}")
    if not count:
        raise ArrayError(VECTORS, "expected at least one row, found none")
    row_labels = found_labels if labels else None
    return TaskRows(name=name, vectors=arrays, labels=row_labels, started=perf_counter())


def _are_labels(value: object) -> bool:
    """Whether these are the labels alone: an array, a Series, or a list or tuple of labels."""
    if isinstance(value, (list, tuple)):
        # A label may be a scalar of numpy, whose shape is empty.
        first = value[0] if value else None
        return not isinstance(first, (Mapping, list, tuple)) and not getattr(first, "shape", ())
    return hasattr(value, "tolist")


def _check(name: str, task: TextTask, texts: int | None, labels: bool) -> None:
    if texts is not None and len(task.texts) != texts:
        raise InputError(name, f"expected {texts} texts in each row, found {len(task.texts)}")
    if labels:
        labels_of(task, name)
    if not len(task):
        raise InputError(name, "expected at least one row, found none")


def _rows(part: Any, name: str) -> Array:
    """Given vectors as contiguous float32, without a pass over those that are that already."""
    if (
        isinstance(part, numpy.ndarray)
        and part.dtype == numpy.float32
        and part.ndim == 2
        and part.shape[1]
        and part.flags.c_contiguous
        and part.dtype.isnative
    ):
        return part
    try:
        return vectors_of(part)[0]
    except ArrayError as error:
        raise ArrayError(name, error.reason, error.row, error.column) from None
