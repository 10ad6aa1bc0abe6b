"""Rankings of documents that are all labelled, as learning to rank has them, judged."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.judging.rankings import count_judgments
from fastrank.kernels.judging.ranks import IN_ANY_ORDER, make_keys, order_of, sort_scores
from fastrank.native.codes import FINE
from fastrank.native.declare import helper, kernel

# Documents up to which counting the better scores of each takes less time than a sort.
COUNTED_SINGLE, COUNTED_DOUBLE = 192, 64
# Scores that the processor compares at once: this many more than there are documents are read.
LANES = 8


@helper
def order_by_counting(keys, count, work):
    """Put the documents in order, equal scores as they stand: those with one score have equally
    many above them. There is room for keys behind the last.
    """
    above, taken = work.above, work.places
    read = (count + LANES - 1) // LANES * LANES
    keys[count:read] = -np.inf
    above[:read] = 0
    taken[:count] = 0
    # Four scores are compared with all, which the processor takes eight at a time.
    for i in range(0, read, 4):
        first, second, third, fourth = keys[i], keys[i + 1], keys[i + 2], keys[i + 3]
        for other in range(read):
            key = keys[other]
            better = above[other] + (first > key) + (second > key)
            above[other] = np.int32(better + (third > key) + (fourth > key))
    for i in range(count):
        rank = np.int64(above[i])
        work.order[rank + taken[rank]] = i
        taken[rank] += 1


@helper
def order_documents(scores, count, single, work):
    """Put the documents of a query in order: descending scores, equal ones as they stand."""
    if single and count <= COUNTED_SINGLE:
        for i in range(count):
            work.singles[i] = np.float32(scores[i])
        order_by_counting(work.singles, count, work)
        return
    make_keys(scores, count, single, work.keys)
    if order_of(work.keys[:count]) != IN_ANY_ORDER:
        for i in range(count):
            work.order[i] = i
    elif count <= COUNTED_DOUBLE:
        order_by_counting(work.keys, count, work)
    else:
        sort_scores(work.keys[:count], single, work)


@kernel(
    "int64(int64[::1], float64[::1], int64[::1], int64[::1], RankingOptions, LabelScratch,"
    " Rankings, int64[::1])"
)
def judge_labels(labels, scores, offsets, queries, options, scratch, rankings, problem):
    """Judge the rankings of the queries: each document is retrieved, and its label its grade.

    Returns how many were judged; problem[0] becomes FINE, or what is wrong with the next.
    """
    for i in range(len(queries)):
        start, stop = offsets[queries[i]], offsets[queries[i] + 1]
        count, grades = stop - start, labels[start:stop]
        order_documents(scores[start:stop], count, options.single_precision != 0, scratch)
        problem[0] = count_judgments(grades, options, i, rankings)
        if problem[0] != FINE:
            return i
        first, kept = rankings.offsets[i], min(count, options.max_retrieved)
        relevant = 0
        for place in range(kept):
            grade = grades[scratch.order[place]]
            relevant += grade >= options.level
            rankings.ranks[first + place], rankings.grades[first + place] = place + 1, grade
        rankings.offsets[i + 1] = first + kept
        rankings.num_ret[i], rankings.num_rel_ret[i] = kept, relevant
    problem[0] = FINE
    return len(queries)
