"""Evaluations that are compared with MTEB: for its task class, and for fastrank."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.helpers.labelled_vectors import labelled_vectors

CLASSES, LABELS, NUMBERS = (
    f"AbsTask{kind}" for kind in ("Classification", "MultilabelClassification", "Regression")
)


def classes(count: int, *rows: int) -> list[Any]:
    """Sets of vectors with one class each."""
    return [labelled_vectors(size, 16, count, seed, 4.0) for seed, size in enumerate(rows)]


def labels(*rows: int) -> list[Any]:
    """Sets of vectors with lists of labels."""
    found = []
    for seed, size in enumerate(rows):
        vectors, _ = labelled_vectors(size, 16, 2, seed, 2.0)
        found.append((vectors, [[n for n in range(5) if row[n] > 0.7] for row in vectors]))
    return found


def numbers(digits: int, *rows: int) -> list[Any]:
    """Sets of vectors with a number each, which has ties if it is rounded."""
    found = []
    for seed, size in enumerate(rows):
        vectors, _ = labelled_vectors(size, 16, 2, seed, 2.0)
        exact = vectors[:, 0] + vectors[:, 1] ** 2 + vectors[:, 2]
        found.append((vectors, exact.astype(float).round(digits).tolist()))
    return found


def knn() -> dict[str, Any]:
    """MTEB's setting of another classifier."""
    from sklearn.neighbors import KNeighborsClassifier

    return {"evaluator_model": KNeighborsClassifier(n_neighbors=5)}


def logreg() -> dict[str, Any]:
    """MTEB's setting of a classifier per label."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multioutput import MultiOutputClassifier

    return {"evaluator_model": MultiOutputClassifier(estimator=LogisticRegression())}


def more() -> dict[str, Any]:
    """MTEB's settings of more training rows and fewer experiments."""
    return {"samples_per_label": 20, "n_experiments": 3}


MORE = {"samples_per_label": 20, "experiments": 3}
# The task class, the training rows and perhaps test rows, MTEB's settings, our options.
CASES: dict[str, tuple[str, Any, Any, dict[str, Any]]] = {
    "binary": (CLASSES, partial(classes, 2, 203, 100), dict, {}),
    "classes": (CLASSES, partial(classes, 7, 203, 100), dict, {}),
    "few_rows": (CLASSES, partial(classes, 7, 40, 100), dict, {}),
    "more": (CLASSES, partial(classes, 3, 203, 100), more, MORE),
    "knn": (CLASSES, partial(classes, 3, 203, 100), knn, {"classifier": "knn"}),
    "folds": (CLASSES, partial(classes, 3, 203), dict, {}),
    "binary_folds": (CLASSES, partial(classes, 2, 101), dict, {}),
    "multilabel": (LABELS, partial(labels, 300, 120), dict, {}),
    "multilabel_more": (LABELS, partial(labels, 300, 120), more, MORE),
    "multilabel_logreg": (LABELS, partial(labels, 300, 120), logreg, {"classifier": "logreg"}),
    "regression": (NUMBERS, partial(numbers, 9, 500, 200), dict, {}),
    "regression_samples": (NUMBERS, partial(numbers, 9, 2700, 200), dict, {}),
    "regression_ties": (NUMBERS, partial(numbers, 0, 2700, 200), dict, {}),
}


def mteb_values(name: str) -> dict[str, list[float]]:
    """What MTEB finds in a case: for each metric a value per experiment."""
    from tests.helpers.mteb_tasks import mteb_scores

    kind, make, settings, _ = CASES[name]
    train, *test = make()
    column = "value" if kind == NUMBERS else "label"
    scores = mteb_scores(kind, train, test[0] if test else None, column, **settings())
    found: dict[str, list[float]] = {}
    for experiment in scores["scores_per_experiment"]:
        for metric, value in experiment.items():
            if value is not None:
                found.setdefault(metric, []).append(float(value))
    return found
