"""What the parts of a run gave, put together in the order in which queries are evaluated."""

from __future__ import annotations

from fastrank.kernels.judging.rankings import count_judgments
from fastrank.native.codes import FINE
from fastrank.native.declare import kernel


@kernel("int64(int64, int64[::1])")
def is_in_two_parts(parts, part_firsts):
    """Whether two parts have results of the same query."""
    queries = len(part_firsts) // parts
    for query in range(queries):
        found = 0
        for part in range(parts):
            found += part_firsts[part * queries + query] != 0
        if found > 1:
            return 1
    return 0


@kernel(
    "int64(int64[::1], int64, StreamedRankings, Qrels, int64[::1], int64[::1], RankingsAndTies)"
)
def gather_judged(order, parts, streamed, qrels, options, queries, judged):
    """Gather the queries of `order` that have results; returns how many.

    Each of the `parts` has its own stretch of the streamed columns. queries[i] becomes the i-th
    query that has results. -1: a query cannot be evaluated.
    """
    rankings, ties = judged
    offsets = rankings.offsets
    room = len(streamed.ranks) // parts
    everything = len(streamed.first_listed) // parts
    gathered = 0
    for query in order:
        part = 0
        while part < parts and streamed.first_listed[part * everything + query] == 0:
            part += 1
        if part == parts:
            continue
        place = part * everything + query
        queries[gathered] = query
        grades = qrels.grades[qrels.offsets[query] : qrels.offsets[query + 1]]
        if count_judgments(grades, options, gathered, rankings) != FINE:
            return -1
        rankings.num_ret[gathered] = streamed.num_ret[place]
        rankings.num_rel_ret[gathered] = streamed.num_rel_ret[place]
        first, listed = part * room + streamed.first_listed[place] - 1, offsets[gathered]
        for i in range(streamed.listed_counts[place]):
            rankings.ranks[listed] = streamed.ranks[first + i]
            rankings.grades[listed] = streamed.grades[first + i]
            listed += 1
        tied = ties.offsets[gathered]
        first = part * room + qrels.offsets[query]
        for i in range(streamed.tie_counts[place]):
            ties.lows[tied], ties.highs[tied] = streamed.lows[first + i], streamed.highs[first + i]
            tied += 1
        gathered += 1
        ties.offsets[gathered] = tied
        offsets[gathered] = listed
    return gathered
