"""The content of files of judgments and runs in other formats than TREC's."""

from __future__ import annotations

from array import array

from fastrank.common.messages import counted
from fastrank.core.data.texts import decoded
from fastrank.core.formats.files.source import BYTE_ORDER_MARK
from fastrank.core.formats.tables.reading import binary_table
from fastrank.core.formats.tables.records import json_content, table_of_json
from fastrank.core.formats.tables.roles import (
    QRELS_ROLES,
    check_mapping,
    find_columns,
    kind_of_names,
    normalized_name,
)
from fastrank.core.formats.tables.sniff import WITHOUT_HEADER
from fastrank.core.formats.tables.table import Table
from fastrank.core.formats.tables.table_files import (
    DELIMITERS,
    table_of_cells,
    table_of_delimited,
)
from fastrank.core.formats.trec.reader import malformed, python_warning
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fastrank.core.formats.trec.reader import Warn


SAMPLE_FIELDS = ("query", "iteration", "doc", "stratum", "grade")
SAMPLE_LINE = "5 fields (query iter doc stratum grade)"


def read_sample(content: bytes, name: str, kind: str) -> Table:
    """The table of a file; kind: qrels or run. Raises FormatError, and InputError for a run."""
    if kind != "qrels":
        raise InputError(name, "the format sample has judgments, expected a run")
    rows: list[list[str]] = []
    lines = array("q")
    for number, line in enumerate(content.removeprefix(BYTE_ORDER_MARK).split(b"\n"), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != len(SAMPLE_FIELDS):
            raise FormatError(name, number, malformed(SAMPLE_LINE, len(fields), line))
        rows.append([decoded(field) for field in fields])
        lines.append(number)
    if not rows:
        raise FormatError(name, 1, f"expected lines of {SAMPLE_LINE}, found an empty file")
    return table_of_cells(name, SAMPLE_FIELDS, list(zip(*rows, strict=True)), lines)


def content_of(
    content: bytes,
    name: str,
    form: str,
    kind: str,
    columns: Mapping[str, Any] | None = None,
    rank_by: str = "score",
    warn: Warn = python_warning,
) -> Table | dict[Any, Any]:
    """The table of a file that is not in TREC format, or {query: {document: number}}.

    content: of a local file in parquet, it may be the path. kind: qrels or run. rank_by: may
    determine the role of the third column of a run. Raises FormatError and InputError.
    """
    check_mapping(columns, name)
    if form == "sample":
        return read_sample(content, name, kind)
    if form in ("json", "jsonl"):
        from fastrank.core.formats.tools.search_engines import numbers_by_query

        loaded, lines = json_content(content, name, form)
        numbers = numbers_by_query(_whole(loaded, form), name, kind, warn)
        if numbers is not None:
            return numbers
        table = table_of_json(loaded, lines, name, form)
        return loaded if table is None else table
    if form not in DELIMITERS:
        return binary_table(content, name, form)
    table = table_of_delimited(
        content,
        name,
        form,
        columns,
        lambda cells, lines: _roles_of(kind, cells, name, lines, rank_by),
    )
    return _with_ratings(table, columns, warn) if kind == "qrels" else table


def _with_ratings(table: Table, columns: Mapping[str, Any] | None, warn: Warn) -> Table:
    """The rows that have a rating, as some in an export of Quepid have not."""
    call = table.call("Qrels")
    place = find_columns(table.names, QRELS_ROLES, columns, table.source, call=call)["grade"]
    if normalized_name(table.names[place]) != "rating":
        return table
    cells = table.columns[place]
    kept = [row for row, cell in enumerate(cells) if cell.strip()]
    if len(kept) == len(cells):
        return table
    first = next(row for row, cell in enumerate(cells) if not cell.strip())
    left = counted(len(cells) - len(kept), "row")
    where = f"the first is line {table.rows[first]}"
    warn(f"{table.source}: {left} without a rating left out, {where}")
    rated = [[column[row] for row in kept] for column in table.columns]
    lines = array("q", [table.rows[row] for row in kept])
    return table_of_cells(table.source, table.names, rated, lines)


def _whole(loaded: Any, form: str) -> Any:
    """The object of a file of one line, which could be both, JSON and JSON lines."""
    return loaded[0] if form == "jsonl" and len(loaded) == 1 else loaded


def kind_of_json(content: bytes, name: str, form: str) -> str | None:
    """The kind (qrels or run) of a JSON or JSONL file, or None if it is unclear."""
    from fastrank.core.formats.tools.question_files import kinds_of_record
    from fastrank.core.formats.tools.search_engines import kinds_of

    loaded, _ = json_content(content, name, form)
    first = loaded[0] if isinstance(loaded, list) and loaded else None
    record = first if isinstance(first, dict) else {}
    kinds = kinds_of(_whole(loaded, form), name) | kinds_of_record(record)
    return kinds.pop() if len(kinds) == 1 else None if kinds else kind_of_names(record)


def _roles_of(kind: str, cells: Any, name: str, lines: Any, rank_by: str) -> list[str]:
    names = list(WITHOUT_HEADER[kind].get(len(cells), ()))
    if not names:
        widths = " or ".join(map(str, WITHOUT_HEADER[kind]))
        reason = (
            f"expected a header with names for query and document, or {widths} cells,"
            f" found {', '.join(repr(column[0]) for column in cells)}"
        )
        raise FormatError(name, lines[0], reason)
    if "" in names:
        third = _rank_or_score(cells, name, lines) if rank_by == "score" else "rank"
        names[names.index("")] = third
    return names


def _rank_or_score(cells: Any, name: str, lines: Any) -> str:
    """The role of the third column of a run without a header: rank (MS MARCO) or score."""
    queries, _, numbers = cells
    if not all(number.strip().isdecimal() for number in numbers):
        return "score"
    ranks: dict[str, int] = {}
    for i, (query, number) in enumerate(zip(queries, numbers, strict=True)):
        expected = ranks[query] = ranks.get(query, 0) + 1
        if int(number) != expected:
            reason = (
                f"the third column could be ranks or scores: expected rank {expected} in query"
                f" {query!r}, found {number}; add a header, or set columns={{'query': 0, 'doc': 1,"
                " 'score': 2} (or 'rank': 2)"
            )
            raise FormatError(name, lines[i], reason)
    return "rank"
