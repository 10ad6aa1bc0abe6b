"""The output formats of `fastrank eval`."""

from __future__ import annotations

import os

from fastrank.cli.output import encoded
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.tables.sniff import COMPRESSED
from fastrank.core.scores.columns import trec_lines
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from typing import Any

    from fastrank.core.scores.scores import Scores
    from fastrank.core.scores.tables import Table

    # The file of each run, the name to print, and its scores.
    Results = Iterable[tuple[str, str, Scores]]


def formatted(results: Results, given: argparse.Namespace) -> Iterator[bytes]:
    """The output in the format that the command line asks for."""
    if given.interval is not None:
        from fastrank.analysis.comparing.single_system import with_intervals

        results = (
            (path, name, with_intervals(scores, given.interval)) for path, name, scores in results
        )
    if given.format in TABLES:
        yield from _table(list(results), given)
    else:
        yield from LINES[given.format](results, given)


def _trec(results: Results, given: argparse.Namespace) -> Iterator[bytes]:
    for _, name, scores in results:
        yield b"%-22b\t%b\t%b\n" % (b"run", b"all", os.fsencode(name))
        yield from trec_lines(scores, per_query=given.per_query, summary=not given.no_summary)


def _table(results: list[tuple[str, str, Scores]], given: argparse.Namespace) -> Iterator[bytes]:
    """One table of all runs."""
    made = _side_by_side(results, given)
    if made is not None:
        shown = made.transpose() if given.transpose else made
        yield encoded(rendered(shown, given.format))


def _side_by_side(
    results: list[tuple[str, str, Scores]], given: argparse.Namespace
) -> Table | None:
    """The means of all runs, or their values per query; None if neither is asked for."""
    from fastrank.core.scores.tables import query_table, table, wide_table

    per_query, summary = given.per_query, not given.no_summary
    names, scores = [name for _, name, _ in results], [scores for *_, scores in results]
    if not results or not (per_query or summary):
        return None
    if not per_query:
        return table(scores, names, digits=given.digits, bold=not given.no_bold)
    if len(results) == 1:
        return wide_table(scores[0], summary=summary, digits=given.digits)
    return query_table(scores, names, summary=summary, digits=given.digits)


def _csv(results: Results, given: argparse.Namespace) -> Iterator[bytes]:
    from fastrank.core.formats.tables.table_files import csv_lines

    for line in csv_lines(_fields(given), _rows(results, given)):
        yield encoded(line)


def _jsonl(results: Results, given: argparse.Namespace) -> Iterator[bytes]:
    from fastrank.core.scores.records import json_text

    names = _fields(given)
    for row in _rows(results, given):
        yield json_text(dict(zip(names, row, strict=True))).encode() + b"\n"


def _fields(given: argparse.Namespace) -> list[str]:
    from fastrank.core.scores.tables import LONG

    return ["run", *LONG, *(BOUNDS if given.interval else ())]


def _rows(results: Results, given: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """Rows of the fields, either per query or of the summary."""
    from fastrank.core.scores.tables import long_rows

    per_query, bounds = given.per_query, BOUNDS if given.interval else ()
    summary = not given.no_summary and not per_query
    for _, name, scores in results:
        for row in long_rows(scores, per_query=per_query, summary=summary):
            yield name, *row, *(getattr(row[-1], bound, None) for bound in bounds)


def _json(results: Results, given: argparse.Namespace) -> Iterator[bytes]:
    from fastrank.core.scores.records import json_text, to_record

    records = []
    for path, name, scores in results:
        record = to_record(scores, per_query=given.per_query, summary=not given.no_summary)
        if given.interval:
            record["interval"] = {
                measure: {bound: getattr(mean, bound) for bound in BOUNDS}
                if hasattr(mean, "low")
                else None
                for measure, mean in record["mean"].items()
            }
        records.append({"file": path, **record, "run": name})
    yield json_text(records, indent=2).encode() + b"\n"


LINES: dict[str, Callable[..., Iterator[bytes]]] = {
    "trec": _trec,
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
}
TABLES = ("table", "markdown", "latex")
FORMATS = ("trec", "table", "csv", "json", "jsonl", "markdown", "latex")
SUFFIXES = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".md": "markdown",
    ".tex": "latex",
}
# Those of commands that write HTML.
WITH_HTML = {**SUFFIXES, ".html": "html", ".htm": "html"}
# Those of formats that only other commands or flags write, such as `--plot`, or none.
OTHER_SUFFIXES = (
    ".tsv",
    ".parquet",
    ".parq",
    ".pq",
    ".html",
    ".htm",
    ".xml",
    ".xlsx",
    ".svg",
    ".png",
    ".pdf",
)
# The flags that change the layout, by their attributes: the formats in which they have an effect.
LAYOUT = {
    "interval": ("--interval", ("table", "csv", "json", "jsonl", "markdown", "latex")),
    "digits": ("--digits", TABLES),
    "transpose": ("--transpose", TABLES),
    "no_bold": ("--no-bold", TABLES),
}
DIGITS = 4
# The fields of an interval, attributes of an Estimate.
BOUNDS = ("low", "high")


# The methods of results that render them.
METHODS = {
    "text": "__str__",
    "table": "__str__",
    "markdown": "to_markdown",
    "latex": "to_latex",
    "html": "to_html",
    "csv": "to_csv",
    "json": "to_json",
}


def rendered(found: Any, form: str, **layout: Any) -> str:
    """A result in a format, by its own method; it ends with a line break."""
    if form == "json":
        layout["indent"] = 2
    text: str = getattr(found, METHODS[form])(**layout)
    return text if text.endswith("\n") else f"{text}\n"


def writers(
    *formats: str, of: Callable[[Any], Any] = lambda found: found
) -> dict[str, Callable[[Any], str]]:
    """The writers of a command whose results render themselves, or what `of` makes of them."""

    def writer(form: str) -> Callable[[Any], str]:
        return lambda found: rendered(of(found), form)

    return {form: writer(form) for form in formats}


OF_TABLES = writers("table", "markdown", "latex", "csv", "json")


def of_results(title: str) -> dict[str, Callable[[Any], str]]:
    """The writers of results that are shown as documents. title: of a page of HTML."""
    from fastrank.common.rendering.writers import written

    def written_as(form: str) -> Callable[[Any], str]:
        return lambda found: written(found._document(), form, page=title) + "\n"

    return {
        **{form: written_as(form) for form in ("table", "markdown", "latex", "html")},
        **writers("csv", of=lambda found: found.table()),
        **writers("json"),
    }


def format_of_output(
    output: str | None,
    formats: Collection[str],
    default: str,
    suffixes: Mapping[str, str] = SUFFIXES,
) -> str:
    """The format by the suffix of an output file, ignoring that of compression.

    An unknown suffix, or none, means the default. suffixes: of a command, with their formats.
    Raises OptionError for the suffix of a format that the command cannot write.
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
    raise OptionError("--output", f"{reason}; set --format, or use a name that ends in {known}")


def settle_layout(given: argparse.Namespace) -> None:
    """Set what is not given. Raises OptionError for a flag without effect in the format."""
    for name, (flag, formats) in LAYOUT.items():
        if getattr(given, name, None) not in (None, False) and given.format not in formats:
            *others, last = formats
            reason = f"no effect with --format {given.format}; use {', '.join(others)} or {last}"
            raise OptionError(flag, reason)
    given.digits = DIGITS if given.digits is None else given.digits
    _settle_interval(given)


def _settle_interval(given: argparse.Namespace) -> None:
    """Replace the method of intervals by their settings. Raises OptionError."""
    method, changed = given.interval, {}
    for name in ("level", "resamples", "seed"):
        value = getattr(given, name)
        if value is None:
            continue
        if method is None:
            hint = " (--relevance-level sets the lowest relevant grade)" * (name == "level")
            raise OptionError(f"--{name}", f"no effect without --interval{hint}")
        if method == "t" and name != "level":
            raise OptionError(f"--{name}", "no effect with --interval t; use --interval bca")
        changed[name] = value
    if method is None:
        return
    if given.no_summary:
        raise OptionError("--interval", "is that of a mean, and -n leaves out means; omit -n")
    if given.per_query and given.format in ("csv", "jsonl"):
        reason = f"is that of a mean, and -q with --format {given.format} has none; omit -q"
        raise OptionError("--interval", reason)
    # Imported here because other evaluations do not need it.
    from fastrank.analysis.comparing.single_system import interval_settings

    given.interval = interval_settings(method, **changed)
