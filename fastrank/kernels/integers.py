"""Document ids that are integers: their order as texts, and which of them are judged.

The technique is that of kernels/hits.py, with integers in place of texts: a filter of two bits per
id says which may be judged or repeated, and the ids themselves decide.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.hits import count_equal, filter_bits, filter_word
from fastrank.kernels.listing import LARGEST_GRADE, count_grades
from fastrank.kernels.places import FINE, GRADE_TOO_LARGE, QRELS_REPEAT
from fastrank.kernels.text import table_mask
from fastrank.native.declare import helper, inlined, kernel

U = np.uint64
NINETEEN_DIGITS = U(10**18)
TEN = U(10)
# Suspected repetitions up to which each is looked for among all ids; more go to a hash table.
FEW = 32
# What `find_judged` says of ids that are not all ids.
HAS_NEGATIVE = -(2**62)


@inlined
def hash_id(value):
    """A hash of an id, by Fibonacci hashing: its higher bits are the better ones."""
    return U(value) * U(0x9E3779B97F4A7C15)


@inlined
def slot_of_id(value, mask):
    """Where the search for an id begins in a table of `mask` + 1 slots."""
    return np.int64(hash_id(value) >> U(32) & U(mask))


@inlined
def written(value):
    """The digits of an id, filled up with zeros to 19, as a number; and how many they are.

    In this form, and by their number where the form is the same, ids compare as their texts do.
    """
    aligned, digits = U(value), 19
    while aligned < NINETEEN_DIGITS and digits > 1:
        aligned *= TEN
        digits -= 1
    return aligned, digits


@helper
def compare_written(one, other):
    """Order of two ids as texts, such as 10 before 9: negative, zero or positive."""
    one_aligned, one_digits = written(one)
    other_aligned, other_digits = written(other)
    if one_aligned != other_aligned:
        return 1 if one_aligned > other_aligned else -1
    return one_digits - other_digits


@kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int32[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1])"
)
def index_judgments(
    offsets, ids, grades, table_offsets, tables, grade_offsets, values, counts, problem
):
    """Make a hash table of each query's judged ids, and count its grades.

    A slot holds the row, from 1, of the judgment among those of the query. Returns how many
    queries were done; if not all, problem[0] is QRELS_REPEAT (rows in problem[1] and problem[2])
    or GRADE_TOO_LARGE.
    """
    for q in range(len(offsets) - 1):
        first, judged = offsets[q], offsets[q + 1] - offsets[q]
        base, mask = table_offsets[q], table_mask(judged)
        for row in range(judged):
            slot = slot_of_id(ids[first + row], mask)
            while tables[base + slot] != 0:
                other = tables[base + slot] - 1
                if ids[first + other] == ids[first + row]:
                    problem[0], problem[1], problem[2] = QRELS_REPEAT, first + other, first + row
                    return q
                slot = (slot + 1) & mask
            tables[base + slot] = row + 1
        table_offsets[q + 1] = base + mask + 1
        start = grade_offsets[q]
        distinct = count_grades(grades[first : first + judged], values[start:], counts[start:])
        if distinct > 0 and values[start + distinct - 1] > LARGEST_GRADE:
            problem[0] = GRADE_TOO_LARGE
            return q
        grade_offsets[q + 1] = start + distinct
    problem[0] = FINE
    return len(offsets) - 1


@helper
def find_judged(ids, judged, table, unique, work, hits):
    """Find the judged ones among ids: how many, or -1 - i if ids[i] is found to be a repetition,
    or HAS_NEGATIVE if one of them is no id.

    `table` is the query's, as `index_judgments` made it. Unless the ids are known to be `unique`,
    all repetitions are found, else those of judged ids. hits = (places, rows) become places among
    the ids, in order, and rows of the judgments. `work` is scratch: (flags, words, suspects, marks,
    table): a zeroed power of two of bytes, words as a quarter of ids and judgments, items as ids,
    zeroed items as judgments, and twice as many places as ids, both rounded up to powers of two.
    """
    flags, words, suspects, marks, slots = work
    places, rows = hits
    if unique:
        suspected, signs = pass_flags(ids, judged, flags, suspects)
    else:
        suspected, signs = pass_filter(ids, judged, words, suspects)
    if signs < 0:
        return HAS_NEGATIVE
    mask = len(table) - 1
    found = unknown = repeated = 0
    for s in range(suspected):
        i = suspects[s]
        slot = slot_of_id(ids[i], mask)
        while table[slot] != 0 and judged[table[slot] - 1] != ids[i]:
            slot = (slot + 1) & mask
        row = table[slot] - 1
        if row < 0:
            suspects[unknown] = i
            unknown += 1
        elif marks[row] != 0:
            repeated = -1 - i
            break
        else:
            marks[row] = 1
            places[found], rows[found] = i, row
            found += 1
    for h in range(found):
        marks[rows[h]] = 0
    if repeated == 0 and not unique:
        repeated = find_repetition(ids, suspects, unknown, slots)
    return repeated if repeated < 0 else found


@helper
def pass_flags(ids, judged, flags, suspects):
    """Places of the ids whose hash is that of a judged one; how many, and the signs of all ids.

    The signs are looked at in the same loop: a row is waited for when it is read first.
    """
    shift, size = U(64), len(flags)
    while size > 1:
        shift, size = shift - U(1), size >> 1
    for row in range(len(judged)):
        flags[hash_id(judged[row]) >> shift] = 1
    suspected, signs = 0, np.int64(0)
    for i in range(len(ids)):
        own = ids[U(i)]
        signs |= own
        suspects[U(suspected)] = i
        suspected += flags[hash_id(own) >> shift]
    for row in range(len(judged)):
        flags[hash_id(judged[row]) >> shift] = 0
    return suspected, signs


@helper
def pass_filter(ids, judged, words, suspects):
    """Places of the ids that may be judged, or stand at an earlier place too; how many, and the
    signs of all ids."""
    mask = U(table_mask((len(ids) + len(judged)) // 8))
    words[: np.int64(mask) + 1] = 0
    for row in range(len(judged)):
        value = hash_id(judged[row])
        words[filter_word(value, mask)] |= np.int64(filter_bits(value >> U(20)))
    suspected, signs = 0, np.int64(0)
    for i in range(len(ids)):
        own = ids[U(i)]
        signs |= own
        value = hash_id(own)
        at = filter_word(value, mask)
        bits = filter_bits(value >> U(20))
        word = U(words[at])
        words[at] = np.int64(word | bits)
        suspects[U(suspected)] = i
        suspected += word & bits == bits
    return suspected, signs


@helper
def find_repetition(ids, suspects, suspected, slots):
    """-1 - i for the first suspected place i whose id stands at an earlier place too, or 0."""
    if suspected <= FEW:
        for s in range(suspected):
            i = suspects[s]
            if count_equal(ids, i, ids[i]) > 0:
                return -1 - i
        return 0
    mask = table_mask(len(ids))
    slots[: mask + 1] = 0
    for i in range(len(ids)):
        slot = slot_of_id(ids[i], mask)
        while slots[slot] != 0:
            if ids[slots[slot] - 1] == ids[i]:
                return -1 - i
            slot = (slot + 1) & mask
        slots[slot] = i + 1
    return 0
