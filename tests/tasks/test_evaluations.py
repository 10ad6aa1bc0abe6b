"""What the evaluations of similarities accept and return."""

import numpy
import pytest

import fastrank as fr
from tests.helpers import similar_vectors as made

MODEL, TASKS = made.make("real")


def _untimed(result):
    return {**result.to_dict(), "seconds": 0, "name": ""}


@pytest.mark.parametrize("kind", ["similarity", "pairs", "triplets", "bitext"])
def test_vectors_yield_what_their_model_yields(kind):
    """With labels in a list, an array or a task; without labels, they may stand alone."""
    evaluate = getattr(fr.tasks, f"evaluate_{kind}")
    texts, labels = TASKS[kind], None
    if kind in ("similarity", "pairs"):
        *texts, labels = texts
    task = fr.TextTask.from_texts(*texts, labels=labels)
    vectors = tuple(MODEL.encode(column) for column in texts)
    given = [(MODEL, tuple(TASKS[kind])), (vectors, labels), (vectors, task)]
    given.append((vectors,) if labels is None else (vectors, numpy.array(labels)))
    expected = _untimed(evaluate(MODEL, task))
    assert [_untimed(evaluate(*own)) for own in given] == [expected] * 4


def test_of_several_similarities_the_main_metric_is_the_maximum():
    one = fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"])
    several = fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"], similarities=("dot", "cosine"))
    assert (one.metric, list(one.similarities)) == ("cosine_ap", ["cosine"])
    assert {name.split("_")[0] for name in one.mean} == {"cosine"}
    assert several.metric == "max_ap"
    assert several.value == max(several.mean["dot_ap"], one.value)


def test_pairs_may_all_be_called_similar_but_by_mteb():
    vectors = [[1, 0], [1, 0]], [[1, 0], [0, 1]]
    protocols = ("sentence-transformers", "mteb")
    found = [fr.tasks.evaluate_pairs(vectors, [0, 1], protocol=one).mean for one in protocols]
    assert [mean["cosine_f1"] for mean in found] == pytest.approx([2 / 3, 0.0])


def test_of_equally_near_translations_the_first_is_found():
    found = fr.tasks.evaluate_bitext(([[1, 0], [1, 0]], [[1, 0], [2, 0]]))
    assert found.values["accuracy"] == [1.0, 0.0]


def test_the_name_is_that_of_the_task_or_the_given_one():
    task = fr.TextTask.from_texts(*TASKS["pairs"][:2], labels=TASKS["pairs"][2], name="quora")
    assert fr.tasks.evaluate_pairs(MODEL, task).name == "quora"
    assert fr.tasks.evaluate_pairs(MODEL, task, name="dev").name == "dev"
