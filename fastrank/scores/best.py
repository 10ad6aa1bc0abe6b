"""Find the best of several values of a measure."""

from __future__ import annotations

from fastrank.scores.text import rounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.scores.columns import Column


def best_places(column: Column, values: list[float], digits: int) -> list[int]:
    """The indexes of the best values, including those equal to it when rounded to `digits`.

    Empty for counts, and for fewer than two values.
    """
    numbers = [value for value in values if value == value]
    if column.kind != "real" or not column.better or len(values) < 2:
        return []
    if not numbers:
        return []
    best = min(numbers) if column.better == "lower" else max(numbers)
    shown = rounded(best, digits)
    return [place for place, value in enumerate(values) if rounded(value, digits) == shown]
