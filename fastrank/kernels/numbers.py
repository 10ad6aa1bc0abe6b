"""Numbers in text, as C's atol and strtod read them, exactly.

Decimal numbers use the algorithm of Eisel and Lemire (D. Lemire, "Number parsing at a gigabyte
per second", Software: Practice and Experience 51, 2021): the decimal mantissa times a 128-bit
power of five. What it cannot decide, and the forms nobody prints (hexadecimal, inf, nan), is
left to the caller, which has `float()`.
"""

from __future__ import annotations

import numpy as np

from fastrank.native.declare import helper

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
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ONE = np.uint64(1)

# What read_decimal says of a text.
EXACT, HARD = 0, 1


@helper
def multiply(a, b):
    """The 128-bit product of two 64-bit numbers, as high and low half."""
    a_low, a_high = a & LOW, a >> HALF
    b_low, b_high = b & LOW, b >> HALF
    low = a_low * b_low
    middle = a_high * b_low + (low >> HALF)
    other = a_low * b_high + (middle & LOW)
    return a_high * b_high + (middle >> HALF) + (other >> HALF), (other << HALF) | (low & LOW)


@helper
def leading_zeros(value):
    """How many of the 64 bits come before the first set one; `value` is not zero."""
    zeros = 0
    for shift in (32, 16, 8, 4, 2, 1):
        if value >> np.uint64(64 - shift) == np.uint64(0):
            value = value << np.uint64(shift)
            zeros += shift
    return zeros


@helper
def is_digit(byte):
    return 48 <= byte <= 57


@helper
def scaled(mantissa, power, bits):
    """bits[0] = the double nearest to mantissa * 10**power, as its 64 bits; HARD if undecided."""
    bits[0] = np.uint64(0)
    if mantissa == np.uint64(0):
        return EXACT
    if power < SMALLEST_POWER or power > LARGEST_POWER:
        return HARD
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
            return HARD
    top = np.int64(high >> np.uint64(63))
    fraction = high >> np.uint64(top + 9)
    # 217706 / 2**16 is log2(10) to the precision that this range of powers needs.
    exponent = ((217706 * power) >> 16) + 63 + 1023 + top - zeros
    if exponent <= 0 or exponent >= 2046:
        return HARD
    halfway = low <= ONE and -4 <= power <= 23 and fraction & np.uint64(3) == ONE
    if halfway and fraction << np.uint64(top + 9) == high:
        fraction = fraction & ~ONE
    fraction = (fraction + (fraction & ONE)) >> ONE
    if fraction >= np.uint64(1 << 53):
        fraction = np.uint64(1 << 52)
        exponent += 1
    bits[0] = (np.uint64(exponent) << np.uint64(52)) | (fraction & np.uint64((1 << 52) - 1))
    return EXACT


@helper
def read_decimal(text, start, stop, number):
    """Read the longest decimal prefix of text[start:stop] as strtod would.

    number[0] becomes its value (0 when no number starts there). Returns EXACT, or HARD when the
    text must be given to a slower, complete reader.
    """
    number[0] = 0.0
    at = start
    negative = False
    if at < stop and (text[at] == 45 or text[at] == 43):
        negative = text[at] == 45
        at += 1
    if at < stop and not is_digit(text[at]) and text[at] != 46:
        letter = text[at] | 32
        return HARD if letter == 105 or letter == 110 else EXACT
    if at + 1 < stop and text[at] == 48 and text[at + 1] | 32 == 120:
        return HARD
    mantissa = np.uint64(0)
    digits = 0
    power = 0
    seen = False
    point = False
    while at < stop:
        byte = text[at]
        if is_digit(byte):
            seen = True
            if digits < 19:
                mantissa = mantissa * np.uint64(10) + np.uint64(byte - 48)
                if mantissa != np.uint64(0):
                    digits += 1
                if point:
                    power -= 1
            elif byte != 48:
                return HARD
            elif not point:
                power += 1
        elif byte == 46 and not point:
            point = True
        else:
            break
        at += 1
    if not seen:
        return EXACT
    if at + 1 < stop and text[at] | 32 == 101:
        at += 1
        sign = 1
        if at + 1 < stop and (text[at] == 45 or text[at] == 43):
            sign = -1 if text[at] == 45 else 1
            at += 1
        exponent = 0
        while at < stop and is_digit(text[at]):
            # Digits enough that no text is long enough to bring the number back into range.
            if exponent < 10**17:
                exponent = exponent * 10 + np.int64(text[at]) - 48
            at += 1
        power += sign * exponent
    bits = number.view(np.uint64)
    status = scaled(mantissa, power, bits)
    if negative:
        number[0] = -number[0]
    return status


@helper
def read_integer(text, start, stop):
    """The leading integer of text[start:stop] as atol reads it: 0 if none, saturating."""
    at = start
    negative = False
    if at < stop and (text[at] == 45 or text[at] == 43):
        negative = text[at] == 45
        at += 1
    # Counted below zero, where the range is one larger.
    value = np.int64(0)
    smallest = np.int64(-9223372036854775807) - np.int64(1)
    while at < stop and is_digit(text[at]):
        digit = np.int64(text[at]) - 48
        tenth = np.int64(-922337203685477580)
        if value < tenth or (value == tenth and digit > 8):
            return smallest if negative else np.int64(9223372036854775807)
        value = value * 10 - digit
        at += 1
    if negative:
        return value
    return np.int64(9223372036854775807) if value == smallest else -value
