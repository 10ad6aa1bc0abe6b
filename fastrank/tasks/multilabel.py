"""Classification of rows that have any number of labels, as in MTEB."""

from __future__ import annotations

from collections import defaultdict

import numpy

from fastrank.arguments import at_least, check_choice
from fastrank.errors import ArrayError, InputError
from fastrank.keywords import takes, with_defaults
from fastrank.lazy import optional
from fastrank.tasks.inputs import TASK, TaskOptions, TaskRows, training_and_tests
from fastrank.tasks.mteb import fitted
from fastrank.tasks.result import TaskResult, means_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt
    from typing_extensions import Unpack

    Array = npt.NDArray[Any]

CLASSIFIERS = ("knn", "logreg")
USER = "evaluate_multilabel"


@takes(TaskOptions, TASK)
def evaluate_multilabel(
    model_or_vectors: Any,
    task: Any,
    *,
    test: Any,
    classifier: str = "knn",
    neighbors: int = 5,
    samples_per_label: int = 8,
    experiments: int = 10,
    seed: int = 42,
    **options: Unpack[TaskOptions],
) -> TaskResult:
    """Train classifiers of any number of labels per row on embeddings, as MTEB does.

    model_or_vectors: a model as in `evaluate_model`, or vectors, an array, tensor or list of rows.
    task: training rows: a TextTask whose labels are lists, or what makes one (see
        `evaluate_classification`); with vectors also a list of lists of labels, or an array of 0
        and 1 of shape (rows, labels).
    test: test rows in the same form; with vectors a tuple (vectors, labels).
    classifier: "knn" for the labels that most of the nearest rows have, "logreg" for a
        LogisticRegression per label.
    neighbors: of "knn". samples_per_label: rows are drawn while one of their labels has been drawn
        less often. experiments: number of such training samples. seed: of these.
    **options: see `TaskOptions`.

    The metrics are accuracy (the main one; all labels of a row are right), lrap (label ranking
    average precision), f1 (macro) and hamming (labels in common, of those in either). Labels that
    no test row has are ignored. Unlike MTEB, which takes 3,000 of them, all test rows are used.

    Raises InputError for labels that are not lists, of several types, or too few; ArrayError,
    OptionError and TypeError as `evaluate_classification`.

    >>> import numpy
    >>> vectors = numpy.random.RandomState(0).normal(size=(400, 4))
    >>> labels = [[place for place in range(4) if row[place] > 0] for row in vectors]
    >>> test = vectors[200:], labels[200:]
    >>> fr.tasks.evaluate_multilabel(vectors[:200], labels[:200], test=test)
    <TaskResult labels: multilabel, accuracy 0.3420 ± 0.0779, 200 rows>
    """
    check_choice("classifier", classifier, CLASSIFIERS)
    at_least("neighbors", neighbors, 1)
    at_least("samples_per_label", samples_per_label, 1)
    at_least("experiments", experiments, 1)
    at_least("seed", seed, 0)
    if isinstance(test, tuple) and len(test) == 2:
        test = (test[0], _without_indicators("test", test[1]))
    training, tests = training_and_tests(
        model_or_vectors,
        _without_indicators("task", task),
        test,
        with_defaults(evaluate_multilabel, options),
    )
    (vectors,), (test_vectors,) = training.vectors, tests.vectors
    labels, test_labels = _lists(training), _lists(tests)
    kinds = {isinstance(label, str) for row in labels + test_labels for label in row}
    if len(kinds) > 1:
        raise InputError(training.name, "expected labels of one type, found str and others")
    classes = sorted({label for row in test_labels for label in row})
    if len(classes) < 2:
        raise InputError(tests.name, f"expected at least two labels, found {len(classes)}")
    expected = _indicators(test_labels, classes)
    indicators = _indicators(labels, classes)
    random = numpy.random.default_rng(seed)
    samples = [_sample(labels, samples_per_label, random) for _ in range(experiments)]
    if classifier == "logreg":
        _check_both(training.name, indicators, samples, classes)
    elif min(map(len, samples)) < neighbors:
        few = f"{min(map(len, samples))} training rows are fewer than neighbors={neighbors}"
        raise InputError(training.name, few)
    values: dict[str, list[float]] = defaultdict(list)
    for rows in samples:
        inputs, y = vectors[rows], indicators[rows]
        if classifier == "knn":
            library = optional("sklearn.neighbors", USER, "probe")
            model = library.KNeighborsClassifier(n_neighbors=neighbors).fit(inputs, y)
            predicted = ranking = model.predict(test_vectors)
        else:
            models = [fitted(inputs, column, USER) for column in y.T]
            predicted = numpy.stack([one.predict(test_vectors) for one in models], axis=1)
            ranking = numpy.stack([one.predict_proba(test_vectors)[:, 1] for one in models], 1)
        for metric, score in _scores(expected, predicted, ranking).items():
            values[metric].append(score)
    means = means_of(dict(values), "accuracy")
    return training.result("multilabel", "mteb", **means, classes=classes, seed=seed)


def _scores(expected: Array, predicted: Array, ranking: Array) -> dict[str, float]:
    """MTEB's metrics of indicators of labels, by MTEB's names."""
    metrics = optional("sklearn.metrics", USER, "probe")
    common, either = (expected & predicted).sum(axis=1), (expected | predicted).sum(axis=1)
    return {
        "accuracy": float((expected == predicted).all(axis=1).mean()),
        "lrap": float(metrics.label_ranking_average_precision_score(expected, ranking)),
        "f1": float(metrics.f1_score(expected, predicted, average="macro", zero_division=0)),
        "hamming": float(numpy.where(either == 0, 1.0, common / numpy.maximum(either, 1)).mean()),
    }


def _without_indicators(name: str, given: Any) -> Any:
    """Lists of the columns that are 1 if an array of two dimensions is given."""
    if getattr(given, "ndim", 1) != 2 or not hasattr(given, "tolist"):
        return given
    array = numpy.asarray(given)
    if not numpy.isin(array, (0, 1)).all():
        raise ArrayError(name, "expected an array of 0 and 1, or a list of lists of labels")
    return [numpy.flatnonzero(row).tolist() for row in array]


def _lists(given: TaskRows) -> list[list[Any]]:
    """The labels of each row. Raises InputError for what is not a list of numbers or str."""
    rows = []
    for number, row in enumerate(given.labels):
        if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
            found = type(row).__name__
            raise InputError(given.name, f"row {number}: expected a list of labels, found {found}")
        labels = sorted(row) if isinstance(row, (set, frozenset)) else list(row)
        for label in labels:
            if not isinstance(label, (int, str)) and not hasattr(label, "__index__"):
                found = f"expected labels that are int or str, found {type(label).__name__}"
                raise InputError(given.name, f"row {number}: {found}")
        rows.append(labels)
    return rows


def _indicators(rows: list[list[Any]], classes: list[Any]) -> Array:
    """0 or 1 for each row and class; other labels are ignored."""
    places = {label: place for place, label in enumerate(classes)}
    found = numpy.zeros((len(rows), len(classes)), numpy.int64)
    for number, row in enumerate(rows):
        found[number, [places[label] for label in row if label in places]] = 1
    return found


def _sample(rows: list[list[Any]], per_label: int, random: numpy.random.Generator) -> list[int]:
    """Rows in random order that have a label of which fewer were drawn so far."""
    order = list(range(len(rows)))
    random.shuffle(order)
    counts: dict[Any, int] = defaultdict(int)
    found = []
    for row in order:
        if any(counts[label] < per_label for label in rows[row]):
            found.append(row)
            for label in rows[row]:
                counts[label] += 1
    return found


def _check_both(name: str, indicators: Array, samples: list[list[int]], classes: list[Any]) -> None:
    """Raise InputError for a label that all or no rows of a sample have."""
    for rows in samples:
        counts = indicators[rows].sum(axis=0)
        for label, count in zip(classes, counts.tolist(), strict=True):
            if count in (0, len(rows)):
                found = f"label {label!r} is in {'all' if count else 'no'} rows of a sample"
                raise InputError(name, f"{found} of {len(rows)}; classifier='logreg' needs both")
