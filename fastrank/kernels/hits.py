"""The judged documents among the results of a query: which they are, and at what rank.

Only they need a rank: one more than the number of results that come before. A filter of two bits
per document, set beforehand for the judged ones, is passed by the judged, by repeated documents
and by a few others; the bytes decide which of them a document is.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.numbers import EXACT, read_decimal
from fastrank.kernels.text import compare, equal, hash_text, table_mask
from fastrank.native.declare import helper, inlined

U = np.uint64
ZERO, ONE, SIX, LOW_SIX = U(0), U(1), U(6), U(63)
# What the searches below say when they leave a query to the general path.
GIVEN_UP = -1
# Hits up to which counting better scores for each is cheaper than sorting all.
MOST_COUNTED = 256
# Suspects up to which looking for each among all results is cheaper than a second filter.
FEW = 8


@inlined
def filter_bits(value):
    """The two bits of a document in its word of the filter."""
    return ONE << (value & LOW_SIX) | ONE << (value >> SIX & LOW_SIX)


@inlined
def filter_word(value, mask):
    """The word of the filter in which a document has its bits."""
    return value >> U(32) & mask


@helper
def find_hits(run, hashes, results, judgments, first, judged, scratch, hits):
    """Find the judged documents among the results; how many, or GIVEN_UP if one may be repeated.

    `judgments` are buffer, starts and lengths of the judged documents, this query's from row
    `first` on. hits = (places, rows) become places in the results and rows from `first`, in order.
    `scratch` = (filter, table, suspects): as many words as half the documents, twice as many places
    as judged documents, and as many as results, each rounded up to a power of two.
    """
    text, starts, lengths = run
    judged_text, judged_starts, judged_lengths = judgments
    words, table, suspects = scratch
    places, rows = hits
    word_mask = U(table_mask((results + judged) // 4))
    words[: np.int64(word_mask) + 1] = 0
    mask = table_mask(judged)
    table[: mask + 1] = 0
    for i in range(judged):
        row = first + i
        value = hash_text(judged_text, judged_starts[row], judged_lengths[row])
        words[filter_word(value, word_mask)] |= np.int64(filter_bits(value))
        slot = np.int64(value & U(mask))
        while table[slot] != 0:
            other = first + table[slot] - 1
            if equal(
                judged_text,
                judged_starts[row],
                judged_lengths[row],
                judged_text,
                judged_starts[other],
                judged_lengths[other],
            ):
                return GIVEN_UP
            slot = (slot + 1) & mask
        table[slot] = i + 1
    suspected = 0
    for i in range(results):
        value = U(hashes[U(i)])
        at = filter_word(value, word_mask)
        bits = filter_bits(value)
        word = U(words[at])
        words[at] = np.int64(word | bits)
        suspects[U(suspected)] = i
        suspected += word & bits == bits
    found = unknown = 0
    for s in range(suspected):
        i = suspects[s]
        slot = np.int64(U(hashes[i]) & U(mask))
        row = 0
        while table[slot] != 0:
            row = abs(table[slot])
            at = first + row - 1
            if equal(
                text, starts[i], lengths[i], judged_text, judged_starts[at], judged_lengths[at]
            ):
                break
            row = 0
            slot = (slot + 1) & mask
        if row == 0:
            suspects[unknown] = i
            unknown += 1
        elif table[slot] < 0:
            return GIVEN_UP
        else:
            table[slot] = -row
            places[found], rows[found] = i, row - 1
            found += 1
    if may_repeat(hashes, results, suspects, unknown, words, word_mask):
        return GIVEN_UP
    return found


@helper
def may_repeat(hashes, results, suspects, unknown, words, word_mask):
    """Whether one of the suspects, which are not judged, may occur twice among the results.

    With the suspects alone in the filter, hardly anything but themselves passes it again.
    """
    if unknown <= FEW:
        for s in range(unknown):
            if count_equal(hashes, suspects[s], hashes[suspects[s]]) > 0:
                return True
        return False
    words[: np.int64(word_mask) + 1] = 0
    for s in range(unknown):
        value = U(hashes[suspects[s]])
        words[filter_word(value, word_mask)] |= np.int64(filter_bits(value))
    passed = 0
    for i in range(results):
        value = U(hashes[i])
        bits = filter_bits(value)
        passed += U(words[filter_word(value, word_mask)]) & bits == bits
    return passed > unknown


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
def sort_by_rank(ranks, rows, count):
    """Insertion sort: the hits of an ordered run are in order but for ties, others are few."""
    for i in range(1, count):
        rank, row = ranks[i], rows[i]
        j = i
        while j > 0 and ranks[j - 1] > rank:
            ranks[j], rows[j] = ranks[j - 1], rows[j - 1]
            j -= 1
        ranks[j], rows[j] = rank, row
