"""Estimates from a stratified sample of the pool, as NIST's sample_eval computes them.

Sums are added in its order, strata in byte order. Definitions and sources: the records in
fastrank/core/measures/families.py.
"""

from __future__ import annotations

import math

import numpy as np

from fastrank.core.kernels.measures.signatures import STRATA
from fastrank.core.native.declare import helper, kernel

# Added to the relevant and to the sampled documents of a stratum, so that no estimate is 0 / 0.
RELEVANT_MORE, SAMPLED_MORE = 0.00001, 0.00003
AS_SAMPLE_EVAL = 1.0


@helper
def begin(q):
    """Forget the documents seen before."""
    q.seen[:] = 0
    q.seen_sampled[:] = 0
    q.seen_relevant[:] = 0
    q.sums[:] = 0.0


@helper
def see(q, i):
    """Count document i in its stratum."""
    s = q.strata[i]
    q.seen[s] += 1
    q.seen_sampled[s] += q.grades[i] >= 0.0
    q.seen_relevant[s] += q.relevant[i]


@helper
def estimated_relevant_within(q, depth):
    """The estimated number of relevant documents in the first `depth` ranks."""
    begin(q)
    for i in range(len(q.ranks)):
        if q.ranks[i] > depth:
            break
        see(q, i)
    total = 0.0
    for s in range(len(q.seen)):
        total += (
            q.seen[s] * (q.seen_relevant[s] + RELEVANT_MORE) / (q.seen_sampled[s] + SAMPLED_MORE)
        )
    return total


@helper
def relevant_in_stratum(q, s):
    """The estimated number of relevant documents in a stratum, 0 if nothing was sampled."""
    if q.sample_sizes[s] == 0:
        return 0.0
    return np.float64(q.relevant_counts[s] * q.pool_sizes[s]) / q.sample_sizes[s]


@helper
def relevant_in_pool(q):
    """The estimated number of relevant documents in the pool."""
    total = 0.0
    for s in range(len(q.sample_sizes)):
        total += relevant_in_stratum(q, s)
    return total


@kernel(STRATA)
def estimated_num_rel(q, parameters, values):
    values[0] = relevant_in_pool(q)


@kernel(STRATA)
def estimated_num_rel_ret(q, parameters, values):
    values[0] = estimated_relevant_within(q, parameters[0])


@kernel(STRATA)
def estimated_precision_cut(q, cutoffs, values):
    values[0] = estimated_relevant_within(q, cutoffs[0]) / cutoffs[0]


@helper
def precision_above(q, pooled):
    """The expected precision among the `pooled` documents of the pool that were seen."""
    total = 0.0
    for s in range(len(q.seen)):
        share = np.float64(q.seen[s]) / pooled if pooled else 0.0
        if share != 0.0:
            total += (
                share * (q.seen_relevant[s] + RELEVANT_MORE) / (q.seen_sampled[s] + SAMPLED_MORE)
            )
    return total


@kernel(STRATA)
def stratified_average_precision(q, parameters, values):
    """parameters: the depth."""
    begin(q)
    for i in range(len(q.ranks)):
        rank = q.ranks[i]
        if rank > parameters[0]:
            break
        if q.relevant[i]:
            above = (np.float64(i) / rank) * precision_above(q, i)
            q.sums[q.strata[i]] += 1.0 / rank + above
        see(q, i)
    relevant = relevant_in_pool(q)
    for s in range(len(q.sums)):
        in_stratum = relevant_in_stratum(q, s)
        if in_stratum != 0.0:
            values[0] += in_stratum / relevant * (q.sums[s] / q.relevant_counts[s])


@helper
def discounted(grade, rank):
    """A gain, discounted as sample_eval rounds it."""
    return grade / (math.log(np.float64(rank + 1)) / math.log(2.0))


@helper
def ideal_gain(q, depth, as_sample_eval):
    """The discounted gain of the estimated numbers of documents of each grade.

    sample_eval orders grades as texts, and counts one document of each grade beyond the depth.
    """
    total, rank = 0.0, 0
    for v in range(len(q.ideal_grades)):
        g = q.text_order[v] if as_sample_eval == AS_SAMPLE_EVAL else v
        stop = rank + int(q.ideal_counts[g] + 0.5)
        within = min(np.float64(stop), max(depth, np.float64(rank + 1) * as_sample_eval))
        for r in range(rank + 1, int(within) + 1):
            total += discounted(q.ideal_grades[g], r)
        rank = stop
    return total


@kernel(STRATA)
def stratified_discounted_gain(q, parameters, values):
    """parameters: the depth, and 1 for the ideal ranking of sample_eval."""
    depth, pooled = parameters[0], 0
    begin(q)
    for i in range(len(q.ranks)):
        if q.ranks[i] > depth:
            break
        if q.grades[i] > 0.0:
            q.sums[q.strata[i]] += discounted(q.grades[i], q.ranks[i])
        see(q, i)
        pooled += 1
    total = 0.0
    for s in range(len(q.sums)):
        if q.seen_sampled[s] != 0:
            total += np.float64(q.seen[s]) / pooled * q.sums[s] / q.seen_sampled[s]
    ideal = ideal_gain(q, depth, parameters[1])
    if ideal > 0.0:
        values[0] = pooled * total / ideal
