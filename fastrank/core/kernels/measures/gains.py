"""Measures over gains: what each grade is worth, and the ranking measured against the best one."""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.measures.signatures import GAINED, TIED_GAINS
from fastrank.core.kernels.measures.tie_groups import (
    gain_in,
    group_at,
    ranks_within,
    weights_of_group,
)
from fastrank.core.kernels.simd.instructions import log2_or_nan, to_integer
from fastrank.core.kernels.texts.text import sort_by
from fastrank.core.native.declare import helper, kernel, unless_tied
from fastrank.core.native.logarithm import log2

# A division and a look-up take a quarter of the time of the C library's log2. Up to here its values
# are the doubles next to the logarithms, so that they are the same wherever the library is built.
LISTED = 1024
DISCOUNTS = np.array([log2(rank + 1) for rank in range(LISTED)])


@helper
def discount(rank):
    """log2(rank + 1)."""
    return DISCOUNTS[rank] if rank < LISTED else log2(rank + 1)


@helper
def by_whole_gain(a, b, data):
    """The sign of the difference as trec_eval's comparison returns it, cut to an integer.

    Gains less than 1 apart therefore compare as equal. Differences outside the range of an int,
    where the original's result is undefined, are compared as numbers.
    """
    gains = data
    difference = gains[a] - gains[b]
    if abs(difference) < 2147483648.0:
        return to_integer(difference)
    return 1 if difference > 0 else -1


sort_gains = sort_by(by_whole_gain)


@kernel("void(Rankings, GradeGains, int64, int64, GainTable, GainedRankings)")
def assign_gains(rankings, grade_gains, dense, rescale, table, gained):
    """Give every listed document its gain, and every query its best possible ranking.

    A grade is worth itself unless `grade_gains` has it. `dense` also enters the grades below the
    highest one that no document has: they matter when gains are not whole numbers, because then
    they take part in a sort that is not a total order. `rescale` maps the gains of a query to
    [0, 1] when one lies outside. The table has room for the grades of `grade_gains` and those of
    one query.
    """
    offsets, grade_offsets = rankings.offsets, rankings.grade_offsets
    pairs = len(grade_gains.grades)
    plain = pairs == 0 and not rescale
    listed = 0
    for q in range(len(offsets) - 1):
        for i in range(pairs):
            table.grades[i] = grade_gains.grades[i]
            table.gains[i] = grade_gains.gains[i]
            table.counts[i] = 0
        size = pairs
        first, stop = grade_offsets[q], grade_offsets[q + 1]
        if plain:
            listed = take_grades(q, rankings, gained, listed)
            gained.ideal_offsets[q + 1] = listed
            continue
        previous = -1
        for v in range(first, stop):
            grade = rankings.grade_values[v]
            if dense:
                for absent in range(previous + 1, grade):
                    size = enter(absent, 0, table, pairs, size)
            previous = grade
            size = enter(grade, rankings.grade_counts[v], table, pairs, size)
        order = table.order
        for i in range(size):
            order[i] = i
        sort_gains(order, size, table.merge, table.gains)
        if rescale:
            to_unit_interval(table.gains, size)
        for i in range(offsets[q], offsets[q + 1]):
            gained.gains[i] = gain_of(rankings.grades[i], table, size)
        # Entries without documents are passed over, but if the very last has no gain, none counts.
        if size > 0 and table.gains[order[size - 1]] > 0.0:
            for position in range(size - 1, -1, -1):
                entry = order[position]
                if table.counts[entry] == 0:
                    continue
                if not table.gains[entry] > 0.0:
                    break
                gained.ideal_gains[listed] = table.gains[entry]
                gained.ideal_counts[listed] = table.counts[entry]
                listed += 1
        gained.ideal_offsets[q + 1] = listed


@helper
def take_grades(q, rankings, gained, listed):
    """Make the grades of a query its gains, without a table; how many gains are listed then."""
    for i in range(rankings.offsets[q], rankings.offsets[q + 1]):
        gained.gains[i] = max(rankings.grades[i], 0)
    for v in range(rankings.grade_offsets[q + 1] - 1, rankings.grade_offsets[q] - 1, -1):
        if rankings.grade_values[v] == 0:
            break
        gained.ideal_gains[listed] = rankings.grade_values[v]
        gained.ideal_counts[listed] = rankings.grade_counts[v]
        listed += 1
    return listed


@helper
def enter(grade, count, table, pairs, size):
    """Count documents of a grade in the gain table; returns the table's new size."""
    for i in range(pairs):
        if table.grades[i] == grade:
            table.counts[i] = count
            return size
    table.grades[size] = grade
    table.gains[size] = grade
    table.counts[size] = count
    return size + 1


@helper
def gain_of(grade, table, size):
    """The gain of the first entry of a grade in sorted order, 0 if there is none."""
    for i in range(size):
        if table.grades[table.order[i]] == grade:
            return table.gains[table.order[i]]
    return 0.0


@helper
def to_unit_interval(gains, size):
    """Map gains linearly so that the smallest (or 0) is 0 and the largest (or 0) is 1."""
    smallest, largest = 0.0, 0.0
    for i in range(size):
        smallest = min(smallest, gains[i])
        largest = max(largest, gains[i])
    if smallest < 0.0 or largest > 1.0:
        for i in range(size):
            gains[i] = (gains[i] - smallest) / (largest - smallest)


@helper
def ideal_size(q):
    """How many documents the best ranking has."""
    size = 0
    for count in q.ideal_counts:
        size += count
    return size


@helper
def add_tied_gains(q, depth, i, total):
    """The same of groups; the last sum goes up to `depth`, which may be within the next group."""
    while i < len(q.gains):
        stop, low, high = group_at(q, i)
        ranks, gain, expected = ranks_within(q, low, high, depth), gain_in(q, i, stop), total
        if gain != 0.0:
            for offset in range(ranks):
                expected += gain / (high - low) / discount(low + offset + 1)
        if ranks < high - low:
            return i, total, expected
        i, total = stop, expected
    return i, total, total


# The general code takes twice as long for rankings whose ties are broken.
@unless_tied(add_tied_gains)
def add_gains(q, depth, i, total):
    """Add the discounted gains up to rank `depth`, from row i on.

    Returns the next row and the sum, which is also that up to `depth`.
    """
    while i < len(q.ranks) and q.ranks[i] <= depth:
        if q.gains[i] != 0.0:
            total += q.gains[i] / discount(q.ranks[i])
        i += 1
    return i, total, total


@helper
def dcg(q, depth):
    """Discounted cumulative gain of the first `depth` ranks."""
    return add_gains(q, depth, 0, 0.0)[2]


@helper
def ideal_gain_at(q, rank, v, passed):
    """The entry of ideal_gains that holds a rank, from v on; `passed` documents come before it."""
    while v < len(q.ideal_gains) and rank > passed + q.ideal_counts[v]:
        passed += q.ideal_counts[v]
        v += 1
    return v, passed


@helper
def add_ideal_gains(q, depth, rank, v, passed, total, is_discounted):
    """Add the gains of the best ranking behind `rank`, up to `depth`."""
    while rank < depth:
        v, passed = ideal_gain_at(q, rank + 1, v, passed)
        if v == len(q.ideal_gains):
            break
        rank += 1
        total += q.ideal_gains[v] / discount(rank) if is_discounted else q.ideal_gains[v]
    return rank, v, passed, total


@helper
def ideal_dcg_of(q, depth):
    """Discounted cumulative gain of the first `depth` ranks of the best ranking."""
    return add_ideal_gains(q, depth, 0, 0, 0, 0.0, True)[3]


@kernel(GAINED)
def ideal_discounted_gain(q, parameters, values):
    values[0] = ideal_dcg_of(q, ideal_size(q))


@kernel(GAINED, TIED_GAINS)
def normalized_discounted_gain(q, cutoffs, values):
    """The cutoffs ascend: each goes on where the one before has stopped."""
    i, rank, v, passed = 0, 0, 0, 0
    actual, ideal = 0.0, 0.0
    for c in range(len(cutoffs)):
        i, actual, expected = add_gains(q, cutoffs[c], i, actual)
        rank, v, passed, ideal = add_ideal_gains(q, cutoffs[c], rank, v, passed, ideal, True)
        if ideal > 0.0:
            values[c] = expected / ideal


@kernel(GAINED)
def normalized_gain_at_relevant(q, parameters, values):
    """ndcg_rel: ndcg averaged over the ranks of the relevant documents."""
    size = ideal_size(q)
    total, actual, ideal = 0.0, 0.0, 0.0
    relevant, rank_done, v, passed = 0, 0, 0, 0
    for rank, gain in zip(q.ranks, q.gains):
        if gain == 0.0:
            continue
        actual += gain / discount(rank)
        if gain > 0.0:
            rank_done, v, passed, ideal = add_ideal_gains(
                q, rank, rank_done, v, passed, ideal, True
            )
            total += np.float64(actual) / ideal
            relevant += 1
    total += (size - relevant) * np.float64(actual) / ideal_dcg_of(q, size)
    if total > 0.0:
        values[0] = np.float64(total) / size


@kernel(GAINED, TIED_GAINS)
def normalized_gain_at_levels(q, parameters, values):
    """Rndcg: ndcg averaged over the ranks where the best ranking's gain changes."""
    if q.num_rel == 0:
        return
    size = ideal_size(q)
    total, actual, ideal = 0.0, 0.0, 0.0
    points, depth, document, rank, v, passed = 0, 0, 0, 0, 0, 0
    for i in range(len(q.ideal_gains)):
        depth += q.ideal_counts[i]
        if i + 1 == len(q.ideal_gains) or q.ideal_gains[i] != q.ideal_gains[i + 1]:
            document, actual, expected = add_gains(q, depth, document, actual)
            rank, v, passed, ideal = add_ideal_gains(q, depth, rank, v, passed, ideal, True)
            total += np.float64(expected) / ideal
            points += 1
    if size > 0 and q.num_ret > size + 1:
        total += np.float64(add_gains(q, q.num_ret, document, actual)[2]) / ideal
        points += 1
    values[0] = np.float64(total) / points


@kernel(GAINED)
def graded_g(q, parameters, values):
    """G: gain discounted by how far the cumulated gain falls behind the best ranking's."""
    total, actual, ideal, best = 0.0, 0.0, 0.0, 0.0
    for gain, count in zip(q.ideal_gains, q.ideal_counts):
        for _ in range(count):
            best += gain
    i, v, passed = 0, 0, 0
    for rank in range(1, q.num_ret + 1):
        gain = 0.0
        if i < len(q.ranks) and q.ranks[i] == rank:
            gain = q.gains[i]
            i += 1
        actual += gain
        v, passed = ideal_gain_at(q, rank, v, passed)
        ideal += max(1.0, q.ideal_gains[v]) if v < len(q.ideal_gains) else 1.0
        if gain != 0.0:
            total += gain / log2_or_nan(2.0 + ideal - actual)
    if best > 0.0:
        values[0] = total / best


@kernel(GAINED)
def expected_reciprocal_rank(q, cutoffs, values):
    """The gain of a document is the probability that the reader stops there."""
    going_on, total = 1.0, 0.0
    for rank, gain in zip(q.ranks, q.gains):
        if rank > cutoffs[0]:
            break
        if gain > 0.0:
            total += going_on * gain / rank
            going_on *= 1.0 - gain
    values[0] = total


@helper
def rank_biased_gain(q, cutoff, p):
    """The gain of the first `cutoff` ranks; the reader goes on to the next with probability p."""
    total, first, weight, rank_done = 0.0, 0, 1.0, 0
    while first < len(q.gains):
        stop, low, high = group_at(q, first)
        ranks = ranks_within(q, low, high, cutoff)
        if ranks == 0:
            break
        each, weight, rank_done = weights_of_group(low, high, ranks, p, weight, rank_done)
        gain = gain_in(q, first, stop)
        if gain != 0.0:
            total += gain * each
        first = stop
    return (1.0 - p) * total


@kernel(GAINED, TIED_GAINS)
def rank_biased_precision(q, parameters, values):
    """parameters: the cutoff, and p."""
    values[0] = rank_biased_gain(q, parameters[0], parameters[1])


@kernel(GAINED, TIED_GAINS)
def discounted_gain(q, cutoffs, values):
    values[0] = dcg(q, cutoffs[0])


@kernel("void(GainedRankings, float64)")
def divide_gains(gained, factor):
    """Undo the scaling of gains by a power of two, which keeps them exact."""
    for i in range(len(gained.gains)):
        gained.gains[i] /= factor
    for i in range(len(gained.ideal_gains)):
        gained.ideal_gains[i] /= factor


@helper
def ideal_dcg_of_retrieved(q, depth):
    """Discounted cumulative gain of the first `depth` ranks of the retrieved documents, sorted."""
    total, rank, previous = 0.0, 0, np.inf
    while True:
        best, count = 0.0, 0
        for gain in q.gains:
            if best < gain < previous:
                best, count = gain, 1
            elif count and gain == best:
                count += 1
        if count == 0:
            return total
        for _ in range(count):
            rank += 1
            if rank > depth:
                return total
            total += best / discount(rank)
        previous = best


@kernel(GAINED, TIED_GAINS)
def normalized_discounted_gain_of_retrieved(q, cutoffs, values):
    ideal = ideal_dcg_of_retrieved(q, cutoffs[0])
    if ideal > 0.0:
        values[0] = dcg(q, cutoffs[0]) / ideal
