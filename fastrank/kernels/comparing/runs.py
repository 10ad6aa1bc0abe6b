"""Two runs compared query by query."""

from __future__ import annotations

import math

from fastrank.kernels.comparing.concordance import kendall_tau
from fastrank.kernels.comparing.rank_biased_overlap import rank_biased_overlap
from fastrank.kernels.judging.memory import join, rank_documents
from fastrank.native.codes import (
    FINE,
    LARGER_ID_FIRST,
    OVERLAP_DEPTH,
    OVERLAP_SINGLE_PRECISION,
    OVERLAP_TIES,
    OVERLAP_VALUES,
)
from fastrank.native.declare import helper, kernel
from fastrank.native.records.comparing import TiedRanks


@helper
def rank_query(run, place, single, scratch):
    """Rank the results of a query as trec_eval does: its first row, and its ranks with ties."""
    keys, order, _ = scratch.ranking
    tops, bottoms = scratch.ranks
    start = run.offsets[place] if place >= 0 else 0
    count = run.offsets[place + 1] - start if place >= 0 else 0
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
def pair_documents(found, first_order, second_count, by_row, depth, partners, swap):
    """partners[r] = the place of the document at place r of one ranking in the other, or -1.

    found: for each place of the second ranking its row in the first, or -1. swap: `partners` is
    about the places of the first ranking. Returns the shared documents among the first `depth`.
    """
    partners[:] = -1
    for place in range(len(first_order)):
        by_row[first_order[place]] = place
    shared = 0
    for place in range(second_count):
        if found[place] >= 0:
            other = by_row[found[place]]
            shared += place < depth and other < depth
            if swap:
                partners[other] = place
            else:
                partners[place] = other
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
def tau_of_union(found, by_row, count, other_count, scratch):
    """Kendall's tau of the first ranking and the second, as places in the union of both.

    The union has the documents of the first ranking, then the others in the order of the second.
    """
    compared = min(count, other_count)
    places, union = scratch.shared_partners, count
    for i in range(compared):
        if found[i] >= 0:
            places[i] = by_row[found[i]] + 1
        else:
            union += 1
            places[i] = union
    for i in range(compared):
        by_row[i] = i
    return kendall_tau(
        by_row[:compared], places[:compared], scratch.tree[: union + 1], scratch.pairs
    )


@kernel("int64(Run, Run, RankingPairs, int64[::1], float64[::1], OverlapScratch, float64[::1])")
def compare_rankings(first, second, pairs, options, persistence, scratch, values):
    """Five values for each pair: shared documents, Jaccard index, extrapolated RBO, tau, KTU.

    Stops at the first query in which a document appears twice, says so in
    scratch.problem, and returns the number of queries before it.
    """
    single = options[OVERLAP_SINGLE_PRECISION] != 0
    depth = options[OVERLAP_DEPTH]
    for i in range(len(pairs.first)):
        start, ranks = rank_query(first, pairs.first[i], single, scratch.first)
        other_start, other_ranks = rank_query(second, pairs.second[i], single, scratch.second)
        count, other_count = len(ranks.tops), len(other_ranks.tops)
        scratch.problem[0] = join(
            first.docs, start, count, second.docs, other_start, scratch.second.ranking.order,
            other_count, scratch.table, scratch.found, scratch.problem,
        )  # fmt: skip
        if scratch.problem[0] != FINE:
            return i
        swap = count > other_count
        shorter, longer = (other_ranks, ranks) if swap else (ranks, other_ranks)
        partners = scratch.partners[: len(longer.tops)]
        shared = pair_documents(
            scratch.found, scratch.first.ranking.order[:count], other_count, scratch.shared, depth,
            partners, swap,
        )  # fmt: skip
        rank_biased_overlap(
            shorter, longer, partners, persistence, options[OVERLAP_TIES], 1,
            scratch.overlaps, scratch.biased,
        )  # fmt: skip
        distinct = min(count, depth) + min(other_count, depth) - shared
        own = values[i * OVERLAP_VALUES : (i + 1) * OVERLAP_VALUES]
        own[0] = shared
        own[1] = shared / distinct if distinct > 0 else math.nan
        own[2] = scratch.biased[0]
        # Before the tau of shared documents, which uses the same memory.
        own[4] = tau_of_union(scratch.found, scratch.shared, count, other_count, scratch)
        own[3] = tau_of_shared(longer, shorter, partners, scratch)
    return len(pairs.first)
