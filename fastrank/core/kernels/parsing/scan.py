"""Lines of text into fields: the lexical rules of trec_eval's input files.

Every reader fills arrays that hold one item per data line, and a `Reading` (native/records). Texts
are noted as (start, length) in the buffer. Consecutive lines of one query make one *stretch*: a
file with its queries together has as many stretches as queries.
"""

from __future__ import annotations

from fastrank.core.kernels.parsing.block_index import NEWLINE, find_byte, index_lines
from fastrank.core.kernels.parsing.fields import (
    FIRST_IN_FILE,
    HASH,
    begin_text,
    next_query,
    take_lines,
)
from fastrank.core.kernels.texts.numbers import is_plain_integer, read_decimal, read_integer
from fastrank.core.kernels.texts.text import equal, is_blank
from fastrank.core.native.codes import (
    ALL_COMMENTS,
    END_OF_BLOCK,
    MALFORMED,
    NEW_QUERY,
    NUL_AT_LINE_START,
    NUL_IN_LINE,
    PARTIAL,
    SHORTEST_LINE,
)
from fastrank.core.native.declare import helper, kernel
from fastrank.core.native.records import ResultFields, Spans


@kernel("int64(uint8[::1])")
def count_lines(text):
    """How many lines there are at most: newlines plus one."""
    lines = 1
    for i in range(len(text)):
        if text[i] == NEWLINE:
            lines += 1
    return lines


@kernel("int64(int64)")
def most_lines(size):
    """How many lines of a run begin in a text of so many bytes, or end there: room for these."""
    return size // SHORTEST_LINE + 2


@helper
def split_line(text, position, bounds):
    """Split the line that begins at `position` into fields.

    bounds[2 * f], bounds[2 * f + 1] become start and stop of field f, as far as there is room.
    Returns how many fields the line has (-1 when it holds a NUL) and where the next line begins.
    """
    fields = 0
    size = len(text)
    while True:
        while position < size and text[position] != NEWLINE and is_blank(text[position]):
            position += 1
        if position >= size or text[position] == NEWLINE:
            return fields, position + 1
        start = position
        while position < size and not is_blank(text[position]):
            if text[position] == 0:
                return -1, position + 1
            position += 1
        if 2 * fields < len(bounds):
            bounds[2 * fields] = start
            bounds[2 * fields + 1] = position
        fields += 1


@helper
def skip_line(text, position):
    """Where the line after the one at `position` begins."""
    return min(find_byte(text, NEWLINE, position, len(text)) + 1, len(text))


@helper
def note_text(text, start, stop, row, stretches, count):
    """Begin a new stretch at `row` unless its text is that of the line before.

    `count` is the number of stretches; returns the number there are then.
    """
    starts, lengths, rows = stretches
    last = count - 1
    if last >= 0 and equal(text, starts[last], lengths[last], text, start, stop - start):
        return count
    starts[count], lengths[count], rows[count] = start, stop - start, row
    return count + 1


@helper
def note_span(spans, row, bounds, field):
    """Note where a field of the line in `row` stands."""
    start = bounds[2 * field]
    spans.starts[row], spans.lengths[row] = start, bounds[2 * field + 1] - start


@helper
def note_number(text, start, stop, row, numbers, fallbacks, state):
    """Read a decimal into numbers[row], or note in `fallbacks` that a slower reader must."""
    status, numbers[row] = read_decimal(text, start, stop)
    if status & state.refused:
        note_fallback(start, stop, row, fallbacks, state)


@helper
def note_fallback(start, stop, row, fallbacks, state):
    """Note that a slower reader must read the number of a row."""
    entry = 3 * state.fallbacks
    fallbacks[entry], fallbacks[entry + 1], fallbacks[entry + 2] = row, start, stop - start
    state.fallbacks += 1


@helper
def stop_reading(state, status, position, fields):
    """Note why and where reading ended."""
    state.status, state.at, state.fields = status, position, fields


@kernel("void(LineReader, int64, ResultFields, float64[::1], int64[::1], Stretches, Reading)")
def scan_run(reader, comments, fields, numbers, fallbacks, stretches, state):
    """Read `query Q0 doc rank score tag` lines; further fields and blank lines are ignored.

    With `comments`, a line whose first non-blank character is # is skipped. fields: documents for
    all lines, scores for CHUNK lines. numbers: the scores.
    """
    text, _, cursor = reader
    docs, scores = fields
    size = len(text)
    row = 0
    begin_text(cursor)
    cursor.rest = FIRST_IN_FILE
    cursor.size, cursor.ended, cursor.comments = size, 1, comments
    kind = END_OF_BLOCK
    while kind >= NEW_QUERY:
        if kind == END_OF_BLOCK:
            if cursor.indexed == size:
                break
            index_lines(reader)
        elif kind == NEW_QUERY:
            stretch = state.stretches
            stretches.starts[stretch] = cursor.query
            stretches.lengths[stretch] = cursor.query_length
            stretches.rows[stretch] = row
            state.stretches += 1
        first = row
        rest = Spans(docs.starts[first:], docs.lengths[first:])
        row += take_lines(reader, kind, 0, ResultFields(rest, scores))
        for i in range(row - first):
            start = scores.starts[i]
            stop = start + scores.lengths[i]
            note_number(text, start, stop, first + i, numbers, fallbacks, state)
        kind = next_query(reader, row - first)
    state.rows = row
    if kind < NEW_QUERY:
        stop_reading(state, kind, cursor.position, cursor.fields)
    state.tag, state.tag_size = cursor.tag, cursor.tag_size


@helper
def next_judgment(text, position, comments, width, bounds, state):
    """Split the next line of a relevance file, which must have exactly `width` fields.

    With SINGLE_COMMENTS a line with # in column 0 is skipped, but the line after it is data
    whatever it begins with, as in trec_eval 10.0; with ALL_COMMENTS every such line is skipped.
    Returns where the next line begins, or -1 when reading ends.
    """
    if comments and text[position] == HASH:
        position = skip_line(text, position)
        while comments == ALL_COMMENTS and position < len(text) and text[position] == HASH:
            position = skip_line(text, position)
        if position >= len(text):
            return -1
    if text[position] == 0:
        stop_reading(state, NUL_AT_LINE_START, position, 0)
        return -1
    line = position
    fields, position = split_line(text, line, bounds)
    if fields != width:
        stop_reading(state, NUL_IN_LINE if fields < 0 else MALFORMED, line, fields)
        return -1
    return position


@kernel("void(uint8[::1], int64, QrelsLines, int64[::1], Stretches, int64[::1], Reading)")
def scan_qrels(text, comments, lines, fallbacks, stretches, bounds, state):
    """Read `query group doc grade` lines; the grade is the field's leading integer.

    If state.refused asks for whole numbers, other grades are left to a slower reader.
    """
    strict = state.refused & PARTIAL != 0
    position = 0
    row = 0
    while position < len(text):
        position = next_judgment(text, position, comments, 4, bounds, state)
        if position < 0:
            break
        state.stretches = note_text(text, bounds[0], bounds[1], row, stretches, state.stretches)
        note_span(lines.groups, row, bounds, 1)
        note_span(lines.docs, row, bounds, 2)
        lines.grades[row] = read_integer(text, bounds[6], bounds[7])
        if strict and not is_plain_integer(text, bounds[6], bounds[7]):
            note_fallback(bounds[6], bounds[7], row, fallbacks, state)
        row += 1
    state.rows = row


@kernel(
    "void(uint8[::1], int64, int64, PreferenceLines, int64[::1], Stretches, int64[::1], Reading)"
)
def scan_preferences(text, comments, width, lines, fallbacks, stretches, bounds, state):
    """Read `query group subgroup doc level` lines (width 5) or such without subgroup (4)."""
    position = 0
    row = 0
    while position < len(text):
        position = next_judgment(text, position, comments, width, bounds, state)
        if position < 0:
            break
        state.stretches = note_text(text, bounds[0], bounds[1], row, stretches, state.stretches)
        note_span(lines.groups, row, bounds, 1)
        if width == 5:
            note_span(lines.subgroups, row, bounds, 2)
        note_span(lines.docs, row, bounds, width - 2)
        start, stop = bounds[2 * width - 2], bounds[2 * width - 1]
        note_number(text, start, stop, row, lines.levels, fallbacks, state)
        row += 1
    state.rows = row
