"""Lines of a run into fields, whatever their queries: one look at each usual line.

Where the lines of a query stand together, most of a line is like the line before, and
kernels/fields.py makes use of that. Here every line may be of another query.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.fields import HASH, look_from_document, take_indexed_lines
from fastrank.kernels.instructions import load_gaps, trailing_zeros
from fastrank.kernels.places import (
    CHUNK,
    COMMENTS,
    FIELD,
    FIELDS,
    INDEXED,
    LINE,
    LINES,
    NUL_SEEN,
    POSITION,
    PREFIX,
    QUERY,
    QUERY_LENGTH,
    SIMILAR,
    SIZE,
    TAG,
    TAG_SIZE,
    TEMPLATE,
)
from fastrank.native.declare import helper

U = np.uint64
ZERO, ONE = U(0), U(1)


@helper
def take_any_lines(text, kind, ends, newlines, cursor, queries, columns):
    """Note query, document and score of the next lines, CHUNK of them at most; how many.

    `kind` says what is known of the first, as for `take_lines`. Stops before the first line that
    is not like others and has to be looked at by `next_query`.
    """
    row = np.int64(0)
    if kind != SIMILAR:
        row = take_indexed_lines(text, 1, ends, newlines, cursor, row, columns)
        if row == 0:
            return row
        starts, lengths = queries
        starts[0], lengths[0] = cursor[QUERY], cursor[QUERY_LENGTH]
    return take_plain_lines(text, row, cursor, queries, columns)


@helper
def take_plain_lines(text, row, cursor, queries, columns):
    """Take lines of six fields with a single blank between them, into `row` and on up to CHUNK.

    The blank is that of the line at cursor[TEMPLATE]. Lines from the first that is otherwise are
    left; so is one with more than 64 bytes up to the document or from there on.
    """
    query_starts, query_lengths = queries
    doc_starts, doc_lengths, score_starts, score_lengths = columns
    separator = text[cursor[TEMPLATE] + max(cursor[PREFIX] - 1, 0)]
    comments = cursor[COMMENTS] != 0
    # Before the first result of a text it is not known what comes between fields.
    first, stop = row, CHUNK if cursor[PREFIX] > 0 else row
    tag = tag_size = 0
    # Two looks must not go beyond the text.
    at, last = cursor[POSITION], cursor[SIZE] - 128
    while row < stop and at <= last:
        gaps, newlines, others = load_gaps(text, at, separator)
        after_query = gaps & (gaps - ONE)
        before_doc = after_query ^ (after_query - ONE)
        odd = (others | newlines | gaps & (gaps << ONE | ONE)) & before_doc
        if odd != ZERO or after_query == ZERO or (comments and text[at] == HASH):
            break
        query_starts[U(row)], query_lengths[U(row)] = at, trailing_zeros(gaps)
        doc = at + trailing_zeros(after_query) + 1
        # The next line waits for this: it is looked for first.
        if newlines != ZERO:
            newline = at + trailing_zeros(newlines)
            passed = U(doc - at)
            gaps, newlines, others = gaps >> passed, newlines >> passed, others >> passed
        else:
            gaps, newlines, others = load_gaps(text, doc, separator)
            newline = doc + trailing_zeros(newlines)
        fits, doc_end, rank_end, score_end = look_from_document(gaps, newlines, others)
        if not fits:
            break
        doc_starts[U(row)], doc_lengths[U(row)] = doc, doc_end
        score_starts[U(row)], score_lengths[U(row)] = doc + rank_end + 1, score_end - rank_end - 1
        tag = doc + score_end + 1
        tag_size = newline - tag
        at = newline + 1
        row += 1
    if row > first:
        cursor[TAG], cursor[TAG_SIZE] = tag, tag_size
        # The index is behind now, and made anew from here on.
        cursor[POSITION] = cursor[INDEXED] = at
        cursor[FIELD] = cursor[FIELDS] = cursor[LINE] = cursor[LINES] = 0
        cursor[NUL_SEEN] = -1
    return row
