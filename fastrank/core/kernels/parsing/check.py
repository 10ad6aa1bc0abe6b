"""Lines of a file that may be wrong in any way: none of them ends the reading.

What a data line holds goes into columns, with what its numbers look like; a line that is odd as a
whole is noted with what is odd about it. What trec_eval reads in a number is decided by the same
functions that the readers use.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.parsing.columns import has_blank_in_id, next_tag_differs
from fastrank.core.kernels.parsing.scan import note_span, note_text, skip_line, split_line
from fastrank.core.kernels.texts.numbers import (
    after_digits,
    after_sign,
    read_integer,
    read_one_decimal,
)
from fastrank.core.kernels.texts.text import equal
from fastrank.core.native.codes import (
    A_NUMBER,
    A_PREFIX,
    BLANK_LINE,
    COMMENT_LINE,
    DATA_COMMENT,
    FALLBACK_NUMBER,
    FRACTION,
    HARD,
    INFINITE,
    MISPLACED_FIELDS,
    NO_NUMBER,
    NOT_A_NUMBER,
    NUL_LINE,
    ODD_KINDS,
    SECOND_COMMENT,
    TOO_FEW_FIELDS,
    TOO_MANY_FIELDS,
    WHOLE_DECIMAL,
)
from fastrank.core.native.declare import helper, kernel

HASH, MINUS, POINT, ZERO = 35, 45, 46, 48
LETTER_A, LETTER_E, LETTER_F, LETTER_I, LETTER_N, LETTER_X = 97, 101, 102, 105, 110, 120


@helper
def decimal_end(text, start, stop):
    """Where the longest decimal number that begins at `start` ends; `start` if there is none."""
    first = after_sign(text, start, stop)
    i = after_digits(text, first, stop)
    digits = i - first
    if i < stop and text[i] == POINT:
        end = after_digits(text, i + 1, stop)
        digits += end - i - 1
        i = end
    if digits == 0:
        return start
    if i < stop and text[i] | 32 == LETTER_E:
        exponent = after_sign(text, i + 1, stop)
        end = after_digits(text, exponent, stop)
        if end > exponent:
            i = end
    return i


@helper
def has_word(text, start, stop, first, second, third):
    """Whether text[start:stop] begins with three letters, in any case."""
    return (
        start + 3 <= stop
        and text[start] | 32 == first
        and text[start + 1] | 32 == second
        and text[start + 2] | 32 == third
    )


@helper
def class_of_score(text, start, stop):
    """What the text of a score is, A_NUMBER to FALLBACK_NUMBER."""
    first = after_sign(text, start, stop)
    if has_word(text, first, stop, LETTER_N, LETTER_A, LETTER_N):
        return NOT_A_NUMBER
    if first + 1 < stop and text[first] == ZERO and text[first + 1] | 32 == LETTER_X:
        return FALLBACK_NUMBER
    if has_word(text, first, stop, LETTER_I, LETTER_N, LETTER_F):
        return INFINITE if stop - first == 3 else FALLBACK_NUMBER
    end = decimal_end(text, start, stop)
    if end == start:
        return NO_NUMBER
    return A_NUMBER if end == stop else A_PREFIX


@helper
def class_of_grade(text, start, stop):
    """What the text of a grade is: A_NUMBER if it is an integer."""
    first = after_sign(text, start, stop)
    end = after_digits(text, first, stop)
    if end == stop and end > first:
        return A_NUMBER
    if decimal_end(text, start, stop) == stop:
        if end > first and text[end] == POINT:
            i = end + 1
            while i < stop and text[i] == ZERO:
                i += 1
            if i == stop:
                return WHOLE_DECIMAL
        return FRACTION
    return A_PREFIX if end > first else NO_NUMBER


@helper
def note_odd(line, start, kind, fields, odd, counts):
    """Count a line that is odd as a whole, and note it if there is room for more of its kind."""
    room = len(odd) // (3 * ODD_KINDS)
    count = counts[kind]
    if count < room:
        entry = 3 * (kind * room + count)
        odd[entry], odd[entry + 1], odd[entry + 2] = line, start, fields
    counts[kind] += 1


@helper
def kind_of_comment(fields, width, exact, follows):
    """What a comment is to the programs that do not skip it; follows: another comment."""
    if fields == width or (fields > width and not exact):
        return DATA_COMMENT
    return SECOND_COMMENT if exact and follows else COMMENT_LINE


@helper
def oddity(text, start, fields, width, exact, bounds):
    """What is odd about a line with a number of fields (-1: it holds a NUL), or -1."""
    if fields < 0:
        return NUL_LINE
    if fields == 0:
        return BLANK_LINE
    if text[start if exact else bounds[0]] == HASH:
        return COMMENT_LINE
    if fields < width:
        return TOO_FEW_FIELDS
    return TOO_MANY_FIELDS if fields > width else -1


@helper
def read_result(text, bounds, row, columns, state):
    """Score and rank of a result into their columns."""
    start, stop = bounds[8], bounds[9]
    status, columns.scores[row] = read_one_decimal(text, start, stop)
    kind = class_of_score(text, start, stop)
    if kind == NOT_A_NUMBER:
        columns.scores[row] = np.nan
    elif kind == INFINITE:
        columns.scores[row] = -np.inf if text[start] == MINUS else np.inf
    elif status & HARD:
        # The slower reader can tell that it is too large for a double, too.
        columns.fallbacks[state.fallbacks] = row
        state.fallbacks += 1
    columns.classes[row] = kind
    columns.rank_classes[row] = class_of_grade(text, bounds[6], bounds[7])
    columns.integers[row] = read_integer(text, bounds[6], bounds[7])


@helper
def has_new_tag(text, start, stop, before, before_end):
    """Whether the tag of a line differs from that of the line before or, in the first, after it."""
    if before_end == 0:
        return next_tag_differs(text, start, stop, len(text))
    return not equal(text, start, stop - start, text, before, before_end - before)


@kernel("void(uint8[::1], int64, int64, CheckedLines, int64[::1], Checking)")
def check_lines(text, position, judgments, columns, bounds, state):
    """Read all that can be read from `position` on: lines of judgments, or of a run.

    Only a line with too many fields, in a run, is both odd and a row.
    """
    size = len(text)
    width = 4 if judgments else 6
    line = row = 0
    last_comment = -1
    tag = tag_end = 0
    while position < size:
        line += 1
        start = position
        fields, position = split_line(text, start, bounds)
        if fields < 0:
            position = skip_line(text, position - 1)
        kind = oddity(text, start, fields, width, judgments != 0, bounds)
        if kind == COMMENT_LINE:
            kind = kind_of_comment(fields, width, judgments != 0, last_comment == line - 1)
            last_comment = line
        if (
            kind == TOO_MANY_FIELDS
            and judgments == 0
            and has_blank_in_id(text, bounds)
            and has_new_tag(text, bounds[10], position - 1, tag, tag_end)
        ):
            kind = MISPLACED_FIELDS
        if kind >= 0:
            note_odd(line, start, kind, fields, columns.odd, columns.odd_counts)
            if judgments or kind not in (TOO_MANY_FIELDS, MISPLACED_FIELDS):
                continue
        columns.lines[row] = line
        note_span(columns.docs, row, bounds, 2)
        state.queries = note_text(text, bounds[0], bounds[1], row, columns.queries, state.queries)
        if judgments:
            columns.integers[row] = read_integer(text, bounds[6], bounds[7])
            columns.classes[row] = class_of_grade(text, bounds[6], bounds[7])
        else:
            state.tags = note_text(text, bounds[10], bounds[11], row, columns.tags, state.tags)
            read_result(text, bounds, row, columns, state)
            tag, tag_end = bounds[10], position - 1
        row += 1
    state.rows = row
