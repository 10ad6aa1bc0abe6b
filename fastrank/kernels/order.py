"""Whether the scores of consecutive lines descend, mostly without reading them as numbers.

Decimals with equally many digits before the point compare as text, the digits behind the point
padded with zeros: up to 24 bytes in three words. Rounding keeps the order, so what descends as
decimals descends as doubles and as C floats too. Any other pair of scores is read as numbers.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.instructions import load_word, swap_bytes
from fastrank.kernels.numbers import EXACT, is_digit, read_decimal
from fastrank.kernels.places import ASCENDING, DESCENDING, UNREADABLE
from fastrank.native.declare import helper, inlined

U = np.uint64
ZERO = U(0)
ALL = U(0xFFFFFFFFFFFFFFFF)
HIGHEST_BITS = U(0x8080808080808080)
MINUS, POINT, DIGIT_0 = 45, 46, 48
DIGITS_0 = U(0x3030303030303030)
# Added to the number in a byte, these reach 128 from 10 on and from 1 on.
ROOM_FOR_9, ROOM_FOR_0 = U(0x7676767676767676), U(0x7F)
# Which bytes of each word belong to a score of so many bytes.
LONGEST = 24
PRESENT_0, PRESENT_1, PRESENT_2 = (
    np.array(
        [2 ** (8 * min(max(length - 8 * part, 0), 8)) - 1 for length in range(LONGEST + 1)],
        dtype=np.uint64,
    )
    for part in range(3)
)


@inlined
def instead_of_0(byte, place, part):
    """What to change in eight digits 0 to have `byte` at `place` of the score."""
    at = place - 8 * part
    return U(byte ^ DIGIT_0) << U(8 * at) if 0 <= at < 8 else ZERO


@inlined
def no_room(place, part):
    """What to change in ROOM_FOR_9 to leave none at `place` of the score."""
    at = place - 8 * part
    return (ROOM_FOR_0 ^ U(0x76)) << U(8 * at) if 0 <= at < 8 else ZERO


@helper
def form_of(text, start, length):
    """The form of a score, as `take_descending` wants it; no score fits that of another text."""
    negative = text[start] == MINUS
    point = -1
    plain = length <= LONGEST
    for i in range(1 if negative else 0, length):
        if text[start + i] == POINT and point < 0:
            point = i
        elif not is_digit(text[start + i]):
            plain = False
    shortest = U(length if point < 0 else point + 1)
    span = U(0 if point < 0 else LONGEST - point - 1)
    if not plain:
        shortest, span = ALL, ZERO
    sign = 0 if negative else -1
    return (
        shortest,
        span,
        ALL if negative else ZERO,
        DIGITS_0 ^ instead_of_0(POINT, point, 0) ^ instead_of_0(MINUS, sign, 0),
        ROOM_FOR_9 ^ no_room(point, 0) ^ no_room(sign, 0),
        DIGITS_0 ^ instead_of_0(POINT, point, 1),
        ROOM_FOR_9 ^ no_room(point, 1),
        DIGITS_0 ^ instead_of_0(POINT, point, 2),
        ROOM_FOR_9 ^ no_room(point, 2),
    )


@inlined
def part_of_score(text, start, present, zeros, room):
    """Eight bytes of a score as digits, most significant first, and bits where there is none.

    `present` masks the bytes of the score; for the others come digits 0. `zeros` is what the
    bytes would be if all digits were 0.
    """
    digits = (load_word(text, start) ^ zeros) & present
    return swap_bytes(digits), ((digits + room) | digits) & HIGHEST_BITS


@inlined
def take_descending(text, starts, lengths, i, stop, form, before):
    """Pass over scores that have one form and descend. Returns the first that does not, and the
    words of the one before it."""
    shortest, span, flip, zeros_0, room_0, zeros_1, room_1, zeros_2, room_2 = form
    before_0, before_1, before_2 = before
    while i < stop:
        start, length = starts[U(i)], U(lengths[U(i)])
        if length - shortest > span:
            break
        a, wrong = part_of_score(text, start, PRESENT_0[length], zeros_0, room_0)
        b, wrong_b = part_of_score(text, start + 8, PRESENT_1[length], zeros_1, room_1)
        c = ZERO
        wrong |= wrong_b
        if length > U(16):
            c, wrong_c = part_of_score(text, start + 16, PRESENT_2[length], zeros_2, room_2)
            wrong |= wrong_c
        # Of negative scores the larger text is the smaller number.
        a, b, c = a ^ flip, b ^ flip, c ^ flip
        if wrong != ZERO or a > before_0:
            break
        if a == before_0 and (b > before_1 or (b == before_1 and c > before_2)):
            break
        before_0, before_1, before_2 = a, b, c
        i += 1
    return i, (before_0, before_1, before_2)


@helper
def compare_numbers(text, starts, lengths, i):
    """The order of scores i - 1 and i as doubles."""
    stop = starts[i - 1] + lengths[i - 1]
    before_status, before = read_decimal(text, starts[i - 1], stop)
    status, score = read_decimal(text, starts[i], starts[i] + lengths[i])
    if before_status != EXACT or status != EXACT:
        return UNREADABLE
    return DESCENDING if before >= score else ASCENDING


@helper
def check_order(text, starts, lengths, first, stop):
    """Whether scores first - 1 to stop - 1 descend, equal ones allowed.

    DESCENDING, ASCENDING (somewhere), or UNREADABLE for a number only a slower reader can read.
    """
    highest = (ALL, ALL, ALL)
    i = max(first - 1, 0)
    while i < stop:
        if i >= first and i > 0:
            order = compare_numbers(text, starts, lengths, i)
            if order != DESCENDING:
                return order
        form = form_of(text, starts[i], lengths[i])
        # The score with the new form itself, which fits it or, if it is no plain decimal, nothing.
        _, before = take_descending(text, starts, lengths, i, i + 1, form, highest)
        i, _ = take_descending(text, starts, lengths, i + 1, stop, form, before)
    return DESCENDING
