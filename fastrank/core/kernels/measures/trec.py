"""The measures over one judged ranking, named and defined as trec_eval does.

Each kernel takes a `Ranking` (see native/records), its parameters, and the array its
values go into: one value, or one for each cutoff. Values come in zeroed. Every sum runs in
increasing rank, multiplications and additions are rounded one by one: the results are trec_eval's
bits. With a second type, `TIED`, a kernel is exported as NAME_over_ties, too: the expected value
over all orders of tied documents (tie_groups.py). Where trec_eval's sums run from the last rank to
the first, that has a formula of its own.
"""

from __future__ import annotations

import math

import numpy as np

from fastrank.core.kernels.measures.gains import discount
from fastrank.core.kernels.measures.signatures import RANKING, TIED
from fastrank.core.kernels.measures.tie_groups import (
    UNJUDGED,
    add_precisions,
    add_relevant,
    first_relevant_group,
    group_at,
    judged_in,
    judged_within,
    precision_sum,
    ranks_within,
    relevant_in,
    relevant_retrieved,
    relevant_within,
)
from fastrank.core.kernels.simd.instructions import log_or_nan, to_integer
from fastrank.core.native.declare import helper, kernel

# What the geometric means take a value of 0 for.
SMALLEST_GEOMETRIC = 0.00001


@kernel(RANKING)
def num_ret(q, parameters, values):
    values[0] = q.num_ret


@kernel(RANKING)
def num_rel(q, parameters, values):
    values[0] = q.num_rel


@kernel(RANKING, TIED)
def num_rel_ret(q, parameters, values):
    values[0] = relevant_retrieved(q)


@kernel(RANKING, TIED)
def num_nonrel_judged_ret(q, parameters, values):
    values[0] = judged_within(q, q.num_ret, UNJUDGED) - relevant_retrieved(q)


@kernel(RANKING, TIED)
def average_precision(q, parameters, values):
    total, relevant = precision_sum(q, q.num_ret)
    if relevant:
        values[0] = np.float64(total) / q.num_rel


@kernel(RANKING)
def log_average_precision(q, parameters, values):
    average_precision(q, parameters, values)
    values[0] = math.log(max(values[0], SMALLEST_GEOMETRIC))


@kernel(RANKING)
def log_odds_average_precision(q, parameters, values):
    """Of the average precision with one more relevant and one more nonrelevant document."""
    total, _ = precision_sum(q, q.num_ret)
    values[0] = log_or_nan(np.float64(1.0 + total) / (1.0 + q.num_rel - total))


@kernel(RANKING, TIED)
def average_precision_cut(q, cutoffs, values):
    """The cutoffs ascend: each goes on where the one before has stopped."""
    i, above, total = 0, 0, 0.0
    for c in range(len(cutoffs)):
        i, above, total, _, expected = add_precisions(q, cutoffs[c], i, above, total)
        if q.num_rel:
            values[c] = expected / q.num_rel


@kernel(RANKING, TIED)
def r_precision(q, parameters, values):
    depth = min(q.num_ret, q.num_rel)
    if depth:
        values[0] = relevant_within(q, depth) / q.num_rel


@kernel(RANKING, TIED)
def reciprocal_rank(q, cutoffs, values):
    """Without a cutoff, every rank counts.

    The first relevant document is the i-th of its group with probability C(n-i, r-1) / C(n, r).
    Each probability follows from the one before: no binomial coefficient is ever formed.
    """
    low, high, relevant = first_relevant_group(q, q.level)
    if relevant:
        size = high - low
        ranks = ranks_within(q, low, high, cutoffs[0] if len(cutoffs) else np.inf)
        chance = np.float64(relevant) / size
        for i in range(min(ranks, size - relevant + 1)):
            values[0] += chance * (1.0 / (low + 1 + i))
            if i + 1 < size:
                chance *= np.float64(size - relevant - i) / (size - 1 - i)


@kernel(RANKING, TIED)
def precision_cut(q, cutoffs, values):
    """The cutoffs ascend: each goes on where the one before has stopped."""
    i, above = 0, 0
    for c in range(len(cutoffs)):
        i, above, expected = add_relevant(q, cutoffs[c], q.level, i, above)
        values[c] = expected / cutoffs[c]


@kernel(RANKING, TIED)
def recall_cut(q, cutoffs, values):
    """The cutoffs ascend: each goes on where the one before has stopped."""
    i, above = 0, 0
    for c in range(len(cutoffs)):
        i, above, expected = add_relevant(q, cutoffs[c], q.level, i, above)
        if q.num_rel:
            values[c] = expected / q.num_rel


@kernel(RANKING, TIED)
def relative_precision_cut(q, cutoffs, values):
    """The cutoffs ascend: each goes on where the one before has stopped."""
    i, above = 0, 0
    for c in range(len(cutoffs)):
        i, above, expected = add_relevant(q, cutoffs[c], q.level, i, above)
        if q.num_rel:
            values[c] = expected / min(cutoffs[c], np.float64(q.num_rel))


@kernel(RANKING, TIED)
def success_cut(q, cutoffs, values):
    """One minus the probability that all relevant documents of the first group that has any stand
    behind the cut.
    """
    low, high, relevant = first_relevant_group(q, q.level)
    for c in range(len(cutoffs)):
        if not relevant:
            break
        ranks = ranks_within(q, low, high, cutoffs[c])
        behind = 1.0
        for i in range(relevant):
            behind *= max(np.int64(0), high - low - ranks - i) / np.float64(high - low - i)
        values[c] = 1.0 - behind


@kernel(RANKING, TIED)
def unjudged_cut(q, cutoffs, values):
    for c in range(len(cutoffs)):
        depth = min(cutoffs[c], np.float64(q.num_ret))
        values[c] = (depth - judged_within(q, depth, UNJUDGED)) / cutoffs[c]


@kernel(RANKING, TIED)
def set_precision(q, parameters, values):
    if q.num_ret:
        values[0] = relevant_retrieved(q) / q.num_ret


@kernel(RANKING, TIED)
def set_recall(q, parameters, values):
    if q.num_rel:
        values[0] = relevant_retrieved(q) / q.num_rel


@kernel(RANKING, TIED)
def set_relative_precision(q, parameters, values):
    if q.num_ret and q.num_rel:
        values[0] = relevant_retrieved(q) / min(q.num_ret, q.num_rel)


@kernel(RANKING)
def set_average_precision(q, parameters, values):
    if q.num_ret and q.num_rel:
        relevant = np.float64(q.num_rel_ret)
        values[0] = (relevant * relevant) / (np.float64(q.num_ret) * q.num_rel)


@kernel(RANKING, TIED)
def set_f(q, parameters, values):
    relevant = np.float64(relevant_retrieved(q))
    if relevant > 0.0:
        x, precision, recall = parameters[0], relevant / q.num_ret, relevant / q.num_rel
        values[0] = ((x + 1.0) * precision * recall) / (x * precision + recall)


@kernel(RANKING, TIED)
def utility(q, p, values):
    """What the retrieved documents are worth, and those that were not retrieved."""
    relevant = np.float64(relevant_retrieved(q))
    absent = q.collection_size + relevant - q.num_ret - q.num_rel
    values[0] = (
        p[0] * relevant
        + p[1] * (q.num_ret - relevant)
        + p[2] * (q.num_rel - relevant)
        + p[3] * absent
    )


@kernel(RANKING, TIED)
def binary_g(q, parameters, values):
    """Each relevant document counts 1 / log2(2 + nonrelevant documents before it).

    Of m documents that are not relevant and tie with a relevant one, any number from none to m
    stands above it, each with the same probability, where no depth cuts the ranking.
    """
    total, above, first = 0.0, 0, 0
    while first < len(q.grades):
        stop, low, high = group_at(q, first)
        relevant = relevant_in(q, first, stop, q.level)
        others = high - low - relevant
        if relevant:
            gain = 0.0
            for i in range(others + 1):
                gain += 1.0 / discount(low - above + i + 1)
            for _ in range(relevant):
                total += gain / (others + 1)
        above += relevant
        first = stop
    if above:
        values[0] = total / q.num_rel


@kernel("void(Ranking, float64[::1], uint8[::1])")
def relevance_string(q, parameters, codes):
    """The grades of the first ranks as characters: 0-9, > above 9, - unjudged, . negative."""
    length = min(len(codes), q.num_ret)
    codes[:length] = 45
    for rank, grade in zip(q.ranks, q.grades):
        if rank > length:
            break
        if grade >= 0:
            codes[rank - 1] = 48 + grade if grade <= 9 else 62
        elif grade == -2:
            codes[rank - 1] = 46


@kernel(RANKING, TIED)
def binary_preference(q, parameters, values):
    """bpref: how many judged nonrelevant documents rank above each relevant one.

    Of m that a relevant one ties with, any number from none to m stands above it, each with the
    same probability, where no depth cuts the ranking.
    """
    nonrelevant = 0
    for grade, count in zip(q.grade_values, q.grade_counts):
        if grade < q.level:
            nonrelevant += count
    total, above, first = 0.0, 0, 0
    while first < len(q.grades):
        stop = group_at(q, first)[0]
        relevant = relevant_in(q, first, stop, max(q.level, 0))
        tied = judged_in(q, first, stop, UNJUDGED) - relevant
        if relevant:
            preferred = 0.0
            for i in range(above, above + tied + 1):
                preferred += 1.0 - min(i, q.num_rel) / min(nonrelevant, q.num_rel) if i else 1.0
            for _ in range(relevant):
                total += preferred / (tied + 1)
        above += tied
        first = stop
    values[0] = total / q.num_rel if q.num_rel else total


@kernel(RANKING)
def log_binary_preference(q, parameters, values):
    binary_preference(q, parameters, values)
    values[0] = math.log(max(values[0], SMALLEST_GEOMETRIC))


@kernel(RANKING)
def inferred_average_precision(q, parameters, values):
    """infAP: the expected precision at each relevant rank, from a sample of the pool."""
    epsilon = 0.00001
    total = 0.0
    relevant, nonrelevant, pooled = 0, 0, 0
    for rank, grade in zip(q.ranks, q.grades):
        above = np.float64(rank - 1)
        if grade == -1:
            continue
        if grade < 0:
            pooled += 1
        elif grade < q.level:
            nonrelevant += 1
        elif rank == 1:
            relevant += 1
            total += 1.0
        else:
            in_pool = np.float64(relevant + nonrelevant + pooled) / above
            share = (relevant + epsilon) / (relevant + nonrelevant + 2.0 * epsilon)
            total += 1.0 / rank + (above / rank) * in_pool * share
            relevant += 1
    values[0] = total / q.num_rel if q.num_rel else total


@helper
def interpolate(q, recalls, rounded, best_at):
    """best_at[j] = the highest precision at or after recall level recalls[j].

    The level is met by `rounded ? lround(c * R) : trunc(c * R + 0.9)` relevant documents, of
    trec_eval 10.0 and 9.0.8. `recalls` ascend, or else are met from last to first as trec_eval
    does.
    """
    last = len(recalls) - 1
    while last >= 0 and recall_target(recalls[last], q.num_rel, rounded) > q.num_rel_ret:
        last -= 1
    best = np.float64(q.num_rel_ret) / q.num_ret
    remaining = q.num_rel_ret
    # Between two listed documents the precision only falls, so their ranks are enough.
    for i in range(len(q.ranks) - 1, -1, -1):
        if remaining <= 0:
            break
        precision = remaining / q.ranks[i]
        if best < precision:
            best = precision
        if q.grades[i] >= q.level:
            while last >= 0 and recall_target(recalls[last], q.num_rel, rounded) == remaining:
                best_at[last] = best
                last -= 1
            remaining -= 1
    while last >= 0:
        best_at[last] = best
        last -= 1


@helper
def recall_target(recall, num_rel, rounded):
    """How many relevant documents make up a share of all of them."""
    if not rounded:
        return to_integer(recall * num_rel + 0.9)
    exact = recall * num_rel
    whole = np.floor(abs(exact))
    if abs(exact) - whole >= 0.5:
        whole += 1.0
    return to_integer(whole if exact > 0 else -whole)


@kernel(RANKING)
def interpolated_precision(q, parameters, values):
    """parameters[0] says whether targets are rounded; the recall levels follow."""
    interpolate(q, parameters[1:], parameters[0] != 0.0, values)


@kernel(RANKING)
def average_interpolated_precision(q, parameters, values):
    """The mean of interpolated_precision; values beyond the first are scratch."""
    interpolate(q, parameters[1:], parameters[0] != 0.0, values)
    total = 0.0
    for j in range(len(values) - 1, -1, -1):
        total += values[j]
    values[0] = total / len(values)


@kernel(RANKING)
def r_precision_multiple(q, factors, values):
    """Precision after a multiple of R documents: relevant in the first c * R ranks / (c * R)."""
    remaining = q.num_rel_ret
    i = len(q.ranks) - 1
    for j in range(len(factors) - 1, -1, -1):
        target = recall_target(factors[j], q.num_rel, False)
        while i >= 0 and q.ranks[i] > target:
            if q.grades[i] >= q.level:
                remaining -= 1
            i -= 1
        if target > q.num_ret:
            values[j] = q.num_rel_ret / target
        elif target > 0 and remaining > 0:
            values[j] = remaining / target


@kernel(TIED)
def r_precision_multiple_over_ties(q, factors, values):
    for j in range(len(factors)):
        target = recall_target(factors[j], q.num_rel, False)
        if target > 0:
            values[j] = relevant_within(q, target) / target


@kernel(RANKING, TIED)
def rank_biased_residual(q, parameters, values):
    """The weight of all ranks that are unjudged or beyond the ranking.

    parameters: the cutoff, and p; nothing else for rbp_resid, which is 0 if all are judged, and
    expected only where no depth cuts the ranking, so that it is known if any is unjudged.
    """
    p, weight, total = parameters[1], 1.0, 0.0
    stop, high, chance, unjudged = 0, 0, 1.0, len(parameters) > 2
    for rank in range(1, np.int64(min(parameters[0], np.float64(q.num_ret))) + 1):
        if rank > high:
            chance = 1.0
            if stop < len(q.grades) and group_at(q, stop)[1] < rank:
                first = stop
                stop, low, high = group_at(q, first)
                others = high - low - judged_in(q, first, stop, UNJUDGED)
                chance = np.float64(others) / (high - low)
        if chance > 0.0:
            total += weight * chance
            unjudged = True
        weight *= p
    if unjudged:
        values[0] = weight + (1.0 - p) * total
