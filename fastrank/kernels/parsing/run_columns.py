"""The lines of a run into columns while it is read, in pieces: of the text, only ids are kept.

What is not one result per line, or needs a slower reader, ends it, and the readers of whole files
find out what it is: nothing is reported from here.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.parsing.block_index import index_lines
from fastrank.kernels.parsing.fields import begin_text, next_query, take_lines
from fastrank.kernels.parsing.read_on import READ, last_tag, read_on
from fastrank.kernels.simd.instructions import load_word_inside, store_word
from fastrank.kernels.texts.numbers import EXACT, read_decimal
from fastrank.kernels.texts.text import equal_inside
from fastrank.native.codes import (
    DONE,
    END_OF_BLOCK,
    ENDED,
    INDEXED,
    KEPT,
    NEW_QUERY,
    NOT_STREAMED,
    PASSED_OVER,
    POSITION,
    QUERY,
    QUERY_LENGTH,
    ROWS,
    SIZE,
    STATUS,
    STRETCHES,
)
from fastrank.native.declare import helper, inlined, kernel

U = np.uint64


@inlined
def keep(text, start, length, kept, place):
    """Copy a text to kept[place:], and up to 7 bytes more; returns the place behind it."""
    stop = place + length
    while place < stop:
        store_word(kept, place, load_word_inside(text, start))
        start, place = start + 8, place + 8
    return stop


@helper
def begin_stretch(text, kept, stretch_starts, stretch_lengths, stretch_rows, cursor, state):
    """Begin a stretch of cursor[QUERY], unless it goes on from the piece before."""
    start, length = cursor[QUERY], cursor[QUERY_LENGTH]
    stretch = state[STRETCHES]
    last = stretch - 1
    if last >= 0 and equal_inside(
        text, start, length, kept, stretch_starts[last], stretch_lengths[last]
    ):
        return
    stretch_starts[stretch], stretch_lengths[stretch] = state[KEPT], length
    stretch_rows[stretch] = state[ROWS]
    state[KEPT] = keep(text, start, length, kept, state[KEPT])
    state[STRETCHES] += 1


@kernel(
    "int64(uint8[::1], uint8[::1], int64[::1], int64[::1], float64[::1],"
    " int64[::1], int64[::1], int64[::1], uint8[::1], uint8[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)
def pack_run(
    text,
    kept,
    doc_starts,
    doc_lengths,
    scores,
    stretch_starts,
    stretch_lengths,
    stretch_rows,
    field_starts,
    field_ends,
    newlines,
    starts,
    lengths,
    score_starts,
    score_lengths,
    cursor,
    state,
):
    """Read the lines of text[: cursor[SIZE]], and of what comes then, as far as `read_on` goes.

    Returns how many bytes of what the text holds in the end are done with.

    Rows, stretches and ids go where state[ROWS], state[STRETCHES] and state[KEPT] say. The ids are
    copied to `kept`, which has as many bytes for them as the text: a line is at least 9 bytes
    longer than its ids. Scratch: an index of a block, and columns for CHUNK lines.
    """
    ended = cursor[ENDED] != 0
    index = (field_starts, field_ends, newlines)
    columns = (starts, lengths, score_starts, score_lengths)
    begin_text(cursor, 0)
    kind = END_OF_BLOCK
    while kind >= NEW_QUERY:
        if kind == END_OF_BLOCK:
            at_end = cursor[INDEXED] == cursor[SIZE]
            if at_end and (ended or read_on(text, last_tag(cursor), cursor) != READ):
                break
            index_lines(text, index, cursor)
        elif kind == NEW_QUERY:
            begin_stretch(text, kept, stretch_starts, stretch_lengths, stretch_rows, cursor, state)
        taken = take_lines(text, kind, index, cursor, 0, columns)
        row, place = state[ROWS], state[KEPT]
        for i in range(taken):
            doc_starts[U(row)], doc_lengths[U(row)] = place, lengths[i]
            place = keep(text, starts[i], lengths[i], kept, place)
            stop = score_starts[i] + score_lengths[i]
            status, scores[U(row)] = read_decimal(text, score_starts[i], stop)
            if status != EXACT:
                state[STATUS] = NOT_STREAMED
            row += 1
        if taken > 0 and state[PASSED_OVER] != 0:
            state[STATUS] = NOT_STREAMED
        state[ROWS], state[KEPT] = row, place
        line = cursor[POSITION]
        kind = next_query(text, taken, index, cursor)
        if cursor[POSITION] != line:
            state[PASSED_OVER] = 1
    if kind < NEW_QUERY:
        state[STATUS] = kind
    return cursor[SIZE] if state[STATUS] != DONE or ended else cursor[POSITION]
