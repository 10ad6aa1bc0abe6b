"""Tuples of judgments or results, named as in ir_measures and ir_datasets, or plain."""

from __future__ import annotations

from fastrank.errors import InputError
from fastrank.formats.tables import ColumnsTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SOURCE = "<tuples>"
PLAIN_FIELDS = {
    "qrels": ("query_id", "doc_id", "relevance"),
    "run": ("query_id", "doc_id", "score"),
}


class TuplesTable(ColumnsTable):
    """Columns of tuples, whose names are those of their fields."""

    method = ""


def is_row(row: Any) -> bool:
    """Whether this is a named tuple, or a plain one of query, document and number."""
    if not isinstance(row, tuple) or hasattr(row, "_fields"):
        return isinstance(row, tuple)
    return (
        len(row) == len(PLAIN_FIELDS["run"])
        and all(isinstance(text_id, (str, bytes, int)) for text_id in row[:2])
        and hasattr(row[2], "__float__")
    )


def table_of_tuples(given: Any, kind: str) -> TuplesTable | None:
    """A table of tuples of one type, from any iterable; kind: qrels or run.

    Plain tuples are (query, document, number). None if they are not tuples of these kinds. Raises
    InputError, which names the row.
    """
    rows = given if isinstance(given, (list, tuple)) else list(given)
    if not rows or not is_row(rows[0]):
        return None
    names = getattr(rows[0], "_fields", None)
    for place, row in enumerate(rows):
        if not is_row(row) or getattr(row, "_fields", None) != names:
            found, first = type(row).__name__, type(rows[0]).__name__
            expected = first if names else "a tuple (query, document, number)"
            reason = f"row {place} (from 0): expected {expected}, as before, found {found}"
            raise InputError(SOURCE, reason)
    columns = [list(column) for column in zip(*rows, strict=True)]
    return TuplesTable(SOURCE, names or PLAIN_FIELDS[kind], columns)
