"""The lines of a run into columns while it is read, in pieces: of the text, only ids are kept.

What is not one result per line, or needs a slower reader, ends it, and the readers of whole files
find out what it is: nothing is reported from here. `read_on` goes on, piece after piece,
without going back to Python.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.parsing.block_index import index_lines
from fastrank.core.kernels.parsing.fields import begin_text, next_query, take_lines
from fastrank.core.kernels.simd.instructions import load_word_inside, read_at, store_word
from fastrank.core.kernels.texts.numbers import read_decimal
from fastrank.core.kernels.texts.text import equal_inside
from fastrank.core.native.codes import DONE, END_OF_BLOCK, NEW_QUERY, NO_FILE, NOT_STREAMED, SLACK
from fastrank.core.native.declare import helper, inlined, kernel

U = np.uint64


@inlined
def copy_text(text, start, length, target, offset):
    """Copy a text to target[offset:], and up to 7 bytes more; returns the offset behind it."""
    stop = offset + length
    while offset < stop:
        store_word(target, offset, load_word_inside(text, start))
        start, offset = start + 8, offset + 8
    return stop


@helper
def begin_stretch(reader, ids, stretches, state):
    """Begin a stretch of cursor.query, unless it goes on from the piece before."""
    text, _, cursor = reader
    starts, lengths, rows = stretches
    start, length = cursor.query, cursor.query_length
    stretch = state.stretches
    last = stretch - 1
    if last >= 0 and equal_inside(text, start, length, ids, starts[last], lengths[last]):
        return
    starts[stretch], lengths[stretch], rows[stretch] = state.kept, length, state.rows
    state.kept = copy_text(text, start, length, ids, state.kept)
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
    ids, scores = docs.buffer, fields.scores
    ended = cursor.ended != 0
    begin_text(cursor)
    kind = END_OF_BLOCK
    while kind >= NEW_QUERY:
        if kind == END_OF_BLOCK:
            at_end = cursor.indexed == cursor.size
            if at_end and (ended or read_on(reader, last_tag(cursor)) != READ):
                break
            index_lines(reader)
        elif kind == NEW_QUERY:
            begin_stretch(reader, ids, stretches, state)
        taken = take_lines(reader, kind, 0, fields)
        row, offset = state.rows, state.kept
        for i in range(taken):
            length = fields.docs.lengths[i]
            docs.starts[U(row)], docs.lengths[U(row)] = offset, length
            offset = copy_text(text, fields.docs.starts[i], length, ids, offset)
            stop = scores.starts[i] + scores.lengths[i]
            status, numbers[U(row)] = read_decimal(text, scores.starts[i], stop)
            if status & state.refused:
                state.status = NOT_STREAMED
            row += 1
        if taken > 0 and state.passed_over != 0:
            state.status = NOT_STREAMED
        state.rows, state.kept = row, offset
        line = cursor.position
        kind = next_query(reader, taken)
        if cursor.position != line:
            state.passed_over = 1
    if kind < NEW_QUERY:
        state.status = kind
    return cursor.size if state.status != DONE or ended else cursor.position


# What `read_on` did: nothing; it moved the text, but nothing could be read; or it read more.
NOTHING, MOVED, READ = range(3)


@helper
def last_tag(cursor):
    """From where on text must be kept for the tag of the last line taken, and what is behind."""
    return cursor.tag if cursor.tag_size > 0 else cursor.position


@helper
def read_on(reader, start):
    """Move text[start : cursor.size] to the beginning, and read more of the file behind it.

    Places in the cursor move along. Nothing is done unless more than fits is left of cursor.file
    before cursor.file_stop.
    """
    text, _, cursor = reader
    waiting = cursor.size - start
    room = len(text) - SLACK - waiting
    if cursor.file == NO_FILE or room == 0 or cursor.file_stop - cursor.file_position <= room:
        return NOTHING
    # Up to 7 bytes more are moved, of those behind the text.
    for i in range(0, waiting, 8):
        store_word(text, i, load_word_inside(text, start + i))
    count = max(read_at(cursor.file, cursor.file_position, text, waiting, room), 0)
    cursor.file_position += count
    cursor.size = waiting + count
    cursor.position -= start
    cursor.tag -= start
    cursor.template -= start
    cursor.query -= start
    if cursor.template < 0:
        cursor.template = cursor.prefix = 0
    if cursor.query < 0:
        cursor.query = cursor.query_length = 0
    cursor.indexed = cursor.position
    cursor.line = cursor.lines = 0
    return READ if count > 0 else MOVED
