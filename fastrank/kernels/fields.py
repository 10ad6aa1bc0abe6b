"""Lines of a run into fields, 64 bytes at a time, consecutive lines of one query in one go.

Most lines look like the line before: the same query, one blank between fields, not much more than
60 bytes from the document on. Such a line is taken with a single look at its blanks. Any other is
taken from an index of a block of text, of where its fields end and where its newlines are. `cursor`
(kernels/places.py) says how far both have come; a line that goes over the end of a block waits for
the next one.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.instructions import (
    count_ones,
    load_gaps,
    load_masks,
    load_word_inside,
    trailing_zeros,
)
from fastrank.kernels.places import (
    CHUNK,
    END_OF_BLOCK,
    FIELD,
    FIELDS,
    FIELDS_IN_LINE,
    INDEXED,
    LINE,
    LINES,
    MALFORMED,
    NEW_QUERY,
    NUL_AT_LINE_START,
    NUL_IN_LINE,
    NUL_SEEN,
    POSITION,
    PREFIX,
    QUERY,
    QUERY_LENGTH,
    SAME_QUERY,
    SIMILAR,
    TAG,
    TAG_SIZE,
    TEMPLATE,
)
from fastrank.kernels.text import equal, equal_inside
from fastrank.native.declare import helper, inlined

HASH = 35
U = np.uint64
ZERO, ONE = U(0), U(1)
ALL = U(0xFFFFFFFFFFFFFFFF)
# Behind the last field end of a block; no line ends so late.
NEVER = 2**62


@inlined
def is_blank(byte):
    """C's isspace in the C locale."""
    return byte == 32 or 9 <= byte <= 13


@inlined
def note_bits(bits, at, places, count, group):
    """Append `at` + the place of every set bit to places[:count]; returns the new count.

    A `group` at a time without a look at the bits left: a few useless stores cost less than a
    branch that guesses wrong.
    """
    stop = count + count_ones(bits)
    while count < stop:
        for i in range(group):
            places[U(count + i)] = at + trailing_zeros(bits)
            bits &= bits - ONE
        count += group
    return stop


@helper
def begin_text(cursor, start):
    """Set the cursor to a line that begins at `start`."""
    cursor[POSITION] = cursor[INDEXED] = cursor[QUERY] = start
    cursor[FIELD] = cursor[FIELDS] = cursor[LINE] = cursor[LINES] = 0
    cursor[QUERY_LENGTH] = cursor[TAG_SIZE] = cursor[TEMPLATE] = cursor[PREFIX] = 0
    cursor[NUL_SEEN] = -1


@helper
def index_block(text, stop, ended, ends, newlines, cursor):
    """Index the text from cursor[INDEXED] to `stop`, after what is left of the block before.

    If the text has `ended` there, it need not end with a newline.
    """
    fields = 0
    # Of a line longer than a block, no more than what tells that it has enough fields.
    for field in range(cursor[FIELD], min(cursor[FIELDS], cursor[FIELD] + 16)):
        ends[fields] = ends[field]
        fields += 1
    lines = 0
    nul = -1
    at = cursor[INDEXED]
    was_blank = ONE if at == 0 or is_blank(text[at - 1]) else ZERO
    while at < stop:
        blanks, breaks, nuls = load_masks(text, at, stop)
        # A field ends at a blank that has none before it.
        fields = note_bits(blanks & ~(blanks << ONE | was_blank), at, ends, fields, 12)
        lines = note_bits(breaks, at, newlines, lines, 2)
        if nuls != ZERO and nul < 0:
            nul = at + trailing_zeros(nuls)
        was_blank = blanks >> U(63)
        at += 64
    if ended and stop > 0 and text[stop - 1] != 10:
        if not is_blank(text[stop - 1]):
            ends[fields] = stop
            fields += 1
        newlines[lines] = stop
        lines += 1
    # Taking lines looks at most 6 fields ahead.
    for i in range(7):
        ends[fields + i] = NEVER
    cursor[FIELD], cursor[FIELDS] = 0, fields
    cursor[LINE], cursor[LINES] = 0, lines
    cursor[INDEXED] = stop
    if cursor[NUL_SEEN] < 0:
        cursor[NUL_SEEN] = nul


@inlined
def after_blanks(text, at):
    """Where the field begins that comes after the blank at `at`."""
    at += 1
    while is_blank(text[U(at)]):
        at += 1
    return at


@inlined
def line_start(text, position):
    """Where the first field of the line at `position` begins."""
    return after_blanks(text, position) if is_blank(text[U(position)]) else position


@helper
def take_lines(
    text,
    kind,
    size,
    ends,
    newlines,
    cursor,
    row,
    doc_starts,
    doc_lengths,
    score_starts,
    score_lengths,
):
    """Note document and score of the next lines, into `row` and on, while their query is the same.

    `kind` says what is known of the first of them: NEW_QUERY, SAME_QUERY, END_OF_BLOCK (nothing) or
    SIMILAR, which is to be tried again after as many as CHUNK lines were taken. Returns the next
    free row. Stops before the first line that is of another query, or none.
    """
    columns = (doc_starts, doc_lengths, score_starts, score_lengths)
    if kind == SAME_QUERY:
        return take_indexed_lines(text, CHUNK, ends, newlines, cursor, row, columns)
    if kind != SIMILAR:
        row = take_indexed_lines(text, 1, ends, newlines, cursor, row, columns)
        return take_similar_lines(text, size, CHUNK - 1, cursor, row, columns)
    return take_similar_lines(text, size, CHUNK, cursor, row, columns)


@inlined
def load_beginning(text, at, length):
    """The first 16 bytes of text[at : at + length], for `begins_like`: two words, which of their
    bits count, and where the second is."""
    second = min(max(length - 8, 0), 8)
    first_bits = ALL >> U(64 - 8 * min(length, 8) & 63) if length > 0 else ZERO
    first = load_word_inside(text, at) & first_bits
    return first, first_bits, load_word_inside(text, at + second), second


@inlined
def begins_like(text, at, template, length, beginning):
    """Whether `length` bytes are the same at two places of the text; 8 more come behind them."""
    first, first_bits, last, second = beginning
    unlike = (load_word_inside(text, at) & first_bits) ^ first
    if second > 0:
        unlike |= load_word_inside(text, at + second) ^ last
    if unlike != ZERO:
        return False
    rest = max(length - 16, 0)
    return equal_inside(text, at + 16, rest, text, template + 16, rest)


@inlined
def look_from_document(gaps, newlines, others):
    """Whether the rest of a line, from the document on, is as usual: four fields, each with a
    single gap behind it, the last of them the newline. And where the first three end."""
    # Each without one more of the first gaps.
    after_doc = gaps & (gaps - ONE)
    after_rank = after_doc & (after_doc - ONE)
    after_score = after_rank & (after_rank - ONE)
    end = newlines & (ZERO - newlines)
    odd = others | gaps & (gaps << ONE | ONE)
    # In one word: where masks go over a branch, LLVM takes them apart byte by byte.
    wrong = after_score & (ZERO - after_score) ^ end | odd & (end | (end - ONE))
    ends = trailing_zeros(gaps), trailing_zeros(after_doc), trailing_zeros(after_rank)
    return wrong == ZERO and end != ZERO, *ends


@helper
def take_similar_lines(text, size, most, cursor, row, columns):
    """Take lines like the one at cursor[TEMPLATE]; those from the first that is unlike are left.

    What is before the document is the same, a single blank comes before each later field, and the
    newline directly after the sixth.
    """
    doc_starts, doc_lengths, score_starts, score_lengths = columns
    template, prefix = cursor[TEMPLATE], cursor[PREFIX]
    # Before the first result of a text there is nothing to be like.
    first, stop = row, row + (most if prefix > 0 else 0)
    separator = text[template + max(prefix - 1, 0)]
    beginning = load_beginning(text, template, prefix)
    tag = tag_size = 0
    doc, last = cursor[POSITION] + prefix, size - 64
    while row < stop and doc <= last:
        if not begins_like(text, doc - prefix, template, prefix, beginning):
            break
        blanks, newlines, others = load_gaps(text, doc, separator)
        fits, doc_end, rank_end, score_end = look_from_document(blanks, newlines, others)
        if not fits:
            break
        # The next line waits for this: the newline is found sooner than the fourth blank.
        line_end = trailing_zeros(newlines)
        doc_starts[U(row)] = doc
        doc_lengths[U(row)] = doc_end
        score_starts[U(row)] = doc + rank_end + 1
        score_lengths[U(row)] = score_end - rank_end - 1
        tag, tag_size = doc + score_end + 1, line_end - score_end - 1
        doc += line_end + (prefix + 1)
        row += 1
    position = doc - prefix
    if row > first:
        cursor[TAG], cursor[TAG_SIZE] = tag, tag_size
        # The index is behind now, and made anew from here on.
        cursor[POSITION] = cursor[INDEXED] = position
        cursor[FIELD] = cursor[FIELDS] = cursor[LINE] = cursor[LINES] = 0
        cursor[NUL_SEEN] = -1
    return row


@helper
def take_indexed_lines(text, most, ends, newlines, cursor, row, columns):
    """Take lines from the index, `most` of them at most; the last becomes the template."""
    doc_starts, doc_lengths, score_starts, score_lengths = columns
    position, field = cursor[POSITION], cursor[FIELD]
    query, query_length = cursor[QUERY], cursor[QUERY_LENGTH]
    line, lines = cursor[LINE], cursor[LINES]
    if cursor[NUL_SEEN] >= 0:
        while lines > line and newlines[lines - 1] > cursor[NUL_SEEN]:
            lines -= 1
    lines = min(lines, line + most)
    first = line
    begun, last = position, field
    while line < lines:
        stop = newlines[U(line)]
        # Only a line with fields has an end to its leading blanks.
        if ends[U(field + 5)] > stop:
            break
        start = line_start(text, position)
        if not equal(text, start, ends[U(field)] - start, text, query, query_length):
            break
        doc = after_blanks(text, ends[U(field + 1)])
        score = after_blanks(text, ends[U(field + 3)])
        doc_starts[U(row)] = doc
        doc_lengths[U(row)] = ends[U(field + 2)] - doc
        score_starts[U(row)] = score
        score_lengths[U(row)] = ends[U(field + 4)] - score
        row += 1
        line += 1
        begun, last = position, field
        position = stop + 1
        field += 6
        while ends[U(field)] <= stop:
            field += 1
    cursor[POSITION], cursor[FIELD], cursor[LINE] = position, field, line
    if line > first:
        cursor[TAG] = after_blanks(text, ends[last + 4])
        cursor[TAG_SIZE] = ends[last + 5] - cursor[TAG]
        cursor[TEMPLATE], cursor[PREFIX] = begun, doc_starts[row - 1] - begun
    return row


@helper
def next_nul(text, at, stop):
    """Where the first NUL of text[at:stop] is, or -1."""
    for i in range(at, stop):
        if text[i] == 0:
            return i
    return -1


@helper
def next_query(text, taken, comments, ends, newlines, cursor):
    """Pass over lines without a result. Returns what comes then, `taken` lines having been taken.

    SIMILAR if there may be more of the same; SAME_QUERY or NEW_QUERY, which becomes cursor[QUERY];
    END_OF_BLOCK; or what is wrong with the line at cursor[POSITION].
    """
    if taken == CHUNK:
        return SIMILAR
    while cursor[LINE] < cursor[LINES]:
        position, field, stop = cursor[POSITION], cursor[FIELD], newlines[cursor[LINE]]
        if text[position] == 0:
            return NUL_AT_LINE_START
        fields = 0
        while fields < 6 and ends[field + fields] <= stop:
            fields += 1
        start = position if fields == 0 else line_start(text, position)
        if fields != 0 and not (comments and text[start] == HASH):
            if position <= cursor[NUL_SEEN] < stop:
                return NUL_IN_LINE
            if fields < 6:
                cursor[FIELDS_IN_LINE] = fields
                return MALFORMED
            length = ends[field] - start
            if equal(text, start, length, text, cursor[QUERY], cursor[QUERY_LENGTH]):
                return SAME_QUERY
            cursor[QUERY], cursor[QUERY_LENGTH] = start, length
            return NEW_QUERY
        if position <= cursor[NUL_SEEN] < stop:
            cursor[NUL_SEEN] = next_nul(text, stop, cursor[INDEXED])
        while ends[field] <= stop:
            field += 1
        cursor[POSITION], cursor[FIELD] = stop + 1, field
        cursor[LINE] += 1
    return END_OF_BLOCK
