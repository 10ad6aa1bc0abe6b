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
    from fastrank.scores.tables import Table, queries_of

    columns: dict[str, list[Any]] = {"file": []}
    for path, scores in results:
        own = queries_of(scores, per_query=per_query, summary=summary)
        columns["file"] += [path] * len(own)
        for name, values in own.columns.items():
            columns.setdefault(name, []).extend(values)
    if not per_query:
        columns.pop("query", None)
    return Table(columns=columns)


def _csv(results: Results, *, per_query: bool, summary: bool) -> Iterator[bytes]:
    from fastrank.scores.layouts import csv_lines

    rows = (row for own in _rows(results, per_query=per_query, summary=summary) for row in own)
    for line in csv_lines(["file", "query", "measure", "value"], rows):
        yield _encoded(line)


def _jsonl(results: Results, *, per_query: bool, summary: bool) -> Iterator[bytes]:
    from fastrank.scores.records import dumped

    names = ("file", "query", "measure", "value")
    for rows in _rows(results, per_query=per_query, summary=summary):
        for row in rows:
            yield dumped(dict(zip(names, row, strict=True))).encode() + b"\n"


def _rows(
    results: Results, *, per_query: bool, summary: bool
) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Per run its rows of file, query, measure and value."""
    from fastrank.scores.tables import lines_of

    for path, scores in results:
        table = lines_of(scores, per_query=per_query, summary=summary)
        yield ((path, *row) for row in table.rows())


def _json(results: Results, *, per_query: bool, summary: bool) -> Iterator[bytes]:
    from fastrank.scores.records import dumped, to_record

    records = [
        {"file": path, **to_record(scores, per_query=per_query, summary=summary)}
        for path, scores in results
    ]
    yield dumped(records, indent=2).encode() + b"\n"


LAYOUTS: dict[str, Callable[..., Iterator[bytes]]] = {
    "trec": _trec,
    "table": _table_as("__str__"),
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
    "markdown": _table_as("to_markdown"),
    "latex": _table_as("to_latex"),
}
