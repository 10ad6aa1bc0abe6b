"""Documents in GitHub's Markdown."""

from __future__ import annotations

import re

from fastrank.common.messages import visible
from fastrank.common.rendering.document import Grid, Items, Paragraph
from fastrank.common.rendering.numbers import joined
from fastrank.common.rendering.text import ROOM, display_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fastrank.common.rendering.document import Block, Cell, Document

# The special characters, underscores only at the end of a word; and what begins a GitHub command.
SPECIAL = re.compile(r"([\\`*<>&\[\]|~]|(?<!\S):(?=:)|(?<![^\W_])_|_(?![^\W_]))")
# Deeper headings are bold.
DEEPEST = 3


def markdown(document: Document, *, bold: bool = True, underline: bool = False) -> str:
    """Tables in the pipe syntax, and paragraphs.

    bold, underline: whether to set the best in bold, and to underline the second.
    """
    styles = {1: "**%s**" if bold else "%s", 2: "<u>%s</u>" if underline else "%s", 0: "%s"}
    return "\n\n".join(_parts(document.blocks, styles))


def _parts(blocks: Iterable[Block], styles: dict[int, str]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Grid):
            yield _table(block, styles)
        elif isinstance(block, Paragraph):
            yield escaped(block.text)
        elif isinstance(block, Items):
            yield "\n".join(f"- {escaped(text)}" for text in block.texts)
        else:
            title = escaped(block.title)
            yield f"{'#' * block.level} {title}" if block.level <= DEEPEST else f"**{title}**"
            yield from _parts(block.blocks, styles)


def _table(grid: Grid, styles: dict[int, str]) -> str:
    columns = []
    for column, (name, right) in enumerate(zip(grid.header, grid.numeric(), strict=True)):
        cells = [escaped(name), *(_cell(row[column], styles) for row in grid.rows)]
        width = max(display_width(cells[0]) + ROOM, *map(display_width, cells[1:]), 0)
        rooms = [" " * (width - display_width(cell)) for cell in cells]
        rule = "-" * (width + 1)
        padded = [
            f" {room}{cell} " if right else f" {cell}{room} "
            for cell, room in zip(cells, rooms, strict=True)
        ]
        columns.append([padded[0], f"{rule}:" if right else f":{rule}", *padded[1:]])
    return "\n".join(f"|{'|'.join(row)}|" for row in zip(*columns, strict=True))


def _cell(cell: Cell, styles: dict[int, str]) -> str:
    # The characters of numbers and intervals have no meaning in Markdown.
    shown = styles[cell.place] % (visible(cell.text) if cell.number else escaped(cell.text))
    return f"{shown} <sup>{joined(cell.marks)}</sup>" if cell.marks else shown


def escaped(text: str) -> str:
    """Text with the special characters escaped."""
    return SPECIAL.sub(r"\\\1", visible(text))
