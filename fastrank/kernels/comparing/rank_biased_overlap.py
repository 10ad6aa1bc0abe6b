"""Rank-biased overlap of two rankings with ties (Webber et al. 2010; Corsi and Urbano 2024)."""

from __future__ import annotations

import math

import numpy as np

from fastrank.native.codes import TIES_CORRECTED, TIES_SHARE_RANK
from fastrank.native.declare import helper, kernel

# By how much rounding may exceed 1; more would be wrong.
ROUNDING = 1e-9


@helper
def at_most_one(value):
    """A sum of which rounding made more than 1, as 1; others as they are."""
    # The sum of many weights is not exactly 1 for equal rankings.
    return 1.0 if 1.0 < value < 1.0 + ROUNDING else value


@helper
def presence(depth, top, bottom, ties):
    """How much of an item tied at ranks `top` to `bottom` is among the first `depth` >= top."""
    if ties == TIES_SHARE_RANK or depth >= bottom:
        return 1.0
    return (depth - top + 1) / (bottom - top + 1)


@helper
def sum_overlaps(shorter, longer, partners, ties, overlaps):
    """overlaps[d - 1] = the items that both have among their first d: sums of products."""
    overlaps[: len(longer.tops)] = 0.0
    for i in range(len(partners)):
        j = partners[i]
        if j >= 0 and ties == TIES_SHARE_RANK:
            overlaps[max(longer.tops[i], shorter.tops[j]) - 1] += 1.0
        elif j >= 0:
            overlaps[max(longer.bottoms[i], shorter.bottoms[j]) - 1] += 1.0
    for i in range(1, len(longer.tops)):
        overlaps[i] += overlaps[i - 1]
    if ties == TIES_SHARE_RANK:
        return
    for i in range(len(partners)):
        j = partners[i]
        if j < 0:
            continue
        top, bottom = longer.tops[i], longer.bottoms[i]
        other_top, other_bottom = shorter.tops[j], shorter.bottoms[j]
        for depth in range(max(top, other_top), max(bottom, other_bottom)):
            own = presence(depth, top, bottom, ties)
            overlaps[depth - 1] += own * presence(depth, other_top, other_bottom, ties)


@helper
def size_at(ranks, depth, ties):
    """The size of the first `depth` ranks for the denominator of the agreement.

    Behind the end of the ranking come items that were not seen and are assumed to be untied.
    """
    if depth > len(ranks.tops):
        return 1.0 * depth
    top, bottom = ranks.tops[depth - 1], ranks.bottoms[depth - 1]
    if ties == TIES_SHARE_RANK:
        return 1.0 * bottom
    if ties == TIES_CORRECTED:
        seen = depth - top + 1
        return top - 1 + seen * seen / (bottom - top + 1)
    return 1.0 * depth


@helper
def mean_size(shorter, longer, depth, ties):
    """The denominator of the agreement: the mean of both sizes, geometric if ties are corrected."""
    own, other = size_at(longer, depth, ties), size_at(shorter, depth, ties)
    if ties == TIES_CORRECTED:
        return math.sqrt(own) * math.sqrt(other)
    return (own + other) / 2.0


@kernel(
    "void(TiedRanks, TiedRanks, int64[::1], float64[::1], int64, int64, float64[::1], float64[::1])"
)
def rank_biased_overlap(shorter, longer, partners, persistence, ties, cutoff, overlaps, values):
    """values = extrapolated, least and greatest RBO, their difference, and the truncated form.

    partners: for each rank of the longer ranking the place of its item in the shorter one, from 0,
    or -1. persistence: p and ln(1 / (1 - p)). cutoff: the last rank of the truncated form.
    overlaps: scratch, as long as the longer ranking.
    """
    p, all_depths = persistence[0], persistence[1]
    s, l = len(shorter.tops), len(longer.tops)  # noqa: E741
    if l == 0:
        values[:] = math.nan
        return
    sum_overlaps(shorter, longer, partners, ties, overlaps)
    least = greatest = extrapolated = depths = truncated = mass = 0.0
    agreement_seen = 0.0
    # Items that only the longer ranking has: above the tie group at this depth, and in it.
    above = inside = 0
    weight = 1.0
    for depth in range(1, l + 1):
        top, bottom = longer.tops[depth - 1], longer.bottoms[depth - 1]
        if depth == top:
            above += inside
            inside = 0
            for i in range(top - 1, bottom):
                inside += partners[i] < 0
        overlap, size = overlaps[depth - 1], mean_size(shorter, longer, depth, ties)
        most = likely = 0.0
        if depth <= s:
            agreement_seen = overlap / size
        else:
            unseen, share = depth - s, presence(depth, top, bottom, ties)
            most = min(unseen, above) + min(max(unseen - above, 0), inside) * share
            likely = unseen * agreement_seen * (above + inside * share) / (above + inside)
        least += overlap / size * weight
        greatest += (overlap + most) / size * weight
        extrapolated += (overlap + likely) / size * weight
        depths += weight / depth
        if depth <= cutoff:
            truncated += overlap / size * weight
            mass += weight
        weight *= p
    shared, last = overlaps[l - 1], weight
    least += shared * (all_depths / p - depths)
    extrapolated += (shared + (l - s) * agreement_seen) / l * last / (1.0 - p)
    for depth in range(l + 1, l + s - np.int64(shared) + 1):
        greatest += (2 * depth - l - s + shared) / depth * weight
        weight *= p
    greatest += weight / (1.0 - p)
    weight = last
    for depth in range(l + 1, cutoff + 1):
        if weight == 0.0:
            break
        truncated += shared / depth * weight
        mass += weight
        weight *= p
    scale = 1.0 - p
    values[0] = at_most_one(scale * extrapolated)
    # Rounding may turn the order of bounds that are equal.
    values[1] = min(at_most_one(scale * least), values[0])
    values[2] = max(at_most_one(scale * greatest), values[0])
    values[3], values[4] = values[2] - values[1], at_most_one(truncated / mass)
