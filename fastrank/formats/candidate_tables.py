"""Read tables of questions, candidates and labels."""

from __future__ import annotations

import os
from collections.abc import Mapping

from fastrank.data.texts import decoded
from fastrank.errors import FormatError, InputError
from fastrank.formats import sniff
from fastrank.formats.candidates import Candidates
from fastrank.formats.column_names import (
    ALIASES,
    CANDIDATE_ROLES,
    check_mapping,
    find_columns,
    normalized_name,
)
from fastrank.formats.inputs import frame_of, is_file
from fastrank.formats.movieqa import COLUMNS, read_movieqa
from fastrank.formats.rows import qrels_of
from fastrank.formats.semeval import SUBTASKS, read_semeval
from fastrank.formats.source import BYTE_ORDER_MARK
from fastrank.formats.splits import choose_split
from fastrank.formats.tables import CellsTable, ColumnsTable, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.data.qrels import Qrels

FORMATS = ("csv", "tsv", "json", "jsonl", "parquet", "qapairs", *SUBTASKS)
WITHOUT_HEADER = ("question", "candidate", "label")


def candidates_of(source: Any, format: str | None, columns: Mapping[str, Any] | None) -> Candidates:
    """See `read_candidates`."""
    if format is not None and format not in FORMATS:
        expected = ", ".join(FORMATS)
        raise InputError("format", f"expected one of {expected}, found {format!r}")
    return _candidates(_table(source, format, columns), columns)


def _table(source: Any, format: str | None, columns: Mapping[str, Any] | None) -> Table:
    check_mapping(columns, "read_candidates")
    source = choose_split("read_candidates", source, None)
    if isinstance(source, Mapping):
        return _table_of_columns(source)
    table = frame_of(source)
    if table is not None:
        return table
    if not is_file(source):
        found = type(source).__name__
        raise TypeError(
            "expected a file, a data frame, an Arrow table, a Hugging Face Dataset or a dict,"
            f" found {found}"
        )
    if isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
        from fastrank.formats.trec_qa import read_folder

        return read_folder(os.fspath(source))
    return _table_of_file(source, format, columns)


def _table_of_columns(given: Mapping[Any, Any]) -> Table:
    for name, column in given.items():
        if isinstance(column, (str, bytes)) or not hasattr(column, "__iter__"):
            found = f"{type(column).__name__}: {column!r:.60}"
            raise InputError("<dict>", f"{name!r}: expected a column of values, found {found}")
    values = [list(column) for column in given.values()]
    if len({len(column) for column in values}) > 1:
        found = ", ".join(
            f"{name!r}: {len(column)}" for name, column in zip(given, values, strict=True)
        )
        raise InputError("<dict>", f"expected columns of equal length, found {found}")
    return ColumnsTable("<dict>", list(given), values or [[]])


def _table_of_file(source: Any, format: str | None, columns: Mapping[str, Any] | None) -> Table:
    file, head = sniff.head_of(sniff.open_source(source))
    with file:
        form = format or _format_of(head, file.name)
        content = file.read()
    if form == "parquet":
        from fastrank.formats.load import parquet_table

        return parquet_table(content, file.name)
    if form == "qapairs":
        from fastrank.formats.trec_qa import read_pairs

        return read_pairs(content, file.name)
    if form in ("semeval", *SUBTASKS):
        return read_semeval(content, file.name, format)
    if form in ("json", "jsonl"):
        from fastrank.formats.json import read_json, read_jsonl

        read: Any = read_json if form == "json" else read_jsonl
        found = read(content, file.name)
        if not isinstance(found, Table):
            raise FormatError(file.name, 1, "expected a list of records, found one object")
        return read_movieqa(found) if set(COLUMNS) <= set(found.names) else found
    return _table_of_cells(content, file.name, form, columns)


def _format_of(head: bytes, name: str) -> str:
    text = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if text.startswith(b"<QApairs"):
        return "qapairs"
    if text.startswith((b"<?xml", b"<root", b"<xml")):
        return "semeval"
    form = sniff.format_of(head, name, "qrels")
    if form in ("parquet", "json", "jsonl"):
        return form
    return "tsv" if b"\t" in text.partition(b"\n")[0] else "csv"


def _table_of_cells(
    content: bytes, name: str, form: str, columns: Mapping[str, Any] | None
) -> Table:
    from array import array

    rows: list[list[str]] = []
    lines = array("q")
    for line, row in _tabbed(content) if form == "tsv" else _separated(content, name):
        rows.append(row)
        lines.append(line)
        if len(row) != len(rows[0]):
            expected = f"expected {len(rows[0])} cells, as in the first line, found {len(row)}"
            raise FormatError(name, line, expected)
    if not rows:
        raise FormatError(name, 1, "expected a header or rows, found an empty file")
    names: Sequence[Any] = [cell.strip() for cell in rows[0]]
    given = set(map(str, (columns or {}).values()))
    if _is_header(names) or (given and given <= set(names)):
        del rows[0], lines[0]
    elif columns:
        names = range(len(names))
    elif len(names) == len(WITHOUT_HEADER):
        names = WITHOUT_HEADER
    else:
        found = ", ".join(repr(cell[:40]) for cell in rows[0])
        reason = "expected a header or three cells (question, candidate, label), found"
        raise FormatError(name, lines[0], f"{reason} {found}")
    cells = list(zip(*rows, strict=True)) or [()] * len(names)
    return CellsTable(name, names, cells, memoryview(lines))


def _tabbed(content: bytes) -> Any:
    """The number and cells of each line that is not empty."""
    text = decoded(content).removeprefix("\ufeff")
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        if line:
            yield number, line.split("\t")


def _separated(content: bytes, name: str) -> Any:
    from fastrank.formats.csv import records

    return records(content, name, ",")


def _is_header(cells: Sequence[str]) -> bool:
    names = {normalized_name(cell) for cell in cells}
    return all(
        any(names & {*ALIASES[role][0], *ALIASES[role][1]} for role in roles)
        for roles in (CANDIDATE_ROLES[:2], CANDIDATE_ROLES[2:4], CANDIDATE_ROLES[4:])
    )


def _candidates(table: Table, columns: Mapping[str, Any] | None) -> Candidates:
    found = find_columns(table.names, CANDIDATE_ROLES, columns, table.source)
    for text, id_column in (("question", "question_id"), ("candidate", "candidate_id")):
        if text not in found and id_column not in found:
            known = ", ".join(sum((*ALIASES[text], *ALIASES[id_column]), ()))
            names = ", ".join(map(repr, table.names))
            raise InputError(
                table.source, f"no {text} column: found {names}, expected one of {known}"
            )
    texts = {role: _strings(table, place) for role, place in found.items() if role != "label"}
    questions = texts.get("question")
    queries = texts.get("question_id") or _numbered(questions or [])
    if questions is not None:
        _check_texts(table, queries, questions)
    docs = texts.get("candidate_id") or _placed(queries)
    _check_distinct(table, queries, docs)
    return Candidates(
        source=table.source, queries=queries, docs=docs, question_texts=questions,
        texts=texts.get("candidate"), qrels=_qrels(table, queries, docs, found["label"]),
    )  # fmt: skip


def _qrels(table: Table, queries: list[str], docs: list[str], place: int) -> Qrels:
    """The judgments; errors name the rows and the column of the table."""
    names = ["<question>", "<candidate>", table.names[place]]
    judgments = ColumnsTable(table.source, names, [queries, docs, table.numbers(place)])
    judgments.unit, judgments.rows = table.unit, table.rows
    return qrels_of(judgments, dict(zip(("query", "doc", "grade"), names, strict=True)))


def _strings(table: Table, place: int) -> list[str]:
    texts = table.texts(place)
    return [decoded(text) for text in texts.take(range(len(texts)))]


def _numbered(questions: list[str]) -> list[str]:
    ids: dict[str, str] = {}
    return [ids.setdefault(question, f"Q{len(ids) + 1}") for question in questions]


def _placed(queries: list[str]) -> list[str]:
    counts: dict[str, int] = {}
    docs = []
    for query in queries:
        place = counts[query] = counts.get(query, -1) + 1
        docs.append(f"{query}-{place}")
    return docs


def _check_texts(table: Table, queries: list[str], questions: list[str]) -> None:
    known: dict[str, str] = {}
    for row, (query, question) in enumerate(zip(queries, questions, strict=True)):
        other = known.setdefault(query, question)
        if other != question:
            table.refuse(
                row,
                f"expected one text for question {query!r}, found {other!r:.60} and"
                f" {question!r:.60}",
            )


def _check_distinct(table: Table, queries: list[str], docs: list[str]) -> None:
    known = set()
    for row, pair in enumerate(zip(queries, docs, strict=True)):
        if pair in known:
            table.refuse(row, f"question {pair[0]!r}: duplicate candidate {pair[1]!r}")
        known.add(pair)
