"""Rankings of documents that are all labelled, as learning to rank has them, judged."""

from __future__ import annotations

from fastrank.kernels.judging.judged_documents import make_keys
from fastrank.kernels.judging.rankings import count_judgments, list_hits
from fastrank.kernels.texts.text import sort_if_needed_by
from fastrank.native.codes import FINE, MAX_RETRIEVED, SINGLE_PRECISION
from fastrank.native.declare import helper, kernel
from fastrank.native.records import Hits


@helper
def by_score(a, b, keys):
    """Higher score first; equal scores as they stand, for the sort is stable."""
    if keys[a] > keys[b]:
        return -1
    return 1 if keys[a] < keys[b] else 0


sort_if_needed = sort_if_needed_by(by_score)


@kernel(
    "int64(int64[::1], float64[::1], int64[::1], int64[::1], int64[::1], RankingScratch, Rankings,"
    " int64[::1])"
)
def judge_labels(labels, scores, offsets, queries, options, scratch, rankings, problem):
    """Judge the rankings of the queries: each document is retrieved, and its label its grade.

    Returns how many were judged; problem[0] becomes FINE, or what is wrong with the next.
    """
    keys, order, merge = scratch
    for i in range(len(queries)):
        start, stop = offsets[queries[i]], offsets[queries[i] + 1]
        count, grades = stop - start, labels[start:stop]
        make_keys(scores[start:stop], count, options[SINGLE_PRECISION] != 0, keys)
        for place in range(count):
            order[place] = place
        sort_if_needed(order, count, merge, keys)
        ranks = rankings.ranks[rankings.offsets[i] :]
        for place in range(count):
            ranks[place] = place + 1
        problem[0] = count_judgments(grades, options, i, rankings)
        if problem[0] != FINE:
            return i
        kept = min(count, options[MAX_RETRIEVED])
        list_hits(Hits(ranks, order), count, kept, grades, options, i, rankings)
    problem[0] = FINE
    return len(queries)
