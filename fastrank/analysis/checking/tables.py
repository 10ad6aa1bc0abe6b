"""Read files in formats other than TREC's for checking, including invalid numbers.

Every number is checked. For a file with broken syntax or an invalid id, the only finding is the
error of its reader.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal
from itertools import count, repeat
from typing import NamedTuple

import numpy as np

from fastrank.analysis.checking.rows import NUMBERS, Rows, distinct_texts, rows_by_query, scan
from fastrank.common.messages import python_warning
from fastrank.core.data.texts import encoded
from fastrank.core.formats.formats import content_of
from fastrank.core.formats.tables.dicts import plain_lists
from fastrank.core.formats.tables.grouping import columns_of
from fastrank.core.formats.tables.lists import lists_by_query
from fastrank.core.formats.tables.roles import QRELS_ROLES, RUN_ROLES, find_columns, may_lack_grades
from fastrank.core.formats.tables.table import Table, numbers_of_cells
from fastrank.core.formats.tables.to_qrels import (
    qrels_from_dict,
    qrels_of,
    without_ungraded,
    without_unrated,
)
from fastrank.core.formats.tables.to_run import run_from_dict, run_of
from fastrank.core.formats.tools.question_files import as_rows
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import zeros
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.core.data.texts import Texts

# The unit of {query: {document: number}} in messages.
ITEM = "item"


class Reading(NamedTuple):
    """The readable part of a file, and the reader's error, if any.

    rows: None if no rows could be read.
    """

    rows: Rows | None
    refused: FormatError | InputError | None


def read_table(content: bytes, name: str, form: str, *, judgments: bool) -> Reading:
    """Read judgments or a run like `read_qrels` and `read_run`, but past invalid numbers."""
    kind = "qrels" if judgments else "run"
    try:
        found = content_of(content, name, form, kind)
        found = _plain(found, kind, name)
    except (FormatError, InputError) as error:
        return Reading(None, error)
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    return reading_of(found, name, lines, judgments=judgments)


def _plain(found: Any, kind: str, name: str) -> Any:
    """The content of a file, with a row for each judged document or {query: documents}."""
    if isinstance(found, Table):
        roles = QRELS_ROLES if kind == "qrels" else RUN_ROLES["score"]
        columns = columns_of(found, roles, None)
        table = as_rows(found, kind, columns)
        found = lists_by_query(table, kind, columns)
        if found is None:
            grades = find_columns(table.names, ("grade",), None, name, needed=())
            if kind == "run" or not grades:
                return table
            return without_ungraded(table, grades["grade"], python_warning)
    found = plain_lists(found, kind, "score", name)
    return without_unrated(found, name, python_warning) if kind == "qrels" else found


def reading_of(found: Any, name: str, lines: int, *, judgments: bool) -> Reading:
    """The same for a Table, or for {query: {document: number}}; lines: those of the file."""
    refused: FormatError | InputError | None = None
    try:
        if isinstance(found, Table):
            qrels_of(found) if judgments else run_of(found)
        elif judgments:
            qrels_from_dict(found, source=name)
        else:
            run_from_dict(found, source=name)
    except (FormatError, InputError) as error:
        refused = error
    try:
        if isinstance(found, Table):
            unit = found.unit
            return Reading(_rows(found, unit, lines * (unit == "line"), judgments), refused)
        rows = _rows(_table_of(found, name, judgments), ITEM, 0, judgments)
        # Ids of a table that the reader refuses may be anything, even lone surrogates without
        # bytes.
        empty_queries = (
            [] if judgments or refused else [q for q, documents in found.items() if not documents]
        )
        empty = frozenset(map(os.fsencode, empty_queries))
        return Reading(Rows(**{**rows._asdict(), "empty": empty}), refused)
    except (FormatError, InputError, AttributeError):
        # The reader has already reported the wrong structure or the invalid id.
        if refused is None:
            raise
        return Reading(None, refused)


def _table_of(given: Any, name: str, judgments: bool) -> Table:
    """The items of {query: {document: number}}."""
    items: list[tuple[Any, Any, Any]] = []
    for query, documents in given.items():
        if isinstance(documents, Mapping):
            items += ((query, *item) for item in documents.items())
        else:
            numbers = repeat(1) if judgments else count(-1, -1)
            items += ((query, doc, number) for doc, number in zip(documents, numbers, strict=False))
    columns = [[item[place] for item in items] for place in range(3)]
    return Table(name, ["query_id", "doc_id", "grade" if judgments else "score"], columns)


def _rows(table: Table, unit: str, lines: int, judgments: bool) -> Rows:
    roles = QRELS_ROLES if judgments else RUN_ROLES["score"]
    columns = columns_of(table, roles, None)
    lacks_grades = judgments and may_lack_grades(table.names, columns)
    optional = ("grade",) if lacks_grades else ()
    positions = find_columns(table.names, roles, columns, table.source, optional=optional)
    queries, docs = table.texts(positions["query"]), table.texts(positions["doc"])
    write = _stripped if table.to_numbers is numbers_of_cells else _written
    numbers: dict[str, list[bytes]] = {
        role: list(map(write, table.values(table.names[positions[role]])))
        for role in ("grade", "rank", "score")
        if role in positions
    }
    if judgments and "grade" not in positions:
        numbers["grade"] = [b"1"] * table.size
    values = _values(numbers, judgments)
    if not judgments and "score" not in numbers:
        # A document's score is minus its rank. The reader reports invalid ranks.
        numbers["score"] = [b"-" + rank for rank in numbers["rank"]]
        plain_classes = np.full_like(values.classes, codes.A_NUMBER)
        scores = np.where(values.rank_classes == codes.A_NUMBER, -1.0 * values.integers, np.nan)
        values = Rows(**{**values._asdict(), "scores": scores, "classes": plain_classes})
    # Query ids and then document ids in one buffer.
    text = bytes(queries.buffer) + bytes(docs.buffer)
    shift = len(queries.buffer)
    row_numbers = np.arange(table.size) if table.rows is None else np.asarray(table.rows)
    no_texts = [b""] * table.size
    roles_shown = ["grade"] if judgments else ["rank", "score"]
    number_columns = [numbers.get(role, no_texts) for role in roles_shown]
    tags: list[tuple[bytes, int]] = []
    if "tag" in positions:
        tag_texts = table.texts(positions["tag"])
        tag_spans = (tag_texts.starts, tag_texts.lengths, np.arange(table.size))
        tags = distinct_texts(bytes(tag_texts.buffer), tag_spans, row_numbers)
    doc_spans = records.Spans(np.asarray(docs.starts) + shift, np.asarray(docs.lengths))
    columns = {name: np.asarray(getattr(values, name)) for name in NUMBERS} | {"lines": row_numbers}
    rows, order = rows_by_query(
        text,
        _stretches(queries),
        doc_spans,
        columns,
        line_count=lines,
        tags=tags,
        odd=values.odd,
        unit=unit,
        has_ranks="rank" in numbers,
    )
    if order is not None:
        number_columns = [[column[row] for row in order] for column in number_columns]
    # Its length is that of the rows, so that `_replace` fails.
    return Rows(**{**rows._asdict(), "numbers": tuple(number_columns)})


def _stretches(queries: Texts) -> tuple[Any, Any, Any]:
    """Starts, lengths and first rows of the stretches of equal queries."""
    firsts = zeros("q", len(queries))
    count = kernels.find_stretches(queries.columns, firsts)
    rows = np.asarray(firsts)[:count]
    starts, lengths = (np.take(np.asarray(column), rows) for column in queries.columns[1:])
    return starts, lengths, rows


def _values(numbers: dict[str, list[bytes]], judgments: bool) -> Rows:
    """The values of numbers written as text, read from lines in TREC format."""
    if judgments:
        lines = [b"0 0 0 %b\n" % _field(grade) for grade in numbers["grade"]]
    else:
        ranks = numbers.get("rank") or [b"0"] * len(numbers["score"])
        lines = [
            b"0 Q0 0 %b %b 0\n" % (_field(rank), _field(score))
            for rank, score in zip(ranks, numbers.get("score", ranks), strict=True)
        ]
    return scan(b"".join(lines), 0, judgments=judgments)


def _stripped(cell: str) -> bytes:
    return encoded(cell.strip())


def _written(value: Any) -> bytes:
    """A number as text; other values in a form that is not a number."""
    if isinstance(value, bool):
        return b"%d" % value
    if value is None:
        return b""
    shown = str(value) if isinstance(value, Decimal) else repr(value)
    return shown.encode("utf-8", "backslashreplace")


def _field(text: bytes) -> bytes:
    """The text as a field of a line."""
    return b"_".join(text.replace(b"\0", b"?").split()) or b"?"
