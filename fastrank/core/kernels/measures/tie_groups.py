"""A ranking as groups of documents with equal scores, over whose orders values are expected.

Closed forms of McSherry and Najork, 'Computing information retrieval performance measures
efficiently in the presence of tied scores', ECIR 2008. A group of n documents stands at the ranks
low + 1 to low + n; how many of them are relevant, and the sum of their gains, is all that counts.

Where ties are broken, each document is a group of its own. Only the functions with `unless_tied`
know the difference: all else is the same code, and where nothing ties, has the same value to the
bit.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.native.declare import helper, unless_tied

# An option of measures of judged documents: those with a negative grade do not count.
UNJUDGED = 1.0


@helper
def tied_group(q, first):
    stop = first + 1
    while stop < len(q.lows) and q.lows[stop] == q.lows[first]:
        stop += 1
    return stop, q.lows[first], q.highs[first]


@unless_tied(tied_group)
def group_at(q, first):
    """The end of the rows tied with row `first`; and low and high: their ranks are low + 1 on."""
    return first + 1, q.ranks[first] - 1, q.ranks[first]


@helper
def tied_ranks(q, low, high, depth):
    depth = min(np.float64(depth), np.float64(q.num_ret))
    return max(np.int64(0), np.int64(min(np.float64(high), depth)) - low)


@unless_tied(tied_ranks)
def ranks_within(q, low, high, depth):
    """How many ranks of a group are in the first `depth`."""
    return np.int64(high <= depth)


@helper
def relevant_in(q, first, stop, level):
    """How many documents of a group are relevant."""
    relevant = 0
    for i in range(first, stop):
        relevant += q.grades[i] >= level
    return relevant


@helper
def judged_in(q, first, stop, negative):
    """How many documents of a group are judged."""
    judged = 0
    for i in range(first, stop):
        judged += q.grades[i] >= 0 or (q.grades[i] != -1 and negative != UNJUDGED)
    return judged


@helper
def gain_in(q, first, stop):
    """The sum of the gains of a group."""
    gain = 0.0
    for i in range(first, stop):
        gain += q.gains[i]
    return gain


@helper
def add_relevant(q, depth, level, i, above):
    """Count the relevant documents of the groups up to rank `depth`, from row i on.

    above: the relevant documents before row i. Returns the row after these groups and the relevant
    documents before it; and how many are expected up to `depth`, which may be within the next
    group.
    """
    while i < len(q.grades):
        stop, low, high = group_at(q, i)
        ranks = ranks_within(q, low, high, depth)
        relevant = relevant_in(q, i, stop, level)
        if ranks < high - low:
            return i, above, above + np.float64(relevant * ranks) / (high - low)
        above += relevant
        i = stop
    return i, above, np.float64(above)


@helper
def relevant_within(q, depth):
    """How many of the first `depth` documents are relevant."""
    return add_relevant(q, depth, q.level, 0, 0)[2]


@helper
def expected_retrieved(q):
    # Documents that are not judged are never relevant here.
    return add_relevant(q, q.num_ret, max(q.level, 0), 0, 0)[2]


@unless_tied(expected_retrieved)
def relevant_retrieved(q):
    """How many relevant documents are retrieved."""
    return q.num_rel_ret


@helper
def judged_within(q, depth, negative):
    """How many of the first `depth` documents are judged, if the judgments name them at all."""
    total, first = 0.0, 0
    while first < len(q.grades):
        stop, low, high = group_at(q, first)
        ranks = ranks_within(q, low, high, depth)
        if ranks == 0:
            break
        total += np.float64(judged_in(q, first, stop, negative) * ranks) / (high - low)
        first = stop
    return total


@helper
def add_precisions(q, depth, i, above, total):
    """Add the precisions at the relevant ranks of the groups up to rank `depth`, from row i on.

    A rank is relevant with probability r / n, and then so is, of the n - 1 other documents of the
    group, each one with probability (r - 1) / (n - 1). Returns the row behind these groups, how
    many documents are relevant, and the sum; and both as expected up to `depth`.
    """
    while i < len(q.grades):
        stop, low, high = group_at(q, i)
        size, ranks = high - low, ranks_within(q, low, high, depth)
        relevant, expected = relevant_in(q, i, stop, q.level), total
        if relevant:
            chance = np.float64(relevant) / size
            others = np.float64(relevant - 1) / (size - 1) if size > 1 else 0.0
            for offset in range(ranks):
                expected += chance * ((above + 1 + offset * others) / (low + 1 + offset))
        if ranks < size:
            return i, above, total, above + np.float64(relevant * ranks) / size, expected
        above += relevant
        i, total = stop, expected
    return i, above, total, np.float64(above), total


@helper
def precision_sum(q, depth):
    """The sum of the precisions at the relevant ranks up to `depth`, and how many there are."""
    _, _, _, relevant, total = add_precisions(q, depth, 0, 0, 0.0)
    return total, relevant


@helper
def first_relevant_group(q, level):
    """Low, high and the number of relevant documents of the first group that has any; or zeros."""
    first = 0
    while first < len(q.grades):
        stop, low, high = group_at(q, first)
        relevant = relevant_in(q, first, stop, level)
        if relevant:
            return low, high, relevant
        first = stop
    return 0, 0, 0


@helper
def weights_of_group(low, high, ranks, p, weight, rank_done):
    """The mean of p^(rank - 1) over a group's ranks, 0 beyond its first `ranks`; and how far the
    weights have come.
    """
    while rank_done < low:
        weight *= p
        rank_done += 1
    total = 0.0
    for _ in range(ranks):
        total += weight
        weight *= p
        rank_done += 1
    return total / (high - low), weight, rank_done
