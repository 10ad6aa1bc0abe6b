"""Metrics of scores with labels 0 and 1, over all thresholds of the score."""

from __future__ import annotations

from typing import NamedTuple

import numpy

from fastrank.core.native import kernels
from fastrank.errors import ArrayError
from fastrank.vectors.tasks.metrics import (
    binary_array,
    matthews_of_counts,
    number_array,
    same_length,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy.typing as npt

    from fastrank.common.arrays import Array


class Cut(NamedTuple):
    """A threshold, and the metrics of predicting 1 for scores that reach it, 0 for others.

    >>> cut = fr.tasks.best_f1([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> cut.threshold, cut.f1, cut.recall
    (0.39999999999999997, 0.8, 1.0)
    """

    threshold: float
    accuracy: float
    f1: float
    precision: float
    recall: float
    matthews: float


class Sweep:
    """The metrics of all thresholds of scores with labels.

    average_precision, accuracy, f1: what the functions `average_precision`, `best_accuracy` and
    `best_f1` return. Raises ArrayError.
    """

    def __init__(
        self, labels: npt.ArrayLike, scores: npt.ArrayLike, *, extremes: bool = True
    ) -> None:
        positive, values = binary_array("labels", labels), number_array("scores", scores)
        same_length("labels", positive, "scores", values)
        if not positive.any():
            raise ArrayError("labels", "expected at least one label 1, found none")
        keys, self._total, self._score = _sorted(positive, values)
        self._size, self._extremes, self._highest = len(keys), extremes, values.max()
        best = numpy.empty(8, numpy.int64)
        terms = keys.view(numpy.float64)
        count = kernels.sweep_thresholds(keys, self._total, int(extremes), terms, best)
        # numpy's sum, which is also scikit-learn's.
        self.average_precision = float(terms[:count].sum())
        self.accuracy, self.f1 = (self._cut(*part) for part in best.reshape(2, 4).tolist())

    def _cut(self, positives: int, predicted: int, score: int, below: int) -> Cut:
        total, size = self._total, self._size
        if positives < 0:
            if not self._extremes:
                return Cut(numpy.nan, 0.0, 0.0, 0.0, 0.0, 0.0)
            above = numpy.nextafter(self._highest, self._highest.dtype.type(numpy.inf))
            return Cut(float(above), (size - total) / size, 0.0, 0.0, 0.0, 0.0)
        threshold = self._score(score)
        if predicted < size:
            lower = self._score(below)
            middle = (threshold + lower) / 2
            # A rounded middle must not include the next score.
            threshold = middle if middle != lower else threshold
        precision, recall = positives / predicted, positives / total
        correct = 2 * positives - predicted + size - total
        return Cut(
            threshold=float(threshold),
            accuracy=correct / size,
            f1=2 * precision * recall / (precision + recall) if positives else 0.0,
            precision=precision,
            recall=recall,
            matthews=matthews_of_counts(
                correct,
                numpy.array([size - total, total]),
                numpy.array([size - predicted, predicted]),
            ),
        )


def cut_at(threshold: float, positive: Array, scores: Array) -> Cut:
    """The metrics of a threshold that was chosen elsewhere."""
    predicted = scores >= threshold
    size, total, chosen = len(scores), int(positive.sum()), int(predicted.sum())
    positives = int((predicted & positive).sum())
    correct = int((predicted == positive).sum())
    return Cut(
        threshold=threshold,
        accuracy=correct / size,
        f1=2 * positives / (chosen + total) if chosen + total else 0.0,
        precision=positives / chosen if chosen else 0.0,
        recall=positives / total if total else 0.0,
        matthews=matthews_of_counts(
            correct, numpy.array([size - total, total]), numpy.array([size - chosen, chosen])
        ),
    )


def average_precision(labels: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """Average precision of labels 0 and 1 ranked by score.

    The mean over the labels 1 of the precision at their score. Equal scores are one threshold, so
    the order of ties does not matter. labels: a list or array of 0 and 1, bool, or text such as
    "1". scores: as many finite numbers. Raises ArrayError for other input, and if no label is 1.
    Equal to `sklearn.metrics.average_precision_score`.

    >>> fr.tasks.average_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.8333333333333333
    """
    return Sweep(labels, scores).average_precision


def best_accuracy(labels: npt.ArrayLike, scores: npt.ArrayLike, *, extremes: bool = True) -> Cut:
    """The threshold with the highest accuracy; of several, the highest.

    It lies in the middle between two adjacent scores. labels, scores: as in `average_precision`.

    extremes: consider also a threshold above all scores and one at the lowest score, as
        sentence-transformers' BinaryClassificationEvaluator does. MTEB's pair classification does
        not: with False, the result is its result, with threshold NaN and 0 if all scores are equal.

    >>> fr.tasks.best_accuracy([1, 0, 0, 0], [0.75, 0.25, 0.5, 0.125])[:2]
    (0.625, 1.0)
    """
    return Sweep(labels, scores, extremes=extremes).accuracy


def best_f1(labels: npt.ArrayLike, scores: npt.ArrayLike, *, extremes: bool = True) -> Cut:
    """The threshold with the highest F1; of several, the highest.

    labels, scores, extremes: as in `best_accuracy`.

    >>> fr.tasks.best_f1([1, 0, 1, 0], [0.75, 0.5, 0.25, 0.125])[:3]
    (0.1875, 0.75, 0.8)
    """
    return Sweep(labels, scores, extremes=extremes).f1


def _sorted(positive: Array, scores: Array) -> tuple[Array, int, Callable[[int], Any]]:
    """Ascending keys with labels, the number of labels 1, and the score of a key without label."""
    if scores.dtype == numpy.float32:
        # Sorting keys that hold the score takes a tenth of the time of sorting an order.
        keys = numpy.empty(len(scores), numpy.int64)
        scores = numpy.ascontiguousarray(scores)
        total = kernels.keys_of_scores(scores, positive.view(numpy.uint8), keys)
        keys.sort()
        return keys, total, _float_of
    values, keys = numpy.unique(scores, return_inverse=True)
    keys = 2 * keys + positive
    keys.sort()
    return keys, int(positive.sum()), values.__getitem__


def _float_of(key: int) -> object:
    """The float of a key that `keys_of_scores` makes, without its label."""
    bits = key if key >= 0 else -key - 2**31
    return numpy.array(bits, numpy.int32).view(numpy.float32)[()]
