"""What measures sum up, expected over all orders of documents with equal scores.

Closed forms of McSherry and Najork, 'Computing information retrieval performance measures
efficiently in the presence of tied scores', ECIR 2008. A tie group of n documents stands at the
ranks low + 1 to low + n; how many of them are relevant, and the sum of their gains, is all that
counts. Each function stands for one of kernels/measures/trec.py or gains.py (`unless_tied`), and
where nothing ties, it has the same value to the bit.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.measures.discounts import discount
from fastrank.native.declare import helper

TIED = "void(Tied, float64[::1], float64[::1])"
TIED_GAINS = "void(TiedGains, float64[::1], float64[::1])"
# An option of measures of judged documents: those with a negative grade do not count.
UNJUDGED = 1.0


@helper
def relevant_in_group(q, first, level):
    """The end of the rows tied with row `first`, and how many of their documents are relevant."""
    stop, relevant = first, 0
    while stop < len(q.lows) and q.lows[stop] == q.lows[first]:
        relevant += q.grades[stop] >= level
        stop += 1
    return stop, relevant


@helper
def gain_in_group(q, first):
    """The end of the rows tied with row `first`, and the sum of their gains."""
    stop, gain = first, 0.0
    while stop < len(q.lows) and q.lows[stop] == q.lows[first]:
        gain += q.gains[stop]
        stop += 1
    return stop, gain


@helper
def ranks_within(q, first, depth):
    """Documents that tie with row `first`, and how many of their ranks are in the first `depth`."""
    depth = min(depth, np.float64(q.num_ret))
    low, high = q.lows[first], q.highs[first]
    return high - low, max(np.int64(0), np.int64(min(np.float64(high), depth)) - low)


@helper
def first_relevant_group(q):
    """The first row of the first group with relevant documents, and their number; or 0 and 0."""
    first = 0
    while first < len(q.lows):
        stop, relevant = relevant_in_group(q, first, q.level)
        if relevant:
            return first, relevant
        first = stop
    return 0, 0


@helper
def expected_relevant(q, depth, level):
    """How many of the first `depth` documents are relevant."""
    total, first = 0.0, 0
    while first < len(q.lows):
        stop, relevant = relevant_in_group(q, first, level)
        size, places = ranks_within(q, first, depth)
        total += np.float64(relevant * places) / size
        first = stop
    return total


@helper
def add_expected_relevant(q, depth, i, found):
    return 0, expected_relevant(q, np.float64(depth), q.level)


@helper
def expected_retrieved(q):
    """How many relevant documents are retrieved; unjudged ones never are relevant here."""
    return expected_relevant(q, np.float64(q.num_ret), max(q.level, 0))


@helper
def expected_judged(q, depth, negative):
    """How many of the first `depth` documents are judged."""
    total, first = 0.0, 0
    while first < len(q.lows):
        stop, judged = first, 0
        while stop < len(q.lows) and q.lows[stop] == q.lows[first]:
            judged += q.grades[stop] >= 0 or (q.grades[stop] != -1 and negative != UNJUDGED)
            stop += 1
        size, places = ranks_within(q, first, depth)
        total += np.float64(judged * places) / size
        first = stop
    return total


@helper
def add_expected_precisions(q, depth, i, found, total):
    """The sum of the precisions at the relevant ranks up to `depth`, and how many there are.

    A rank is relevant with probability r / n, and then so is, of the n - 1 other documents of the
    group, each one with probability (r - 1) / (n - 1).
    """
    hits, precisions, first, above = 0.0, 0.0, 0, 0
    while first < len(q.lows):
        stop, relevant = relevant_in_group(q, first, q.level)
        size, places = ranks_within(q, first, np.float64(depth))
        chance = np.float64(relevant) / size
        others = np.float64(relevant - 1) / (size - 1) if size > 1 else 0.0
        if relevant:
            for i in range(places):
                precisions += chance * ((above + 1 + i * others) / (q.lows[first] + 1 + i))
        hits += np.float64(relevant * places) / size
        above += relevant
        first = stop
    return 0, hits, precisions


@helper
def add_expected_gains(q, depth, i, total):
    """The discounted gains up to rank `depth`."""
    gains, first = 0.0, 0
    while first < len(q.lows):
        stop, gain = gain_in_group(q, first)
        size, places = ranks_within(q, first, np.float64(depth))
        if gain != 0.0:
            for i in range(places):
                gains += gain / size / discount(q.lows[first] + i + 1)
        first = stop
    return 0, gains


@helper
def weights_of_group(q, first, cutoff, p, weight, rank_done):
    """The sum of p^(rank - 1) over the ranks of a tie group, and how far the weights have come."""
    while rank_done < q.lows[first]:
        weight *= p
        rank_done += 1
    size, places = ranks_within(q, first, cutoff)
    total = 0.0
    for _ in range(places):
        total += weight
        weight *= p
        rank_done += 1
    return total / size, weight, rank_done


@helper
def expected_rank_biased_gain(q, cutoff, p):
    """(1 - p) times the sum of gain * p^(rank - 1) up to a cutoff."""
    total, first, weight, rank_done = 0.0, 0, 1.0, 0
    while first < len(q.lows):
        stop, gain = gain_in_group(q, first)
        each, weight, rank_done = weights_of_group(q, first, cutoff, p, weight, rank_done)
        if gain != 0.0:
            total += gain * each
        first = stop
    return (1.0 - p) * total
