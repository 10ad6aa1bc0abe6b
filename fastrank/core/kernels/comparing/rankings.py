"""Two rankings compared: rank-biased overlap with ties (Webber et al. 2010; Corsi and Urbano 2024),
overlap, and Kendall's tau in n log n steps."""

from __future__ import annotations

import math

import numpy as np

from fastrank.core.kernels.matching.texts import join, rank_documents
from fastrank.core.native.codes import (
    FINE,
    LARGER_ID_FIRST,
    OVERLAP_VALUES,
    TIES_CORRECTED,
    TIES_SHARE_RANK,
)
from fastrank.core.native.declare import helper, kernel
from fastrank.core.native.records.runs import TiedRanks


@helper
def rank_query(run, query, single, scratch):
    """Rank the results of a query as trec_eval does: its first row, and its ranks with ties."""
    keys, order, _ = scratch.ranking
    tops, bottoms = scratch.ranks
    start = run.offsets[query] if query >= 0 else 0
    count = run.offsets[query + 1] - start if query >= 0 else 0
    rank_documents(run.docs, run.scores, start, count, single, LARGER_ID_FIRST, scratch.ranking)
    top = 0
    while top < count:
        bottom = top + 1
        while bottom < count and keys[order[bottom]] == keys[order[top]]:
            bottom += 1
        for i in range(top, bottom):
            tops[i], bottoms[i] = top + 1, bottom
        top = bottom
    return start, TiedRanks(tops[:count], bottoms[:count])


@helper
def pair_documents(first_rows, first_order, second_count, by_row, depth, partners, swap):
    """partners[r] = the position in one ranking of the document at position r of the other, or -1.

    first_rows: for each position in the second ranking, the document's row in the first, or -1.
    swap: r is a position in the first ranking. Returns how many of the first `depth` are shared.
    """
    partners[:] = -1
    for position in range(len(first_order)):
        by_row[first_order[position]] = position
    shared = 0
    for position in range(second_count):
        if first_rows[position] >= 0:
            partner = by_row[first_rows[position]]
            shared += position < depth and partner < depth
            if swap:
                partners[partner] = position
            else:
                partners[position] = partner
    return shared


@helper
def tau_of_shared(longer, shorter, partners, scratch):
    """Kendall's tau of the documents that both rankings have."""
    count = 0
    for i in range(len(partners)):
        if partners[i] >= 0:
            scratch.shared[count] = longer.tops[i]
            scratch.shared_partners[count] = shorter.tops[partners[i]]
            count += 1
    return kendall_tau(
        scratch.shared[:count],
        scratch.shared_partners[:count],
        scratch.tree[: len(shorter.tops) + 1],
        scratch.pairs,
    )


@helper
def tau_of_union(first_rows, by_row, count, other_count, scratch):
    """Kendall's tau of the first ranking and the second, as ranks in the union of both.

    The union has the documents of the first ranking, then the others in the order of the second.
    """
    compared = min(count, other_count)
    ranks, union = scratch.shared_partners, count
    for i in range(compared):
        if first_rows[i] >= 0:
            ranks[i] = by_row[first_rows[i]] + 1
        else:
            union += 1
            ranks[i] = union
    for i in range(compared):
        by_row[i] = i
    return kendall_tau(
        by_row[:compared], ranks[:compared], scratch.tree[: union + 1], scratch.pairs
    )


@kernel("int64(Run, Run, RankingPairs, OverlapOptions, float64[::1], OverlapScratch, float64[::1])")
def compare_rankings(first, second, pairs, options, persistence, scratch, values):
    """Five values for each pair: shared documents, Jaccard index, extrapolated RBO, tau, KTU.

    Stops at the first query in which a document appears twice, says so in
    scratch.problem, and returns the number of queries before it.
    """
    single = options.single_precision != 0
    depth = options.depth
    for i in range(len(pairs.first)):
        start, ranks = rank_query(first, pairs.first[i], single, scratch.first)
        other_start, other_ranks = rank_query(second, pairs.second[i], single, scratch.second)
        count, other_count = len(ranks.tops), len(other_ranks.tops)
        scratch.problem[0] = join(
            first.docs,
            start,
            count,
            second.docs,
            other_start,
            scratch.second.ranking.order,
            other_count,
            scratch.table,
            scratch.first_rows,
            scratch.problem,
        )
        if scratch.problem[0] != FINE:
            return i
        swap = count > other_count
        shorter, longer = (other_ranks, ranks) if swap else (ranks, other_ranks)
        partners = scratch.partners[: len(longer.tops)]
        shared = pair_documents(
            scratch.first_rows,
            scratch.first.ranking.order[:count],
            other_count,
            scratch.shared,
            depth,
            partners,
            swap,
        )
        rank_biased_overlap(
            shorter,
            longer,
            partners,
            persistence,
            options.ties,
            1,
            scratch.overlaps,
            scratch.biased,
        )
        distinct = min(count, depth) + min(other_count, depth) - shared
        pair_values = values[i * OVERLAP_VALUES : (i + 1) * OVERLAP_VALUES]
        pair_values[0] = shared
        pair_values[1] = shared / distinct if distinct > 0 else math.nan
        pair_values[2] = scratch.biased[0]
        # Before the tau of shared documents, which uses the same memory.
        pair_values[4] = tau_of_union(
            scratch.first_rows, scratch.shared, count, other_count, scratch
        )
        pair_values[3] = tau_of_shared(longer, shorter, partners, scratch)
    return len(pairs.first)


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
            share = presence(depth, top, bottom, ties)
            overlaps[depth - 1] += share * presence(depth, other_top, other_bottom, ties)


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
    longer_size, shorter_size = size_at(longer, depth, ties), size_at(shorter, depth, ties)
    if ties == TIES_CORRECTED:
        return math.sqrt(longer_size) * math.sqrt(shorter_size)
    return (longer_size + shorter_size) / 2.0


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


@helper
def count_up_to(tree, rank):
    """The number of items in a Fenwick tree with at most this rank."""
    count = 0
    while rank > 0:
        count += tree[rank]
        rank &= rank - 1
    return count


@helper
def insert(tree, rank):
    """Add an item to a Fenwick tree, whose ranks are below its length."""
    while rank < len(tree):
        tree[rank] += 1
        rank += rank & -rank


@kernel("float64(int64[::1], int64[::1], int64[::1], int64[::1])")
def kendall_tau(first, second, tree, pairs):
    """Kendall's tau-b of two rankings of the same items, NaN if it is undefined.

    first: the ranks in the first ranking, ascending. second: those of the same items in the second,
    from 1 to len(tree) - 1. Equal ranks are ties. `pairs` becomes: concordant minus discordant
    pairs, pairs tied in the first, pairs tied in the second.
    """
    count = len(first)
    tree[:] = 0
    pairs[:] = 0
    start = 0
    while start < count:
        stop = start
        while stop < count and first[stop] == first[start]:
            below = count_up_to(tree, second[stop] - 1)
            above = start - count_up_to(tree, second[stop])
            pairs[0] += below - above
            pairs[1] += stop - start
            stop += 1
        for i in range(start, stop):
            pairs[2] += count_up_to(tree, second[i]) - count_up_to(tree, second[i] - 1)
            insert(tree, second[i])
        start = stop
    total = count * (count - 1) // 2
    if pairs[1] == total or pairs[2] == total:
        return math.nan
    # In the order of scipy's operations, so that the result is the same double.
    tau = pairs[0] / math.sqrt(total - pairs[1]) / math.sqrt(total - pairs[2])
    return min(1.0, max(-1.0, tau))
