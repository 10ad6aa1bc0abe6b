"""Ranks of judged documents in a ranking that is a dict, by scores and, where these tie, by ids.

trec_eval's order: of equal scores, the document whose id sorts later ranks first.
"""

from __future__ import annotations

from fastrank.kernels.judging.dict_index import compare_texts, text_of
from fastrank.kernels.judging.judged_documents import count_equal, note_tie
from fastrank.kernels.texts.text import sort_by, sort_if_needed_by
from fastrank.native.declare import helper

# Comparisons of ids up to which counting is cheaper than sorting a group of ties.
FEW_COMPARISONS = 64


@helper
def by_score_then_text(a, b, data):
    """Higher score first; of equal scores the document whose id sorts later."""
    scores, texts, lengths = data
    if scores[a] > scores[b]:
        return -1
    if scores[a] < scores[b]:
        return 1
    return compare_texts(texts[b], lengths[b], texts[a], lengths[a])


sort_ranking = sort_by(by_score_then_text)


@helper
def by_rank(a, b, ranks):
    return ranks[a] - ranks[b]


sort_ranks_if_needed = sort_if_needed_by(by_rank)


@helper
def search(keys, own, past_equal):
    """Where, in descending order, the first score below `own` stands, or the first not above."""
    low, high = 0, len(keys)
    while low < high:
        middle = low + (high - low) // 2
        if keys[middle] > own or (past_equal and keys[middle] == own):
            low = middle + 1
        else:
            high = middle
    return low


@helper
def count_greater(keys, own):
    greater = 0
    for i in range(len(keys)):
        greater += keys[i] > own
    return greater


@helper
def read_texts(api, low, high, scratch):
    """Find the UTF-8 of some results; False if one has none."""
    for i in range(low, high):
        scratch.texts[i], scratch.lengths[i] = text_of(api, scratch.docs[i])
        if scratch.texts[i] == 0:
            return False
    return True


@helper
def sort_results(low, high, scratch):
    """Put the ranks of some results, among which all ties are, into `positions`."""
    order = scratch.order
    for i in range(low, high):
        order[i - low] = i
    data = scratch.scores, scratch.texts, scratch.lengths
    sort_ranking(order, high - low, scratch.merge, data)
    for i in range(high - low):
        scratch.positions[order[i]] = low + 1 + i


@helper
def rank_ties(low, high, first, stop, scratch):
    """Ranks of the hits first to stop - 1, all among results low to high - 1 of one score."""
    texts, lengths, places, ranks = (
        scratch.texts, scratch.lengths, scratch.places, scratch.hits.ranks,
    )  # fmt: skip
    if (stop - first) * (high - low) > FEW_COMPARISONS:
        sort_results(low, high, scratch)
        for h in range(first, stop):
            ranks[h] = scratch.positions[places[h]]
        return
    for h in range(first, stop):
        place, rank = places[h], low + 1
        for i in range(low, high):
            rank += compare_texts(texts[i], lengths[i], texts[place], lengths[place]) > 0
        ranks[h] = rank


@helper
def find_ends(scores, order, results, lows, highs):
    """For each place in the order, where the results of its score begin and end."""
    low = 0
    while low < results:
        high = low + 1
        while high < results and scores[order[high]] == scores[order[low]]:
            high += 1
        for place in range(low, high):
            lows[place], highs[place] = low, high
        low = high


@helper
def note_ties(results, found, scratch, ties):
    """Note the ties of the hits, after `sort_results` for all results."""
    scores, order, lows, highs = scratch.scores, scratch.order, scratch.merge, scratch.positions
    ended = False
    for h in range(found):
        place = scratch.hits.ranks[h] - 1
        own = scores[order[place]]
        if (place > 0 and scores[order[place - 1]] == own) or (
            place + 1 < results and scores[order[place + 1]] == own
        ):
            if not ended:
                find_ends(scores, order, results, lows, highs)
                ended = True
            note_tie(ties, lows[place], highs[place])


@helper
def rank_places(api, results, found, descends, scratch, ties):
    """Ranks of the hits at known places; False if ids cannot be compared."""
    scores, places, ranks = scratch.scores, scratch.places, scratch.hits.ranks
    if not descends:
        if not read_texts(api, 0, results, scratch):
            return False
        sort_results(0, results, scratch)
        for h in range(found):
            ranks[h] = scratch.positions[places[h]]
        note_ties(results, found, scratch, ties)
        return True
    h = 0
    while h < found:
        low = places[h]
        high, own = low + 1, scores[low]
        while low > 0 and scores[low - 1] == own:
            low -= 1
        while high < results and scores[high] == own:
            high += 1
        stop = h + 1
        while stop < found and places[stop] < high:
            stop += 1
        if high - low == 1:
            ranks[h] = low + 1
        else:
            note_tie(ties, low, high)
            if not read_texts(api, low, high, scratch):
                return False
            rank_ties(low, high, h, stop, scratch)
        h = stop
    return True


@helper
def rank_score(api, own, results, text, length, descends, scratch, ties):
    """The rank of a document with this score and id; -1 if ids cannot be compared."""
    scores = scratch.scores[:results]
    if descends:
        low, stop = search(scores, own, False), search(scores, own, True)
        first, equal = low, stop - low
    else:
        low, equal = count_greater(scores, own), count_equal(scores, results, own)
        first, stop = 0, results
    rank = low + 1
    if equal > 1:
        note_tie(ties, low, low + equal)
        for i in range(first, stop):
            if scores[i] == own:
                other, other_length = text_of(api, scratch.docs[i])
                if other == 0:
                    return -1
                rank += compare_texts(other, other_length, text, length) > 0
    return rank


@helper
def sort_hits(found, scratch):
    """Put the hits, best first, into `sorted_hits`."""
    for h in range(found):
        scratch.order[h] = h
    sort_ranks_if_needed(scratch.order, found, scratch.merge, scratch.hits.ranks)
    for h in range(found):
        hit = scratch.order[h]
        scratch.sorted_hits.ranks[h] = scratch.hits.ranks[hit]
        scratch.sorted_hits.rows[h] = scratch.hits.rows[hit]
