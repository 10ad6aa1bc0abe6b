"""Rankings of documents that are all labelled, as learning to rank has them, judged."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.judging.judged_documents import make_keys
from fastrank.kernels.judging.rankings import count_judgments
from fastrank.kernels.simd.instructions import as_word
from fastrank.native.codes import FINE, LEVEL, MAX_RETRIEVED, SINGLE_PRECISION
from fastrank.native.declare import helper, kernel

# Documents up to which counting the better scores of each takes less time than a sort.
COUNTED_SINGLE, COUNTED_DOUBLE = 192, 64
# Scores that the processor compares at once: this many more than there are documents are read.
LANES = 8
# The values of a byte, the bytes of a score, and the first one of those that are not all zero in
# numbers of single precision.
VALUES, BYTES, FIRST_OF_SINGLE = 256, 8, 3
LARGEST = np.int64(2**63 - 1)


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
def make_words(keys, count, words):
    """Words whose bytes, from the last to the first, order documents by descending score."""
    for i in range(count):
        # -0.0 becomes 0.0.
        word = np.int64(as_word(keys[i] + 0.0))
        words[i] = word if word < 0 else word ^ LARGEST


@helper
def order_by_bytes(first, count, work):
    """Sort the documents by each byte of their words, from number `first` on; the sort is stable.

    Without a comparison, a step takes as long for any scores.
    """
    order, words = work.order, work.words
    other_order, other_words = work.other_order, work.other_words
    for i in range(count):
        order[i] = i
    for byte in range(first, BYTES):
        places = work.places[VALUES * byte : VALUES * (byte + 1)]
        places[:] = 0
        shift = 8 * byte
        for i in range(count):
            places[(words[i] >> shift) & 255] += 1
        if places[(words[0] >> shift) & 255] == count:
            continue
        place = 0
        for value in range(VALUES):
            documents = places[value]
            places[value] = place
            place += documents
        for i in range(count):
            value = (words[i] >> shift) & 255
            other_words[places[value]] = words[i]
            other_order[places[value]] = order[i]
            places[value] += 1
        words, other_words = other_words, words
        order, other_order = other_order, order
    for i in range(count):
        work.order[i] = order[i]


@helper
def descend(scores, count):
    """Whether no score is above the one before."""
    for i in range(1, count):
        if scores[i] > scores[i - 1]:
            return False
    return True


@helper
def order_documents(scores, count, single, work):
    """Put the documents of a query in order: descending scores, equal ones as they stand."""
    if single and count <= COUNTED_SINGLE:
        for i in range(count):
            work.singles[i] = np.float32(scores[i])
        order_by_counting(work.singles, count, work)
        return
    make_keys(scores, count, single, work.keys)
    if descend(work.keys, count):
        for i in range(count):
            work.order[i] = i
    elif count <= COUNTED_DOUBLE:
        order_by_counting(work.keys, count, work)
    else:
        make_words(work.keys, count, work.words)
        order_by_bytes(FIRST_OF_SINGLE if single else 0, count, work)


@kernel(
    "int64(int64[::1], float64[::1], int64[::1], int64[::1], int64[::1], LabelScratch, Rankings,"
    " int64[::1])"
)
def judge_labels(labels, scores, offsets, queries, options, scratch, rankings, problem):
    """Judge the rankings of the queries: each document is retrieved, and its label its grade.

    Returns how many were judged; problem[0] becomes FINE, or what is wrong with the next.
    """
    for i in range(len(queries)):
        start, stop = offsets[queries[i]], offsets[queries[i] + 1]
        count, grades = stop - start, labels[start:stop]
        order_documents(scores[start:stop], count, options[SINGLE_PRECISION] != 0, scratch)
        problem[0] = count_judgments(grades, options, i, rankings)
        if problem[0] != FINE:
            return i
        first, kept = rankings.offsets[i], min(count, options[MAX_RETRIEVED])
        relevant = 0
        for place in range(kept):
            grade = grades[scratch.order[place]]
            relevant += grade >= options[LEVEL]
            rankings.ranks[first + place], rankings.grades[first + place] = place + 1, grade
        rankings.offsets[i + 1] = first + kept
        rankings.num_ret[i], rankings.num_rel_ret[i] = kept, relevant
    problem[0] = FINE
    return len(queries)
