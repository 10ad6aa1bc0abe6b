"""Hinge losses of scores."""

from __future__ import annotations

import numpy

from fastrank.errors import ArrayError
from fastrank.metrics.inputs import binary_array, number_array, same_length

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def hinge_loss(labels: Any, scores: Any) -> float:
    """The mean of max(0, 1 - score) for the label 1, and of max(0, 1 + score) for the label 0.

    labels: a list or array of 0 and 1. scores: as many finite numbers, positive for the label 1.
    Raises ArrayError for other input. Equal to `sklearn.metrics.hinge_loss` of two classes.

    >>> fr.metrics.hinge_loss([1, 0, 1], [2.0, 0.5, 0.25])
    0.75
    """
    positive, values = binary_array("labels", labels), number_array("scores", scores)
    same_length("labels", positive, "scores", values)
    return float(numpy.maximum(0.0, 1.0 - numpy.where(positive, values, -values)).mean())


def rank_hinge_loss(positives: Any, negatives: Any, *, margin: float = 1.0) -> float:
    """The mean of max(0, margin + negative - positive): how far pairs fall short of a margin.

    positives: scores of relevant documents, one per pair. negatives: scores of documents that are
    not, one per pair or a row of several per pair, whose mean counts. margin: how much higher the
    relevant one should score. Raises ArrayError for other input. Source: MatchZoo's RankHingeLoss,
    whose `num_neg` is the length of a row.

    >>> fr.metrics.rank_hinge_loss([2.0, 0.5], [0.5, 0.25])
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
