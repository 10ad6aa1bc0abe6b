"""Documents in HTML: elements for notebooks, and whole pages for files."""

from __future__ import annotations

from html import escape

from fastrank.common.messages import visible
from fastrank.common.rendering.document import Grid, Items, Paragraph
from fastrank.common.rendering.numbers import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fastrank.common.rendering.document import Block, Cell, Document

CLASSES = {0: "number", 1: "number best", 2: "number second"}
TAGS = {0: "%s", 1: "<b>%s</b>", 2: "<u>%s</u>"}
SIGNS = ("", "better", "worse")


def html(document: Document, *, page: str | None = None) -> str:
    """Elements for each block; with a title as `page`, a whole page."""
    if page is not None:
        from fastrank.common.rendering.page import whole_page

        return whole_page(page, [document])
    return "\n".join(_elements(document.blocks))


def _elements(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Grid):
            yield table(block)
        elif isinstance(block, Paragraph):
            yield f"<p{attribute('class', block.kind)}>{safe(block.text)}</p>"
        elif isinstance(block, Items):
            yield f"<ul>{''.join(f'<li>{safe(text)}</li>' for text in block.texts)}</ul>"
        else:
            yield f"<h{block.level}>{safe(block.title)}</h{block.level}>"
            yield from _elements(block.blocks)


def table(grid: Grid) -> str:
    """A table element; if all columns but the first have numbers, its class is `numbers`, too."""
    numeric = grid.numeric()
    kinds = ["number" if right else "" for right in numeric]
    # Saves a class in each cell of long tables.
    whole = len(numeric) > 1 and numeric == [False, *[True] * (len(numeric) - 1)]
    if whole:
        kinds = [""] * len(kinds)
    head = "".join(
        f'<th scope="col"{attribute("class", kind)}>{_header(name)}</th>'
        for name, kind in zip(grid.header, kinds, strict=True)
    )
    return "\n".join(
        [
            f'<table class="fastrank{" numbers" if whole else ""}">',
            f"<thead><tr>{head}</tr></thead>",
            "<tbody>",
            *(f"<tr>{''.join(_cell(cell, whole) for cell in row)}</tr>" for row in grid.rows),
            "</tbody>",
            "</table>",
        ]
    )


def _header(text: str) -> str:
    """A header, which may be the name of a system; most are ours."""
    return safe(text) if text.isascii() else name(text)


def _cell(cell: Cell, whole: bool) -> str:
    if cell.heads_row:
        return f'<th scope="row">{name(cell.text)}</th>'
    kind = CLASSES[cell.place] if cell.number else SIGNS[cell.sign]
    if whole:
        kind = kind.removeprefix("number").lstrip()
    title = attribute("title", cell.title)
    shown = TAGS[cell.place] % safe(cell.text)
    if cell.marks:
        shown += f"<sup{attribute('title', cell.marks_title)}>{safe(joined(cell.marks))}</sup>"
    return f"<td{attribute('class', kind)}{title}>{shown}</td>"


def attribute(name: str, value: str) -> str:
    """An attribute with a space before it; nothing if it is empty."""
    return f' {name}="{safe(value)}"' if value else ""


def safe(text: str) -> str:
    """Text for elements and attributes, on one line."""
    return escape(visible(text))


def scrolled(element: str) -> str:
    """An element in a box that scrolls, also by keys, where it is wider than the page."""
    return f'<div class="wide" tabindex="0">{element}</div>'


def name(text: str) -> str:
    """A name or an id, in whatever script, without effect on the direction of its neighbours."""
    return f"<bdi>{safe(text)}</bdi>"
