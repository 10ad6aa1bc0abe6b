"""The ranks of some results of a query: of each, one more than the number of those before it.

Higher scores come first; of equal scores, the document whose id sorts later (trec_eval's rule).
What a document is, only `compare` knows, which `ties_by` binds for each kind of them.

Hits, the results that need a rank, come with their positions among all, in order. These become
their positions in the order of the scores: the same where scores do not rise; otherwise, few hits
count the better scores, and more of them sort all. Then ids decide, once for each group of equal
scores with a hit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastrank.core.kernels.simd.compare import descends
from fastrank.core.kernels.simd.instructions import as_word, trailing_zeros
from fastrank.core.kernels.texts.text import sort_by
from fastrank.core.native.codes import SORT_BYTES
from fastrank.core.native.declare import helper, inlined
from fastrank.core.native.records import SortScratch

U = np.uint64
ONE = U(1)
# Scores as they stand: each below the one before, or none above it, or anything.
FALLING, NOT_RISING, IN_ANY_ORDER = range(3)
# Hits up to which counting better scores for each is cheaper than sorting all.
MOST_COUNTED = 128
# Hits up to which insertion sorts them soonest, and up to which ids are compared with each of them.
FEW_HITS = 8
# Positions that have a bit in one word.
WORD = 64
# The values of a byte, the bytes of a score, and the first one of those that are not all zero in
# numbers of single precision.
VALUES, BYTES, FIRST_OF_SINGLE = 256, 8, 3
LARGEST = np.int64(2**63 - 1)


class QueryTies(NamedTuple):
    """The ties of the judged documents of a query or of all so far, as in Ties: count[0]."""

    lows: np.ndarray
    highs: np.ndarray
    count: np.ndarray


class TiedHits(NamedTuple):
    """Hits, and their ties."""

    ranks: np.ndarray
    rows: np.ndarray
    ties: QueryTies


@helper
def note_tie(hits, low, high):
    """Note that a judged document is one of those at ranks low + 1 to high, which tie."""
    ties = hits.ties
    tie = ties.count[0]
    ties.lows[tie], ties.highs[tie], ties.count[0] = low, high, tie + 1


@inlined
def sort_scratch(memory, results):
    """Memory for ranking so many results, cut from one piece (codes.SORT_COLUMNS)."""
    return SortScratch(
        memory[:results],
        memory[results : 2 * results],
        memory[2 * results : 3 * results],
        memory[3 * results : 4 * results],
        memory[4 * results : 4 * results + SORT_BYTES],
    )


@helper
def make_keys(scores, results, single, keys):
    """Scores as they are compared: trec_eval 9.0.8 holds them as C floats; False if one is NaN."""
    for i in range(results):
        keys[i] = np.float32(scores[i]) if single else scores[i]
    missing = 0
    for i in range(results):
        missing += keys[i] != keys[i]
    return missing == 0


@helper
def order_of(keys):
    """FALLING, NOT_RISING, or IN_ANY_ORDER, which includes that one is NaN."""
    if descends(keys):
        return FALLING
    above = len(keys) == 1
    for i in range(1, len(keys)):
        above |= not keys[i] <= keys[i - 1]
    return IN_ANY_ORDER if above else NOT_RISING


@helper
def sort_scores(keys, single, work):
    """Put the results in order: descending scores, equal ones as they stand.

    Sorted by each byte of words that order them so, without a comparison: a step takes as long for
    any scores, of which none is NaN.
    """
    order, words = work.order, work.words
    other_order, other_words = work.other_order, work.other_words
    count = len(keys)
    for i in range(count):
        order[i] = i
        # -0.0 becomes 0.0.
        word = np.int64(as_word(np.float64(keys[i]) + 0.0))
        words[i] = word if word < 0 else word ^ LARGEST
    for byte in range(FIRST_OF_SINGLE if single else 0, BYTES):
        positions = work.positions[VALUES * byte : VALUES * (byte + 1)]
        positions[:] = 0
        shift = 8 * byte
        for i in range(count):
            positions[(words[i] >> shift) & 255] += 1
        if positions[(words[0] >> shift) & 255] == count:
            continue
        position = 0
        for value in range(VALUES):
            documents = positions[value]
            positions[value] = position
            position += documents
        for i in range(count):
            value = (words[i] >> shift) & 255
            other_words[positions[value]] = words[i]
            other_order[positions[value]] = order[i]
            positions[value] += 1
        words, other_words = other_words, words
        order, other_order = other_order, order
    for i in range(count):
        work.order[i] = order[i]


@helper
def put_in_order(keys, single, work):
    """`sort_scores`, where they may be in order already."""
    if order_of(keys) == IN_ANY_ORDER:
        sort_scores(keys, single, work)
    else:
        for i in range(len(keys)):
            work.order[i] = i


@helper
def sort_by_place(hits, hit_count, words, row_of):
    """Put hits in the order of their positions: few by insertion, more with a bit for each.

    words and row_of are scratch.
    """
    positions, rows = hits.ranks, hits.rows
    if hit_count <= FEW_HITS:
        insert_by_rank(hits, 0, hit_count)
        return
    last = 0
    for h in range(hit_count):
        last = max(last, positions[h])
    words[: last // WORD + 1] = 0
    for h in range(hit_count):
        position = positions[h]
        words[position // WORD] |= np.int64(ONE << U(position % WORD))
        row_of[position] = rows[h]
    sorted_ones = 0
    for word in range(last // WORD + 1):
        bits = U(words[word])
        while bits != 0:
            position = word * WORD + trailing_zeros(bits)
            positions[sorted_ones], rows[sorted_ones] = position, row_of[position]
            sorted_ones += 1
            bits &= bits - ONE


@helper
def insert_by_rank(hits, first, stop):
    """Sort hits first to stop - 1 by insertion."""
    ranks, rows = hits.ranks, hits.rows
    for i in range(first + 1, stop):
        rank, row = ranks[i], rows[i]
        j = i
        while j > first and ranks[j - 1] > rank:
            ranks[j], rows[j] = ranks[j - 1], rows[j - 1]
            j -= 1
        ranks[j], rows[j] = rank, row


@helper
def place_by_counting(keys, hits, hit_count, work):
    """Let hits have their positions in the order of the scores, equal ones as they stand.

    work.order gets the results at these positions and those with equal scores, and -1 elsewhere.
    """
    positions, order, position_of = hits.ranks, work.order, work.other_words
    order[: len(keys)] = -1
    for h in range(hit_count):
        score = keys[positions[h]]
        above = equal = 0
        for i in range(len(keys)):
            above += keys[i] > score
            equal += keys[i] == score
        if equal == 1:
            order[above] = positions[h]
            positions[h] = above
            continue
        if order[above] < 0:
            position = above
            for i in range(len(keys)):
                if keys[i] == score:
                    order[position], position_of[i] = i, position
                    position += 1
        positions[h] = position_of[positions[h]]
    sort_by_place(hits, hit_count, work.other_order, work.words)


@helper
def place_by_sorting(keys, single, hits, hit_count, work):
    """The same by sorting all scores, all of whose results work.order gets."""
    positions, rows = hits.ranks, hits.rows
    sort_scores(keys, single, work)
    marks = work.other_words
    marks[: len(keys)] = 0
    for h in range(hit_count):
        marks[positions[h]] = rows[h] + 2
    done = position = 0
    while done < hit_count:
        mark = marks[work.order[position]]
        if mark != 0:
            positions[done], rows[done] = position, mark - 2
            done += 1
        position += 1


@inlined
def always(docs, i):
    return True


@inlined
def score_in_place(keys, order, i):
    """The score of result i, where results are in order."""
    return keys[i]


@inlined
def score_in_order(keys, order, i):
    """The score at a position in the order; NaN, which equals nothing, where the order has none."""
    result = order[i]
    return np.float64(keys[result]) if result >= 0 else np.nan


def ties_by(compare, make_comparable=always):
    """Make what ranks hits with equal scores by their ids.

    `rank_ties(docs, group, above, hits, first, stop, work)`, for hits first to stop - 1, which are
    in a group of results with equal scores; `above` others have better ones. `compare(docs, a, b)`
    is negative, zero or positive as in C for results a and b. `make_comparable(docs, i)` is called
    for each before that, and may refuse: then this returns False. The ties are noted.
    """

    @helper
    def by_id(a, b, docs):
        return compare(docs, b, a)

    sort_by_id = sort_by(by_id)

    @helper
    def rank_ties(docs, group, above, hits, first, stop, work):
        positions, rows = hits.ranks, hits.rows
        if len(group) == 1:
            positions[first] = above + 1
            return True
        note_tie(hits, above, above + len(group))
        for result in group:
            if not make_comparable(docs, result):
                return False
        if stop - first <= FEW_HITS:
            for h in range(first, stop):
                hit, rank = group[positions[h] - above], above + 1
                for result in group:
                    rank += compare(docs, result, hit) > 0
                positions[h] = rank
            insert_by_rank(hits, first, stop)
            return True
        marks = work.other_words
        for result in group:
            marks[result] = 0
        for h in range(first, stop):
            marks[group[positions[h] - above]] = rows[h] + 2
        sort_by_id(group, len(group), work.other_order, docs)
        for i in range(len(group)):
            mark = marks[group[i]]
            if mark != 0:
                positions[first], rows[first] = above + 1 + i, mark - 2
                first += 1
        return True

    return rank_ties


def groups_by(rank_ties, score_at, in_order):
    """Make what ranks hits by their positions in the order of scores, one tie group after another.

    `rank_groups(docs, keys, results, hits, hit_count, work)`. `score_at(keys, order, i)` reads
    scores, only those around a hit. in_order: the positions are those of the results, and NaN is a
    score that cannot be read: then this returns False, as where ids cannot be compared.
    """

    @helper
    def rank_groups(docs, keys, results, hits, hit_count, work):
        positions, order = hits.ranks, work.order
        h = 0
        while h < hit_count:
            low = positions[h]
            score = score_at(keys, order, low)
            high, before, after = low + 1, score, score
            while low > 0:
                before = score_at(keys, order, low - 1)
                if before != score:
                    break
                low -= 1
            while high < results:
                after = score_at(keys, order, high)
                if after != score:
                    break
                high += 1
            if in_order:
                if score != score or before != before or after != after:
                    return False
                for i in range(low, high):
                    order[i] = i
            stop = h + 1
            while stop < hit_count and positions[stop] < high:
                stop += 1
            if not rank_ties(docs, order[low:high], low, hits, h, stop, work):
                return False
            h = stop
        return True

    return rank_groups


def ranker_by(rank_ties):
    """A function `rank(docs, keys, order, single, hits, hit_count, work)`, for numeric scores.

    Hits, which come with their positions among the results, in order, get ranks and are put in the
    order of these; False if ids cannot be compared. order: that of the scores, by `order_of`.
    single: scores have single precision. work: from `sort_scratch`. rank_ties: from `ties_by`.
    """
    rank_in_place = groups_by(rank_ties, score_in_place, True)
    rank_in_order = groups_by(rank_ties, score_in_order, False)

    @helper
    def rank(docs, keys, order, single, hits, hit_count, work):
        if order == FALLING:
            for h in range(hit_count):
                hits.ranks[h] += 1
            return True
        if order == NOT_RISING:
            return rank_in_place(docs, keys, len(keys), hits, hit_count, work)
        if hit_count <= MOST_COUNTED:
            place_by_counting(keys, hits, hit_count, work)
        else:
            place_by_sorting(keys, single, hits, hit_count, work)
        return rank_in_order(docs, keys, len(keys), hits, hit_count, work)

    return rank
