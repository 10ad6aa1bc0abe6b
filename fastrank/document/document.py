"""A document: what a result shows, in whichever format it is written."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Block: TypeAlias = "Grid | Paragraph | Items | Section"


class Cell(NamedTuple):
    """A cell of a grid.

    number: whether it is aligned to the right. place: 1 for the best, 2 for the second, else 0.
    marks, lower_marks: the letters or symbols of its superscript and of its subscript.
    title, marks_title: what HTML shows when a pointer is above the cell, and above its marks.
    sign: 1 for better, -1 for worse, else 0. heads_row: whether it is the name of the row.
    """

    text: str
    number: bool = False
    place: int = 0
    marks: tuple[str, ...] = ()
    lower_marks: tuple[str, ...] = ()
    title: str = ""
    marks_title: str = ""
    sign: int = 0
    heads_row: bool = False


class Grid(NamedTuple):
    """A table. Columns with a number are aligned to the right."""

    header: list[str]
    rows: list[list[Cell]]

    def numeric(self) -> list[bool]:
        """Which columns have numbers."""
        return [any(row[i].number for row in self.rows) for i in range(len(self.header))]


class Paragraph(NamedTuple):
    """A paragraph. kind: "legend", "note", or empty."""

    text: str
    kind: str = ""


class Items(NamedTuple):
    """A list."""

    texts: list[str]


class Section(NamedTuple):
    """A title and what belongs to it. level: of the heading, 1 to 6."""

    title: str
    blocks: Sequence[Block]
    level: int = 4


class Document(NamedTuple):
    """The blocks of a result, in order."""

    blocks: Sequence[Block]
