"""The ids of a run's queries without judgments, kept while the run is read."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.simd.instructions import load_word_inside, store_word
from fastrank.kernels.texts.text import equal_inside, hash_text_inside
from fastrank.native.codes import NOT_STREAMED, STATUS, UNKNOWN_BYTES
from fastrank.native.declare import helper

U = np.uint64
NEWLINE = 10
# What is copied and compared are words, so that bytes behind an id must be there, too.
SPARE = 8
# Scores that begin with it or with what comes behind it are those of headers, infinity or NaN. Only
# this is looked at: to read the score of every line would take 4% longer for scattered lines.
LETTER = 65


@helper
def begin_unknown(unknown, state):
    """Forget the ids: the caller has taken them."""
    unknown.recent[:] = 0
    state[UNKNOWN_BYTES] = 0


@helper
def note_unknown(text, start, length, unknown, state):
    """Append an id and a newline, unless it was noted a short while ago; False if there is no room.

    8 bytes at least come behind the id. Nothing is noted where there is no memory for ids. There
    never is room for one as long as that.
    """
    ids, recent = unknown
    if len(ids) == 0:
        return True
    used = state[UNKNOWN_BYTES]
    slot = hash_text_inside(text, start, length) & U(len(recent) - 1)
    place = recent[slot] - 1
    if (
        place >= 0
        and place + length < used
        and ids[place + length] == NEWLINE
        and equal_inside(text, start, length, ids, place, length)
    ):
        return True
    if used + length + SPARE > len(ids):
        if length + SPARE > len(ids):
            state[STATUS] = NOT_STREAMED
        return False
    for i in range(0, length, 8):
        store_word(ids, used + i, load_word_inside(text, start + i))
    ids[used + length] = NEWLINE
    recent[slot] = used + 1
    state[UNKNOWN_BYTES] = used + length + 1
    return True
