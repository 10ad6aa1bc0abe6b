"""The output formats of `fastrank eval`."""

from __future__ import annotations

import os

from fastrank.errors import OptionError
from fastrank.formats.sniff import COMPRESSED
from fastrank.formats.source import name_of
from fastrank.scores.text import trec_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from typing import Any

    from fastrank.scores.scores import Scores
    from fastrank.scores.tables import Table

    # The file of each run, the name to print, and its scores.
    Results = Iterable[tuple[str, str, Scores]]


def formatted(results: Results, given: argparse.Namespace) -> Iterator[bytes]:
    """The output in the format that the command line asks for."""
    per_query, summary = given.per_query, not given.no_summary
    if given.format in TABLES:
        yield from _table(list(results), given, per_query=per_query, summary=summary)
    else:
        yield from LINES[given.format](results, per_query=per_query, summary=summary)


def _trec(results: Results, *, per_query: bool, summary: bool) -> Iterator[bytes]:
    for path, _, scores in results:
        yield b"%-22b\t%b\t%b\n" % (b"file", b"all", os.fsencode(path))
        yield from trec_lines(scores, per_query=per_query, summary=summary)


def _table(
    results: list[tuple[str, str, Scores]],
    given: argparse.Namespace,
    *,
    per_query: bool,
    summary: bool,
) -> Iterator[bytes]:
    """One table of all runs."""
    made = _side_by_side(results, given, per_query=per_query, summary=summary)
    if made is not None:
        shown = made.transpose() if given.transpose else made
        yield _encoded(getattr(shown, TABLES[given.format])() + "\n")


def _side_by_side(
    results: list[tuple[str, str, Scores]],
    given: argparse.Namespace,
    *,
    per_query: bool,
    summary: bool,
) -> Table | None:
    """The means of all runs, or their values per query; None if neither is asked for."""
    from fastrank.scores.side_by_side import query_table, table
    from fastrank.scores.tables import wide_table

    names, scores = [name for _, name, _ in results], [scores for *_, scores in results]
    if not results or not (per_query or summary):
        return None
    if not per_query:
        return table(scores, names, digits=given.digits, bold=not given.no_bold)
    if len(results) == 1:
        return wide_table(scores[0], summary=summary, digits=given.digits)
    return query_table(scores, names, summary=summary, digits=given.digits)


def _encoded(text: str) -> bytes:
    """Encode as UTF-8; bytes of ids that are not UTF-8 are preserved."""
    return text.encode("utf-8", "surrogateescape")


def _csv(results: Results, *, per_query: bool, summary: bool) -> Iterator[bytes]:
    from fastrank.scores.table_formats import csv_lines
    from fastrank.scores.tables import LONG

    for line in csv_lines(["run", *LONG], _rows(results, per_query=per_query, summary=summary)):
        yield _encoded(line)


def _jsonl(results: Results, *, per_query: bool, summary: bool) -> Iterator[bytes]:
    from fastrank.scores.records import json_text
    from fastrank.scores.tables import LONG

    names = ("run", *LONG)
    for row in _rows(results, per_query=per_query, summary=summary):
        yield json_text(dict(zip(names, row, strict=True))).encode() + b"\n"


def _rows(results: Results, *, per_query: bool, summary: bool) -> Iterator[tuple[Any, ...]]:
    """Rows of name, query, measure and value, either per query or of the summary."""
    from fastrank.scores.tables import long_rows

    for _, name, scores in results:
        for row in long_rows(scores, per_query=per_query, summary=summary and not per_query):
            yield name, *row


def _json(results: Results, *, per_query: bool, summary: bool) -> Iterator[bytes]:
    from fastrank.scores.records import json_text, to_record

    records = [
        {"file": path, **to_record(scores, per_query=per_query, summary=summary), "run": name}
        for path, name, scores in results
    ]
    yield json_text(records, indent=2).encode() + b"\n"


LINES: dict[str, Callable[..., Iterator[bytes]]] = {
    "trec": _trec,
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
}
# The method of Table that renders each.
TABLES = {"table": "__str__", "markdown": "to_markdown", "latex": "to_latex"}
FORMATS = ("trec", "table", "csv", "json", "jsonl", "markdown", "latex")
SUFFIXES = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".md": "markdown",
    ".tex": "latex",
}
# Those of formats that only other commands or flags write, such as `--plot`, or none.
OTHER_SUFFIXES = (
    ".tsv", ".parquet", ".parq", ".pq", ".html", ".htm", ".xml", ".xlsx", ".svg", ".png", ".pdf",
)  # fmt: skip
# The flags that change the layout, by their attributes: the formats in which they have an effect.
LAYOUT = {
    "names": ("--name", ("table", "csv", "json", "jsonl", "markdown", "latex")),
    "tags": ("--tags", ("table", "csv", "json", "jsonl", "markdown", "latex")),
    "digits": ("--digits", tuple(TABLES)),
    "transpose": ("--transpose", tuple(TABLES)),
    "no_bold": ("--no-bold", tuple(TABLES)),
}
DIGITS = 4


def format_of_output(
    output: str | None,
    formats: Collection[str],
    default: str,
    suffixes: Mapping[str, str] = SUFFIXES,
    *,
    flag: str = "--format",
) -> str:
    """The format by the suffix of an output file, ignoring that of compression.

    An unknown suffix, or none, means the default. suffixes: of a command, with their formats. flag:
    the one that sets the format. Raises OptionError for the suffix of a format that the command
    cannot write.
    """
    name = (output or "").lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    suffix = os.path.splitext(name)[1]
    form = suffixes.get(suffix, "")
    if form in formats:
        return form
    if suffix not in SUFFIXES and suffix not in OTHER_SUFFIXES:
        return default
    known = ", ".join(own for own, named in suffixes.items() if named in formats)
    reason = f"{name_of(output or '')} cannot be written in the format of {suffix} files"
    raise OptionError("--output", f"{reason}; set {flag}, or use a name that ends in {known}")


def settle_format(given: argparse.Namespace) -> None:
    """Set the format, if none is given, by the name of the output file.

    Raises OptionError for a format that is not available, and for a flag without effect in it.
    """
    if given.format is None:
        given.format = format_of_output(given.output, FORMATS, "trec")
    for name, (flag, formats) in LAYOUT.items():
        if getattr(given, name, None) not in (None, False) and given.format not in formats:
            *others, last = formats
            reason = f"no effect with --format {given.format}; use {', '.join(others)} or {last}"
            raise OptionError(flag, reason)
    given.digits = DIGITS if given.digits is None else given.digits
