"""Lines of a run into fields, consecutive lines of one query in one go.

A block of text is indexed first, 64 bytes at a time and without a branch: one bit per byte in each
of two rows of marks, where a field starts and where one ends, and a list of the newlines. So no
line has to wait for the end of the line before. Most lines begin like the line before, up to the
document; what comes then is taken from a single word of either row. `cursor` (kernels/places.py)
says how far all has come; a line that goes over the end of a block is indexed again with the next.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.instructions import (
    count_ones,
    differ,
    load_block,
    load_masks,
    load_word_inside,
    store_word,
    trailing_zeros,
)
from fastrank.kernels.places import (
    BASE,
    BLOCK,
    CHUNK,
    COMMENTS,
    END_OF_BLOCK,
    ENDED,
    FIELD_ENDS,
    FIELD_STARTS,
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
    SINGLE,
    SIZE,
    TAG,
    TAG_SIZE,
    TEMPLATE,
)
from fastrank.kernels.text import equal, equal_inside
from fastrank.native.declare import helper, inlined

HASH, NEWLINE = 35, 10
U = np.uint64
ZERO, ONE = U(0), U(1)
ALL = U(0xFFFFFFFFFFFFFFFF)
WORD = 64
# Fields of a line, by what they are in a run.
DOC, SCORE, RUN_TAG, FIELDS = 2, 4, 5, 6


@inlined
def is_blank(byte):
    """C's isspace in the C locale."""
    return byte == 32 or 9 <= byte <= 13


@helper
def begin_text(cursor, start):
    """Set the cursor to a line that begins at `start`."""
    cursor[POSITION] = cursor[INDEXED] = cursor[BASE] = cursor[QUERY] = start
    cursor[LINE] = cursor[LINES] = 0
    cursor[QUERY_LENGTH] = cursor[TAG_SIZE] = cursor[TEMPLATE] = cursor[PREFIX] = 0
    cursor[NUL_SEEN] = -1


@inlined
def note_newlines(bits, at, newlines, lines):
    """Append `at` + the place of every set bit to newlines[:lines]; returns the new count.

    Two at a time without a look at the bits left: a useless store costs less than a branch that
    guesses wrong.
    """
    stop = lines + count_ones(bits)
    while lines < stop:
        newlines[U(lines)] = at + trailing_zeros(bits)
        bits &= bits - ONE
        newlines[U(lines + 1)] = at + trailing_zeros(bits)
        bits &= bits - ONE
        lines += 2
    return stop


@inlined
def mark_fields(blanks, was_blank, index, place):
    """Mark where fields start and end among 64 bytes; `was_blank` is 1 if a blank comes before."""
    starts, ends, _ = index
    after_blank = blanks << ONE | was_blank
    store_word(starts, place, after_blank & ~blanks)
    store_word(ends, place, blanks & ~after_blank)
    return blanks >> U(63), blanks & after_blank


@helper
def index_block(text, index, cursor):
    """Index the text from cursor[POSITION] on, where a line begins, up to a block of it.

    If the text has ended (cursor[ENDED]) behind cursor[SIZE], it need not end with a newline. A
    line that is longer than a block is found, but not its fields.
    """
    starts, ends, newlines = index
    base, size = cursor[POSITION], cursor[SIZE]
    stop = min(base + BLOCK, size)
    lines = place = np.int64(0)
    at, was_blank, any_nul, doubled = base, ONE, ZERO, ZERO
    while at + WORD <= stop:
        blanks, breaks, nuls = load_block(text, at)
        was_blank, again = mark_fields(blanks, was_blank, index, place)
        doubled |= again
        lines = note_newlines(breaks, at, newlines, lines)
        any_nul |= nuls
        at, place = at + WORD, place + 8
    if at < stop:
        blanks, breaks, nuls = load_masks(text, at, stop)
        _, again = mark_fields(blanks, was_blank, index, place)
        doubled |= again & ~(ALL << U(stop - at))
        lines = note_newlines(breaks, at, newlines, lines)
        any_nul |= nuls
        place += 8
    # Here every search ends, also that for the end of a field that ends with the text.
    store_word(starts, place, ALL)
    store_word(ends, place, ALL)
    if lines == 0 and stop < size:
        stop = find_byte(text, NEWLINE, stop, size)
        any_nul |= ONE
        if stop < size:
            newlines[0], lines = stop, np.int64(1)
            stop += 1
    if cursor[ENDED] != 0 and base < stop == size and text[stop - 1] != NEWLINE:
        newlines[lines] = stop
        lines += 1
    cursor[BASE], cursor[INDEXED] = base, stop
    cursor[SINGLE] = doubled == ZERO
    cursor[LINE], cursor[LINES] = 0, lines
    cursor[NUL_SEEN] = -1
    if any_nul != ZERO:
        note_nul(text, base, cursor)


@helper
def find_byte(text, byte, at, stop):
    """Where a byte first is in text[at:stop]; `stop` if nowhere."""
    while at < stop and text[at] != byte:
        at += 1
    return at


@helper
def note_nul(text, at, cursor):
    """Set cursor[NUL_SEEN] to the first NUL of the indexed text from `at` on, or -1."""
    nul = find_byte(text, 0, at, cursor[INDEXED])
    cursor[NUL_SEEN] = nul if nul < cursor[INDEXED] else -1


@inlined
def look(marks, at):
    """The marks from `at` on, the lowest bit that of `at`: 57 of them, and a few more or zeros."""
    return load_word_inside(marks, at >> 3) >> U(at & 7)


@helper
def next_mark(marks, at):
    """The first mark from `at` on; there is one."""
    word = look(marks, at)
    while word == ZERO:
        at = (at & ~7) + WORD
        word = load_word_inside(marks, at >> 3)
    return at + trailing_zeros(word)


@helper
def split_line(text, index, stop, cursor):
    """Find the fields of the line from cursor[POSITION] to `stop`, the first six at most.

    Their starts and ends go to cursor[FIELD_STARTS:] and cursor[FIELD_ENDS:]. Returns how many; if
    fewer than six, the start after them is not before `stop` and not behind the next field.
    """
    starts, ends, _ = index
    base, at = cursor[BASE], cursor[POSITION]
    is_marked = stop - base <= BLOCK
    for field in range(FIELDS):
        if is_marked:
            at = base + next_mark(starts, at - base)
        else:
            while at < stop and is_blank(text[at]):
                at += 1
        cursor[FIELD_STARTS + field] = at
        if at >= stop:
            return field
        if is_marked:
            at = base + next_mark(ends, at - base)
        else:
            while at < stop and not is_blank(text[at]):
                at += 1
        cursor[FIELD_ENDS + field] = at
    return FIELDS


@inlined
def without_lowest(word):
    """All set bits but the lowest."""
    return word & (word - ONE)


@inlined
def look_past_single_blanks(index, at):
    """Of a line whose document starts at this place of a block: whether a look reaches its tag, and
    how far from there are document and score, each with its end, and tag.

    For a block in which no more than one blank comes between fields.
    """
    starts, _, _ = index
    rank = without_lowest(look(starts, at))
    score = without_lowest(rank)
    tag = without_lowest(score)
    rank_at, score_at, tag_at = trailing_zeros(rank), trailing_zeros(score), trailing_zeros(tag)
    return tag != ZERO, np.int64(0), rank_at - 1, score_at, tag_at - 1, tag_at


@inlined
def look_past_blanks(index, at):
    """The same for any block, and for a place before the document and behind the field before."""
    starts, ends, _ = index
    doc, doc_end = look(starts, at), look(ends, at)
    score = without_lowest(without_lowest(doc))
    score_end = without_lowest(without_lowest(doc_end))
    tag = without_lowest(score)
    return (
        tag != ZERO,
        trailing_zeros(doc),
        trailing_zeros(doc_end),
        trailing_zeros(score),
        trailing_zeros(score_end),
        trailing_zeros(tag),
    )


@inlined
def load_beginning(text, at, length):
    """The first 16 bytes of text[at : at + length] as two words, and which of their bits count."""
    first = ALL >> U(64 - 8 * min(length, 8))
    second = ALL >> U(64 - 8 * min(length - 8, 8)) if length > 8 else ZERO
    return (load_word_inside(text, at), load_word_inside(text, at + 8)), (first, second)


@helper
def usual_lines(newlines, cursor):
    """Up to which line of a block all lines have their fields marked and hold no NUL."""
    line, lines = cursor[LINE], cursor[LINES]
    if cursor[INDEXED] - cursor[BASE] > BLOCK:
        return line
    if cursor[NUL_SEEN] >= 0:
        while lines > line and newlines[lines - 1] > cursor[NUL_SEEN]:
            lines -= 1
    return lines


@helper
def take_lines(text, kind, index, cursor, row, columns):
    """Note document and score of the next lines, into `row` and on, while their query is the same.

    `kind` says what is known of the first of them: NEW_QUERY, SAME_QUERY (its fields were found
    by `next_query`), END_OF_BLOCK (nothing) or SIMILAR, which is to be tried again after as many as
    CHUNK lines were taken. columns = starts and lengths of documents and of scores. Returns the
    next free row. Stops before the first line that is of another query, or none.
    """
    stop = row + CHUNK
    if kind in (NEW_QUERY, SAME_QUERY):
        row = take_split_line(index, cursor, row, columns)
    return take_similar_lines(text, index, stop, cursor, row, columns)


@helper
def take_split_line(index, cursor, row, columns):
    """Take the line whose fields `next_query` has found: others are compared with it."""
    doc_starts, doc_lengths, score_starts, score_lengths = columns
    _, _, newlines = index
    doc, score = cursor[FIELD_STARTS + DOC], cursor[FIELD_STARTS + SCORE]
    doc_starts[row], doc_lengths[row] = doc, cursor[FIELD_ENDS + DOC] - doc
    score_starts[row], score_lengths[row] = score, cursor[FIELD_ENDS + SCORE] - score
    cursor[TAG] = cursor[FIELD_STARTS + RUN_TAG]
    cursor[TAG_SIZE] = cursor[FIELD_ENDS + RUN_TAG] - cursor[TAG]
    cursor[TEMPLATE], cursor[PREFIX] = cursor[POSITION], doc - cursor[POSITION]
    cursor[POSITION] = newlines[cursor[LINE]] + 1
    cursor[LINE] += 1
    return row + 1


def take_by(look):
    """Make what takes lines 0 to `count` - 1 from cursor[LINE] on that begin as the one at
    cursor[TEMPLATE] does, up to the document, and are as `look` wants them.

    Lines from the first that is not so are left. Returns how many were taken.
    """

    @helper
    def take(text, index, count, cursor, row, columns):
        doc_starts, doc_lengths, score_starts, score_lengths = columns
        _, ends, newlines = index
        template, prefix, base = cursor[TEMPLATE], cursor[PREFIX], cursor[BASE]
        beginning, bits = load_beginning(text, template, prefix)
        rest = max(prefix - 16, 0)
        position, first, tag = cursor[POSITION], cursor[LINE], np.int64(0)
        taken = np.int64(0)
        while taken < count and not differ(text, position, beginning, bits):
            at, stop = position + prefix, newlines[U(first + taken)]
            if rest > 0 and not equal_inside(text, at - rest, rest, text, template + 16, rest):
                break
            near, doc, doc_end, score, score_end, tag_at = look(index, at - base)
            if not near or at + tag_at >= stop:
                break
            doc_starts[U(row + taken)], doc_lengths[U(row + taken)] = at + doc, doc_end - doc
            score_starts[U(row + taken)] = at + score
            score_lengths[U(row + taken)] = score_end - score
            tag, position = at + tag_at, stop + 1
            taken += 1
        if taken > 0:
            cursor[TAG], cursor[TAG_SIZE] = tag, base + next_mark(ends, tag - base) - tag
            cursor[POSITION], cursor[LINE] = position, first + taken
        return taken

    return take


take_single_blanks, take_any_blanks = take_by(look_past_single_blanks), take_by(look_past_blanks)


@helper
def take_similar_lines(text, index, most, cursor, row, columns):
    """Take lines like the one at cursor[TEMPLATE], up to row `most`; returns the next free row."""
    _, _, newlines = index
    line, lines = cursor[LINE], usual_lines(newlines, cursor)
    # The end of the text is not loaded beyond.
    while lines > line and newlines[lines - 1] > cursor[SIZE] - 32:
        lines -= 1
    count = min(lines - line, most - row)
    # Before the first result of a text there is nothing to be like.
    if count <= 0 or cursor[PREFIX] == 0:
        return row
    if cursor[SINGLE] != 0:
        return row + take_single_blanks(text, index, count, cursor, row, columns)
    return row + take_any_blanks(text, index, count, cursor, row, columns)


@helper
def next_query(text, taken, index, cursor):
    """Pass over lines without a result. Returns what comes then, `taken` lines having been taken.

    SIMILAR if there may be more of the same; SAME_QUERY or NEW_QUERY, which becomes cursor[QUERY];
    END_OF_BLOCK; or what is wrong with the line at cursor[POSITION].
    """
    if taken == CHUNK:
        return SIMILAR
    _, _, newlines = index
    while cursor[LINE] < cursor[LINES]:
        position, stop = cursor[POSITION], newlines[cursor[LINE]]
        if text[position] == 0:
            return NUL_AT_LINE_START
        fields = split_line(text, index, stop, cursor)
        start = cursor[FIELD_STARTS]
        has_nul = position <= cursor[NUL_SEEN] < stop
        if fields != 0 and not (cursor[COMMENTS] != 0 and text[start] == HASH):
            if has_nul:
                return NUL_IN_LINE
            if fields < FIELDS:
                cursor[FIELDS_IN_LINE] = fields
                return MALFORMED
            length = cursor[FIELD_ENDS] - start
            if equal(text, start, length, text, cursor[QUERY], cursor[QUERY_LENGTH]):
                return SAME_QUERY
            cursor[QUERY], cursor[QUERY_LENGTH] = start, length
            return NEW_QUERY
        if has_nul:
            note_nul(text, stop, cursor)
        line = cursor[LINE] + 1
        # All blank lines at once: looked for from each of them, the next field may be far away.
        while fields == 0 and line < cursor[LINES] and newlines[line] < start:
            line += 1
        cursor[POSITION], cursor[LINE] = newlines[line - 1] + 1, line
    return END_OF_BLOCK
