"""The judged documents among the results of a query: which they are, and at what rank.

Only they need a rank: one more than the number of results that come before. Each is looked for by
its hash in an index of the results (kernels/judging/row_index.py), and the bytes decide whether it
is that.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.judging.row_index import REPEATED, find_hash, index_hashes, places_for
from fastrank.kernels.simd.instructions import trailing_zeros
from fastrank.kernels.texts.numbers import EXACT, read_decimal
from fastrank.kernels.texts.text import compare, equal, hash_text
from fastrank.native.declare import helper

U = np.uint64
ONE = U(1)
# What the searches below say when they leave a query to the general path.
GIVEN_UP = -1
# Hits up to which counting better scores for each is cheaper than sorting all.
MOST_COUNTED = 256
# Hits up to which insertion sorts them soonest.
FEW_HITS = 8
# Places that have a bit in one word.
WORD = 64


@helper
def find_hits(run, hashes, results, judgments, first, judged, scratch, hits):
    """Find the judged documents among the results; how many, or GIVEN_UP if one may be repeated.

    `judgments` are buffer, starts and lengths of the judged documents, this query's from row
    `first` on. hits = (places, rows) become places in the results and rows from `first`, in order.
    """
    text, starts, lengths = run
    judged_text, judged_starts, judged_lengths = judgments
    words, judged_hashes, columns, index = scratch
    places, rows = hits
    for i in range(judged):
        row = first + i
        judged_hashes[i] = np.int64(hash_text(judged_text, judged_starts[row], judged_lengths[row]))
    if index_hashes(judged_hashes[:judged], index, columns) == REPEATED:
        return GIVEN_UP
    hashes = hashes[:results]
    base = index_hashes(hashes, index, columns)
    if base == REPEATED:
        return GIVEN_UP
    table, links = index[0][: places_for(hashes, index[0])], index[1]
    found = 0
    for i in range(judged):
        row = first + i
        place = find_hash(judged_hashes[i], hashes, base, table, links)
        if place >= 0 and equal(
            text,
            starts[place],
            lengths[place],
            judged_text,
            judged_starts[row],
            judged_lengths[row],
        ):
            places[found], rows[found] = place, i
            found += 1
    sort_by_place(places, rows, found, words, columns)
    return found


@helper
def count_equal(values, count, value):
    """How often a value occurs among the first `count`."""
    equal_ones = 0
    for i in range(count):
        equal_ones += values[i] == value
    return equal_ones


@helper
def rank_in_order(run, scores, results, hits, found, single):
    """Ranks of the found documents where the scores descend.

    hits = (ranks, rows): in come places in the results, from 0. Among equal scores the document
    whose id sorts later ranks first. Not every score is read, only those around a hit. False if
    that takes too long, or if one of them is left to a slower reader.
    """
    text, starts, lengths = run
    ranks, rows = hits
    patience = 4 * results + 64
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
            rank += compare(text, starts[i], lengths[i], text, starts[place], lengths[place]) > 0
        ranks[h] = rank
    sort_by_rank(ranks, rows, found)
    return True


@helper
def rank_by_counting(run, keys, results, hits, found):
    """The same for scores in any order, all of them read into `keys`."""
    text, starts, lengths = run
    ranks, rows = hits
    if found > MOST_COUNTED:
        return False
    # Ids are compared among ties only; sorting compares each about so often.
    patience = 16 * results
    for h in range(found):
        place = ranks[h]
        own = keys[place]
        rank, ties = 1, 0
        for i in range(results):
            rank += keys[i] > own
            ties += keys[i] == own
        if ties > 1:
            patience -= ties
            if patience < 0:
                return False
            for i in range(results):
                if keys[i] == own:
                    rank += (
                        compare(text, starts[i], lengths[i], text, starts[place], lengths[place])
                        > 0
                    )
        ranks[h] = rank
    # The places are done with: from here on ranks only.
    sort_by_rank(ranks, rows, found)
    return True


@helper
def score_at(text, scores, i, single):
    """Score i as the comparison of scores sees it: trec_eval 9.0.8 holds scores as C floats.

    First comes whether that is the score: descending scores need not all be EXACT.
    """
    starts, lengths = scores
    status, score = read_decimal(text, starts[i], starts[i] + lengths[i])
    return status, np.float64(np.float32(score)) if single else score


@helper
def read_scores(text, scores, results, values):
    """Read all scores; False if one is left to a slower reader."""
    starts, lengths = scores
    status = EXACT
    for i in range(results):
        one, values[i] = read_decimal(text, starts[i], starts[i] + lengths[i])
        status |= one
    return status == EXACT


@helper
def make_keys(scores, results, single, keys):
    """Scores as they are compared (see `score_at`); False if one is no number."""
    for i in range(results):
        keys[i] = np.float32(scores[i]) if single else scores[i]
    missing = 0
    for i in range(results):
        missing += keys[i] != keys[i]
    return missing == 0


@helper
def sort_by_place(places, rows, found, words, row_of):
    """Put hits in the order of their places: few by insertion, more by way of a bit for each place.

    words and row_of are scratch.
    """
    if found <= FEW_HITS:
        sort_by_rank(places, rows, found)
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
def sort_by_rank(ranks, rows, count):
    """Insertion sort: the hits of an ordered run are in order but for ties, others are few."""
    for i in range(1, count):
        rank, row = ranks[i], rows[i]
        j = i
        while j > 0 and ranks[j - 1] > rank:
            ranks[j], rows[j] = ranks[j - 1], rows[j - 1]
            j -= 1
        ranks[j], rows[j] = rank, row
