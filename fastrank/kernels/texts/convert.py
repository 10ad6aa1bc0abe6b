"""Columns of other libraries into texts and back."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.texts.text import equal, is_blank
from fastrank.native.declare import kernel

U = np.uint64
TEN = U(10)
MINUS, DIGIT_0 = 45, 48


@kernel("int64(int64[::1], uint8[::1], int64[::1], int64[::1])")
def print_integers(values, text, starts, lengths):
    """Write integers as decimals, one after the other; returns how many bytes that takes.

    `text` has room for 20 bytes for each.
    """
    at = 0
    for i in range(len(values)):
        value = values[i]
        starts[i] = at
        rest = U(max(value, 0))
        if value < 0:
            text[at] = MINUS
            at += 1
            # The least integer has no counterpart.
            rest = U(-(value + 1)) + U(1)
        digits, limit = 1, TEN
        while rest >= limit:
            digits, limit = digits + 1, limit * TEN
        for place in range(digits - 1, -1, -1):
            shorter = rest // TEN
            text[at + place] = DIGIT_0 + np.int64(rest - shorter * TEN)
            rest = shorter
        at += digits
        lengths[i] = at - starts[i]
    return at


@kernel("int64(uint8[::1], int64[::1], int64[::1], int64[::1])")
def find_stretches(text, starts, lengths, firsts):
    """Note where the text differs from the one before; returns how many such places there are."""
    found = 0
    for i in range(len(starts)):
        if i == 0 or not equal(text, starts[i - 1], lengths[i - 1], text, starts[i], lengths[i]):
            firsts[found] = i
            found += 1
    return found


@kernel("void(uint8[::1], int64[::1], int64[::1], uint8[::1], int64[::1])")
def copy_texts(text, starts, lengths, copy, offsets):
    """Write the texts one behind the other, text i to copy[offsets[i] : offsets[i + 1]]."""
    at = 0
    for i in range(len(starts)):
        offsets[i] = at
        for j in range(lengths[i]):
            copy[at + j] = text[starts[i] + j]
        at += lengths[i]
    offsets[len(starts)] = at


@kernel("int64(uint8[::1], int64[::1], int64[::1])")
def find_no_field(text, starts, lengths):
    """The first text that is no field of a line: empty, or with a blank or NUL; or -1."""
    for i in range(len(starts)):
        if lengths[i] == 0:
            return i
        for j in range(starts[i], starts[i] + lengths[i]):
            if text[j] == 0 or is_blank(text[j]):
                return i
    return np.int64(-1)
