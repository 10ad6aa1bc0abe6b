"""A comparison as plain text."""

from __future__ import annotations

import sys
from textwrap import fill
from typing import NamedTuple
from unicodedata import combining, east_asian_width

from fastrank.comparing.display import (
    differences_of,
    interval_name,
    interval_text,
    joined,
    layout_of,
    legend,
    means_of,
    notes_of,
)
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.display import Difference, Layout

WIDTH = 90
# There is no superscript q that fonts have.
SUPERSCRIPTS = str.maketrans(
    "abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
)  # fmt: skip
# For significantly better, significantly worse, and at most.
SYMBOLS = ("▲", "▼", "≤")
ASCII_SYMBOLS = ("+", "-", "<=")


class Column(NamedTuple):
    """A column of text. right: whether it is aligned to the right."""

    header: str
    cells: list[str]
    right: bool = False


def text_of(comparison: Comparison, *, ascii: bool | None = None, **options: Any) -> str:
    """The means with letters or, with baselines, the differences from them; a legend, and notes.

    ascii: write marks in ASCII; by default if standard output cannot encode others. options: of
    `layout_of`.
    """
    layout = layout_of(comparison, **options)
    ascii = not encodes_marks(sys.stdout) if ascii is None else ascii
    symbols = ASCII_SYMBOLS if ascii else SYMBOLS
    if comparison.baseline:
        blocks = [_differences(comparison, m, layout, symbols) for m in comparison.measures]
    else:
        blocks = [_means(comparison, layout, ascii=ascii)]
    paragraphs = [legend(comparison, layout, symbols), *notes_of(comparison)]
    wrapped = (fill(visible(text), WIDTH, break_on_hyphens=False) for text in paragraphs)
    return "\n\n".join([*map(aligned, blocks), "\n".join(wrapped)])


def encodes_marks(stream: Any) -> bool:
    """Whether a text stream can encode superscripts and symbols."""
    try:
        marks = "".join([*SYMBOLS, *map(chr, SUPERSCRIPTS.values())])
        marks.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _means(comparison: Comparison, layout: Layout, *, ascii: bool) -> list[Column]:
    """A row for each system, a column for each measure."""
    columns = [Column("system", layout.names)]
    if layout.letters:
        columns.insert(0, Column("", list(layout.letters.values())))
    shown = {measure: means_of(comparison, measure, layout) for measure in comparison.measures}
    marks = {mark for means in shown.values() for mean in means.values() for mark in mean.marks}
    ascii = ascii or any("q" in mark or len(mark) > 1 for mark in marks)
    for measure, means in shown.items():
        texts = [mean.text for mean in means.values()]
        marked = [superscript(mean.marks, ascii=ascii) for mean in means.values()]
        columns.append(Column(measure, _attached(texts, marked), right=True))
        if len(layout.names) == 1 and interval_name(comparison):
            bounds = comparison.interval_of(measure, layout.names[0])
            shown_interval = interval_text(*bounds, layout.number)
            columns.append(Column(interval_name(comparison), [shown_interval]))
    return columns


def superscript(marks: list[str], *, ascii: bool) -> str:
    """The letters as superscript characters, or after a caret."""
    if not marks:
        return ""
    return f"^{joined(marks)}" if ascii else joined(marks).translate(SUPERSCRIPTS)


def _attached(texts: list[str], marks: list[str]) -> list[str]:
    """Numbers aligned to the right, each followed by its mark."""
    width, room = max(map(len, texts)), max(map(len, marks))
    return [text.rjust(width) + mark.ljust(room) for text, mark in zip(texts, marks, strict=True)]


def _differences(
    comparison: Comparison, measure: str, layout: Layout, symbols: tuple[str, ...]
) -> list[Column]:
    """A row for each system and baseline."""
    header, rows = difference_rows(comparison, measure, layout, symbols)
    columns = zip(*([str(cell) for cell in row] for row in rows), strict=True)
    left = {"system", "baseline", ""}
    return [
        Column(name, list(cells), right=place > 0 and name not in left)
        for place, (name, cells) in enumerate(zip(header, columns, strict=True))
    ]


def difference_rows(
    comparison: Comparison, measure: str, layout: Layout, symbols: tuple[str, ...]
) -> tuple[list[str], list[list[str]]]:
    """The header, and a row for each system and baseline: the mean, then the difference."""
    several = len(comparison.baseline) > 1
    has_better, interval = bool(comparison.better(measure)), interval_name(comparison)
    header = [
        "system", measure, *(["baseline"] if several else []),
        f"diff [{interval}]" if interval else "diff", "p",
        *(["+/=/-", ""] if has_better else []),
    ]  # fmt: skip
    means = means_of(comparison, measure, layout)
    rows = []
    for name, found in differences_of(comparison, measure, layout).items():
        for one in found or (None,):
            row = [name, means[name].text]
            row += _difference_cells(one, symbols, several=several, has_better=has_better)
            rows.append(row)
    return header, rows


def _difference_cells(
    one: Difference | None, symbols: tuple[str, ...], *, several: bool, has_better: bool
) -> list[str]:
    if one is None:
        return [""] * (2 + several + 2 * has_better)
    mark = ("", symbols[0], symbols[1])[one.sign]
    return [
        *([one.pair.b] if several else []),
        f"{one.difference} {one.interval}".rstrip(), one.p,
        *([one.counts, mark] if has_better else []),
    ]  # fmt: skip


def aligned(columns: list[Column]) -> str:
    """Columns of text under a rule."""
    lines: list[list[str]] = []
    for column in columns:
        cells = [visible(cell) for cell in (column.header, *column.cells)]
        width = max(map(display_width, cells))
        padded = []
        for cell in cells:
            room = " " * (width - display_width(cell))
            padded.append(room + cell if column.right else cell + room)
        padded.insert(1, "-" * width)
        lines.append(padded)
    return "\n".join("  ".join(row).rstrip() for row in zip(*lines, strict=True))


def display_width(text: str) -> int:
    """The number of columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(own) else 2 if east_asian_width(own) in "WF" else 1 for own in text)
