"""Results kept by query, wherever their lines stand: records on sheets of one buffer.

A sheet has records of one query, and at its end a link to the query's next sheet, 0 if there is
none. Sheets are taken in turn, so that those being written lie close together: a few megabytes
however long the run is, where a place of its own for every query would cost a miss of the caches
and of the table of pages for nearly every line.

A record is the length of the document's id, the score, and the id. Where no record follows the
memory is still zero, and no id is empty. Sheets begin at multiples of their size, a power of two;
at 0 there is none.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.simd.instructions import (
    as_double,
    as_word,
    load_word_inside,
    prefetch,
    store_word,
)
from fastrank.native.codes import FREE_SHEET, SHEETS_END
from fastrank.native.declare import helper, inlined

U = np.uint64
# The length of an id in one byte, and a score.
HEADER = 9
LINK = 8
LONGEST_ID = 255
CACHE_LINE = 64


@inlined
def put_record(records, place, score, text, start, length):
    """Write a record, and zeros up to 7 bytes behind it; 8 bytes of text come behind the id."""
    store_word(records, place, U(length))
    store_word(records, place + 1, as_word(score))
    place += HEADER
    while length > 8:
        store_word(records, place, load_word_inside(text, start))
        place, start, length = place + 8, start + 8, length - 8
    word = load_word_inside(text, start)
    beyond = U(64 - 8 * length)
    store_word(records, place, word << beyond >> beyond)


@helper
def next_sheet(records, room, size, place):
    """Take a free sheet, linked to the one that has `place` (0: it is the first); 0 if none is."""
    sheet = room[FREE_SHEET]
    if sheet + size > room[SHEETS_END]:
        return np.int64(0)
    room[FREE_SHEET] = sheet + size
    if place != 0:
        store_word(records, (place | size - 1) + 1 - LINK, U(sheet))
    return sheet


@helper
def take_records(records, sheet, size, count, starts, lengths, scores):
    """Note the records of a query from its first sheet on, into row `count` and on.

    Returns the next free row.
    """
    while sheet != 0:
        place, stop = sheet, sheet + size - LINK
        sheet = np.int64(load_word_inside(records, stop))
        for line in range(0, size, CACHE_LINE):
            prefetch(records, sheet + line)
        while place < stop and records[U(place)] != 0:
            length = np.int64(records[U(place)])
            scores[U(count)] = as_double(load_word_inside(records, place + 1))
            starts[U(count)], lengths[U(count)] = place + HEADER, length
            place += HEADER + length
            count += 1
    return count
