"""Summaries by machines, scored by their similarity to summaries by people."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter

import numpy

from fastrank.datasets.text_task import TextTask
from fastrank.embeddings.text_vectors import (
    EncodingOptions,
    encode_task,
    refuse_encoding,
    vectors_of,
)
from fastrank.errors import ArrayError, InputError
from fastrank.keywords import pick, takes, with_defaults
from fastrank.tasks.inputs import TASK, PairOptions, checked_similarities
from fastrank.tasks.metrics import number_array, pearson, spearman
from fastrank.tasks.pairs import CORRELATIONS, add_highest, similarities_of
from fastrank.tasks.result import TaskResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt
    from typing_extensions import Unpack

    Array = npt.NDArray[Any]

# The columns of MTEB's data sets.
COLUMNS = ("human_summaries", "machine_summaries", "relevance")
SIDES = ("human", "machine")


@takes(PairOptions, TASK)
def evaluate_summarization(
    model_or_vectors: Any, task: Any, **options: Unpack[PairOptions]
) -> TaskResult:
    """Correlate the similarity of machine summaries to human ones with human scores (SummEval).

    The score of a machine summary is its highest similarity to a human summary of the same text.
    Metrics: `cosine_spearman` (the main metric) and `cosine_pearson`, and so for each similarity:
    the correlation with the human scores within a text, averaged over the texts, as in MTEB. Texts
    whose human scores or similarities are all equal are skipped, and a note says how many. With
    several similarities also `max_spearman` and `max_pearson`. `values` has those of each text.

    model_or_vectors: a model as in `evaluate_model`, or a tuple (human vectors, machine vectors)
        with an array of vectors per text in each.
    task: a tuple (human summaries, machine summaries, scores) of lists with an item per text: the
        list of human summaries, the list of machine summaries, and the list of their scores. Or
        rows as of MTEB's data sets, which are mappings with `human_summaries`,
        `machine_summaries` and `relevance`. With vectors, the scores.
    **options: see `PairOptions`.

    Raises InputError for different numbers of summaries and scores, and if all texts are skipped;
    ArrayError for invalid vectors or scores; what `encode_task` raises.

    >>> human, machine = [[[1, 0], [0, 1]]], [[[1, 0], [1, 1], [-1, -1]]]
    >>> fr.tasks.evaluate_summarization((human, machine), [[5, 3, 1]]).value
    1.0
    """
    given = with_defaults(evaluate_summarization, options)
    wanted = checked_similarities("similarities", given["similarities"])
    name = given["name"] or "summaries"
    human, machine, scores = _read(model_or_vectors, task, given, name)
    start = perf_counter()
    values: dict[str, list[float]] = {}
    skipped = 0
    for text, (people, machines, gold) in enumerate(zip(human, machine, scores, strict=True)):
        if people.shape[1] != machines.shape[1]:
            reason = f"text {text}: expected vectors of one dimension, found {people.shape[1]} and"
            raise ArrayError("vectors", f"{reason} {machines.shape[1]}")
        found = _highest(machines, people, wanted)
        if any((column == column[0]).all() for column in (gold, *found.values())):
            skipped += 1
            continue
        for one, column in found.items():
            values.setdefault(f"{one}_spearman", []).append(spearman(gold, column))
            values.setdefault(f"{one}_pearson", []).append(pearson(gold, column))
    if not values:
        raise InputError(name, "no text has different scores and different similarities")
    mean = {metric: float(numpy.mean(of_texts)) for metric, of_texts in values.items()}
    main = add_highest(mean, wanted, CORRELATIONS, "spearman")
    notes = (f"{skipped} of {len(scores)} texts skipped: equal scores or similarities",)
    return TaskResult(
        name=name,
        kind="summarization",
        protocol="mteb",
        metric=main,
        value=mean[main],
        mean=mean,
        values=values,
        rows=len(scores),
        seconds=perf_counter() - start,
        notes=notes if skipped else (),
    )


def _highest(machines: Array, people: Array, wanted: tuple[str, ...]) -> dict[str, Array]:
    """For each machine summary, the highest of its similarities to the human ones."""
    shape = len(machines), len(people)
    one = numpy.repeat(machines, shape[1], axis=0)
    other = numpy.tile(people, (shape[0], 1))
    found = similarities_of(one, other, wanted)
    return {name: values.reshape(shape).max(axis=1) for name, values in found.items()}


def _read(
    model_or_vectors: Any, task: Any, options: Mapping[str, Any], name: str
) -> tuple[list[Array], list[Array], list[Array]]:
    """The vectors of human and machine summaries, and the scores of the latter, for each text."""
    encoding = pick(options, EncodingOptions)
    if _is_vectors(model_or_vectors):
        refuse_encoding(encoding)
        sides, scores = list(model_or_vectors), task
    else:
        *sides, scores = _columns(task, name)
    gold = [number_array("scores", of_text) for of_text in scores]
    lists = [[list(of_text) for of_text in side] for side in sides]
    if not gold:
        raise InputError(name, "expected at least one text, found none")
    for side, rows in zip(SIDES, lists, strict=True):
        if len(rows) != len(gold):
            found = f"scores of {len(gold)} texts and {side} summaries of {len(rows)}"
            raise InputError(name, f"expected lists of equal length, found {found}")
        for text, of_text in enumerate(rows):
            if not of_text:
                raise InputError(name, f"text {text}: expected {side} summaries, found none")
    for text, (machines, grades) in enumerate(zip(lists[1], gold, strict=True)):
        if len(machines) != len(grades):
            found = f"{len(grades)} scores for {len(machines)} machine summaries"
            raise InputError(name, f"text {text}: expected a score per summary, found {found}")
    if _is_vectors(model_or_vectors):
        human, machine = ([vectors_of(of_text)[0] for of_text in side] for side in lists)
        return human, machine, gold
    # Together, so that the model is prepared once and equal texts are encoded once.
    texts = [summary for side in lists for of_text in side for summary in of_text]
    (vectors,) = encode_task(model_or_vectors, TextTask.from_texts(texts, name=name), **encoding)
    counts = [len(of_text) for side in lists for of_text in side]
    parts = numpy.split(vectors, numpy.cumsum(counts)[:-1])
    return parts[: len(gold)], parts[len(gold) :], gold


def _is_vectors(given: Any) -> bool:
    """Whether these are lists of the vectors of each text for both sides, and no model."""
    return isinstance(given, (tuple, list)) and isinstance(given[0], (tuple, list))


def _columns(task: Any, name: str) -> list[Any]:
    if isinstance(task, tuple) and len(task) == len(COLUMNS):
        return list(task)
    if isinstance(task, (str, bytes)) or not hasattr(task, "__iter__"):
        found = type(task).__name__
        raise TypeError(f"task: expected a tuple of lists, or mappings, found {found}")
    rows = list(task)
    for row, one in enumerate(rows):
        missing = [key for key in COLUMNS if not isinstance(one, Mapping) or key not in one]
        if missing:
            reason = f"row {row}: expected a mapping with {', '.join(COLUMNS)}"
            raise InputError(name, f"{reason}, found no {missing[0]}")
    return [[one[key] for one in rows] for key in COLUMNS]
