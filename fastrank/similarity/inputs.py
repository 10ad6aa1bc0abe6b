"""The vectors and labels of a task, from a model or as given."""

from __future__ import annotations

from fastrank.datasets.text_task import TextTask, as_text_task, check_labels, labels_of
from fastrank.embeddings.text_vectors import (
    EncodingOptions,
    are_vectors,
    encode_task,
    refuse_encoding,
    vectors_of,
)
from fastrank.errors import ArrayError, InputError
from fastrank.keywords import pick
from fastrank.messages import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]

VECTORS = "vectors"


def read_task(
    model_or_vectors: Any, task: Any, options: Mapping[str, Any], *, texts: int, labels: bool
) -> tuple[str, tuple[Array, ...], Any]:
    """The name of a task, its vectors (an array per text of a row), and its labels or None.

    texts: how many texts a row must have. labels: whether the task must have labels. Vectors that
    are given as float32 are not checked for NaN. Raises what `encode_task` raises, and InputError
    and ArrayError for the wrong number of texts, rows or columns and for missing labels.
    """
    encoding = pick(options, EncodingOptions)
    if are_vectors(model_or_vectors):
        refuse_encoding(encoding)
        return _from_vectors(model_or_vectors, task, options["name"], texts, labels)
    if task is None:
        raise TypeError("task: expected texts, because a model is given")
    if isinstance(task, tuple) and len(task) != texts + labels:
        columns = f"{counted(texts, 'column')} of texts{' and one of labels' * labels}"
        raise InputError(options["name"] or "task", f"expected {columns}, found {len(task)}")
    found = as_text_task(task, labels=labels)
    name = options["name"] or found.name
    _check(name, found, texts, labels)
    return name, encode_task(model_or_vectors, found, **encoding), found.labels


def _from_vectors(
    given: Any, task: Any, name: str | None, texts: int, labels: bool
) -> tuple[str, tuple[Array, ...], Any]:
    found_labels = task
    if isinstance(task, TextTask):
        name, found_labels = name or task.name, task.labels
        _check(name, task, texts, labels)
    name = name or VECTORS
    if labels and found_labels is None:
        raise InputError(name, "the labels are missing")
    if isinstance(found_labels, (list, tuple)):
        check_labels(name, found_labels)
    parts = given if isinstance(given, tuple) else (given,)
    if len(parts) != texts:
        expected = "an array" if texts == 1 else f"a tuple of {texts} arrays"
        raise ArrayError(VECTORS, f"expected {expected}, found {len(parts)}")
    arrays = tuple(_rows(part, number, texts) for number, part in enumerate(parts, 1))
    for number, part in enumerate(arrays[1:], 2):
        for axis, what in enumerate(("rows", "columns")):
            if part.shape[axis] != arrays[0].shape[axis]:
                raise ArrayError(
                    _name(number, texts),
                    f"expected {arrays[0].shape[axis]} {what}, as in text 1, found"
                    f" {part.shape[axis]}",
                )
    count = len(task) if isinstance(task, TextTask) else len(arrays[0])
    if labels:
        count = len(found_labels)
    if count != len(arrays[0]):
        raise ArrayError(VECTORS, f"expected {count} rows, one per label, found {len(arrays[0])}")
    if not count:
        raise ArrayError(VECTORS, "expected at least one row, found none")
    return name, arrays, found_labels if labels else None


def _check(name: str, task: TextTask, texts: int, labels: bool) -> None:
    if len(task.texts) != texts:
        expected = counted(texts, "text")
        raise InputError(name, f"expected {expected} in each row, found {len(task.texts)}")
    if labels:
        labels_of(task, name)
    if not len(task):
        raise InputError(name, "expected at least one row, found none")


def _rows(part: Any, number: int, texts: int) -> Array:
    """Given vectors as contiguous float32, without a pass over those that are that already."""
    import numpy

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
        name = _name(number, texts)
        raise ArrayError(name, error.reason, error.row, error.column) from None


def _name(number: int, texts: int) -> str:
    return VECTORS if texts == 1 else f"vectors of text {number}"
