"""Measures over one judged ranking that trec_eval does not have.

Definitions and sources: the records in core/measures/families.py. A cutoff is infinite where
none is given. Values come in zeroed; a value that a query does not have is NaN. Where queries are
pooled, the value is followed by its numerator and its denominator.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.measures.tie_groups import (
    TIED,
    first_relevant_group,
    group_at,
    judged_within,
    places_within,
    precision_sum,
    relevant_in,
    relevant_retrieved,
    relevant_within,
    weights_of_group,
)
from fastrank.core.native.declare import helper, kernel

MEASURE = "void(Ranking, float64[::1], float64[::1])"
# The choices of options as numbers, in the order of the records.
SPAN, DEPTH, RELEVANT = 0.0, 1.0, 2.0
WORST = 1.0
AT_K = 1.0
BY_RELEVANT = 1.0
LARGE = 1e200


@kernel(MEASURE, TIED)
def average_precision_of_possible(q, cutoffs, values):
    """Divided by how many relevant documents the ranks up to the cutoff can hold."""
    total, found = precision_sum(q, cutoffs[0])
    if found:
        values[0] = total / min(cutoffs[0], np.float64(q.num_rel))


@kernel(MEASURE, TIED)
def average_precision_of_found(q, cutoffs, values):
    """Divided by how many relevant documents the ranks up to the cutoff do hold."""
    total, found = precision_sum(q, cutoffs[0])
    if found:
        values[0] = total / found


@kernel(MEASURE, TIED)
def precision_of_retrieved(q, cutoffs, values):
    """Precision at cutoff, of no more than was retrieved."""
    within = min(cutoffs[0], np.float64(q.num_ret))
    if within > 0.0:
        values[0] = relevant_within(q, within) / within


@kernel(MEASURE, TIED)
def hit_share(q, cutoffs, values):
    found, retrieved = relevant_within(q, cutoffs[0]), relevant_retrieved(q)
    values[0] = np.float64(found) / retrieved if retrieved else np.nan
    values[1], values[2] = found, retrieved


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


@kernel(MEASURE, TIED)
def percentile_rank(q, parameters, values):
    """parameters: the base (0 span, 1 depth, 2 relevant, 3 index), and 1 if what is missing counts
    1.

    Where it is known how many documents count: no depth cuts the ranking, or all of them do.
    """
    base, missing = parameters[0], parameters[1]
    total, found, first = 0.0, 0.0, 0
    while first < len(q.grades):
        stop, low, high = group_at(q, first)
        relevant, size = relevant_in(q, first, stop, max(q.level, 0)), high - low
        places = places_within(q, low, high, q.num_ret)
        if relevant:
            for i in range(places):
                total += np.float64(relevant) / size * percentile(q, low + 1 + i, base)
        found += np.float64(relevant * places) / size
        first = stop
    if missing == WORST:
        total += q.num_rel - found
        found = np.float64(q.num_rel)
    values[0] = total / found if found > 0.0 else np.nan
    values[1], values[2] = total, found


@kernel(MEASURE, TIED)
def first_rank(q, parameters, values):
    """parameters: 1 if a query of which nothing is found has an infinite rank.

    Where no depth cuts the ranking, so that it is known whether anything is found.
    """
    values[0] = np.inf if parameters[0] == WORST and q.num_rel else np.nan
    low, high, relevant = first_relevant_group(q, max(q.level, 0))
    if relevant:
        values[0] = low + np.float64(high - low + 1) / (relevant + 1)


@helper
def chance_of_more(size, relevant, places, needed):
    """The probability that the first places of a tied group have at least `needed` relevant ones.

    Their number has the hypergeometric distribution. Each term follows from the one before; all are
    scaled alike, to stay finite, and divided by their sum in the end.
    """
    total, enough, term = 0.0, 0.0, 1.0
    fewest = max(np.int64(0), places - (size - relevant))
    for i in range(fewest, min(relevant, places) + 1):
        total += term
        if i >= needed:
            enough += term
        term *= np.float64(relevant - i) * (places - i)
        term /= np.float64(i + 1) * (size - relevant - places + i + 1)
        if term > LARGE:
            total, enough, term = total / LARGE, enough / LARGE, term / LARGE
    return enough / total


@helper
def chance_to_find(q, needed, depth):
    """The probability that at least `needed` relevant documents are in the first `depth`."""
    found, first = 0, 0
    while first < len(q.grades) and found < needed:
        stop, low, high = group_at(q, first)
        size, places = high - low, places_within(q, low, high, depth)
        relevant = relevant_in(q, first, stop, max(q.level, 0))
        if places < size:
            return chance_of_more(size, relevant, places, needed - found)
        found += relevant
        first = stop
    return 1.0 if found >= needed else 0.0


@kernel(MEASURE, TIED)
def full_recall(q, cutoffs, values):
    if q.num_rel:
        values[0] = chance_to_find(q, q.num_rel, cutoffs[0])


@kernel(MEASURE, TIED)
def enough_found(q, parameters, values):
    """parameters: the cutoff, and how many relevant documents are enough."""
    values[0] = chance_to_find(q, np.int64(parameters[1]), parameters[0])


@kernel(MEASURE, TIED)
def last_rank(q, parameters, values):
    """parameters: 1 if a query of which something is not found has an infinite rank.

    Where no depth cuts the ranking, so that it is known whether all are found.
    """
    values[0] = np.inf if parameters[0] == WORST and q.num_rel else np.nan
    found, first = 0, 0
    while first < len(q.grades):
        stop, low, high = group_at(q, first)
        relevant = relevant_in(q, first, stop, max(q.level, 0))
        found += relevant
        if relevant and found == q.num_rel:
            values[0] = low + np.float64(relevant * (high - low + 1)) / (relevant + 1)
        first = stop


@helper
def area_under_curve(q, depth):
    """The share of the pairs of a relevant and another document that are in order, tied ones half.

    Every document that is not relevant counts, judged or not. Where no depth cuts the ranking
    between tied documents, so that it is known which pairs there are. Returns the share, NaN if
    there are no pairs, and how many documents are relevant.
    """
    twice_above, found, first = 0, 0, 0
    while first < len(q.grades):
        stop, low, high = group_at(q, first)
        if low >= depth:
            break
        relevant = relevant_in(q, first, stop, max(q.level, 0))
        twice_above += relevant * (2 * (low - found) + high - low - relevant)
        found += relevant
        first = stop
    pairs = (min(depth, np.float64(q.num_ret)) - found) * found
    return 1.0 - twice_above / (2.0 * pairs) if pairs else np.nan, found


@kernel(MEASURE, TIED)
def pair_accuracy(q, cutoffs, values):
    values[0], _ = area_under_curve(q, cutoffs[0] if len(cutoffs) else np.inf)


@kernel(TIED)
def grouped_area_under_curve(q, parameters, values):
    """parameters: 1 if the weight is the number of relevant documents, not of all documents."""
    share, found = area_under_curve(q, np.inf)
    values[0] = share
    if share == share:
        weight = np.float64(found) if parameters[0] == BY_RELEVANT else np.float64(q.num_ret)
        values[1], values[2] = weight * share, weight


@kernel(MEASURE, TIED)
def rank_biased_precision_binary(q, parameters, values):
    """parameters: the cutoff, and the probability p of going on to the next rank."""
    cutoff, p = parameters[0], parameters[1]
    total, first, weight, rank_done = 0.0, 0, 1.0, 0
    while first < len(q.grades):
        stop, low, high = group_at(q, first)
        places = places_within(q, low, high, cutoff)
        if places == 0:
            break
        each, weight, rank_done = weights_of_group(low, high, places, p, weight, rank_done)
        total += relevant_in(q, first, stop, q.level) * each
        first = stop
    values[0] = (1.0 - p) * total


@helper
def share(q, counted, depth, parameters, values):
    """A share of the top documents: of those there are, or of as many as asked for."""
    within = parameters[0] if parameters[1] == AT_K else depth
    values[0] = counted / within if within > 0.0 else 0.0
    values[1], values[2] = counted, within


@kernel(MEASURE, TIED)
def judged_share(q, parameters, values):
    """parameters: the cutoff k, 1 if k documents are the whole however few were retrieved, and 1
    if documents with a negative grade count as not judged.
    """
    depth = min(parameters[0], np.float64(q.num_ret))
    share(q, judged_within(q, depth, parameters[2]), depth, parameters, values)


@kernel(MEASURE, TIED)
def unjudged_share(q, parameters, values):
    depth = min(parameters[0], np.float64(q.num_ret))
    share(q, depth - judged_within(q, depth, parameters[2]), depth, parameters, values)


@kernel(MEASURE, TIED)
def f1_cut(q, cutoffs, values):
    """The harmonic mean of precision and recall, as ranx rounds it.

    Precision is of the cutoff, however few were retrieved; without one, of what was.
    """
    found = np.float64(relevant_within(q, cutoffs[0]))
    if found > 0.0:
        within = np.float64(q.num_ret) if cutoffs[0] == np.inf else cutoffs[0]
        precision, recall = found / within, found / np.float64(q.num_rel)
        values[0] = 2.0 * ((precision * recall) / (precision + recall))


@kernel(MEASURE, TIED)
def reciprocal_hit_rank(q, cutoffs, values):
    """Where nothing cuts the ranking between tied documents, so that it is known how many are
    found.
    """
    total, found, first = 0.0, 0, 0
    while first < len(q.grades):
        stop, low, high = group_at(q, first)
        if low >= cutoffs[0]:
            break
        relevant = relevant_in(q, first, stop, q.level)
        chance = np.float64(relevant) / (high - low)
        if relevant:
            for rank in range(low + 1, high + 1):
                total += chance * (1.0 / rank)
        found += relevant
        first = stop
    if found:
        values[0] = total / found
