"""The common parts of tables of judgments and of runs: their columns, and the rows of a query."""

from __future__ import annotations

from fastrank.core.data.texts import Groups, Texts
from fastrank.core.formats.tables.roles import asked_columns
from fastrank.core.formats.tables.table import first_empty
from fastrank.core.formats.tables.values import NO_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from fastrank.core.formats.tables.roles import Name
    from fastrank.core.formats.tables.table import Table


def columns_of(
    table: Table, roles: Sequence[str], columns: Mapping[str, Name] | None
) -> Mapping[str, Name] | None:
    """The columns of the roles in `columns=`, or if it is not given on the command line."""
    return asked_columns().of(roles, table.names) if columns is None else columns


def group_by_query(table: Table, indexes: dict[str, int]) -> tuple[Groups, dict[str, Any]]:
    """The rows of each query, and fields of the noun."""
    queries, firsts = table.stretches(indexes["query"])
    _refuse_empty(table, indexes["query"], queries, firsts)
    docs = table.texts(indexes["doc"])
    _refuse_empty(table, indexes["doc"], docs)
    grouped = Groups(queries, firsts, len(docs))
    rows = grouped.order if table.rows is None else grouped.reorder(table.rows)
    docs = grouped.reorder(docs).placed(rows, table.unit)
    return grouped, {
        "queries": grouped.queries,
        "docs": docs,
        "offset_column": grouped.offsets,
        "source": table.source,
    }


def _refuse_empty(table: Table, place: int, texts: Texts, rows: Any = None) -> None:
    """Raise the error about an empty id, which is a missing one, if the table is a text file.

    rows: of the texts, None if there is one in each row of the table.
    """
    if table.is_file and (first := first_empty(texts)) >= 0:
        row = first if rows is None else rows[first]
        table.failing(place)(
            row, NO_ID if table.has_cells else "expected an id, found an empty text"
        )
