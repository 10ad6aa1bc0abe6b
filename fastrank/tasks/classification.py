"""Evaluate embeddings by the classifiers that can be trained on them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import partial

from fastrank.arguments import check_choice, flag, integer
from fastrank.datasets.text_task import (
    TextTask,
    as_text_task,
    labels_of,
)
from fastrank.embeddings.encoders import needs_fitting
from fastrank.embeddings.text_vectors import (
    EncodingOptions,
    are_vectors,
    encode_task,
    refuse_encoding,
    vectors_of,
)
from fastrank.errors import InputError, OptionError
from fastrank.keywords import option_hint
from fastrank.tasks.inputs import labelled_vectors, sides_of
from fastrank.tasks.problem import Problem, embedded_by, encoded_labels, with_common_classes
from fastrank.tasks.task import Task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy.typing as npt

    from fastrank.tasks.problem import Embedder
    from fastrank.tasks.result import TaskResult

    Array = npt.NDArray[Any]

# The module of each protocol. Its function, `evaluate_` and the name, takes a Problem and returns a
# TaskResult; its keyword parameters are the options of the protocol, of which `test` and `dev` are
# Problems.
PROTOCOLS = {
    "ulysses": "fastrank.tasks.ulysses_protocol",
    "senteval": "fastrank.tasks.senteval",
    "mteb": "fastrank.tasks.mteb",
    "knn": "fastrank.tasks.mteb",
}
# What a row of several alternatives is separated by in tasks of Ulysses SentEval.
SEPARATOR = " [SEP] "


def evaluate_classification(
    model_or_vectors: Any,
    task: Any,
    *,
    protocol: str | None = None,
    test: Any = None,
    dev: Any = None,
    embed: Callable[..., Any] | None = None,
    lazy: bool | None = None,
    alternatives: bool = False,
    name: str | None = None,
    batch_size: int | None = None,
    prompt: str | None = None,
    cache: Any = None,
    cache_name: str | None = None,
    seed: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> TaskResult:
    """Train classifiers on embeddings and test them, as a published protocol does.

    model_or_vectors: a model as in `evaluate_model`, or vectors of the rows: an array, tensor or
        list of rows, or a tuple with one of these for each text of a row.
    task: a TextTask with labels, or what makes one: a file (CSV, TSV, JSONL, parquet), a frame, a
        Hugging Face Dataset, or a tuple (texts, labels) or (texts a, texts b, labels). With vectors
        also a list or array of labels. Labels are int, str or bool. Or a Task
        of this kind, whose options apply unless others are given.
    protocol: "ulysses" (the default; Ulysses SentEval), "senteval", "mteb" or "knn".
    test, dev: separate rows for tests and for the choice of parameters, in the same form as task;
        with vectors, a tuple (vectors, labels). Only for protocols that do not split the rows.
    embed: a function `embed(texts_a, texts_b, task, split)` to use in place of the model, which is
        then None. It returns the features of the rows, an array of shape (rows, features). texts_b
        is None for tasks of one text, task is the name, split is "all".
    lazy: whether the embedder is fitted anew on the training part of each split. By default this is
        so for scikit-learn transformers that are not fitted. With `embed`, split is then "train",
        "eval" or "test".
    alternatives: whether the second text of a row holds several, separated by " [SEP] ", whose
        vectors follow that of the first text in the features. An embedder that is fitted on each
        training part takes them as one text, as in Ulysses SentEval.
    name: of the task, for messages and tables.
    batch_size, prompt, cache, cache_name: as in `encode_task`. An embedder that is fitted on each
        training part cannot be cached.
    seed: of all random numbers, by default the one that the protocol publishes.
    progress: whether to show a progress bar; by default if standard error is a terminal.
    **options: of the protocol; see the functions `evaluate_` and the protocol's name.

    Raises InputError for labels that are missing, of several types or of one class, and for classes
    with too few rows; ArrayError for invalid vectors; OptionError for an invalid option or
    protocol; TypeError for an unknown option or an object that is not a model.

    >>> import numpy
    >>> labels = numpy.arange(1000) % 2
    >>> vectors = numpy.random.RandomState(0).normal(3 * labels[:, None], size=(1000, 4))
    >>> fr.tasks.evaluate_classification(vectors, labels, repetitions=1, name="shift")
    <TaskResult shift: classification, matthews 0.9040 ± 0.2035, 1,000 rows>
    """
    encoding: EncodingOptions = {
        "batch_size": batch_size,
        "prompt": prompt,
        "cache": cache,
        "cache_name": cache_name,
        "progress": progress,
    }
    if isinstance(task, Task):
        if task.kind != "classification":
            raise TypeError(f"task: expected a Task of classification, found one of {task.kind}")
        named = {
            "protocol": protocol,
            "test": test,
            "dev": dev,
            "embed": embed,
            "lazy": lazy,
            "alternatives": alternatives or None,
            "name": name or task.name,
            "seed": seed,
            **encoding,
        }
        given = {key: value for key, value in named.items() if value is not None}
        options = {**task.options, **given, **options}
        return evaluate_classification(model_or_vectors, task.data, **options)
    protocol = protocol or "ulysses"
    check_choice("protocol", protocol, tuple(PROTOCOLS))
    evaluate = _protocol(protocol)
    if embed is not None and model_or_vectors is not None:
        raise OptionError("embed", "expected None in place of the model, or no function")
    if embed is not None and not callable(embed):
        raise TypeError(f"embed: expected a function, found {type(embed).__name__}")
    sets = {key: given for key, given in (("test", test), ("dev", dev)) if given is not None}
    accepted = protocol_options(protocol)
    _check_options(protocol, {**options, **sets}, accepted)
    for key, value in (("seed", seed), ("progress", progress)):
        if key in accepted and value is not None:
            options[key] = integer(key, value) if key == "seed" else value

    problems = {}
    for key, (given_model, given) in sides_of(model_or_vectors, task, sets).items():
        if are_vectors(given_model):
            refuse_encoding({**encoding, "embed": embed, "lazy": lazy})
            problems[key] = _from_vectors(given_model, given, name, alternatives)
        else:
            problems[key] = _from_texts(
                given_model, as_text_task(given), name, embed, lazy, alternatives, encoding
            )
    problems = with_common_classes(problems)
    result: TaskResult = evaluate(problems.pop(""), **problems, **options)
    return result


def _protocol(name: str) -> Callable[..., TaskResult]:
    """The function of a protocol."""
    from importlib import import_module

    found: Callable[..., TaskResult] = getattr(import_module(PROTOCOLS[name]), f"evaluate_{name}")
    return found


def protocol_options(protocol: str) -> list[str]:
    """The names of the options of a protocol."""
    import inspect

    parameters = inspect.signature(_protocol(protocol)).parameters.values()
    return [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]


def _check_options(protocol: str, given: Mapping[str, Any], accepted: list[str]) -> None:
    """Raise TypeError, with the closest name, for options that a protocol does not have."""
    for name in given:
        if name not in accepted:
            if name in ("test", "dev"):
                raise TypeError(
                    f"protocol {protocol!r} has no option {name!r}, as it splits the rows itself"
                    if "test" not in accepted
                    else f"protocol {protocol!r} has no option {name!r}; give 'test' alone"
                )
            hint = option_hint(name, accepted) or f", but {', '.join(accepted)}"
            raise TypeError(f"protocol {protocol!r} has no option {name!r}{hint}")


def _from_vectors(given: Any, task: Any, name: str | None, alternatives: bool) -> Problem:
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


def _from_texts(
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
        make_embedder = partial(_fitted_later, model) if embed is None else partial(_called, embed)
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


def _fitted_later(model: Any) -> Embedder:
    """A copy of a scikit-learn transformer, which fits itself on the texts of "train"."""
    own = deepcopy(model)

    def embedder(problem: Problem, rows: Array, split: str) -> tuple[Array, ...]:
        texts = problem.texts_of(rows)
        if split == "train":
            own.fit([text for column in texts for text in column])
        return vectors_of(tuple(own.transform(column) for column in texts), len(rows))

    return embedder


def _called(embed: Callable[..., Any]) -> Embedder:
    """A copy of a function, with its object if it is a method, which may fit itself on "train"."""
    own = deepcopy(embed)

    def embedder(problem: Problem, rows: Array, split: str) -> tuple[Array, ...]:
        return embedded_by(own, problem.name, problem.texts_of(rows), split)

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
