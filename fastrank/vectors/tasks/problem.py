"""A classification problem: vectors, or a way to make them, and classes."""

from __future__ import annotations

from copy import deepcopy
from functools import partial

import numpy

from fastrank.common.keywords import pick
from fastrank.common.messages import enumerated
from fastrank.core.data.columns import Frozen
from fastrank.errors import ArrayError, InputError, OptionError
from fastrank.vectors.datasets.text_task import TextTask, as_text_task, labels_of, plain_labels
from fastrank.vectors.embeddings.encoders import needs_fitting
from fastrank.vectors.embeddings.text_vectors import (
    EncodingOptions,
    are_vectors,
    encode_task,
    refuse_encoding,
    vectors_of,
)
from fastrank.vectors.tasks.inputs import rows_of_vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from fastrank.common.arrays import Array

    Embedder = Callable[[Array, str], tuple[Array, ...]]

# Labels of each of these kinds can be sorted with each other.
NUMBERS = (int, float)
# The separator of the alternatives in a row in tasks of Ulysses SentEval.
SEPARATOR = " [SEP] "


class Problem(Frozen):
    """Rows of one or more texts or vectors, with a class each.

    name: for messages. y: int64[rows], places in `classes`. classes: the labels, sorted.
    alternatives: whether all vectors after the first are those of alternatives. encode: returns a
    float32[rows, dimension] per text of a row, which may take long; None if an embedder is fitted
    on the training part of each fold. new_embedder: returns one, a function of row numbers and
    "train", "eval" or "test" that returns such vectors of these rows; the call with "train", which
    comes first, fits it.
    """

    name: str
    y: Array
    classes: list[Any]
    alternatives: bool
    encode: Callable[[], tuple[Array, ...]] | None = None
    new_embedder: Callable[[], Embedder] | None = None

    def __len__(self) -> int:
        return len(self.y)


def problem_of(model_or_vectors: Any, task: Any, options: Mapping[str, Any]) -> Problem:
    """The problem that `evaluate_classification` is given, checked but not encoded."""
    embed = options["embed"]
    if embed is not None and model_or_vectors is not None:
        raise OptionError("embed", "expected None in place of the model, or no function")
    if embed is not None and not callable(embed):
        raise TypeError(f"embed: expected a function, found {type(embed).__name__}")
    if are_vectors(model_or_vectors):
        refuse_encoding({**pick(options, EncodingOptions), "lazy": options["lazy"]})
        return _of_vectors(model_or_vectors, task, options)
    return _of_texts(model_or_vectors, as_text_task(task), options)


def _of_vectors(vectors: Any, task: Any, options: Mapping[str, Any]) -> Problem:
    """A problem of given vectors, and of labels or the texts that have them."""
    rows = rows_of_vectors(vectors_of(vectors), task, options["name"], unnamed="labels")
    y, classes = encoded_labels(rows.name, plain_labels(rows.labels))
    return Problem(
        name=rows.name,
        y=y,
        classes=classes,
        alternatives=options["alternatives"],
        encode=lambda: rows.vectors,
    )


def _of_texts(model: Any, task: TextTask, options: Mapping[str, Any]) -> Problem:
    """A problem whose vectors a model or a function makes, now or when it is fitted."""
    encoding = pick(options, EncodingOptions)
    embed, lazy, alternatives = (options[name] for name in ("embed", "lazy", "alternatives"))
    name = options["name"] or task.name
    y, classes = encoded_labels(name, labels_of(task))
    if lazy is None:
        lazy = embed is None and needs_fitting(model, task.texts[0])
    rows = {"name": name, "y": y, "classes": classes, "alternatives": alternatives and not lazy}
    if lazy:
        _refuse_cache(encoding, "an embedder that is fitted on each training part")
        if embed is None and not (hasattr(model, "fit") and hasattr(model, "transform")):
            expected = "expected a scikit-learn transformer or an embed function"
            raise TypeError(f"lazy: {expected}, found {type(model).__name__}")
        return Problem(new_embedder=partial(_fitted_later, model, embed, name, task.texts), **rows)
    if embed is not None:
        _refuse_cache(encoding, "an embed function")
        return Problem(encode=partial(_embedded_by, embed, name, task.texts, "all"), **rows)
    if alternatives:
        return Problem(encode=_encoder_of_alternatives(model, task, encoding), **rows)
    return Problem(encode=partial(encode_task, model, task, **encoding), **rows)


def _refuse_cache(encoding: Mapping[str, object], source: str) -> None:
    for name in ("cache", "cache_name"):
        if encoding[name] is not None:
            raise OptionError(name, f"vectors of {source} cannot be cached")


def _fitted_later(
    model: Any, embed: Callable[..., Any] | None, name: str, texts: tuple[list[str], ...]
) -> Embedder:
    """A copy of a transformer or function (with its object), which fits itself on "train"."""
    copy: Any = deepcopy(model if embed is None else embed)

    def embedder(rows: Array, split: str) -> tuple[Array, ...]:
        some = tuple([column[row] for row in rows.tolist()] for column in texts)
        if embed is not None:
            return _embedded_by(copy, name, some, split)
        if split == "train":
            copy.fit([text for column in some for text in column])
        return vectors_of(tuple(copy.transform(column) for column in some), len(rows))

    return embedder


def _encoder_of_alternatives(
    model: Any, task: TextTask, encoding: Mapping[str, Any]
) -> Callable[[], tuple[Array, ...]]:
    """A function that encodes the first text and each alternative of the second, now checked."""
    if len(task.texts) != 2:
        reason = f"expected rows of two texts, found {len(task.texts)}"
        raise InputError(task.name, f"alternatives: {reason}")
    rows = [text.split(SEPARATOR) for text in task.texts[1]]
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            mismatch = f"expected {len(rows[0])} alternatives, as in row 0, found {len(row)}"
            raise InputError(task.name, f"row {number}: {mismatch}")
    columns = [task.texts[0], *map(list, zip(*rows, strict=True))]
    texts = TextTask.from_texts([text for column in columns for text in column], name=task.name)

    def encode() -> tuple[Array, ...]:
        (vectors,) = encode_task(model, texts, **encoding)
        return tuple(vectors.reshape(len(columns), len(task), -1))

    return encode


def _embedded_by(
    embed: Callable[..., Any], name: str, texts: tuple[list[str], ...], split: str
) -> tuple[Array, ...]:
    """The output of `embed` for these texts, as float32[rows, features]. Raises ArrayError."""
    second = texts[1] if len(texts) > 1 else None
    output = embed(texts[0], second, name, split)
    rows = len(texts[0])
    expected = f"expected an array of shape ({rows}, features)"
    if not hasattr(output, "__len__") and not hasattr(output, "shape"):
        raise ArrayError("embed", f"{expected}, found {type(output).__name__}")
    shape = getattr(output, "shape", None)
    if shape is not None and (len(shape) != 2 or shape[0] != rows):
        raise ArrayError("embed", f"{expected}, found {shape}")
    if shape is None and len(output) != rows:
        raise ArrayError("embed", f"{expected}, found a {type(output).__name__} of {len(output)}")
    return vectors_of(output, rows)


def encoded_labels(name: str, labels: list[Any]) -> tuple[Array, list[Any]]:
    """The class of each row as int64[rows], and the classes, sorted. Raises InputError."""
    kinds = {_kind(name, row, label) for row, label in enumerate(labels)}
    if len(kinds) > 1:
        names = enumerated(sorted(kinds))
        raise InputError(name, f"expected labels of one type, found {names}")
    classes = sorted(set(labels))
    if len(classes) < 2:
        description = f"only {classes[0]!r}" if classes else "no labels"
        raise InputError(name, f"expected labels of at least two classes, found {description}")
    numbers = {label: number for number, label in enumerate(classes)}
    return numpy.array([numbers[label] for label in labels], numpy.int64), classes


def _kind(name: str, row: int, label: object) -> str:
    if isinstance(label, float) and not label.is_integer():
        reason = f"row {row}: expected a class, found the number {label}"
        raise InputError(name, f"{reason}; map numbers to classes first")
    if isinstance(label, NUMBERS):
        return "numbers"
    if isinstance(label, str):
        return "strings"
    reason = f"row {row}: expected a label that is a number or str, found {type(label).__name__}"
    raise InputError(name, reason)


def pair_features(a: Array, b: Array) -> Array:
    """The features of pairs: both vectors, their absolute difference and their product.

    Raises ArrayError for vectors of different dimensions.
    """
    if a.shape[1] != b.shape[1]:
        expected = f"expected vectors of dimension {a.shape[1]}, as of the first"
        raise ArrayError("vectors of text 2", f"{expected}, found {b.shape[1]}")
    return numpy.hstack((a, b, numpy.abs(a - b), a * b))
