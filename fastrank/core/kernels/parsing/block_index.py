"""Where the lines of a block of text end and where its fields are: 64 bytes at once, no branches.

Newlines are listed, so that no line has to wait for the end of the line before. Fields are marked,
one bit per byte in each of two rows: where one starts and where one ends. Where all blanks of a
block are spaces the marks are left out: what is wanted of them can be seen from the text.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.simd.compare import STRIDE, load_block, load_masks, load_newlines
from fastrank.core.kernels.simd.instructions import (
    count_ones,
    load_word_inside,
    store_word,
    trailing_zeros,
)
from fastrank.core.native.codes import BLOCK, SEVERAL, SINGLE, UNMARKED
from fastrank.core.native.declare import helper, inlined

NEWLINE = 10
U = np.uint64
ZERO, ONE = U(0), U(1)
ALL = U(0xFFFFFFFFFFFFFFFF)
# Bytes that one word of marks stands for.
WORD = 64


@inlined
def note_newlines(bits, start, newlines, lines):
    """Append `start` + the index of every set bit to newlines[:lines]; returns the new count.

    Two at a time without a look at the bits left: a useless store costs less than a branch that
    guesses wrong.
    """
    stop = lines + count_ones(bits)
    while lines < stop:
        newlines[U(lines)] = start + trailing_zeros(bits)
        bits &= bits - ONE
        newlines[U(lines + 1)] = start + trailing_zeros(bits)
        bits &= bits - ONE
        lines += 2
    return stop


@inlined
def mark_fields(blanks, was_blank, index, offset):
    """Mark where fields start and end among 64 bytes; `was_blank` is 1 if a blank comes before."""
    after_blank = blanks << ONE | was_blank
    store_word(index.starts, offset, after_blank & ~blanks)
    store_word(index.ends, offset, blanks & ~after_blank)
    return blanks >> U(63), blanks & after_blank


@helper
def index_lines(reader):
    """Index the text from cursor.position on, where a line begins, up to a block of it.

    Without marks (UNMARKED) if that can be. It is not tried while more lines were missed than
    blocks indexed: lines of blocks that had to be marked after all, and such as were split by
    themselves though of the same query as the line before (kernels/parsing/fields.py).
    """
    text, newlines, cursor = reader.text, reader.block.newlines, reader.cursor
    base, size = cursor.position, cursor.size
    cursor.blocks += 1
    tried = min(BLOCK, size - base) if cursor.misses <= cursor.blocks else 0
    stop = base + tried // STRIDE * STRIDE
    lines, odd = np.int64(0), False
    for start in range(base, stop, STRIDE):
        a, b, c, d, control = load_newlines(text, start)
        lines = note_newlines(a, start, newlines, lines)
        lines = note_newlines(b, start + WORD, newlines, lines)
        lines = note_newlines(c, start + 2 * WORD, newlines, lines)
        lines = note_newlines(d, start + 3 * WORD, newlines, lines)
        odd |= control
    if odd or lines == 0:
        cursor.misses += lines
        index_block(reader)
        return
    # What comes behind the last newline may be the last line.
    cursor.base, cursor.indexed = base, newlines[lines - 1] + 1
    cursor.blanks = UNMARKED
    cursor.line, cursor.lines = 0, lines
    cursor.nul_seen = -1


@helper
def index_block(reader):
    """The same with marks.

    If the text has ended (cursor.ended) behind cursor.size, it need not end with a newline. A
    line that is longer than a block is found, but not its fields.
    """
    text, index, cursor = reader
    newlines = index.newlines
    base, size = cursor.position, cursor.size
    stop = min(base + BLOCK, size)
    lines = offset = np.int64(0)
    start, was_blank, any_nul, doubled = base, ONE, ZERO, ZERO
    while start < stop:
        if start + WORD <= stop:
            blanks, breaks, nuls = load_block(text, start)
            inside = ALL
        else:
            blanks, breaks, nuls = load_masks(text, start, stop)
            inside = ~(ALL << U(stop - start))
        was_blank, again = mark_fields(blanks, was_blank, index, offset)
        doubled |= again & inside
        lines = note_newlines(breaks, start, newlines, lines)
        any_nul |= nuls
        start, offset = start + WORD, offset + 8
    # Here every search ends, also that for the end of a field that ends with the text.
    store_word(index.starts, offset, ALL)
    store_word(index.ends, offset, ALL)
    if lines == 0 and stop < size:
        stop = find_byte(text, NEWLINE, stop, size)
        any_nul |= ONE
        if stop < size:
            newlines[0], lines = stop, np.int64(1)
            stop += 1
    if cursor.ended != 0 and base < stop == size and text[stop - 1] != NEWLINE:
        newlines[lines] = stop
        lines += 1
    cursor.base, cursor.indexed = base, stop
    cursor.blanks = SINGLE if doubled == ZERO else SEVERAL
    cursor.line, cursor.lines = 0, lines
    cursor.nul_seen = -1
    if any_nul != ZERO:
        note_nul(text, base, cursor)


@helper
def find_byte(text, byte, start, stop):
    """Where a byte first is in text[start:stop]; `stop` if nowhere."""
    while start < stop and text[start] != byte:
        start += 1
    return start


@helper
def note_nul(text, start, cursor):
    """Set cursor.nul_seen to the first NUL of the indexed text from `start` on, or -1."""
    nul = find_byte(text, 0, start, cursor.indexed)
    cursor.nul_seen = nul if nul < cursor.indexed else -1


@inlined
def look(marks, position):
    """57 marks from `position` on, the first in the lowest bit, and a few more or zeros."""
    return load_word_inside(marks, position >> 3) >> U(position & 7)


@helper
def next_mark(marks, position):
    """The first mark from `position` on; there is one."""
    word = look(marks, position)
    while word == ZERO:
        position = (position & ~7) + WORD
        word = load_word_inside(marks, position >> 3)
    return position + trailing_zeros(word)
