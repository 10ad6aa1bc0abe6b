"""Metrics of scores with labels 0 and 1, over all thresholds of the score."""

from __future__ import annotations

from typing import NamedTuple

import numpy

from fastrank.errors import ArrayError
from fastrank.metrics.classification import matthews_of_counts
from fastrank.metrics.inputs import binary_array, number_array, same_length

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]


class Cut(NamedTuple):
    """A threshold, and the metrics of predicting 1 for scores that reach it, 0 for others.

    >>> cut = fr.metrics.best_f1([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> cut.threshold, cut.f1, cut.recall
    (0.39999999999999997, 0.8, 1.0)
    """

    threshold: float
    accuracy: float
    f1: float
    precision: float
    recall: float
    matthews: float


class Ranked(NamedTuple):
    """Scores with labels in descending order, an item per distinct score.

    scores: float32 or float64. positives, counts: how many labels are 1, and how many there are,
    down to this score, float64 and int64. extremes: as in `best_f1`.
    """

    scores: Array
    positives: Array
    counts: Array

    def average_precision(self) -> float:
        """As in the function `average_precision`."""
        # In scikit-learn's order, so that the sum has the same last bit.
        precision = (self.positives / self.counts)[::-1]
        recall = (self.positives / self.positives[-1])[::-1]
        return float(max(0.0, -numpy.sum(numpy.diff(recall, append=0.0) * precision)))

    def best_accuracy(self, extremes: bool) -> Cut:
        """As in the function `best_accuracy`."""
        negatives = float(self.counts[-1] - self.positives[-1])
        # Correct are the positives above the threshold and the negatives below it.
        correct = 2.0 * self.positives - self.counts + negatives
        if not extremes:
            correct = correct[:-1]
        best = int(correct.argmax()) if len(correct) else None
        if best is not None and extremes and correct[best] <= negatives:
            best = None
        return self._cut(best, extremes)

    def best_f1(self, extremes: bool) -> Cut:
        """As in the function `best_f1`."""
        positives, counts = self.positives, self.counts
        if not extremes:
            positives, counts = positives[:-1], counts[:-1]
        precision, recall = positives / counts, positives / self.positives[-1]
        values = 2.0 * precision * recall / numpy.where(positives > 0, precision + recall, 1.0)
        best = int(values.argmax()) if len(values) else None
        return self._cut(best, extremes)

    def _cut(self, at: int | None, extremes: bool) -> Cut:
        """The cut below the score number `at`, or above all scores."""
        total, size = float(self.positives[-1]), int(self.counts[-1])
        if at is None:
            if not extremes:
                return Cut(numpy.nan, 0.0, 0.0, 0.0, 0.0, 0.0)
            above = numpy.nextafter(self.scores[0], self.scores.dtype.type(numpy.inf))
            return Cut(float(above), (size - total) / size, 0.0, 0.0, 0.0, 0.0)
        correct, found = float(self.positives[at]), int(self.counts[at])
        threshold = self.scores[at]
        if at + 1 < len(self.scores):
            middle = (threshold + self.scores[at + 1]) / 2
            # A rounded middle must not include the next score.
            threshold = middle if middle != self.scores[at + 1] else threshold
        precision, recall = correct / found, correct / total
        right = 2 * correct - found + size - total
        return Cut(
            threshold=float(threshold),
            accuracy=right / size,
            f1=2 * precision * recall / (precision + recall) if correct else 0.0,
            precision=precision,
            recall=recall,
            matthews=matthews_of_counts(
                int(right), numpy.array([size - total, total]), numpy.array([size - found, found])
            ),
        )


def average_precision(labels: Any, scores: Any) -> float:
    """Average precision of labels 0 and 1 ranked by score.

    The mean over the labels 1 of the precision at their score. Equal scores are one threshold, so
    the order of ties does not matter. labels: a list or array of 0 and 1. scores: as many finite
    numbers. Raises ArrayError for other input, and if no label is 1. Equal to
    `sklearn.metrics.average_precision_score`.

    >>> fr.metrics.average_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.8333333333333333
    """
    return ranked(labels, scores).average_precision()


def best_accuracy(labels: Any, scores: Any, *, extremes: bool = True) -> Cut:
    """The threshold with the highest accuracy; of several, the highest.

    It lies in the middle between two adjacent scores. labels, scores: as in `average_precision`.

    extremes: consider also a threshold above all scores and one at the lowest score, as
        sentence-transformers' BinaryClassificationEvaluator does. MTEB's pair classification does
        not: with False, the result is its result, with threshold NaN and 0 if all scores are equal.

    >>> fr.metrics.best_accuracy([1, 0, 0, 0], [0.75, 0.25, 0.5, 0.125])[:2]
    (0.625, 1.0)
    """
    return ranked(labels, scores).best_accuracy(extremes)


def best_f1(labels: Any, scores: Any, *, extremes: bool = True) -> Cut:
    """The threshold with the highest F1; of several, the highest.

    labels, scores, extremes: as in `best_accuracy`.

    >>> fr.metrics.best_f1([1, 0, 1, 0], [0.75, 0.5, 0.25, 0.125])[:3]
    (0.1875, 0.75, 0.8)
    """
    return ranked(labels, scores).best_f1(extremes)


def ranked(labels: Any, scores: Any) -> Ranked:
    """Sort scores with labels. Raises ArrayError."""
    positive, values = binary_array("labels", labels), number_array("scores", scores)
    same_length("labels", positive, "scores", values)
    if not positive.any():
        raise ArrayError("labels", "expected at least one label 1, found none")
    return (_ranked_floats if values.dtype == numpy.float32 else _ranked_doubles)(positive, values)


def _ranked_doubles(positive: Array, scores: Array) -> Ranked:
    order = numpy.argsort(-scores)
    scores = scores[order]
    return _by_score(scores, scores, positive[order])


def _ranked_floats(positive: Array, scores: Array) -> Ranked:
    """Sort integers made of a score and its label, which is much faster than sorting an order."""
    bits = (scores + numpy.float32(0.0)).view(numpy.int32)
    # The bits of negative floats ascend when the floats descend.
    descending = numpy.where(bits < 0, bits & 0x7FFFFFFF, ~bits)
    keys = descending.astype(numpy.int64) << 1
    keys |= positive
    keys.sort()
    descending = (keys >> 1).astype(numpy.int32)
    sorted_bits = numpy.where(descending >= 0, descending | numpy.int32(-(2**31)), ~descending)
    return _by_score(descending, sorted_bits.view(numpy.float32), (keys & 1).astype(bool))


def _by_score(keys: Array, scores: Array, positive: Array) -> Ranked:
    """Join equal keys, which are sorted."""
    last = numpy.flatnonzero(keys[1:] != keys[:-1])
    last = numpy.append(last, len(keys) - 1)
    positives = numpy.cumsum(positive, dtype=numpy.float64)
    if len(last) == len(keys):
        return Ranked(scores, positives, last + 1)
    return Ranked(scores[last], positives[last], last + 1)
