"""The findings of a check: their kinds, and how they are collected."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np

from fastrank.common.messages import counted
from fastrank.core.data.columns import Frozen
from fastrank.core.results.result import Result
from fastrank.core.results.table import Table, table_of_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fastrank.analysis.checking.rows import Rows
    from fastrank.common.arrays import Integers

    Described = tuple[str, bytes | None, bytes | None]
    Describe = Callable[[int], Described]
    Message = Callable[[int], str]

ERROR, WARNING, NOTE = SEVERITIES = ("error", "warning", "note")

# The severity and the meaning of each kind. Errors stop trec_eval or make its numbers silently
# wrong; warnings are probable mistakes; notes are good to know.
KINDS: dict[str, tuple[str, str]] = {
    "encoding": (ERROR, "a spreadsheet, an archive, or UTF-16 or UTF-32, which no tool reads"),
    "bom": (ERROR, "a byte order mark, to trec_eval part of the first query id"),
    "nul": (ERROR, "a NUL byte, at which trec_eval crashes or ends the file"),
    "bare-cr": (ERROR, "a carriage return alone, which trec_eval reads as a blank"),
    "malformed": (ERROR, "a line with too few fields; in qrels, too many or none"),
    "ambiguous-comment": (ERROR, "a comment that trec_eval 9.0.8 or 10.0 reads as data"),
    "no-results": (ERROR, "a file without any judgments or results"),
    "bad-score": (ERROR, "no number as a score; trec_eval reads leading digits, or 0"),
    "nan-score": (ERROR, "a score of NaN, by which documents cannot be ranked"),
    "bad-grade": (ERROR, "no number as a grade; trec_eval reads leading digits, or 0"),
    "float-grade": (ERROR, "a fraction or exponent, which trec_eval truncates"),
    "huge-grade": (ERROR, "a grade of 2**44 or more, beyond what evaluation supports"),
    "duplicate": (ERROR, "a duplicate document in a ranking; trec_eval stops there"),
    "conflicting-grades": (ERROR, "a document with two different grades for a query"),
    "all-negative": (ERROR, "only negative grades; as the first query, trec_eval stops"),
    "no-common-query": (ERROR, "a run without any judged query, which has no values"),
    "no-judged-document": (ERROR, "a run without any judged document: all measures are 0"),
    "blank-in-id": (ERROR, "more than 6 fields in a run, because an id has a blank"),
    "exchanged-columns": (ERROR, "rank and score, or second field and document, exchanged"),
    "extra-fields": (WARNING, "more than 6 fields in a run; the others are ignored"),
    "comment": (WARNING, "a comment, which trec_eval 10.0 skips and 9.0.8 rejects"),
    "infinite-score": (WARNING, "a score that is infinite or too large for a double"),
    "decimal-grade": (WARNING, "a whole grade as a decimal (1.0), which some tools reject"),
    "rank-order": (WARNING, "ranks that disagree with scores; trec_eval ranks by score"),
    "ascending-scores": (WARNING, "scores that increase with the rank, as distances do"),
    "constant-scores": (WARNING, "equal scores of all results of a query (3 or more)"),
    "padding": (WARNING, "the document id -1, with which faiss pads results"),
    "several-tags": (WARNING, "more than one tag in a run; trec_eval uses the last"),
    "unknown-query": (WARNING, "a query without judgments, which is not evaluated"),
    "missing-query": (WARNING, "a judged query without results in the run"),
    "similar-query": (WARNING, "an unjudged query with an id like that of a missing one"),
    "similar-document": (WARNING, "an unjudged document with an id like that of a judged one"),
    "no-relevant": (WARNING, "a query without relevant documents, which counts as 0"),
    "other-format": (NOTE, "a file in another format, which trec_eval cannot read"),
    "blank-line": (NOTE, "a blank line in a run, which is ignored"),
    "crlf": (NOTE, "lines that end in CR LF"),
    "invalid-utf8": (NOTE, "bytes that are not UTF-8; harmless, as bytes are compared"),
    "no-final-newline": (NOTE, "a last line without a newline; do not append to the file"),
    "negative-grade": (NOTE, "a negative grade; the document counts as unjudged"),
    "scattered": (NOTE, "lines of a query that are not adjacent"),
    "unsorted": (NOTE, "results that are not sorted by score"),
    "bad-rank": (NOTE, "a rank that is not an integer; trec_eval ignores ranks"),
    "repeated-rank": (NOTE, "a duplicate rank in a ranking; trec_eval ignores ranks"),
    "tied-scores": (NOTE, "equal scores; trec_eval ranks the larger document id first"),
    "tied-as-floats": (NOTE, "equal scores as 32-bit floats, which trec_eval 9.0.8 has"),
    "self-match": (NOTE, "a document with the id of its query, which some remove"),
    "uneven-depth": (NOTE, "other numbers of results than nearly all (10 or more)"),
    "deep": (NOTE, "a query with more than 1,000 results, TREC's usual maximum"),
    "unjudged-query": (NOTE, "a query without any judged results"),
}
_ORDER = {kind: i for i, kind in enumerate(KINDS)}


class Finding(NamedTuple):
    """One finding: `kind` is one of KINDS, `severity` error, warning or note.

    `line` counts from 1; it is None if the finding is about something missing from the file, or if
    the format has no lines. query and document are ids as strings (bytes that are not UTF-8 as
    `\\xff`), or None if the finding is not about one.
    """

    severity: str
    kind: str
    file: str
    line: int | None
    query: str | None
    document: str | None
    message: str

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.severity}: {self.message} [{self.kind}]"


class Count(NamedTuple):
    """How often a kind was found in a file, and how many of these findings are listed.

    role: what the file was checked as, qrels or run.
    """

    severity: str
    kind: str
    file: str
    found: int
    listed: int
    role: str


class FileSummary(NamedTuple):
    """A file that was checked: its `role` (qrels or run) and its size.

    rows counts judgments or results, queries and documents distinct ids; lines is 0 for formats
    without lines.
    """

    file: str
    role: str
    lines: int
    rows: int
    queries: int
    documents: int


class Report(Result, Frozen):
    """The result of `check`; iterating yields the listed findings by file and line.

    findings: those that are listed. counts: a Count per file and kind. files: a FileSummary per
    file, in the order of the files.
    """

    made_by = "fastrank.check"

    findings: list[Finding]
    counts: list[Count]
    files: list[FileSummary]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def total(self, severity: str) -> int:
        """The number of findings of a severity, including those not listed."""
        return sum(count.found for count in self.counts if count.severity == severity)

    def __repr__(self) -> str:
        totals = ", ".join(counted(self.total(severity), severity) for severity in SEVERITIES)
        return f"<Report of {counted(len(self.files), 'file')}: {totals}>"

    def table(self) -> Table:
        """A row for each listed finding."""
        return table_of_rows(Finding._fields, self.findings)

    def _content(self) -> dict[str, object]:
        return {
            "findings": [finding._asdict() for finding in self.findings],
            "counts": [count._asdict() for count in self.counts],
            "files": [file._asdict() for file in self.files],
            **{f"{severity}s": self.total(severity) for severity in SEVERITIES},
        }

    def to_text(self) -> str:
        """A line for each listed finding."""
        return "\n".join(map(str, self.findings))


class Collector:
    """The findings in one file: the first `limit` of each kind in full, and counts.

    Messages are made only for listed findings, because there may be millions of others.
    """

    def __init__(self, file: str, limit: int, ignored: frozenset[str]) -> None:
        self.file = file
        # The unit that lines are numbered by: lines, or in other formats records, rows or items
        # (shown in messages).
        self.unit = "line"
        self._limit = limit
        self._ignored = ignored
        self._counts: dict[str, int] = {}
        self._findings: dict[str, list[Finding]] = {}

    def add(
        self,
        kind: str,
        line: int | None,
        message: str,
        query: bytes | None = None,
        document: bytes | None = None,
    ) -> None:
        """Add one finding."""
        self._take(kind, 1, [(0, line)], lambda _: (message, query, document))

    def add_lines(
        self,
        kind: str,
        lines: Sequence[int] | Integers,
        describe: Describe,
        count: int | None = None,
    ) -> None:
        """Add a finding for each of `lines`; describe(i): message, query and document of the i-th.

        Of several findings on a line, the first are listed. count: the total number, if `lines`
        are only the first.
        """
        numbers = np.asarray(lines, dtype=np.int64)
        chosen = np.argsort(numbers, kind="stable")[: self._limit].tolist()
        total = len(numbers) if count is None else count
        self._take(kind, total, [(i, int(numbers[i])) for i in chosen], describe)

    def add_rows(
        self, kind: str, rows: Rows, row_numbers: Sequence[int] | Integers, describe: Message
    ) -> None:
        """Add a finding for each of some rows; describe(row) gives the message."""

        def described(i: int) -> Described:
            row = int(row_numbers[i])
            return describe(row), rows.query(row), rows.doc(row)

        self.add_lines(kind, rows.lines[row_numbers], described)

    def add_queries(
        self, kind: str, rows: Rows, numbers: Sequence[int] | Integers, describe: Message
    ) -> None:
        """Add a finding for each of some queries; describe(number) gives the message."""

        def described(i: int) -> Described:
            number = int(numbers[i])
            return describe(number), rows.queries[number], None

        self.add_lines(kind, rows.first_lines[numbers], described)

    def add_without_lines(self, kind: str, count: int, describe: Describe) -> None:
        """Add findings about what is missing from the file, in the order to list them."""
        self._take(kind, count, [(i, None) for i in range(count)], describe)

    def _take(
        self, kind: str, count: int, chosen: list[tuple[int, int | None]], describe: Describe
    ) -> None:
        if kind in self._ignored or not count:
            return
        self._counts[kind] = self._counts.get(kind, 0) + count
        findings = self._findings.setdefault(kind, [])
        for i, line in chosen[: self._limit]:
            message, query, document = describe(i)
            if line is not None and self.unit != "line":
                line, message = None, f"{self.unit} {line}: {message}"
            findings.append(
                Finding(
                    severity=KINDS[kind][0],
                    kind=kind,
                    file=self.file,
                    line=line,
                    query=readable(query),
                    document=readable(document),
                    message=message,
                )
            )

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error."""
        return any(KINDS[kind][0] == ERROR for kind in self._counts)

    def findings(self) -> list[Finding]:
        """The listed findings by line; those without a line come last."""
        every = [
            finding
            for of_kind in self._findings.values()
            for finding in islice(sorted(of_kind, key=_place), self._limit)
        ]
        return sorted(every, key=_place)

    def counts(self, role: str) -> Iterator[Count]:
        """A count for each kind that was found, in the order of KINDS."""
        for kind in sorted(self._counts, key=_ORDER.__getitem__):
            count = self._counts[kind]
            yield Count(KINDS[kind][0], kind, self.file, count, min(count, self._limit), role)


def _place(finding: Finding) -> tuple[bool, int, int]:
    return finding.line is None, finding.line or 0, _ORDER[finding.kind]


def readable(text: bytes | None) -> str | None:
    """An id as a string, with bytes that are not UTF-8 escaped."""
    return None if text is None else text.decode("utf-8", "backslashreplace")


def quoted(text: bytes) -> str:
    """An id in quotes, shortened if long, with unprintable characters escaped."""
    shown = text if len(text) <= 60 else text[:60] + b"..."
    try:
        return repr(shown.decode("utf-8"))
    except UnicodeDecodeError:
        return f"'{readable(shown)}'"
