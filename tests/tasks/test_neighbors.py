"""Classification by nearest neighbors, against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.tasks.classification import evaluate_classification
from tests.helpers.labelled_vectors import labelled_vectors

neighbors = pytest.importorskip("sklearn.neighbors")
metrics = pytest.importorskip("sklearn.metrics")

TRAIN, TEST = (labelled_vectors(rows, 12, 4, rows, 3.0) for rows in (150, 80))


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "manhattan"])
@pytest.mark.parametrize("count", [1, 4, 5])
def test_test_rows_get_the_classes_of_scikit_learn(distance: str, count: int) -> None:
    found = evaluate_classification(
        *TRAIN, test=TEST, protocol="knn", neighbors=count, distance=distance
    )

    model = neighbors.KNeighborsClassifier(n_neighbors=count, metric=distance).fit(*TRAIN)
    predicted = model.predict(TEST[0])
    assert found.mean == {
        "accuracy": pytest.approx(metrics.accuracy_score(TEST[1], predicted)),
        "f1": pytest.approx(metrics.f1_score(TEST[1], predicted, average="macro")),
        "f1_weighted": pytest.approx(metrics.f1_score(TEST[1], predicted, average="weighted")),
    }


def test_without_test_rows_each_row_is_left_out_once() -> None:
    vectors, y = TRAIN

    found = evaluate_classification(vectors, y, protocol="knn", neighbors=3)

    correct = 0
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        model = neighbors.KNeighborsClassifier(n_neighbors=3, metric="cosine")
        model.fit(vectors[others], y[others])
        correct += int(model.predict(vectors[row : row + 1])[0] == y[row])
    assert found.value == pytest.approx(correct / len(y))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"neighbors": 150}, "149 other rows are fewer than neighbors=150"),
        ({"neighbors": 0}, "neighbors.*expected 1 or more"),
        ({"distance": "dot"}, "distance.*expected one of 'cosine'"),
    ],
)
def test_bad_options_are_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(fr.FastrankError, match=message):
        evaluate_classification(*TRAIN, protocol="knn", **options)
