"""Reading on in a run file, piece after piece, without going back to Python.

Only what is plain: whatever the system refuses, and the end of a part, is left to the readers in
pieces.py, which know what to say of it.
"""

from __future__ import annotations

from fastrank.kernels.simd.instructions import load_word_inside, read_at, store_word
from fastrank.native.codes import (
    FILE,
    INDEXED,
    LINE,
    LINES,
    NEXT,
    NO_FILE,
    POSITION,
    PREFIX,
    QUERY,
    QUERY_LENGTH,
    SIZE,
    SLACK,
    STOP,
    TAG,
    TAG_SIZE,
    TEMPLATE,
)
from fastrank.native.declare import helper

# What `read_on` did: nothing; it moved the text, but nothing could be read; or it read more.
NOTHING, MOVED, READ = range(3)


@helper
def last_tag(cursor):
    """From where on text must be kept for the tag of the last line taken, and what is behind."""
    return cursor[TAG] if cursor[TAG_SIZE] > 0 else cursor[POSITION]


@helper
def read_on(reader, kept):
    """Move text[kept : cursor[SIZE]] to the beginning, and read more of the file behind it.

    Places in the cursor move along. Nothing is done unless more than fits is left of cursor[FILE]
    before cursor[STOP].
    """
    text, _, cursor = reader
    waiting = cursor[SIZE] - kept
    wanted = len(text) - SLACK - waiting
    if cursor[FILE] == NO_FILE or wanted == 0 or cursor[STOP] - cursor[NEXT] <= wanted:
        return NOTHING
    # Up to 7 bytes more are moved, of those behind the text.
    for i in range(0, waiting, 8):
        store_word(text, i, load_word_inside(text, kept + i))
    count = max(read_at(cursor[FILE], cursor[NEXT], text, waiting, wanted), 0)
    cursor[NEXT] += count
    cursor[SIZE] = waiting + count
    for place in (POSITION, TAG, TEMPLATE, QUERY):
        cursor[place] -= kept
    if cursor[TEMPLATE] < 0:
        cursor[TEMPLATE] = cursor[PREFIX] = 0
    if cursor[QUERY] < 0:
        cursor[QUERY] = cursor[QUERY_LENGTH] = 0
    cursor[INDEXED] = cursor[POSITION]
    cursor[LINE] = cursor[LINES] = 0
    return READ if count > 0 else MOVED
