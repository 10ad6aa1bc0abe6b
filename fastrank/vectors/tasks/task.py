"""A task of any kind: texts, and how to evaluate a model on them."""

from __future__ import annotations

import inspect
import os

from fastrank.common.keywords import option_hint
from fastrank.common.messages import visible
from fastrank.core.data.columns import Frozen
from fastrank.core.formats.files.source import is_url
from fastrank.core.formats.tools.candidates import Candidates, read_candidates
from fastrank.core.measures.selection import split_texts
from fastrank.errors import OptionError
from fastrank.vectors.datasets.dataset import Dataset, as_dataset
from fastrank.vectors.datasets.text_task import TextTask, as_text_task
from fastrank.vectors.embeddings.evaluation import evaluate_model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

# The names that data without a file get.
UNNAMED = ("texts", "datasets", "pairs", "articles", "vectors")


class Task(Frozen):
    """A task for `evaluate_tasks`: its kind, its texts, and options.

    kind: what evaluates it. "retrieval" and "reranking": `evaluate_model`; "classification",
        "similarity", "pairs", "triplets" and "bitext": the function of `fastrank.tasks` named
        `evaluate_` and the kind.
    data: what that function takes: a Dataset or folder for retrieval, Candidates or what
        `read_candidates` reads for reranking, else a TextTask or what makes one.
    main_score: the metric of the table. By default nDCG@10 for retrieval, AP for reranking, the
        first of `measures` if they are given, and else the main metric of the function.
    name: by default that of the data, or else the kind.
    **options: of the function, without those that `evaluate_tasks` has.

    Raises OptionError for an unknown kind or main score, TypeError for an unknown option, and what
    reading the data raises.

    >>> pairs = ["good film", "bad film"], ["fine film", "new car"], [4.5, 1.0]
    >>> fr.Task("similarity", pairs, similarities=("cosine", "dot"))
    <Task similarity: similarity>
    >>> fr.Task("similarity", pairs, similarity="dot")
    Traceback (most recent call last):
    TypeError: Task 'similarity' has no option 'similarity'; did you mean 'similarities'?
    """

    kind: str
    data: Any
    name: str
    main_score: str | None
    options: dict[str, object]

    def __init__(
        self,
        kind: str,
        data: object,
        *,
        main_score: str | None = None,
        name: str | None = None,
        **options: object,
    ) -> None:
        if kind not in KINDS:
            expected = ", ".join(map(repr, KINDS))
            reason = f"expected one of {expected}, found {kind!r}"
            raise OptionError("kind", reason + option_hint(kind, KINDS, "Task"))
        _check_options(kind, options)
        if kind in MEASURES:
            main_score = _add_measures(kind, options, main_score)
        metrics = KINDS[kind](options)
        if main_score is not None and main_score not in metrics:
            reason = f"expected one of {', '.join(metrics)}, found {main_score!r}"
            raise OptionError("main_score", reason + option_hint(main_score, metrics))
        data = _read(kind, data)
        super().__init__(
            kind=kind,
            data=data,
            name=name or _name_of(data) or kind,
            main_score=main_score,
            options=options,
        )

    def __repr__(self) -> str:
        return f"<Task {visible(self.name)}: {self.kind}>"


def as_task(data: object) -> Task:
    """A Task, or one of the kind that the type of the data says. Raises TypeError."""
    if isinstance(data, Task):
        return data
    if isinstance(data, Dataset):
        return Task("retrieval", data)
    if isinstance(data, Candidates):
        return Task("reranking", data)
    expected = "expected a Task, Dataset or Candidates"
    hint = "; state its kind: Task('similarity', texts)" if isinstance(data, TextTask) else ""
    raise TypeError(f"tasks: {expected}, found {type(data).__name__}{hint}")


def _check_options(kind: str, options: dict[str, object]) -> None:
    """Raise TypeError for an unknown option."""
    accepted = options_of(kind)
    for name in options:
        if name in RESERVED:
            reason = "give it to evaluate_tasks" if name in ("cache", "cache_name") else "omit it"
            raise TypeError(f"Task {kind!r} takes no option {name!r}; {reason}")
        if name not in accepted:
            hint = option_hint(name, accepted, f"Task {kind!r}")
            raise TypeError(f"Task {kind!r} has no option {name!r}{hint}")


def _add_measures(kind: str, options: dict[str, Any], main_score: str | None) -> str | None:
    """Complete the measures of rankings, and return the main one."""
    measures = options.get("measures")
    if measures is None:
        options["measures"] = MEASURES[kind].split()
        first = options["measures"][0]
        if main_score is not None and main_score not in options["measures"]:
            options["measures"] = [main_score, *options["measures"]]
    else:
        # Used several times, so it must not be an iterator.
        is_single = isinstance(measures, str) or not hasattr(measures, "__iter__")
        asked = options["measures"] = measures if is_single else list(measures)
        if not is_single and asked:
            asked = asked[0]
        if isinstance(asked, str) and asked.strip():
            asked = split_texts(asked)[0]
        first = KINDS[kind]({**options, "measures": asked})[0]
    return main_score or first


def _read(kind: str, data: object) -> object:
    """The data of a task, read if it is a file or a table."""
    if kind == "retrieval":
        return as_dataset(data)
    if kind == "reranking":
        return data if isinstance(data, Candidates) else read_candidates(data)
    return as_text_task(data, labels=kind not in ("triplets", "bitext"))


def _name_of(data: object) -> str:
    """The name of data that has one, from a file or its maker."""
    name: str = getattr(data, "name", "") or getattr(data, "source", "")
    if name.startswith("<") or name in UNNAMED:
        return ""
    if os.path.isfile(name) or is_url(name):
        return os.path.basename(name).partition(".")[0]
    return os.path.basename(name.rstrip(os.sep)) if os.path.isdir(name) else name


# `evaluate_tasks` passes these, or they do not apply to several models.
RESERVED = {"cache", "cache_name", "embed", "lazy", "name", "progress", "run", "tag"}
# The first measure of each list is the main score, as in MTEB.
MEASURES = {
    "retrieval": "nDCG@10 nDCG@100 AP@100 RR@10 R@10 R@100 P@10",
    "reranking": "AP RR@10 nDCG@10 P@1",
}


def evaluator(kind: str) -> Callable[..., Any]:
    """The function that evaluates tasks of a kind."""
    if kind in MEASURES:
        return evaluate_model
    from fastrank.vectors.tasks import classification, pairs

    module = classification if kind == "classification" else pairs
    function: Callable[..., object] = getattr(module, f"evaluate_{kind}")
    return function


def options_of(kind: str) -> list[str]:
    """The names of the options of tasks of a kind."""
    parameters = inspect.signature(evaluator(kind)).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    if kind in MEASURES:
        names.insert(0, "measures")
    return [name for name in dict.fromkeys(names) if name not in RESERVED]


def _of_similarities(*metrics: str) -> Callable[[Mapping[str, object]], list[str]]:
    """The names of these metrics for each of the given similarities."""

    def names(options: Mapping[str, Any]) -> list[str]:
        from fastrank.vectors.tasks.inputs import checked_similarities

        similarities = checked_similarities("similarities", options.get("similarities", "cosine"))
        several = ("max",) if len(similarities) > 1 else ()
        return [f"{prefix}_{metric}" for prefix in (*several, *similarities) for metric in metrics]

    return names


def _constant(names: str) -> Callable[[Mapping[str, object]], list[str]]:
    return lambda _: names.split()


def _measured(options: Mapping[str, Any]) -> list[str]:
    """The printed names of measures that have a mean."""
    from fastrank.common.arguments import DEFAULT_VERSION
    from fastrank.core.measures.selection import Selection

    version = options.get("trec_eval_version", DEFAULT_VERSION)
    bound = Selection(options["measures"]).bind(version)
    return [name.decode() for measure in bound if measure.measure.average for name in measure.names]


BITEXT = "f1 precision recall accuracy"
# The kinds of tasks, each with a function that returns the names that the main score may have under
# the given options. Those that evaluate rankings are in MEASURES.
KINDS: dict[str, Callable[[Mapping[str, object]], list[str]]] = {
    "retrieval": _measured,
    "reranking": _measured,
    "classification": _constant("matthews adjusted_macro_f1 loss"),
    "similarity": _of_similarities("spearman", "pearson"),
    "pairs": _of_similarities("ap", "accuracy", "f1", "precision", "recall", "mcc"),
    "triplets": _of_similarities("accuracy"),
    "bitext": _constant(f"{BITEXT} " + " ".join(f"reverse_{name}" for name in BITEXT.split())),
}
