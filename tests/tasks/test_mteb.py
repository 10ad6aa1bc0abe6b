"""The protocol of MTEB's classification, against mteb and recorded values of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.tasks.classification import evaluate_classification
from fastrank.tasks.multilabel import evaluate_multilabel
from fastrank.tasks.regression import evaluate_regression
from tests.helpers.labelled_vectors import labelled_vectors
from tests.helpers.mteb_cases import CASES, CLASSES, LABELS, mteb_values

pytest.importorskip("sklearn")

RECORDED = json.loads((Path(__file__).parents[1] / "recorded" / "probes" / "mteb.json").read_text())
ROWS = labelled_vectors(60, 8, 2, 1)


def evaluated(name: str) -> Any:
    """The result of a case."""
    kind, make, _, options = CASES[name]
    (vectors, labels), *others = make()
    test = others[0] if others else None
    if kind == CLASSES:
        return evaluate_classification(vectors, labels, test=test, protocol="mteb", **options)
    evaluate = evaluate_multilabel if kind == LABELS else evaluate_regression
    return evaluate(vectors, labels, test=test, **options)


@pytest.mark.parametrize("name", CASES)
def test_every_value_is_the_recorded_one(name: str) -> None:
    found, expected = evaluated(name).values, RECORDED[name]

    assert set(found) == set(expected)
    for metric, values in expected.items():
        # scikit-learn's solver stops after 100 steps, where other roundings of the sums, as with
        # another number of threads, change a prediction or two.
        np.testing.assert_allclose(found[metric], values, rtol=1e-5, atol=0.02, err_msg=metric)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_every_value_is_that_of_the_installed_mteb(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pytest.importorskip("mteb", reason="mteb is not installed")

    assert evaluated(name).values == mteb_values(name)


def test_the_value_is_the_mean_accuracy_of_the_experiments() -> None:
    found = evaluated("binary")

    assert (found.metric, len(found.values["accuracy"])) == ("accuracy", 10)
    assert found.value == np.mean(found.values["accuracy"])
    assert found.value == pytest.approx(np.mean(RECORDED["binary"]["accuracy"]), abs=0.005)
    assert found.std == pytest.approx(np.std(found.values["accuracy"], ddof=1))


def test_labels_may_be_strings() -> None:
    (vectors, y), test = CASES["binary"][1]()

    found = evaluate_classification(
        vectors, [("no", "yes")[label] for label in y], protocol="mteb",
        test=(test[0], [("no", "yes")[label] for label in test[1]]),
    )  # fmt: skip

    assert found.values == evaluated("binary").values
    assert found.classes == ["no", "yes"]


def test_classes_with_too_few_rows_are_noted() -> None:
    y = np.array([0] * 50 + [1] * 10)

    found = evaluate_classification(
        ROWS[0], y, test=ROWS, protocol="mteb", samples_per_label=20, experiments=1
    )

    assert found.notes == ("fewer than 20 training rows: 1 has 10",)


def test_values_are_numbered_by_experiment() -> None:
    pytest.importorskip("pandas")
    frame = evaluated("folds").frame()

    assert frame[frame.metric == "accuracy"]["experiment"].tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classifier": "mlp"}, "classifier.*expected one of 'logreg', 'knn'"),
        ({"experiments": 0}, "experiments.*expected 1 or more"),
        ({"folds": 61}, "60 rows are fewer than folds=61"),
        ({"samples_per_label": 0}, "samples_per_label"),
        ({"classifier": "knn", "neighbors": 20}, "16 training rows are fewer than neighbors=20"),
        ({"test": (np.ones((4, 3)), [0, 1, 0, 1])}, "found 8 and 3 dimensions"),
    ],
)
def test_bad_options_are_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(fr.FastrankError, match=message):
        evaluate_classification(*ROWS, protocol="mteb", **options)


def test_a_fold_whose_training_rows_have_one_class_is_an_error() -> None:
    with pytest.raises(fr.InputError, match="only class 0"):
        evaluate_classification(np.eye(5), [0, 0, 0, 0, 1], protocol="mteb")


def test_pairs_have_no_features() -> None:
    vectors, y = ROWS
    with pytest.raises(fr.ArrayError, match="does not combine the vectors"):
        evaluate_classification((vectors, vectors), y, protocol="mteb")
