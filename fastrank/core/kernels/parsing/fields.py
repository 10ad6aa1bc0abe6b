"""Lines of a run into fields, consecutive lines of one query in one go.

A block of text is indexed first (kernels/parsing/block_index.py). Most lines begin like the line
before, up to the document; what comes then is seen from a single word with one bit per byte, of the
index or made from the text. The cursor (native/records) says how far all has come; a line that goes
over the end of a block is indexed again with the next.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.parsing.block_index import (
    ALL,
    ONE,
    WORD,
    ZERO,
    look,
    next_mark,
    note_nul,
)
from fastrank.core.kernels.parsing.columns import (
    are_exchanged,
    has_bare_return,
    has_blank_in_id,
    next_tag_differs,
)
from fastrank.core.kernels.simd.compare import load_near_spaces, load_spaces
from fastrank.core.kernels.simd.instructions import differ, load_word_inside, trailing_zeros
from fastrank.core.kernels.texts.text import equal, equal_inside, is_blank
from fastrank.core.native.codes import (
    BARE_RETURN,
    BLOCK,
    CHUNK,
    DONE,
    END_OF_BLOCK,
    MALFORMED,
    MISPLACED,
    NEW_QUERY,
    NUL_AT_LINE_START,
    NUL_IN_LINE,
    SAME_QUERY,
    SIMILAR,
    SINGLE,
    UNMARKED,
)
from fastrank.core.native.declare import helper, inlined

HASH = 35
U = np.uint64
# Fields of a line, by what they are in a run.
DOC, SCORE, RUN_TAG, FIELDS = 2, 4, 5, 6
# cursor.rest before the first result of a file, and of a text that may be a part of one: else the
# length of the line before from its tag on.
FIRST_IN_FILE, UNKNOWN = -2, -1
# How the fields of a line are found: by marks, by its spaces, or byte by byte.
BY_MARKS, BY_SPACES, BY_BYTES = range(3)


@helper
def begin_text(cursor):
    """Set the cursor to the first line of a text."""
    cursor.position = cursor.indexed = cursor.base = cursor.query = 0
    cursor.line = cursor.lines = 0
    cursor.query_length = cursor.tag_size = cursor.template = cursor.prefix = 0
    cursor.blocks = cursor.misses = 0
    cursor.nul_seen = -1
    cursor.rest = UNKNOWN


@inlined
def how_to_split(reader, stop):
    """How to find the fields of a line that ends at `stop`."""
    text, _, cursor = reader
    if stop - cursor.base > BLOCK:
        return BY_BYTES
    if cursor.blanks != UNMARKED:
        return BY_MARKS
    return BY_SPACES if stop + WORD <= len(text) else BY_BYTES


@inlined
def next_field(text, index, position, stop, how, base):
    """Where the next field of a line begins; not before `stop` if there is none."""
    if how == BY_MARKS:
        return base + next_mark(index.starts, position - base)
    if how == BY_SPACES:
        others = ~load_spaces(text, position)
        while others == ZERO:
            position += WORD
            others = ~load_spaces(text, position)
        return position + trailing_zeros(others)
    while position < stop and is_blank(text[position]):
        position += 1
    return position


@inlined
def end_of_field(text, index, position, stop, how, base):
    """Where the field that begins at a position ends."""
    if how == BY_MARKS:
        return base + next_mark(index.ends, position - base)
    if how == BY_SPACES:
        spaces = load_spaces(text, position)
        while spaces == ZERO and position < stop:
            position += WORD
            spaces = load_spaces(text, min(position, stop))
        return min(position + trailing_zeros(spaces), stop)
    while position < stop and not is_blank(text[position]):
        position += 1
    return position


@helper
def split_line(reader, stop):
    """Find the fields of the line from cursor.position to `stop`, the first six at most.

    bounds[2 * f], bounds[2 * f + 1] become start and stop of field f. Returns how many; if fewer
    than six, the start after them is not before `stop` and not behind the next field.
    """
    text, index, cursor = reader
    bounds, base, position = index.bounds, cursor.base, cursor.position
    how = how_to_split(reader, stop)
    for field in range(FIELDS):
        position = next_field(text, index, position, stop, how, base)
        bounds[2 * field] = position
        if position >= stop:
            return field
        position = end_of_field(text, index, position, stop, how, base)
        bounds[2 * field + 1] = position
    return FIELDS


@inlined
def without_lowest(word):
    """All set bits but the lowest."""
    return word & (word - ONE)


def look_past_spaces_by(load, reach):
    """Make the look at a line whose document starts at a position in a text, `offset` in the block.

    It tells whether it reaches the line's tag, and how far away the document and the score are,
    each with its end, and the tag. This one is for a block without marks; `load` gives the spaces
    among as many bytes as `reach`.
    """

    @inlined
    def look_past_spaces(text, index, position, offset):
        doc = load(text, position)
        rank = without_lowest(doc)
        score = without_lowest(rank)
        rank_end, score_end = trailing_zeros(rank), trailing_zeros(score)
        # Behind the score another byte must be seen: a space there is one of several, as one is
        # where the document should begin.
        near = (score_end < reach - 1) & (doc & (doc >> ONE | ONE) == ZERO)
        return near, np.int64(0), trailing_zeros(doc), rank_end + 1, score_end, score_end + 1

    return look_past_spaces


@inlined
def look_past_single_blanks(text, index, position, offset):
    """The same for a block in which no more than one blank comes between fields."""
    rank = without_lowest(look(index.starts, offset))
    score = without_lowest(rank)
    tag = without_lowest(score)
    rank_at, score_at, tag_at = trailing_zeros(rank), trailing_zeros(score), trailing_zeros(tag)
    return tag != ZERO, np.int64(0), rank_at - 1, score_at, tag_at - 1, tag_at


@inlined
def look_past_blanks(text, index, position, offset):
    """The same for any block, and for a position between the field before the document and that."""
    doc, doc_end = look(index.starts, offset), look(index.ends, offset)
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
def load_beginning(text, start, length):
    """The first 16 bytes of a text of some length as two words, and which of their bits count."""
    first = ALL >> U(64 - 8 * min(length, 8))
    second = ALL >> U(64 - 8 * min(length - 8, 8)) if length > 8 else ZERO
    return (load_word_inside(text, start), load_word_inside(text, start + 8)), (first, second)


@helper
def usual_lines(reader):
    """Up to which line of a block all lines have their fields marked and hold no NUL."""
    newlines, cursor = reader.block.newlines, reader.cursor
    line, lines = cursor.line, cursor.lines
    if cursor.indexed - cursor.base > BLOCK:
        return line
    if cursor.nul_seen >= 0:
        while lines > line and newlines[lines - 1] > cursor.nul_seen:
            lines -= 1
    return lines


@helper
def take_lines(reader, kind, row, fields):
    """Note document and score of the next lines, into `row` and on, while their query is the same.

    `kind` says what is known of the first of them: NEW_QUERY, SAME_QUERY (its fields were found
    by `next_query`), END_OF_BLOCK (nothing) or SIMILAR, which is to be tried again after as many as
    CHUNK lines were taken. Returns the next free row. Stops before the first line that is of
    another query, or none.
    """
    stop = row + CHUNK
    if kind in (NEW_QUERY, SAME_QUERY):
        row = take_split_line(reader, row, fields)
    return take_similar_lines(reader, stop, row, fields)


@helper
def take_split_line(reader, row, fields):
    """Take the line whose fields `next_query` has found: others are compared with it."""
    _, (_, _, newlines, bounds), cursor = reader
    docs, scores = fields
    doc, score = bounds[2 * DOC], bounds[2 * SCORE]
    docs.starts[row], docs.lengths[row] = doc, bounds[2 * DOC + 1] - doc
    scores.starts[row], scores.lengths[row] = score, bounds[2 * SCORE + 1] - score
    cursor.tag = bounds[2 * RUN_TAG]
    cursor.tag_size = bounds[2 * RUN_TAG + 1] - cursor.tag
    cursor.template, cursor.prefix = cursor.position, doc - cursor.position
    stop = newlines[cursor.line]
    cursor.rest = stop - cursor.tag
    cursor.position = stop + 1
    cursor.line += 1
    return row + 1


@helper
def note_taken(reader, tag, position, line):
    """Go on to a line, where the tag of the one before begins at a place."""
    text, index, cursor = reader
    how = how_to_split(reader, position - 1)
    cursor.tag = tag
    cursor.tag_size = end_of_field(text, index, tag, position - 1, how, cursor.base) - tag
    cursor.position, cursor.line = position, line


def take_by(look):
    """Make what takes lines 0 to `count` - 1 from cursor.line on that begin as the one at
    cursor.template does, up to the document, and are as `look` wants them.

    Lines from the first that is not so are left. Returns how many were taken. A blank in an id
    moves a field into the tag, so lines whose tags have other lengths are left, too.
    """

    @helper
    def take(reader, count, row, fields):
        text, index, cursor = reader
        newlines, docs, scores = index.newlines, fields.docs, fields.scores
        template, prefix, base = cursor.template, cursor.prefix, cursor.base
        beginning, bits = load_beginning(text, template, prefix)
        rest, tag_length = max(prefix - 16, 0), cursor.rest
        position, first, tag = cursor.position, cursor.line, np.int64(0)
        taken = np.int64(0)
        while taken < count and not differ(text, position, beginning, bits):
            start, stop = position + prefix, newlines[U(first + taken)]
            if rest > 0 and not equal_inside(text, start - rest, rest, text, template + 16, rest):
                break
            near, doc, doc_end, score, score_end, tag_at = look(text, index, start, start - base)
            if not near or stop - start - tag_at != tag_length:
                break
            docs.starts[U(row + taken)], docs.lengths[U(row + taken)] = start + doc, doc_end - doc
            scores.starts[U(row + taken)] = start + score
            scores.lengths[U(row + taken)] = score_end - score
            tag, position = start + tag_at, stop + 1
            taken += 1
        if taken > 0:
            note_taken(reader, tag, position, first + taken)
        return taken

    return take


take_near = take_by(look_past_spaces_by(load_near_spaces, 32))
take_far = take_by(look_past_spaces_by(load_spaces, 64))
take_single_blanks, take_any_blanks = take_by(look_past_single_blanks), take_by(look_past_blanks)


@helper
def take_similar_lines(reader, most, row, fields):
    """Take lines like the one at cursor.template, up to row `most`; returns the next free row."""
    newlines, cursor = reader.block.newlines, reader.cursor
    line, lines = cursor.line, usual_lines(reader)
    # The end of the text is not loaded beyond.
    while lines > line and newlines[lines - 1] > cursor.size - WORD:
        lines -= 1
    count = min(lines - line, most - row)
    # Before the first result of a text there is nothing to be like.
    if count <= 0 or cursor.prefix == 0:
        return row
    if cursor.blanks == UNMARKED:
        taken = take_near(reader, count, row, fields)
        if taken < count:
            taken += take_far(reader, count - taken, row + taken, fields)
        return row + taken
    if cursor.blanks == SINGLE:
        return row + take_single_blanks(reader, count, row, fields)
    return row + take_any_blanks(reader, count, row, fields)


@helper
def has_new_tag(reader, stop):
    """Whether the tag of the line that was split differs from that of the line before.

    A tag that all lines share may be of any words. The first line is compared with the next. Where
    the line before is not known, the tag is taken to be new.
    """
    text, index, cursor = reader
    tag, length = index.bounds[2 * RUN_TAG], cursor.rest
    if length == FIRST_IN_FILE:
        return next_tag_differs(text, tag, stop, cursor.size)
    return length == UNKNOWN or not equal(text, tag, stop - tag, text, cursor.tag, length)


@helper
def what_is_wrong(reader, stop):
    """What seems wrong with the line of six fields or more that `split_line` has split, or DONE."""
    text, index, cursor = reader
    bounds = index.bounds
    query, tag_end = bounds[0], bounds[2 * RUN_TAG + 1]
    if next_field(text, index, tag_end, stop, how_to_split(reader, stop), cursor.base) < stop:
        # Before the tag it is a blank like others, except in a comment.
        if has_bare_return(text, query if text[query] == HASH else tag_end, stop):
            return BARE_RETURN
        if has_blank_in_id(text, bounds) and has_new_tag(reader, stop):
            return MISPLACED
    exchanged = are_exchanged(text, bounds, stop, cursor.size, cursor.ended != 0)
    return MISPLACED if exchanged else DONE


@helper
def next_query(reader, taken):
    """Pass over lines without a result. Returns what comes then, `taken` lines having been taken.

    SIMILAR if there may be more of the same; SAME_QUERY or NEW_QUERY, which becomes cursor.query;
    END_OF_BLOCK; or what is wrong with the line at cursor.position.
    """
    if taken == CHUNK:
        return SIMILAR
    text, (_, _, newlines, bounds), cursor = reader
    while cursor.line < cursor.lines:
        position, stop = cursor.position, newlines[cursor.line]
        if text[position] == 0:
            return NUL_AT_LINE_START
        fields = split_line(reader, stop)
        start = bounds[0]
        has_nul = position <= cursor.nul_seen < stop
        if fields != 0 and not (cursor.comments != 0 and text[start] == HASH):
            if has_nul:
                return NUL_IN_LINE
            if fields < FIELDS:
                cursor.fields = fields
                return MALFORMED
            length = bounds[1] - start
            same = equal(text, start, length, text, cursor.query, cursor.query_length)
            is_similar = same and stop - bounds[2 * RUN_TAG] == cursor.rest
            if cursor.checked != 0 and not is_similar:
                wrong = what_is_wrong(reader, stop)
                if wrong != DONE:
                    return wrong
            if same:
                cursor.misses += 1
                return SAME_QUERY
            cursor.query, cursor.query_length = start, length
            return NEW_QUERY
        if has_nul:
            note_nul(text, stop, cursor)
        line = cursor.line + 1
        # All blank lines at once: looked for from each of them, the next field may be far away.
        while fields == 0 and line < cursor.lines and newlines[line] < start:
            line += 1
        cursor.position, cursor.line = newlines[line - 1] + 1, line
    return END_OF_BLOCK
