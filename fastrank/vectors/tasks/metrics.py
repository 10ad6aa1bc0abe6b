"""Checks of labels and scores, which become arrays."""

from __future__ import annotations

import warnings

import numpy

from fastrank.common.arguments import at_least, check_choice
from fastrank.core.formats.tables.values import as_rows, check_integers, to_int64
from fastrank.errors import ArrayError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from fastrank.common.arrays import Array


def _one_column(name: str, array: Array) -> Array:
    """An array of one dimension, or of two with one column, as models with one output have."""
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 1:
        raise ArrayError(name, f"expected one dimension, found {array.ndim}")
    return array


def label_array(name: str, labels: Any) -> Array:
    """Labels as a one-dimensional array of integers, floats, bools or str. Raises ArrayError."""
    values = labels if hasattr(labels, "dtype") else list(labels)
    if isinstance(values, list):
        kinds = {str if isinstance(label, str) else type(label) for label in values}
        if str in kinds and len(kinds) > 1:
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise ArrayError(name, f"expected labels of one type, found {names}")
    array = numpy.asarray(values)
    if array.dtype.kind == "O" and hasattr(labels, "dtype"):
        return label_array(name, array.tolist())
    array = _one_column(name, array)
    if array.dtype.kind not in "biufUS":
        raise ArrayError(name, "expected labels that are numbers or str")
    if array.dtype.kind == "f" and numpy.isnan(array).any():
        raise ArrayError(name, "the label is NaN", int(numpy.isnan(array).argmax()))
    return array


def same_length(name: str, array: Array, other_name: str, other_array: Array) -> None:
    """Raise ArrayError unless the arrays have the same length, which is not 0."""
    if len(array) != len(other_array):
        raise ArrayError(
            other_name, f"expected {len(array)} values, as in {name}, found {len(other_array)}"
        )
    if not len(array):
        raise ArrayError(name, "expected at least one value, found none")


def codes(name: str, labels: Any, other_name: str, others: Any) -> tuple[Array, Array, Array]:
    """The sorted distinct labels, and the position of each label and each other label in it."""
    first, second = label_array(name, labels), label_array(other_name, others)
    same_length(name, first, other_name, second)
    if (first.dtype.kind in "US") != (second.dtype.kind in "US"):
        raise ArrayError(other_name, f"expected labels of the same type as in {name}")
    both = numpy.concatenate([first, second])
    classes, numbers = numpy.unique(both, return_inverse=True)
    return classes, numbers[: len(first)], numbers[len(first) :]


def number_array(name: str, values: Any) -> Array:
    """Finite numbers as a one-dimensional array of float64, or of float32 as given."""
    try:
        items = values if hasattr(values, "dtype") else list(values)
        array = numpy.asarray(items)
        array = array.astype(numpy.result_type(array.dtype, numpy.float32), copy=False)
    except (TypeError, ValueError) as error:
        raise ArrayError(name, "expected numbers") from error
    array = _one_column(name, array)
    if array.dtype.kind != "f":
        for row, value in enumerate(items):
            if isinstance(value, str):
                raise ArrayError(name, f"expected a number, found str: {str(value)!r:.60}", row)
        raise ArrayError(name, f"expected numbers, found {array.dtype}")
    # Both are NaN if any number is.
    if len(array) and not (numpy.isfinite(array.min()) and numpy.isfinite(array.max())):
        row = int((~numpy.isfinite(array)).argmax())
        raise ArrayError(name, f"expected a finite number, found {array[row]}", row)
    return array


def binary_array(name: str, labels: Any) -> Array:
    """Labels 0 and 1, also as text, as an array of bool. Raises ArrayError for others."""
    array = label_array(name, labels)
    if array.dtype.kind in "US":
        array = numpy.char.strip(array.astype(str))
        positive, negative = numpy.isin(array, ("1", "1.0")), numpy.isin(array, ("0", "0.0"))
    else:
        positive, negative = array == 1, array == 0
    bad = ~(positive | negative)
    if bad.any():
        row = int(bad.argmax())
        raise ArrayError(name, f"expected labels 0 and 1, found {array[row]!s:.40}", row)
    return positive


AVERAGES = ("binary", "macro", "weighted")


def accuracy(labels: Any, predictions: Any) -> float:
    """The fraction of predictions that equal the label.

    labels, predictions: lists or arrays of equal length, numbers or str. Raises ArrayError for
    other input. Equal to `sklearn.metrics.accuracy_score`.

    >>> fr.tasks.accuracy(["a", "b", "b"], ["a", "b", "a"])
    0.6666666666666666
    """
    _, truth, predicted = codes("labels", labels, "predictions", predictions)
    return float(numpy.average(truth == predicted))


def matthews(labels: Any, predictions: Any) -> float:
    """Matthews correlation coefficient of any number of classes; 0 if it is undefined.

    It is undefined if all labels or all predictions are equal. Formula: Gorodkin, Comparing two
    K-category assignments by a K-category correlation coefficient, 2004. labels, predictions: as in
    `accuracy`. Equal to `sklearn.metrics.matthews_corrcoef`.

    >>> fr.tasks.matthews([1, 1, 0, 0], [1, 1, 1, 0])
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

    >>> fr.tasks.precision([1, 1, 0, 0], [1, 1, 1, 0])
    0.6666666666666666
    """
    return _averaged("precision", labels, predictions, average, positive)


def recall(labels: Any, predictions: Any, *, average: str = "binary", positive: Any = 1) -> float:
    """Recall: of the labels of a class, the fraction that is predicted; 0 if there are none.

    Arguments as in `precision`. Equal to `sklearn.metrics.recall_score` with `zero_division=0`.

    >>> fr.tasks.recall([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """
    return _averaged("recall", labels, predictions, average, positive)


def f1(
    labels: Any,
    predictions: Any,
    *,
    average: str = "binary",
    positive: Any = 1,
    classes: Sequence[Any] | None = None,
    count_absent: bool = False,
) -> float:
    """F1, the harmonic mean of precision and recall; 0 if no prediction is correct.

    labels, predictions, average, positive: as in `precision`. Equal to `sklearn.metrics.f1_score`.
    classes: those that `macro` averages over; by default those in labels or predictions.
    count_absent: one of these classes that is in neither labels nor predictions counts as 0, as in
        scikit-learn's `f1_score(labels=classes, average="macro")`. By default it is skipped, as in
        torchmetrics.

    >>> fr.tasks.f1([1, 1, 0, 0], [1, 1, 1, 0])
    0.8
    >>> fr.tasks.f1([0, 0, 1, 1], [0, 0, 0, 1], average="macro", classes=[0, 1, 2])
    0.7333333333333334
    """
    if classes is None:
        return _averaged("f1", labels, predictions, average, positive)
    if average != "macro":
        raise OptionError("classes", "only for average='macro'")
    values, sizes = _f1_of_classes(labels, predictions, classes)
    return float(values.mean() if count_absent else values[sizes > 0].mean())


def adjusted_f1(labels: Any, predictions: Any, *, classes: Sequence[Any] | None = None) -> float:
    """Macro F1 adjusted for chance: max(0, (F - 1/C) / (1 - 1/C)) for C classes.

    labels, predictions, classes: as in `f1`; absent classes are not averaged, but count in C.
    Source: Ulysses SentEval. Raises ArrayError for fewer than two classes.

    >>> fr.tasks.adjusted_f1([0, 0, 1, 1], [0, 0, 0, 1])
    0.4666666666666668
    """
    values, sizes = _f1_of_classes(labels, predictions, classes)
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
    positions = numpy.flatnonzero(classes == positive)
    if not len(positions) and not set(classes.tolist()) <= {0, 1}:
        raise ArrayError("labels", f"the positive class {positive!r} does not appear")
    return float(values[positions[0]]) if len(positions) else 0.0


def _f1_of_classes(
    labels: Any, predictions: Any, classes: Sequence[Any] | None
) -> tuple[Array, Array]:
    """The F1 of each class, and how often it is in labels and predictions."""
    present, truth, predicted = codes("labels", labels, "predictions", predictions)
    counts = _counts(len(present), truth, predicted)
    values, sizes = _of_classes("f1", *counts), counts[1] + counts[2]
    if classes is None:
        return values, sizes
    class_labels = label_array("classes", classes)
    if len(numpy.unique(class_labels)) != len(class_labels):
        raise ArrayError("classes", "expected distinct classes")
    missing = ~numpy.isin(present, class_labels)
    if missing.any():
        label = present[missing.argmax()].item()
        raise ArrayError("classes", f"the class {label!r} of labels or predictions is missing")
    positions = numpy.minimum(numpy.searchsorted(present, class_labels), len(present) - 1)
    absent = present[positions] != class_labels
    return numpy.where(absent, 0.0, values[positions]), numpy.where(absent, 0, sizes[positions])


def pearson(x: Any, y: Any) -> float:
    """Pearson's correlation coefficient, in double precision; NaN if x or y is constant.

    x, y: lists or arrays of at least two finite numbers. Raises ArrayError for other input. That of
    `scipy.stats.pearsonr`.

    >>> round(fr.tasks.pearson([1.0, 2.0, 3.0], [1.0, 2.0, 4.0]), 12)
    0.981980506062
    """
    return _correlation("pearsonr", x, y)


def spearman(x: Any, y: Any) -> float:
    """Spearman's rank correlation, with mid-ranks for ties; NaN if x or y is constant.

    x, y: as in `pearson`. That of `scipy.stats.spearmanr`.

    >>> round(fr.tasks.spearman([1, 2, 2, 3], [0.1, 0.2, 0.4, 0.8]), 12)
    0.948683298051
    """
    return _correlation("spearmanr", x, y)


def _correlation(name: str, x: Any, y: Any) -> float:
    """A correlation of scipy, without its warnings about input that is constant, or nearly."""
    from scipy import stats

    x, y = (
        number_array(name, values).astype(numpy.float64, copy=False)
        for name, values in (("x", x), ("y", y))
    )
    same_length("x", x, "y", y)
    if len(x) < 2:
        raise ArrayError("x", "expected at least two values, found one")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(getattr(stats, name)(x, y).statistic)


def hinge_loss(labels: Any, scores: Any) -> float:
    """The mean of max(0, 1 - score) for the label 1, and of max(0, 1 + score) for the others.

    labels: a list or array of 1, and of 0 or -1. scores: as many finite numbers, positive for the
    label 1. Raises ArrayError for other input. Equal to `sklearn.metrics.hinge_loss` of two
    classes, and Keras' Hinge.

    >>> fr.tasks.hinge_loss([1, 0, 1], [2.0, 0.5, 0.25])
    0.75
    """
    signs = label_array("labels", labels)
    if signs.dtype.kind in "if" and numpy.isin(signs, (-1, 1)).all():
        labels = signs > 0
    positive, values = binary_array("labels", labels), number_array("scores", scores)
    same_length("labels", positive, "scores", values)
    return float(numpy.maximum(0.0, 1.0 - numpy.where(positive, values, -values)).mean())


def categorical_hinge_loss(labels: Any, scores: Any) -> float:
    """The mean of max(0, 1 + the highest score of another class - that of the class of the label).

    Scores of other classes below 0 count as 0, as in Keras' CategoricalHinge. labels: integers, the
    column of the class of each row. scores: finite numbers[rows, classes]. Raises ArrayError for
    other input.

    >>> fr.tasks.categorical_hinge_loss([1, 0], [[0.5, 0.25], [2.0, 0.5]])
    0.625
    """
    columns = to_int64("labels", check_integers("labels", as_rows("labels", labels, 1)))
    table = as_rows("scores", scores, 2)
    values = number_array("scores", table.ravel()).reshape(table.shape).astype(numpy.float64)
    same_length("labels", columns, "scores", values)
    classes = table.shape[1]
    outside = numpy.flatnonzero((columns < 0) | (columns >= classes))
    if len(outside):
        row = int(outside[0])
        raise ArrayError("labels", f"expected 0 to {classes - 1}, found {columns[row]}", row)
    rows = numpy.arange(len(columns))
    chosen = values[rows, columns]
    values[rows, columns] = 0.0
    return float(numpy.maximum(0.0, 1.0 + numpy.maximum(0.0, values.max(axis=1)) - chosen).mean())


def rank_hinge_loss(positives: Any, negatives: Any, *, margin: float = 1.0) -> float:
    """The mean of max(0, margin + negative - positive): how far pairs fall short of a margin.

    positives: scores of relevant documents, one per pair. negatives: scores of documents that are
    not, one per pair or a row of several per pair, whose mean counts. margin: how much higher the
    relevant one should score. Raises ArrayError for other input. Source: MatchZoo's RankHingeLoss,
    whose `num_neg` is the length of a row.

    >>> fr.tasks.rank_hinge_loss([2.0, 0.5], [0.5, 0.25])
    0.375
    """
    high = number_array("positives", positives)
    try:
        low = numpy.asarray(negatives)
    except ValueError as error:
        raise ArrayError("negatives", "expected rows of equal length") from error
    rows = low.reshape(len(low), -1) if low.ndim in (1, 2) and low.size else low
    if rows.ndim != 2:
        raise ArrayError("negatives", f"expected one or two dimensions, found {low.ndim}")
    same_length("positives", high, "negatives", rows)
    flat = number_array("negatives", rows.ravel()).reshape(rows.shape)
    return float(numpy.maximum(0.0, margin + flat.mean(axis=1) - high).mean())


def average_recall(rankings: Iterable[Any], *, depth: int = 10) -> float:
    """AvgRec of SemEval 2016 and 2017 task 3: recall, averaged over the ranks 1 to `depth`.

    Recall at rank k is the number of relevant results in the first k of all rankings, divided by
    the number that perfect rankings have there.

    rankings: for each query the labels of all its results, 0 and 1, in order. Raises ArrayError
    for other labels, and if none is 1. Source: the official scorer of the task. (AvgRec of task 4,
    classification, is `recall(average="macro")`.)

    >>> fr.tasks.average_recall([[0, 1, 1], [1, 0]], depth=2)
    0.5833333333333333
    """
    at_least("depth", depth, 1)
    hits, most = numpy.zeros(depth), numpy.zeros(depth)
    ranks = numpy.arange(1, depth + 1)
    for labels in rankings:
        relevant = binary_array("rankings", labels)
        hits[: len(relevant)] += relevant[:depth]
        most += numpy.minimum(ranks, relevant.sum())
    if not most[0]:
        raise ArrayError("rankings", "expected at least one label 1, found none")
    return float((hits.cumsum() / most).mean())
