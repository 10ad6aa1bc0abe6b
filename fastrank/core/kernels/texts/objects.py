"""Python's own str and float, copied from lists and tuples.

The kernels hold the interpreter's lock, and call nothing that could run code of Python.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.simd.cpython import clear_error, double_at, tuple_item, utf8_of, word_at
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
def item_of(api, rows, i, place, kind):
    """Item i of a list, or what its tuple has at a place that is not negative; 0 if that is not of
    this type."""
    own = word_at(word_at(rows + ITEMS_IN_LIST) + 8 * i)
    if place >= 0:
        own = tuple_item(api.tuple_item, own, place)
        if own == 0:
            clear_error(api.clear_error)
            return np.int64(0)
    return own if word_at(own + TYPE_IN_OBJECT) == kind else np.int64(0)


@kernel("int64(PythonApi, int64, int64, Texts)", holds_gil=True)
def copy_strings(api, rows, place, texts):
    """Copy the str of a list, or those at a place of its tuples if that is not negative.

    rows: the address of the list, which has an item for each of the texts. Returns how many bytes
    that takes: if the buffer has less than 8 more, some are missing there. -1 if one is not a str,
    or has no UTF-8.
    """
    text, starts, lengths = texts
    if not has_length(rows, len(starts)):
        return -1
    at = 0
    for i in range(len(starts)):
        own = item_of(api, rows, i, place, api.text)
        if own == 0:
            return -1
        address, length = utf8_of(api.as_utf8, own)
        if address == 0:
            clear_error(api.clear_error)
            return -1
        if at + length + 8 <= len(text):
            for j in range(0, length, 8):
                store_word(text, at + j, U(word_at(address + j)))
        starts[i], lengths[i] = at, length
        at += length
    return at


@kernel("int64(PythonApi, int64, int64, float64[::1])", holds_gil=True)
def copy_floats(api, rows, place, values):
    """Copy floats as `copy_strings` copies str; returns whether all are floats."""
    if not has_length(rows, len(values)):
        return 0
    for i in range(len(values)):
        own = item_of(api, rows, i, place, api.double)
        if own == 0:
            return 0
        values[i] = double_at(own + NUMBER_IN_FLOAT)
    return 1
