"""Reading on in a run file, piece after piece, without going back to Python.

Only what is plain: whatever the system refuses, and the end of a part, is left to the readers in
pieces.py, which know what to say of it.
"""

from __future__ import annotations

from fastrank.kernels.simd.instructions import load_word_inside, read_at, store_word
from fastrank.native.codes import NO_FILE, SLACK
from fastrank.native.declare import helper

# What `read_on` did: nothing; it moved the text, but nothing could be read; or it read more.
NOTHING, MOVED, READ = range(3)


@helper
def last_tag(cursor):
    """From where on text must be kept for the tag of the last line taken, and what is behind."""
    return cursor.tag if cursor.tag_size > 0 else cursor.position


@helper
def read_on(reader, kept):
    """Move text[kept : cursor.size] to the beginning, and read more of the file behind it.

    Places in the cursor move along. Nothing is done unless more than fits is left of cursor.file
    before cursor.file_stop.
    """
    text, _, cursor = reader
    waiting = cursor.size - kept
    wanted = len(text) - SLACK - waiting
    if cursor.file == NO_FILE or wanted == 0 or cursor.file_stop - cursor.file_position <= wanted:
        return NOTHING
    # Up to 7 bytes more are moved, of those behind the text.
    for i in range(0, waiting, 8):
        store_word(text, i, load_word_inside(text, kept + i))
    count = max(read_at(cursor.file, cursor.file_position, text, waiting, wanted), 0)
    cursor.file_position += count
    cursor.size = waiting + count
    cursor.position -= kept
    cursor.tag -= kept
    cursor.template -= kept
    cursor.query -= kept
    if cursor.template < 0:
        cursor.template = cursor.prefix = 0
    if cursor.query < 0:
        cursor.query = cursor.query_length = 0
    cursor.indexed = cursor.position
    cursor.line = cursor.lines = 0
    return READ if count > 0 else MOVED
