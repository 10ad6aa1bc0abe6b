"""Means of values that are known for some queries and predicted for all: PPI++.

Source: Angelopoulos, Duchi and Zrnic, 'PPI++: efficient prediction-powered inference', 2023,
arXiv 2311.01453.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastrank.analysis.comparing.bootstrap import all_the_same, spread_of
from fastrank.analysis.comparing.power import critical_t, p_of_t
from fastrank.analysis.comparing.randomization import resampled_sums

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.analysis.comparing.options import Settings
    from fastrank.common.arrays import Floats

# If this share of the values is equal, rare others decide the mean: it is as if this many more of
# them were known. `python -m bench coverage` tells how often the intervals then hold.
MOSTLY, UNSEEN = 0.5, 0.5
# Parts of the human sample, each of which is predicted from the others.
FOLDS = 5


class Estimated(NamedTuple):
    """A mean with its interval, NaN without one.

    error: its standard error. p: two-sided, of a mean of 0, by Student's t; NaN without an error.
    df: the degrees of freedom. weight: how much the judge counts, lambda. human, human_error: the
    mean of the human values alone; judge, judge_error: that of the judge's. n: the number of human
    values.
    """

    value: float
    low: float
    high: float
    error: float
    p: float
    df: int
    weight: float
    human: float
    human_error: float
    judge: float
    judge_error: float
    n: int

    @property
    def width(self) -> float:
        """The width of the interval as a share of that of the human values alone."""
        return self.error / self.human_error if self.human_error else float("nan")

    @property
    def effective(self) -> float:
        """How many human values alone would give this standard error."""
        return self.n / self.width**2 if self.width else float("inf")


def p_of_zero(value: float, error: float, df: int) -> float:
    """The two-sided p-value of a mean of 0, from Student's t; NaN without an error."""
    return float(p_of_t(value / error, df)) if error > 0 else float("nan")


def half_width(error: float, df: int, level: float) -> float:
    """Half the width of Student's interval."""
    return float(critical_t(df, 1 - level)) * error


def estimated(
    human: Floats,
    predicted: Floats,
    others: Floats,
    settings: Settings,
    *,
    finite: bool,
    limits: tuple[float, float] | None = None,
) -> Estimated:
    """Estimate a mean.

    human: the values of n queries that people judged. predicted: the judge's values of the same
    queries. others: the judge's values of the queries that only it judged. finite: whether these
    queries are all there are, rather than a sample. limits: what values can be, if known. The
    weight has the least variance, within 0 and 1.

    If half or more of the human values are equal, the variance is that with UNSEEN more values at
    the limit that is farther away. Where all human values, or what they are beyond the judge's, are
    equal, the interval is that of `all_the_same`; without limits, it is NaN.
    """
    n, count = len(human), len(human) + len(others)
    everywhere = np.concatenate([predicted, others])
    judge, spread = float(everywhere.mean()), everywhere.var(ddof=1)
    rest = len(others) / count
    weight = 0.0
    if spread > 0 and len(others):
        slope = np.cov(human, predicted)[0, 1] / spread
        # If all queries are a sample, the m others are uncertain, too: cov / ((1 + n / m) var).
        weight = float(np.clip(slope if finite else slope * rest, 0.0, 1.0))
    residual = human - weight * predicted
    alone, judge_error = float(human.mean()), 0.0 if finite else float(np.sqrt(spread / count))
    share, beside = rest if finite else 1.0, 0.0
    if finite:
        value = float(residual.mean() + weight * judge)
    else:
        value = float(residual.mean() + (weight * others.mean() if weight else 0.0))
        if len(others) > 1:
            beside = weight**2 * others.var(ddof=1) / len(others)
    far = None
    if limits and mostly_equal(human):
        far = max(limits, key=lambda limit: abs(limit - alone))
    error, human_error = (
        float(np.sqrt(share * _variance_of_mean(values, limit) + more))
        for values, limit, more in (
            (residual, None if far is None else far - weight * float(predicted.mean()), beside),
            (human, far, 0.0),
        )
    )
    if settings.interval == "t":
        half = half_width(error, n - 1, settings.level)
        low, high = value - half, value + half
    else:
        low, high = _resampled(value, residual, weight * others, settings, finite=finite)
    p = p_of_zero(value, error, n - 1)
    if len(others) or not finite:
        quantile = half_width(1.0, n - 1, settings.level)
        all_values = count if finite else None
        if not spread_of(human):
            down, up = _of_equals(human, 0.0, limits, all_values, settings.level)
            human_error = (down + up) / 2 / quantile
        if not spread_of(residual):
            down, up = _of_equals(residual, weight, limits, all_values, settings.level)
            low, high = low - down, high + up
            error = (high - low) / 2 / quantile
            # The interval is not symmetric: what counts is its side of 0.
            side = value - low if value > 0 else high - value
            p = p_of_zero(value, side / quantile, n - 1)
    return Estimated(
        value, low, high, error, p, n - 1, weight, alone, human_error, judge, judge_error, n
    )


def mostly_equal(values: Floats) -> bool:
    """Whether so many values are the same that Student's t is far from its level."""
    return bool(np.unique(values, return_counts=True)[1].max() >= MOSTLY * len(values))


def _variance_of_mean(values: Floats, limit: float | None) -> float:
    """The variance of the mean of values, as if UNSEEN more were at a limit."""
    n = len(values)
    if limit is None or not spread_of(values):
        return float(values.var(ddof=1) / n)
    weights = np.append(np.ones(n), UNSEEN)
    variance = np.cov(np.append(values, limit), aweights=weights, ddof=0)
    return float(variance) / (n + UNSEEN - 1)


def _of_equals(
    values: Floats,
    weight: float,
    limits: tuple[float, float] | None,
    count: int | None,
    level: float,
) -> tuple[float, float]:
    """How far the mean of all values may be below and above that of equal ones that were drawn.

    values: without weight times the judge's. count: of all values, None for a sample of users.
    """
    if limits is None:
        return np.nan, np.nan
    lowest, highest = limits[0] - weight * limits[1], limits[1] - weight * limits[0]
    value = float(values[0])
    if count is None:
        low, high = all_the_same(value, len(values), lowest, highest, level)
        return value - low, high - value
    # The most that can be others, if drawing none of them is not too improbable.
    others, left = 0, count - len(values)
    probability = left / count
    while others < left and probability >= (1 - level) / 2:
        others += 1
        probability *= (left - others) / (count - others)
    share = others / count
    return share * (value - lowest), share * (highest - value)


def _resampled(
    value: float, residual: Floats, others: Floats, settings: Settings, *, finite: bool
) -> tuple[float, float]:
    """The percentile interval of resampled queries, at the same weight."""
    draws = "draw_with_replacement"
    sums = resampled_sums(residual[None], draws, settings.draws, settings.seed, None)[0]
    deviations = sums / len(residual) - residual.mean()
    if finite:
        # The part of the queries that was not drawn is all that is uncertain.
        deviations = deviations * np.sqrt(len(others) / (len(residual) + len(others)))
    elif len(others):
        beside = resampled_sums(others[None], draws, settings.draws, settings.seed + 1, None)[0]
        deviations = deviations + beside / len(others) - others.mean()
    tail = (1 - settings.level) / 2
    low, high = np.quantile(value + deviations, [tail, 1 - tail])
    return float(low), float(high)


def combined(human: Floats, predicted: Floats, others: Floats) -> tuple[Floats, Floats]:
    """The best linear combination of several judges: their predictions of both kinds of queries.

    predicted, others: float64[judges, queries]. The weights are fitted by least squares on the
    human sample. Each part of it is predicted with weights from the other parts, so that no query
    is predicted from its own human value; the others with the mean of these weights. Source:
    Zrnic and Candès, 'Cross-prediction-powered inference', PNAS 121(15), 2024.
    """
    n = len(human)
    part = np.arange(n) % min(FOLDS, n)
    predictions, mean = np.empty(n), np.zeros(len(predicted))
    for fold in range(part.max() + 1):
        fitted = part != fold
        centred = predicted[:, fitted] - predicted[:, fitted].mean(axis=1)[:, None]
        slopes = np.linalg.lstsq(centred.T, human[fitted] - human[fitted].mean(), rcond=None)[0]
        predictions[part == fold] = slopes @ predicted[:, part == fold]
        mean += slopes / (part.max() + 1)
    return predictions, mean @ others
