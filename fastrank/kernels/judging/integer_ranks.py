"""Ranks of some documents of a query, by scores and, where these tie, by integer ids as texts."""

from __future__ import annotations

from fastrank.kernels.judging.integer_ids import compare_written
from fastrank.kernels.judging.judged_documents import MOST_COUNTED, sort_by_rank
from fastrank.kernels.simd.compare import descends
from fastrank.kernels.texts.text import sort_by
from fastrank.native.declare import helper


@helper
def by_score_then_written_id(a, b, data):
    """Higher score first; of equal scores the one whose id, as text, sorts later."""
    ids, keys = data
    if keys[a] > keys[b]:
        return -1
    if keys[a] < keys[b]:
        return 1
    return compare_written(ids[b], ids[a])


sort_ranking = sort_by(by_score_then_written_id)


@helper
def find_disorder(keys):
    """Whether a score is above the one before, or no number; and whether one equals that before."""
    above = len(keys) == 1 and keys[0] != keys[0]
    same = False
    for i in range(1, len(keys)):
        above |= not keys[i] <= keys[i - 1]
        same |= keys[i] == keys[i - 1]
    return above, same


@helper
def first_without_number(keys):
    """The first place without a number, or -1."""
    for i in range(len(keys)):
        if keys[i] != keys[i]:
            return i
    return -1


@helper
def rank_in_order(ids, keys, places, found, ranks):
    """Ranks of the documents at the places, where scores descend; False if it takes too long."""
    patience = 16 * len(ids)
    for h in range(found):
        place = places[h]
        low, high = place, place + 1
        while low > 0 and keys[low - 1] == keys[place]:
            low -= 1
        while high < len(ids) and keys[high] == keys[place]:
            high += 1
        patience -= high - low - 1
        if patience < 0:
            return False
        ranks[h] = low + 1
        if high - low > 1:
            for i in range(low, high):
                ranks[h] += compare_written(ids[i], ids[place]) > 0
    return True


@helper
def rank_by_counting(ids, keys, places, found, ranks):
    """The same for scores in any order."""
    if found > MOST_COUNTED:
        return False
    patience = 16 * len(ids)
    for h in range(found):
        own = keys[places[h]]
        above = same = 0
        for i in range(len(ids)):
            above += keys[i] > own
            same += keys[i] == own
        ranks[h] = above + 1
        if same > 1:
            patience -= same
            if patience < 0:
                return False
            for i in range(len(ids)):
                if keys[i] == own:
                    ranks[h] += compare_written(ids[i], ids[places[h]]) > 0
    return True


@helper
def rank_by_sorting(ids, keys, hits, found, work):
    """Turn the places of the hits into ranks, best first, by sorting all documents."""
    ranks, rows = hits
    order, scratch, rows_before = work.order, work.places, work.columns
    for i in range(len(ids)):
        order[i] = i
    sort_ranking(order, len(ids), scratch, (ids, keys))
    scratch[: len(ids)] = 0
    for h in range(found):
        scratch[ranks[h]] = h + 1
        rows_before[h] = rows[h]
    emitted = 0
    for r in range(len(ids)):
        h = scratch[order[r]] - 1
        if h >= 0:
            ranks[emitted], rows[emitted] = r + 1, rows_before[h]
            emitted += 1


@helper
def rank_hits(ids, keys, hits, found, scratch):
    """Turn the places of the hits into ranks, best first; -1, or a place whose score is NaN."""
    places, order = hits.ranks, scratch.order
    above = same = False
    if not descends(keys):
        above, same = find_disorder(keys)
    if above:
        place = first_without_number(keys)
        if place >= 0:
            return place
    if not above and not same:
        for h in range(found):
            places[h] += 1
        return -1
    if not above:
        done = rank_in_order(ids, keys, places, found, order)
    else:
        done = rank_by_counting(ids, keys, places, found, order)
    if done:
        for h in range(found):
            places[h] = order[h]
        sort_by_rank(hits, found)
    else:
        rank_by_sorting(ids, keys, hits, found, scratch)
    return -1
