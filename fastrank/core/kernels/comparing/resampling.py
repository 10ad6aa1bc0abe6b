"""Resamples of queries and exact null distributions, for significance tests.

Random words come by number: any thread can compute word i without the words before it. The
generator is splitmix64 (Steele, Lea and Flood, 'Fast splittable pseudorandom number generators',
OOPSLA 2014), whose i-th output depends on the seed and on i alone.

A block of resamples has weights[q * count + b], the weight of query q in its resample b, so that
the inner loops run over resamples. Null distributions are exact: of signed sums by meeting in the
middle, of ranks by convolution.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.simd.instructions import multiply
from fastrank.core.native.compiling.compiler import uint64
from fastrank.core.native.declare import helper, inlined, instruction, kernel

U = np.uint64
GOLDEN = U(0x9E3779B97F4A7C15)
FIRST_FACTOR = U(0xBF58476D1CE4E5B9)
SECOND_FACTOR = U(0x94D049BB133111EB)
# Each use of a seed has other words.
FLIPS, PERMUTATIONS, DRAWS = 1, 2, 3


@instruction(uint64(uint64, uint64), lambda builder, a, b: builder.add(a, b))
def wrapped_sum(a, b):
    """The sum modulo 2**64, as compiled code adds words."""
    return U((int(a) + int(b)) & (2**64 - 1))


@inlined
def mix(word):
    """The finalizer of splitmix64."""
    word = multiply(word ^ (word >> U(30)), FIRST_FACTOR)[1]
    word = multiply(word ^ (word >> U(27)), SECOND_FACTOR)[1]
    return word ^ (word >> U(31))


@inlined
def stream(seed, purpose):
    """The start of the words of a seed for one purpose."""
    start = mix(wrapped_sum(U(seed), GOLDEN))
    return mix(wrapped_sum(start, multiply(U(purpose), GOLDEN)[1]))


@inlined
def word_of(start, number):
    """Word `number`, from 0, of a stream."""
    return mix(wrapped_sum(start, multiply(U(number + 1), GOLDEN)[1]))


@inlined
def below(word, limit):
    """A number below a limit of at most 2**32."""
    return np.int64(((word >> U(32)) * U(limit)) >> U(32))


@kernel("void(int64, int64, int64, int64[::1])")
def random_words(seed, purpose, first, halves):
    """The words from `first` on, each as its high and its low 32 bits."""
    start = stream(seed, purpose)
    for i in range(len(halves) // 2):
        word = word_of(start, first + i)
        halves[2 * i] = np.int64(word >> U(32))
        halves[2 * i + 1] = np.int64(word & U(0xFFFFFFFF))


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
        row = sums[i * count : (i + 1) * count]
        row[:] = 0.0
        for q in range(n):
            value = values[i * n + q]
            if value != 0.0:
                weight = weights[q * count : (q + 1) * count]
                for b in range(count):
                    row[b] += value * weight[b]


@kernel("void(float64[::1], int64, int64[::1], int64[::1], float64[::1], int64[::1])")
def count_extreme(sums, count, firsts, seconds, thresholds, counts):
    """Add to counts[p] in how many resamples the sums of pair p differ by its threshold or more."""
    for p in range(len(counts)):
        first = sums[firsts[p] * count : (firsts[p] + 1) * count]
        second = sums[seconds[p] * count : (seconds[p] + 1) * count]
        threshold = thresholds[p]
        extreme = 0
        for b in range(count):
            extreme += np.int64(abs(first[b] - second[b]) >= threshold)
        counts[p] += extreme


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


@helper
def all_signed_sums(magnitudes, first, stop, sums, room):
    """All 2**(stop - first) signed sums of magnitudes, ascending; sorted by merging."""
    sums[0] = 0
    size = 1
    for m in range(first, stop):
        magnitude = magnitudes[m]
        for i in range(size):
            room[i] = sums[i]
        low = high = 0
        for i in range(2 * size):
            # Both lists ascend: that of the sums minus the magnitude, and that plus it.
            if high == size or (low < size and room[low] - magnitude <= room[high] + magnitude):
                sums[i] = room[low] - magnitude
                low += 1
            else:
                sums[i] = room[high] + magnitude
                high += 1
        size *= 2
    return size


@kernel("int64(int64[::1], int64, int64[::1], int64[::1], int64[::1])")
def count_signed_sums(magnitudes, threshold, left, right, room):
    """How many of the signed sums of all magnitudes reach a threshold.

    left and right have room for the sums of the first and the second half (Horowitz and Sahni,
    J. ACM 21(2), 1974), `room` for half of the larger.
    """
    half = len(magnitudes) // 2
    lefts = all_signed_sums(magnitudes, 0, half, left, room)
    rights = all_signed_sums(magnitudes, half, len(magnitudes), right, room)
    count, reached = np.int64(0), rights
    for i in range(lefts):
        while reached > 0 and right[reached - 1] + left[i] >= threshold:
            reached -= 1
        count += rights - reached
    return count


@kernel("void(int64[::1], float64[::1], float64[::1])")
def count_rank_sums(ranks, counts, room):
    """counts[t] = in how many ways some of the ranks, which ascend, add up to at most t.

    `room` is as long as `counts`. Numbers above 2**53 are rounded.
    """
    size = len(counts)
    counts[:] = 0.0
    counts[0] = 1.0
    highest = np.int64(0)
    for rank in ranks:
        highest = min(highest + rank, size - 1)
        for total in range(min(rank, highest + 1)):
            room[total] = counts[total]
        for total in range(rank, highest + 1):
            room[total] = counts[total] + counts[total - rank]
        for total in range(highest + 1):
            counts[total] = room[total]
    for total in range(1, size):
        counts[total] += counts[total - 1]
