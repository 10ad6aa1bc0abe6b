"""Python's own str and float, copied from lists and tuples.

The kernels hold the interpreter's lock, and call nothing that could run code of Python.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.objects.cpython import (
    clear_error,
    double_at,
    tuple_item,
    utf8_of,
    word_at,
)
from fastrank.core.kernels.simd.instructions import store_word
from fastrank.core.native.codes import ITEMS_IN_LIST, NUMBER_IN_FLOAT, TYPE_IN_OBJECT
from fastrank.core.native.declare import helper, kernel

U = np.uint64
# Where a list has its length.
LENGTH_OF_LIST = ITEMS_IN_LIST - 8


@helper
def has_length(rows, length):
    """Whether the list at an address has this length."""
    return word_at(rows + LENGTH_OF_LIST) == length


@helper
def item_of(api, rows, i, column, kind):
    """Item i of a list, or the column of its tuple if that is not negative; 0 if it is not of this
    type."""
    item = word_at(word_at(rows + ITEMS_IN_LIST) + 8 * i)
    if column >= 0:
        item = tuple_item(api.tuple_item, item, column)
        if item == 0:
            clear_error(api.clear_error)
            return np.int64(0)
    return item if word_at(item + TYPE_IN_OBJECT) == kind else np.int64(0)


@kernel("int64(PythonApi, int64, int64, Texts)", holds_gil=True)
def copy_strings(api, rows, column, texts):
    """Copy the str of a list, or those in a column of its tuples if that is not negative.

    rows: the address of the list, which has an item for each of the texts. Returns how many bytes
    that takes: if the buffer has less than 8 more, some are missing there. -1 if one is not a str,
    or has no UTF-8.
    """
    text, starts, lengths = texts
    if not has_length(rows, len(starts)):
        return -1
    offset = 0
    for i in range(len(starts)):
        item = item_of(api, rows, i, column, api.text)
        if item == 0:
            return -1
        address, length = utf8_of(api.as_utf8, item)
        if address == 0:
            clear_error(api.clear_error)
            return -1
        if offset + length + 8 <= len(text):
            for j in range(0, length, 8):
                store_word(text, offset + j, U(word_at(address + j)))
        starts[i], lengths[i] = offset, length
        offset += length
    return offset


@kernel("int64(PythonApi, int64, int64, float64[::1])", holds_gil=True)
def copy_floats(api, rows, column, values):
    """Copy floats as `copy_strings` copies str; returns whether all are floats."""
    if not has_length(rows, len(values)):
        return 0
    for i in range(len(values)):
        item = item_of(api, rows, i, column, api.double)
        if item == 0:
            return 0
        values[i] = double_at(item + NUMBER_IN_FLOAT)
    return 1
