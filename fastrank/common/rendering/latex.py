"""Documents in LaTeX, which need the package booktabs.

pdflatex has the letters of European languages; other scripts need LuaLaTeX or XeLaTeX, and a font.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from fastrank.common.messages import visible
from fastrank.common.rendering.document import Grid, Items, Paragraph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fastrank.common.rendering.document import Block, Cell, Document

    Marks = tuple[str, ...]

SPECIAL = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "^": r"\^{}",
        "~": r"\textasciitilde{}",
        "\\": r"\textbackslash{}",
        "<": r"\ensuremath{<}",
        ">": r"\ensuremath{>}",
        "|": r"\textbar{}",
        "†": r"\dag{}",
        "‡": r"\ddag{}",
        "§": r"\S{}",
        "¶": r"\P{}",
        "≤": r"\ensuremath{\leq}",
        "▲": r"\ensuremath{\bigtriangleup}",
        "▼": r"\ensuremath{\bigtriangledown}",
    }
)
STYLES = {"bold": "\\textbf{%s}", "underline": "\\underline{%s}", "none": "%s"}


def latex(document: Document, *, best: str = "bold", second: str = "underline") -> str:
    """Tabulars with booktabs rules, and paragraphs below them.

    best, second: "bold", "underline" or "none".
    """
    styles = {0: STYLES["none"], 1: STYLES[best], 2: STYLES[second]}
    return "\n\n".join(_parts(document.blocks, styles))


def _parts(blocks: Iterable[Block], styles: dict[int, str]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Grid):
            yield _tabular(block, styles)
        elif isinstance(block, Paragraph):
            # Below a tabular in a float, the text would continue its last line.
            style = r"\footnotesize\raggedright" if block.kind else r"\raggedright"
            shown = f"{style}{{}} {escaped(block.text)}"
            yield rf"\par\noindent\parbox{{\linewidth}}{{{shown}}}"
        elif isinstance(block, Items):
            items = (rf"\item {escaped(text)}" for text in block.texts)
            yield "\n".join([r"\begin{itemize}", *items, r"\end{itemize}"])
        else:
            yield rf"\paragraph{{{escaped(block.title)}}}"
            yield from _parts(block.blocks, styles)


def _tabular(grid: Grid, styles: dict[int, str]) -> str:
    sides = "".join("r" if right else "l" for right in grid.numeric())
    longest = [_longest([row[column] for row in grid.rows]) for column in range(len(sides))]
    texts = [[escaped(name) for name in grid.header]]
    for row in grid.rows:
        texts.append([_cell(cell, marks, styles) for cell, marks in zip(row, longest, strict=True)])
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = [
        " & ".join(
            text.rjust(width) if side == "r" else text.ljust(width)
            for text, width, side in zip(row, widths, sides, strict=True)
        )
        + r" \\"
        for row in texts
    ]
    rows = [lines[0], r"\midrule", *lines[1:]]
    return "\n".join(
        [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", *rows, r"\bottomrule", r"\end{tabular}"]
    )


def _longest(cells: Sequence[Cell]) -> tuple[Marks, Marks]:
    """The longest superscript and the longest subscript of a column."""
    return (
        max((cell.marks for cell in cells), key=len, default=()),
        max((cell.lower_marks for cell in cells), key=len, default=()),
    )


def _cell(cell: Cell, longest: tuple[Marks, Marks], styles: dict[int, str]) -> str:
    if not cell.number:
        return escaped(cell.text)
    above, below = _script(cell.marks, longest[0]), _script(cell.lower_marks, longest[1])
    scripts = f"{above and f'^{{{above}}}'}{below and f'_{{{below}}}'}"
    shown = styles[cell.place] % number(cell.text) if cell.text else ""
    return f"{shown}${scripts}$" if scripts else shown


def _script(marks: Marks, longest: Marks) -> str:
    """The marks, and invisible ones up to the length of the longest, so that numbers align."""
    missing = [mark for mark in longest if mark not in marks][: len(longest) - len(marks)]
    phantom = f"\\hphantom{{{_joined(missing, longest)}}}" if missing else ""
    return f"{_joined(marks, longest)}{phantom}"


def _joined(marks: Sequence[str], longest: Marks) -> str:
    """The marks; those of several letters are apart."""
    space = r"\," if any(len(mark) > 1 for mark in longest) else ""
    return "".join(mark.translate(SPECIAL) + space for mark in marks)


def number(text: str) -> str:
    """A number, or several: with minus signs instead of hyphens, and powers of ten."""

    def power(match: re.Match[str]) -> str:
        factor = "" if match[1] == "1" else rf"{match[1]}\cdot "
        return rf"${factor}10^{{{int(match[2])}}}$"

    powers = re.sub(r"(?<![\w.])([\d.]+)e([+-]\d+)", power, _characters(text))
    return re.sub(r"(?<![\w{])-(?=[\d.i])", "$-$", powers)


def _characters(text: str) -> str:
    # pdflatex has no accents that follow their letter as a character of its own.
    return normalize("NFC", visible(text)).translate(SPECIAL)


def escaped(text: str) -> str:
    """Text, escaped; hyphens do not become dashes."""
    shown = _characters(text).replace("--", "-{}-").replace("--", "-{}-")
    # At the start of a row, these would be arguments of the line break before it.
    return f"{{}}{shown}" if shown.lstrip()[:1] in ("[", "*") else shown
