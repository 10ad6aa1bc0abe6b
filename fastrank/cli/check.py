"""The command `fastrank check`: a strict reading of judgments and runs."""

from __future__ import annotations

import sys
import textwrap
from itertools import chain

from fastrank.analysis.checking.checker import KINDS, SEVERITIES, Checker
from fastrank.analysis.gating.shown import escaped
from fastrank.cli.command import Command, misused, write_lines
from fastrank.cli.flags import INPUTS, OUTPUT
from fastrank.cli.output import colored, without_controls
from fastrank.cli.parser import REPEATED
from fastrank.common.messages import counted
from fastrank.common.rendering.text import without_commands
from fastrank.core.data.texts import encoded
from fastrank.core.formats.formats import FORMATS as FILE_FORMATS
from fastrank.core.results.records import json_text
from fastrank.core.results.result import FORMS
from fastrank.errors import ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator
    from typing import TextIO

    from fastrank.analysis.checking.checker import Report
    from fastrank.cli.parser import Parser

FORMATS = (*FORMS, "jsonl", "github")
EPILOG = """\
examples:
  fastrank check qrels.txt run1.txt run2.txt
  fastrank check --no-qrels --ignore tied-scores,self-match runs/*.gz
  fastrank check --strict --format github qrels.txt run.txt

Numbers are checked in every format, the other fields only in TREC files.
Exit status: 0 if there are no errors (with --strict, no warnings either), 1 if
there are, 2 if a file cannot be read or an option is invalid.
"""
# The parts of a report, and what one item of each is called.
RECORDS = {"findings": "finding", "counts": "count", "files": "file"}
# The meaning of each severity.
MEANINGS = {
    "error": "trec_eval stops, or its numbers are silently wrong",
    "warning": "probably a mistake",
    "note": "good to know",
}


def _declare(parser: Parser) -> None:
    add = parser.add
    add("FILE ...", "qrels, then any number of runs; - is standard input", dest="files")
    add("--no-qrels", "treat all files as runs", group=INPUTS)
    add(
        "--input-format",
        "format of all files (default: detected from content)",
        choices=[*FILE_FORMATS],
        group=INPUTS,
    )
    parser.add_output()
    add(
        "--max-per-kind N",
        "findings of each kind to list per file (default: 10)",
        type=int,
        default=10,
        group=OUTPUT,
    )
    add("--ignore KIND,... ...", f"kinds of findings to ignore{REPEATED}", group=OUTPUT)
    add("--strict", "exit with status 1 for warnings, too", group=OUTPUT)


def _kinds(severity: str) -> str:
    """The kinds of findings with this severity, as the help lists them."""
    width = max(map(len, KINDS)) + 4
    lines = [
        textwrap.fill(f"  {kind:{width - 2}}{meaning}", 80, subsequent_indent=" " * width)
        for kind, (level, meaning) in KINDS.items()
        if level == severity
    ]
    return "\n".join([f"\n{severity}s ({MEANINGS[severity]}):", *lines])


def _run(arguments: argparse.Namespace) -> int:
    ignored = [kind for kinds in arguments.ignore or () for kind in kinds.split(",") if kind]
    with misused():
        checker = Checker(
            max_per_kind=arguments.max_per_kind, ignore=ignored, input_format=arguments.input_format
        )
    unreadable = 0
    for i, path in enumerate(_without_repeats(arguments)):
        try:
            if i == 0 and not arguments.no_qrels:
                checker.judgments(path)
            else:
                checker.run(path)
        except ReadError as error:
            arguments.command.warn(str(error))
            unreadable += 1
    report = checker.report
    lines = _lines(report, arguments, unreadable)
    write_lines(arguments.output, (encoded(f"{line}\n") for line in lines))
    if unreadable:
        return 2
    return int(report.total("error") > 0 or (arguments.strict and report.total("warning") > 0))


def _without_repeats(arguments: argparse.Namespace) -> list[str]:
    """The files, each run once."""
    first = 0 if arguments.no_qrels else 1
    return [*arguments.files[:first], *dict.fromkeys(arguments.files[first:])]


def _lines(report: Report, arguments: argparse.Namespace, unreadable: int) -> Iterable[str]:
    form = arguments.format
    if form == "jsonl":
        return _jsonl(report)
    if form not in ("table", "github"):
        return [arguments.command.rendered(report, arguments).removesuffix("\n")]
    stream = sys.stdout if arguments.output is None else None
    lines = _github(report) if form == "github" else _text(report, stream)
    # Names of files may hold anything, even what would begin another line.
    summary = (without_controls(line, allowed="") for line in _summary(report, unreadable))
    return chain(lines, map(without_commands, summary))


def _text(report: Report, stream: TextIO | None) -> Iterator[str]:
    for finding in report.findings:
        line = without_commands(without_controls(str(finding), allowed=""))
        marked = colored(finding.severity, finding.severity, stream)
        yield line.replace(f": {finding.severity}: ", f": {marked}: ", 1)
    if report.findings:
        yield ""


def _summary(report: Report, unreadable: int) -> Iterator[str]:
    """The contents of each file and its counts by kind, then the totals."""
    if not report.files:
        return
    for file in report.files:
        rows = "judgment" if file.role == "qrels" else "result"
        sizes = (
            *([counted(file.lines, "line")] if file.lines or not file.rows else []),
            counted(file.rows, rows),
            counted(file.queries, "query", "queries"),
            counted(file.documents, "document"),
        )
        yield f"{file.file}: {', '.join(sizes)}"
        for count in report.counts:
            if (count.file, count.role) == (file.file, file.role):
                more = count.found - count.listed
                hidden = f" ({more:,} not listed)" if more else ""
                yield f"  {count.severity:7}  {count.kind}: {count.found:,}{hidden}"
    unread = [f"{counted(unreadable, 'file')} not read"] if unreadable else []
    yield ", ".join(
        [*(counted(report.total(severity), severity) for severity in SEVERITIES), *unread]
    )


def _jsonl(report: Report) -> Iterator[str]:
    """A line per finding, count and file, in this order; `record` is its type."""
    for part, record in RECORDS.items():
        for item in getattr(report, part):
            yield json_text({"record": record, **item._asdict()})


def _github(report: Report) -> Iterator[str]:
    """Annotations as GitHub's workflow commands: they appear at the lines of the files."""
    commands = {"error": "error", "warning": "warning", "note": "notice"}
    for finding in report.findings:
        line = "" if finding.line is None else f",line={finding.line}"
        where = f"file={escaped(finding.file, ':,')}{line},title={finding.kind}"
        yield f"::{commands[finding.severity]} {where}::{escaped(finding.message)}"


COMMAND = Command(
    "fastrank check",
    _declare,
    _run,
    usage=("FILE [FILE ...]",),
    epilog=EPILOG + "".join(map(_kinds, SEVERITIES)),
    formats=FORMATS,
)
