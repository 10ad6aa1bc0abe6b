"""Classification by nearest neighbors."""

from __future__ import annotations

import time

import numpy

from fastrank.arguments import at_least, check_choice
from fastrank.errors import InputError
from fastrank.lazy import optional
from fastrank.metrics import accuracy, f1
from fastrank.probes.embedded_sets import embedded_sets, one_text
from fastrank.probes.results import ProbeResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from fastrank.probes.problem import Problem

    Array = npt.NDArray[Any]

DISTANCES = ("cosine", "euclidean", "manhattan")


def evaluate(
    problem: Problem,
    *,
    test: Problem | None = None,
    neighbors: int = 5,
    distance: str = "cosine",
) -> ProbeResult:
    """Accuracy of the class that most of the nearest rows have; nothing is trained.

    test: test rows, whose neighbors are searched among all rows of the task. Without them, each row
        of the task is tested against all others (leave one out).
    neighbors: how many; the smallest of the classes that are equally frequent wins.
    distance: "cosine", "euclidean" or "manhattan".

    The metrics are accuracy (the main one), f1 (macro) and f1_weighted. Equal to scikit-learn's
    KNeighborsClassifier, also as MTEB uses it.
    """
    at_least("neighbors", neighbors, 1)
    check_choice("distance", distance, DISTANCES)
    others = len(problem) - (test is None)
    if others < neighbors:
        raise InputError(problem.name, f"{others} other rows are fewer than neighbors={neighbors}")
    vectors = one_text(problem, "knn", embedded_sets(problem, test=test))
    started = time.perf_counter()
    tested = None if test is None else vectors[1]
    y = problem.y if test is None else test.y
    predicted = nearest_classes(
        vectors[0], problem.y, tested, neighbors, distance, "protocol 'knn'"
    )
    value = accuracy(y, predicted)
    return ProbeResult(
        name=problem.name, protocol="knn", metric="accuracy", value=value, std=0.0,
        values={
            "accuracy": [value],
            "f1": [f1(y, predicted, average="macro")],
            "f1_weighted": [f1(y, predicted, average="weighted")],
        },
        rows=len(problem), classes=problem.classes, seconds=time.perf_counter() - started,
    )  # fmt: skip


def nearest_classes(
    inputs: Array, y: Array, tested: Array | None, neighbors: int, distance: str, user: str
) -> Array:
    """The class of most of the nearest rows of each tested row, or among all others of each row.

    user: what needs scikit-learn.
    """
    library = optional("sklearn.neighbors", user, "probe")
    model = library.NearestNeighbors(n_neighbors=neighbors, metric=distance).fit(inputs)
    nearest = y[model.kneighbors(tested, return_distance=False)]
    votes = numpy.zeros((len(nearest), int(y.max()) + 1), numpy.int32)
    numpy.add.at(votes, (numpy.arange(len(nearest))[:, None], nearest), 1)
    found: Array = votes.argmax(axis=1)
    return found
