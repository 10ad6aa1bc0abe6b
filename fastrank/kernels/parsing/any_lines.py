"""Lines of a run into fields, whatever their queries.

Where the lines of a query stand together, most of a line is like the line before, and
kernels/parsing/fields.py makes use of that. Here every line may be of another query.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.parsing.block_index import look
from fastrank.kernels.parsing.fields import (
    HASH,
    look_past_blanks,
    note_taken,
    take_split_line,
    usual_lines,
    without_lowest,
)
from fastrank.kernels.simd.instructions import trailing_zeros
from fastrank.native.codes import (
    BASE,
    CHUNK,
    COMMENTS,
    LINE,
    NEW_QUERY,
    POSITION,
    QUERY,
    QUERY_LENGTH,
    SAME_QUERY,
)
from fastrank.native.declare import helper

U = np.uint64
ZERO = U(0)


@helper
def take_any_lines(text, kind, index, cursor, queries, columns):
    """Note query, document and score of the next lines, CHUNK of them at most; how many.

    `kind` says what is known of the first, as for `take_lines`. Stops before the first line that
    has no six fields or is a comment, and has to be looked at by `next_query`.
    """
    row = np.int64(0)
    if kind in (NEW_QUERY, SAME_QUERY):
        starts, lengths = queries
        starts[0], lengths[0] = cursor[QUERY], cursor[QUERY_LENGTH]
        row = take_split_line(index, cursor, row, columns)
    return take_usual_lines(text, index, cursor, row, queries, columns)


@helper
def take_usual_lines(text, index, cursor, row, queries, columns):
    """Take lines of six fields, into `row` and on up to CHUNK."""
    query_starts, query_lengths = queries
    doc_starts, doc_lengths, score_starts, score_lengths = columns
    starts, ends, newlines = index
    base, comments = cursor[BASE], cursor[COMMENTS] != 0
    first = line = cursor[LINE]
    lines = min(usual_lines(newlines, cursor), line + CHUNK - row)
    position, tag = cursor[POSITION], np.int64(0)
    while line < lines:
        at, stop = position - base, newlines[U(line)] - base
        fields = look(starts, at)
        doc = without_lowest(without_lowest(fields))
        query = position + trailing_zeros(fields)
        query_end = position + trailing_zeros(look(ends, at))
        if doc == ZERO or (comments and text[query] == HASH):
            break
        at += trailing_zeros(doc)
        near, doc_at, doc_end, score, score_end, tag_at = look_past_blanks(text, index, at, at)
        # Of a line with fewer fields some of these are behind its end.
        if not near or at + tag_at >= stop:
            break
        at += base
        query_starts[U(row)], query_lengths[U(row)] = query, query_end - query
        doc_starts[U(row)], doc_lengths[U(row)] = at + doc_at, doc_end - doc_at
        score_starts[U(row)], score_lengths[U(row)] = at + score, score_end - score
        tag, position = at + tag_at, base + stop + 1
        line, row = line + 1, row + 1
    if line > first:
        note_taken(text, index, tag, position, line, cursor)
    return row
