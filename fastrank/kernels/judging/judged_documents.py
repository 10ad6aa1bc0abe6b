"""The judged documents among the results of a query: which they are, and at what rank.

Only they need a rank: one more than the number of results that come before. Each is looked for by
its hash in an index of the results (kernels/judging/row_index.py), and the bytes decide whether it
is that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastrank.kernels.judging.row_index import REPEATED, find_hash, index_hashes, places_for
from fastrank.kernels.simd.instructions import trailing_zeros
from fastrank.kernels.texts.numbers import read_decimal
from fastrank.kernels.texts.text import are_equal, compare_texts, hash_text
from fastrank.native.codes import EXACT, HARD
from fastrank.native.declare import helper

U = np.uint64
ONE = U(1)


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


# What the searches below say when they leave a query to the general path.
GIVEN_UP = -1
# Hits up to which counting better scores for each is cheaper than sorting all.
MOST_COUNTED = 256
# Hits up to which insertion sorts them soonest.
FEW_HITS = 8
# Places that have a bit in one word.
WORD = 64


@helper
def find_hits(docs, results, qrels, query, scratch, hits):
    """Find the judged documents of a query among its results, the first of `docs`.

    Hits become places in the results and rows of the query's judgments, in order. The hashes of the
    results are in the scratch. Returns how many, or GIVEN_UP if a document may be repeated.
    """
    text, starts, lengths = qrels.docs
    first, judged = qrels.offsets[query], qrels.offsets[query + 1] - qrels.offsets[query]
    index, columns = scratch.row_index, scratch.places
    judged_hashes = scratch.judged_hashes[:judged]
    for i in range(judged):
        judged_hashes[i] = np.int64(hash_text(text, starts[first + i], lengths[first + i]))
    if index_hashes(judged_hashes, index, columns) == REPEATED:
        return GIVEN_UP
    hashes = scratch.hashes[:results]
    base = index_hashes(hashes, index, columns)
    if base == REPEATED:
        return GIVEN_UP
    table = index.table[: places_for(hashes, index.table)]
    found = 0
    for i in range(judged):
        place = find_hash(judged_hashes[i], hashes, base, table, index.links)
        if place >= 0 and are_equal(docs, place, qrels.docs, first + i):
            hits.ranks[found], hits.rows[found] = place, i
            found += 1
    sort_by_place(hits, found, scratch.table, columns)
    return found


@helper
def note_tie(ties, low, high):
    """Note that a judged document is one of those at ranks low + 1 to high, which tie."""
    place = ties.count[0]
    ties.lows[place], ties.highs[place], ties.count[0] = low, high, place + 1


@helper
def count_equal(values, count, value):
    """How often a value occurs among the first `count`."""
    equal_ones = 0
    for i in range(count):
        equal_ones += values[i] == value
    return equal_ones


@helper
def rank_in_order(docs, scores, results, hits, found, single):
    """Ranks of the found documents where the scores descend.

    Hits come with places in the results, from 0. Among equal scores the document whose id sorts
    later ranks first. Not every score is read, only those around a hit. False if that takes too
    long, or if one of them is left to a slower reader.
    """
    text, ranks = docs.buffer, hits.ranks
    patience = 4 * results + 64
    hits.ties.count[0] = 0
    for h in range(found):
        place = ranks[h]
        status, own = score_at(text, scores, place, single)
        low, high = place, place + 1
        while low > 0:
            one, score = score_at(text, scores, low - 1, single)
            status |= one
            if score != own:
                break
            low -= 1
        while high < results:
            one, score = score_at(text, scores, high, single)
            status |= one
            if score != own:
                break
            high += 1
        patience -= high - low
        if patience < 0 or status != EXACT:
            return False
        rank = low + 1
        for i in range(low, high):
            rank += compare_texts(docs, i, place) > 0
        ranks[h] = rank
        if high - low > 1:
            note_tie(hits.ties, low, high)
    sort_by_rank(hits, found)
    return True


@helper
def rank_by_counting(docs, keys, results, hits, found):
    """The same for scores in any order, all of them read into `keys`."""
    ranks = hits.ranks
    if found > MOST_COUNTED:
        return False
    # Ids are compared among ties only; sorting compares each about so often.
    patience = 16 * results
    hits.ties.count[0] = 0
    for h in range(found):
        place = ranks[h]
        own = keys[place]
        rank, ties = 1, 0
        for i in range(results):
            rank += keys[i] > own
            ties += keys[i] == own
        if ties > 1:
            note_tie(hits.ties, rank - 1, rank - 1 + ties)
            patience -= ties
            if patience < 0:
                return False
            for i in range(results):
                if keys[i] == own:
                    rank += compare_texts(docs, i, place) > 0
        ranks[h] = rank
    # The places are done with: from here on ranks only.
    sort_by_rank(hits, found)
    return True


@helper
def score_at(text, scores, i, single):
    """Score i as the comparison of scores sees it: trec_eval 9.0.8 holds scores as C floats.

    First comes whether that is the score: descending scores need not all be EXACT.
    """
    starts, lengths = scores
    status, score = read_decimal(text, starts[i], starts[i] + lengths[i])
    return status & HARD, np.float64(np.float32(score)) if single else score


@helper
def read_scores(text, scores, results, values, refused):
    """Read all scores; False if one is left to a slower reader, or refused (state[REFUSED])."""
    starts, lengths = scores
    status = EXACT
    for i in range(results):
        one, values[i] = read_decimal(text, starts[i], starts[i] + lengths[i])
        status |= one
    return status & refused == EXACT


@helper
def make_keys(scores, results, single, keys):
    """Scores as they are compared (see `score_at`); False if one is not a number."""
    for i in range(results):
        keys[i] = np.float32(scores[i]) if single else scores[i]
    missing = 0
    for i in range(results):
        missing += keys[i] != keys[i]
    return missing == 0


@helper
def sort_by_place(hits, found, words, row_of):
    """Put hits in the order of their places: few by insertion, more by way of a bit for each place.

    words and row_of are scratch.
    """
    places, rows = hits.ranks, hits.rows
    if found <= FEW_HITS:
        sort_by_rank(hits, found)
        return
    last = 0
    for h in range(found):
        last = max(last, places[h])
    words[: last // WORD + 1] = 0
    for h in range(found):
        place = places[h]
        words[place // WORD] |= np.int64(ONE << U(place % WORD))
        row_of[place] = rows[h]
    sorted_ones = 0
    for word in range(last // WORD + 1):
        bits = U(words[word])
        while bits != 0:
            place = word * WORD + trailing_zeros(bits)
            places[sorted_ones], rows[sorted_ones] = place, row_of[place]
            sorted_ones += 1
            bits &= bits - ONE


@helper
def sort_by_rank(hits, count):
    """Insertion sort: the hits of an ordered run are in order but for ties, others are few."""
    ranks, rows = hits.ranks, hits.rows
    for i in range(1, count):
        rank, row = ranks[i], rows[i]
        j = i
        while j > 0 and ranks[j - 1] > rank:
            ranks[j], rows[j] = ranks[j - 1], rows[j - 1]
            j -= 1
        ranks[j], rows[j] = rank, row
