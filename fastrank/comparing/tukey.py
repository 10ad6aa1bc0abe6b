"""Tests of all pairs at once: two-way analysis of variance, and Tukey's honest significance."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from fastrank.comparing.pair_tests import Tested
from fastrank.comparing.randomization import thread_count
from fastrank.native import kernels
from fastrank.native.threads import in_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Floats, Paired

# Resamples at a time.
BLOCK = 256
# The accuracy of the numerical integration; smaller p-values are noise.
RESOLVED = 1e-12
# More probabilities of a studentized range are interpolated between this many; those that are
# negligible are rounded up.
NODES, NEGLIGIBLE = 96, 1e-10
# A standard normal value is not farther from 0; less probable deviations are left out.
FARTHEST, SMALLEST = 8.5, 1e-17


class Source(NamedTuple):
    """A source of variance: its name, sum of squares, and degrees of freedom."""

    name: str
    squares: float
    df: int

    @property
    def mean_square(self) -> float:
        """The sum of squares divided by the degrees of freedom, NaN for none."""
        return self.squares / self.df if self.df else float("nan")


def two_way(values: Floats) -> list[Source]:
    """The sources systems, queries and residual of values, float64[systems, queries]."""
    k, n = values.shape
    # The order of the systems would change the last bits of sums.
    values = values[np.lexsort(values.T)]
    mean = values.mean()
    systems = float(n * ((values.mean(axis=1) - mean) ** 2).sum())
    queries = float(k * ((values.mean(axis=0) - mean) ** 2).sum())
    residuals = values - values.mean(axis=1)[:, None] - values.mean(axis=0)[None, :] + mean
    return [
        Source("systems", systems, k - 1),
        Source("queries", queries, n - 1),
        Source("residual", float((residuals**2).sum()), (n - 1) * (k - 1)),
    ]


def randomized_tukey(paired: Paired, settings: Settings) -> Tested:
    """The share of permutations whose range of means is at least the difference of a pair.

    In each of B resamples, each query's values are permuted among the systems; p = (b + 1) /
    (B + 1). The values of a query are sorted first, so that the order of the systems does not
    matter. Source: Carterette, 'Multiple testing in statistical analysis of systems-based
    information retrieval experiments', ACM TOIS 30(1), 2012.
    """
    values = paired.complete()
    columns = values.shape[1]
    if not columns:
        return Tested(paired.difference, np.full(len(paired), np.nan))
    grid = paired.grid(values)
    ranges = np.sort(_ranges(np.sort(grid.T, axis=1), settings))
    sums = grid.sum(axis=1)
    differences = sums[paired.firsts] - sums[paired.seconds]
    # Each value is rounded by at most a half.
    below = np.searchsorted(ranges, np.abs(differences) - 2.0 * columns, side="left")
    p = (len(ranges) - below + 1) / (len(ranges) + 1)
    p[paired.unequal == 0] = 1.0
    general = [
        f"p-values are estimated from {len(ranges):,} random permutations (seed {settings.seed});"
        " they depend on which systems are compared",
    ]
    return Tested(paired.difference, p, exact=False, general=general)


def _ranges(rows: Floats, settings: Settings) -> Floats:
    """The ranges of all resamples. rows: one for each query."""
    n, k = rows.shape
    values = np.ascontiguousarray(rows).reshape(-1)
    found = np.empty(settings.draws)
    count = thread_count(n * k * len(found) * 8, settings.threads)

    def work(thread: int) -> None:
        row, sums = np.empty(k), np.empty(k)
        for first in range(thread * BLOCK, len(found), count * BLOCK):
            kernels.permuted_ranges(
                values, settings.seed, first, row, sums, found[first : first + BLOCK]
            )

    in_threads(work, count)
    return found


def classic_tukey(paired: Paired, _: Settings) -> Tested:
    """Tukey's test with the residual variance of a two-way analysis of systems and queries.

    q = |difference of means| / sqrt(MSE / n), and p is from the studentized range with k systems
    and (n - 1)(k - 1) degrees of freedom; p below 1e-12 is given as 1e-12. Sources: Tukey, 'The
    problem of multiple comparisons', 1953; Tague-Sutcliffe and Blustein, TREC-3, 1994.
    """
    values = paired.complete()
    k, n = values.shape
    pairs = len(paired)
    if n < 2:
        return Tested(np.full(pairs, np.nan), np.full(pairs, np.nan))
    residual = two_way(values)[-1]
    means = values.mean(axis=1)
    difference = np.abs(means[paired.firsts] - means[paired.seconds])
    with np.errstate(invalid="ignore", divide="ignore"):
        q = difference / np.sqrt(residual.mean_square / n)
    q[paired.unequal == 0] = 0.0
    p = np.maximum(RESOLVED, _upper_tail(q, k, residual.df))
    p[paired.unequal == 0] = 1.0
    return Tested(np.copysign(q, paired.difference), p, df=residual.df)


def _upper_tail(q: Floats, k: int, df: int) -> Floats:
    """The probabilities that a studentized range is at least q, float64[pairs].

    They are a smooth function of q, and interpolated if there are many.
    """
    if len(q) <= NODES:
        return studentized_tail(q, k, df)
    top = 8.0
    while top < q.max() and studentized_tail(np.array([top]), k, df)[0] > NEGLIGIBLE:
        top *= 1.25
    interpolated = np.polynomial.Chebyshev.interpolate(
        studentized_tail, NODES, domain=[0.0, top], args=(k, df)
    )
    tail: Floats = np.clip(interpolated(np.minimum(q, top)), 0.0, 1.0)
    return tail


def studentized_tail(q: Floats, k: int, df: int) -> Floats:
    """The probabilities that a studentized range of k means is at least q, float64[values].

    By Gauss-Legendre quadrature over the deviation and the largest mean, with errors below 1e-11;
    the adaptive quadrature of scipy takes ten milliseconds for a value. Source: Lund and Lund,
    'Algorithm AS 190', Applied Statistics 32(2), 1983.
    """
    from scipy.special import gammainccinv, gammaincinv, ndtr

    half = df / 2
    low, high = (np.sqrt(own(half, SMALLEST) / half) for own in (gammaincinv, gammainccinv))
    x, weights = _legendre(128)
    deviation = (high - low) / 2 * x + (high + low) / 2
    density = (df - 1) * np.log(deviation) - half * deviation**2
    weights = weights * np.exp(density - density.max())
    x, of_largest = _legendre(256)
    z = FARTHEST * x
    of_largest = of_largest * np.exp(-z * z / 2) * FARTHEST / np.sqrt(2 * np.pi)
    widths = np.multiply.outer(q, deviation)[..., None]
    # The probability that the others are between the largest and a width below it.
    others = np.maximum(ndtr(z) - ndtr(z - widths), 0.0) ** (k - 1)
    tail: Floats = 1.0 - k * (others @ of_largest) @ (weights / weights.sum())
    return np.clip(tail, 0.0, 1.0)


@cache
def _legendre(count: int) -> tuple[Floats, Floats]:
    """The nodes and the weights of a quadrature."""
    x, weights = np.polynomial.legendre.leggauss(count)
    return x, weights
