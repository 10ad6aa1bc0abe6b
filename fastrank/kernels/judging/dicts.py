"""Ranks of judged documents among scores that Python looked up: no text comes this far.

The scores of some rankings are packed one after the other, and those of the judged documents that
were found in them, by kernels/judging/read_dicts.py or by Python. What is left to Python are the
documents whose scores tie: their ids decide.
"""

from __future__ import annotations

from fastrank.kernels.judging.integer_ranks import find_disorder
from fastrank.kernels.judging.judged_documents import count_equal, make_keys
from fastrank.kernels.judging.rankings import count_judgments, list_hits
from fastrank.kernels.texts.text import sort_by, sort_if_needed_by
from fastrank.native.codes import FINE, MAX_RETRIEVED, SINGLE_PRECISION
from fastrank.native.declare import helper, kernel

# Hits up to which counting better scores for each is cheaper than sorting all of them.
MOST_COUNTED = 64
# What is noted of a hit that ties like an earlier one of its query.
TIED_BEFORE = -1


@helper
def by_key(a, b, keys):
    return 1 if keys[a] < keys[b] else -1 if keys[a] > keys[b] else 0


@helper
def by_rank(a, b, ranks):
    return ranks[a] - ranks[b]


sort_keys = sort_by(by_key)
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
def rank_query(keys, hit_keys, scratch, ranks, ties):
    """Ranks and ties of the hits of one query, as in `rank_found`; how many documents to list."""
    descending, order, merge = scratch
    results, found = len(keys), 0
    for h in range(len(hit_keys)):
        found += hit_keys[h] == hit_keys[h]
    ascends, _ = find_disorder(keys)
    in_order = not ascends
    if not in_order and found > MOST_COUNTED:
        for i in range(results):
            order[i] = i
        sort_keys(order, results, merge, keys)
        for i in range(results):
            descending[i] = keys[order[i]]
        keys, in_order = descending[:results], True
    to_list = 0
    for h in range(len(hit_keys)):
        own = hit_keys[h]
        ranks[h] = ties[h] = 0
        if own != own:
            continue
        if in_order:
            greater = search(keys, own, False)
            equal = search(keys, own, True) - greater
        else:
            greater, equal = count_greater(keys, own), count_equal(keys, results, own)
        ranks[h] = greater + 1
        if equal > 1:
            if count_equal(hit_keys, h, own) > 0:
                ties[h] = TIED_BEFORE
            else:
                ties[h] = equal
                to_list += equal
    return to_list


@kernel("int64(PackedScores, int64, int64, int64[::1], RankingScratch, int64[::1], int64[::1])")
def rank_found(packed, first, stop, options, scratch, ranks, ties):
    """Rank the judged documents found in rankings `first` to `stop` - 1 by their scores.

    Packed are the scores of these rankings, and those of all judged documents, NaN for one that was
    not retrieved. Both become what the comparison of scores sees. ranks: one more than the number
    of higher scores; 0 if not retrieved. ties: how many documents have a hit's score, if it is more
    than one; TIED_BEFORE if an earlier hit of the query has that score too. Returns how many tied
    documents there are to list, or -1 minus the place of a score that is no number.
    """
    scores, offsets, hit_scores, hit_offsets = packed
    single = options[SINGLE_PRECISION] != 0
    base = offsets[first]
    to_list = 0
    for i in range(first, stop):
        low, high = offsets[i] - base, offsets[i + 1] - base
        keys = scores[low:high]
        if not make_keys(keys, high - low, single, keys):
            for place in range(low, high):
                if scores[place] != scores[place]:
                    return -1 - (base + place)
        one, end = hit_offsets[i], hit_offsets[i + 1]
        hit_keys = hit_scores[one:end]
        make_keys(hit_keys, end - one, single, hit_keys)
        to_list += rank_query(keys, hit_keys, scratch, ranks[one:end], ties[one:end])
    return to_list


@kernel("void(PackedScores, int64, int64, int64[::1], int64[::1])")
def list_tied(packed, first, stop, ties, places):
    """The places, in their ranking, of the documents that tie with a hit, hit after hit.

    The arguments are those of `rank_found`, after it.
    """
    scores, offsets, hit_scores, hit_offsets = packed
    base = offsets[first]
    listed = 0
    for i in range(first, stop):
        low = offsets[i] - base
        for h in range(hit_offsets[i], hit_offsets[i + 1]):
            if ties[h] > 0:
                for place in range(low, offsets[i + 1] - base):
                    if scores[place] == hit_scores[h]:
                        places[listed] = place - low
                        listed += 1


@kernel("int64(RankedHits, StoredGrades, int64[::1], Hits, int64[::1], Rankings)")
def list_found(ranked, stored, options, hits, scratch, rankings):
    """Fill the columns of judged rankings from the final ranks of the judged documents.

    Returns how many queries were judged before one that cannot be. `hits` and `scratch` are memory
    for the judged documents of one query.
    """
    ranks, rows = hits
    for i in range(len(ranked.queries)):
        first, stop = ranked.hit_offsets[i], ranked.hit_offsets[i + 1]
        begin = stored.starts[ranked.queries[i]]
        grades = stored.grades[begin : begin + stop - first]
        own_ranks = ranked.ranks[first:stop]
        found = 0
        for h in range(stop - first):
            if own_ranks[h] > 0:
                rows[found] = h
                found += 1
        sort_ranks_if_needed(rows, found, scratch, own_ranks)
        for h in range(found):
            ranks[h] = own_ranks[rows[h]]
        if count_judgments(grades, options, i, rankings) != FINE:
            return i
        kept = min(ranked.offsets[i + 1] - ranked.offsets[i], options[MAX_RETRIEVED])
        list_hits(hits, found, kept, grades, options, i, rankings)
    return len(ranked.queries)
