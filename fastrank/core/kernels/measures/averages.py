"""From values per query to one value: sums in query order, as trec_eval adds them."""

from __future__ import annotations

import math

from fastrank.core.kernels.measures.trec import SMALLEST_GEOMETRIC
from fastrank.core.native.declare import kernel


@kernel("void(float64[::1], int64, float64[::1])")
def add_up(values, width, totals):
    """totals[j] = the sum over queries of values[q * width + j], first query first."""
    for q in range(len(values) // width):
        for j in range(width):
            totals[j] += values[q * width + j]


@kernel("void(float64[::1], int64, int64[::1], float64[::1])")
def average_groups(values, width, offsets, means):
    """For each query the mean over its rows offsets[q] : offsets[q + 1], column by column."""
    for q in range(len(offsets) - 1):
        for j in range(width):
            total = 0.0
            for row in range(offsets[q], offsets[q + 1]):
                total += values[row * width + j]
            means[q * width + j] = total / (offsets[q + 1] - offsets[q])


@kernel("void(int64[::1], int64[::1], int64[::1])")
def count_positive(offsets, grades, counts):
    """counts[q] = how many grades of query q are above zero."""
    for q in range(len(counts)):
        positive = 0
        for row in range(offsets[q], offsets[q + 1]):
            if grades[row] > 0:
                positive += 1
        counts[q] = positive


@kernel("void(int64[::1], int64[::1], int64[::1])")
def count_retrieved(num_ret, grades, totals):
    """How many documents were retrieved, and how many grades are not negative."""
    for retrieved in num_ret:
        totals[0] += retrieved
    for grade in grades:
        totals[1] += grade >= 0


@kernel("float64(float64, int64, int64)")
def geometric_mean(total, count, missing):
    """The mean of logarithms, taken back; `missing` of the `count` queries are as good as 0."""
    return math.exp((total + missing * math.log(SMALLEST_GEOMETRIC)) / count)
