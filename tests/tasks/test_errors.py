"""Invalid vectors, labels, tasks and options are errors that say what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pandas
import pytest

import fastrank as fr

A = numpy.array([[1, 0], [0, 1], [1, 1]], numpy.float32)
B = numpy.array([[1, 0.5], [0.5, 1], [0, 1]], numpy.float32)
NAN = numpy.array([[1, 0], [0, numpy.nan], [1, 1]], numpy.float32)
PAIRS = (A, B)
WIDER = numpy.ones((3, 4), numpy.float32)


def _model(texts: list[str]) -> list[list[float]]:
    return [[len(text), text.count("a")] for text in texts]


def _wider(texts: list[str]) -> list[list[float]]:
    return [[1.0, 2.0, 3.0]] * len(texts)


EVALUATIONS = {
    "similarity": (fr.tasks.evaluate_similarity, 2, [5.0, 1.0, 3.0]),
    "pairs": (fr.tasks.evaluate_pairs, 2, [1, 0, 1]),
    "triplets": (fr.tasks.evaluate_triplets, 3, None),
    "bitext": (fr.tasks.evaluate_bitext, 2, None),
}


@pytest.mark.parametrize("name", EVALUATIONS)
@pytest.mark.parametrize("kind", ["float32", "float64", "list"])
def test_values_that_are_not_finite_are_an_error(name: str, kind: str) -> None:
    evaluate, texts, labels = EVALUATIONS[name]
    bad: Any = NAN.tolist() if kind == "list" else NAN.astype(kind)
    vectors = (A, bad) if texts == 2 else (A, B, bad)

    with pytest.raises(fr.ArrayError, match=r"vectors of text [23]\[1.*nan|finite values"):
        evaluate(vectors, labels)


@pytest.mark.parametrize("name", EVALUATIONS)
def test_different_numbers_of_vectors_are_an_error(name: str) -> None:
    evaluate, texts, labels = EVALUATIONS[name]
    vectors = (A, B[:2]) if texts == 2 else (A, B, B[:2])

    with pytest.raises(
        fr.ArrayError, match=r"vectors of text [23]: expected 3 rows, as in text 1, found 2"
    ):
        evaluate(vectors, labels)


@pytest.mark.parametrize("name", EVALUATIONS)
def test_another_dimension_of_the_second_text_is_an_error(name: str) -> None:
    evaluate, texts, labels = EVALUATIONS[name]
    vectors = (A, WIDER) if texts == 2 else (A, B, WIDER)

    with pytest.raises(
        fr.ArrayError, match=r"vectors of text [23]: expected 2 columns, as in text 1, found 4"
    ):
        evaluate(vectors, labels)


def test_models_of_different_dimensions_are_an_error() -> None:
    task = fr.TextTask.from_texts(["a", "b"], ["c", "d"], labels=[1, 0])

    with pytest.raises(fr.ArrayError, match=r"expected vectors of one dimension, found 2 .* and 3"):
        fr.tasks.evaluate_pairs((_model, _wider), task)


@pytest.mark.parametrize("evaluate", [fr.tasks.evaluate_similarity, fr.tasks.evaluate_pairs])
@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([1, 0], fr.ArrayError, "vectors: expected 2 rows, one per label, found 3"),
        ([1, None, 0], fr.InputError, "vectors: row 1: the label is missing"),
        (None, fr.InputError, "vectors: the labels are missing"),
        (["a", "b", "c"], fr.ArrayError, "expected"),
    ],
)
def test_invalid_labels_are_an_error(evaluate: Any, labels: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        evaluate(PAIRS, labels)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 2, 0], r"labels\[1\]: expected labels 0 and 1, found 2"),
        ([0.5, 0, 1], r"labels\[0\]: expected labels 0 and 1, found 0.5"),
        ([1, 1, 1], "vectors: expected labels 0 and 1, found only 1"),
        ([0, 0, 0], "vectors: expected labels 0 and 1, found only 0"),
    ],
)
def test_labels_of_pairs_are_0_and_1(labels: list[float], message: str) -> None:
    with pytest.raises(fr.FastrankError, match=message):
        fr.tasks.evaluate_pairs(PAIRS, labels)


@pytest.mark.parametrize("road", ["columns", "rows", "jsonl", "csv", "parquet", "frame", "task"])
def test_labels_of_pairs_can_be_text(road: str, tmp_path: Path) -> None:
    columns = {"text_a": ["a", "ab", "b"], "text_b": ["a", "b", "aa"], "label": ["1", "0 ", "1"]}
    frame = pandas.DataFrame(columns)
    made: dict[str, Callable[[], Any]] = {
        "columns": lambda: tuple(columns.values()),
        "rows": lambda: frame.to_dict("records"),
        "jsonl": lambda: frame.to_json(tmp_path / road, orient="records", lines=True),
        "csv": lambda: frame.to_csv(tmp_path / road, index=False),
        "parquet": lambda: frame.to_parquet(tmp_path / road),
        "frame": lambda: frame,
        "task": lambda: fr.Task("pairs", frame),
    }
    task = made[road]()
    task = tmp_path / road if task is None else task
    expected = fr.tasks.evaluate_pairs(_model, (*list(columns.values())[:2], [1, 0, 1]))
    if road == "task":
        assert fr.evaluate_tasks(_model, {"pairs": task})["pairs"].value == expected.value
    else:
        assert fr.tasks.evaluate_pairs(_model, task).mean == expected.mean


def test_constant_gold_scores_are_an_error() -> None:
    with pytest.raises(fr.InputError, match="all scores are 3, so the correlation is undefined"):
        fr.tasks.evaluate_similarity(PAIRS, [3, 3, 3])


def test_constant_similarities_are_an_error() -> None:
    with pytest.raises(fr.InputError, match="all cosine similarities are 1, so the correlation"):
        fr.tasks.evaluate_similarity((A, A), [1, 2, 3])


@pytest.mark.parametrize("text", ["0.5", "good"])
def test_scores_that_are_text_are_an_error_that_names_the_row(text: str) -> None:
    """As in the readers of runs, unless a cell of a CSV or TSV file is a number."""
    rows = [
        {"sentence1": "a", "sentence2": "b", "score": 0.25},
        {"sentence1": "aa", "sentence2": "bb", "score": text},
    ]

    for found in (PAIRS, _model):
        task = rows if found is _model else [0.25, text, 1.0]
        with pytest.raises(fr.ArrayError, match=rf"scores\[1\]: .*, found str: '{text}'$"):
            fr.tasks.evaluate_similarity(found, task)


def test_one_pair_is_an_error() -> None:
    with pytest.raises(fr.InputError, match="expected at least two pairs, found one"):
        fr.tasks.evaluate_similarity((A[:1], B[:1]), [3])


def test_a_task_without_labels_is_an_error() -> None:
    task = fr.TextTask.from_texts(["a", "b"], ["c", "d"], name="films")

    with pytest.raises(fr.InputError, match="films: expected a task with labels, found none"):
        fr.tasks.evaluate_pairs(_model, task)


@pytest.mark.parametrize("name", EVALUATIONS)
def test_the_wrong_number_of_texts_is_an_error(name: str) -> None:
    evaluate, texts, _ = EVALUATIONS[name]
    task = fr.TextTask.from_texts(["a", "b"], labels=[1, 0])

    with pytest.raises(fr.InputError, match=f"expected {texts} texts in each row, found 1"):
        evaluate(_model, task)


@pytest.mark.parametrize(
    ("evaluate", "columns", "message"),
    [
        (fr.tasks.evaluate_bitext, 3, "task: expected 2 columns of texts, found 3"),
        (fr.tasks.evaluate_triplets, 2, "task: expected 3 columns of texts, found 2"),
        (
            fr.tasks.evaluate_pairs,
            2,
            "task: expected 2 columns of texts and one of labels, found 2",
        ),
        (
            fr.tasks.evaluate_clustering,
            3,
            "task: expected 1 column of texts and one of labels, found 3",
        ),
    ],
)
def test_the_wrong_number_of_columns_is_an_error(evaluate: Any, columns: int, message: str) -> None:
    pytest.importorskip("sklearn")

    with pytest.raises(fr.InputError, match=message):
        evaluate(_model, (["a", "b"],) * columns)


def test_a_path_of_summaries_is_an_error() -> None:
    with pytest.raises(TypeError, match="task: expected a tuple of lists, or mappings, found str"):
        fr.tasks.evaluate_summarization(_model, "summaries.jsonl")


def test_the_wrong_number_of_arrays_is_an_error() -> None:
    with pytest.raises(fr.ArrayError, match="vectors: expected a tuple of 2 arrays, found 1"):
        fr.tasks.evaluate_pairs(A, [1, 0, 1])


def test_no_rows_are_an_error() -> None:
    empty = numpy.empty((0, 2), numpy.float32)

    with pytest.raises(fr.ArrayError, match="expected at least one row, found none"):
        fr.tasks.evaluate_pairs((empty, empty), [])


def test_products_that_overflow_are_an_error() -> None:
    with pytest.raises(fr.ArrayError, match=r"vectors\[0\]: the products of the values are too"):
        fr.tasks.evaluate_pairs((A * 1e30, B * 1e30), [1, 0, 1], similarities="dot")


@pytest.mark.parametrize("given", ["angular", (), ("cosine", "cosine"), ("cosine", "l2")])
def test_unknown_similarities_are_an_error(given: Any) -> None:
    with pytest.raises(fr.OptionError, match=r"^similarities: expected"):
        fr.tasks.evaluate_pairs(PAIRS, [1, 0, 1], similarities=given)


def test_an_unknown_protocol_is_an_error() -> None:
    with pytest.raises(fr.OptionError, match=r"^protocol: expected one of"):
        fr.tasks.evaluate_pairs(PAIRS, [1, 0, 1], protocol="senteval")


@pytest.mark.parametrize("margin", [{"l2": 1.0}, numpy.nan])
def test_an_invalid_margin_is_an_error(margin: Any) -> None:
    with pytest.raises(fr.OptionError, match=r"^margin: expected"):
        fr.tasks.evaluate_triplets((A, B, B), margin=margin)


def test_options_of_models_are_refused_for_vectors() -> None:
    with pytest.raises(fr.OptionError, match="prompt: this applies to models, but vectors are"):
        fr.tasks.evaluate_pairs(PAIRS, [1, 0, 1], prompt="query: ")


def test_an_unknown_option_is_an_error() -> None:
    with pytest.raises(TypeError, match="similarity'; did you mean 'similarities'"):
        fr.tasks.evaluate_pairs(PAIRS, [1, 0, 1], similarity="dot")  # type: ignore[call-arg]


def test_a_model_needs_a_task() -> None:
    with pytest.raises(TypeError, match="task: expected texts, because a model is given"):
        fr.tasks.evaluate_triplets(_model)


class TestClustering:
    """Of k-means."""

    @pytest.fixture(autouse=True)
    def _scikit_learn(self) -> None:
        pytest.importorskip("sklearn")

    def test_one_label_is_an_error(self) -> None:
        with pytest.raises(fr.InputError, match="at least two different labels, found only 'a'"):
            fr.tasks.evaluate_clustering(A, ["a", "a", "a"])

    def test_nan_is_an_error(self) -> None:
        with pytest.raises(fr.InputError, match="row 1: the vector has values that are not finite"):
            fr.tasks.evaluate_clustering(NAN, [0, 1, 1])

    def test_fewer_texts_in_a_sample_than_labels_are_an_error(self) -> None:
        with pytest.raises(fr.OptionError, match="sample_size: expected 3 or more, the number of"):
            fr.tasks.evaluate_clustering(A, [0, 1, 2], sample_size=2)

    @pytest.mark.parametrize("fraction", [0, 1.5, 0.1])
    def test_an_invalid_fraction_is_an_error(self, fraction: float) -> None:
        with pytest.raises(fr.OptionError, match=r"^fraction: "):
            fr.tasks.evaluate_clustering(A, [0, 1, 1], fraction=fraction)

    @pytest.mark.parametrize("fraction", [None, 0.5])
    def test_different_numbers_of_labels_and_vectors_are_an_error(self, fraction: Any) -> None:
        with pytest.raises(fr.ArrayError, match="expected 2 rows, one per label, found 3"):
            fr.tasks.evaluate_clustering(A, [0, 1], fraction=fraction)


HUMAN, MACHINE, SCORES = [["a b", "b"]], [["a", "bb", "c aa"]], [[1, 2, 3]]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ((HUMAN, MACHINE, [[1, 2]]), "text 0: expected a score per summary, found 2 scores for 3"),
        ((HUMAN * 2, MACHINE, SCORES), "found scores of 1 texts and human summaries of 2"),
        (([[]], MACHINE, SCORES), "text 0: expected human summaries, found none"),
        ((HUMAN, MACHINE, [[2, 2, 2]]), "no text has different scores and different similarities"),
        (([], [], []), "expected at least one text, found none"),
        ([{"human_summaries": ["a"]}], "row 0: .* found no machine_summaries"),
    ],
)
def test_invalid_summaries_are_an_error(task: Any, message: str) -> None:
    with pytest.raises(fr.InputError, match=message):
        fr.tasks.evaluate_summarization(_model, task)
