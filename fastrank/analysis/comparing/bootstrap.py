"""Confidence intervals of means, and the bootstrap, whose draws are the same for all systems."""

from __future__ import annotations

import numpy as np

from fastrank.analysis.comparing.pair_tests import Tested, t_test
from fastrank.analysis.comparing.paired import CONSTANT, Moments
from fastrank.analysis.comparing.power import critical_t
from fastrank.analysis.comparing.randomization import resampled_sums
from fastrank.core.native import kernels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    import numpy.typing as npt

    from fastrank.analysis.comparing.options import Settings
    from fastrank.analysis.comparing.paired import Paired
    from fastrank.common.arrays import Floats

    Bounds = tuple[Floats, Floats]

# Which random words seed the data sets; kernels use 1, 2 and 3.
PURPOSE = 5
# How many numbers are in memory at once.
CELLS = 1 << 23
# The most by which equal statistics may differ in their last bits.
ROUNDING = 1e-9
# The squares of smaller deviations might be 0.
SMALLEST = 1e-100
ONE_SIDED = "all resamples are on one side of the mean: a percentile interval"
LOST = "{} resamples have no variance: their statistics count as infinite"
ALL_LOST = "no resample has variance: there is no interval; use more resamples"


def t_interval(means: Moments, level: float) -> Bounds:
    """mean -+ t * sd / sqrt(n), with the quantile of Student's t for n - 1 degrees of freedom."""
    n = means.n
    with np.errstate(invalid="ignore", divide="ignore"):
        half = critical_t(np.maximum(n - 1.0, 0.0), 1 - level) * means.sd / np.sqrt(n)
    return means.mean - half, means.mean + half


def all_the_same(
    value: float, n: int, lowest: float, highest: float, level: float
) -> tuple[float, float]:
    """The interval of the mean if all n drawn values are equal, for values between two limits.

    At most a share of 1 - ((1 - level) / 2) ** (1 / n) of all values differ from it, each of which
    may be at a limit. For n of n successes, or none, this is the interval of Clopper and Pearson,
    Biometrika 26(4), 1934.
    """
    same = ((1 - level) / 2) ** (1 / n)
    low, high = (value * same + limit * (1.0 - same) for limit in (lowest, highest))
    return (value if value == lowest else low), (value if value == highest else high)


def two_level_means(paired: Paired, settings: Settings, resamples: int) -> Floats:
    """The means of the systems in each resample, float64[systems, resamples].

    A resample draws data sets with replacement, and for each draw of a data set its queries anew.
    Data sets without a mean of every system are not drawn. Source: Davison and Hinkley, 'Bootstrap
    methods and their application', 1997, section 3.8.
    """
    datasets = [rows for rows in paired.within or () if rows.shape[1]]
    draws = "draw_with_replacement"
    counts = resampled_sums(
        np.eye(len(datasets)), draws, resamples, settings.seed, settings.threads
    ).astype(np.int64)
    means = np.zeros((len(paired.values), resamples))
    # A seed for each data set, so that their draws are independent.
    halves = np.empty(2 * len(datasets), np.int64)
    kernels.random_words(settings.seed, PURPOSE, 0, halves)
    seeds = [(high << 31) + (low >> 1) for high, low in halves.reshape(-1, 2).tolist()]
    for rows, repeats, seed in zip(datasets, counts, seeds, strict=True):
        sums = resampled_sums(rows, draws, int(repeats.sum()), seed, settings.threads)
        drawn = repeats > 0
        starts = (np.cumsum(repeats) - repeats)[drawn]
        means[:, drawn] += np.add.reduceat(sums / rows.shape[1], starts, axis=1)
    return means / len(datasets)


class Intervals:
    """Bounds of means, one for each row. notes: {row: note}."""

    def __init__(self, rows: int) -> None:
        self.low, self.high = np.full(rows, np.nan), np.full(rows, np.nan)
        self.notes: dict[int, str] = {}

    def put(self, row: int, bounds: tuple[float, float]) -> None:
        """Store the bounds of a row."""
        self.low[row], self.high[row] = bounds


def bootstrap_intervals(paired: Paired, settings: Settings) -> tuple[Intervals, Intervals]:
    """The intervals of the means of the systems, and of the differences of the pairs.

    Sources: Efron and Tibshirani, 'An introduction to the bootstrap', 1993, chapters 12 to 14.
    """
    systems, pairs = Intervals(len(paired.values)), Intervals(len(paired))
    grouped = paired.within is not None or paired.clusters is not None
    if settings.interval == "studentized" or (paired.has_gaps and not grouped):
        _fill(systems, slice(0, len(paired.common)), paired.common, settings)
        for part, differences in paired.chunks():
            _fill(pairs, part, differences, settings)
        return systems, pairs
    if paired.within is not None:
        means = two_level_means(paired, settings, settings.draws)
    elif paired.clusters is not None:
        means = _cluster_means(paired.common, paired, settings)
    else:
        means = _resampled(paired.values, settings) / paired.values.shape[1]
    for row, resampled in enumerate(means):
        if grouped:
            systems.put(row, _quantiles(resampled, settings.level))
        else:
            _put(systems, row, paired.values[row], resampled, settings)
    for part, differences in paired.chunks():
        if paired.clusters is not None:
            of_pairs: Iterable[Floats] = _cluster_means(differences, paired, settings)
        else:
            indices = zip(paired.firsts[part], paired.seconds[part], strict=True)
            of_pairs = (means[first] - means[second] for first, second in indices)
        for row, (values, resampled) in enumerate(
            zip(differences, of_pairs, strict=True), part.start
        ):
            if grouped:
                pairs.put(row, _percentiles(values, resampled, settings.level))
            else:
                _put(pairs, row, values, resampled, settings)
    return systems, pairs


def _resampled(rows: Floats, settings: Settings) -> Floats:
    return resampled_sums(
        rows, "draw_with_replacement", settings.draws, settings.seed, settings.threads
    )


def _fill(intervals: Intervals, part: slice, rows: Floats, settings: Settings) -> None:
    """The intervals of rows, each over the queries for which it has a value."""
    values = [row[~np.isnan(row)] for row in rows]
    for index, sample in enumerate(values, part.start):
        if not len(sample):
            continue
        if settings.interval == "studentized":
            intervals.put(index, (sample.mean(), sample.mean()))
        else:
            _put(
                intervals,
                index,
                sample,
                _resampled(sample[None], settings)[0] / len(sample),
                settings,
            )
    if settings.interval != "studentized":
        return
    for row, statistics, lost in _studentized(rows, list(map(spread_of, values)), settings):
        index, sample = part.start + row, values[row]
        if lost == len(statistics):
            intervals.put(index, (np.nan, np.nan))
            intervals.notes[index] = ALL_LOST
            continue
        deviation = sample.std(ddof=1) / np.sqrt(len(sample))
        with np.errstate(invalid="ignore"):
            low, high = _percentiles(sample, statistics, settings.level)
        # Between infinite statistics, quantiles are NaN.
        low, high = -np.inf if np.isnan(low) else low, np.inf if np.isnan(high) else high
        intervals.put(index, (sample.mean() - high * deviation, sample.mean() - low * deviation))
        if lost:
            intervals.notes[index] = LOST.format(lost)


def _put(intervals: Intervals, index: int, row: Floats, means: Floats, settings: Settings) -> None:
    """The percentile or BCa interval of a mean, from resampled means."""
    if not spread_of(row):
        intervals.put(index, (row.mean(), row.mean()))
        return
    if _starts_below_zero(row):
        _put(intervals, index, -row, -means, settings)
        intervals.put(index, _mirrored(intervals.low[index], intervals.high[index]))
        return
    if settings.interval == "bca":
        deviations = row - row.mean()
        # Scaled, because cubes may exceed the range of doubles.
        deviations /= np.abs(deviations).max()
        acceleration = (deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5)
        bounds = bca(means, row.mean(), acceleration, settings.level)
        if bounds is not None:
            intervals.put(index, bounds)
            return
        intervals.notes[index] = ONE_SIDED
    intervals.put(index, _quantiles(means, settings.level))


def spread_of(row: Floats) -> bool:
    """Whether the values differ by more than rounding."""
    return len(row) > 1 and bool(np.ptp(row) > max(CONSTANT * np.abs(row).max(), SMALLEST))


def _starts_below_zero(row: Floats) -> bool:
    """Whether the first value that is not 0 or NaN is negative.

    If so, the bounds of the negated values are computed and mirrored. Hence the bounds of b - a are
    those of a - b with the opposite signs, to the last bit.
    """
    return bool(row[np.argmax((row < 0) | (row > 0))] < 0)


def _mirrored(low: float, high: float) -> tuple[float, float]:
    """The bounds of the negated values, without -0.0."""
    return 0.0 - high, 0.0 - low


def _percentiles(row: Floats, resampled: Floats, level: float) -> tuple[float, float]:
    """The percentile interval of resampled statistics of a row."""
    if _starts_below_zero(row):
        return _mirrored(*_quantiles(-resampled, level))
    return _quantiles(resampled, level)


def _quantiles(values: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - level) / 2, 1 - (1 - level) / 2])
    return float(low), float(high)


def bca(
    resampled: Floats, estimate: float, acceleration: float, level: float
) -> tuple[float, float] | None:
    """The bias-corrected and accelerated interval; None if all resamples are on one side.

    Source: Efron, 'Better bootstrap confidence intervals', JASA 82(397), 1987.
    """
    from scipy.special import ndtr, ndtri

    margin = ROUNDING * max(abs(estimate), float(np.ptp(resampled)))
    below = (resampled < estimate - margin).mean()
    above = (resampled > estimate + margin).mean()
    share = (below + (1 - above)) / 2
    if not 0.0 < share < 1.0:
        return None
    bias = ndtri(share)
    z = bias + ndtri(np.array([(1 - level) / 2, 1 - (1 - level) / 2]))
    low, high = np.quantile(resampled, ndtr(bias + z / (1 - acceleration * z)))
    return float(low), float(high)


def _studentized(
    rows: Floats, mask: npt.ArrayLike, settings: Settings
) -> Iterator[tuple[int, Floats, int]]:
    """(mean* - mean) / se* of the resamples of each chosen row.

    Yields the index of the row, its statistics, and how many are of resamples without variance:
    infinite, or 0 at the mean. Rows without NaN are resampled together, which is faster.
    """
    gaps: Any = np.isnan(rows).any(axis=1)
    chosen = np.asarray(mask, bool)
    whole = np.flatnonzero(chosen & ~gaps)
    step = max(1, CELLS // (2 * settings.draws))
    parts = [whole[start : start + step] for start in range(0, len(whole), step)]
    for indices in [*parts, *np.flatnonzero(chosen & gaps)[:, None]]:
        block = rows[indices]
        if gaps[indices[0]]:
            block = block[:, ~np.isnan(block[0])]
        n = block.shape[1]
        centred = block - block.mean(axis=1)[:, None]
        sums, squares = np.split(_resampled(np.vstack([centred, centred**2]), settings), 2)
        variance = (squares - sums**2 / n) / (n - 1)
        for i, index in enumerate(indices.tolist()):
            largest = np.abs(centred[i]).max()
            varied = variance[i] > 1e-12 * largest**2
            is_off = np.abs(sums[i]) > ROUNDING * n * largest
            statistics = np.where(is_off, np.copysign(np.inf, sums[i]), 0.0)
            statistics[varied] = sums[i][varied] / n / np.sqrt(variance[i][varied] / n)
            yield index, statistics, int((~varied).sum())


def bootstrap_test(paired: Paired, settings: Settings) -> Tested:
    """The share of resampled t statistics, around the observed mean, that are at least as extreme.

    p = (b + 1) / (B + 1). Source: Sakai, 'Evaluating evaluation metrics based on the bootstrap',
    SIGIR 2006, after Efron and Tibshirani, 1993, chapter 16.
    """
    by_t = t_test(paired, settings)
    p, notes = by_t.p.copy(), by_t.notes
    exact = np.ones(len(p), bool)
    tested = np.asarray(np.isfinite(by_t.statistic) & (paired.unequal > 0))
    for part, differences in paired.chunks():
        for row, statistics, lost in _studentized(differences, tested[part], settings):
            pair = part.start + row
            observed = abs(by_t.statistic[pair]) * (1 - ROUNDING)
            reached = int((np.abs(statistics) >= observed).sum())
            p[pair], exact[pair] = (reached + 1) / (len(statistics) + 1), False
            if lost:
                notes[pair] = LOST.format(lost)
    general = [f"p-values are estimated from {settings.draws:,} resamples (seed {settings.seed})"]
    return Tested(by_t.statistic, p, df=by_t.df, exact=exact, notes=notes, general=general)


def _cluster_means(rows: Floats, paired: Paired, settings: Settings) -> Floats:
    """The means of rows over the queries of resampled clusters."""
    present = ~np.isnan(rows)
    # The sizes of clusters are the same for all rows without gaps.
    counted = present[:1] if present.all() else present
    sums = _resampled(paired.by_cluster(np.nan_to_num(rows)), settings)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums / _resampled(paired.by_cluster(counted.astype(float)), settings)


def relative_interval(
    paired: Paired, systems: list[int], settings: Settings
) -> tuple[float, float]:
    """The bootstrap interval of mean / mean - 1 of two systems, on the queries with both values.

    The bounds are NaN if the mean of the second is 0 in a resample. The acceleration of BCa is
    from the jackknife.
    """
    rows = paired.values[systems]
    present = ~np.isnan(rows).any(axis=0)
    # A query that is 0 in both adds nothing to the sums of its cluster.
    rows = rows[:, present] if paired.clusters is None else np.where(present, rows, 0.0)
    if paired.within is not None:
        above, below = two_level_means(paired, settings, settings.draws)[systems]
    else:
        above, below = _resampled(paired.by_cluster(rows), settings)
    if (below == 0).any():
        return np.nan, np.nan
    first, second = rows
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate = first.sum() / second.sum() - 1
        without = (first.sum() - first) / (second.sum() - second)
    return jackknifed(above / below - 1, estimate, without, settings)


def jackknifed(
    resampled: Floats, estimate: float, without: Floats, settings: Settings
) -> tuple[float, float]:
    """The bootstrap interval of a statistic; BCa's acceleration is from the jackknife.

    The bounds are NaN if all resamples are equal: they do not tell what other queries would change.
    without: the statistic, plus any constant, without each of the queries.
    """
    if not spread_of(resampled):
        return np.nan, np.nan
    if settings.interval == "bca":
        deviations = without.mean() - without
        spread = (deviations**2).sum()
        if spread > 0 and np.isfinite(spread):
            acceleration = (deviations**3).sum() / (6 * spread**1.5)
            bounds = bca(resampled, estimate, acceleration, settings.level)
            if bounds is not None:
                return bounds
    return _quantiles(resampled, settings.level)
