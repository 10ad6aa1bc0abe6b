"""Evaluate embeddings by the classifiers that can be trained on them."""

from __future__ import annotations

from fastrank.arguments import check_choice, integer
from fastrank.datasets.text_task import as_text_task
from fastrank.embeddings.text_vectors import EncodingOptions, are_vectors, refuse_encoding
from fastrank.errors import OptionError
from fastrank.keywords import option_hint
from fastrank.tasks.inputs import sides_of
from fastrank.tasks.problem import problem_of_texts, problem_of_vectors, with_common_classes
from fastrank.tasks.task import Task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from fastrank.tasks.result import TaskResult

# The module of each protocol. Its function, `evaluate_` and the name, takes a Problem and returns a
# TaskResult; its keyword parameters are the options of the protocol, of which `test` and `dev` are
# Problems.
PROTOCOLS = {
    "ulysses": "fastrank.tasks.ulysses_protocol",
    "senteval": "fastrank.tasks.senteval",
    "mteb": "fastrank.tasks.mteb",
    "knn": "fastrank.tasks.mteb",
}


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
            problems[key] = problem_of_vectors(given_model, given, name, alternatives=alternatives)
        else:
            problems[key] = problem_of_texts(
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
