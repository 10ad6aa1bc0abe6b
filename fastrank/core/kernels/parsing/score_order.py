"""Whether the scores of consecutive lines descend, mostly without reading them as numbers.

Decimals with equally many digits before the point compare as text, the digits behind the point
padded with zeros: the first 8 bytes decide nearly always, up to 32 in any case. Rounding keeps the
order, so what descends as decimals descends as doubles and as C floats too. Any other pair of
scores is read as numbers.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.simd.instructions import LONGEST_DECIMAL, compare_decimals, decimal_head
from fastrank.core.kernels.texts.numbers import is_digit, read_one_decimal
from fastrank.core.native.codes import ASCENDING, DESCENDING, EXACT, PARTIAL, UNREADABLE
from fastrank.core.native.declare import helper, inlined

U = np.uint64
ZERO, LOW_THREE = U(0), U(7)
ALL = U(0xFFFFFFFFFFFFFFFF)
MINUS, POINT, DIGIT_0 = 45, 46, 48
DIGITS_0, NINES = U(0x3030303030303030), U(0x0909090909090909)


@inlined
def put_byte(words, byte, position):
    """Four words of bytes that are all equal, with one byte changed by `byte` at a position."""
    a, b, c, d = words
    changed = U(byte) << (U(8) * (U(position) & LOW_THREE)) if position >= 0 else ZERO
    part = position >> 3
    return (
        a ^ (changed if part == 0 else ZERO),
        b ^ (changed if part == 1 else ZERO),
        c ^ (changed if part == 2 else ZERO),
        d ^ (changed if part == 3 else ZERO),
    )


@helper
def form_of(text, start, length):
    """The form of a score, as `take_descending` wants it; no score fits that of another text.

    How long a score of that form is at least, and how much longer it may be; whether it is
    negative; its bytes if all digits were 0; and how much more each of them may be.
    """
    negative = text[start] == MINUS
    point = -1
    plain = length <= LONGEST_DECIMAL
    first = 1 if negative else 0
    for i in range(first, length):
        if text[start + i] == POINT and point < 0:
            point = i
        elif not is_digit(text[start + i]):
            plain = False
    # One digit at least: where none comes before the point, one must come behind it.
    least = length if point < 0 else max(point + 1, first + 2)
    shortest = U(least)
    span = U(0 if point < 0 else LONGEST_DECIMAL - least)
    if not plain or length < least or length == first:
        shortest, span = ALL, ZERO
    sign = 0 if negative else -1
    lowest = put_byte((DIGITS_0, DIGITS_0, DIGITS_0, DIGITS_0), POINT ^ DIGIT_0, point)
    room = put_byte((NINES, NINES, NINES, NINES), 9, point)
    return (
        shortest,
        span,
        negative,
        put_byte(lowest, MINUS ^ DIGIT_0, sign),
        put_byte(room, 9, sign),
    )


@inlined
def take_descending(text, starts, lengths, i, stop, form):
    """Pass over scores that have one form, as score i - 1 does, and descend from that on.

    Returns the first that does not.
    """
    shortest, span, negative, lowest, room = form
    # Of a longer one there is no form, and `decimal_head` would read before its table.
    if lengths[i - 1] > LONGEST_DECIMAL:
        return i
    _, before = decimal_head(text, starts[i - 1], lengths[i - 1], lowest, room)
    while i < stop:
        start, length = starts[U(i)], lengths[U(i)]
        if U(length) - shortest > span:
            break
        fits, head = decimal_head(text, start, length, lowest, room)
        if not fits:
            break
        if head == before:
            larger, smaller = compare_decimals(
                text, start, length, starts[U(i - 1)], lengths[U(i - 1)], lowest
            )
            if smaller if negative else larger:
                break
        # Of negative scores the larger text is the smaller number.
        elif (head < before) == negative:
            break
        before = head
        i += 1
    return i


@helper
def compare_numbers(text, starts, lengths, i, refused):
    """The order of scores i - 1 and i as doubles."""
    stop = starts[i - 1] + lengths[i - 1]
    before_status, before = read_one_decimal(text, starts[i - 1], stop)
    status, score = read_one_decimal(text, starts[i], starts[i] + lengths[i])
    if (before_status | status) & refused:
        return UNREADABLE
    return DESCENDING if before >= score else ASCENDING


@helper
def check_order(text, scores, first, stop, refused):
    """Whether scores first - 1 to stop - 1 descend, equal ones allowed.

    DESCENDING, ASCENDING (somewhere), or UNREADABLE for a number only a slower reader can read, or
    one that is refused (state.refused). LONGEST_DECIMAL bytes of the text must come after the
    beginning of each.
    """
    starts, lengths = scores
    i = max(first - 1, 0)
    while i < stop:
        if i >= first and i > 0:
            order = compare_numbers(text, starts, lengths, i, refused)
            if order != DESCENDING:
                return order
        form = form_of(text, starts[i], lengths[i])
        # Others of no plain form are compared with the score before them.
        if i == 0 and form[0] == ALL and refused & PARTIAL:
            status, _ = read_one_decimal(text, starts[0], starts[0] + lengths[0])
            if status != EXACT:
                return UNREADABLE
        i = take_descending(text, starts, lengths, i + 1, stop, form)
    return DESCENDING
