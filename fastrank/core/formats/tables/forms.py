"""The form of an object: a file, a frame, splits, rows; no library is imported to see it."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.core.formats.tables.roles import RECORD_ROLES, is_header
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_file(given: Any) -> bool:
    """Whether this is a path or an open file."""
    return isinstance(given, str) or hasattr(given, "read") or hasattr(given, "__fspath__")


def is_row(row: Any) -> bool:
    """Whether this is a row of a table: a record, a named tuple, or a plain one of some cells.

    `table_of_tuples` and `table_of_records` check the rest.
    """
    if isinstance(row, Mapping):
        if any(isinstance(cell, (str, int, float)) for cell in row.values()):
            # No query has these, so it must be a record, whatever its keys are.
            return True
        # A run may have queries with such names.
        is_run = all(isinstance(cell, Mapping) for cell in row.values())
        return not is_run and is_header(row, RECORD_ROLES)
    if not isinstance(row, tuple) or hasattr(row, "_fields"):
        return isinstance(row, tuple)
    return len(row) > 2 and not any(is_column(cell) for cell in row)


def are_rows(given: Any) -> bool:
    """Whether a list is one table, of rows or of columns, instead of several objects."""
    return is_row(next(iter(given), None)) or (isinstance(given, tuple) and are_cells(given))


def are_cells(columns: tuple[Any, ...]) -> bool:
    """Whether these are two or three columns of equal length, whose cells are ids and numbers."""
    if not 2 <= len(columns) <= 3 or not all(map(is_column, columns)):
        return False
    if not all(hasattr(column, "__len__") for column in columns):
        return False
    first_cells = [next(iter(column), None) for column in columns]
    return not any(isinstance(cell, Mapping) or is_column(cell) for cell in first_cells)


def is_column(values: Any) -> bool:
    """Whether these may be the cells of a column: a list, an array, a series and the like."""
    if isinstance(values, (str, bytes, bytearray, Mapping, set, frozenset)):
        return False
    return hasattr(values, "__iter__") and getattr(values, "ndim", 1) > 0


def is_list(value: Any) -> bool:
    """Whether a cell is a list of values."""
    return isinstance(value, (list, tuple)) or (getattr(value, "ndim", 0) == 1)


def is_missing(value: Any) -> bool:
    """Whether a cell is missing: None, NaN, or what pandas writes for these."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        is_number = hasattr(type(value), "__float__") and not getattr(value, "ndim", 0)
        return is_number and bool(value != value)
    except ArithmeticError:
        # decimal's NaN that signals.
        return True


def frame_kind(given: Any) -> str | None:
    """The library that converts a data frame: pandas, polars or arrow; None for other objects."""
    is_arrow = hasattr(given, "__arrow_c_stream__")
    for base in type(given).__mro__:
        library = base.__module__.partition(".")[0]
        if library in ("pandas", "polars"):
            return library
        is_arrow = is_arrow or library in ("pyarrow", "datasets")
    return "arrow" if is_arrow else None


def choose_split(source: str, given: Any, split: str | None) -> Any:
    """The table of the chosen split in a dict of splits; anything else is returned unchanged.

    `split` may be omitted for a dict with one split. Raises InputError.
    """
    if not is_dict_of_splits(given):
        return given
    if split is None and len(given) > 1:
        raise InputError(source, f"expected split=, one of {', '.join(given)}")
    name = next(iter(given)) if len(given) == 1 else split
    if name not in given:
        raise InputError(source, f"no split {name!r}; expected one of {', '.join(given)}")
    return given[name]


def is_dict_of_splits(given: Any) -> bool:
    """Whether this is a dict of splits, such as a DatasetDict."""
    return (
        isinstance(given, Mapping)
        and bool(given)
        and all(hasattr(table, "column_names") for table in given.values())
    )
