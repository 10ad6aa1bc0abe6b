"""Results kept by query, wherever their lines stand: on pages of one buffer.

A page has results of one query, and at its end a link to the query's next page, 0 if there is
none. Pages are taken in turn, so that those being written lie close together: a few megabytes
however long the run is, where a place of its own for every query would cost a miss of the caches
and of the system's table of pages for nearly every line.

A result is the length of the document's id, the score, and the id. Where no result follows the
memory is still zero, and no id is empty. Pages begin at multiples of their size, a power of two;
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
from fastrank.native.codes import FREE_PAGE, PAGE_SIZE, PAGES_END
from fastrank.native.declare import helper, inlined

U = np.uint64
# The length of an id in one byte, and a score.
HEADER = 9
LINK = 8
LONGEST_ID = 255
CACHE_LINE = 64


@inlined
def put_result(buffer, place, score, text, start, length):
    """Write a result, and zeros up to 7 bytes behind it; 8 bytes of text come behind the id."""
    store_word(buffer, place, U(length))
    store_word(buffer, place + 1, as_word(score))
    place += HEADER
    while length > 8:
        store_word(buffer, place, load_word_inside(text, start))
        place, start, length = place + 8, start + 8, length - 8
    word = load_word_inside(text, start)
    beyond = U(64 - 8 * length)
    store_word(buffer, place, word << beyond >> beyond)


@helper
def next_page(buffer, room, place):
    """Take a free page, linked to the one that has `place` (0: it is the first); 0 if none is."""
    page, size = room[FREE_PAGE], room[PAGE_SIZE]
    if page + size > room[PAGES_END]:
        return np.int64(0)
    room[FREE_PAGE] = page + size
    if place != 0:
        store_word(buffer, (place | size - 1) + 1 - LINK, U(page))
    return page


@helper
def take_results(buffer, page, size, count, results):
    """Note the results of a query from its first page on, into row `count` and on.

    Returns the next free row.
    """
    docs, scores = results
    while page != 0:
        place, stop = page, page + size - LINK
        page = np.int64(load_word_inside(buffer, stop))
        for line in range(0, size, CACHE_LINE):
            prefetch(buffer, page + line)
        while place < stop and buffer[U(place)] != 0:
            length = np.int64(buffer[U(place)])
            scores[U(count)] = as_double(load_word_inside(buffer, place + 1))
            docs.starts[U(count)], docs.lengths[U(count)] = place + HEADER, length
            place += HEADER + length
            count += 1
    return count
