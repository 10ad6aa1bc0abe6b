"""Resamples of queries: sign flips, draws with replacement, and permutations of systems.

A block of resamples has weights[q * count + b], the weight of query q in its resample b, so that
the inner loops run over resamples.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.statistics.random import (
    DRAWS,
    FLIPS,
    PERMUTATIONS,
    U,
    below,
    stream,
    word_of,
)
from fastrank.native.declare import kernel


@kernel("void(int64, int64, int64, float64[::1])")
def flip_signs(seed, first, count, weights):
    """The weights 1 and -1 of resamples first, ..., first + count - 1: one random bit each."""
    n = len(weights) // count
    words = (n + 63) // 64
    start = stream(seed, FLIPS)
    for b in range(count):
        for w in range(words):
            word = word_of(start, (first + b) * words + w)
            for q in range(64 * w, min(n, 64 * w + 64)):
                weights[q * count + b] = -1.0 if word & U(1) else 1.0
                word = word >> U(1)


@kernel("void(int64, int64, int64, float64[::1])")
def draw_with_replacement(seed, first, count, weights):
    """How often each query is drawn in resamples first, ..., first + count - 1."""
    n = len(weights) // count
    start = stream(seed, DRAWS)
    weights[:] = 0.0
    for b in range(count):
        for draw in range(n):
            q = below(word_of(start, (first + b) * n + draw), n)
            weights[q * count + b] += 1.0


@kernel("void(float64[::1], float64[::1], int64, float64[::1])")
def weighted_sums(values, weights, count, sums):
    """sums[i * count + b] = the sum over queries of values[i * n + q] times the weight in b.

    The queries are added in their order, so that the sums are the same on every machine.
    """
    n = len(weights) // count
    for i in range(len(sums) // count):
        own = sums[i * count : (i + 1) * count]
        own[:] = 0.0
        for q in range(n):
            value = values[i * n + q]
            if value != 0.0:
                weight = weights[q * count : (q + 1) * count]
                for b in range(count):
                    own[b] += value * weight[b]


@kernel("void(float64[::1], int64, int64[::1], int64[::1], float64[::1], int64[::1])")
def count_extreme(sums, count, firsts, seconds, thresholds, counts):
    """Add to counts[p] in how many resamples the sums of pair p differ by its threshold or more."""
    for p in range(len(counts)):
        one = sums[firsts[p] * count : (firsts[p] + 1) * count]
        other = sums[seconds[p] * count : (seconds[p] + 1) * count]
        threshold = thresholds[p]
        found = 0
        for b in range(count):
            found += np.int64(abs(one[b] - other[b]) >= threshold)
        counts[p] += found


@kernel("void(float64[::1], int64, int64, float64[::1], float64[::1], float64[::1])")
def permuted_ranges(values, seed, first, row, sums, ranges):
    """ranges[b] = the range of the sums of systems, each query's values shuffled among systems.

    values: one row for each query, with one value for each system. row, sums: room for one row.
    Each shuffle is that of Fisher and Yates, from the last system down.
    """
    k = len(sums)
    n = len(values) // k
    start = stream(seed, PERMUTATIONS)
    for b in range(len(ranges)):
        sums[:] = 0.0
        for q in range(n):
            for i in range(k):
                row[i] = values[q * k + i]
            for i in range(k - 1, 0, -1):
                j = below(word_of(start, ((first + b) * n + q) * k + i), i + 1)
                row[i], row[j] = row[j], row[i]
            for i in range(k):
                sums[i] += row[i]
        low = high = sums[0]
        for i in range(1, k):
            low, high = min(low, sums[i]), max(high, sums[i])
        ranges[b] = high - low
