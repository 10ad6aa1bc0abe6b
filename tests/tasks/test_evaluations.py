"""What the evaluations of similarities accept and return."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest

import fastrank as fr
from tests.helpers import similar_vectors as made

MODEL, TASKS = made.make("real")


def _arrays(*texts: list[str]) -> tuple[Any, ...]:
    return tuple(MODEL.encode(column) for column in texts)


def _untimed(result: fr.tasks.TaskResult) -> dict[str, Any]:
    return {**result.to_dict(), "seconds": 0, "name": ""}


@pytest.mark.parametrize("name", ["similarity", "pairs"])
def test_vectors_yield_what_their_model_yields(name: str) -> None:
    evaluate = getattr(fr.tasks, f"evaluate_{name}")
    *texts, labels = TASKS[name]

    expected = _untimed(evaluate(MODEL, (*texts, labels)))

    assert _untimed(evaluate(_arrays(*texts), labels)) == expected
    assert _untimed(evaluate(_arrays(*texts), numpy.array(labels))) == expected
    task = fr.TextTask.from_texts(*texts, labels=labels)
    assert _untimed(evaluate(_arrays(*texts), task)) == expected


@pytest.mark.parametrize("name", ["triplets", "bitext"])
def test_tasks_without_labels_take_vectors_alone(name: str) -> None:
    evaluate = getattr(fr.tasks, f"evaluate_{name}")
    texts = TASKS[name]

    expected = _untimed(evaluate(MODEL, fr.TextTask.from_texts(*texts)))

    assert _untimed(evaluate(_arrays(*texts))) == expected


def test_summaries_are_taken_as_vectors_and_as_rows() -> None:
    human, machine, scores = TASKS["summarization"]
    expected = _untimed(fr.tasks.evaluate_summarization(MODEL, (human, machine, scores)))
    columns = zip(human, machine, scores, strict=True)
    names = ("human_summaries", "machine_summaries", "relevance")

    rows = [dict(zip(names, row, strict=True)) for row in columns]
    assert _untimed(fr.tasks.evaluate_summarization(MODEL, rows)) == expected
    vectors = ([*map(MODEL.encode, human)], [*map(MODEL.encode, machine)])
    assert _untimed(fr.tasks.evaluate_summarization(vectors, scores)) == expected


def test_clustering_of_vectors_is_that_of_their_texts() -> None:
    pytest.importorskip("sklearn")
    texts, labels = TASKS["clustering"]
    options: Any = {"sample_size": 64, "samples": 2, "fraction": 0.5}

    expected = _untimed(fr.tasks.evaluate_clustering(MODEL, (texts, labels), **options))

    assert (
        _untimed(fr.tasks.evaluate_clustering(MODEL.encode(texts), labels, **options)) == expected
    )


def test_clustering_has_a_value_per_sample() -> None:
    pytest.importorskip("sklearn")
    texts, labels = TASKS["clustering"]

    found = fr.tasks.evaluate_clustering(MODEL, (texts, labels), samples=3, sample_size=64)

    assert [len(values) for values in found.values.values()] == [3, 3]
    assert found.value == numpy.mean(found.values["v_measure"])
    assert found.std == numpy.std(found.values["v_measure"])


def test_vectors_are_cached(tmp_path: Path) -> None:
    options: Any = {"cache": tmp_path, "cache_name": "model"}
    expected = fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"], **options).mean

    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"], **options).mean == expected


def test_one_similarity_has_no_maximum() -> None:
    found = fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"])

    assert found.metric == "cosine_ap"
    assert {name.split("_")[0] for name in found.mean} == {"cosine"}
    assert list(found.similarities) == ["cosine"]


def test_of_several_similarities_the_main_metric_is_the_maximum() -> None:
    found = fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"], similarities=("dot", "cosine"))

    assert found.metric == "max_ap"
    assert found.value == max(found.mean["dot_ap"], found.mean["cosine_ap"])


def test_bool_labels_are_0_and_1() -> None:
    *texts, labels = TASKS["pairs"]

    found = fr.tasks.evaluate_pairs(MODEL, (*texts, [label == 1 for label in labels]))

    assert found.mean == fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"]).mean


def test_triplets_have_a_value_each() -> None:
    found = fr.tasks.evaluate_triplets(_arrays(*TASKS["triplets"]))

    values = found.values["cosine_accuracy"]
    assert set(values) == {0.0, 1.0}
    assert found.value == numpy.mean(values)


@pytest.mark.parametrize("name", ["triplets", "bitext"])
def test_a_task_without_labels_may_be_a_tuple_of_texts(name: str) -> None:
    evaluate = getattr(fr.tasks, f"evaluate_{name}")
    task = fr.TextTask.from_texts(*TASKS[name])

    assert evaluate(MODEL, tuple(TASKS[name])).mean == evaluate(MODEL, task).mean


def test_of_equally_near_translations_the_first_is_found() -> None:
    found = fr.tasks.evaluate_bitext(([[1, 0], [1, 0]], [[1, 0], [2, 0]]))

    assert found.values["accuracy"] == [1.0, 0.0]


def test_skipped_texts_are_noted() -> None:
    found = fr.tasks.evaluate_summarization(MODEL, TASKS["summarization"])

    assert found.notes == ("1 of 12 texts skipped: equal scores or similarities",)
    assert len(found.values["cosine_spearman"]) == 11


def test_the_name_is_that_of_the_task_or_the_given_one() -> None:
    task = fr.TextTask.from_texts(*TASKS["pairs"][:2], labels=TASKS["pairs"][2], name="quora")

    assert fr.tasks.evaluate_pairs(MODEL, task).name == "quora"
    assert fr.tasks.evaluate_pairs(MODEL, task, name="dev").name == "dev"


def test_a_result_converts_to_json_and_tables() -> None:
    found = fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"], name="quora")

    assert json.loads(json.dumps(found.to_dict()))["value"] == found.value
    table = found.table()
    assert table.columns["metric"][0] == "cosine_ap"
    assert table.columns["mean"][0] == found.value
    assert repr(found) == f"<TaskResult quora: pairs, cosine_ap {found.value:.4f}, 300 rows>"
