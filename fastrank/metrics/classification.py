"""Metrics of predicted labels."""

from __future__ import annotations

import numpy

from fastrank.arguments import check_choice
from fastrank.errors import ArrayError
from fastrank.metrics.inputs import codes, label_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]

AVERAGES = ("binary", "macro", "weighted")


def accuracy(labels: Any, predictions: Any) -> float:
    """The fraction of predictions that equal the label.

    labels, predictions: lists or arrays of equal length, numbers or str. Raises ArrayError for
    other input. Equal to `sklearn.metrics.accuracy_score`.

    >>> fr.metrics.accuracy(["a", "b", "b"], ["a", "b", "a"])
    0.6666666666666666
    """
    _, truth, predicted = codes("labels", labels, "predictions", predictions)
    return float(numpy.average(truth == predicted))


def matthews(labels: Any, predictions: Any) -> float:
    """Matthews correlation coefficient of any number of classes; 0 if it is undefined.

    It is undefined if all labels or all predictions are equal. Formula: Gorodkin, Comparing two
    K-category assignments by a K-category correlation coefficient, 2004. labels, predictions: as in
    `accuracy`. Equal to `sklearn.metrics.matthews_corrcoef`.

    >>> fr.metrics.matthews([1, 1, 0, 0], [1, 1, 1, 0])
    0.5773502691896258
    """
    classes, truth, predicted = codes("labels", labels, "predictions", predictions)
    _, labeled, as_predicted = _counts(len(classes), truth, predicted)
    return matthews_of_counts(int((truth == predicted).sum()), labeled, as_predicted)


def matthews_of_counts(correct: int, labeled: Array, predicted: Array) -> float:
    """Matthews correlation from the number of correct predictions and the sizes of the classes."""
    labeled, predicted = labeled.astype(numpy.float64), predicted.astype(numpy.float64)
    count = predicted.sum()
    covariance = correct * count - numpy.dot(labeled, predicted)
    variances = (count**2 - numpy.dot(predicted, predicted)) * (
        count**2 - numpy.dot(labeled, labeled)
    )
    return float(covariance / numpy.sqrt(variances)) if variances else 0.0


def precision(
    labels: Any, predictions: Any, *, average: str = "binary", positive: Any = 1
) -> float:
    """Precision: of the predictions of a class, the fraction that is correct; 0 if there are none.

    labels, predictions: as in `accuracy`.
    average: `binary` for the class `positive`; `macro` for the mean over the classes that appear in
        labels or predictions; `weighted` for their mean weighted by their number of labels. (The
        micro average is the accuracy.)

    Equal to `sklearn.metrics.precision_score` with `zero_division=0`. Raises ArrayError if
    `positive` does not appear.

    >>> fr.metrics.precision([1, 1, 0, 0], [1, 1, 1, 0])
    0.6666666666666666
    """
    return _averaged("precision", labels, predictions, average, positive)


def recall(labels: Any, predictions: Any, *, average: str = "binary", positive: Any = 1) -> float:
    """Recall: of the labels of a class, the fraction that is predicted; 0 if there are none.

    Arguments as in `precision`. Equal to `sklearn.metrics.recall_score` with `zero_division=0`.

    >>> fr.metrics.recall([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """
    return _averaged("recall", labels, predictions, average, positive)


def f1(labels: Any, predictions: Any, *, average: str = "binary", positive: Any = 1) -> float:
    """F1, the harmonic mean of precision and recall; 0 if no prediction is correct.

    Arguments as in `precision`. Equal to `sklearn.metrics.f1_score`.

    >>> fr.metrics.f1([1, 1, 0, 0], [1, 1, 1, 0])
    0.8
    """
    return _averaged("f1", labels, predictions, average, positive)


def macro_f1(
    labels: Any,
    predictions: Any,
    *,
    classes: Sequence[Any] | None = None,
    count_absent: bool = False,
) -> float:
    """The mean of the F1 of the classes.

    labels, predictions: as in `accuracy`.
    classes: the classes to average over; by default those in labels or predictions.
    count_absent: a class that is in neither labels nor predictions counts as 0, as in
        scikit-learn's `f1_score(labels=classes, average="macro")`. By default it is skipped, as in
        torchmetrics.

    >>> fr.metrics.macro_f1([0, 0, 1, 1], [0, 0, 0, 1])
    0.7333333333333334
    >>> fr.metrics.macro_f1([0, 0, 1, 1], [0, 0, 0, 1], classes=[0, 1, 2], count_absent=True)
    0.48888888888888893
    """
    values, sizes = _per_class("f1", labels, predictions, classes)
    return float(values.mean() if count_absent else values[sizes > 0].mean())


def weighted_f1(labels: Any, predictions: Any) -> float:
    """The mean of the F1 of the classes, weighted by their number of labels.

    labels, predictions: as in `accuracy`. Equal to scikit-learn's `f1_score(average="weighted")`.

    >>> fr.metrics.weighted_f1([0, 0, 0, 1], [0, 0, 1, 1])
    0.7666666666666667
    """
    return f1(labels, predictions, average="weighted")


def adjusted_f1(labels: Any, predictions: Any, *, classes: Sequence[Any] | None = None) -> float:
    """Macro F1 adjusted for chance: max(0, (F - 1/C) / (1 - 1/C)) for C classes.

    labels, predictions, classes: as in `macro_f1`; absent classes are not averaged, but count in C.
    Source: Ulysses SentEval. Raises ArrayError for fewer than two classes.

    >>> fr.metrics.adjusted_f1([0, 0, 1, 1], [0, 0, 0, 1])
    0.4666666666666668
    """
    values, sizes = _per_class("f1", labels, predictions, classes)
    if len(values) < 2:
        raise ArrayError("labels", "expected at least two classes, found one")
    chance = 1.0 / len(values)
    return max(0.0, float((values[sizes > 0].mean() - chance) / (1.0 - chance)))


def _counts(count: int, truth: Array, predicted: Array) -> tuple[Array, Array, Array]:
    """Per class, the numbers of correct predictions, of labels and of predictions."""
    return (
        numpy.bincount(truth[truth == predicted], minlength=count),
        numpy.bincount(truth, minlength=count),
        numpy.bincount(predicted, minlength=count),
    )


def _of_classes(kind: str, correct: Array, labeled: Array, predicted: Array) -> Array:
    """Precision, recall or F1 of each class."""
    above, below = correct, predicted
    if kind == "recall":
        below = labeled
    elif kind == "f1":
        above, below = 2.0 * correct, labeled + predicted
    return above / numpy.maximum(below, 1)


def _averaged(kind: str, labels: Any, predictions: Any, average: str, positive: Any) -> float:
    check_choice("average", average, AVERAGES)
    classes, truth, predicted = codes("labels", labels, "predictions", predictions)
    counts = _counts(len(classes), truth, predicted)
    values = _of_classes(kind, *counts)
    if average == "macro":
        return float(values.mean())
    if average == "weighted":
        return float(numpy.average(values, weights=counts[1]))
    at = numpy.flatnonzero(classes == positive)
    if not len(at) and not set(classes.tolist()) <= {0, 1}:
        raise ArrayError("labels", f"the positive class {positive!r} does not appear")
    return float(values[at[0]]) if len(at) else 0.0


def _per_class(
    kind: str, labels: Any, predictions: Any, classes: Sequence[Any] | None
) -> tuple[Array, Array]:
    """A value per class, and how often it is in labels and predictions."""
    present, truth, predicted = codes("labels", labels, "predictions", predictions)
    counts = _counts(len(present), truth, predicted)
    values, sizes = _of_classes(kind, *counts), counts[1] + counts[2]
    if classes is None:
        return values, sizes
    wanted = label_array("classes", classes)
    if len(numpy.unique(wanted)) != len(wanted):
        raise ArrayError("classes", "expected distinct classes")
    missing = ~numpy.isin(present, wanted)
    if missing.any():
        found = present[missing.argmax()].item()
        raise ArrayError("classes", f"the class {found!r} of labels or predictions is missing")
    at = numpy.minimum(numpy.searchsorted(present, wanted), len(present) - 1)
    absent = present[at] != wanted
    return numpy.where(absent, 0.0, values[at]), numpy.where(absent, 0, sizes[at])
