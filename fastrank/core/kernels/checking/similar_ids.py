"""Ids that mean the same to a reader and not to a program."""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.texts.numbers import is_digit
from fastrank.core.kernels.texts.text import find_slot, intern_range, table_mask
from fastrank.core.native.declare import helper, kernel

ZERO, POINT, SEPARATOR = 48, 46, 95


# What comes behind the last point of a file's name, and of an integer that was once a float.
ENDINGS = np.array(
    [
        int.from_bytes(ending, "big")
        for ending in b"txt text html htm xml json jsonl pdf md csv tsv gz sgml doc docx 0".split()
    ],
    dtype=np.uint64,
)
LONGEST_ENDING = 5


@helper
def is_ending(word):
    """Whether these bytes are one of ENDINGS."""
    for ending in ENDINGS:
        if word == ending:
            return True
    return False


@helper
def lower(byte):
    """The byte, of an ASCII letter that of the lower-case letter."""
    return byte + 32 if 65 <= byte <= 90 else np.int64(byte)


@helper
def ending_start(text, start, stop):
    """Where the ending of an id begins, with its point; `stop` if it has none."""
    word = np.uint64(0)
    for length in range(1, LONGEST_ENDING + 1):
        i = stop - length
        if i <= start:
            return stop
        word |= np.uint64(lower(text[i])) << np.uint64(8 * (length - 1))
        if i - 1 > start and text[i - 1] == POINT:
            return i - 1 if is_ending(word) else stop
    return stop


@helper
def ignored_bytes(text, start, stop):
    """How many bytes at `start` are easily lost: quotes, unseen blanks, a byte order mark."""
    byte = text[start]
    if byte == 34 or byte == 39:
        return 1
    if byte == 0xC2 and start + 1 < stop and text[start + 1] == 0xA0:
        return 2
    if start + 2 < stop:
        if byte == 0xEF and text[start + 1] == 0xBB and text[start + 2] == 0xBF:
            return 3
        if byte == 0xE2 and text[start + 1] == 0x80 and text[start + 2] == 0x8B:
            return 3
    return 0


@helper
def separator_bytes(text, start, stop):
    """How many bytes at `start` stand for a blank: - _ + or %20."""
    byte = text[start]
    if byte == 45 or byte == SEPARATOR or byte == 43:
        return 1
    if byte == 37 and start + 2 < stop and text[start + 1] == 50 and text[start + 2] == 48:
        return 3
    return 0


@helper
def ends_with_leading_zero(text, start, stop):
    """Whether text[start:stop] ends with a 0 that has no digit before it."""
    if stop == start or text[stop - 1] != ZERO:
        return False
    return stop - 1 == start or not is_digit(text[stop - 2])


@kernel("void(Texts, Texts)")
def fold_texts(texts, folds):
    """The ids without what is easily lost: case, quotes, leading zeros, a file name's ending.

    Blanks that nobody sees are left out, too, and what stands for a blank becomes `_`. The folded
    texts go into `folds`, whose buffer has room for all of them, one after the other.
    """
    text, starts, lengths = texts
    folded, folded_starts, folded_lengths = folds
    to = 0
    for i in range(len(starts)):
        position, stop = starts[i], starts[i] + lengths[i]
        stop = ending_start(text, position, stop)
        first = to
        while position < stop:
            ignored = ignored_bytes(text, position, stop)
            separator = separator_bytes(text, position, stop)
            if ignored > 0:
                position += ignored
                continue
            if separator > 0:
                folded[to] = SEPARATOR
                to += 1
                position += separator
                continue
            if is_digit(text[position]) and ends_with_leading_zero(folded, first, to):
                to -= 1
            folded[to] = lower(text[position])
            to += 1
            position += 1
        folded_starts[i], folded_lengths[i] = first, to - first


@kernel("int64(TextsByQuery, int64[::1], TextsByQuery, Interning, int64[::1])")
def look_up_rows(rows, queries, others, interning, matches):
    """matches[row] = the first row with the same text of query queries[q] of the others, or -1.

    queries[q] is the number that query q has among the others, or -1. Returns how many rows have
    one. `interning` has room for the rows of any query of the others.
    """
    texts, offsets = rows
    matched = 0
    for q in range(len(offsets) - 1):
        matches[offsets[q] : offsets[q + 1]] = -1
        if queries[q] < 0:
            continue
        first, stop = others.offsets[queries[q]], others.offsets[queries[q] + 1]
        intern_range(others.texts, first, stop, interning)
        table = interning.table[: table_mask(stop - first) + 1]
        for row in range(offsets[q], offsets[q + 1]):
            slot = find_slot(texts, row, table, others.texts, first)
            if table[slot] != 0:
                matches[row] = first + table[slot] - 1
                matched += 1
    return matched
