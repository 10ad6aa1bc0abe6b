"""Documents as plain text, in columns."""

from __future__ import annotations

import re
from textwrap import wrap
from unicodedata import combining, east_asian_width

from fastrank.common.messages import visible
from fastrank.common.rendering.document import Grid, Items, Paragraph, Section
from fastrank.common.rendering.numbers import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastrank.common.rendering.document import Block, Cell, Document

WIDTH = 90
INDENT = "  "
# How much wider than its text a header is, at least.
ROOM = 2
# There is no superscript q that fonts have.
SUPERSCRIPTS = str.maketrans("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
# Symbols of significantly better, significantly worse, and at most.
SYMBOLS = ("▲", "▼", "≤")
ASCII_SYMBOLS = ("+", "-", "<=")
# Output that GitHub's runners take for a command: `::error::` at the beginning of a line, whatever
# blanks are before it, and `##[error]` anywhere.
COMMAND = re.compile(r"^[^\S\n]*:(?=:)|#(?=#\[)", re.MULTILINE)


def text(document: Document, *, ascii: bool = False) -> str:
    """The blocks; an empty line follows a grid that is not in a section.

    ascii: write superscripts after a caret.
    """
    lines: list[str] = []
    grid_before = False
    for block in document.blocks:
        if lines and (isinstance(block, Grid) or grid_before):
            lines.append("")
        grid_before = isinstance(block, Grid)
        lines += _lines(block, ascii=ascii)
    return without_commands("\n".join(lines))


def without_commands(text: str) -> str:
    """Lines with escapes for what would be a command to a runner of GitHub."""
    return COMMAND.sub(lambda match: f"{match[0][:-1]}\\x{ord(match[0][-1]):x}", text)


def encodes_marks(stream: object) -> bool:
    """Whether a text stream can encode superscripts and symbols."""
    try:
        marks = "".join([*SYMBOLS, *map(chr, SUPERSCRIPTS.values())])
        marks.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _lines(block: Block, *, ascii: bool) -> Iterator[str]:
    if isinstance(block, Grid):
        yield from _aligned(block, ascii=ascii)
    elif isinstance(block, Paragraph):
        shown = visible(block.text)
        yield from wrap(shown, WIDTH, break_on_hyphens=False) if block.kind else (shown,)
    elif isinstance(block, Items):
        yield from map(visible, block.texts)
    elif isinstance(block, Section):
        yield visible(block.title)
        for inner in block.blocks:
            yield from (INDENT + line for line in _lines(inner, ascii=ascii))


def _aligned(grid: Grid, *, ascii: bool) -> list[str]:
    """The rows under a rule."""
    marks = {mark for row in grid.rows for cell in row for mark in cell.marks}
    ascii = ascii or any("q" in mark or len(mark) > 1 for mark in marks)
    columns = []
    for column, (name, right) in enumerate(zip(grid.header, grid.numeric(), strict=True)):
        cells = _attached([row[column] for row in grid.rows], ascii=ascii)
        header = visible(name)
        width = max(display_width(header) + ROOM, *map(display_width, cells), 0)
        texts = [_padded(text, width, right=right) for text in (header, *cells)]
        columns.append([texts[0], "-" * width, *texts[1:]])
    return [INDENT.join(row).rstrip() for row in zip(*columns, strict=True)]


def _attached(cells: Sequence[Cell], *, ascii: bool) -> list[str]:
    """The texts of a column; numbers with superscripts are aligned before these."""
    texts = [visible(cell.text) for cell in cells]
    marks = [superscript(cell.marks, ascii=ascii) for cell in cells]
    if not any(marks):
        return texts
    width, room = max(map(display_width, texts)), max(map(len, marks))
    return [
        _padded(text, width, right=True) + mark.ljust(room)
        for text, mark in zip(texts, marks, strict=True)
    ]


def superscript(marks: Sequence[str], *, ascii: bool) -> str:
    """The letters as superscript characters, or after a caret."""
    if not marks:
        return ""
    return f"^{joined(marks)}" if ascii else joined(marks).translate(SUPERSCRIPTS)


def _padded(text: str, width: int, *, right: bool) -> str:
    room = " " * (width - display_width(text))
    return room + text if right else text + room


def display_width(text: str) -> int:
    """The number of columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1
        for character in text
    )
