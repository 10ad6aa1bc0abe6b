"""The forms of scores that are tables: files, frames, columns, rows, and several of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fastrank.core.formats.tables.forms import frame_kind, is_column, is_file
from fastrank.core.formats.tables.reading import table_of
from fastrank.core.formats.tables.records import are_columns
from fastrank.core.formats.tables.table_files import SEMICOLONS
from fastrank.core.formats.tools.harness_samples import named_samples
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.core.formats.tables.table import Table


class Named(NamedTuple):
    """A table, and what it has values of: a system, if its columns do not say so, and a data set.

    name: of its file, empty for others. dataset: empty unless the name of the file says it.
    """

    name: str
    dataset: str
    table: Table


def tables_in(scores: Any) -> list[Named] | None:
    """The tables that scores are, None if they are something else.

    scores: a table in any form; a list of files; or {system: table}. Raises what `table_of` raises.
    """
    if isinstance(scores, Mapping):
        if scores and all(map(_is_file_or_frame, scores.values())):
            return [Named(str(name), "", table_of_values(table)) for name, table in scores.items()]
        return [Named("", "", table_of_values(scores))] if are_columns_of(scores) else None
    files = scores if isinstance(scores, (list, tuple)) else [scores]
    if files and all(map(is_file, files)):
        tables = map(table_of_values, files)
        return [Named(*names, next(tables)) for names in named_samples(files)]
    if files is scores:
        is_table = scores and all(isinstance(row, Mapping) for row in scores)
        return [Named("", "", table_of_values(list(scores)))] if is_table else None
    return [Named("", "", table_of_values(scores))] if frame_kind(scores) is not None else None


def _is_file_or_frame(value: object) -> bool:
    return is_file(value) or frame_kind(value) is not None


def are_columns_of(scores: Mapping[Any, Any]) -> bool:
    """Whether a dict is a table: columns by name, not systems by data set."""
    if any(map(_is_file_or_frame, scores.values())):
        return False
    if any(hasattr(cell, "keys") for column in scores.values() for cell in _first(column)):
        return False
    return bool(scores) and (
        all(map(is_column, scores.values())) or are_columns(scores, (("system",), ("item",)))
    )


def _first(column: Any) -> list[Any]:
    return [next(iter(column), None)] if isinstance(column, (list, tuple)) else []


def table_of_values(scores: Any) -> Table:
    """A table that has a header and rows. Raises what `table_of` raises, and InputError."""
    table = table_of(scores, ragged=True, source="scores")
    if not table.names or not table.size:
        raise InputError(table.source, "expected rows of values, found none")
    if len(table.names) == 1 and ";" in str(table.names[0]):
        raise InputError(table.source, SEMICOLONS)
    titles = [name for name in table.names if str(name).strip()]
    if len(titles) == 1 < len(table.names):
        reason = f"expected the names of {len(table.names)} columns in the first line"
        raise InputError(table.source, f"{reason}, found the title {titles[0]!r}; remove it")
    return table
