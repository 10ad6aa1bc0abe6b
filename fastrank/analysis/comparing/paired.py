"""The values of systems on the same queries, and their differences pair by pair."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrank.common.arrays import Floats, Integers

# How many differences are in memory at once.
CELLS = 1 << 22
# The decimals to which differences are rounded before signs, ranks and ties are determined:
# 0.3 - 0.2 and 0.2 - 0.1 are equal, but not as doubles.
DECIMALS = 12
# Differences are the same if their deviation is at most this share of the largest value.
CONSTANT = 1e-12
# Sums of whole numbers up to this are exact, in whatever order they are added.
EXACT = 2**52


class Moments(NamedTuple):
    """For each row, the number of values, their mean, and their standard deviation (n - 1)."""

    n: Integers
    mean: Floats
    sd: Floats


def moments(rows: Floats) -> Moments:
    """The moments of each row without its NaN; a mean without values and a deviation of one value
    are NaN.
    """
    absent = np.isnan(rows)
    n = rows.shape[1] - absent.sum(axis=1)
    has_gaps = bool(absent.any())
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (np.where(absent, 0.0, rows) if has_gaps else rows).sum(axis=1) / n
        deviations = rows - mean[:, None]
        if has_gaps:
            deviations[absent] = 0.0
        sd = np.sqrt((deviations**2).sum(axis=1) / (n - 1))
    return Moments(n, mean, np.where(n > 1, sd, np.nan))


def common_values(values: Floats) -> tuple[Floats, bool]:
    """The values of the columns without NaN, NaN elsewhere, and whether there is such a column.

    All values if there is none.
    """
    complete = ~np.isnan(values).any(axis=0)
    if complete.all() or not complete.any():
        return values, bool(complete.any())
    return np.where(complete, values, np.nan), True


class Paired:
    """One measure of several systems, and the pairs to compare.

    values: float64[systems, queries]; NaN where a query has no value. firsts, seconds: the systems
    of each pair. clusters: the cluster of each query as an index, or None. within: see `Measured`.

    common: the values of the queries with values of all systems, NaN elsewhere; all values if there
    is no such query, and ordered is then False: means over different queries have no order.

    n, difference, sd: of each pair the number of queries with values of both, and the mean and the
    standard deviation of the differences first - second, 0 if that is only rounding. higher, equal,
    lower: the numbers of queries on which the first is higher, equal and lower; unequal: higher or
    lower. largest: the largest absolute value.
    """

    def __init__(
        self,
        values: Floats,
        firsts: Integers,
        seconds: Integers,
        clusters: Integers | None = None,
        within: list[Floats] | None = None,
    ) -> None:
        self.values, self.firsts, self.seconds = values, firsts, seconds
        self.clusters, self.within = clusters, within
        finite = values[~np.isnan(values)]
        self.largest = float(np.abs(finite).max()) if len(finite) else 0.0
        self.has_gaps = len(finite) < values.size
        self.common, self.ordered = common_values(values)
        # Doubles above 1 have fewer decimals.
        self.decimals = DECIMALS - max(0, math.ceil(math.log10(max(self.largest, 1.0))))
        shape = len(firsts)
        self.n = np.zeros(shape, np.int64)
        self.difference, self.sd = np.full(shape, np.nan), np.full(shape, np.nan)
        self.higher, self.lower = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for part, differences in self.chunks():
            self.n[part], self.difference[part], self.sd[part] = moments(differences)
            rounded = np.round(differences, self.decimals)
            self.higher[part], self.lower[part] = (
                (rounded > 0).sum(axis=1),
                (rounded < 0).sum(axis=1),
            )
        self.sd[self.sd <= CONSTANT * self.largest] = 0.0
        self.unequal = self.higher + self.lower
        self.equal = self.n - self.unequal

    def __len__(self) -> int:
        return len(self.firsts)

    def chunks(self, most: int | None = None) -> Iterator[tuple[slice, Floats]]:
        """The differences, float64[pairs, queries], for a slice of the pairs at a time."""
        step = most or max(1, CELLS // max(1, self.values.shape[1]))
        for start in range(0, len(self), step):
            part = slice(start, start + step)
            yield part, self.values[self.firsts[part]] - self.values[self.seconds[part]]

    def rounded(self, differences: Floats) -> Floats:
        """Differences rounded so that those that are equal in decimals are equal."""
        return np.round(differences, self.decimals)

    def both(self, pair: int) -> tuple[Floats, Floats]:
        """The values of the two systems of a pair, on the queries with values of both."""
        first, second = self.values[self.firsts[pair]], self.values[self.seconds[pair]]
        present = ~(np.isnan(first) | np.isnan(second))
        return first[present], second[present]

    def complete(self) -> Floats:
        """The values of the queries with values of all systems."""
        return np.ascontiguousarray(self.values[:, ~np.isnan(self.values).any(axis=0)])

    def by_cluster(self, rows: Floats) -> Floats:
        """The sums of rows over each cluster of queries; the rows if there are no clusters."""
        if self.clusters is None:
            return rows
        sums = np.zeros((len(rows), int(self.clusters.max()) + 1))
        for query, cluster in enumerate(self.clusters):
            sums[:, cluster] += rows[:, query]
        return sums

    def grid(self, rows: Floats) -> Floats:
        """Values or differences as whole numbers of a small unit, as float64: their sums are exact.

        The unit is 10**-12, or larger where the sums of all values would not be exact.
        """
        most = 2.0 * self.largest * max(1, self.values.shape[1])
        digits = min(DECIMALS, math.floor(math.log10(EXACT / most))) if most > 1.0 else DECIMALS
        return np.rint(rows * 10.0**digits)
