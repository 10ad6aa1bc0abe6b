"""Named tuples of judgments or results, as in ir_measures and ir_datasets."""

from __future__ import annotations

from fastrank.errors import InputError
from fastrank.formats.tables import ColumnsTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SOURCE = "<tuples>"


def is_named_tuple(row: Any) -> bool:
    """Whether this is a named tuple."""
    return isinstance(row, tuple) and hasattr(row, "_fields")


def table_of_tuples(given: Any) -> ColumnsTable | None:
    """A table of named tuples of one type, from any iterable.

    None if they are not named tuples. Raises InputError, which names the row.
    """
    rows = given if isinstance(given, (list, tuple)) else list(given)
    if not rows or not is_named_tuple(rows[0]):
        return None
    names = rows[0]._fields
    for place, row in enumerate(rows):
        if not is_named_tuple(row) or row._fields != names:
            found, first = type(row).__name__, type(rows[0]).__name__
            reason = f"row {place} (from 0): expected {first}, as before, found {found}"
            raise InputError(SOURCE, reason)
    return ColumnsTable(SOURCE, names, [list(column) for column in zip(*rows, strict=True)])
