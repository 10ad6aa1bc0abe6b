"""Numbers in text, as C's atol and strtod read them, exactly.

Decimal numbers use the algorithm of Eisel and Lemire (D. Lemire, "Number parsing at a gigabyte
per second", Software: Practice and Experience 51, 2021): the decimal mantissa times a 128-bit
power of five. What it cannot decide, and the forms nobody prints (hexadecimal, inf, nan), is
left to the caller, which has `float()`.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.simd.instructions import (
    as_double,
    leading_zeros,
    load_word,
    load_word_inside,
    multiply,
    trailing_zeros,
)
from fastrank.core.native.codes import EXACT, HARD, PARTIAL
from fastrank.core.native.declare import helper, inlined

SMALLEST_POWER = -342
LARGEST_POWER = 308


def _powers_of_five() -> np.ndarray:
    """The 128 most significant bits of 5**q, rounded as the algorithm's proof asks."""
    table = []
    for q in range(SMALLEST_POWER, LARGEST_POWER + 1):
        power = 5 ** abs(q)
        if q >= 0:
            power = power << 128 >> power.bit_length()
        elif q >= -27:
            power = (1 << (power.bit_length() + 127)) // power + 1
        else:
            power = (1 << (2 * power.bit_length() + 128)) // power + 1
            power >>= power.bit_length() - 128
        table += [power >> 64, power & (2**64 - 1)]
    return np.array(table, dtype=np.uint64)


POWERS = _powers_of_five()
ZERO, ONE = np.uint64(0), np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
# In each byte of a word: 1, the highest bit, the digit 0, and a point less that.
EACH, HIGHEST = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
ZEROS, POINTS = np.uint64(0x3030303030303030), np.uint64(0x1E1E1E1E1E1E1E1E)
POWERS_OF_TEN = np.array([10**i for i in range(20)], dtype=np.uint64)
# Powers of ten that are doubles exactly.
DOUBLES_OF_TEN = np.array([10.0**i for i in range(23)], dtype=np.float64)
# Every integer up to here is a double exactly.
LARGEST_EXACT = np.uint64(2**53)


@inlined
def is_digit(byte):
    return 48 <= byte <= 57


@inlined
def scaled(mantissa, power):
    """EXACT and the double nearest to mantissa * 10**power, or HARD if that is undecided."""
    if mantissa == np.uint64(0):
        return EXACT, 0.0
    if power < SMALLEST_POWER or power > LARGEST_POWER:
        return HARD, 0.0
    zeros = leading_zeros(mantissa)
    shifted = mantissa << np.uint64(zeros)
    entry = 2 * (power - SMALLEST_POWER)
    high, low = multiply(shifted, POWERS[entry])
    # 55 bits are needed; only when the nine below them are all set can the rest of the power
    # of five carry into them.
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        more, _ = multiply(shifted, POWERS[entry + 1])
        before = low
        low = low + more
        if low < before:
            high = high + ONE
        if low == np.uint64(0xFFFFFFFFFFFFFFFF) and (power < -27 or power > 55):
            return HARD, 0.0
    top = np.int64(high >> np.uint64(63))
    fraction = high >> np.uint64(top + 9)
    # 217706 / 2**16 is log2(10) to the precision that this range of powers needs.
    exponent = ((217706 * power) >> 16) + 63 + 1023 + top - zeros
    if exponent <= 0 or exponent >= 2046:
        return HARD, 0.0
    halfway = low <= ONE and -4 <= power <= 23 and fraction & np.uint64(3) == ONE
    if halfway and fraction << np.uint64(top + 9) == high:
        fraction = fraction & ~ONE
    fraction = (fraction + (fraction & ONE)) >> ONE
    if fraction >= np.uint64(1 << 53):
        fraction = np.uint64(1 << 52)
        exponent += 1
    bits = (np.uint64(exponent) << np.uint64(52)) | (fraction & np.uint64((1 << 52) - 1))
    return EXACT, as_double(bits)


@inlined
def above_nine(digits):
    """The highest bit of each byte above 9; those of bytes after the first such mean nothing."""
    return ((digits + np.uint64(0x7676767676767676)) | digits) & HIGHEST


@inlined
def value_of(digits):
    """The number that eight digits make, the first in the lowest byte."""
    # Pairs, fours and eights of digits, in three multiplications.
    digits = digits * np.uint64(10) + (digits >> np.uint64(8))
    pairs = np.uint64(0x000000FF000000FF)
    fours = (digits & pairs) * np.uint64(0x000F424000000064)
    eights = ((digits >> np.uint64(16)) & pairs) * np.uint64(0x0000271000000001)
    return (fours + eights) >> np.uint64(32)


@inlined
def leading_digits(word):
    """How many bytes of a word of text are digits before the first that is not, and their value."""
    digits = word ^ ZEROS
    others = above_nine(digits)
    if others == ZERO:
        return 8, value_of(digits)
    count = trailing_zeros(others) >> 3
    return count, value_of(digits << np.uint64(8 * (8 - count)) if count > 0 else ZERO)


@inlined
def read_short(text, start, stop):
    """The digits of text[start:stop] as a number, and how many of them come after the point.

    That is 0 for anything but eight digits at most, leading zeros aside, with a point before one of
    them: nearly all scores are such, and are read here from their end, hardly ever branching.
    """
    size = stop - start
    if not 0 < size <= 16 <= stop:
        return ZERO, 0
    # What comes before the text becomes zeros; it takes two steps to shift all of a word out.
    half, rest = np.uint64(4 * min(16 - size, 8)), np.uint64(8 * max(8 - size, 0))
    first = (load_word_inside(text, stop - 16) ^ ZEROS) & (ALL << half << half)
    last = (load_word_inside(text, stop - 8) ^ ZEROS) & (ALL << rest)
    others = last ^ POINTS
    points = (others - EACH) & ~others & HIGHEST
    if points == ZERO:
        return ZERO, 0
    # The lowest bit is that of the first point: what comes before it takes its place.
    until = points ^ (points - ONE)
    digits = last & ~until | (last & until >> np.uint64(8)) << np.uint64(8) | first >> np.uint64(56)
    if first << np.uint64(8) | above_nine(digits) != ZERO:
        return ZERO, 0
    return value_of(digits), 7 - (trailing_zeros(points) >> 3)


@inlined
def read_digits(text, start, mantissa):
    """The mantissa with the digits from `start` on appended, and how many; stops at 17 or more."""
    count, value = leading_digits(load_word(text, start))
    mantissa = mantissa * POWERS_OF_TEN[np.uint64(count)] + value
    if count < 8:
        return mantissa, count
    more, value = leading_digits(load_word(text, start + 8))
    mantissa = mantissa * POWERS_OF_TEN[np.uint64(more)] + value
    if more < 8:
        return mantissa, 8 + more
    more, value = leading_digits(load_word(text, start + 16))
    return mantissa * POWERS_OF_TEN[np.uint64(more)] + value, 16 + more


@inlined
def read_exponent(text, i, stop):
    """The exponent that begins with the `e` at `i`, and where it ends."""
    i += 1
    sign = 1
    if i + 1 < stop and (text[i] == 45 or text[i] == 43):
        sign = -1 if text[i] == 45 else 1
        i += 1
    exponent = 0
    while i < stop and is_digit(text[i]):
        # Digits enough that no text is long enough to bring the number back into range.
        if exponent < 10**17:
            exponent = exponent * 10 + np.int64(text[i]) - 48
        i += 1
    return sign * exponent, i


@inlined
def read_decimal(text, start, stop):
    """Read the longest decimal prefix of text[start:stop] as strtod would; a blank or the end of
    the text is at `stop`.

    Returns EXACT and the value, or HARD when the text must be given to a slower, complete reader.
    PARTIAL is added when the number, 0 when none starts there, is not all of the text.
    """
    negative = start < stop and text[np.uint64(start)] == 45
    i = start + 1 if negative else start
    mantissa, decimals = read_short(text, i, stop)
    if decimals > 0:
        value = np.float64(np.int64(mantissa)) / DOUBLES_OF_TEN[np.uint64(decimals)]
        return EXACT, -value if negative else value
    mantissa, digits = read_digits(text, i, np.uint64(0))
    i += digits
    power = 0
    if i < stop and text[np.uint64(i)] == 46:
        mantissa, fraction = read_digits(text, i + 1, mantissa)
        i += 1 + fraction
        digits += fraction
        power = -fraction
    if i + 1 < stop and text[np.uint64(i)] | 32 == 101:
        exponent, i = read_exponent(text, i, stop)
        power += exponent
    # The whole text, and no digit lost: 10**19 is below 2**64.
    if i != stop or digits == 0 or digits > 19:
        return read_any_decimal(text, start, stop)
    if mantissa <= LARGEST_EXACT and -22 <= power <= 0:
        status = EXACT
        value = np.float64(np.int64(mantissa)) / DOUBLES_OF_TEN[np.uint64(-power)]
    else:
        status, value = scaled(mantissa, power)
    return status, -value if negative else value


@helper
def read_one_decimal(text, start, stop):
    """The same as a call: only where many are read one after the other is its code worth having."""
    return read_decimal(text, start, stop)


@inlined
def after_sign(text, start, stop):
    """Where a number goes on behind its sign, if it has one."""
    return start + 1 if start < stop and (text[start] == 45 or text[start] == 43) else start


@inlined
def after_digits(text, start, stop):
    """Where digits that begin at `start` end."""
    while start < stop and is_digit(text[start]):
        start += 1
    return start


@helper
def read_any_decimal(text, start, stop):
    """The same for every form of number, a byte at a time."""
    i = after_sign(text, start, stop)
    negative = i > start and text[start] == 45
    if i < stop and not is_digit(text[i]) and text[i] != 46:
        letter = text[i] | 32
        return (HARD if letter == 105 or letter == 110 else PARTIAL), 0.0
    if i + 1 < stop and text[i] == 48 and text[i + 1] | 32 == 120:
        return HARD, 0.0
    mantissa = np.uint64(0)
    digits = 0
    power = 0
    seen = False
    point = False
    while i < stop:
        byte = text[i]
        if is_digit(byte):
            seen = True
            if digits < 19:
                mantissa = mantissa * np.uint64(10) + np.uint64(byte - 48)
                if mantissa != np.uint64(0):
                    digits += 1
                if point:
                    power -= 1
            elif byte != 48:
                return HARD, 0.0
            elif not point:
                power += 1
        elif byte == 46 and not point:
            point = True
        else:
            break
        i += 1
    if not seen:
        return PARTIAL, 0.0
    if i + 1 < stop and text[i] | 32 == 101:
        exponent, i = read_exponent(text, i, stop)
        power += exponent
    status, value = scaled(mantissa, power)
    if i != stop:
        status |= PARTIAL
    return status, -value if negative else value


@helper
def read_integer(text, start, stop):
    """The leading integer of text[start:stop] as atol reads it: 0 if none, saturating."""
    i = after_sign(text, start, stop)
    negative = i > start and text[start] == 45
    # Counted below zero, where the range is one larger.
    value = np.int64(0)
    smallest = np.int64(-9223372036854775807) - np.int64(1)
    while i < stop and is_digit(text[i]):
        digit = np.int64(text[i]) - 48
        tenth = np.int64(-922337203685477580)
        if value < tenth or (value == tenth and digit > 8):
            return smallest if negative else np.int64(9223372036854775807)
        value = value * 10 - digit
        i += 1
    if negative:
        return value
    return np.int64(9223372036854775807) if value == smallest else -value


@helper
def is_plain_integer(text, start, stop):
    """Whether all of text[start:stop] is an integer, and of no more than 18 digits."""
    # Nearly all have up to 8 digits and no sign: a word tells how many digits come first.
    if 0 < stop - start <= trailing_zeros(above_nine(load_word(text, start) ^ ZEROS)) >> 3:
        return True
    first = after_sign(text, start, stop)
    return 0 < stop - first <= 18 and after_digits(text, first, stop) == stop
