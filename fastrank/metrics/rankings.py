"""Metrics of rankings given as lists of labels."""

from __future__ import annotations

import numpy

from fastrank.arguments import at_least
from fastrank.errors import ArrayError
from fastrank.metrics.inputs import binary_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def average_recall(rankings: Iterable[Any], *, depth: int = 10) -> float:
    """AvgRec of SemEval 2016 and 2017 task 3: recall, averaged over the ranks 1 to `depth`.

    Recall at rank k is the number of relevant results in the first k of all rankings, divided by
    the number that perfect rankings have there.

    rankings: for each query the labels of all its results, 0 and 1, in order. Raises ArrayError
    for other labels, and if none is 1. Source: the official scorer of the task. (AvgRec of task 4,
    classification, is `recall(average="macro")`.)

    >>> fr.metrics.average_recall([[0, 1, 1], [1, 0]], depth=2)
    0.5833333333333333
    """
    at_least("depth", depth, 1)
    found, most = numpy.zeros(depth), numpy.zeros(depth)
    ranks = numpy.arange(1, depth + 1)
    for labels in rankings:
        relevant = binary_array("rankings", labels)
        found[: len(relevant)] += relevant[:depth]
        most += numpy.minimum(ranks, relevant.sum())
    if not most[0]:
        raise ArrayError("rankings", "expected at least one label 1, found none")
    return float((found.cumsum() / most).mean())
