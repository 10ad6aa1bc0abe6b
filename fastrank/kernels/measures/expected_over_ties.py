"""Expected values of measures when documents with equal scores stand in random order.

Closed forms of McSherry and Najork, 'Computing information retrieval performance measures
efficiently in the presence of tied scores', ECIR 2008. A tie group of n documents stands at the
ranks low + 1 to low + n; how many of them are relevant, and the sum of their gains, is all that
counts. Where nothing ties, the values are those of kernels/measures/trec.py and
kernels/measures/gains.py, to the bit.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.measures.discounts import discount
from fastrank.kernels.measures.families import BY_RELEVANT, UNJUDGED, WORST, f1, percentile, share
from fastrank.kernels.measures.gains import ideal_dcg_of, ideal_dcg_of_retrieved, ideal_size
from fastrank.kernels.measures.trec import f_of_set, recall_target, weighted_counts
from fastrank.native.declare import helper, kernel

TIED = "void(Tied, float64[::1], float64[::1])"
TIED_GAINS = "void(TiedGains, float64[::1], float64[::1])"


@helper
def relevant_in_group(q, first):
    """The end of the rows tied with row `first`, and how many of their documents are relevant."""
    stop, relevant = first, 0
    while stop < len(q.lows) and q.lows[stop] == q.lows[first]:
        relevant += q.grades[stop] >= q.level
        stop += 1
    return stop, relevant


@helper
def ranks_within(q, first, depth):
    """Documents that tie with row `first`, and how many of their ranks are in the first `depth`."""
    depth = min(depth, np.float64(q.num_ret))
    low, high = q.lows[first], q.highs[first]
    return high - low, max(np.int64(0), np.int64(min(np.float64(high), depth)) - low)


@helper
def expected_relevant(q, depth):
    """How many of the first `depth` documents are relevant."""
    total, first = 0.0, 0
    while first < len(q.lows):
        stop, relevant = relevant_in_group(q, first)
        size, places = ranks_within(q, first, depth)
        total += np.float64(relevant * places) / size
        first = stop
    return total


@helper
def expected_precision_sum(q, depth):
    """The sum of the precisions at the relevant ranks up to `depth`.

    A rank is relevant with probability r / n, and then so is, of the n - 1 other documents of the
    group, each one with probability (r - 1) / (n - 1).
    """
    total, first, above = 0.0, 0, 0
    while first < len(q.lows):
        stop, relevant = relevant_in_group(q, first)
        size, places = ranks_within(q, first, depth)
        chance = np.float64(relevant) / size
        others = np.float64(relevant - 1) / (size - 1) if size > 1 else 0.0
        if relevant:
            for i in range(places):
                total += chance * ((above + 1 + i * others) / (q.lows[first] + 1 + i))
        above += relevant
        first = stop
    return total


@helper
def first_relevant_group(q):
    """The first row of the first group with relevant documents, and their number; or 0 and 0."""
    first = 0
    while first < len(q.lows):
        stop, relevant = relevant_in_group(q, first)
        if relevant:
            return first, relevant
        first = stop
    return 0, 0


@helper
def expected_gain_sum(q, depth):
    """Discounted cumulative gain of the first `depth` ranks."""
    total, first = 0.0, 0
    while first < len(q.lows):
        stop, gain = first, 0.0
        while stop < len(q.lows) and q.lows[stop] == q.lows[first]:
            gain += q.gains[stop]
            stop += 1
        size, places = ranks_within(q, first, depth)
        if gain != 0.0:
            for i in range(places):
                total += gain / size / discount(q.lows[first] + i + 1)
        first = stop
    return total


@kernel(TIED)
def expected_average_precision(q, parameters, values):
    if q.num_rel:
        values[0] = expected_precision_sum(q, np.float64(q.num_ret)) / q.num_rel


@kernel(TIED)
def expected_average_precision_cut(q, cutoffs, values):
    for c in range(len(cutoffs)):
        if q.num_rel:
            values[c] = expected_precision_sum(q, cutoffs[c]) / q.num_rel


@kernel(TIED)
def expected_precision_cut(q, cutoffs, values):
    for c in range(len(cutoffs)):
        values[c] = expected_relevant(q, cutoffs[c]) / cutoffs[c]


@kernel(TIED)
def expected_recall_cut(q, cutoffs, values):
    for c in range(len(cutoffs)):
        if q.num_rel:
            values[c] = expected_relevant(q, cutoffs[c]) / q.num_rel


@kernel(TIED)
def expected_relative_precision_cut(q, cutoffs, values):
    for c in range(len(cutoffs)):
        if q.num_rel:
            values[c] = expected_relevant(q, cutoffs[c]) / min(cutoffs[c], np.float64(q.num_rel))


@kernel(TIED)
def expected_r_precision(q, parameters, values):
    if q.num_rel:
        values[0] = expected_relevant(q, np.float64(q.num_rel)) / q.num_rel


@kernel(TIED)
def expected_success_cut(q, cutoffs, values):
    """One minus the probability that all relevant documents of the group stand behind the cut."""
    first, relevant = first_relevant_group(q)
    for c in range(len(cutoffs)):
        if not relevant:
            break
        size, places = ranks_within(q, first, cutoffs[c])
        behind = 1.0
        for i in range(relevant):
            behind *= max(np.int64(0), size - places - i) / np.float64(size - i)
        values[c] = 1.0 - behind


@kernel(TIED)
def expected_recip_rank(q, cutoffs, values):
    """The first relevant document is the i-th of its group with probability C(n-i, r-1) / C(n, r).

    Each probability follows from the one before: no binomial coefficient is ever formed.
    """
    first, relevant = first_relevant_group(q)
    if relevant:
        depth = np.float64(q.num_ret)
        if len(cutoffs):
            depth = min(depth, cutoffs[0])
        size, places = ranks_within(q, first, depth)
        chance = np.float64(relevant) / size
        for i in range(min(places, size - relevant + 1)):
            values[0] += chance * (1.0 / (q.lows[first] + 1 + i))
            if i + 1 < size:
                chance *= np.float64(size - relevant - i) / (size - 1 - i)


@kernel(TIED_GAINS)
def expected_discounted_gain(q, parameters, values):
    values[0] = expected_gain_sum(q, np.float64(q.num_ret))


@kernel(TIED_GAINS)
def expected_normalized_discounted_gain(q, parameters, values):
    ideal = ideal_dcg_of(q, ideal_size(q))
    if ideal > 0.0:
        values[0] = expected_gain_sum(q, np.float64(q.num_ret)) / ideal


@kernel(TIED_GAINS)
def expected_normalized_discounted_gain_cut(q, cutoffs, values):
    for c in range(len(cutoffs)):
        ideal = ideal_dcg_of(q, cutoffs[c])
        if ideal > 0.0:
            values[c] = expected_gain_sum(q, cutoffs[c]) / ideal


@kernel(TIED_GAINS)
def expected_discounted_gain_cut(q, cutoffs, values):
    values[0] = expected_gain_sum(q, cutoffs[0])


@kernel(TIED_GAINS)
def expected_normalized_discounted_gain_of_retrieved(q, cutoffs, values):
    """Where no depth cuts the ranking, so that what is retrieved is known."""
    ideal = ideal_dcg_of_retrieved(q, cutoffs[0])
    if ideal > 0.0:
        values[0] = expected_gain_sum(q, cutoffs[0]) / ideal


@kernel(TIED)
def expected_f1_cut(q, cutoffs, values):
    """Linear in the number of relevant documents found, so that theirs may be the expected one."""
    found = expected_relevant(q, cutoffs[0])
    if found > 0.0:
        within = np.float64(q.num_ret) if cutoffs[0] == np.inf else cutoffs[0]
        values[0] = f1(found, within, np.float64(q.num_rel))


@kernel(TIED)
def expected_precision_of_retrieved(q, cutoffs, values):
    within = min(cutoffs[0], np.float64(q.num_ret))
    if within > 0.0:
        values[0] = expected_relevant(q, within) / within


@kernel(TIED)
def expected_r_precision_multiple(q, factors, values):
    for j in range(len(factors)):
        target = np.float64(recall_target(factors[j], q.num_rel, False))
        if target > 0.0:
            values[j] = expected_relevant(q, target) / target


@kernel(TIED)
def expected_average_precision_of_possible(q, cutoffs, values):
    if q.num_rel:
        possible = min(cutoffs[0], np.float64(q.num_rel))
        values[0] = expected_precision_sum(q, cutoffs[0]) / possible


@helper
def relevant_retrieved(q):
    """How many relevant documents there are in a ranking that no depth cuts."""
    found = 0
    for grade in q.grades:
        found += grade >= q.level
    return found


@helper
def expected_retrieved(q):
    """How many relevant documents are retrieved."""
    total, first = 0.0, 0
    while first < len(q.lows):
        stop, relevant = judged_relevant_in_group(q, first)
        size, places = ranks_within(q, first, np.float64(q.num_ret))
        total += np.float64(relevant * places) / size
        first = stop
    return total


@helper
def judged_relevant_in_group(q, first):
    """`relevant_in_group` without what is not judged, which a negative level makes relevant."""
    stop, relevant = first, 0
    while stop < len(q.lows) and q.lows[stop] == q.lows[first]:
        relevant += q.grades[stop] >= max(q.level, 0)
        stop += 1
    return stop, relevant


@kernel(TIED)
def expected_num_rel_ret(q, parameters, values):
    values[0] = expected_retrieved(q)


@kernel(TIED)
def expected_num_nonrel_judged_ret(q, parameters, values):
    values[0] = expected_judged(q, np.float64(q.num_ret), UNJUDGED) - expected_retrieved(q)


@kernel(TIED)
def expected_set_precision(q, parameters, values):
    if q.num_ret:
        values[0] = expected_retrieved(q) / q.num_ret


@kernel(TIED)
def expected_set_recall(q, parameters, values):
    if q.num_rel:
        values[0] = expected_retrieved(q) / q.num_rel


@kernel(TIED)
def expected_set_relative_precision(q, parameters, values):
    if q.num_ret and q.num_rel:
        values[0] = expected_retrieved(q) / min(q.num_ret, q.num_rel)


@kernel(TIED)
def expected_set_f(q, parameters, values):
    """Linear in the number of relevant documents found, as F1 is."""
    found = expected_retrieved(q)
    if found > 0.0:
        values[0] = f_of_set(parameters[0], found / q.num_ret, found / q.num_rel)


@kernel(TIED)
def expected_utility(q, weights, values):
    values[0] = weighted_counts(q, weights, expected_retrieved(q))


@kernel(TIED)
def expected_binary_g(q, parameters, values):
    """G of binary judgments, where no depth cuts the ranking.

    Of m documents that are not relevant and tie with a relevant one, any number from none to m
    stands above it, each with the same probability.
    """
    total, above, first = 0.0, 0, 0
    while first < len(q.lows):
        stop, relevant = relevant_in_group(q, first)
        others = q.highs[first] - q.lows[first] - relevant
        if relevant:
            gain = 0.0
            for i in range(others + 1):
                gain += 1.0 / discount(q.lows[first] - above + i + 1)
            for _ in range(relevant):
                total += gain / (others + 1)
        above += relevant
        first = stop
    if above:
        values[0] = total / q.num_rel


@kernel(TIED)
def expected_reciprocal_hit_rank(q, cutoffs, values):
    """Where nothing cuts the ranking, so that it is known how many are found."""
    total, found, first = 0.0, 0, 0
    while first < len(q.lows):
        stop, relevant = relevant_in_group(q, first)
        size = q.highs[first] - q.lows[first]
        chance = np.float64(relevant) / size
        if relevant:
            for i in range(size):
                total += chance * (1.0 / (q.lows[first] + 1 + i))
        found += relevant
        first = stop
    if found:
        values[0] = total / found


@kernel(TIED)
def expected_first_rank(q, parameters, values):
    """Where no depth cuts the ranking, so that it is known whether anything is found."""
    values[0] = np.inf if parameters[0] == WORST and q.num_rel else np.nan
    first = 0
    while first < len(q.lows):
        stop, relevant = judged_relevant_in_group(q, first)
        if relevant:
            size = q.highs[first] - q.lows[first]
            values[0] = q.lows[first] + np.float64(size + 1) / (relevant + 1)
            break
        first = stop


@kernel(TIED)
def expected_percentile_rank(q, parameters, values):
    """Where it is known how many documents count: no depth cuts the ranking, or all of them do."""
    base, missing = parameters[0], parameters[1]
    total, found, first = 0.0, 0.0, 0
    while first < len(q.lows):
        stop, relevant = judged_relevant_in_group(q, first)
        size, places = ranks_within(q, first, np.float64(q.num_ret))
        chance = np.float64(relevant) / size
        if relevant:
            for i in range(places):
                total += chance * percentile(q, q.lows[first] + 1 + i, base)
        found += np.float64(relevant * places) / size
        first = stop
    if missing == WORST:
        total += q.num_rel - found
        found = np.float64(q.num_rel)
    values[0] = total / found if found > 0.0 else np.nan
    values[1], values[2] = total, found


@kernel(TIED)
def expected_rank_biased_residual(q, parameters, values):
    """rbp_resid, where no depth cuts the ranking, so that it is known if any is unjudged."""
    p, weight, total = parameters[0], 1.0, 0.0
    stop, high, chance, unjudged = 0, 0, 1.0, False
    for rank in range(1, q.num_ret + 1):
        if rank > high:
            chance = 1.0
            if stop < len(q.lows) and q.lows[stop] < rank:
                first, high = stop, q.highs[stop]
                others = size = high - q.lows[first]
                while stop < len(q.lows) and q.lows[stop] == q.lows[first]:
                    others -= q.grades[stop] >= 0
                    stop += 1
                chance = np.float64(others) / size
        if chance > 0.0:
            total += weight * chance
            unjudged = True
        weight *= p
    if unjudged:
        values[0] = weight + (1.0 - p) * total


@kernel(TIED_GAINS)
def expected_normalized_gain_at_levels(q, parameters, values):
    """Rndcg: the ranks at which it looks do not depend on the order."""
    if q.num_rel == 0:
        return
    size = ideal_size(q)
    total, points, depth = 0.0, 0, 0
    for i in range(len(q.ideal_gains)):
        depth += q.ideal_counts[i]
        if i + 1 == len(q.ideal_gains) or q.ideal_gains[i] != q.ideal_gains[i + 1]:
            total += expected_gain_sum(q, np.float64(depth)) / ideal_dcg_of(q, depth)
            points += 1
    if size > 0 and q.num_ret > size + 1:
        total += expected_gain_sum(q, np.float64(q.num_ret)) / ideal_dcg_of(q, size)
        points += 1
    values[0] = total / points


@kernel(TIED)
def expected_average_precision_of_found(q, cutoffs, values):
    """Where no depth cuts the ranking, so that it is known how many are found."""
    found = relevant_retrieved(q)
    if found:
        values[0] = expected_precision_sum(q, np.float64(q.num_ret)) / found


@kernel(TIED)
def expected_hit_share(q, cutoffs, values):
    """Where no depth cuts the ranking, so that it is known how many are found."""
    found, hits = relevant_retrieved(q), expected_relevant(q, cutoffs[0])
    values[0] = hits / found if found else np.nan
    values[1], values[2] = hits, found


@kernel(TIED)
def expected_binary_preference(q, parameters, values):
    """bpref, where no depth cuts the ranking.

    Of m judged nonrelevant documents that a relevant one ties with, any number from none to m
    stands above it, each with the same probability.
    """
    nonrelevant = 0
    for grade, count in zip(q.grade_values, q.grade_counts):
        if grade < q.level:
            nonrelevant += count
    total, above, first = 0.0, 0, 0
    while first < len(q.lows):
        stop, relevant = relevant_in_group(q, first)
        tied = 0
        for i in range(first, stop):
            tied += 0 <= q.grades[i] < q.level
        preferred = 0.0
        for i in range(tied + 1):
            if above + i == 0:
                preferred += 1.0
            else:
                preferred += 1.0 - min(above + i, q.num_rel) / min(nonrelevant, q.num_rel)
        for _ in range(relevant):
            total += preferred / (tied + 1)
        above += tied
        first = stop
    values[0] = total / q.num_rel if q.num_rel else total


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


@kernel(TIED)
def expected_unjudged_cut(q, cutoffs, values):
    for c in range(len(cutoffs)):
        depth = min(cutoffs[c], np.float64(q.num_ret))
        values[c] = (depth - expected_judged(q, depth, UNJUDGED)) / cutoffs[c]


@kernel(TIED)
def expected_judged_share(q, parameters, values):
    depth = min(parameters[0], np.float64(q.num_ret))
    share(q, expected_judged(q, depth, parameters[2]), depth, parameters, values)


@kernel(TIED)
def expected_unjudged_share(q, parameters, values):
    depth = min(parameters[0], np.float64(q.num_ret))
    share(q, depth - expected_judged(q, depth, parameters[2]), depth, parameters, values)


@helper
def area_under_curve(q):
    """The share of the pairs of a relevant and another document that are in order, tied ones half.

    Where no depth cuts the ranking, so that it is known which pairs there are. Returns the share,
    NaN if there are no pairs, and how many documents are relevant.
    """
    twice_above, found, first = 0, 0, 0
    while first < len(q.lows):
        stop, relevant = judged_relevant_in_group(q, first)
        others = q.highs[first] - q.lows[first] - relevant
        twice_above += relevant * (2 * (q.lows[first] - found) + others)
        found += relevant
        first = stop
    pairs = np.float64(q.num_ret - found) * found
    return 1.0 - twice_above / (2.0 * pairs) if pairs else np.nan, found


@kernel(TIED)
def expected_pair_accuracy(q, parameters, values):
    values[0], _ = area_under_curve(q)


@kernel(TIED)
def grouped_area_under_curve(q, parameters, values):
    """parameters: 1 if the weight is the number of relevant documents, not of all documents."""
    share, found = area_under_curve(q)
    values[0] = share
    if share == share:
        weight = np.float64(found) if parameters[0] == BY_RELEVANT else np.float64(q.num_ret)
        values[1], values[2] = weight * share, weight


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


@kernel(TIED)
def expected_rank_biased_precision_binary(q, parameters, values):
    total, first, weight, rank_done = 0.0, 0, 1.0, 0
    while first < len(q.lows):
        stop, relevant = relevant_in_group(q, first)
        each, weight, rank_done = weights_of_group(
            q, first, parameters[0], parameters[1], weight, rank_done
        )
        total += relevant * each
        first = stop
    values[0] = (1.0 - parameters[1]) * total


@helper
def expected_weighted_gains(q, cutoff, p):
    """The sum of gain * p^(rank - 1) up to a cutoff."""
    total, first, weight, rank_done = 0.0, 0, 1.0, 0
    while first < len(q.lows):
        stop, gain = first, 0.0
        while stop < len(q.lows) and q.lows[stop] == q.lows[first]:
            gain += q.gains[stop]
            stop += 1
        each, weight, rank_done = weights_of_group(q, first, cutoff, p, weight, rank_done)
        if gain != 0.0:
            total += gain * each
        first = stop
    return total


@kernel(TIED_GAINS)
def expected_rank_biased_precision(q, parameters, values):
    values[0] = (1.0 - parameters[0]) * expected_weighted_gains(q, np.inf, parameters[0])


@kernel(TIED_GAINS)
def expected_rank_biased_precision_cut(q, parameters, values):
    total = expected_weighted_gains(q, parameters[0], parameters[1])
    values[0] = (1.0 - parameters[1]) * total
