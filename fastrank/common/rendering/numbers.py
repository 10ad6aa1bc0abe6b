"""Numbers, intervals, p-values and marks as text for people."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Decimals of values, and of percentages; what is said of tables of these.
DIGITS, PERCENT_DIGITS = 4, 2
IN_PERCENT = "Values in percent."
# P-values below this are not told apart.
SMALLEST_P = 1e-300


def number(value: float, digits: int = DIGITS, *, signed: bool = False) -> str:
    """A value, rounded; with its sign if `signed`."""
    return f"{value:{'+' if signed else ''}.{digits}f}"


def signed(value: float) -> str:
    """A difference, rounded, with its sign."""
    return number(value, signed=True)


def interval(low: float, high: float, shown: Callable[[float], str] = number) -> str:
    """An interval in brackets; empty if a bound is NaN."""
    return "" if low != low or high != high else f"[{shown(low)}, {shown(high)}]"


def p_text(p: float) -> str:
    """A p-value, never 0: `0.0250`, `1.2e-05`, `<1e-300`."""
    if p < SMALLEST_P:
        return f"<{SMALLEST_P:g}"
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


def p_words(p: float) -> str:
    """A p-value in a sentence: `p = 0.0250`, `p < 1e-300` or, for NaN, `no p-value`."""
    if p != p:
        return "no p-value"
    text = p_text(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def joined(marks: Sequence[str]) -> str:
    """The letters of a superscript; those of several characters are separated by commas."""
    return ("," if any(len(mark) > 1 for mark in marks) else "").join(marks)
