"""C's atol, atof and printf for single values, where Python's int, float and % differ."""

from __future__ import annotations

BLANKS = b" \t\n\v\f\r"
DIGITS = b"0123456789"
# The characters that a number may consist of.
DECIMAL = DIGITS + b".eE+-"
HEXADECIMAL = DIGITS + b"abcdefABCDEF.pP+-"
SIGNS = (b"+", b"-")
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
    number, length = _without_sign(text[1:] if text[:1] in SIGNS else text)
    return -number if length and text[:1] == b"-" else number


def number_of_entire_text(text: bytes) -> float | None:
    """The value of a text that is a number as a whole, in any form of strtod; None for others."""
    rest = text[1:] if text[:1] in SIGNS else text
    is_whole = rest.lower() == b"infinity" or _without_sign(rest)[1] == len(rest) > 0
    return atof(text) if is_whole else None


def _without_sign(text: bytes) -> tuple[float, int]:
    """The value of the longest number that a text begins with, and its length; 0.0 and 0 if none.

    For `infinity`, the value and length of `inf`.
    """
    if text[:3].lower() in (b"inf", b"nan"):
        return float(text[:3]), 3
    is_hexadecimal = text[:2].lower() == b"0x"
    end = _run(text, 2, HEXADECIMAL) if is_hexadecimal else _run(text, 0, DECIMAL)
    while end and text[:1] not in SIGNS:
        try:
            word = text[:end].decode("ascii")
            return (float.fromhex(word) if is_hexadecimal else float(word)), end
        except ValueError:
            end -= 1
        except OverflowError:
            # float() overflows before it checks what follows the exponent.
            mark = text.lower().find(b"p", 0, end)
            return float("inf"), end if mark < 0 else _run(text, mark + 2, DIGITS)
    return 0.0, 0


def finite(text: str) -> float | None:
    """The value of a text that is a finite decimal number as a whole; None for others."""
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


def _run(text: bytes, position: int, allowed: bytes) -> int:
    """The end of the characters from `allowed` that begin at `position`."""
    while position < len(text) and text[position] in allowed:
        position += 1
    return position
