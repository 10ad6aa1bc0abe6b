"""The ids of a run's queries without judgments, kept while the run is read."""

from __future__ import annotations

from fastrank.kernels.texts.text import equal, slot_of
from fastrank.native.codes import NOT_STREAMED, STATUS, UNKNOWN_BYTES
from fastrank.native.declare import helper

NEWLINE = 10


@helper
def begin_unknown(unknown, state):
    """Forget the ids: the caller has taken them."""
    unknown.recent[:] = 0
    state[UNKNOWN_BYTES] = 0


@helper
def note_unknown(text, start, length, unknown, state):
    """Append an id and a newline, unless it was noted a short while ago; False if there is no room.

    Nothing is noted where there is no memory for ids. There never is room for one as long as that.
    """
    ids, recent = unknown
    if len(ids) == 0:
        return True
    used = state[UNKNOWN_BYTES]
    slot = slot_of(text, start, length, len(recent) - 1)
    place = recent[slot] - 1
    if (
        place >= 0
        and place + length < used
        and ids[place + length] == NEWLINE
        and equal(text, start, length, ids, place, length)
    ):
        return True
    if used + length >= len(ids):
        if length >= len(ids):
            state[STATUS] = NOT_STREAMED
        return False
    for i in range(length):
        ids[used + i] = text[start + i]
    ids[used + length] = NEWLINE
    recent[slot] = used + 1
    state[UNKNOWN_BYTES] = used + length + 1
    return True
