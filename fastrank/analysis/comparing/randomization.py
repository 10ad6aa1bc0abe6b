"""Resamples in blocks and threads, Fisher's randomization test, and Tukey's of all pairs."""

from __future__ import annotations

import numpy as np

from fastrank.analysis.comparing.pair_tests import Tested
from fastrank.core.native import kernels
from fastrank.core.native.threads import default_threads, in_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from fastrank.analysis.comparing.options import Settings
    from fastrank.analysis.comparing.paired import Paired
    from fastrank.common.arrays import Floats, Integers

    # Takes the sums of the rows in a block, float64[rows * count], and the block's first resample.
    Use = Callable[[Floats, int, int], None]

# Weights at a time, and the limits of resamples at a time: so that they stay in the cache.
WEIGHTS = 1 << 16
FEWEST, MOST = 32, 256
# Operations that justify a thread.
WORTH_A_THREAD = 20_000_000
# The exact tests of all pairs may need this many sums of halves.
MOST_SUMS = 20_000_000
# Resamples of permuted values at a time.
BLOCK = 256


def thread_count(operations: int, threads: int | None) -> int:
    """How many threads are useful for a number of operations, at most `threads`."""
    return default_threads(operations, WORTH_A_THREAD) if threads is None else threads


def for_sums(
    rows: Floats,
    kernel: str,
    resamples: int,
    seed: int,
    threads: int | None,
    use: Callable[[], Use],
) -> None:
    """Call a function with the sums of each row over every resample, block by block.

    kernel: what fills the weights of a block, `flip_signs` or `draw_with_replacement`. use: makes,
    for one thread, the function that gets the sums of a block, its first resample, and their
    number.
    """
    m, n = rows.shape
    values = np.ascontiguousarray(rows).reshape(-1)
    fill = getattr(kernels, kernel)
    length = max(FEWEST, min(MOST, WEIGHTS // max(1, n)))
    blocks = -(-resamples // length)
    count = min(blocks, thread_count(m * n * resamples, threads))

    def work(thread: int) -> None:
        weights, sums, consume = np.empty(n * length), np.empty(m * length), use()
        for block in range(thread, blocks, count):
            first = block * length
            size = min(length, resamples - first)
            fill(seed, first, size, weights[: n * size])
            kernels.weighted_sums(values, weights[: n * size], size, sums[: m * size])
            consume(sums[: m * size], first, size)

    in_threads(work, count)


def resampled_sums(
    rows: Floats, kernel: str, resamples: int, seed: int, threads: int | None
) -> Floats:
    """The sums of each row over every resample, float64[rows, resamples]."""
    results = np.empty((len(rows), resamples))

    def use() -> Use:
        def store(sums: Floats, first: int, size: int) -> None:
            results[:, first : first + size] = sums.reshape(len(rows), size)

        return store

    for_sums(rows, kernel, resamples, seed, threads, use)
    return results


def randomization_test(paired: Paired, settings: Settings) -> Tested:
    """The share of all sign vectors whose sum of differences is at least as far from 0.

    Exact where `exact_up_to` allows it, by the sums of the first and the second half of the
    differences; else from random signs, with p = (b + 1) / (B + 1). The signs of all pairs are the
    same. Sources: Fisher, 'The design of experiments', 1935, section 21; Smucker, Allan and
    Carterette, CIKM 2007; Phipson and Smyth, 'Permutation p-values should never be zero', 2010.
    """
    unequal = unequal_units(paired)
    largest = int(unequal.max(initial=0))
    allowed = max(MOST_SUMS, 2 ** (settings.exact_up_to / 2))
    if largest <= settings.exact_up_to and len(paired) * 2.0 ** (largest / 2) <= allowed:
        return Tested(paired.difference, _exact(paired))
    extreme = _extreme(paired, settings)
    resamples = settings.flips
    p = (extreme + 1) / (resamples + 1)
    identical = unequal == 0
    p[identical] = 1.0
    error = np.sqrt(p * (1 - p) / resamples)
    near = (np.abs(p - settings.alpha) <= 2 * error) & ~identical
    notes = {
        int(pair): f"p is estimated with a standard error of {error[pair]:.2g}; more resamples"
        " would decide"
        for pair in np.flatnonzero(near)
    }
    general = [
        f"p-values are estimated from {resamples:,} random sign flips (seed {settings.seed})"
    ]
    return Tested(paired.difference, p, exact=identical, notes=notes, general=general)


def unequal_units(paired: Paired) -> Integers:
    """For each pair, the number of queries, or clusters, with a difference other than 0."""
    if paired.clusters is None:
        return paired.unequal
    counts = np.zeros(len(paired), np.int64)
    for part, differences in paired.chunks():
        sums = paired.by_cluster(np.nan_to_num(differences))
        counts[part] = (paired.rounded(sums) != 0).sum(axis=1)
    return counts


def _tolerance(columns: int) -> float:
    """How far sums on the grid may be from equal: each value is rounded by at most a half."""
    return 2.0 * columns


def _exact(paired: Paired) -> Floats:
    p = np.ones(len(paired))
    for part, differences in paired.chunks():
        rows = paired.by_cluster(np.nan_to_num(differences))
        grid = paired.grid(rows)
        for pair, row in enumerate(grid, part.start):
            observed = abs(row.sum()) - _tolerance(len(row))
            magnitudes = np.abs(row[row != 0]).astype(np.int64)
            if observed > 0:
                p[pair] = _exact_p(magnitudes, int(observed))
    return p


def _exact_p(magnitudes: Integers, threshold: int) -> float:
    half = len(magnitudes) // 2
    left, right = (np.empty(2**size, np.int64) for size in (half, len(magnitudes) - half))
    room = np.empty(max(1, len(right) // 2), np.int64)
    count: int = kernels.count_signed_sums(magnitudes, threshold, left, right, room)
    # Sums are as often far below 0 as above.
    return float(min(1.0, 2 * count / 2 ** len(magnitudes)))


def flipped_rows(paired: Paired) -> tuple[Floats, Integers, Integers]:
    """Rows on the grid, and the two rows whose difference is that of each pair.

    The rows are the systems, or, if there are fewer pairs or queries are dropped pair by pair, the
    differences and a row of zeros.
    """
    if not paired.has_gaps and len(paired) >= len(paired.values):
        rows = paired.grid(paired.by_cluster(paired.values))
        return rows, paired.firsts, paired.seconds
    parts = [np.nan_to_num(differences) for _, differences in paired.chunks()]
    rows = paired.grid(paired.by_cluster(np.concatenate(parts)))
    pairs = np.arange(len(paired))
    return np.vstack([rows, np.zeros(rows.shape[1])]), pairs, np.full(len(paired), len(rows))


def _extreme(paired: Paired, settings: Settings) -> Integers:
    """In how many resamples the sum of each pair is at least as extreme as observed."""
    rows, firsts, seconds = flipped_rows(paired)
    observed = rows.sum(axis=1)
    thresholds = np.abs(observed[firsts] - observed[seconds]) - _tolerance(rows.shape[1])
    counts: list[Integers] = []

    def use() -> Use:
        thread_counts = np.zeros(len(paired), np.int64)
        counts.append(thread_counts)

        def count(sums: Floats, _: int, size: int) -> None:
            kernels.count_extreme(sums, size, firsts, seconds, thresholds, thread_counts)

        return count

    for_sums(rows, "flip_signs", settings.flips, settings.seed, settings.threads, use)
    return np.asarray(np.sum(counts, axis=0))


def max_t(paired: Paired, settings: Settings) -> Floats:
    """p-values adjusted by the largest t statistic of common sign flips, step by step.

    Source: Westfall and Young, 'Resampling-based multiple testing', 1993, algorithm 4.1; Boytsov,
    Belova and Westfall, SIGIR 2013. Under sign flips, t grows with |sum| / sqrt(sum of squares).
    """
    rows, firsts, seconds = flipped_rows(paired)
    differences = rows[firsts] - rows[seconds]
    scale = np.sqrt((differences**2).sum(axis=1))
    scale[scale == 0] = 1.0
    observed = np.abs(differences.sum(axis=1)) / scale
    order = np.argsort(-observed, kind="stable")
    sums = resampled_sums(
        differences[order], "flip_signs", settings.flips, settings.seed, settings.threads
    )
    statistics = np.abs(sums) / scale[order, None]
    largest = np.maximum.accumulate(statistics[::-1], axis=0)[::-1]
    # Equal statistics differ in their last bits.
    reached = (largest >= observed[order, None] * (1 - 1e-9)).sum(axis=1)
    p = np.maximum.accumulate((reached + 1) / (settings.flips + 1))
    adjusted = np.empty(len(paired))
    adjusted[order] = p
    return adjusted


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
