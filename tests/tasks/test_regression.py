"""Linear regression; tests/probes/test_mteb.py compares the values with MTEB's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.tasks.regression import evaluate_regression
from tests.helpers.mteb_cases import numbers

linear_model = pytest.importorskip("sklearn.linear_model")

TRAIN, TEST = numbers(9, 300, 60)


def test_all_rows_train_if_there_are_few() -> None:
    found = evaluate_regression(*TRAIN, test=TEST, experiments=2)

    predicted = linear_model.LinearRegression().fit(*TRAIN).predict(TEST[0])
    expected = fr.tasks.kendall(TEST[1], predicted)
    assert found.values["kendalltau"] == [expected, expected]


def test_fewer_samples_are_drawn_anew_in_each_experiment() -> None:
    found = evaluate_regression(*TRAIN, test=TEST, samples=100, experiments=3)

    assert len(set(found.values["mse"])) == 3


def test_a_transformer_is_fitted_on_the_training_texts() -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    training = [f"price {number % 13}" for number in range(60)]
    values = [float(number % 13) for number in range(60)]

    found = evaluate_regression(
        text.TfidfVectorizer(token_pattern=r"\w+"), (training, values),
        test=(["price 3", "price 9", "unseen words"], [3.0, 9.0, 1.0]),
    )  # fmt: skip

    assert found.rows == 60


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a"] * 300, "row 0: expected a finite number, found 'a'"),
        ([1.0] * 300, "expected at least two distinct numbers"),
        ([np.inf] * 300, "expected a finite number, found inf"),
        ([np.nan] * 300, "row 0: the label is missing"),
    ],
)
def test_labels_that_are_no_numbers_are_errors(labels: list[Any], message: str) -> None:
    with pytest.raises(fr.InputError, match=message):
        evaluate_regression(TRAIN[0], labels, test=TEST)


def test_pairs_of_texts_are_an_error() -> None:
    with pytest.raises(fr.InputError, match="expected 1 text in each row, found 2"):
        evaluate_regression(len, (["a"], ["b"], [1.0]), test=(["a"], ["b"], [1.0]))
