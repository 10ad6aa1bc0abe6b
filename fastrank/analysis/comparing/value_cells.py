"""The cells of tables with values: names, and numbers as people and programs write them."""

from __future__ import annotations

import math
import re

from fastrank.core.formats.tables.forms import is_missing
from fastrank.core.formats.tables.table_files import restored
from fastrank.core.formats.tables.values import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

    from fastrank.core.formats.tables.table import Table

TRUTHS = {"true": 1.0, "false": 0.0}
# Numbers with decimal commas, separators of thousands, deviations or marks, which are no text.
DECORATED = re.compile(
    r"(?=.*\d)[*_~≈$€£]*[+-]?(\d{1,3}(,\d{3})+|\d*)([.,]\d+)?[*_†‡^]*(\s*(±|\+/-|\().*)?"
)
MEANS_ONLY = "; means have no items: `fastrank eval -q` writes values per query"


def labels_of(
    table: Table, found: Mapping[str, int], role: str, *, may_lack: bool = False
) -> list[str]:
    """The texts of a column; none if there is no such column.

    may_lack: whether some may be empty. Raises the table's error of one that may not.
    """
    if role not in found:
        return []
    labels = [
        "" if is_missing(cell) else restored(cell) if table.has_cells else str(cell)
        for cell in table.cells(found[role])
    ]
    empty = [row for row, label in enumerate(labels) if not label.strip()]
    if empty and not (may_lack and len(empty) < len(labels)):
        reason = f"expected the name of the {role}, found none"
        table.failing(found[role])(empty[0], reason + MEANS_ONLY * (role == "item"))
    return labels


def numbers_of(table: Table, place: int) -> list[float] | None:
    """A column as numbers, NaN where one is missing; None if there is no number.

    Raises the table's error for a text among numbers, and for decorated numbers alone.
    """
    cells = table.cells(place)
    numbers = [number_of(cell) for cell in cells]
    if not any(number is not None and number == number for number in numbers):
        texts = [
            cell.strip() for cell in cells if isinstance(cell, str) and number_of(cell) is None
        ]
        if not texts or not all(map(DECORATED.fullmatch, texts)):
            return None
    if None in numbers:
        _refuse(table, place, numbers.index(None))
    return [number for number in numbers if number is not None]


def needed_numbers(table: Table, place: int) -> list[float]:
    """A column that has to have numbers. Raises the table's error."""
    numbers = numbers_of(table, place)
    if numbers is None:
        _refuse(table, place, 0)
    return numbers


def _refuse(table: Table, place: int, row: int) -> NoReturn:
    cell = table.cells(place)[row]
    point = "; decimals have a point, as in 0.5" if isinstance(cell, str) and "," in cell else ""
    table.failing(place)(row, f"expected a number, true or false, found {cell!r:.60}{point}")


def number_of(cell: Any) -> float | None:
    """A cell as a number: NaN for a missing one, 0.5 for 50%, None for what is no number."""
    if isinstance(cell, str):
        text = cell.strip().lower()
        if text in MISSING:
            return math.nan
        if text in TRUTHS:
            return TRUTHS[text]
        # Python also accepts `1_0` and digits of other scripts.
        if "_" in text or not text.isascii():
            return None
        if text.endswith("%"):
            share = number_of(text[:-1])
            return None if share is None else share / 100
    elif is_missing(cell):
        return math.nan
    elif not hasattr(type(cell), "__float__") or getattr(cell, "ndim", False):
        return None
    try:
        return float(cell)
    except ValueError:
        return None
    except OverflowError:
        return math.inf
