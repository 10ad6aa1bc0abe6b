"""Format rows as aligned text, Markdown, LaTeX, HTML or CSV, with the escapes of each format."""

from __future__ import annotations

from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    # Cells: str, int, Number, None if empty; for CSV also float.
    Rows = Iterable[Sequence[Any]]

# The special characters of Markdown; underscores only at the end of a word.
MARKDOWN = r"([\\`*<>&\[\]|~]|(?<![^\W_])_|_(?![^\W_]))"
# The special characters of LaTeX.
LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "^": r"\^{}", "~": r"\textasciitilde{}", "\\": r"\textbackslash{}",
        "<": r"\ensuremath{<}", ">": r"\ensuremath{>}", "|": r"\textbar{}",
    }
)  # fmt: skip


class Number(str):
    """A number formatted as text."""

    __slots__ = ()


class Markup(Number):
    """A number with markup of the format, which is not escaped."""

    __slots__ = ()


class Bold(Number):
    """A number to set in bold, if the format supports it."""

    __slots__ = ()


def markdown(header: Sequence[str], rows: Rows) -> str:
    """A table in the pipe syntax of GitHub's Markdown."""

    def escaped(cell: object) -> object:
        if isinstance(cell, Number):
            return Number(f"**{cell}**") if isinstance(cell, Bold) else cell
        return escaped_markdown(cell) if isinstance(cell, str) else cell

    return tabulated(
        [escaped_markdown(name) for name in header],
        ([escaped(cell) for cell in row] for row in rows),
        "pipe",
    )


def markdown_text(text: str) -> str:
    """Text for a paragraph of Markdown, escaped."""
    return escaped_markdown(visible(text))


def escaped_markdown(text: str) -> str:
    """The text with Markdown's special characters escaped."""
    import re

    return re.sub(MARKDOWN, r"\\\1", text)


def latex(header: Sequence[str], rows: Rows) -> str:
    """A tabular with booktabs rules."""
    cells = [list(row) for row in rows]
    columns = "".join("r" if right else "l" for right in _numeric(cells, len(header)))
    texts = [[latex_text(name) for name in header]]
    for row in cells:
        texts.append(
            [
                cell
                if isinstance(cell, Markup)
                else f"\\textbf{{{latex_number(cell)}}}"
                if isinstance(cell, Bold)
                else latex_number(cell)
                if isinstance(cell, Number)
                else latex_text(_shown(cell))
                for cell in row
            ]
        )  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = [
        " & ".join(
            text.rjust(width) if side == "r" else text.ljust(width)
            for text, width, side in zip(row, widths, columns, strict=True)
        ) + r" \\"
        for row in texts
    ]  # fmt: skip
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", lines[0], r"\midrule", *lines[1:],
         r"\bottomrule", r"\end{tabular}"]
    )  # fmt: skip


def latex_number(text: str) -> str:
    """A number, or several, for LaTeX: with minus signs instead of hyphens, and powers of ten."""
    import re

    powers = re.sub(r"e([+-]\d+)", lambda e: rf"$\cdot 10^{{{int(e[1])}}}$", text.translate(LATEX))
    return re.sub(r"(?<![\w{])-(?=[\d.i])", "$-$", powers)


def latex_text(text: str) -> str:
    """Text for LaTeX, escaped; hyphens do not become dashes."""
    shown = visible(text).translate(LATEX).replace("--", "-{}-").replace("--", "-{}-")
    # At the start of a row, these would be arguments of the line break before it.
    return f"{{}}{shown}" if shown.lstrip()[:1] in ("[", "*") else shown


def tabulated(header: Sequence[str], rows: Rows, form: str) -> str:
    """A table in a format of the package tabulate, without escapes but those of HTML."""
    from tabulate import tabulate

    cells = [list(row) for row in rows]
    alignment = ["right" if right else "left" for right in _numeric(cells, len(header))]
    return str(
        tabulate(
            [[visible(_shown(value)) for value in row] for row in cells],
            headers=[visible(name) for name in header],
            tablefmt=form,
            colalign=alignment if cells else None,
            disable_numparse=True,
        )
    )


def _numeric(cells: list[list[Any]], columns: int) -> list[bool]:
    """Which columns hold numbers."""
    return [any(isinstance(row[i], (int, Number)) for row in cells) for i in range(columns)]


def _shown(value: object) -> str:
    return "" if value is None else str(value)
