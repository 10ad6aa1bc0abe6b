"""The formats of `fastrank eval`: from runs' file names and scores to what is written."""

from __future__ import annotations

import os

from fastrank.scores.text import trec_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from fastrank.scores.scores import Scores
    from fastrank.scores.tables import Table

    Results = Iterable[tuple[str, Scores]]


def _trec(results: Results, *, per_query: bool, summary: bool) -> Iterator[bytes]:
    for path, scores in results:
        yield b"%-22b\t%b\t%b\n" % (b"file", b"all", os.fsencode(path))
        yield from trec_lines(scores, per_query=per_query, summary=summary)


def _table_as(form: str) -> Any:
    """One table of all runs; `form` is the method of Table that renders it."""

    def lines(results: Results, *, per_query: bool, summary: bool) -> Iterator[bytes]:
        table = _side_by_side(list(results), per_query=per_query, summary=summary)
        if len(table):
            yield _encoded(getattr(table, form)() + "\n")

    return lines


def _encoded(text: str) -> bytes:
    """UTF-8; bytes that are not text come out as they came in."""
    return text.encode("utf-8", "surrogateescape")


def _side_by_side(results: list[tuple[str, Scores]], *, per_query: bool, summary: bool) -> Table:
    """The runs' tables below each other, with a first column of file names."""
    from fastrank.scores.tables import Table, wide_table

    columns: dict[str, list[Any]] = {"file": []}
    for path, scores in results:
        table = wide_table(scores, per_query=per_query, summary=summary)
        columns["file"] += [path] * len(table)
        for name, values in table.columns.items():
            columns.setdefault(name, []).extend(values)
    if not per_query:
        columns.pop("query", None)
    return Table(columns=columns)


def _csv(results: Results, *, per_query: bool, summary: bool) -> Iterator[bytes]:
    from fastrank.scores.table_formats import csv_lines
    from fastrank.scores.tables import LONG

    for line in csv_lines(["file", *LONG], _rows(results, per_query=per_query, summary=summary)):
        yield _encoded(line)


def _jsonl(results: Results, *, per_query: bool, summary: bool) -> Iterator[bytes]:
    from fastrank.scores.records import json_text
    from fastrank.scores.tables import LONG

    names = ("file", *LONG)
    for row in _rows(results, per_query=per_query, summary=summary):
        yield json_text(dict(zip(names, row, strict=True))).encode() + b"\n"


def _rows(results: Results, *, per_query: bool, summary: bool) -> Iterator[tuple[Any, ...]]:
    """File, query, measure and value."""
    from fastrank.scores.tables import long_rows

    for path, scores in results:
        for row in long_rows(scores, per_query=per_query, summary=summary):
            yield path, *row


def _json(results: Results, *, per_query: bool, summary: bool) -> Iterator[bytes]:
    from fastrank.scores.records import json_text, to_record

    records = [
        {"file": path, **to_record(scores, per_query=per_query, summary=summary)}
        for path, scores in results
    ]
    yield json_text(records, indent=2).encode() + b"\n"


LAYOUTS: dict[str, Callable[..., Iterator[bytes]]] = {
    "trec": _trec,
    "table": _table_as("__str__"),
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
    "markdown": _table_as("to_markdown"),
    "latex": _table_as("to_latex"),
}
