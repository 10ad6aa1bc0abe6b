"""Checks of the text of a file: encoding, line ends, malformed and odd lines."""

from __future__ import annotations

import re
from functools import partial

from fastrank.analysis.checking.findings import Collector, quoted
from fastrank.analysis.checking.rows import Rows, line_at
from fastrank.common.messages import counted
from fastrank.core.formats.files.source import BYTE_ORDER_MARK, HEAD
from fastrank.core.formats.tables.sniff import why_unreadable
from fastrank.core.formats.trec.strict import IS_HEADER, NO_FIELD, has_names_only, misplaced
from fastrank.core.native import codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    # The message about a line with a number of fields.
    Describe = Callable[[bytes, int], str]

# Bytes to decode at once, at least.
_PIECE = 1 << 20


def check_text(text: bytes, findings: Collector) -> int | None:
    """Check a file's bytes. Returns the offset of the first line, or None if it is unreadable."""
    if reason := why_unreadable(text[:HEAD]):
        findings.add("encoding", 1, reason)
        return None
    if b"\r" in text and b"\n" not in text:
        message = (
            "the lines of the file end with CR alone, as on old Macs: trec_eval reads them as one;"
            " convert it (tr '\\r' '\\n')"
        )
        findings.add("bare-cr", 1, message)
        return None
    _check_line_ends(text, findings)
    check_decodable(text, findings)
    if not text.startswith(BYTE_ORDER_MARK):
        return 0
    message = "byte order mark, which trec_eval reads as part of the first query id"
    findings.add("bom", 1, message)
    return len(BYTE_ORDER_MARK)


def check_decodable(text: bytes, findings: Collector) -> None:
    """Note the lines that are not UTF-8."""
    if not text.isascii():
        lines = list(_undecodable(text))
        findings.add_lines(
            "invalid-utf8", lines, lambda _: ("bytes that are not UTF-8", None, None)
        )


def _check_line_ends(text: bytes, findings: Collector) -> None:
    newlines = text.count(b"\n")
    if not text.endswith(b"\n"):
        findings.add("no-final-newline", newlines + 1, "the last line has no newline")
    if b"\r" not in text:
        return
    pairs = text.count(b"\r\n")
    if pairs:
        message = f"{pairs:,} of {counted(newlines, 'line')} end in CR LF; CR is read as a blank"
        findings.add("crlf", _line_of(text, text.find(b"\r\n")), message)
    bare = text.count(b"\r") - pairs
    if bare:
        match = re.search(rb"\r(?!\n)", text)
        offset = match.start() if match else 0
        message = (
            f"carriage return without a newline ({bare:,} in the file), which trec_eval reads as a"
            " blank, not as the end of a line"
        )
        findings.add("bare-cr", _line_of(text, offset), message)


def _line_of(text: bytes, offset: int) -> int:
    return text.count(b"\n", 0, offset) + 1


def _undecodable(text: bytes) -> Iterator[int]:
    """The line numbers of lines that are not UTF-8."""
    start, line = 0, 1
    while start < len(text):
        stop = text.find(b"\n", start + _PIECE) + 1 or len(text)
        piece = text[start:stop]
        try:
            piece.decode("utf-8")
        except UnicodeDecodeError:
            for number, content in enumerate(piece.split(b"\n"), line):
                try:
                    content.decode("utf-8")
                except UnicodeDecodeError:
                    yield number
        line += piece.count(b"\n")
        start = stop


QRELS_LINE = "4 fields (query iter doc grade)"
RUN_LINE = "6 fields (query Q0 doc rank score tag)"
TO_CONVERT = "`fastrank convert` can convert it"


def check_odd_lines(rows: Rows, findings: Collector, *, judgments: bool) -> None:
    """Note lines that are malformed, blank, comments, or contain NUL."""

    def note(kind: str, code: int, describe: Describe) -> None:
        count, first = rows.odd[code]

        def described(i: int) -> tuple[str, None, None]:
            _, start, fields = first[i].tolist()
            return describe(line_at(rows.text, start), fields), None, None

        findings.add_lines(kind, first[:, 0], described, count)

    if judgments:
        note("malformed", codes.TOO_FEW_FIELDS, _malformed_judgment)
        note("malformed", codes.TOO_MANY_FIELDS, _malformed_judgment)
        note("malformed", codes.BLANK_LINE, lambda *_: f"expected {QRELS_LINE}, found a blank line")
        note("ambiguous-comment", codes.DATA_COMMENT, _comment_as("judgment"))
        note("ambiguous-comment", codes.SECOND_COMMENT, _second_comment)
    else:
        note("malformed", codes.TOO_FEW_FIELDS, _malformed_result)
        note("blank-in-id", codes.MISPLACED_FIELDS, lambda line, _: misplaced(line))
        guess = "fields after the 6th are ignored; does an id contain a blank?"
        note("extra-fields", codes.TOO_MANY_FIELDS, partial(_malformed, RUN_LINE, guess=guess))
        note("blank-line", codes.BLANK_LINE, lambda *_: "a blank line, which is ignored")
        note("ambiguous-comment", codes.DATA_COMMENT, _comment_as("result"))
    note(
        "comment",
        codes.COMMENT_LINE,
        lambda line, _: f"trec_eval 10.0 skips this comment, 9.0.8 rejects it: {quoted(line)}",
    )
    note("nul", codes.NUL_LINE, _nul)


def _malformed(expected: str, line: bytes, fields: int, guess: str) -> str:
    return f"expected {expected}, found {fields}: {quoted(line)}{guess and '; '}{guess}"


def _malformed_judgment(line: bytes, fields: int) -> str:
    guess = _guess(line)
    if fields >= 6:
        guess = "this looks like a run; use --no-qrels if all files are runs"
    elif fields == 3 and b"\t" in line:
        guess = f"this looks like BEIR's format; {TO_CONVERT}"
    elif has_names_only(line) and not guess:
        guess = IS_HEADER
    else:
        guess = NO_FIELD["qrels"].get(fields, guess)
    return _malformed(QRELS_LINE, line, fields, guess)


def _malformed_result(line: bytes, fields: int) -> str:
    guess = _guess(line)
    if has_names_only(line) and b"\t" not in line and not guess:
        guess = IS_HEADER
    elif fields == 3:
        guess = f"this looks like MS MARCO's format; {TO_CONVERT}"
    elif fields == 4:
        guess = "this looks like a judgment; qrels must be the first file"
    else:
        guess = NO_FIELD["run"].get(fields, guess)
    return _malformed(RUN_LINE, line, fields, guess)


def _guess(line: bytes) -> str:
    if line.lstrip().startswith((b"{", b"[")):
        return f"this looks like JSON; {TO_CONVERT}"
    if line.count(b",") >= 2:
        return "separate fields by blanks, not commas"
    return ""


def _nul(line: bytes, _: int) -> str:
    if line.startswith(b"\0"):
        return "the line begins with a NUL byte, where trec_eval stops reading the file"
    return f"the line contains a NUL byte, at which trec_eval crashes: {quoted(line)}"


def _second_comment(line: bytes, _: int) -> str:
    return (
        "trec_eval 10.0 skips only one comment at a time and reads this one as a judgment:"
        f" {quoted(line)}"
    )


def _comment_as(noun: str) -> Describe:
    def describe(line: bytes, _: int) -> str:
        query = quoted(line.split()[0])
        return f"trec_eval 9.0.8 reads this comment as a {noun} of query {query}: {quoted(line)}"

    return describe
