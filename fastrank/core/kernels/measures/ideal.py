"""Measures that compare a ranking with the ideal one rank by rank: Q, nCG and Compat.

Definitions and sources: the records in fastrank/core/measures/families.py.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.measures.gains import add_ideal_gains, ideal_gain_at, ideal_size
from fastrank.core.kernels.measures.signatures import GAINED
from fastrank.core.native.declare import helper, kernel


@kernel(GAINED)
def q_measure(q, parameters, values):
    """parameters: the cutoff, and beta."""
    cutoff, beta = parameters[0], parameters[1]
    best = min(np.float64(ideal_size(q)), cutoff)
    actual, relevant = 0.0, 0
    done, v, passed, ideal = 0, 0, 0, 0.0
    for rank, gain in zip(q.ranks, q.gains):
        if rank > cutoff:
            break
        actual += gain
        if gain > 0.0:
            relevant += 1
            done, v, passed, ideal = add_ideal_gains(q, rank, done, v, passed, ideal, False)
            values[0] += (relevant + beta * actual) / (rank + beta * ideal) * (1.0 / best)


@kernel(GAINED)
def normalized_cumulated_gain(q, cutoffs, values):
    actual = 0.0
    for rank, gain in zip(q.ranks, q.gains):
        if rank > cutoffs[0]:
            break
        actual += gain
    ideal = add_ideal_gains(q, cutoffs[0], 0, 0, 0, 0.0, False)[3]
    if ideal > 0.0:
        values[0] = actual / ideal


@helper
def ideal_rank(q, i):
    """The rank of listed document i in the ideal ranking, where equal gains keep their order."""
    rank = 1
    for gain, count in zip(q.ideal_gains, q.ideal_counts):
        if gain > q.gains[i]:
            rank += count
    for j in range(i):
        if q.gains[j] == q.gains[i]:
            rank += 1
    return rank


@helper
def overlaps(q, p, end):
    """Rank-biased overlap of the ranking, and of the ideal ranking, with the ideal ranking.

    A document is in both rankings from the larger of its two ranks on.
    """
    size = ideal_size(q)
    depth = max(q.num_ret, size)
    if end < np.inf:
        depth = int(end)
    score, best, weights, weight, shared = 0.0, 0.0, 0.0, 1.0, 0
    i, j, v, passed = 0, 0, 0, 0
    for rank in range(1, depth + 1):
        if i < len(q.ranks) and q.ranks[i] == rank:
            if q.gains[i] > 0.0 and ideal_rank(q, i) <= rank:
                shared += 1
            i += 1
        behind = v
        v, passed = ideal_gain_at(q, rank, v, passed)
        if v > behind:
            j = 0
        if v < len(q.ideal_gains):
            while j < len(q.ranks) and q.gains[j] != q.ideal_gains[v]:
                j += 1
            if j < len(q.ranks):
                if q.ranks[j] < rank:
                    shared += 1
                j += 1
        score += weight * shared / rank
        best += weight * min(rank, size) / rank
        weights += weight
        weight *= p
    if weights == 0.0:
        return 0.0, 0.0
    return score / weights, best / weights


@kernel(GAINED)
def compatibility(q, parameters, values):
    """parameters: p, the depth, and 1 to divide the overlap by that of the ideal ranking."""
    overlap, best = overlaps(q, parameters[0], parameters[1])
    if parameters[2] == 0.0:
        values[0] = overlap
    elif best > 0.0:
        values[0] = overlap / best
