"""What the evaluations of similarities accept and return."""

import json

import numpy
import pytest

import fastrank as fr
from tests.helpers import similar_vectors as made

MODEL, TASKS = made.make("real")


def _arrays(*texts):
    return tuple(MODEL.encode(column) for column in texts)


def _untimed(result):
    return {**result.to_dict(), "seconds": 0, "name": ""}


@pytest.mark.parametrize("name", ["similarity", "pairs"])
def test_vectors_yield_what_their_model_yields(name):
    evaluate = getattr(fr.tasks, f"evaluate_{name}")
    *texts, labels = TASKS[name]
    expected = _untimed(evaluate(MODEL, (*texts, labels)))
    assert _untimed(evaluate(_arrays(*texts), labels)) == expected
    assert _untimed(evaluate(_arrays(*texts), numpy.array(labels))) == expected
    task = fr.TextTask.from_texts(*texts, labels=labels)
    assert _untimed(evaluate(_arrays(*texts), task)) == expected


@pytest.mark.parametrize("name", ["triplets", "bitext"])
def test_tasks_without_labels_take_vectors_alone_or_a_tuple_of_texts(name):
    evaluate = getattr(fr.tasks, f"evaluate_{name}")
    expected = _untimed(evaluate(MODEL, fr.TextTask.from_texts(*TASKS[name])))
    assert _untimed(evaluate(_arrays(*TASKS[name]))) == expected
    assert _untimed(evaluate(MODEL, tuple(TASKS[name]))) == expected


def test_summaries_are_taken_as_vectors_and_as_rows():
    human, machine, scores = TASKS["summarization"]
    expected = _untimed(fr.tasks.evaluate_summarization(MODEL, (human, machine, scores)))
    columns = zip(human, machine, scores, strict=True)
    names = ("human_summaries", "machine_summaries", "relevance")
    rows = [dict(zip(names, row, strict=True)) for row in columns]
    assert _untimed(fr.tasks.evaluate_summarization(MODEL, rows)) == expected
    vectors = ([*map(MODEL.encode, human)], [*map(MODEL.encode, machine)])
    assert _untimed(fr.tasks.evaluate_summarization(vectors, scores)) == expected


def test_clustering_of_vectors_is_that_of_their_texts_with_a_value_per_sample():
    pytest.importorskip("sklearn")
    texts, labels = TASKS["clustering"]
    options = {"sample_size": 64, "samples": 2, "fraction": 0.5}
    found = fr.tasks.evaluate_clustering(MODEL, (texts, labels), **options)
    again = fr.tasks.evaluate_clustering(MODEL.encode(texts), labels, **options)
    assert _untimed(again) == _untimed(found)
    assert [len(values) for values in found.values.values()] == [2, 2]
    assert found.value == numpy.mean(found.values["v_measure"])
    assert found.std == numpy.std(found.values["v_measure"])


def test_vectors_are_cached(tmp_path):
    options = {"cache": tmp_path, "cache_name": "model"}
    found = [fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"], **options).mean for _ in range(2)]
    assert found[0] == found[1]
    assert any(path.is_file() for path in tmp_path.rglob("*"))


def test_one_similarity_has_no_maximum():
    found = fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"])
    assert found.metric == "cosine_ap"
    assert {name.split("_")[0] for name in found.mean} == {"cosine"}
    assert list(found.similarities) == ["cosine"]


def test_of_several_similarities_the_main_metric_is_the_maximum():
    found = fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"], similarities=("dot", "cosine"))
    assert found.metric == "max_ap"
    assert found.value == max(found.mean["dot_ap"], found.mean["cosine_ap"])


def test_bool_labels_are_0_and_1():
    *texts, labels = TASKS["pairs"]
    found = fr.tasks.evaluate_pairs(MODEL, (*texts, [label == 1 for label in labels]))
    assert found.mean == fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"]).mean


def test_triplets_have_a_value_each():
    found = fr.tasks.evaluate_triplets(_arrays(*TASKS["triplets"]))
    values = found.values["cosine_accuracy"]
    assert set(values) == {0.0, 1.0}
    assert found.value == numpy.mean(values)


def test_of_equally_near_translations_the_first_is_found():
    found = fr.tasks.evaluate_bitext(([[1, 0], [1, 0]], [[1, 0], [2, 0]]))
    assert found.values["accuracy"] == [1.0, 0.0]


def test_skipped_texts_are_noted():
    found = fr.tasks.evaluate_summarization(MODEL, TASKS["summarization"])
    assert found.notes == ("1 of 12 texts skipped: equal scores or similarities",)
    assert len(found.values["cosine_spearman"]) == 11


def test_the_name_is_that_of_the_task_or_the_given_one():
    task = fr.TextTask.from_texts(*TASKS["pairs"][:2], labels=TASKS["pairs"][2], name="quora")
    assert fr.tasks.evaluate_pairs(MODEL, task).name == "quora"
    assert fr.tasks.evaluate_pairs(MODEL, task, name="dev").name == "dev"


def test_a_result_converts_to_json_and_tables():
    found = fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"], name="quora")
    assert json.loads(json.dumps(found.to_dict()))["value"] == found.value
    columns = found.table().columns
    assert (columns["metric"][0], columns["mean"][0]) == ("cosine_ap", found.value)
    assert repr(found) == f"<TaskResult quora: pairs, cosine_ap {found.value:.4f}, 300 rows>"
