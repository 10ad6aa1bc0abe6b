"""Strict checks of judgments and runs: everything wrong or odd, with line numbers."""

from __future__ import annotations

import os

from fastrank.analysis.checking.findings import (
    KINDS,
    SEVERITIES,
    Collector,
    FileSummary,
    Finding,
    Report,
)
from fastrank.analysis.checking.judgments import check_judgments
from fastrank.analysis.checking.matching import FileRows, check_match
from fastrank.analysis.checking.results import check_results
from fastrank.analysis.checking.rows import Rows, scan
from fastrank.analysis.checking.tables import read_table, reading_of
from fastrank.analysis.checking.text import TO_CONVERT, check_decodable, check_odd_lines, check_text
from fastrank.core.formats.files import files
from fastrank.core.formats.files.source import HEAD, read_all
from fastrank.core.formats.formats import check_format, format_of
from fastrank.core.formats.load import is_dataset
from fastrank.core.formats.tables.frames import dataset_table
from fastrank.core.formats.tables.sniff import why_unreadable
from fastrank.errors import FastrankError, FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastrank.core.formats.files.files import Source
    from fastrank.errors import InputError

__all__ = ["KINDS", "SEVERITIES", "Checker", "Finding", "Report", "check"]

DEFAULT_LIMIT = 10


def check(
    qrels: Source | None = None,
    runs: Source | list[Source] | tuple[Source, ...] = (),
    *,
    max_per_kind: int = DEFAULT_LIMIT,
    ignore: Iterable[str] = (),
    input_format: str | None = None,
) -> Report:
    """Check judgments and runs for errors and oddities.

    qrels, runs: paths, `-` (standard input) or binary file objects, compressed or not, in any
        format that `read_qrels` and `read_run` read. Either may be omitted. qrels may also be
        `irds:` and the id of a dataset of ir_datasets.
    max_per_kind: how many findings of each kind to list per file; all are counted.
    ignore: kinds of findings to ignore; `KINDS` in analysis/checking/checker.py explains them.
    input_format: the format of all files, by default detected from their content.

    A file in TREC format is always checked to its end; in other formats, broken syntax or an
    invalid id ends the check of the file. Findings in formats without lines name the record, row
    or item instead. Raises ReadError for files that cannot be read, FastrankError for an unknown
    kind or format, ImportError for parquet without pyarrow.

    >>> import io, fastrank
    >>> run = io.BytesIO(b"q1 Q0 d1 1 0.5 tag\\nq1 Q0 d1 2 0,4 tag\\n")
    >>> for finding in fastrank.check(None, run):
    ...     print(finding.line, finding.severity, finding.kind)
    2 error bad-score
    2 error duplicate
    """
    checker = Checker(max_per_kind=max_per_kind, ignore=ignore, input_format=input_format)
    if qrels is not None:
        checker.judgments(qrels)
    for run in runs if isinstance(runs, (list, tuple)) else [runs]:
        checker.run(run)
    return checker.report


class Checker:
    """Checks files one after the other, runs against the judgments that came before them."""

    def __init__(
        self,
        *,
        max_per_kind: int = DEFAULT_LIMIT,
        ignore: Iterable[str] = (),
        input_format: str | None = None,
    ) -> None:
        if max_per_kind < 0:
            raise FastrankError(f"max_per_kind is {max_per_kind}: expected 0 or more")
        self.report = Report(findings=[], counts=[], files=[])
        self._limit = max_per_kind
        self._ignored = frozenset([ignore] if isinstance(ignore, str) else ignore)
        for kind in sorted(self._ignored - set(KINDS)):
            raise FastrankError(f"unknown kind of finding {kind!r}: expected {', '.join(KINDS)}")
        self._judged: FileRows | None = None
        self._format = None if input_format is None else check_format(input_format)
        # The files whose bytes were checked; these checks do not depend on the role.
        self._decoded: set[str] = set()
        # The reader's error for a file that is not in TREC format.
        self._refused: FormatError | InputError | None = None

    def judgments(self, source: Source) -> None:
        """Check a file of judgments. Raises ReadError, for a dataset what `read_qrels` raises."""
        if isinstance(source, str) and is_dataset(source):
            rows, findings = self._read_dataset(source)
        else:
            rows, findings = self._read(source, judgments=True)
        if rows is not None:
            check_judgments(rows, findings)
            self._judged = FileRows(rows, rows.first_lines, findings.file)
        self._tell_refusal(findings)
        self._close("qrels", rows, findings)

    def run(self, source: Source) -> None:
        """Check a run. Raises ReadError."""
        rows, findings = self._read(source, judgments=False)
        if rows is not None:
            check_results(rows, findings)
        self._tell_refusal(findings)
        if rows is not None and self._judged is not None:
            check_match(self._judged, rows, findings)
        self._close("run", rows, findings)

    def _read(self, source: Source, *, judgments: bool) -> tuple[Rows | None, Collector]:
        findings = Collector(files.name_of(source), self._limit, self._ignored)
        of_text = findings
        if isinstance(source, (str, os.PathLike)):
            if os.fspath(source) in self._decoded:
                of_text = Collector(findings.file, 0, frozenset(KINDS))
            self._decoded.add(os.fspath(source))
        text = read_all(source)
        head, kind = text[:HEAD], "qrels" if judgments else "run"
        form = self._format or ""
        if why_unreadable(head):
            form = "trec"
        elif not form:
            form = format_of(head, findings.file, kind)
        if form != "trec":
            rows = self._read_table(text, form, findings, of_text, judgments=judgments)
        elif (start := check_text(text, of_text)) is None:
            rows = None
        else:
            rows = scan(text, start, judgments=judgments, listed=self._limit)
            check_odd_lines(rows, findings, judgments=judgments)
        if rows is not None and not len(rows):
            noun = "judgment" if judgments else "result"
            findings.add("no-results", None, f"the file has no {noun}s")
        return rows, findings

    def _read_dataset(self, source: str) -> tuple[Rows | None, Collector]:
        findings = Collector(source, self._limit, self._ignored)
        rows, self._refused = reading_of(dataset_table(source), source, 0, judgments=True)
        if rows is not None:
            findings.unit = rows.unit
        return rows, findings

    def _read_table(
        self, content: bytes, form: str, findings: Collector, of_text: Collector, *, judgments: bool
    ) -> Rows | None:
        message = f"the file is in {form} format, which trec_eval cannot read; {TO_CONVERT}"
        of_text.add("other-format", None, message)
        if form != "parquet":
            check_decodable(content, of_text)
        rows, self._refused = read_table(content, findings.file, form, judgments=judgments)
        if rows is not None:
            findings.unit = rows.unit
        return rows

    def _tell_refusal(self, findings: Collector) -> None:
        """Add the reader's error."""
        refused, self._refused = self._refused, None
        # Another error explains why the reader refuses the file.
        if refused is not None and not findings.has_errors:
            line = refused.line if isinstance(refused, FormatError) else None
            findings.add("malformed", line, refused.reason)

    def _close(self, role: str, rows: Rows | None, findings: Collector) -> None:
        sizes = (0, 0, 0, 0)
        if rows is not None:
            sizes = (rows.line_count, len(rows), len(rows.queries), rows.count_documents())
        self.report.files.append(FileSummary(findings.file, role, *sizes))
        self.report.findings.extend(findings.findings())
        self.report.counts.extend(findings.counts(role))
