"""Judgments that are Python's dicts, indexed so that a ranking's documents are found in them.

An entry of a query's hash table is the row of a document and, above it, the upper bits of the hash
that the interpreter keeps in every str. A document is its bytes: of each there are four words, its
length, its first 16 bytes, and where they lie, so that most comparisons touch one line of memory.

The kernel holds the interpreter's lock and runs no code of Python.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.judging.rankings import count_grades
from fastrank.kernels.simd.cpython import (
    clear_error,
    integer_of,
    next_item,
    prefetch_at,
    utf8_of,
    word_at,
)
from fastrank.kernels.simd.instructions import swap_bytes
from fastrank.native.codes import (
    AS_INTEGER,
    AS_UTF8,
    CLEAR_ERROR,
    HASH_IN_TEXT,
    INT,
    NEXT_ITEM,
    STR,
    TYPE_IN_OBJECT,
)
from fastrank.native.declare import helper, kernel

U = np.uint64
# An entry has a row, from 1, in the lower bits: no query has a million judgments of its own. The
# hash's upper bits are above them, where the entry's sign is the hash's.
ROW_BITS = 20
ROW = (1 << ROW_BITS) - 1
HASH_SHIFT = 64 - (32 - ROW_BITS)


@helper
def text_of(api, document):
    """Where the UTF-8 of a str is, and its length in bytes; 0 if it has none."""
    text, length = utf8_of(api[AS_UTF8], document)
    if text == 0:
        clear_error(api[CLEAR_ERROR])
    return text, length


@helper
def word_of(text, length, at):
    """Up to 8 bytes of a text from `at` on, zeros behind its end."""
    rest = length - at
    if rest <= 0:
        return np.int64(0)
    word = U(word_at(text + at))
    if rest < 8:
        behind = U(64 - 8 * rest)
        word = word << behind >> behind
    return np.int64(word)


@helper
def compare_texts(left, left_length, right, right_length):
    """Order of two texts in memory by their bytes, as C's strcmp."""
    for at in range(0, min(left_length, right_length), 8):
        one = swap_bytes(U(word_of(left, left_length, at)))
        other = swap_bytes(U(word_of(right, right_length, at)))
        if one != other:
            return np.int64(1) if one > other else np.int64(-1)
    return left_length - right_length


@helper
def is_text(texts, row, text, length, first, second):
    """Whether a judged document is a text of that length, given with its first two words."""
    at = 4 * row
    if texts[at] != length or texts[at + 1] != first or texts[at + 2] != second:
        return False
    return length <= 16 or (
        compare_texts(texts[at + 3] + 16, length - 16, text + 16, length - 16) == 0
    )


@helper
def list_judgments(api, owner, docs, grades):
    """The keys and grades of a dict; whether they are str and int and as many as there is room."""
    position, found = 0, 0
    while True:
        more, position, key, value = next_item(api[NEXT_ITEM], owner, position)
        if more == 0:
            return found == len(docs)
        if found == len(docs) or word_at(key + TYPE_IN_OBJECT) != api[STR]:
            return False
        if word_at(value + TYPE_IN_OBJECT) != api[INT]:
            return False
        grades[found], overflow = integer_of(api[AS_INTEGER], value)
        if overflow != 0:
            return False
        prefetch_at(key + HASH_IN_TEXT)
        docs[found] = key
        found += 1


@kernel("int64(int64[::1], int64[::1], DictQrels)", holds_gil=True)
def index_dicts(api, dicts, qrels):
    """Index the dicts at these addresses, for which `offsets` and `table_offsets` are given.

    Tables come in zeroed. Returns how many were indexed before one that holds something other than
    str and int of 64 bits, or an id that is not UTF-8.
    """
    qrels.grade_offsets[0] = 0
    for q in range(len(dicts)):
        first, stop = qrels.offsets[q], qrels.offsets[q + 1]
        docs, grades = qrels.docs[first:stop], qrels.grades[first:stop]
        if len(docs) > ROW or not list_judgments(api, dicts[q], docs, grades):
            return q
        table = qrels.tables[qrels.table_offsets[q] : qrels.table_offsets[q + 1]]
        texts, mask = qrels.texts[4 * first : 4 * stop], len(table) - 1
        for row in range(len(docs)):
            text, length = text_of(api, docs[row])
            if text == 0:
                return q
            texts[4 * row], texts[4 * row + 3] = length, text
            texts[4 * row + 1] = word_of(text, length, 0)
            texts[4 * row + 2] = word_of(text, length, 8)
            own_hash = word_at(docs[row] + HASH_IN_TEXT)
            slot = own_hash & mask
            while table[slot] != 0:
                slot = (slot + 1) & mask
            table[slot] = ((own_hash >> HASH_SHIFT) << ROW_BITS) | (row + 1)
        begin = qrels.grade_offsets[q]
        qrels.grade_offsets[q + 1] = begin + count_grades(
            grades, qrels.grade_values[begin:], qrels.grade_counts[begin:]
        )
    return len(dicts)
