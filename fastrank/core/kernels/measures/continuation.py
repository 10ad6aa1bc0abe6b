"""Measures of the C/W/L framework: a reader goes on from each rank with some probability.

A document at a rank weighs as much as the probability of reaching that rank, divided by the sum of
these over all ranks. Definitions and sources: the records in fastrank/core/measures/families.py.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.measures.gains import discount
from fastrank.core.kernels.measures.signatures import GAINED
from fastrank.core.native.declare import helper, kernel

# The ranks that cwl_eval looks at.
RANKS = 1000
SDCG, BPM, INSQ, INST, NERR8, NERR9, NERR10, NERR11 = range(8)


@helper
def insatiable(rank, target):
    """((rank + target - 1) / (rank + target)) ^ 2."""
    quotient = (rank + target - 1.0) / (rank + target)
    return quotient * quotient


@helper
def continuation(model, rank, gain, total, number):
    """The probability of going on from a rank; `total` is the gain up to there.

    number: the parameter of the model other than the cutoff: p or T.
    """
    if model == SDCG:
        return discount(rank) / discount(rank + 1)
    if model == BPM:
        return 1.0 if total < number else 0.0
    if model == INSQ:
        return insatiable(rank, 2.0 * number)
    if model == INST:
        return insatiable(rank, 2.0 * number - total)
    if model == NERR8:
        return 1.0 - gain
    if model == NERR9:
        return (1.0 * rank / (rank + 1.0)) * (1.0 - gain)
    if model == NERR10:
        return number * (1.0 - gain)
    return insatiable(rank, 2.0 * number) * (1.0 - gain)


@helper
def gain_per_rank(q, model, cutoff, number):
    """The expected gain of a rank that the reader looks at."""
    depth = int(min(cutoff, np.float64(RANKS)))
    i, gained, total, reached, ranks = 0, 0.0, 0.0, 1.0, 0.0
    for rank in range(1, depth + 1):
        gain = 0.0
        if i < len(q.ranks) and q.ranks[i] == rank:
            gain = q.gains[i]
            i += 1
        total += gain
        gained += reached * gain
        ranks += reached
        reached *= continuation(model, rank, gain, total, number)
        if reached == 0.0:
            break
    return gained / ranks


@kernel(GAINED)
def scaled_discounted_gain(q, cutoffs, values):
    values[0] = gain_per_rank(q, SDCG, cutoffs[0], 0.0)


@kernel(GAINED)
def bejeweled_player_model(q, parameters, values):
    """parameters: the cutoff, and T."""
    values[0] = gain_per_rank(q, BPM, parameters[0], parameters[1])


@kernel(GAINED)
def insq(q, parameters, values):
    values[0] = gain_per_rank(q, INSQ, np.inf, parameters[0])


@kernel(GAINED)
def inst(q, parameters, values):
    values[0] = gain_per_rank(q, INST, np.inf, parameters[0])


@kernel(GAINED)
def nearly_expected_reciprocal_rank_8(q, cutoffs, values):
    values[0] = gain_per_rank(q, NERR8, cutoffs[0], 0.0)


@kernel(GAINED)
def nearly_expected_reciprocal_rank_9(q, cutoffs, values):
    values[0] = gain_per_rank(q, NERR9, cutoffs[0], 0.0)


@kernel(GAINED)
def nearly_expected_reciprocal_rank_10(q, parameters, values):
    values[0] = gain_per_rank(q, NERR10, np.inf, parameters[0])


@kernel(GAINED)
def nearly_expected_reciprocal_rank_11(q, parameters, values):
    values[0] = gain_per_rank(q, NERR11, np.inf, parameters[0])
