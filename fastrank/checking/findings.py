"""What a check finds: the kinds of findings, the findings, and how they are collected."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np

from fastrank.data.columns import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Said = tuple[str, bytes | None, bytes | None]

ERROR, WARNING, NOTE = SEVERITIES = ("error", "warning", "note")

# Every kind: how bad it is, and what it means. An error is what trec_eval stops at, or what makes
# its numbers wrong without a word; a warning what probably was not meant; a note what to know.
KINDS: dict[str, tuple[str, str]] = {
    "encoding": (ERROR, "the file is UTF-16 or UTF-32: no program of the field reads it"),
    "bom": (ERROR, "a byte order mark, which trec_eval reads as part of the first query id"),
    "nul": (ERROR, "a NUL byte, at which trec_eval crashes or silently ends the file"),
    "bare-cr": (ERROR, "a carriage return without a newline: for trec_eval a blank, no line end"),
    "malformed": (ERROR, "a line with too few fields; in judgments also too many, or none"),
    "ambiguous-comment": (ERROR, "a comment that one of trec_eval 9.0.8 and 10.0 reads as data"),
    "no-results": (ERROR, "a file without a single judgment or result"),
    "bad-score": (ERROR, "a score that is no number: trec_eval reads what it begins with, or 0"),
    "nan-score": (ERROR, "a score that is NaN: there is no order by such scores"),
    "bad-grade": (ERROR, "a grade that is no number: trec_eval reads what it begins with, or 0"),
    "float-grade": (ERROR, "a grade with a fraction or exponent, which trec_eval cuts off"),
    "huge-grade": (ERROR, "a grade of 2**44 or more, by which no judgments can be counted"),
    "duplicate": (ERROR, "a document twice for a query: trec_eval stops at that query"),
    "conflicting-grades": (ERROR, "a document twice in a query's judgments, with other grades"),
    "all-negative": (ERROR, "a query with negative grades only: trec_eval stops if it is first"),
    "no-common-query": (
        ERROR,
        "a run none of whose queries is judged: nothing can be averaged",
    ),
    "no-judged-document": (ERROR, "a run none of whose documents is judged: all measures are 0"),
    "extra-fields": (WARNING, "more than 6 fields in a run; what is behind the tag is ignored"),
    "comment": (WARNING, "a comment: trec_eval 10.0 skips it, to 9.0.8 the line is malformed"),
    "infinite-score": (WARNING, "a score that is infinite, or too large for a double"),
    "decimal-grade": (WARNING, "a whole grade written as a decimal (1.0); others refuse it"),
    "rank-order": (WARNING, "ranks and scores disagree: trec_eval ranks by score alone"),
    "ascending-scores": (WARNING, "scores rise with the rank: these may be distances"),
    "constant-scores": (WARNING, "all results of a query (3 or more) have the same score"),
    "padding": (WARNING, "the document id -1, with which faiss fills up"),
    "several-tags": (WARNING, "more than one tag in a run; trec_eval takes the last"),
    "unknown-query": (WARNING, "a query of the run without judgments, which is not evaluated"),
    "missing-query": (WARNING, "a judged query that the run lacks"),
    "similar-query": (WARNING, "a query without judgments whose id is almost a missing one's"),
    "similar-document": (WARNING, "a document that is not judged, but almost by its id"),
    "no-relevant": (WARNING, "a query without relevant documents, which counts as 0"),
    "other-format": (NOTE, "a file that is not TREC's: fastrank reads it, trec_eval does not"),
    "blank-line": (NOTE, "a line without fields in a run, which is ignored"),
    "crlf": (NOTE, "lines that end with CR LF"),
    "invalid-utf8": (NOTE, "bytes that are not UTF-8; trec_eval compares bytes and does not care"),
    "no-final-newline": (NOTE, "the last line has no newline; appending to it will spoil it"),
    "negative-grade": (NOTE, "a negative grade: the document counts as unjudged"),
    "scattered": (NOTE, "the lines of a query stand in several places"),
    "unsorted": (NOTE, "results that are not in the order of their scores"),
    "bad-rank": (NOTE, "a rank that is no integer; trec_eval does not read it"),
    "repeated-rank": (NOTE, "a rank twice for a query; trec_eval does not read it"),
    "tied-scores": (NOTE, "equal scores: trec_eval ranks the larger document id first"),
    "tied-as-floats": (NOTE, "scores that differ, but not as the 32-bit floats of 9.0.8"),
    "self-match": (NOTE, "a document with the id of its query; some evaluations remove it"),
    "uneven-depth": (
        NOTE,
        "queries with fewer or more results than nearly all others (of 10 or more)",
    ),
    "deep": (NOTE, "a query with more than 1,000 results, where TREC asks for 1,000 at most"),
    "unjudged-query": (NOTE, "a query none of whose results is judged"),
}
_ORDER = {kind: place for place, kind in enumerate(KINDS)}


class Finding(NamedTuple):
    """One finding: `kind` is one of KINDS, `severity` error, warning or note.

    `line` counts from 1; it is None for what is not in the file, and where a format has no lines.
    query and document are ids as text (bytes that are not UTF-8 as `\\xff`), None where the
    finding is not about one.
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
    """How often a kind was found in a file, and how many of these are among the findings."""

    severity: str
    kind: str
    file: str
    found: int
    listed: int


class FileSummary(NamedTuple):
    """A file that was checked: its `role` (qrels or run), and how much is in it.

    rows are judgments or results, queries and documents distinct ids; lines is 0 where a format has
    none.
    """

    file: str
    role: str
    lines: int
    rows: int
    queries: int
    documents: int


class Report(Frozen):
    """What `check` returns: iterates over the findings, by file and line.

    `findings` holds those that are listed, `counts` a Count per file and kind, `files` a
    FileSummary of each file, in the order of the files.
    """

    __slots__ = ("counts", "files", "findings")

    findings: list[Finding]
    counts: list[Count]
    files: list[FileSummary]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def total(self, severity: str) -> int:
        """How many findings of a severity there are, those not listed included."""
        return sum(count.found for count in self.counts if count.severity == severity)

    def __repr__(self) -> str:
        totals = ", ".join(counted(self.total(one), one) for one in SEVERITIES)
        return f"<Report of {counted(len(self.files), 'file')}: {totals}>"

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))


class Collector:
    """The findings in one file: of each kind the first `limit` in full, and a count.

    What is said of a finding is worded only if it is listed: there may be millions.
    """

    def __init__(self, file: str, limit: int, ignored: frozenset[str]) -> None:
        self.file = file
        # What is counted as lines; without a line's number, a finding says it in words.
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
        """Note one finding."""
        self._take(kind, 1, [(0, line)], lambda _: (message, query, document))

    def add_lines(
        self, kind: str, lines: Any, say: Callable[[int], Said], count: int | None = None
    ) -> None:
        """Note a finding on each of `lines`; say(i) gives message, query and document of the i-th.

        Of findings on the same line the first ones are listed. count: how many there are, if
        `lines` are the first of more.
        """
        numbers = np.asarray(lines, dtype=np.int64)
        chosen = np.argsort(numbers, kind="stable")[: self._limit].tolist()
        total = len(numbers) if count is None else count
        self._take(kind, total, [(i, int(numbers[i])) for i in chosen], say)

    def add_without_lines(self, kind: str, count: int, say: Callable[[int], Said]) -> None:
        """The same for what is not in the file, in the order in which it is to be listed."""
        self._take(kind, count, [(i, None) for i in range(count)], say)

    def _take(
        self,
        kind: str,
        count: int,
        chosen: list[tuple[int, int | None]],
        say: Callable[[int], Said],
    ) -> None:
        if kind in self._ignored or not count:
            return
        self._counts[kind] = self._counts.get(kind, 0) + count
        found = self._findings.setdefault(kind, [])
        for i, line in chosen[: self._limit]:
            message, query, document = say(i)
            if line is not None and self.unit != "line":
                line, message = None, f"{self.unit} {line}: {message}"
            found.append(
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
        """Whether any of the findings is an error."""
        return any(KINDS[kind][0] == ERROR for kind in self._counts)

    def findings(self) -> list[Finding]:
        """The listed findings by line, those without a line last."""
        every = [
            finding
            for found in self._findings.values()
            for finding in islice(sorted(found, key=_place), self._limit)
        ]
        return sorted(every, key=_place)

    def counts(self) -> Iterator[Count]:
        """A count for each kind that was found, in the order of KINDS."""
        for kind in sorted(self._counts, key=_ORDER.__getitem__):
            count = self._counts[kind]
            yield Count(KINDS[kind][0], kind, self.file, count, min(count, self._limit))


def _place(finding: Finding) -> tuple[bool, int, int]:
    return finding.line is None, finding.line or 0, _ORDER[finding.kind]


def readable(text: bytes | None) -> str | None:
    """An id as text; bytes that are not UTF-8 as escapes."""
    return None if text is None else text.decode("utf-8", "backslashreplace")


def quoted(text: bytes) -> str:
    """An id in quotes, cut if it is long, with whatever cannot be seen as escapes."""
    shown = text if len(text) <= 60 else text[:60] + b"..."
    try:
        return repr(shown.decode("utf-8"))
    except UnicodeDecodeError:
        return f"'{readable(shown)}'"


def counted(count: int, one: str, several: str | None = None) -> str:
    """`1 line`, `2,000 lines`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"
