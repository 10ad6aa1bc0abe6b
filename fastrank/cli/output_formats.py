"""The output formats of `fastrank eval`."""

from __future__ import annotations

import math
import os
import shutil

from fastrank.cli.output import without_controls
from fastrank.common.rendering.numbers import DIGITS, IN_PERCENT, PERCENT_DIGITS
from fastrank.core.data.texts import encoded
from fastrank.core.formats.endings import (
    OTHER_SUFFIXES,
    SUFFIXES,
    foreign_suffix,
    named,
    suffix_of,
)
from fastrank.core.results.result import rendered
from fastrank.core.results.table import Estimate
from fastrank.core.scores.columns import trec_lines
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from fastrank.core.results.table import Table
    from fastrank.core.scores.scores import Scores

    # The file of each run, the name to print, and its scores.
    Results = Iterable[tuple[str, str, Scores]]


def formatted(results: Results, arguments: argparse.Namespace) -> Iterator[bytes]:
    """The output in the format that the command line asks for."""
    if arguments.interval is not None:
        from fastrank.analysis.comparing.single_system import with_intervals

        results = (
            (path, name, with_intervals(scores, arguments.interval))
            for path, name, scores in results
        )
    if arguments.format in TABLES:
        yield from _table(list(results), arguments)
    else:
        yield from LINES[arguments.format](results, arguments)


def _trec(results: Results, arguments: argparse.Namespace) -> Iterator[bytes]:
    for _, name, scores in results:
        shown = os.fsencode(without_controls(name, allowed=""))
        yield b"%-22b\t%b\t%b\n" % (b"run", b"all", shown)
        yield from trec_lines(
            scores, per_query=arguments.per_query, summary=not arguments.no_summary
        )


def _table(
    results: list[tuple[str, str, Scores]], arguments: argparse.Namespace
) -> Iterator[bytes]:
    """One table of all runs."""
    if getattr(arguments, "sort", None):
        results = _ranked(results, *arguments.sort)
    table = _side_by_side(results, arguments)
    if table is not None:
        table = _in_percent(table) if arguments.percent else table
        shown = table.transpose() if arguments.transpose else table
        text = rendered(shown, arguments.format, **page_of(arguments))
        if arguments.format == "table" and not (arguments.transpose or arguments.per_query):
            other = rendered(table.transpose(), "table")
            if shutil.get_terminal_size().columns < width_of(text) > width_of(other):
                text = other
        yield encoded(text)


def _ranked(
    results: list[tuple[str, str, Scores]], measure: str, better: str
) -> list[tuple[str, str, Scores]]:
    """The runs from best to worst mean, then those without one."""

    def position(result: tuple[str, str, Scores]) -> tuple[bool, float]:
        mean = result[-1].mean[measure]
        return (True, 0.0) if math.isnan(mean) else (False, -mean if better == "higher" else mean)

    return sorted(results, key=position)


def _in_percent(table: Table) -> Table:
    """A table in which values, but not counts, are multiplied by 100."""

    def percentage(value: object) -> object:
        if isinstance(value, Estimate):
            return Estimate(100 * value, 100 * value.low, 100 * value.high)
        return 100 * value if isinstance(value, float) else value

    columns = {name: list(map(percentage, values)) for name, values in table.columns.items()}
    return table.changed(columns=columns, digits=table.digits - 2, notes=(IN_PERCENT,))


def width_of(text: str) -> int:
    """The length of the longest line."""
    return max(map(len, text.splitlines()), default=0)


def _side_by_side(
    results: list[tuple[str, str, Scores]], arguments: argparse.Namespace
) -> Table | None:
    """The means of all runs, or their values per query; None if neither is asked for."""
    from fastrank.core.scores.tables import query_table, table, wide_table

    per_query, summary = arguments.per_query, not arguments.no_summary
    digits = arguments.digits + 2 * arguments.percent
    names, scores = [name for _, name, _ in results], [scores for *_, scores in results]
    if not results or not (per_query or summary):
        return None
    if not per_query:
        means = table(scores, names, digits=digits, bold=not arguments.no_bold)
        # Notes go to standard error.
        return means.changed(notes=())
    if len(results) == 1:
        return wide_table(scores[0], summary=summary, digits=digits)
    return query_table(scores, names, summary=summary, digits=digits)


def _csv(results: Results, arguments: argparse.Namespace) -> Iterator[bytes]:
    from fastrank.core.formats.tables.table_files import result_lines

    for line in result_lines(_fields(arguments), _rows(results, arguments)):
        yield encoded(line)


def _jsonl(results: Results, arguments: argparse.Namespace) -> Iterator[bytes]:
    from fastrank.core.results.records import json_text

    names = _fields(arguments)
    for row in _rows(results, arguments):
        yield json_text(dict(zip(names, row, strict=True))).encode() + b"\n"


def _fields(arguments: argparse.Namespace) -> list[str]:
    from fastrank.core.scores.tables import LONG

    return ["run", *LONG, *(BOUNDS if arguments.interval else ())]


def _rows(results: Results, arguments: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    """Rows of the fields, either per query or of the summary."""
    from fastrank.core.scores.tables import long_rows

    per_query, bounds = arguments.per_query, BOUNDS if arguments.interval else ()
    summary = not arguments.no_summary and not per_query
    for _, name, scores in results:
        for row in long_rows(scores, per_query=per_query, summary=summary):
            yield name, *row, *(getattr(row[-1], bound, None) for bound in bounds)


def _json(results: Results, arguments: argparse.Namespace) -> Iterator[bytes]:
    from fastrank.core.results.records import json_text
    from fastrank.core.scores.records import to_record

    records = []
    for path, name, scores in results:
        record = to_record(scores, per_query=arguments.per_query, summary=not arguments.no_summary)
        if arguments.interval:
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
TABLES = ("table", "markdown", "latex", "html")
FORMATS = ("trec", *TABLES, "csv", "json", "jsonl")
# The flags that change the layout, by their attributes, and the formats in which they do.
LAYOUT = {
    "interval": ("--interval", (*TABLES, "csv", "json", "jsonl")),
    "digits": ("--digits", TABLES),
    "percent": ("--percent", TABLES),
    "sort": ("--sort", TABLES),
    "transpose": ("--transpose", TABLES),
    "no_bold": ("--no-bold", TABLES),
}
# The fields of an interval, attributes of an Estimate.
BOUNDS = ("low", "high")


def page_of(arguments: argparse.Namespace, title: str = "") -> dict[str, bool | str]:
    """The layout of HTML: a whole page in a file, elements on standard output.

    title: of the page, by default that of the result.
    """
    if arguments.format != "html":
        return {}
    return {"page": False if arguments.output is None else title or True}


def format_of_output(
    output: str | None,
    formats: Collection[str],
    default: str,
    suffixes: Mapping[str, str] = SUFFIXES,
    xml: str = "",
) -> str:
    """The format by the suffix of an output file, ignoring that of compression.

    An unknown suffix, or none, means the default. suffixes: of a command, with their formats. xml:
    what writes XML instead.
    Raises OptionError for the suffix of a format that the command cannot write.
    """
    suffix = suffix_of(output or "")
    form = suffixes.get(suffix, "")
    if form in formats:
        return form
    if suffix not in SUFFIXES and suffix not in OTHER_SUFFIXES:
        return default
    endings = [end for end, kind in suffixes.items() if kind in formats]
    remedy = xml if xml and suffix == ".xml" else f"set --format, or {named(endings)}"
    raise foreign_suffix("--output", output or "", remedy)


def settle_layout(arguments: argparse.Namespace) -> None:
    """Set what is not given. Raises OptionError for a flag without effect in the format."""
    for name, (flag, formats) in LAYOUT.items():
        if getattr(arguments, name, None) not in (None, False) and arguments.format not in formats:
            *others, last = formats
            reason = (
                f"no effect with --format {arguments.format}; use {', '.join(others)} or {last}"
            )
            raise OptionError(flag, reason)
    if arguments.per_query and getattr(arguments, "sort", None):
        raise OptionError("--sort", "no effect with -q; omit it")
    if arguments.digits is None:
        arguments.digits = PERCENT_DIGITS if arguments.percent else DIGITS
    _settle_interval(arguments)


def _settle_interval(arguments: argparse.Namespace) -> None:
    """Replace the method of intervals by their settings. Raises OptionError."""
    method, changed = arguments.interval, {}
    for name in ("level", "resamples", "seed"):
        value = getattr(arguments, name)
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
    if arguments.no_summary:
        raise OptionError("--interval", "is that of a mean, and -n leaves out means; omit -n")
    if arguments.per_query and arguments.format in ("csv", "jsonl"):
        reason = f"is that of a mean, and -q with --format {arguments.format} has none; omit -q"
        raise OptionError("--interval", reason)
    # Imported here because other evaluations do not need it.
    from fastrank.analysis.comparing.single_system import interval_settings

    arguments.interval = interval_settings(method, **changed)
