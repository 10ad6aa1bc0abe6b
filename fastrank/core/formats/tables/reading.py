"""The one reader of tables: any form in memory and any file becomes a Table of named columns."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.core.formats.tables import sniff
from fastrank.core.formats.tables.arrow_files import is_folder, read_arrow, saved_table
from fastrank.core.formats.tables.forms import (
    choose_split,
    frame_kind,
    is_column,
    is_dict_of_splits,
    is_file,
)
from fastrank.core.formats.tables.records import (
    are_columns,
    json_content,
    table_of_columns,
    table_of_json,
    table_of_records,
)
from fastrank.core.formats.tables.table import Table
from fastrank.core.formats.tables.table_files import DELIMITERS, table_of_delimited
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.core.formats.tables.roles import Name

TAKEN = (
    "a file, a data frame, an Arrow table, a Hugging Face Dataset, a dict of columns or a list of"
    " dicts"
)


def table_of(
    given: Any,
    roles: Sequence[Sequence[str]] | None = None,
    columns: Mapping[str, Name] | None = None,
    form: str | None = None,
    *,
    split: str | None = None,
    cells: Sequence[str] = (),
    quoted: bool = True,
    ragged: bool = False,
    source: str = "table",
) -> Table:
    """The table that this is, in any form.

    given: a file (CSV, TSV, JSON, JSONL, parquet, Arrow) or a folder that Hugging Face saved; a
        frame of pandas or polars, an Arrow table or record batch, a Hugging Face Dataset or
        DatasetDict; a dict or a tuple of columns; a list, tuple or iterator of dicts or of named
        tuples.
    roles: of which a header has one each; None if the first line of CSV or TSV is always a header.
    columns: names of columns by role. form: of a file, by default detected. split: of a dict of
    splits. cells: the names of the columns of what has no names, if it may have none. quoted:
    whether quotes have a meaning in TSV, too. ragged: whether records may lack some of the keys.
    source: what to call the table in messages about its split.

    Raises TypeError for other objects, InputError, FormatError and ReadError.
    """
    if split is not None and not is_folder(given) and not is_dict_of_splits(given):
        raise InputError(source, "split: expected a DatasetDict, which alone has splits")
    table = table_in_memory(choose_split(source, given, split), cells, ragged=ragged)
    if table is not None:
        return table
    if not is_file(given):
        kind = type(given).__name__
        if isinstance(given, (list, tuple)):
            kind = f"a {kind} of {type(given[0]).__name__}"
        raise TypeError(f"{source}: expected {TAKEN}, found {kind}")
    if is_folder(given):
        return saved_table(given, split)
    file, head = sniff.head_of(given)
    with file:
        content, form = file.read(), form or sniff.format_of_table(head)
    if form in DELIMITERS:

        def no_header(found: Sequence[Sequence[str]], lines: Sequence[int]) -> Sequence[str]:
            if cells and len(found) == len(cells):
                return cells
            needed = " and ".join(" or ".join(role) for role in roles or ())
            instead = f", or the cells {', '.join(cells)}" if cells else ""
            listed = ", ".join(repr(column[0][:40]) for column in found)
            reason = f"expected a header with names for {needed}{instead}, found {listed}"
            raise FormatError(file.name, lines[0], reason)

        quoted = quoted or form == "csv"
        return table_of_delimited(
            content, file.name, form, columns, no_header, roles, quoted=quoted
        )
    if form in ("json", "jsonl"):
        loaded, numbers = json_content(content, file.name, form)
        table = table_of_json(loaded, numbers, file.name, form, roles, ragged=ragged)
        if table is None:
            raise FormatError(file.name, 1, "expected a list of records, found one object")
        return table
    return binary_table(content, file.name, form)


def binary_table(content: bytes | str, name: str, form: str) -> Table:
    """The table of a file in parquet or Arrow's format, or of the path of a local one."""
    from fastrank.core.formats.tables.frames import table_of_arrow

    if form == "arrow":
        table = read_arrow(content, name)
        return table_of_arrow(name, table.column_names, table.columns)
    from fastrank.core.formats.tables.parquet import ParquetColumns

    columns = ParquetColumns(content, name)
    return table_of_arrow(name, columns.names, columns)


def table_in_memory(given: Any, cells: Sequence[str] = (), *, ragged: bool = False) -> Table | None:
    """The table that an object is, None for a file and others; arguments of `table_of`."""
    if isinstance(given, Mapping):
        if not are_columns(given, None):
            name, value = next(
                ((name, value) for name, value in given.items() if not is_column(value)),
                ("", None),
            )
            kind = f"{type(value).__name__}: {value!r:.60}" if given else "no columns"
            reason = (
                f"column {name!r}: expected a list or an array" if given else "expected columns"
            )
            raise InputError("<dict>", f"{reason}, found {kind}")
        if ragged:
            # The rows of a matrix are cells, such as embeddings.
            given = {
                name: list(column) if getattr(column, "ndim", 1) > 1 else column
                for name, column in given.items()
            }
        return table_of_columns(given)
    table = frame_of(given)
    if table is not None or isinstance(given, (str, bytes)) or is_file(given):
        return table
    if not hasattr(given, "__iter__"):
        return None
    rows = list(given)
    if isinstance(given, tuple) and rows and all(map(is_column, rows)):
        names = cells if len(cells) == len(rows) else range(len(rows))
        if not all(isinstance(row, tuple) for row in rows):
            return table_of_columns(dict(zip(names, rows, strict=True)), "<tuple>")
    source = f"<{type(given).__name__}>"
    if not rows or isinstance(rows[0], Mapping):
        return table_of_records(rows, source, ragged=ragged)
    if isinstance(rows[0], tuple):
        names = getattr(
            rows[0], "_fields", cells if len(cells) == len(rows[0]) else range(len(rows[0]))
        )
        records = [
            dict(zip(names, row, strict=True))
            if isinstance(row, tuple) and len(row) == len(names)
            else row
            for row in rows
        ]
        return table_of_records(records, source)
    return None


def frame_of(given: Any) -> Table | None:
    """The table of a data frame, found by its type's module, so that no library is imported."""
    kind = frame_kind(given)
    if kind is None:
        return None
    from fastrank.core.formats.tables.frames import TABLES

    return TABLES[kind](given)
