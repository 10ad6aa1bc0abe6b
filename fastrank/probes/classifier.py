"""Evaluate embeddings by the classifiers that can be trained on them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from fastrank.arguments import check_choice, flag, integer
from fastrank.data.columns import Frozen
from fastrank.datasets.text_task import (
    TextTask,
    as_text_task,
    check_labels,
    labels_of,
    plain_labels,
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
from fastrank.keywords import names_of, option_hint
from fastrank.probes.problem import (
    CustomEmbedder,
    LazyEmbedder,
    Problem,
    embedded_by,
    encoded_labels,
    with_common_classes,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.probes.results import ProbeResult

# The module of each protocol, whose function `evaluate(problem, **options)` returns a ProbeResult.
# Its keyword parameters are the options of the protocol; those named `test` and `dev` are Problems.
PROTOCOLS = {
    "ulysses": "fastrank.probes.ulysses_protocol",
    "senteval": "fastrank.probes.senteval",
    "mteb": "fastrank.probes.mteb",
    "knn": "fastrank.probes.neighbors",
}
# What a row of several alternatives is separated by in tasks of Ulysses SentEval.
SEPARATOR = " [SEP] "


class ProbeTask(Frozen):
    """A task with the protocol that belongs to it, for `evaluate_classifier`.

    task: a TextTask. protocol: its name. options: of the protocol; those that are given to
    `evaluate_classifier` have precedence.

    >>> task = fr.TextTask.from_texts(["good film", "bad film"], labels=["pos", "neg"])
    >>> fr.ProbeTask(task=task, protocol="ulysses", options={"hidden": (256,)})
    <ProbeTask texts: 2 rows, protocol ulysses>
    """

    task: TextTask
    protocol: str
    options: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.task.name

    def __repr__(self) -> str:
        return f"<ProbeTask {self.name}: {len(self.task)} rows, protocol {self.protocol}>"


def evaluate_classifier(
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
) -> ProbeResult:
    """Train classifiers on embeddings and test them, as a published protocol does.

    model_or_vectors: a model as in `evaluate_model`, or vectors of the rows: an array, tensor or
        list of rows, or a tuple with one of these for each text of a row.
    task: a TextTask with labels, or what makes one: a file (CSV, TSV, JSONL, parquet), a frame, a
        Hugging Face Dataset, or a tuple (texts, labels) or (texts a, texts b, labels). With vectors
        also a list or array of labels. Labels are int, str or bool. Or a ProbeTask.
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
    **options: of the protocol; see the functions in `fastrank.probes`.

    Raises InputError for labels that are missing, of several types or of one class, and for classes
    with too few rows; ArrayError for invalid vectors; OptionError for an invalid option or
    protocol; TypeError for an unknown option or an object that is not a model.

    >>> import numpy
    >>> labels = numpy.arange(1000) % 2
    >>> vectors = numpy.random.RandomState(0).normal(3 * labels[:, None], size=(1000, 4))
    >>> fr.evaluate_classifier(vectors, labels, repetitions=1, name="shift")
    <ProbeResult shift: matthews 0.9040 ± 0.2035, 5 tests, protocol ulysses>
    """
    if isinstance(task, ProbeTask):
        options = {**task.options, **options}
        alternatives = options.pop("alternatives", alternatives)
        protocol, task = protocol or task.protocol, task.task
    protocol = protocol or "ulysses"
    check_choice("protocol", protocol, tuple(PROTOCOLS))
    evaluate = _protocol(protocol)
    encoding = {
        "batch_size": batch_size, "prompt": prompt, "cache": cache, "cache_name": cache_name,
        "progress": progress,
    }  # fmt: skip
    assert set(encoding) == set(names_of(EncodingOptions))
    sets = {key: given for key, given in (("test", test), ("dev", dev)) if given is not None}
    accepted = protocol_options(protocol)
    _check_options(protocol, {**options, **sets}, accepted)
    for key, value in (("seed", seed), ("progress", progress)):
        if key in accepted and value is not None:
            options[key] = integer(key, value) if key == "seed" else value

    label = name or ""
    sides = {"": (model_or_vectors, task)}
    for key, given in sets.items():
        if are_vectors(model_or_vectors):
            if not isinstance(given, tuple) or len(given) != 2:
                raise OptionError(key, "expected a tuple (vectors, labels), as vectors are given")
            sides[key] = given
        else:
            sides[key] = (model_or_vectors, given)
    problems = {}
    for key, (given_model, given) in sides.items():
        if are_vectors(given_model):
            refuse_encoding({**encoding, "embed": embed, "lazy": lazy})
            problems[key] = _from_vectors(given_model, given, label, alternatives)
        else:
            maker = _Texts(given_model, embed, lazy, alternatives, encoding)
            problems[key] = maker.problem(given, label)
    problems = with_common_classes(problems)
    result: ProbeResult = evaluate(problems.pop(""), **problems, **options)
    return result


def _protocol(name: str) -> Callable[..., ProbeResult]:
    """The function of a protocol."""
    from importlib import import_module

    found: Callable[..., ProbeResult] = import_module(PROTOCOLS[name]).evaluate
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


def _from_vectors(given: Any, task: Any, name: str, alternatives: bool) -> Problem:
    texts = task if isinstance(task, TextTask) else None
    if texts is None and _is_labels(task):
        labels = plain_labels(task)
        check_labels(name or "labels", labels)
    else:
        texts = texts or as_text_task(task)
        name, labels = name or texts.name, labels_of(texts)
    y, classes = encoded_labels(name or "labels", labels)
    vectors = vectors_of(given, len(y))
    return Problem(
        name=name or "labels", y=y, classes=classes, encode=lambda: vectors,
        texts=None, make_embedder=None, alternatives=alternatives,
    )  # fmt: skip


def _is_labels(given: Any) -> bool:
    """Whether these are the labels alone: an array, a Series, or a list or tuple of labels."""
    if isinstance(given, (list, tuple)):
        # A label may be a scalar of numpy, whose shape is empty.
        first = given[0] if given else None
        return not isinstance(first, (Mapping, list, tuple)) and not getattr(first, "shape", ())
    return hasattr(given, "tolist")


class _Texts:
    """How to make problems of texts: a model or function, and the options of encoding."""

    def __init__(
        self, model: Any, embed: Any, lazy: bool | None, alternatives: bool, encoding: Any
    ) -> None:
        if embed is not None and model is not None:
            raise OptionError("embed", "expected None in place of the model, or no function")
        if embed is not None and not callable(embed):
            raise TypeError(f"embed: expected a function, found {type(embed).__name__}")
        self._model, self._embed, self._lazy = model, embed, lazy
        self._alternatives, self._encoding = alternatives, encoding

    def problem(self, given: Any, name: str) -> Problem:
        """A problem with vectors, or an embedder that is fitted later."""
        task = as_text_task(given)
        name = name or task.name
        y, classes = encoded_labels(name, labels_of(task))
        lazy = self._is_lazy(task)
        make_embedder: Callable[[], Any] | None = None
        encode: Callable[[], Any] | None = None
        if lazy:
            make_embedder = self._make_embedder()
        elif self._embed is not None:
            self._refuse_cache("an embed function")
            encode = partial(embedded_by, self._embed, name, task.texts, "all")
        else:
            encode = self._encoder(task)
        return Problem(
            name=name, y=y, classes=classes, encode=encode, texts=task.texts,
            make_embedder=make_embedder, alternatives=self._alternatives and not lazy,
        )  # fmt: skip

    def _is_lazy(self, task: TextTask) -> bool:
        if self._lazy is not None:
            return flag("lazy", self._lazy)
        return self._embed is None and needs_fitting(self._model, task.texts[0])

    def _make_embedder(self) -> Callable[[], Any]:
        self._refuse_cache("an embedder that is fitted on each training part")
        embed, model = self._embed, self._model
        if embed is not None:
            return lambda: CustomEmbedder(embed)
        if not hasattr(model, "fit") or not hasattr(model, "transform"):
            expected = "expected a scikit-learn transformer or an embed function"
            raise TypeError(f"lazy: {expected}, found {type(model).__name__}")
        return lambda: LazyEmbedder(model)

    def _refuse_cache(self, what: str) -> None:
        for name in ("cache", "cache_name"):
            if self._encoding[name] is not None:
                raise OptionError(name, f"vectors of {what} cannot be cached")

    def _encoder(self, task: TextTask) -> Callable[[], tuple[Any, ...]]:
        """A function that encodes the texts, after checking them."""
        if not self._alternatives:
            return lambda: encode_task(self._model, task, **self._encoding)
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

        def encode() -> tuple[Any, ...]:
            (vectors,) = encode_task(self._model, texts, **self._encoding)
            return tuple(vectors.reshape(len(columns), len(task), -1))

        return encode
