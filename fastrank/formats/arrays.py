"""Tables from columns that are lists or arrays."""

from __future__ import annotations

from fastrank.errors import InputError
from fastrank.formats.tables import ColumnsTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SOURCE = "<arrays>"
PLURALS = {
    "query": "queries", "doc": "docs", "grade": "grades", "score": "scores",
    "iteration": "subtopics",
}  # fmt: skip


def table_of_arrays(**columns: Any) -> ColumnsTable:
    """A table of columns of equal length, named by role."""
    given = {role: _column(role, values) for role, values in columns.items()}
    sizes = {role: len(values) for role, values in given.items()}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{size} {PLURALS[role]}" for role, size in sizes.items())
        raise InputError(SOURCE, f"expected one query, document and number per row, found {found}")
    return ColumnsTable(SOURCE, list(given), list(given.values()))


def _column(role: str, values: Any) -> Any:
    if hasattr(values, "to_numpy"):
        # A pandas or polars series, or an Arrow array, whose strings are only available as a list.
        # Missing values become None or NaN.
        values = values.to_pylist() if hasattr(values, "to_pylist") else values.to_numpy()
    if hasattr(values, "detach"):
        # numpy has no bfloat16.
        values = values.detach().cpu()
        values = (values.double() if values.is_floating_point() else values).numpy()
    if hasattr(values, "ndim"):
        if values.ndim != 1:
            shape = "x".join(map(str, values.shape))
            raise InputError(SOURCE, f"{PLURALS[role]}: expected one dimension, found {shape}")
        if getattr(values, "mask", False) is not False and values.mask.any():
            row = int(values.mask.argmax())
            raise InputError(SOURCE, f"{PLURALS[role]}: the value in row {row} (from 0) is masked")
        return values
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        found = type(values).__name__
        raise InputError(SOURCE, f"{PLURALS[role]}: expected an array or a list, found {found}")
    return list(values)
