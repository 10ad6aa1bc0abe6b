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
from fastrank.kernels.texts.numbers import read_decimal
from fastrank.kernels.texts.text import equal_inside
from fastrank.native.codes import DONE, END_OF_BLOCK, NEW_QUERY, NOT_STREAMED
from fastrank.native.declare import helper, inlined, kernel

U = np.uint64


@inlined
def copy_text(text, start, length, kept, place):
    """Copy a text to kept[place:], and up to 7 bytes more; returns the place behind it."""
    stop = place + length
    while place < stop:
        store_word(kept, place, load_word_inside(text, start))
        start, place = start + 8, place + 8
    return stop


@helper
def begin_stretch(reader, kept, stretches, state):
    """Begin a stretch of cursor.query, unless it goes on from the piece before."""
    text, _, cursor = reader
    starts, lengths, rows = stretches
    start, length = cursor.query, cursor.query_length
    stretch = state.stretches
    last = stretch - 1
    if last >= 0 and equal_inside(text, start, length, kept, starts[last], lengths[last]):
        return
    starts[stretch], lengths[stretch], rows[stretch] = state.kept, length, state.rows
    state.kept = copy_text(text, start, length, kept, state.kept)
    state.stretches += 1


@kernel("int64(LineReader, Texts, float64[::1], Stretches, ResultFields, Reading)")
def pack_run(reader, docs, numbers, stretches, fields, state):
    """Read the lines of text[: cursor.size], and of what comes then, as far as `read_on` goes.

    Returns how many bytes of what the text holds in the end are done with.

    Rows, stretches and ids go where state.rows, state.stretches and state.kept say. The ids are
    copied to the buffer of `docs`, which has as many bytes for them as the text: a line is at least
    9 bytes longer than its ids. numbers: the scores. fields: memory for CHUNK lines.
    """
    text, _, cursor = reader
    kept, scores = docs.buffer, fields.scores
    ended = cursor.ended != 0
    begin_text(cursor, 0)
    kind = END_OF_BLOCK
    while kind >= NEW_QUERY:
        if kind == END_OF_BLOCK:
            at_end = cursor.indexed == cursor.size
            if at_end and (ended or read_on(reader, last_tag(cursor)) != READ):
                break
            index_lines(reader)
        elif kind == NEW_QUERY:
            begin_stretch(reader, kept, stretches, state)
        taken = take_lines(reader, kind, 0, fields)
        row, place = state.rows, state.kept
        for i in range(taken):
            length = fields.docs.lengths[i]
            docs.starts[U(row)], docs.lengths[U(row)] = place, length
            place = copy_text(text, fields.docs.starts[i], length, kept, place)
            stop = scores.starts[i] + scores.lengths[i]
            status, numbers[U(row)] = read_decimal(text, scores.starts[i], stop)
            if status & state.refused:
                state.status = NOT_STREAMED
            row += 1
        if taken > 0 and state.passed_over != 0:
            state.status = NOT_STREAMED
        state.rows, state.kept = row, place
        line = cursor.position
        kind = next_query(reader, taken)
        if cursor.position != line:
            state.passed_over = 1
    if kind < NEW_QUERY:
        state.status = kind
    return cursor.size if state.status != DONE or ended else cursor.position
