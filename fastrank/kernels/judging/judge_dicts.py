"""Rankings that are Python's dicts, judged by judgments that are (kernels/judging/dict_index.py).

The kernel holds the interpreter's lock and runs no code of Python.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.judging.dict_index import HASH, ROW, compare_texts, is_text, word_of
from fastrank.kernels.judging.dicts import (
    MOST_COUNTED,
    count_greater,
    search,
    sort_ranks_if_needed,
)
from fastrank.kernels.judging.integer_ranks import find_disorder
from fastrank.kernels.judging.judged_documents import count_equal, make_keys
from fastrank.kernels.judging.rankings import LARGEST_GRADE, list_hits
from fastrank.kernels.simd.cpython import (
    double_at,
    get_item,
    next_item,
    prefetch_at,
    utf8_of,
    word_at,
)
from fastrank.kernels.simd.instructions import prefetch
from fastrank.kernels.texts.text import sort_by
from fastrank.native.codes import (
    AS_UTF8,
    FLOAT,
    GET_ITEM,
    HASH_IN_TEXT,
    LEVEL,
    MAX_RETRIEVED,
    NEXT_ITEM,
    NUMBER_IN_FLOAT,
    SINGLE_PRECISION,
    STR,
    TYPE_IN_OBJECT,
)
from fastrank.native.declare import helper, kernel

# Looking a judged document up in the run's dict costs about as much as looking three documents of
# the run up in the index of the judgments.
LOOKUP_COST = 3
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
def list_results(api, owner, length, reads_keys, scratch):
    """The keys and scores of a dict; whether they are str and float and as many as that.

    Keys and values lie anywhere in memory: values are on their way while others are listed, and
    keys are only looked at if their type or the next step needs it.
    """
    docs, values, scores = scratch.docs, scratch.texts, scratch.scores
    next_function, text, number = api[NEXT_ITEM], api[STR], api[FLOAT]
    position, found = 0, 0
    while True:
        more, position, key, value = next_item(next_function, owner, position)
        if more == 0:
            break
        if found == length:
            return False
        prefetch_at(value)
        if reads_keys:
            prefetch_at(key + HASH_IN_TEXT)
        docs[found], values[found] = key, value
        found += 1
    if found != length:
        return False
    for i in range(length):
        if word_at(values[i] + TYPE_IN_OBJECT) != number:
            return False
        scores[i] = double_at(values[i] + NUMBER_IN_FLOAT)
    if reads_keys:
        for i in range(length):
            if word_at(docs[i] + TYPE_IN_OBJECT) != text:
                return False
    return True


@helper
def find_results(api, results, table, texts, scratch):
    """Look every result up among the judgments: places and rows of the hits; how many, or -1."""
    docs, places, rows = scratch.docs, scratch.places, scratch.hits.rows
    mask = len(table) - 1
    # First the candidates by their hashes, so that what is compared is on its way meanwhile.
    candidates = 0
    for i in range(results):
        own_hash = word_at(docs[i] + HASH_IN_TEXT)
        slot = own_hash & mask
        entry = table[slot]
        while entry != 0 and (entry ^ own_hash) & HASH != 0:
            slot = (slot + 1) & mask
            entry = table[slot]
        places[candidates], rows[candidates] = i, slot
        candidates += entry != 0
        prefetch(texts, 4 * max((entry & ROW) - 1, 0))
    found = 0
    for c in range(candidates):
        place, slot = places[c], rows[c]
        text, length = utf8_of(api[AS_UTF8], docs[place])
        if text == 0:
            return -1
        first, second = word_of(text, length, 0), word_of(text, length, 8)
        while table[slot] != 0:
            row = (table[slot] & ROW) - 1
            if is_text(texts, row, text, length, first, second):
                places[found], rows[found] = place, row
                found += 1
                break
            slot = (slot + 1) & mask
    return found


@helper
def read_texts(api, low, high, scratch):
    """Find the UTF-8 of some results; False if one has none."""
    for i in range(low, high):
        scratch.texts[i], scratch.lengths[i] = utf8_of(api[AS_UTF8], scratch.docs[i])
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
def rank_places(api, results, found, descends, scratch):
    """Ranks of the hits at known places; False if ids cannot be compared."""
    scores, places, ranks = scratch.scores, scratch.places, scratch.hits.ranks
    if not descends:
        if not read_texts(api, 0, results, scratch):
            return False
        sort_results(0, results, scratch)
        for h in range(found):
            ranks[h] = scratch.positions[places[h]]
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
            if not read_texts(api, low, high, scratch):
                return False
            rank_ties(low, high, h, stop, scratch)
        h = stop
    return True


@helper
def look_up_judged(api, owner, results, docs, texts, single, descends, scratch):
    """Look every judged document up in the run: ranks and rows; how many, or -1."""
    scores = scratch.scores[:results]
    ranks, rows = scratch.hits
    found = 0
    for row in range(len(docs)):
        value = get_item(api[GET_ITEM], owner, docs[row])
        if value == 0:
            continue
        own = double_at(value + NUMBER_IN_FLOAT)
        if single:
            own = np.float64(np.float32(own))
        if descends:
            low = search(scores, own, False)
            high = search(scores, own, True)
            first, stop = low, high
        else:
            low = count_greater(scores, own)
            high = low + count_equal(scores, results, own)
            first, stop = 0, results
        rank = low + 1
        if high - low > 1:
            text, length = texts[4 * row + 3], texts[4 * row]
            for i in range(first, stop):
                if scores[i] == own:
                    other, other_length = utf8_of(api[AS_UTF8], scratch.docs[i])
                    if other == 0:
                        return -1
                    rank += compare_texts(other, other_length, text, length) > 0
        ranks[found], rows[found] = rank, row
        found += 1
    return found


@helper
def count_stored(q, qrels, options, i, rankings):
    """The counts of query q's grades, as those of ranking i; False if it cannot be evaluated."""
    place, relevant = rankings.grade_offsets[i], 0
    for g in range(qrels.grade_offsets[q], qrels.grade_offsets[q + 1]):
        grade, count = qrels.grade_values[g], qrels.grade_counts[g]
        rankings.grade_values[place], rankings.grade_counts[place] = grade, count
        if grade >= options[LEVEL]:
            relevant += count
        if grade > LARGEST_GRADE:
            return False
        place += 1
    rankings.num_rel[i], rankings.grade_offsets[i + 1] = relevant, place
    return True


@kernel("int64(int64[::1], DictRun, DictQrels, int64[::1], DictScratch, Rankings)", holds_gil=True)
def judge_dicts(api, run, qrels, options, scratch, rankings):
    """Judge rankings that are dicts.

    Returns how many were judged before one that holds something other than str and floats, a score
    that is no number, an id that is not UTF-8 where ids decide, or that cannot be evaluated.
    """
    single = options[SINGLE_PRECISION] != 0
    for i in range(len(run.dicts)):
        q, results = run.queries[i], run.lengths[i]
        first, stop = qrels.offsets[q], qrels.offsets[q + 1]
        judged = stop - first
        looks_up_results = LOOKUP_COST * judged > results
        reads_keys = looks_up_results or run.check_keys != 0
        if not list_results(api, run.dicts[i], results, reads_keys, scratch):
            return i
        if not make_keys(scratch.scores, results, single, scratch.scores):
            return i
        texts = qrels.texts[4 * first : 4 * stop]
        ascends, _ = find_disorder(scratch.scores[:results])
        if looks_up_results or (ascends and judged > MOST_COUNTED):
            table = qrels.tables[qrels.table_offsets[q] : qrels.table_offsets[q + 1]]
            found = find_results(api, results, table, texts, scratch)
            if found < 0 or not rank_places(api, results, found, not ascends, scratch):
                return i
        else:
            docs = qrels.docs[first:stop]
            found = look_up_judged(
                api, run.dicts[i], results, docs, texts, single, not ascends, scratch
            )
            if found < 0:
                return i
        for h in range(found):
            scratch.order[h] = h
        sort_ranks_if_needed(scratch.order, found, scratch.merge, scratch.hits.ranks)
        for h in range(found):
            hit = scratch.order[h]
            scratch.sorted_hits.ranks[h] = scratch.hits.ranks[hit]
            scratch.sorted_hits.rows[h] = scratch.hits.rows[hit]
        if not count_stored(q, qrels, options, i, rankings):
            return i
        kept = min(results, options[MAX_RETRIEVED])
        grades = qrels.grades[first:stop]
        list_hits(scratch.sorted_hits, found, kept, grades, options, i, rankings)
    return len(run.dicts)
