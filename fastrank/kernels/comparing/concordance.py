"""Kendall's tau in n log n steps."""

from __future__ import annotations

import math

from fastrank.native.declare import helper, kernel


@helper
def count_up_to(tree, rank):
    """The number of items in a Fenwick tree with at most this rank."""
    count = 0
    while rank > 0:
        count += tree[rank]
        rank &= rank - 1
    return count


@helper
def insert(tree, rank):
    """Add an item to a Fenwick tree, whose ranks are below its length."""
    while rank < len(tree):
        tree[rank] += 1
        rank += rank & -rank


@kernel("float64(int64[::1], int64[::1], int64[::1], int64[::1])")
def kendall_tau(first, second, tree, pairs):
    """Kendall's tau-b of two rankings of the same items, NaN if it is undefined.

    first: the ranks in the first ranking, ascending. second: those of the same items in the second,
    from 1 to len(tree) - 1. Equal ranks are ties. `pairs` becomes: concordant minus discordant
    pairs, pairs tied in the first, pairs tied in the second.
    """
    count = len(first)
    tree[:] = 0
    pairs[:] = 0
    start = 0
    while start < count:
        stop = start
        while stop < count and first[stop] == first[start]:
            below = count_up_to(tree, second[stop] - 1)
            above = start - count_up_to(tree, second[stop])
            pairs[0] += below - above
            pairs[1] += stop - start
            stop += 1
        for i in range(start, stop):
            pairs[2] += count_up_to(tree, second[i]) - count_up_to(tree, second[i] - 1)
            insert(tree, second[i])
        start = stop
    total = count * (count - 1) // 2
    if pairs[1] == total or pairs[2] == total:
        return math.nan
    # In the order of scipy's operations, so that the result is the same double.
    tau = pairs[0] / math.sqrt(total - pairs[1]) / math.sqrt(total - pairs[2])
    return min(1.0, max(-1.0, tau))
