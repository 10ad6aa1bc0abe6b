"""C's atol, atof and printf for single values, where Python's int, float and % differ."""

from __future__ import annotations

BLANKS = b" \t\n\v\f\r"
DIGITS = b"0123456789"
HEX_DIGITS = b"0123456789abcdefABCDEF"
LONG_MAX = 2**63 - 1


def atol(text: bytes) -> int:
    """The leading integer of a text: 0 when there is none, saturating at 64 bits."""
    text = text.lstrip(BLANKS)
    start = 1 if text[:1] in (b"+", b"-") else 0
    digits = text[start : _run(text, start, DIGITS)].lstrip(b"0")
    value = int(digits[:20] or b"0")
    return max(-LONG_MAX - 1, -value) if text[:1] == b"-" else min(LONG_MAX, value)


def atof(text: bytes) -> float:
    """The value of the longest number that a text begins with, as C's strtod; 0.0 if none.

    Decimal and hexadecimal floats, `inf`, `infinity` and `nan` in any case. Correctly rounded.
    """
    text = text.lstrip(BLANKS)
    negative = text[:1] == b"-"
    at = 1 if text[:1] in (b"+", b"-") else 0
    word = text[at : at + 3].lower()
    value: float | None
    if word in (b"inf", b"nan"):
        value = float(word)
    elif text[at : at + 2].lower() == b"0x":
        value = _hexadecimal(text, at + 2)
    else:
        value = _decimal(text, at)
    if value is None:
        return 0.0
    return -value if negative else value


def whole_number(text: bytes) -> float | None:
    """The number that all of a text is, in any form that strtod reads; None for another text."""
    at = 1 if text[:1] in (b"+", b"-") else 0
    word = text[at:].lower()
    if word in (b"inf", b"infinity", b"nan"):
        return atof(text)
    if word.startswith(b"0x"):
        end, found = _mantissa(text, at + 2, HEX_DIGITS)
        end = _exponent(text, end, b"pP")
    else:
        end, found = _mantissa(text, at, DIGITS)
        end = _exponent(text, end, b"eE")
    return atof(text) if found and end == len(text) else None


def finite(text: str) -> float | None:
    """The number that a whole text is, in decimals; None for another text, NaN and infinity."""
    if not text or not text.isascii() or set(text) - set("0123456789+-.eE"):
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def printed(specification: str, value: float) -> str:
    """`value` as C prints it: like Python, but a NaN shows its sign bit."""
    if value != value:
        # Not imported above: the trec_eval command has no other use for it.
        from math import copysign

        width = int(specification[1:].split(".")[0])
        return ("-nan" if copysign(1.0, value) < 0 else "nan").rjust(width)
    return specification % value


def _run(text: bytes, at: int, allowed: bytes) -> int:
    """Where the characters from `allowed` that begin at `at` end."""
    while at < len(text) and text[at] in allowed:
        at += 1
    return at


def _mantissa(text: bytes, at: int, digits: bytes) -> tuple[int, bool]:
    """Where digits with at most one point end, and whether there is a digit."""
    end = _run(text, at, digits)
    found = end > at
    if text[end : end + 1] == b".":
        last = _run(text, end + 1, digits)
        found = found or last > end + 1
        end = last
    return end, found


def _exponent(text: bytes, at: int, letters: bytes) -> int:
    """Where an exponent that begins at `at` ends; `at` itself when it has no digits."""
    if text[at : at + 1] not in (letters[:1], letters[1:]):
        return at
    start = at + 2 if text[at + 1 : at + 2] in (b"+", b"-") else at + 1
    end = _run(text, start, DIGITS)
    return end if end > start else at


def _decimal(text: bytes, at: int) -> float | None:
    end, found = _mantissa(text, at, DIGITS)
    return float(text[at : _exponent(text, end, b"eE")]) if found else None


def _hexadecimal(text: bytes, at: int) -> float:
    end, found = _mantissa(text, at, HEX_DIGITS)
    if not found:
        # Only the 0 of 0x is a number.
        return 0.0
    number = text[at : _exponent(text, end, b"pP")].decode("ascii")
    try:
        return float.fromhex("0x" + number)
    except OverflowError:
        return float("inf")
