"""Python's dicts: as judgments, indexed; as rankings, judged by these; and filled with values.

An entry of a query's hash table is the row of a document and, above it, the upper bits of the hash
that the interpreter keeps in every str. A document is its bytes: of each there are four words, its
length, its first 16 bytes, and where they lie, so that most comparisons touch one line of memory.

The kernels hold the interpreter's lock, and call nothing that could run code of Python.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.matching.integers import prefetch_all
from fastrank.core.kernels.matching.rankings import copy_counts, count_grades, list_hits
from fastrank.core.kernels.matching.ranks import (
    IN_ANY_ORDER,
    QueryTies,
    TiedHits,
    make_keys,
    order_of,
    ranker_by,
    sort_by_place,
    sort_scratch,
    ties_by,
)
from fastrank.core.kernels.objects.cpython import (
    clear_error,
    double_at,
    drop_reference,
    get_item,
    integer_of,
    make_float,
    next_item,
    prefetch_at,
    set_item,
    single_at,
    utf8_of,
    word_at,
)
from fastrank.core.kernels.simd.instructions import prefetch
from fastrank.core.kernels.texts.text import compare_by, equal_by, table_mask
from fastrank.core.native.codes import (
    FINE,
    HASH_IN_TEXT,
    ITEMS_IN_LIST,
    NUMBER_IN_FLOAT,
    TYPE_IN_OBJECT,
)
from fastrank.core.native.declare import helper, inlined, kernel

U = np.uint64
# An entry has a row, from 1, in the lower bits: no query has a million judgments of its own. The
# hash's upper bits are above them, where the entry's sign is the hash's.
ROW_BITS = 20
ROW = (1 << ROW_BITS) - 1
HASH_SHIFT = 64 - (32 - ROW_BITS)
# Looking a judged document up in the run's dict costs about as much as looking three documents of
# the run up in the index of the judgments.
LOOKUP_COST = 3
# Judged documents up to which each is looked for by its score, where scores are in any order.
MOST_LOOKED_UP = 64
# Bytes of a judged document in `texts`.
TEXT_SIZE = 32


@helper
def text_of(api, document):
    """Where the UTF-8 of a str is, and its length in bytes; 0 if it has none."""
    text, length = utf8_of(api.as_utf8, document)
    if text == 0:
        clear_error(api.clear_error)
    return text, length


@helper
def word_of(text, length, start):
    """Up to 8 bytes of a text from `start` on, zeros behind its end."""
    rest = length - start
    if rest <= 0:
        return np.int64(0)
    word = U(word_at(text + start))
    if rest < 8:
        behind = U(64 - 8 * rest)
        word = word << behind >> behind
    return np.int64(word)


@inlined
def load_at(text, start):
    """8 bytes of a text in memory, where it lies in whole words."""
    return U(word_at(text + start))


compare, equal = compare_by(load_at), equal_by(load_at)


@helper
def is_text(texts, row, text, length, first, second):
    """Whether a judged document is a text of that length, given with its first two words."""
    base = 4 * row
    if texts[base] != length or texts[base + 1] != first or texts[base + 2] != second:
        return False
    return length <= 16 or equal(texts[base + 3], 16, length - 16, text, 16, length - 16)


@helper
def list_judgments(api, owner, docs, grades):
    """The keys and grades of a dict; whether they are str and int and as many as there is room."""
    position, count = 0, 0
    while True:
        more, position, key, value = next_item(api.next_item, owner, position)
        if more == 0:
            return count == len(docs)
        if count == len(docs) or word_at(key + TYPE_IN_OBJECT) != api.text:
            return False
        if word_at(value + TYPE_IN_OBJECT) != api.integer:
            return False
        grades[count], overflow = integer_of(api.as_integer, value)
        if overflow != 0:
            return False
        prefetch_at(key + HASH_IN_TEXT)
        docs[count] = key
        count += 1


@kernel("int64(PythonApi, int64[::1], int64, IndexedQrels)", holds_gil=True)
def index_dicts(api, dicts, keys, qrels):
    """Index the dicts at these addresses, for which `offsets` are given.

    keys: the address of a list of all their keys, or 0. Tables come in zeroed, with four places for
    each judgment and two for each query. Returns how many were indexed before one that holds
    something other than str and int of 64 bits, an id that is not UTF-8, or one that the list does
    not hold.
    """
    qrels.table_offsets[0] = qrels.grade_offsets[0] = 0
    for q in range(len(dicts)):
        first, stop = qrels.offsets[q], qrels.offsets[q + 1]
        docs, grades = qrels.docs[first:stop], qrels.grades[first:stop]
        if len(docs) > ROW or not list_judgments(api, dicts[q], docs, grades):
            return q
        if keys != 0:
            items = word_at(keys + ITEMS_IN_LIST) + 8 * first
            for row in range(len(docs)):
                if word_at(items + 8 * row) != docs[row]:
                    return q
        texts, mask = qrels.texts[4 * first : 4 * stop], table_mask(len(docs))
        base = qrels.table_offsets[q]
        qrels.table_offsets[q + 1] = base + mask + 1
        table = qrels.tables[base : base + mask + 1]
        for row in range(len(docs)):
            text, length = text_of(api, docs[row])
            if text == 0:
                return q
            texts[4 * row], texts[4 * row + 3] = length, text
            texts[4 * row + 1] = word_of(text, length, 0)
            texts[4 * row + 2] = word_of(text, length, 8)
            doc_hash = word_at(docs[row] + HASH_IN_TEXT)
            slot = doc_hash & mask
            while table[slot] != 0:
                slot = (slot + 1) & mask
            table[slot] = ((doc_hash >> HASH_SHIFT) << ROW_BITS) | (row + 1)
        begin = qrels.grade_offsets[q]
        qrels.grade_offsets[q + 1] = begin + count_grades(
            grades, qrels.grade_values[begin:], qrels.grade_counts[begin:]
        )
    return len(dicts)


@helper
def compare_keys(docs, a, b):
    """Order of the ids of two results, which `read_key` has found."""
    _, _, texts, lengths = docs
    return compare(texts[a], 0, lengths[a], texts[b], 0, lengths[b])


@helper
def read_key(docs, i):
    """Find the UTF-8 of a result; False if it has none."""
    api, results, texts, lengths = docs
    texts[i], lengths[i] = text_of(api, results[i])
    return texts[i] != 0


rank_keys = ranker_by(ties_by(compare_keys, read_key))


@helper
def number_of(api, score):
    """The number that an object is, NaN if it is of none of the types read here."""
    kind = word_at(score + TYPE_IN_OBJECT)
    if kind == api.double or kind == api.numpy_double:
        return double_at(score + NUMBER_IN_FLOAT)
    if kind == api.numpy_single:
        return single_at(score + NUMBER_IN_FLOAT)
    if kind == api.integer:
        number, overflow = integer_of(api.as_integer, score)
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
    next_function, text = api.next_item, api.text
    position, count = 0, 0
    while True:
        more, position, key, value = next_item(next_function, owner, position)
        if more == 0:
            break
        if count == length:
            return False
        prefetch_at(value)
        if reads_keys:
            prefetch_at(key + HASH_IN_TEXT)
        docs[count], values[count] = key, value
        count += 1
    if count != length:
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
    """Look every result up among the judgments: positions and rows of the hits; how many, or -1."""
    docs, (positions, rows) = scratch.docs, scratch.hits
    mask = len(table) - 1
    # First the candidates by their hashes, so that what is compared is on its way meanwhile.
    candidates = 0
    for i in range(results):
        doc_hash = word_at(docs[i] + HASH_IN_TEXT)
        slot, upper = doc_hash & mask, doc_hash >> HASH_SHIFT
        entry = np.int64(table[slot])
        while entry != 0 and entry >> ROW_BITS != upper:
            slot = (slot + 1) & mask
            entry = np.int64(table[slot])
        positions[candidates], rows[candidates] = i, slot
        candidates += entry != 0
        prefetch(texts, TEXT_SIZE * max((entry & ROW) - 1, 0))
    hit_count = 0
    for c in range(candidates):
        position, slot = positions[c], rows[c]
        text, length = text_of(api, docs[position])
        if text == 0:
            return -1
        first, second = word_of(text, length, 0), word_of(text, length, 8)
        while table[slot] != 0:
            row = (np.int64(table[slot]) & ROW) - 1
            if is_text(texts, row, text, length, first, second):
                positions[hit_count], rows[hit_count] = position, row
                hit_count += 1
                break
            slot = (slot + 1) & mask
    return hit_count


@helper
def first_not_above(keys, score):
    """Where, in descending order, the first score stands that is not above this one."""
    low, high = 0, len(keys)
    while low < high:
        middle = low + (high - low) // 2
        if keys[middle] > score:
            low = middle + 1
        else:
            high = middle
    return low


@helper
def is_key(api, result, document, doc_hash):
    """Whether a result is a document; not if one of them has no UTF-8."""
    if result == document:
        return True
    if word_at(result + HASH_IN_TEXT) != doc_hash:
        return False
    text, length = text_of(api, result)
    document_text, document_length = text_of(api, document)
    return (
        text != 0
        and document_text != 0
        and equal(text, 0, length, document_text, 0, document_length)
    )


@helper
def place_of(docs, keys, order, document, score):
    """The position of a document with this score, which is among the results; -1 if not found."""
    position = 0
    if order != IN_ANY_ORDER:
        position = first_not_above(keys, score)
        if position + 1 == len(keys) or (position < len(keys) and keys[position + 1] != score):
            return position
    else:
        equal = 0
        for i in range(len(keys)):
            position += i * (keys[i] == score)
            equal += keys[i] == score
        if equal == 1:
            return position
        position = 0
    doc_hash = word_at(document + HASH_IN_TEXT)
    for i in range(position, len(keys)):
        if keys[i] == score and is_key(docs[0], docs[1][i], document, doc_hash):
            return i
    return -1


@helper
def find_judged(docs, keys, order, owner, judged, single, scratch, work):
    """Look every judged document up in the run: positions and rows, in order; how many, or -1."""
    positions, rows = scratch.hits
    api = docs[0]
    hit_count = 0
    for row in range(len(judged)):
        score = get_item(api.get_item, owner, judged[row])
        if score == 0:
            continue
        number = number_of(api, score)
        if single:
            number = np.float64(np.float32(number))
        position = place_of(docs, keys, order, judged[row], number)
        if position < 0:
            return -1
        positions[hit_count], rows[hit_count] = position, row
        hit_count += 1
    sort_by_place(scratch.hits, hit_count, work.other_order, work.words)
    return hit_count


@kernel(
    "int64(PythonApi, DictRun, IndexedQrels, RankingOptions, DictScratch, RankingsAndTies)",
    holds_gil=True,
)
def judge_dicts(api, run, qrels, options, scratch, judged_run):
    """Judge rankings that are dicts.

    Returns how many were judged before one that holds keys other than str, a score that is NaN or
    no float, int or float of NumPy, or an id that is not UTF-8 where ids decide, or that cannot be
    evaluated.
    """
    single = options.single_precision != 0
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
        keys, work = scratch.scores[:results], sort_scratch(scratch.work, results)
        order = order_of(keys)
        docs = (api, scratch.docs, scratch.texts, scratch.lengths)
        if looks_up_results or (order == IN_ANY_ORDER and judged > MOST_LOOKED_UP):
            texts = qrels.texts[4 * first : 4 * stop]
            hit_count = find_results(api, results, table, texts, scratch)
        else:
            looked_up = qrels.docs[first:stop]
            hit_count = find_judged(
                docs, keys, order, run.dicts[i], looked_up, single, scratch, work
            )
        hits = TiedHits(scratch.hits.ranks, scratch.hits.rows, ties)
        if hit_count < 0 or not rank_keys(docs, keys, order, single, hits, hit_count, work):
            return i
        tie_offsets[i + 1] = ties.count[0]
        if copy_counts(qrels, q, options, i, rankings) != FINE:
            return i
        depth = min(results, options.max_retrieved)
        list_hits(hits, hit_count, depth, qrels.grades[first:stop], options, i, rankings)
    return len(run.dicts)


@kernel("int64(PythonApi, int64[::1], int64[::1], int64[::1], int64[::1])", holds_gil=True)
def fill_dicts(api, owners, keys, columns, steps):
    """Put the numbers of a row into each dict, which has all the keys, with 0.0 for each.

    owners, keys: addresses of dicts and of texts. columns: the address of the double for key j
    and the first dict; those for the other dicts follow in steps of steps[j] bytes. Returns how
    many dicts were filled: all of them, or else an exception is set.
    """
    for i in range(len(owners)):
        for j in range(len(keys)):
            address = columns[j] + i * steps[j]
            # Zero and one, of which there are many, are one object each; -0.0 has other bits.
            if word_at(address) == 0:
                continue
            if word_at(address) == word_at(api.one + NUMBER_IN_FLOAT):
                status = set_item(api.set_item, owners[i], keys[j], api.one)
            else:
                number = make_float(api.make_float, double_at(address))
                if number == 0:
                    return i
                status = set_item(api.set_item, owners[i], keys[j], number)
                drop_reference(api.drop_reference, number)
            if status != 0:
                return i
    return len(owners)
