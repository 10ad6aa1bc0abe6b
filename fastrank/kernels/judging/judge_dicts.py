"""Rankings that are Python's dicts, judged by judgments that are (kernels/judging/dict_index.py).

The kernel holds the interpreter's lock and runs no code of Python.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.judging.dict_index import HASH_SHIFT, ROW, ROW_BITS, is_text, text_of, word_of
from fastrank.kernels.judging.dict_ranks import rank_places, rank_score, sort_hits
from fastrank.kernels.judging.integer_ranks import find_disorder
from fastrank.kernels.judging.judged_documents import QueryTies, make_keys
from fastrank.kernels.judging.judged_ids import prefetch_all
from fastrank.kernels.judging.rankings import LARGEST_GRADE, list_hits
from fastrank.kernels.simd.cpython import (
    double_at,
    get_item,
    integer_of,
    next_item,
    prefetch_at,
    single_at,
    word_at,
)
from fastrank.kernels.simd.instructions import prefetch
from fastrank.native.codes import (
    AS_INTEGER,
    FLOAT,
    FLOAT32,
    FLOAT64,
    GET_ITEM,
    HASH_IN_TEXT,
    INT,
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
# Hits up to which counting better scores for each is cheaper than sorting all of them.
MOST_COUNTED = 64
# Bytes of a judged document in `texts`.
TEXT_SIZE = 32


@helper
def number_of(api, score):
    """The number that an object is, NaN if it is of none of the types read here."""
    kind = word_at(score + TYPE_IN_OBJECT)
    if kind == api[FLOAT] or kind == api[FLOAT64]:
        return double_at(score + NUMBER_IN_FLOAT)
    if kind == api[FLOAT32]:
        return single_at(score + NUMBER_IN_FLOAT)
    if kind == api[INT]:
        number, overflow = integer_of(api[AS_INTEGER], score)
        if overflow == 0:
            return np.float64(number)
    return np.nan


@helper
def list_results(api, owner, length, reads_keys, scratch):
    """The keys and scores of a dict; whether they are str and numbers, and as many as that.

    A score that is not a number is NaN. Keys and values lie anywhere in memory: values are fetched
    while others are listed, and keys are only looked at if their type or the next step needs it.
    """
    docs, values, scores = scratch.docs, scratch.texts, scratch.scores
    next_function, text = api[NEXT_ITEM], api[STR]
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
        scores[i] = number_of(api, values[i])
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
        slot, upper = own_hash & mask, own_hash >> HASH_SHIFT
        entry = np.int64(table[slot])
        while entry != 0 and entry >> ROW_BITS != upper:
            slot = (slot + 1) & mask
            entry = np.int64(table[slot])
        places[candidates], rows[candidates] = i, slot
        candidates += entry != 0
        prefetch(texts, TEXT_SIZE * max((entry & ROW) - 1, 0))
    found = 0
    for c in range(candidates):
        place, slot = places[c], rows[c]
        text, length = text_of(api, docs[place])
        if text == 0:
            return -1
        first, second = word_of(text, length, 0), word_of(text, length, 8)
        while table[slot] != 0:
            row = (np.int64(table[slot]) & ROW) - 1
            if is_text(texts, row, text, length, first, second):
                places[found], rows[found] = place, row
                found += 1
                break
            slot = (slot + 1) & mask
    return found


@helper
def find_judged(api, owner, results, docs, texts, single, descends, scratch, ties):
    """Look every judged document up in the run: ranks and rows; how many, or -1."""
    ranks, rows = scratch.hits
    found = 0
    for row in range(len(docs)):
        score = get_item(api[GET_ITEM], owner, docs[row])
        if score == 0:
            continue
        own = number_of(api, score)
        if single:
            own = np.float64(np.float32(own))
        text, length = texts[4 * row + 3], texts[4 * row]
        rank = rank_score(api, own, results, text, length, descends, scratch, ties)
        if rank < 0:
            return -1
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


@kernel(
    "int64(int64[::1], DictRun, DictQrels, int64[::1], DictScratch, RankingsAndTies)",
    holds_gil=True,
)
def judge_dicts(api, run, qrels, options, scratch, judged_run):
    """Judge rankings that are dicts.

    Returns how many were judged before one that holds keys other than str, a score that is NaN or
    no float, int or float of NumPy, or an id that is not UTF-8 where ids decide, or that cannot be
    evaluated.
    """
    single = options[SINGLE_PRECISION] != 0
    rankings, (tie_offsets, lows, highs) = judged_run
    # The last offset counts while the others are written: nothing is sliced query by query.
    ties = QueryTies(lows, highs, tie_offsets[len(run.dicts) :])
    ties.count[0] = 0
    for i in range(len(run.dicts)):
        q, results = run.queries[i], run.lengths[i]
        first, stop = qrels.offsets[q], qrels.offsets[q + 1]
        judged = stop - first
        looks_up_results = LOOKUP_COST * judged > results
        reads_keys = looks_up_results or run.check_keys[0] != 0
        table = qrels.tables[qrels.table_offsets[q] : qrels.table_offsets[q + 1]]
        if looks_up_results:
            prefetch_all(table)
        if not list_results(api, run.dicts[i], results, reads_keys, scratch):
            return i
        if not make_keys(scratch.scores, results, single, scratch.scores):
            return i
        texts = qrels.texts[4 * first : 4 * stop]
        ascends, _ = find_disorder(scratch.scores[:results])
        if looks_up_results or (ascends and judged > MOST_COUNTED):
            found = find_results(api, results, table, texts, scratch)
            if found < 0 or not rank_places(api, results, found, not ascends, scratch, ties):
                return i
        else:
            docs = qrels.docs[first:stop]
            found = find_judged(
                api, run.dicts[i], results, docs, texts, single, not ascends, scratch, ties
            )
            if found < 0:
                return i
        sort_hits(found, scratch)
        tie_offsets[i + 1] = ties.count[0]
        if not count_stored(q, qrels, options, i, rankings):
            return i
        kept = min(results, options[MAX_RETRIEVED])
        grades = qrels.grades[first:stop]
        list_hits(scratch.sorted_hits, found, kept, grades, options, i, rankings)
    return len(run.dicts)
