"""Measures over one judged ranking that trec_eval does not have.

Definitions and sources: the records in core/measures/families.py. A cutoff is infinite where
none is given. Values come in zeroed; a value that a query does not have is NaN. Where queries are
pooled, the value is followed by its numerator and its denominator.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.measures.signatures import RANKING, TIED
from fastrank.core.kernels.measures.tie_groups import (
    first_relevant_group,
    group_at,
    judged_within,
    precision_sum,
    ranks_within,
    relevant_in,
    relevant_retrieved,
    relevant_within,
    weights_of_group,
)
from fastrank.core.native.declare import helper, kernel

# The choices of options as numbers, in the order of the records.
SPAN, DEPTH, RELEVANT = 0.0, 1.0, 2.0
WORST = 1.0
AT_K = 1.0
BY_RELEVANT = 1.0
LARGE = 1e200


@kernel(RANKING, TIED)
def average_precision_of_possible(q, cutoffs, values):
    """Divided by how many relevant documents the ranks up to the cutoff can hold."""
    total, relevant = precision_sum(q, cutoffs[0])
    if relevant:
        values[0] = total / min(cutoffs[0], np.float64(q.num_rel))


@kernel(RANKING, TIED)
def average_precision_of_found(q, cutoffs, values):
    """Divided by how many relevant documents the ranks up to the cutoff do hold."""
    total, relevant = precision_sum(q, cutoffs[0])
    if relevant:
        values[0] = total / relevant


@kernel(RANKING, TIED)
def precision_of_retrieved(q, cutoffs, values):
    """Precision at cutoff, of no more than was retrieved."""
    within = min(cutoffs[0], np.float64(q.num_ret))
    if within > 0.0:
        values[0] = relevant_within(q, within) / within


@kernel(RANKING, TIED)
def hit_share(q, cutoffs, values):
    relevant, retrieved = relevant_within(q, cutoffs[0]), relevant_retrieved(q)
    values[0] = np.float64(relevant) / retrieved if retrieved else np.nan
    values[1], values[2] = relevant, retrieved


@helper
def percentile(q, rank, base):
    """The percentile of a rank, by the choice of its base."""
    if base == SPAN:
        return np.float64(rank - 1) / (q.num_ret - 1) if q.num_ret > 1 else 0.0
    if base == DEPTH:
        return np.float64(rank) / q.num_ret
    if base == RELEVANT:
        return np.float64(rank) / q.num_rel
    return np.float64(rank - 1) / q.num_ret


@kernel(RANKING, TIED)
def percentile_rank(q, parameters, values):
    """parameters: the base (0 span, 1 depth, 2 relevant, 3 index), and 1 if what is missing counts
    1.

    Where it is known how many documents count: no depth cuts the ranking, or all of them do.
    """
    base, missing = parameters[0], parameters[1]
    total, expected, first = 0.0, 0.0, 0
    while first < len(q.grades):
        stop, low, high = group_at(q, first)
        relevant, size = relevant_in(q, first, stop, max(q.level, 0)), high - low
        ranks = ranks_within(q, low, high, q.num_ret)
        if relevant:
            for i in range(ranks):
                total += np.float64(relevant) / size * percentile(q, low + 1 + i, base)
        expected += np.float64(relevant * ranks) / size
        first = stop
    if missing == WORST:
        total += q.num_rel - expected
        expected = np.float64(q.num_rel)
    values[0] = total / expected if expected > 0.0 else np.nan
    values[1], values[2] = total, expected


@kernel(RANKING, TIED)
def first_rank(q, parameters, values):
    """parameters: 1 if a query without a relevant document has an infinite rank.

    Where no depth cuts the ranking, so that it is known whether anything is found.
    """
    values[0] = np.inf if parameters[0] == WORST and q.num_rel else np.nan
    low, high, relevant = first_relevant_group(q, max(q.level, 0))
    if relevant:
        values[0] = low + np.float64(high - low + 1) / (relevant + 1)


@helper
def chance_of_more(size, relevant, ranks, needed):
    """The probability that the first ranks of a tied group have at least `needed` relevant ones.

    Their number has the hypergeometric distribution. Each term follows from the one before; all are
    scaled alike, to stay finite, and divided by their sum in the end.
    """
    total, enough, term = 0.0, 0.0, 1.0
    fewest = max(np.int64(0), ranks - (size - relevant))
    for i in range(fewest, min(relevant, ranks) + 1):
        total += term
        if i >= needed:
            enough += term
        term *= np.float64(relevant - i) * (ranks - i)
        term /= np.float64(i + 1) * (size - relevant - ranks + i + 1)
        if term > LARGE:
            total, enough, term = total / LARGE, enough / LARGE, term / LARGE
    return enough / total


@helper
def chance_to_find(q, needed, depth):
    """The probability that at least `needed` relevant documents are in the first `depth`."""
    count, first = 0, 0
    while first < len(q.grades) and count < needed:
        stop, low, high = group_at(q, first)
        size, ranks = high - low, ranks_within(q, low, high, depth)
        relevant = relevant_in(q, first, stop, max(q.level, 0))
        if ranks < size:
            return chance_of_more(size, relevant, ranks, needed - count)
        count += relevant
        first = stop
    return 1.0 if count >= needed else 0.0


@kernel(RANKING, TIED)
def full_recall(q, cutoffs, values):
    if q.num_rel:
        values[0] = chance_to_find(q, q.num_rel, cutoffs[0])


@kernel(RANKING, TIED)
def enough_found(q, parameters, values):
    """parameters: the cutoff, and how many relevant documents are enough."""
    values[0] = chance_to_find(q, np.int64(parameters[1]), parameters[0])


@kernel(RANKING, TIED)
def last_rank(q, parameters, values):
    """parameters: 1 if a query without all of its relevant documents has an infinite rank.

    Defined where no depth cuts the ranking: whether all are retrieved must be known.
    """
    values[0] = np.inf if parameters[0] == WORST and q.num_rel else np.nan
    count, first = 0, 0
    while first < len(q.grades):
        stop, low, high = group_at(q, first)
        relevant = relevant_in(q, first, stop, max(q.level, 0))
        count += relevant
        if relevant and count == q.num_rel:
            values[0] = low + np.float64(relevant * (high - low + 1)) / (relevant + 1)
        first = stop


@helper
def area_under_curve(q, depth):
    """The share of the pairs of a relevant and another document that are in order, tied ones half.

    Every document that is not relevant counts, judged or not. Where no depth cuts the ranking
    between tied documents, so that it is known which pairs there are. Returns the share, NaN if
    there are no pairs, and how many documents are relevant.
    """
    twice_above, count, first = 0, 0, 0
    while first < len(q.grades):
        stop, low, high = group_at(q, first)
        if low >= depth:
            break
        relevant = relevant_in(q, first, stop, max(q.level, 0))
        twice_above += relevant * (2 * (low - count) + high - low - relevant)
        count += relevant
        first = stop
    pairs = (min(depth, np.float64(q.num_ret)) - count) * count
    return 1.0 - twice_above / (2.0 * pairs) if pairs else np.nan, count


@kernel(RANKING, TIED)
def pair_accuracy(q, cutoffs, values):
    values[0], _ = area_under_curve(q, cutoffs[0] if len(cutoffs) else np.inf)


@kernel(TIED)
def grouped_area_under_curve(q, parameters, values):
    """parameters: 1 if the weight is the number of relevant documents, not of all documents."""
    share, relevant = area_under_curve(q, np.inf)
    values[0] = share
    if share == share:
        weight = np.float64(relevant) if parameters[0] == BY_RELEVANT else np.float64(q.num_ret)
        values[1], values[2] = weight * share, weight


@kernel(RANKING, TIED)
def rank_biased_precision_binary(q, parameters, values):
    """parameters: the cutoff, and the probability p of going on to the next rank."""
    cutoff, p = parameters[0], parameters[1]
    total, first, weight, rank_done = 0.0, 0, 1.0, 0
    while first < len(q.grades):
        stop, low, high = group_at(q, first)
        ranks = ranks_within(q, low, high, cutoff)
        if ranks == 0:
            break
        each, weight, rank_done = weights_of_group(low, high, ranks, p, weight, rank_done)
        total += relevant_in(q, first, stop, q.level) * each
        first = stop
    values[0] = (1.0 - p) * total


@helper
def share(q, counted, depth, parameters, values):
    """A share of the top documents: of those there are, or of as many as asked for."""
    within = parameters[0] if parameters[1] == AT_K else depth
    values[0] = counted / within if within > 0.0 else 0.0
    values[1], values[2] = counted, within


@kernel(RANKING, TIED)
def judged_share(q, parameters, values):
    """parameters: the cutoff k, 1 if k documents are the whole however few were retrieved, and 1
    if documents with a negative grade count as not judged.
    """
    depth = min(parameters[0], np.float64(q.num_ret))
    share(q, judged_within(q, depth, parameters[2]), depth, parameters, values)


@kernel(RANKING, TIED)
def unjudged_share(q, parameters, values):
    depth = min(parameters[0], np.float64(q.num_ret))
    share(q, depth - judged_within(q, depth, parameters[2]), depth, parameters, values)


@kernel(RANKING, TIED)
def f1_cut(q, cutoffs, values):
    """The harmonic mean of precision and recall, as ranx rounds it.

    Precision is of the cutoff, however few were retrieved; without one, of what was.
    """
    relevant = np.float64(relevant_within(q, cutoffs[0]))
    if relevant > 0.0:
        within = np.float64(q.num_ret) if cutoffs[0] == np.inf else cutoffs[0]
        precision, recall = relevant / within, relevant / np.float64(q.num_rel)
        values[0] = 2.0 * ((precision * recall) / (precision + recall))


@kernel(RANKING, TIED)
def reciprocal_hit_rank(q, cutoffs, values):
    """Defined where nothing cuts the ranking between tied documents: how many relevant ones are
    above the cut must be known.
    """
    total, count, first = 0.0, 0, 0
    while first < len(q.grades):
        stop, low, high = group_at(q, first)
        if low >= cutoffs[0]:
            break
        relevant = relevant_in(q, first, stop, q.level)
        chance = np.float64(relevant) / (high - low)
        if relevant:
            for rank in range(low + 1, high + 1):
                total += chance * (1.0 / rank)
        count += relevant
        first = stop
    if count:
        values[0] = total / count
