"""A classification problem as the protocols get it: vectors, or a way to make them, and labels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import deepcopy
from functools import cached_property, partial
from time import perf_counter

import numpy

from fastrank.arguments import flag
from fastrank.data.columns import Frozen
from fastrank.datasets.text_task import TextTask, as_text_task, labels_of
from fastrank.embeddings.encoders import needs_fitting
from fastrank.embeddings.text_vectors import EncodingOptions, encode_task, vectors_of
from fastrank.errors import ArrayError, InputError, OptionError
from fastrank.lazy import optional
from fastrank.tasks.inputs import labelled_vectors
from fastrank.tasks.result import TaskResult, means_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]
    Embedder = Callable[["Problem", Array, str], tuple[Array, ...]]

# Labels of each of these kinds can be sorted with each other.
NUMBERS = (int, float)
# What a row of several alternatives is separated by in tasks of Ulysses SentEval.
SEPARATOR = " [SEP] "


class Problem(Frozen):
    """Rows of one or more texts or vectors, with a class each.

    name: for messages. y: int64[rows], places in `classes`. classes: the labels, sorted.
    alternatives: whether all vectors after the first are those of alternatives. texts: the texts of
    the rows, or None if vectors were given. encode: makes `vectors`; None if an embedder is fitted
    on the training part of each split. make_embedder: see `embedder`.
    """

    name: str
    y: Array
    classes: list[Any]
    encode: Callable[[], tuple[Array, ...]] | None
    texts: tuple[list[str], ...] | None = None
    make_embedder: Callable[[], Embedder] | None = None
    alternatives: bool

    def __len__(self) -> int:
        return len(self.y)

    @property
    def is_lazy(self) -> bool:
        """Whether an embedder is fitted on each training part."""
        return self.encode is None

    @cached_property
    def vectors(self) -> tuple[Array, ...] | None:
        """A float32[rows, dimension] per text of a row, or None if the embedder is lazy.

        Encoding may take long: check the options before the first use.
        """
        return None if self.encode is None else self.encode()

    def result(
        self,
        protocol: str,
        values: dict[str, list[float]],
        metric: str,
        started: float,
        **fields: Any,
    ) -> TaskResult:
        """The result of classifiers that were trained from `started` on, with `means_of` values."""
        means = means_of(values, metric, value=fields.pop("value", None))
        return TaskResult(
            name=self.name,
            kind="classification",
            protocol=protocol,
            value=means["mean"][metric],
            rows=len(self),
            classes=self.classes,
            seconds=perf_counter() - started,
            **means,
            **fields,
        )

    def embedder(self) -> Embedder:
        """A function of a problem, row numbers and "train", "eval" or "test" that returns vectors.

        It returns a float32[rows, dimension] per text. Call it with "train" first: that fits lazy
        embedders. Ask for a new one for each training part.
        """
        return _given_vectors if self.make_embedder is None else self.make_embedder()


def _given_vectors(problem: Problem, rows: Array, _: str) -> tuple[Array, ...]:
    assert problem.vectors is not None
    return tuple(part[rows] for part in problem.vectors)


def problem_of_vectors(given: Any, task: Any, name: str | None, *, alternatives: bool) -> Problem:
    """A problem of given vectors, and of labels or the texts that have them."""
    known = task if isinstance(task, TextTask) or _is_labels(task) else as_text_task(task)
    rows = labelled_vectors(given, known, name)
    y, classes = encoded_labels(rows.name, rows.labels)
    return Problem(
        name=rows.name,
        y=y,
        classes=classes,
        encode=lambda: rows.vectors,
        alternatives=alternatives,
    )


def _is_labels(given: Any) -> bool:
    """Whether these are the labels alone: an array, a Series, or a list or tuple of labels."""
    if isinstance(given, (list, tuple)):
        # A label may be a scalar of numpy, whose shape is empty.
        first = given[0] if given else None
        return not isinstance(first, (Mapping, list, tuple)) and not getattr(first, "shape", ())
    return hasattr(given, "tolist")


def problem_of_texts(
    model: Any,
    task: TextTask,
    name: str | None,
    embed: Any,
    lazy: bool | None,
    alternatives: bool,
    encoding: EncodingOptions,
) -> Problem:
    """A problem whose vectors a model or a function makes, now or when it is fitted."""
    name = name or task.name
    y, classes = encoded_labels(name, labels_of(task))
    if lazy is None:
        lazy = embed is None and needs_fitting(model, task.texts[0])
    make_embedder: Callable[[], Any] | None = None
    encode: Callable[[], Any] | None = None
    if flag("lazy", lazy):
        _refuse_cache(encoding, "an embedder that is fitted on each training part")
        if embed is None and not (hasattr(model, "fit") and hasattr(model, "transform")):
            expected = "expected a scikit-learn transformer or an embed function"
            raise TypeError(f"lazy: {expected}, found {type(model).__name__}")
        make_embedder = partial(_fitted_later, model, embed)
    elif embed is not None:
        _refuse_cache(encoding, "an embed function")
        encode = partial(embedded_by, embed, name, task.texts, "all")
    elif alternatives:
        encode = _encoder_of_alternatives(model, task, encoding)
    else:
        encode = partial(encode_task, model, task, **encoding)
    return Problem(
        name=name,
        y=y,
        classes=classes,
        encode=encode,
        texts=task.texts,
        make_embedder=make_embedder,
        alternatives=alternatives and not lazy,
    )


def _refuse_cache(encoding: Mapping[str, Any], what: str) -> None:
    for name in ("cache", "cache_name"):
        if encoding[name] is not None:
            raise OptionError(name, f"vectors of {what} cannot be cached")


def _fitted_later(model: Any, embed: Callable[..., Any] | None) -> Embedder:
    """A copy of a transformer or function (with its object), which fits itself on "train"."""
    own: Any = deepcopy(model if embed is None else embed)

    def embedder(problem: Problem, rows: Array, split: str) -> tuple[Array, ...]:
        columns = problem.texts or ()
        texts = tuple([column[row] for row in rows.tolist()] for column in columns)
        if embed is not None:
            return embedded_by(own, problem.name, texts, split)
        if split == "train":
            own.fit([text for column in texts for text in column])
        return vectors_of(tuple(own.transform(column) for column in texts), len(rows))

    return embedder


def _encoder_of_alternatives(
    model: Any, task: TextTask, encoding: EncodingOptions
) -> Callable[[], tuple[Array, ...]]:
    """A function that encodes the first text and each alternative of the second, now checked."""
    if len(task.texts) != 2:
        reason = f"expected rows of two texts, found {len(task.texts)}"
        raise InputError(task.name, f"alternatives: {reason}")
    rows = [text.split(SEPARATOR) for text in task.texts[1]]
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            found = f"expected {len(rows[0])} alternatives, as in row 0, found {len(row)}"
            raise InputError(task.name, f"row {number}: {found}")
    columns = [task.texts[0], *map(list, zip(*rows, strict=True))]
    texts = TextTask.from_texts([text for column in columns for text in column], name=task.name)

    def encode() -> tuple[Array, ...]:
        (vectors,) = encode_task(model, texts, **encoding)
        return tuple(vectors.reshape(len(columns), len(task), -1))

    return encode


def embedded_by(
    embed: Callable[..., Any], name: str, texts: tuple[list[str], ...], split: str
) -> tuple[Array, ...]:
    """What `embed` returns for these texts, as float32[rows, features]. Raises ArrayError."""
    second = texts[1] if len(texts) > 1 else None
    found = embed(texts[0], second, name, split)
    rows = len(texts[0])
    expected = f"expected an array of shape ({rows}, features)"
    if not hasattr(found, "__len__") and not hasattr(found, "shape"):
        raise ArrayError("embed", f"{expected}, found {type(found).__name__}")
    shape = getattr(found, "shape", None)
    if shape is not None and (len(shape) != 2 or shape[0] != rows):
        raise ArrayError("embed", f"{expected}, found {shape}")
    if shape is None and len(found) != rows:
        raise ArrayError("embed", f"{expected}, found a {type(found).__name__} of {len(found)}")
    return vectors_of(found, rows)


def encoded_labels(name: str, labels: list[Any]) -> tuple[Array, list[Any]]:
    """The class of each row as int64[rows], and the classes, sorted. Raises InputError."""
    kinds = {_kind(name, row, label) for row, label in enumerate(labels)}
    if len(kinds) > 1:
        found = " and ".join(sorted(kinds))
        raise InputError(name, f"expected labels of one type, found {found}")
    classes = sorted(set(labels))
    if len(classes) < 2:
        found = f"only {classes[0]!r}" if classes else "no labels"
        raise InputError(name, f"expected labels of at least two classes, found {found}")
    places = {label: place for place, label in enumerate(classes)}
    return numpy.array([places[label] for label in labels], numpy.int64), classes


def with_common_classes(problems: dict[str, Problem]) -> dict[str, Problem]:
    """The problems with places in the same list of all their classes; "" has the training rows.

    Raises InputError for labels of several types, and for a set without a class of training.
    """
    try:
        classes = sorted({label for problem in problems.values() for label in problem.classes})
    except TypeError:
        name = next(iter(problems.values())).name
        raise InputError(name, "expected labels of one type in all sets") from None
    for key, problem in problems.items():
        if not set(problem.classes) & set(problems[""].classes):
            found = ", ".join(map(repr, problem.classes[:3]))
            reason = f"expected classes of the training rows, found none of them, but {found}"
            raise InputError(key, reason)
    changed = {}
    for key, problem in problems.items():
        places = numpy.array([classes.index(label) for label in problem.classes], numpy.int64)
        changed[key] = problem.changed(y=places[problem.y], classes=classes)
    return changed


def _kind(name: str, row: int, label: Any) -> str:
    if isinstance(label, float) and not label.is_integer():
        reason = f"row {row}: expected a class, found the number {label}"
        raise InputError(name, f"{reason}; map numbers to classes first")
    if isinstance(label, NUMBERS):
        return "numbers"
    if isinstance(label, str):
        return "strings"
    reason = f"row {row}: expected a label that is a number or str, found {type(label).__name__}"
    raise InputError(name, reason)


def embedded_sets(problem: Problem, **sets: Problem | None) -> list[tuple[Array, ...]]:
    """The vectors of a problem and of further sets, float32[rows, dimension] per text of a row.

    sets: by the names of the options, which are also those of the splits. An embedder that has to
    be fitted is fitted on the problem, and needs another set. Raises OptionError and ArrayError.
    """
    given = {name: part for name, part in sets.items() if part is not None}
    if problem.is_lazy and "test" not in given:
        reason = "an embedder that is fitted on the training rows needs separate test rows"
        raise OptionError("test", reason)
    embedder = problem.embedder()
    found = [embedder(problem, numpy.arange(len(problem)), "train")]
    for name, part in given.items():
        split = {"dev": "eval"}.get(name, name)
        # Given vectors are of the set itself.
        embed = embedder if part.is_lazy else part.embedder()
        vectors = embed(part, numpy.arange(len(part)), split)
        shapes = [[one.shape[1] for one in parts] for parts in (found[0], vectors)]
        if shapes[0] != shapes[1]:
            widths = " and ".join("+".join(map(str, shape)) for shape in shapes)
            raise ArrayError(name, f"expected vectors as in training, found {widths} dimensions")
        found.append(vectors)
    return found


def one_text(problem: Problem, protocol: str, vectors: list[tuple[Array, ...]]) -> list[Array]:
    """The vectors of rows of one text. Raises ArrayError for rows of several."""
    if len(vectors[0]) > 1:
        reason = f"protocol {protocol!r} does not combine the vectors of several texts per row"
        raise ArrayError(problem.name, f"{reason}; give one array of features, or set embed=")
    return [one for (one,) in vectors]


def pair_features(vectors: tuple[Array, ...], *parts: str) -> Array:
    """Features of pairs (a, b): some of "a", "b", "distance" (|a - b|) and "product" (a * b).

    Raises ArrayError for vectors of different dimensions.
    """
    a, b = vectors
    if a.shape[1] != b.shape[1]:
        expected = f"expected vectors of dimension {a.shape[1]}, as of the first"
        raise ArrayError("vectors of text 2", f"{expected}, found {b.shape[1]}")
    made = {"a": a, "b": b, "distance": numpy.abs(a - b), "product": a * b}
    return numpy.hstack([made[part] for part in parts])


def stratified_folds(
    rows: Array, y: Array, folds: int, seed: int, protocol: str
) -> list[tuple[Array, Array]]:
    """scikit-learn's stratified folds of some rows: the other rows and those of each fold."""
    selection = optional("sklearn.model_selection", f"protocol {protocol!r}", "probe")
    splitter = selection.StratifiedKFold(n_splits=folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # Of a class that outer folds left with fewer rows than inner folds.
        warnings.simplefilter("ignore", UserWarning)
        found = list(splitter.split(rows, y[rows]))
    return [(rows[others], rows[own]) for others, own in found]
