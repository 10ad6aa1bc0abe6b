"""The protocol of MTEB's classification tasks: classifiers trained on a few rows of each class."""

from __future__ import annotations

import time
from collections import defaultdict

import numpy

from fastrank.arguments import at_least, check_choice
from fastrank.errors import InputError
from fastrank.lazy import optional
from fastrank.searching.progress import bar
from fastrank.tasks.metrics import accuracy, f1, precision, recall
from fastrank.tasks.problem import embedded_sets, one_text
from fastrank.tasks.thresholds import average_precision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import numpy.typing as npt

    from fastrank.tasks.problem import Problem
    from fastrank.tasks.result import TaskResult

    Array = npt.NDArray[Any]

CLASSIFIERS = ("logreg", "knn")


def evaluate_mteb(
    problem: Problem,
    *,
    test: Problem | None = None,
    samples_per_label: int = 8,
    experiments: int = 10,
    folds: int = 5,
    classifier: str = "logreg",
    neighbors: int = 5,
    seed: int = 42,
    progress: bool | None = None,
) -> TaskResult:
    """Mean accuracy of scikit-learn's classifiers, trained on a few rows of each class, as in MTEB.

    test: test rows. Without them, the rows are split into folds, as in the tasks of MTEB that are
        cross-validated; each fold is tested once.
    samples_per_label: training rows of each class; all rows of a class that has fewer.
    experiments: number of training samples, with test. folds: number of folds, without test.
    classifier: "logreg" for LogisticRegression of at most 100 iterations, "knn" for the classes of
        the nearest rows. neighbors: how many of them, with "knn".
    seed: of samples and folds.

    The metrics are accuracy (the main one), f1, precision and recall, as means over classes and
    weighted, and for two classes ap: the average precision of the predicted classes (not of
    probabilities), where class 1 is positive if there is one, else the larger.
    """
    check_choice("classifier", classifier, CLASSIFIERS)
    at_least("samples_per_label", samples_per_label, 1)
    at_least("experiments", experiments, 1)
    at_least("folds", folds, 2)
    at_least("neighbors", neighbors, 1)
    at_least("seed", seed, 0)
    if test is None and folds > len(problem):
        raise InputError(problem.name, f"{len(problem)} rows are fewer than folds={folds}")
    vectors = one_text(problem, "mteb", embedded_sets(problem, test=test))
    started = time.perf_counter()
    if test is None:
        splits = _folds(problem.y, folds, samples_per_label, seed)
        tested, tested_y = vectors[0], problem.y
    else:
        splits = _samples(problem.y, len(test), experiments, samples_per_label, seed)
        tested, tested_y = vectors[1], test.y
    values: dict[str, list[float]] = defaultdict(list)
    records: dict[str, list[Any]] = {"experiment": [], "metric": [], "value": []}
    with bar("training", experiments if test is not None else folds, "classifiers", progress) as at:
        for experiment, (training, testing) in enumerate(splits, 1):
            inputs, y = vectors[0][training], problem.y[training]
            _check_sample(problem, y, classifier, neighbors)
            if classifier == "knn":
                predicted = nearest_classes(
                    inputs, y, tested[testing], neighbors, "euclidean", "protocol 'mteb'"
                )
            else:
                model = fitted(inputs, y, "protocol 'mteb'", random_state=seed)
                predicted = model.predict(tested[testing])
            # A fold without rows of some class may have a metric that others lack.
            for name, value in scores(tested_y[testing], predicted, problem.classes).items():
                values[name].append(value)
                for column, entry in zip(records, (experiment, name, value), strict=True):
                    records[column].append(entry)
            at.update(1)
    return problem.result(
        "mteb",
        dict(values),
        "accuracy",
        started,
        seed=seed,
        notes=_notes(problem, samples_per_label),
        records=records,
    )


def scores(y: Array, predicted: Array, classes: list[Any]) -> dict[str, float]:
    """MTEB's metrics of predicted places in `classes`, by MTEB's names."""
    found = {"accuracy": accuracy(y, predicted)}
    for name, metric in (("f1", f1), ("precision", precision), ("recall", recall)):
        found[name] = metric(y, predicted, average="macro")
        found[f"{name}_weighted"] = metric(y, predicted, average="weighted")
    present = numpy.unique(y).tolist()
    if len(present) == 2:
        labels = [classes[place] for place in present]
        positive = present[labels.index(1) if 1 in labels else 1]
        found["ap"] = average_precision(y == positive, predicted)
        # The weights of the average of one class.
        found["ap_weighted"] = found["ap"]
    return found


def _samples(
    y: Array, tests: int, experiments: int, per_class: int, seed: int
) -> Iterator[tuple[Array, Array]]:
    """Training rows of each experiment, and all test rows."""
    order, every = numpy.arange(len(y)), numpy.arange(tests)
    for _ in range(experiments):
        # Every experiment shuffles the last one's order, from the same seed.
        numpy.random.RandomState(seed).shuffle(order)
        yield _first_of_classes(order, y, per_class), every


def _folds(y: Array, folds: int, per_class: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Training rows and test rows of each fold."""
    selection = optional("sklearn.model_selection", "protocol 'mteb'", "probe")
    splitter = selection.KFold(n_splits=folds, shuffle=True, random_state=seed)
    order: Array | None = None
    for training, testing in splitter.split(y):
        # The order has the length of the first fold, also where later ones have a row more.
        order = numpy.arange(len(training)) if order is None else order
        numpy.random.RandomState(seed).shuffle(order)
        yield training[_first_of_classes(order, y[training], per_class)], testing


def _first_of_classes(order: Array, y: Array, count: int) -> Array:
    """The first rows of each class in this order."""
    ordered = y[order]
    by_class = numpy.argsort(ordered, kind="stable")
    sizes = numpy.bincount(ordered)
    starts = numpy.repeat(numpy.cumsum(sizes) - sizes, sizes)
    early = by_class[numpy.arange(len(order)) - starts < count]
    found: Array = order[numpy.sort(early)]
    return found


def _check_sample(problem: Problem, y: Array, classifier: str, neighbors: int) -> None:
    """Raise InputError for training rows that cannot train a classifier."""
    if len(numpy.unique(y)) < 2:
        label = problem.classes[y[0]]
        raise InputError(problem.name, f"the training rows of a fold have only class {label!r}")
    if classifier == "knn" and len(y) < neighbors:
        raise InputError(problem.name, f"{len(y)} training rows are fewer than {neighbors=}")


def _notes(problem: Problem, per_class: int) -> tuple[str, ...]:
    counts = numpy.bincount(problem.y, minlength=len(problem.classes))
    few = [
        f"{label!r} has {count}"
        for label, count in zip(problem.classes, counts.tolist(), strict=True)
        if count < per_class
    ]
    return (f"fewer than {per_class} training rows: {', '.join(few)}",) if few else ()


DISTANCES = ("cosine", "euclidean", "manhattan")


def evaluate_knn(
    problem: Problem,
    *,
    test: Problem | None = None,
    neighbors: int = 5,
    distance: str = "cosine",
) -> TaskResult:
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
    values = {
        "accuracy": [accuracy(y, predicted)],
        "f1": [f1(y, predicted, average="macro")],
        "f1_weighted": [f1(y, predicted, average="weighted")],
    }
    return problem.result("knn", values, "accuracy", started)


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


def fitted(inputs: Any, y: Any, user: str, **options: Any) -> Any:
    """A LogisticRegression fitted to rows and classes, with at most 100 iterations.

    user: what needs scikit-learn. Whether it converged is not reported: the protocols that use it
    score it either way.
    """
    import warnings

    linear = optional("sklearn.linear_model", user, "probe")
    exceptions = optional("sklearn.exceptions", user, "probe")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
        return linear.LogisticRegression(max_iter=100, **options).fit(inputs, y)
