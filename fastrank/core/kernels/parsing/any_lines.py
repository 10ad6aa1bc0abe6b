"""Lines of a run into fields, whatever their queries.

Where the lines of a query stand together, most of a line is like the line before, and
kernels/parsing/fields.py makes use of that. Here every line may be of another query.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.parsing.block_index import look
from fastrank.core.kernels.parsing.check import class_of_grade
from fastrank.core.kernels.parsing.columns import nth_field
from fastrank.core.kernels.parsing.fields import (
    HASH,
    look_past_blanks,
    note_taken,
    take_split_line,
    usual_lines,
    without_lowest,
)
from fastrank.core.kernels.simd.instructions import trailing_zeros
from fastrank.core.kernels.texts.numbers import is_plain_integer, read_integer
from fastrank.core.kernels.texts.text import equal_inside, is_blank
from fastrank.core.native.codes import A_NUMBER, CHUNK, NEW_QUERY, SAME_QUERY
from fastrank.core.native.declare import helper, inlined, kernel

U = np.uint64
ZERO = U(0)


@helper
def take_any_lines(reader, kind, fields):
    """Note query, document and score of the next lines, CHUNK of them at most; how many.

    `kind` says what is known of the first, as for `take_lines`. Stops before the first line that
    has no six fields, is a comment or has a tag of another length than the line before, and has to
    be looked at by `next_query`. So has, if lines are checked, one whose fields may be misplaced.
    """
    row = np.int64(0)
    if kind in (NEW_QUERY, SAME_QUERY):
        cursor, queries = reader.cursor, fields.queries
        queries.starts[0], queries.lengths[0] = cursor.query, cursor.query_length
        row = take_split_line(reader, row, fields.results)
    return take_usual_lines(reader, row, fields)


@inlined
def has_more_fields(index, tag, stop):
    """Whether something follows the first word of the tag of a line of the block."""
    more = without_lowest(look(index.starts, tag))
    # No more than 57 marks are sure to be seen.
    return tag + min(trailing_zeros(more), 57) < stop


@helper
def has_plain_rank(text, docs, row):
    """Whether the field after the document of a row is a plain integer."""
    start = docs.starts[row] + docs.lengths[row]
    return is_plain_integer(text, *nth_field(text, start, len(text), 0))


@helper
def take_usual_lines(reader, row, fields):
    """Take lines whose tags have the length of the one before, into `row` and on up to CHUNK."""
    text, index, cursor = reader
    # Before the first result of a text there is nothing to be like.
    if cursor.rest < 0:
        return row
    starts, ends, newlines = index.starts, index.ends, index.newlines
    queries, docs, scores = fields.queries, fields.results.docs, fields.results.scores
    base, comments, checked = cursor.base, cursor.comments != 0, cursor.checked != 0
    first = line = cursor.line
    lines = min(usual_lines(reader), line + CHUNK - row)
    position, tag = cursor.position, np.int64(0)
    before, tag_before = position, tag
    last, length = np.int64(0), np.int64(-1)
    while line < lines:
        byte, stop = position - base, newlines[U(line)] - base
        marks = look(starts, byte)
        doc = without_lowest(without_lowest(marks))
        query = position + trailing_zeros(marks)
        query_end = position + trailing_zeros(look(ends, byte))
        if doc == ZERO or (comments and text[query] == HASH):
            break
        byte += trailing_zeros(doc)
        near, doc_at, doc_end, score, score_end, tag_at = look_past_blanks(text, index, byte, byte)
        # Of a line with fewer fields some of these are behind its end.
        if not near or stop - byte - tag_at != cursor.rest:
            break
        if checked and has_more_fields(index, byte + tag_at, stop):
            break
        # Whether rank and score are exchanged shows in two lines of one query.
        same = length == query_end - query and equal_inside(text, last, length, text, query, length)
        if same and checked and not has_plain_rank(text, docs, row - 1):
            break
        last, length = query, query_end - query
        byte += base
        queries.starts[U(row)], queries.lengths[U(row)] = last, length
        docs.starts[U(row)], docs.lengths[U(row)] = byte + doc_at, doc_end - doc_at
        scores.starts[U(row)], scores.lengths[U(row)] = byte + score, score_end - score
        before, tag_before = position, tag
        tag, position = byte + tag_at, base + stop + 1
        line, row = line + 1, row + 1
    if checked and line > first and not has_plain_rank(text, docs, row - 1):
        # The next line may be of the same query.
        line, row, position, tag = line - 1, row - 1, before, tag_before
    if line > first:
        note_taken(reader, tag, position, line)
        last = row - 1
        cursor.query, cursor.query_length = queries.starts[last], queries.lengths[last]
    return row


@kernel("int64(Texts, int64, float64[::1])")
def read_ranks(docs, last, scores):
    """scores[row] = minus the integer in the field after document `row` of lines of a run.

    Returns the first row whose field is not an integer, or is one beyond `last`, or -1.
    """
    text, starts, lengths = docs
    for row in range(len(starts)):
        start = starts[row] + lengths[row]
        while is_blank(text[start]):
            start += 1
        stop = start
        while not is_blank(text[stop]):
            stop += 1
        rank = read_integer(text, start, stop)
        if class_of_grade(text, start, stop) != A_NUMBER or rank > last or rank < -last:
            return row
        scores[row] = -rank
    return -1
