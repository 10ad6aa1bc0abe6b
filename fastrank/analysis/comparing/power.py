"""Student's t distribution; power of the paired t-test; how many queries an experiment needs."""

from __future__ import annotations

import math

import numpy as np

from fastrank.common.arguments import at_least, finite, fraction
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def critical_t(df: Any, alpha: float) -> Any:
    """The |t| exceeded with probability alpha; df: the degrees of freedom, or an array of them."""
    from scipy.special import stdtrit

    return stdtrit(df, 1 - alpha / 2)


def p_of_t(statistic: Any, df: Any) -> Any:
    """The two-sided p-value of a t statistic, or of an array of them."""
    from scipy.special import stdtr

    return 2.0 * stdtr(df, -np.abs(statistic))


# This far from the mean, a t distribution of more than a few values has no probability.
FAR, FEW = 10.0, 30
MOST_QUERIES = 10**9


def power_of_t(effect: float, n: int, alpha: float = 0.05) -> float:
    """The power of a two-sided paired t-test of n queries with an effect d_z.

    P(|T| > t) of a noncentral t with n - 1 degrees of freedom and noncentrality d_z * sqrt(n).
    Source: Cohen, 'Statistical power analysis for the behavioral sciences', 1988, chapter 2.

    >>> from fastrank.analysis.comparing.power import power_of_t
    >>> round(power_of_t(0.3, 50), 6)
    0.547657
    """
    from scipy.special import nctdtr, ndtr

    shift, critical = abs(effect) * math.sqrt(n), critical_t(n - 1, alpha)
    if n > FEW and shift - critical > FAR:
        return 1.0
    below = float(nctdtr(n - 1, shift, critical))
    opposite = float(nctdtr(n - 1, shift, -critical))
    # scipy gives NaN for some small probabilities.
    if math.isnan(below):
        # Abramowitz and Stegun, 'Handbook of mathematical functions', 26.7.10.
        scale = math.sqrt(1 + critical**2 / (2 * (n - 1)))
        below = float(ndtr((critical * (1 - 1 / (4 * (n - 1))) - shift) / scale))
    return 1 - below + (0.0 if math.isnan(opposite) else opposite)


def queries_for(effect: float, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """The least number of queries for which the paired t-test has this power.

    None if the effect d_z is 0 or NaN, or so small that more than 10**9 queries are needed.

    >>> from fastrank.analysis.comparing.power import queries_for
    >>> queries_for(0.3)
    90
    """
    if not abs(effect) > 0:
        return None
    return least(lambda n: power_of_t(effect, n, alpha) >= power)


def detectable(n: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest effect d_z that the paired t-test of n queries finds with this power.

    >>> from fastrank.analysis.comparing.power import detectable
    >>> round(detectable(200), 5)
    0.19906
    """
    if n < 2:
        return math.nan
    low, high = 0.0, 1.0
    while power_of_t(high, n, alpha) < power:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if power_of_t(middle, n, alpha) >= power else (middle, high)
    return high


def topics_needed(
    difference: float = 0.05,
    *,
    sd: float | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    systems: int | None = None,
    variance: float | None = None,
    width: float | None = None,
) -> int:
    """How many topics (queries) a test collection needs.

    difference, sd: for the paired t-test of two systems to find this mean difference with the given
        power; sd is the standard deviation of the differences.
    systems, variance: for a one-way analysis of variance of several systems to find this difference
        between the best and the worst; variance is that of a system's values (the residual).
    width, sd: for the confidence interval of a difference, of level 1 - alpha, to have this
        expected width.

    Raises OptionError for contradictory options, and if more than 10**9 topics are needed. Source:
    Sakai, 'Topic set size design', Information Retrieval Journal 19(3), 2016.

    >>> fr.topics_needed(0.02, sd=0.159)
    498
    >>> fr.topics_needed(0.1, systems=10, variance=0.05)
    158
    >>> fr.topics_needed(width=0.05, sd=0.159)
    158
    """
    fraction("alpha", alpha)
    fraction("power", power)
    if systems is not None or variance is not None:
        if systems is None or variance is None or sd is not None or width is not None:
            raise OptionError("systems", "give systems and variance together, without sd and width")
        groups, ratio = at_least("systems", systems, 2), _positive("difference", difference) ** 2
        ratio /= 2 * _positive("variance", variance)
        return _found(least(lambda n: _power_of_anova(groups, n, n * ratio, alpha) >= power))
    if sd is None:
        raise OptionError("sd", "expected the standard deviation of the differences, found None")
    deviation = _positive("sd", sd)
    if width is not None:
        half = _positive("width", width) / 2
        return _found(least(lambda n: _expected_half_width(n, deviation, alpha) <= half))
    return _found(queries_for(_positive("difference", difference) / deviation, alpha, power))


def _positive(name: str, value: float) -> float:
    number = finite(name, value)
    if number <= 0:
        raise OptionError(name, f"expected a number above 0, found {value}")
    return number


def _found(n: int | None) -> int:
    if n is None:
        raise OptionError("difference", f"more than {MOST_QUERIES:,} topics are needed")
    return n


def _power_of_anova(groups: int, n: int, shift: float, alpha: float) -> float:
    """The power of the F test of a one-way analysis of groups of n values."""
    from scipy.special import fdtri, ncfdtr

    between, within = groups - 1, groups * (n - 1)
    if shift > 1000 * groups:
        return 1.0
    return float(1 - ncfdtr(between, within, shift, fdtri(between, within, 1 - alpha)))


def _expected_half_width(n: int, sd: float, alpha: float) -> float:
    """The expected half width of the t interval: E(s) = sd * c(n)."""
    from scipy.special import gammaln

    shrink = math.sqrt(2 / (n - 1)) * math.exp(gammaln(n / 2) - gammaln((n - 1) / 2))
    return float(critical_t(n - 1, alpha) * sd * shrink / math.sqrt(n))


def least(enough: Callable[[int], bool]) -> int | None:
    """The least number from 2 on that is enough, if all larger ones are; None above 10**9."""
    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_QUERIES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
