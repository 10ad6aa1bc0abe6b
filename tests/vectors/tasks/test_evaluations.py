"""What the evaluations of similarities accept and return."""

import numpy
import pytest

import fastrank as fr
from fastrank.errors import OptionError
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


ZERO = [[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("kind", "vectors", "labels"),
    [
        ("similarity", (ZERO, ZERO), [1, 0, 0.5]),
        ("pairs", (ZERO, ZERO), [1, 0, 1]),
        ("triplets", (ZERO, ZERO, numpy.eye(3, 2)), None),
        ("bitext", (ZERO, ZERO), None),
    ],
)
def test_zero_vectors_are_noted_if_cosines_are_compared(kind, vectors, labels):
    evaluate = getattr(fr.tasks, f"evaluate_{kind}")
    found = evaluate(vectors, labels)
    count = 3 if kind == "triplets" else 2
    note = f"{count} vectors of texts are zero: their cosines with all others count as 0"
    assert found.notes == (note,)
    assert str(found).endswith(note)
    if kind != "bitext":
        assert evaluate(vectors, labels, similarities="dot").notes == ()


def test_similarities_may_have_the_names_of_metrics():
    names = ("ip", "cos", "l2")
    found = fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"], similarities=names)
    assert list(found.similarities) == ["dot", "cosine", "euclidean"]


def test_the_name_is_that_of_the_task_or_the_given_one():
    task = fr.TextTask.from_texts(*TASKS["pairs"][:2], labels=TASKS["pairs"][2], name="quora")
    assert fr.tasks.evaluate_pairs(MODEL, task).name == "quora"
    assert fr.tasks.evaluate_pairs(MODEL, task, name="dev").name == "dev"


ANGLES = [10, 35, 40, 80]
PAIRS = [[1.0, 0.0]] * 4, [[numpy.cos(own), numpy.sin(own)] for own in numpy.radians(ANGLES)]
METRICS = ("accuracy", "f1", "precision", "recall", "mcc")


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_a_threshold_that_was_chosen_elsewhere_has_the_metrics_of_its_predictions(similarity):
    metrics = pytest.importorskip("sklearn.metrics")
    # Similar are the first two, by either.
    threshold = {"cosine": 0.8, "euclidean": 0.65}
    labels, predicted = [1, 0, 1, 0], [1, 1, 0, 0]
    found = fr.tasks.evaluate_pairs(PAIRS, labels, threshold=threshold, similarities=similarity)
    expected = [
        metrics.accuracy_score(labels, predicted),
        metrics.f1_score(labels, predicted),
        metrics.precision_score(labels, predicted),
        metrics.recall_score(labels, predicted),
        metrics.matthews_corrcoef(labels, predicted),
    ]
    assert [found.mean[f"{similarity}_{name}"] for name in METRICS] == pytest.approx(expected)
    best = fr.tasks.evaluate_pairs(PAIRS, labels, similarities=similarity)
    assert found.value == best.value
    assert found.mean[f"{similarity}_f1_threshold"] == threshold[similarity]


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_thresholds_are_those_of_other_pairs(similarity):
    labels, other = [1, 0, 1, 0], [1, 1, 1, 0]
    how = {"similarities": similarity}
    chosen = fr.tasks.evaluate_pairs(PAIRS, other, **how)
    found = fr.tasks.evaluate_pairs(PAIRS, labels, dev=(PAIRS, other), **how)
    threshold = chosen.mean[f"{similarity}_f1_threshold"]
    given = fr.tasks.evaluate_pairs(PAIRS, labels, threshold=threshold, **how)
    assert found.mean == given.mean
    assert found.mean[f"{similarity}_accuracy"] == 0.75


def test_thresholds_of_a_model_are_those_of_another_task():
    found = fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"], dev=TASKS["pairs"])
    best = fr.tasks.evaluate_pairs(MODEL, TASKS["pairs"])
    assert found.mean == pytest.approx(best.mean)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"threshold": 0.5, "dev": (PAIRS, [1, 0, 1, 0])}, "threshold: cannot be combined with"),
        ({"threshold": {"dot": 0.5}}, "threshold: expected one for each similarity, 'cosine' has"),
        ({"threshold": {"l1": 0.5}}, "threshold: expected keys .*, found 'l1'"),
        ({"dev": [1, 0, 1, 0]}, r"dev: expected \(vectors, labels\), because vectors are given"),
    ],
)
def test_thresholds_that_cannot_be_are_refused(options, reason):
    with pytest.raises(OptionError, match=reason):
        fr.tasks.evaluate_pairs(PAIRS, [1, 0, 1, 0], **options)
