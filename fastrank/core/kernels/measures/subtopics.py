"""Measures of novelty and diversity, as ndeval computes them.

A document adds the worth of the subtopics that it is relevant to, and these are then worth less.
Sums are added in ndeval's order. Definitions and sources: the records in
fastrank/core/measures/families.py.
"""

from __future__ import annotations

import math

import numpy as np

from fastrank.core.kernels.measures.signatures import SUBTOPICS
from fastrank.core.native.declare import helper, kernel

# The places of parameters; the third depends on the measure.
REL, JUDGED_ONLY, CUTOFF, BETA, UNRETRIEVED, ALPHA, ENOUGH = 0, 1, 2, 2, 2, 3, 3
# An option of the last rank: a query whose evidence is not complete has an infinite one.
WORST = 1.0
LOGARITHMIC, RECIPROCAL = 0, 1


@helper
def begin(q, parameters):
    """Find the judgments that count as relevant; the number of subtopics that have one."""
    q.counts[:] = 0
    for j in range(len(q.grades)):
        q.counted[j] = q.relevant[j]
        if parameters[REL] != np.inf:
            q.counted[j] = q.grades[j] >= parameters[REL]
        q.counts[q.subtopics[j]] += q.counted[j]
    covered = 0
    for s in range(len(q.counts)):
        covered += q.counts[s] > 0
    return covered


@helper
def rank_of(q, i, parameters):
    """The rank of retrieved document i, among the judged ones if only these count."""
    return np.int64(i + 1) if parameters[JUDGED_ONLY] == 1.0 else q.ranks[i]


@helper
def worth_of(q, d):
    """The worth of the subtopics that a document is relevant to."""
    total = 0.0
    for j in range(q.firsts[d], q.stops[d]):
        if q.counted[j]:
            total += q.worth[q.subtopics[j]]
    return total


@helper
def taken(q, d, alpha):
    """What a document adds; its subtopics are worth less after it."""
    total = 0.0
    for j in range(q.firsts[d], q.stops[d]):
        if q.counted[j]:
            total += q.worth[q.subtopics[j]]
            q.worth[q.subtopics[j]] *= 1.0 - alpha
    return total


@helper
def begin_ideal(q):
    """Prepare for `next_ideal`."""
    q.worth[:] = 1.0
    for d in range(len(q.bounds)):
        q.bounds[d] = worth_of(q, d)


@helper
def next_ideal(q, alpha):
    """What the best of the documents that are left adds, 0 if none does.

    Of equal ones the largest id is best. What a document adds can only become less: it is computed
    again only if it might be the most.
    """
    best, document = 0.0, -1
    for d in range(len(q.bounds)):
        if q.bounds[d] > best:
            q.bounds[d] = worth_of(q, d)
            if q.bounds[d] > best:
                best, document = q.bounds[d], d
    if document >= 0:
        q.bounds[document] = 0.0
        taken(q, document, alpha)
    return best


@helper
def discounted(gain, rank, discount):
    """A gain at a rank."""
    if discount == RECIPROCAL:
        return gain / np.float64(rank)
    if rank == 1:
        return gain
    return gain * (math.log(2.0) / math.log(np.float64(rank + 1)))


@helper
def gain_of_run(q, parameters, discount):
    """The discounted gain of the first documents of the ranking."""
    q.worth[:] = 1.0
    total = 0.0
    for i in range(len(q.docs)):
        rank = rank_of(q, i, parameters)
        if rank > parameters[CUTOFF]:
            break
        total += discounted(taken(q, q.docs[i], parameters[ALPHA]), rank, discount)
    return total


@helper
def gain_of_ideal(q, parameters, discount):
    """The same of the ideal ranking of the judged documents."""
    begin_ideal(q)
    total = 0.0
    for rank in range(1, int(min(parameters[CUTOFF], np.float64(len(q.bounds)))) + 1):
        gain = next_ideal(q, parameters[ALPHA])
        if gain == 0.0:
            break
        total += discounted(gain, rank, discount)
    return total


@helper
def best_gain(covered, parameters, discount):
    """The same of a ranking of documents that are all relevant to every subtopic."""
    gain, total = np.float64(covered), 0.0
    for rank in range(1, int(parameters[CUTOFF]) + 1):
        longer = total + discounted(gain, rank, discount)
        # No later rank changes the sum either.
        if longer == total:
            break
        total = longer
        gain *= 1.0 - parameters[ALPHA]
    return total


@helper
def share_of_best(q, parameters, discount):
    covered = begin(q, parameters)
    if covered == 0:
        return 0.0
    return gain_of_run(q, parameters, discount) / best_gain(covered, parameters, discount)


@helper
def share_of_ideal(q, parameters, discount):
    """ndeval first divides both by the best gain, except at rank 1, which can change a last bit."""
    covered = begin(q, parameters)
    gain = gain_of_run(q, parameters, discount)
    if covered == 0 or gain == 0.0:
        return 0.0
    best = 1.0 if parameters[CUTOFF] == 1.0 else best_gain(covered, parameters, discount)
    return (gain / best) / (gain_of_ideal(q, parameters, discount) / best)


@kernel(SUBTOPICS)
def alpha_discounted_gain(q, parameters, values):
    values[0] = share_of_best(q, parameters, LOGARITHMIC)


@kernel(SUBTOPICS)
def alpha_normalized_discounted_gain(q, parameters, values):
    values[0] = share_of_ideal(q, parameters, LOGARITHMIC)


@kernel(SUBTOPICS)
def expected_reciprocal_rank_of_intents(q, parameters, values):
    values[0] = share_of_best(q, parameters, RECIPROCAL)


@kernel(SUBTOPICS)
def normalized_expected_reciprocal_rank_of_intents(q, parameters, values):
    values[0] = share_of_ideal(q, parameters, RECIPROCAL)


@helper
def rank_biased_gain(q, parameters):
    q.worth[:] = 1.0
    decay, rank, total = 1.0, 1, 0.0
    for i in range(len(q.docs)):
        while rank < rank_of(q, i, parameters):
            decay *= parameters[BETA]
            rank += 1
        total += taken(q, q.docs[i], parameters[ALPHA]) * decay
    return total


@helper
def rank_biased_ideal(q, parameters):
    begin_ideal(q)
    decay, total = 1.0, 0.0
    for _ in range(len(q.bounds)):
        gain = next_ideal(q, parameters[ALPHA])
        if gain * decay == 0.0:
            break
        total += gain * decay
        decay *= parameters[BETA]
    return total


@helper
def scaled_rank_biased(covered, parameters, total):
    """A sum, divided by that of documents that are all relevant to every subtopic."""
    return total * ((1.0 - (1.0 - parameters[ALPHA]) * parameters[BETA]) / covered)


@kernel(SUBTOPICS)
def novelty_rank_biased_precision(q, parameters, values):
    covered = begin(q, parameters)
    if covered:
        values[0] = scaled_rank_biased(covered, parameters, rank_biased_gain(q, parameters))


@kernel(SUBTOPICS)
def normalized_novelty_rank_biased_precision(q, parameters, values):
    covered = begin(q, parameters)
    if covered == 0:
        return
    actual = scaled_rank_biased(covered, parameters, rank_biased_gain(q, parameters))
    if actual > 0.0:
        ideal = scaled_rank_biased(covered, parameters, rank_biased_ideal(q, parameters))
        values[0] = actual / ideal


@kernel(SUBTOPICS)
def average_precision_of_intents(q, parameters, values):
    covered = begin(q, parameters)
    if covered == 0:
        return
    q.worth[:] = 0.0
    q.seen[:] = 0
    for i in range(len(q.docs)):
        for j in range(q.firsts[q.docs[i]], q.stops[q.docs[i]]):
            if q.counted[j]:
                s = q.subtopics[j]
                q.seen[s] += 1
                q.worth[s] += q.seen[s] / np.float64(rank_of(q, i, parameters))
    for s in range(len(q.worth)):
        if q.counts[s] > 0:
            values[0] += q.worth[s] / q.counts[s]
    values[0] /= covered


@helper
def relevant_judgments(q, parameters, is_distinct):
    """How many judgments of the first documents count, of each subtopic at most one if distinct."""
    q.seen[:] = 0
    count = 0
    for i in range(len(q.docs)):
        if rank_of(q, i, parameters) > parameters[CUTOFF]:
            break
        for j in range(q.firsts[q.docs[i]], q.stops[q.docs[i]]):
            if q.counted[j] and not (is_distinct and q.seen[q.subtopics[j]]):
                q.seen[q.subtopics[j]] = 1
                count += 1
    return count


@kernel(SUBTOPICS)
def precision_of_intents(q, parameters, values):
    covered = begin(q, parameters)
    if covered:
        count = relevant_judgments(q, parameters, False)
        values[0] = count / (parameters[CUTOFF] * covered)


@kernel(SUBTOPICS)
def subtopic_recall(q, parameters, values):
    covered = begin(q, parameters)
    if covered:
        values[0] = relevant_judgments(q, parameters, True) / np.float64(covered)


@kernel(SUBTOPICS)
def full_recall_of_subtopics(q, parameters, values):
    covered = begin(q, parameters)
    values[0] = covered > 0 and relevant_judgments(q, parameters, True) == covered


@kernel(SUBTOPICS)
def enough_subtopics(q, parameters, values):
    begin(q, parameters)
    values[0] = relevant_judgments(q, parameters, True) >= parameters[ENOUGH]


@kernel(SUBTOPICS)
def last_rank_of_subtopics(q, parameters, values):
    left = begin(q, parameters)
    values[0] = np.inf if parameters[UNRETRIEVED] == WORST and left else np.nan
    q.seen[:] = 0
    for i in range(len(q.docs)):
        for j in range(q.firsts[q.docs[i]], q.stops[q.docs[i]]):
            if q.counted[j] and not q.seen[q.subtopics[j]]:
                q.seen[q.subtopics[j]] = 1
                left -= 1
                if left == 0:
                    values[0] = rank_of(q, i, parameters)
