"""Rankings of documents that are all labelled, as learning to rank has them, judged."""

from __future__ import annotations

from fastrank.kernels.judging.judged_documents import make_keys
from fastrank.kernels.judging.listing import count_judgments, list_hits
from fastrank.kernels.texts.text import sort_if_needed_by
from fastrank.native.codes import FINE, MAX_RETRIEVED, SINGLE_PRECISION
from fastrank.native.declare import helper, kernel


@helper
def by_score(a, b, keys):
    """Higher score first; equal scores as they stand, for the sort is stable."""
    if keys[a] > keys[b]:
        return -1
    return 1 if keys[a] < keys[b] else 0


sort_if_needed = sort_if_needed_by(by_score)


@kernel(
    "int64(int64[::1], float64[::1], int64[::1], int64[::1], int64[::1],"
    " float64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1])"
)
def judge_labels(
    labels, scores, offsets, queries, options, keys, order, scratch,
    listed_offsets, ranks, codes, level_offsets, levels, level_counts,
    num_ret, num_rel, num_rel_ret, problem,
):  # fmt: skip
    """Judge the rankings of the queries: each document is retrieved, and its label its grade.

    Returns how many were judged; problem[0] becomes FINE, or what is wrong with the next.
    """
    for i in range(len(queries)):
        start, stop = offsets[queries[i]], offsets[queries[i] + 1]
        count, listed, level = stop - start, listed_offsets[i], level_offsets[i]
        make_keys(scores[start:stop], count, options[SINGLE_PRECISION] != 0, keys)
        for place in range(count):
            order[place] = place
        sort_if_needed(order, count, scratch, keys)
        for place in range(count):
            ranks[listed + place] = place + 1
        distinct, num_rel[i], problem[0] = count_judgments(
            labels[start:stop], options, i == 0, levels[level:], level_counts[level:]
        )
        if problem[0] != FINE:
            return i
        more, num_ret[i], num_rel_ret[i] = list_hits(
            (ranks[listed:], order),
            count,
            min(count, options[MAX_RETRIEVED]),
            labels[start:stop],
            options,
            ranks[listed:],
            codes[listed:],
        )
        listed_offsets[i + 1], level_offsets[i + 1] = listed + more, level + distinct
    problem[0] = FINE
    return len(queries)
