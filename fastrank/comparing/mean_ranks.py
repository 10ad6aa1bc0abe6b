"""Mean ranks of systems: Friedman's test and Nemenyi's critical difference.

Source: Demsar, 'Statistical comparisons of classifiers over multiple data sets', JMLR 7, 2006.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastrank.comparing.pair_tests import SIGNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.paired import Floats, Paired


class MeanRanks(NamedTuple):
    """The mean ranks of systems over n queries; 1 is the best, and equal values share their ranks.

    p: of Friedman's test, corrected for ties; NaN if all systems have the same values. critical:
    the least difference of two mean ranks that is significant.
    """

    ranks: Floats
    n: int
    p: float
    critical: float

    def groups(self) -> list[list[int]]:
        """The largest groups of two systems or more whose mean ranks differ by less than critical.

        The systems of a group, and the groups, are in the order of their ranks.
        """
        order = [int(place) for place in np.argsort(self.ranks, kind="stable")]
        found: list[list[int]] = []
        last = 0
        for start, first in enumerate(order):
            group = [own for own in order[start:] if self.ranks[own] < self._limit(first)]
            if len(group) > 1 and start + len(group) > last:
                found.append(group)
                last = start + len(group)
        return found

    def _limit(self, system: int) -> float:
        return float(self.ranks[system]) + self.critical


def mean_ranks(paired: Paired, better: str, alpha: float) -> MeanRanks:
    """The mean ranks over the queries with values of all systems.

    better: which values are; for neither, higher ones have the lower ranks.
    """
    from scipy.special import chdtrc
    from scipy.stats import rankdata, studentized_range

    values = paired.rounded(paired.complete())
    k, n = values.shape
    ranks = rankdata(-(SIGNS[better] or 1.0) * values, axis=0)
    between = 12.0 * ((ranks.sum(axis=1) - n * (k + 1) / 2) ** 2).sum() / (k * (k + 1))
    # The variance of the ranks of a query, as a share of that without ties.
    varied = 12.0 * ((ranks - (k + 1) / 2) ** 2).sum() / (k * (k * k - 1))
    p = float(chdtrc(k - 1, between / varied)) if varied > 0 else math.nan
    q = float(studentized_range.ppf(1 - alpha, k, np.inf)) / math.sqrt(2)
    mean = ranks.mean(axis=1) if n else np.full(k, np.nan)
    return MeanRanks(mean, n, p, q * math.sqrt(k * (k + 1) / (6 * n)) if n else math.nan)
