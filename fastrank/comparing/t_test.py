"""The paired t-test."""

from __future__ import annotations

import numpy as np

from fastrank.comparing.tested import Tested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Paired

# Differences whose deviation is at most this part of the largest value are the same.
CONSTANT = 1e-12


def t_test(paired: Paired, _: Settings | None = None) -> Tested:
    """Student's paired t-test: t = mean / (sd / sqrt(n)) with n - 1 degrees of freedom.

    If all differences are equal, sd is 0, and p is that of the randomization test, 2**(1 - n).
    Source: Student, 'The probable error of a mean', Biometrika 6(1), 1908.
    """
    from scipy.special import stdtr

    n, difference, sd = paired.n, paired.difference, paired.sd
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic = difference / (sd / np.sqrt(n))
    df = n - 1.0
    p = 2.0 * stdtr(df, -np.abs(statistic))
    notes: dict[int, str] = {}
    constant = constant_differences(paired)
    for pair in np.flatnonzero(constant):
        statistic[pair] = np.copysign(np.inf, difference[pair])
        p[pair] = 2.0 ** (1.0 - n[pair])
        notes[int(pair)] = "every query differs by the same amount: judged by randomization"
    identical = (paired.unequal == 0) & (n > 0)
    statistic[identical], p[identical] = 0.0, 1.0
    for pair in np.flatnonzero(n < 2):
        statistic[pair], p[pair] = np.nan, np.nan
        notes[int(pair)] = "one query: no test is possible"
    return Tested(statistic, p, df=df, notes=notes)


def constant_differences(paired: Paired) -> np.ndarray:
    """Whether the differences of a pair, of two queries or more, are all the same but not 0."""
    same = paired.sd <= CONSTANT * paired.largest
    return np.asarray(same & (paired.unequal > 0) & (paired.n > 1))
