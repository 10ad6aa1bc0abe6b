"""Exact null distributions: of signed sums by meeting in the middle, of ranks by convolution."""

from __future__ import annotations

import numpy as np

from fastrank.native.declare import helper, kernel


@helper
def all_signed_sums(magnitudes, first, stop, sums, room):
    """All 2**(stop - first) signed sums of magnitudes, ascending; sorted by merging."""
    sums[0] = 0
    size = 1
    for place in range(first, stop):
        magnitude = magnitudes[place]
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
    found, reached = np.int64(0), rights
    for i in range(lefts):
        while reached > 0 and right[reached - 1] + left[i] >= threshold:
            reached -= 1
        found += rights - reached
    return found


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
