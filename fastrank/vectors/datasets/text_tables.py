"""Columns of texts and labels from tables of any kind."""

from __future__ import annotations

import re
from typing import NamedTuple

from fastrank.common.faces import column_option
from fastrank.core.formats.tables.reading import table_of
from fastrank.core.formats.tables.roles import (
    INDEX_NAMES,
    check_roles,
    find_columns,
    names_of,
    normalized_name,
)
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fastrank.core.formats.tables.roles import Name
    from fastrank.core.formats.tables.table import Table

# The roles of the columns, by the words that `columns=` takes for them.
ROLES = {"text_a": "text_a", "text_b": "text_b", "text_c": "text_c", "label": "target"}
# The label of SNLI and MultiNLI, and what it is if the annotators do not agree.
GOLD, NO_CONSENSUS = "gold_label", "-"
# The texts of both on the Hugging Face Hub, where the label of these rows is -1.
NLI_TEXTS, NO_LABEL = {"premise", "hypothesis"}, (-1, "-1")


class Columns(NamedTuple):
    """The columns by role, the number of rows left out, and the names of the other columns."""

    by_role: dict[str, list[Any]]
    left_out: int
    unused: tuple[Name, ...]


def columns_of(
    source: Any, columns: Mapping[str, Name] | None, split: str | None, name: str
) -> Columns:
    """The columns; see `TextTask.from_table`."""
    check_roles(columns, ROLES, name)
    # Quotes are ordinary characters in TSV, as in STS and SICK.
    table = table_of(source, None, columns, split=split, quoted=False, ragged=True, source=name)
    names = _roles(table, columns)
    if not table.size:
        raise InputError(name, "expected rows, found none")
    by_role = {role: list(table.values(column)) for role, column in names.items()}
    rows, unlabelled = list(range(table.size)), _unlabelled(names)
    if unlabelled:
        rows = [row for row in rows if by_role["label"][row] not in unlabelled]
        if not rows:
            reason = f"expected rows with a label, found only {by_role['label'][0]!r}"
            raise InputError(name, reason)
        by_role = {role: [cells[row] for row in rows] for role, cells in by_role.items()}
    if table.has_cells and "label" in by_role:
        labels = by_role["label"] = _typed(by_role["label"])
        if None in labels:
            table.refuse(rows[labels.index(None)], "the label is missing")
    unused = tuple(column for column in table.names if column not in names.values())
    return Columns(by_role, table.size - len(rows), unused)


def _roles(table: Table, columns: Mapping[str, Name] | None) -> dict[str, Name]:
    """The column of each role: named, by its usual name, or by its place."""
    listed = ", ".join(map(repr, table.names))
    if table.has_cells:
        usual = {name for key in ROLES.values() for name in names_of(key)}
        is_known = not usual.isdisjoint(map(normalized_name, table.names))
        if len(set(table.names)) < len(table.names):
            raise FormatError(table.source, 1, f"expected distinct names, found {listed:.100}")
        if not (columns or is_known or normalized_name(table.names[0]) in INDEX_NAMES):
            raise FormatError(
                table.source,
                1,
                f"no column of texts: expected a header, found {listed:.100}; add one, or"
                f" {column_option('text_a')} if these are the names of the columns",
            )
    indexes = find_columns(table.names, ROLES, columns, table.source, needed=())
    if "text_a" in indexes:
        return {role: table.names[indexes[role]] for role in ROLES if role in indexes}
    others = table.names[normalized_name(table.names[0]) in INDEX_NAMES :]
    if not columns and 2 <= len(others) <= len(ROLES):
        return dict(zip([*list(ROLES)[: len(others) - 1], "label"], others, strict=True))
    reason = f"no column of texts: found {listed}; or {column_option('text_a')}"
    raise InputError(table.source, reason)


def _unlabelled(columns: Mapping[str, Name]) -> tuple[Any, ...]:
    """The labels of rows whose annotators did not agree."""
    names = {role: normalized_name(column) for role, column in columns.items()}
    if names.get("label") == GOLD:
        return (NO_CONSENSUS,)
    texts = {name for role, name in names.items() if role != "label"}
    return NO_LABEL if "label" in names and texts == NLI_TEXTS else ()


def _typed(labels: list[str]) -> list[Any]:
    """Labels of a CSV file: integers or floats if all are, and None for empty cells."""
    cells = [label.strip() or None for label in labels]
    # Python's own readers accept 1_0; and 01 is another label than 1.
    if any(cell is not None and re.search(r"_|^[+-]?0\d", cell) for cell in cells):
        return list(cells)
    for kind in (int, float):
        try:
            return [None if cell is None else kind(cell) for cell in cells]
        except ValueError:
            continue
    return list(cells)
