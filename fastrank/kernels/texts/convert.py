"""Columns of other libraries into texts and back."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.texts.text import are_equal, is_blank
from fastrank.native.declare import kernel

U = np.uint64
TEN = U(10)
MINUS, DIGIT_0 = 45, 48


@kernel("int64(int64[::1], Texts)")
def print_integers(values, texts):
    """Write integers as decimals, one after the other; returns how many bytes that takes.

    The buffer of the texts has room for 20 bytes for each.
    """
    text, starts, lengths = texts
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


@kernel("int64(Texts, int64[::1])")
def find_stretches(texts, firsts):
    """Note where the text differs from the one before; returns how many such places there are."""
    found = 0
    for i in range(len(texts.starts)):
        if i == 0 or not are_equal(texts, i - 1, texts, i):
            firsts[found] = i
            found += 1
    return found


@kernel("void(Texts, uint8[::1], int64[::1])")
def copy_texts(texts, copy, offsets):
    """Write the texts one behind the other, text i to copy[offsets[i] : offsets[i + 1]]."""
    text, starts, lengths = texts
    at = 0
    for i in range(len(starts)):
        offsets[i] = at
        for j in range(lengths[i]):
            copy[at + j] = text[starts[i] + j]
        at += lengths[i]
    offsets[len(starts)] = at


@kernel("int64(Texts)")
def find_no_field(texts):
    """The first text that is not a field of a line: empty, or with a blank or NUL; or -1."""
    text, starts, lengths = texts
    for i in range(len(starts)):
        if lengths[i] == 0:
            return i
        for j in range(starts[i], starts[i] + lengths[i]):
            if text[j] == 0 or is_blank(text[j]):
                return i
    return np.int64(-1)
