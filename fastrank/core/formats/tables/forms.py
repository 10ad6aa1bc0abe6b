"""What form an object has: a file, a frame, splits, rows; no library is imported to see it."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_file(given: Any) -> bool:
    """Whether this is a path or an open file."""
    return isinstance(given, str) or hasattr(given, "read") or hasattr(given, "__fspath__")


def is_row(row: Any) -> bool:
    """Whether this is a named tuple, or a plain one that begins with the ids of query and document.

    `table_of_tuples` checks the rest.
    """
    if not isinstance(row, tuple) or hasattr(row, "_fields"):
        return isinstance(row, tuple)
    return len(row) > 2 and not any(is_column(cell) for cell in row)


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
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def frame_kind(given: Any) -> str | None:
    """What converts a data frame: pandas, polars or arrow; None for other objects."""
    modules = {base.__module__.partition(".")[0] for base in type(given).__mro__}
    for library in ("pandas", "polars"):
        if library in modules:
            return library
    is_arrow = modules & {"pyarrow", "datasets"} or hasattr(given, "__arrow_c_stream__")
    return "arrow" if is_arrow else None


def choose_split(source: str, given: Any, split: str | None) -> Any:
    """The table of the chosen split in a dict of splits; anything else is returned unchanged.

    `split` may be omitted for a dict with one split. Raises InputError.
    """
    if not is_dict_of_splits(given):
        return given
    if split is None and len(given) > 1:
        raise InputError(source, f"expected split=, one of {', '.join(given)}")
    chosen = next(iter(given)) if len(given) == 1 else split
    if chosen not in given:
        raise InputError(source, f"no split {chosen!r}; expected one of {', '.join(given)}")
    return given[chosen]


def is_dict_of_splits(given: Any) -> bool:
    """Whether this is a dict of splits, such as a DatasetDict."""
    return (
        isinstance(given, Mapping)
        and bool(given)
        and all(hasattr(table, "column_names") for table in given.values())
    )
