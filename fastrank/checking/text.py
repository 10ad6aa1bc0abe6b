"""Checks of encoding and line ends, before anything is read from a file."""

from __future__ import annotations

import re

from fastrank.checking.findings import Collector, counted
from fastrank.formats.source import BYTE_ORDER_MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Longest first: a UTF-32 mark begins with a UTF-16 mark.
FOREIGN = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
# Bytes to decode at once, at least.
_PIECE = 1 << 20


def foreign_encoding(text: bytes) -> str:
    """The name of the encoding if the first bytes show that it is UTF-16 or UTF-32, else ""."""
    return next((name for mark, name in FOREIGN.items() if text.startswith(mark)), "")


def check_text(text: bytes, findings: Collector) -> int | None:
    """Check a file's bytes. Returns the offset of the first line, or None if it is unreadable."""
    name = foreign_encoding(text)
    if name:
        message = f"expected UTF-8, found {name}; convert it with `iconv -f {name} -t UTF-8`"
        findings.add("encoding", 1, message)
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
        found = re.search(rb"\r(?!\n)", text)
        at = found.start() if found else 0
        message = (
            f"carriage return without a newline ({bare:,} in the file), which trec_eval reads as a"
            " blank, not as the end of a line"
        )
        findings.add("bare-cr", _line_of(text, at), message)


def _line_of(text: bytes, at: int) -> int:
    return text.count(b"\n", 0, at) + 1


def _undecodable(text: bytes) -> Iterator[int]:
    """The line numbers of lines that are not UTF-8."""
    start, line = 0, 1
    while start < len(text):
        stop = text.find(b"\n", start + _PIECE) + 1 or len(text)
        piece = text[start:stop]
        try:
            piece.decode("utf-8")
        except UnicodeDecodeError:
            for number, one in enumerate(piece.split(b"\n"), line):
                try:
                    one.decode("utf-8")
                except UnicodeDecodeError:
                    yield number
        line += piece.count(b"\n")
        start = stop
