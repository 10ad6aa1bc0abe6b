"""Names and numbers in plots and reports."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 26


def visible(text: str) -> str:
    """The text with escapes for characters that cannot be printed or that reverse others."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def short(name: str, longest: int = LONGEST) -> str:
    """The visible name, without its middle if it is too long."""
    name = visible(name)
    if len(name) <= longest:
        return name
    head = (longest - 1) // 2
    return f"{name[:head]}…{name[head + 1 - longest :]}"


def short_names(names: Sequence[str], longest: int = LONGEST) -> list[str]:
    """The names, shortened only so far that they still differ."""
    most = max(map(len, names), default=0)
    while True:
        made = [short(name, longest) for name in names]
        if longest >= most or len(set(made)) == len(set(names)):
            return made
        longest += 8


def number(value: float, *, signed: bool = False) -> str:
    """A value of a measure for people: four decimals, or fewer above 1,000."""
    if math.isnan(value):
        return "-"
    sign = "+" if signed else ""
    return f"{value:{sign},.1f}" if abs(value) >= 1000 else f"{value:{sign}.4f}"


def bounds(low: float, high: float, *, signed: bool = False) -> str:
    """An interval for people, empty if there is none."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"[{number(low, signed=signed)}, {number(high, signed=signed)}]"


def p_value(p: float) -> str:
    """A p-value for people: `p = 0.588`, `p = 1.2e-05` or, without one, `no p-value`."""
    if math.isnan(p):
        return "no p-value"
    if p < 1e-300:
        return "p < 1e-300"
    return f"p = {p:.1e}" if p < 1e-3 else f"p = {p:.3f}"
