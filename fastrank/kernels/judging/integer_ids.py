"""Document ids that are integers: their order as texts, and the judgments by them."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.judging.rankings import LARGEST_GRADE, count_grades
from fastrank.kernels.texts.text import table_mask
from fastrank.native.codes import FINE, GRADE_TOO_LARGE, QRELS_REPEAT
from fastrank.native.declare import helper, inlined, kernel

U = np.uint64
NINETEEN_DIGITS = U(10**18)
TEN = U(10)


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


@kernel("int64(IdQrels, int64[::1])")
def index_judgments(qrels, problem):
    """Make a hash table of each query's judged ids, and count its grades.

    A slot holds the row, from 1, of the judgment among those of the query. Returns how many
    queries were done; if not all, problem[0] is QRELS_REPEAT (rows in problem[1] and problem[2])
    or GRADE_TOO_LARGE.
    """
    offsets, ids, grades, table_offsets, tables, grade_offsets, values, counts = qrels
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
def find_judgment(value, judged, table):
    """The row of the judgment of an id, or -1; `table` is as `index_judgments` made it."""
    mask = len(table) - 1
    slot = slot_of_id(value, mask)
    while table[slot] != 0 and judged[table[slot] - 1] != value:
        slot = (slot + 1) & mask
    return np.int64(table[slot]) - 1
