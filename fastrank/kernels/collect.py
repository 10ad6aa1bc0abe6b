"""The lines of a run gathered by query, documents and scores only, wherever they stand."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.fields import begin_text, index_block, next_query, take_lines
from fastrank.kernels.numbers import EXACT, read_decimal
from fastrank.kernels.places import (
    BLOCK,
    COMMENTS,
    END_OF_BLOCK,
    ENDED,
    INDEXED,
    NEW_QUERY,
    NOT_STREAMED,
    POSITION,
    QUERY,
    QUERY_LENGTH,
    SIZE,
    STATUS,
)
from fastrank.kernels.text import find_text
from fastrank.native.declare import kernel


@kernel(
    "int64(uint8[::1], int64,"
    " uint8[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], uint8[::1], int64[::1], int64[::1], float64[::1],"
    " int64[::1], int64[::1])"
)
def collect_run(
    text,
    storing,
    queries_text,
    query_starts,
    query_lengths,
    query_table,
    ends,
    newlines,
    doc_starts,
    doc_lengths,
    score_starts,
    score_lengths,
    rows,
    places,
    gathered,
    starts,
    lengths,
    scores,
    cursor,
    state,
):
    """Count the lines of judged queries in text[: cursor[SIZE]], or when `storing` put them down.

    rows[q] and places[q] are where the next line of query q and its document go; counting, they
    grow from 0 by lines and bytes. Returns how many bytes are done with.
    """
    size, ended = cursor[SIZE], cursor[ENDED] != 0
    begin_text(cursor)
    query = np.int64(-1)
    kind = END_OF_BLOCK
    while kind >= NEW_QUERY:
        if kind == END_OF_BLOCK:
            if cursor[INDEXED] == size:
                break
            stop = min(cursor[INDEXED] + BLOCK, size)
            index_block(text, stop, ended and stop == size, ends, newlines, cursor)
        elif kind == NEW_QUERY:
            query = find_text(
                text,
                cursor[QUERY],
                cursor[QUERY_LENGTH],
                (queries_text, query_starts, query_lengths),
                query_table,
            )
        taken = take_lines(
            text,
            ends,
            newlines,
            cursor,
            0,
            doc_starts,
            doc_lengths,
            score_starts,
            score_lengths,
        )
        if query >= 0:
            row, place = rows[query], places[query]
            for i in range(taken):
                length = doc_lengths[i]
                if storing:
                    for j in range(length):
                        gathered[place + j] = text[doc_starts[i] + j]
                    starts[row], lengths[row] = place, length
                    status, scores[row] = read_decimal(
                        text, score_starts[i], score_starts[i] + score_lengths[i]
                    )
                    if status != EXACT:
                        state[STATUS] = NOT_STREAMED
                        return size
                row += 1
                place += length
            rows[query], places[query] = row, place
        kind = next_query(text, cursor[COMMENTS] != 0, ends, newlines, cursor)
    if kind < NEW_QUERY:
        state[STATUS] = kind
    return size if kind < NEW_QUERY or ended else cursor[POSITION]


@kernel("int64(int64, int64[::1], int64[::1], int64[::1])")
def place_lines(parts, rows, places, offsets):
    """From lines and bytes per part and query to where they go: queries in order, parts in order.

    offsets[q] becomes the first row of query q; returns how many bytes all documents take.
    """
    queries = len(offsets) - 1
    row = place = 0
    for query in range(queries):
        offsets[query] = row
        for part in range(parts):
            at = part * queries + query
            lines, size = rows[at], places[at]
            rows[at], places[at] = row, place
            row += lines
            place += size
    offsets[queries] = row
    return place
