"""Correlations of two lists of numbers."""

from __future__ import annotations

import numpy

from fastrank.errors import ArrayError
from fastrank.metrics.inputs import number_array, same_length

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]


def pearson(x: Any, y: Any) -> float:
    """Pearson's correlation coefficient, in double precision; NaN if x or y is constant.

    x, y: lists or arrays of at least two finite numbers. Raises ArrayError for other input. Equal
    to `scipy.stats.pearsonr`.

    >>> round(fr.metrics.pearson([1.0, 2.0, 3.0], [1.0, 2.0, 4.0]), 12)
    0.981980506062
    """
    x, y = _pair(x, y)
    if _constant(x) or _constant(y):
        return numpy.nan
    # Scaled, as in scipy, so that the squares do not overflow.
    parts = []
    for values in (x, y):
        centered = values - values.mean()
        most = numpy.abs(centered).max()
        parts.append(centered / (most * numpy.linalg.norm(centered / most, axis=0)))
    r = float(numpy.clip(numpy.vecdot(*parts), -1.0, 1.0))
    return float(round(r)) if len(x) == 2 else r


def spearman(x: Any, y: Any) -> float:
    """Spearman's rank correlation, with mid-ranks for ties; NaN if x or y is constant.

    x, y: as in `pearson`. Equal to `scipy.stats.spearmanr`.

    >>> round(fr.metrics.spearman([1, 2, 2, 3], [0.1, 0.2, 0.4, 0.8]), 12)
    0.948683298051
    """
    x, y = _pair(x, y)
    if _constant(x) or _constant(y):
        return numpy.nan
    return float(numpy.corrcoef(mid_ranks(x), mid_ranks(y))[1, 0])


def kendall(x: Any, y: Any) -> float:
    """Kendall's rank correlation tau-b; NaN if x or y is constant.

    x, y: as in `pearson`. Equal to `scipy.stats.kendalltau`; it takes O(n log n) time. Source:
    Kendall, The treatment of ties in ranking problems, 1945.

    >>> round(fr.metrics.kendall([1, 2, 3, 4], [1, 3, 2, 4]), 12)
    0.666666666667
    """
    x, y = _pair(x, y)
    if _constant(x) or _constant(y):
        return numpy.nan
    x, y = (numpy.unique(values, return_inverse=True)[1] for values in (x, y))
    total = len(x) * (len(x) - 1) // 2
    order = numpy.lexsort((y, x))
    discordant = _inversions(y[order])
    tied_x, tied_y = _tied_pairs(x), _tied_pairs(y)
    tied_both = _tied_pairs(numpy.unique(x * len(x) + y, return_inverse=True)[1])
    balance = total - tied_x - tied_y + tied_both - 2 * discordant
    tau = balance / numpy.sqrt(total - tied_x) / numpy.sqrt(total - tied_y)
    return float(numpy.clip(tau, -1.0, 1.0))


def mid_ranks(values: Array) -> Array:
    """Ranks from 1 in ascending order, float64; equal values get the mean of their ranks."""
    order = numpy.argsort(values, kind="stable")
    ascending = values[order]
    starts = numpy.flatnonzero(numpy.r_[True, ascending[1:] != ascending[:-1]])
    counts = numpy.diff(starts, append=len(values))
    ranks = numpy.empty(len(values))
    ranks[order] = numpy.repeat(starts + 1 + (counts - 1) / 2, counts)
    return ranks


def _pair(x: Any, y: Any) -> tuple[Array, Array]:
    x, y = (
        number_array(name, given).astype(numpy.float64, copy=False)
        for name, given in (("x", x), ("y", y))
    )
    same_length("x", x, "y", y)
    if len(x) < 2:
        raise ArrayError("x", "expected at least two values, found one")
    return x, y


def _constant(values: Array) -> bool:
    return bool((values == values[0]).all())


def _tied_pairs(numbers: Array) -> int:
    """The number of pairs of equal numbers."""
    counts = numpy.bincount(numbers)
    return int((counts * (counts - 1) // 2).sum())


def _inversions(numbers: Array) -> int:
    """The number of pairs in which the earlier of two non-negative integers is larger."""
    found = 0
    for bit in reversed(range(int(numbers.max()).bit_length())):
        # The numbers are grouped by their higher bits, in the given order within a group: each 0
        # comes after as many larger numbers of its group as there are 1s before it.
        high = numbers >> (bit + 1)
        ones = (numbers >> bit) & 1
        before = numpy.cumsum(ones) - ones
        starts = numpy.flatnonzero(numpy.r_[True, high[1:] != high[:-1]])
        before -= numpy.repeat(before[starts], numpy.diff(starts, append=len(numbers)))
        found += int(before[ones == 0].sum())
        numbers = numbers[numpy.argsort(numbers >> bit, kind="stable")]
    return found
