"""The test of all pairs at once: Tukey's honest significance, from random permutations."""

from __future__ import annotations

import numpy as np

from fastrank.analysis.comparing.pair_tests import Tested
from fastrank.analysis.comparing.randomization import thread_count
from fastrank.core.native import kernels
from fastrank.core.native.threads import in_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.analysis.comparing.options import Settings
    from fastrank.analysis.comparing.paired import Floats, Paired

# Resamples at a time.
BLOCK = 256


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
        " they depend on which systems are compared"
    ]
    return Tested(paired.difference, p, exact=False, general=general)


def _ranges(rows: Floats, settings: Settings) -> Floats:
    """The ranges of all resamples. rows: one for each query."""
    n, k = rows.shape
    values = np.ascontiguousarray(rows).reshape(-1)
    ranges = np.empty(settings.draws)
    count = thread_count(n * k * len(ranges) * 8, settings.threads)

    def work(thread: int) -> None:
        row, sums = np.empty(k), np.empty(k)
        for first in range(thread * BLOCK, len(ranges), count * BLOCK):
            kernels.permuted_ranges(
                values, settings.seed, first, row, sums, ranges[first : first + BLOCK]
            )

    in_threads(work, count)
    return ranges
