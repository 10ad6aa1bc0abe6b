"""Rows as text: aligned columns, markdown, LaTeX, HTML, CSV, each with its own escapes."""

from __future__ import annotations

from fastrank.scores.text import rounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    Rows = Iterable[Sequence[Any]]

# What markdown takes for markup; an underscore only at the end of a word.
MARKDOWN = r"([\\`*<>&\[\]|~]|(?<![^\W_])_|_(?![^\W_]))"


def plain(header: Sequence[str], rows: Rows) -> str:
    """Aligned columns under a rule."""
    return _tabulated(header, rows, "simple")


def markdown(header: Sequence[str], rows: Rows) -> str:
    """A table in the pipe syntax of GitHub's markdown."""
    import re

    markup = re.compile(MARKDOWN)
    escaped = [markup.sub(r"\\\1", name) for name in header]
    return _tabulated(escaped, ([_escape(markup, v) for v in row] for row in rows), "pipe")


def _escape(markup: Any, value: object) -> object:
    return markup.sub(r"\\\1", value) if isinstance(value, str) else value


def latex(header: Sequence[str], rows: Rows) -> str:
    """A tabular with the rules of booktabs."""
    return _tabulated(header, rows, "latex_booktabs")


def html(header: Sequence[str], rows: Rows) -> str:
    """A table element."""
    return _tabulated(header, rows, "html")


def _tabulated(header: Sequence[str], rows: Rows, form: str) -> str:
    from tabulate import tabulate

    cells = [list(row) for row in rows]
    alignment = [
        "right" if any(isinstance(row[i], (int, float)) for row in cells) else "left"
        for i in range(len(header))
    ]
    return str(
        tabulate(
            [[_line(rounded(value)) for value in row] for row in cells],
            headers=[_line(name) for name in header],
            tablefmt=form,
            colalign=alignment if cells else None,
            disable_numparse=True,
        )
    )


def _line(text: str) -> str:
    """A text on one line, of characters that every encoding of Unicode has."""
    return " ".join(text.splitlines()).encode("utf-8", "replace").decode()


def csv_lines(header: Sequence[str], rows: Rows) -> Iterator[str]:
    """Comma-separated lines with full precision, header first; quoted where needed."""
    import csv

    class Line:
        """The line that was written last."""

        text = ""

        def write(self, text: str) -> None:
            self.text = text

    line = Line()
    # A lone CR is quoted only if the line ends with one, in Python before 3.13.
    writer = csv.writer(line, lineterminator="\r\n")
    for row in (header, *rows):
        writer.writerow(row)
        yield line.text.removesuffix("\r\n") + "\n"
