"""Slow and obvious parsers of what the writers of documents write: cells as plain text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import takewhile

from fastrank.common.rendering.text import SUPERSCRIPTS, display_width

Cells = list[list[str]]
# Elements without an end, of HTML and of SVG.
EMPTY = {"meta", "img", "path", "use", "rect", "image", "line", "br"}

PLAIN = {chr(after): chr(before) for before, after in SUPERSCRIPTS.items()}
MACROS = r"""
\textbackslash{} \
\textasciitilde{} ~
\textbar{} |
\^{} ^
\ensuremath{<} <
\ensuremath{>} >
\ensuremath{\leq} ≤
\ensuremath{\bigtriangleup} ▲
\ensuremath{\bigtriangledown} ▼
\dag{} †
\ddag{} ‡
\S{} §
\P{} ¶
"""
LATEX = {
    **dict(line.split() for line in MACROS.strip().splitlines()),
    **{f"\\{character}": character for character in "&%$#_{}"},
}


def grids_of_text(written: str) -> list[Cells]:
    """The rows under and above each rule of hyphens."""
    lines, found = written.split("\n"), []
    for place, line in enumerate(lines):
        if rule := re.fullmatch(r"( *)(-{2,}(  -{2,})*)", line):
            widths = [len(own) for own in rule[2].split("  ")]
            rows = [lines[place - 1], *takewhile(_is_row, lines[place + 1 :])]
            found.append([_cells_of_line(row.removeprefix(rule[1]), widths) for row in rows])
    return found


def _is_row(line: str) -> bool:
    """Sentences follow the tables of explanations."""
    return bool(line) and not re.match(
        r" *(\d+ more|below|not retrieved|[ab]: |notes|\S+ = )", line
    )


def _cells_of_line(line: str, widths: list[int]) -> list[str]:
    cells, start = [], 0
    for width in widths:
        end = start
        while end < len(line) and display_width(line[start : end + 1]) <= width:
            end += 1
        cells.append(line[start:end].strip())
        start = end + 2
    return cells


def grids_of_markdown(written: str) -> list[Cells]:
    """The tables, without their markup."""
    found: list[Cells] = []
    for block in written.split("\n\n"):
        lines = block.split("\n")
        if len(lines) > 1 and re.fullmatch(r"\|([:-]+\|)+", lines[1]):
            found.append([_cells_of_markdown(line) for line in (lines[0], *lines[2:])])
    return found


def _cells_of_markdown(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]
    return [text_of_markdown(cell.strip()) for cell in cells]


def text_of_markdown(text: str) -> str:
    """Without bold, superscripts and escapes."""
    text = re.sub(r" <sup>(.*?)</sup>", r"^\1", text)
    text = re.sub(r"(?<!\\)\*\*(.*?)\*\*", r"\1", text)
    bare = re.sub(r"\\.|<(?=[\d=])|\[[-+.\d]+, [-+.\d]+\]", "", text)
    assert not re.search(r"[`*<>&\[\]~]|\b_|_\b", bare.strip()), text
    return re.sub(r"\\([\\`*<>&\[\]|~_])", r"\1", text)


def grids_of_latex(written: str) -> list[Cells]:
    """The tabulars, without their markup."""
    found = []
    for body in re.findall(r"\\begin{tabular}.*?\\end{tabular}", written, re.DOTALL):
        rows = [line.removesuffix(r" \\") for line in body.split("\n") if line.endswith(r" \\")]
        found.append([[text_of_latex(cell.strip()) for cell in _split(row)] for row in rows])
    return found


def _split(row: str) -> list[str]:
    return re.split(r"(?<!\\)&", row)


def text_of_latex(text: str) -> str:
    """Without bold, invisible marks, and escapes; superscripts after a caret."""
    text = text.removeprefix("{}")
    text = re.sub(r"\\hphantom{(?:[^{}]|{[^{}]*})*}", "", text)
    marks = re.compile(r"\$\^{((?:[^{}]|{[^{}]*})*)}\$")
    text = marks.sub(lambda own: f"^{own[1]}" if own[1] else "", text)
    text = re.sub(r"^\\(?:textbf|underline){(.*?)}(?=\^|$)", r"\1", text)
    text = re.sub(r"\$(?:([\d.]+)\\cdot )?10\^{(-?\d+)}\$", _power, text).replace("$-$", "-")
    text = text.replace("-{}-", "--").replace("-{}-", "--")
    pattern = "|".join(map(re.escape, sorted(LATEX, key=len, reverse=True)))
    if not text.startswith("\\"):
        assert not re.search(r"[\\&%#_{}~]", re.sub(pattern, "", text)), text
    return re.sub(pattern, lambda own: LATEX[own[0]], text)


def _power(found: re.Match[str]) -> str:
    return f"{found[1] or 1}e{'-' if int(found[2]) < 0 else '+'}{abs(int(found[2])):02d}"


class Page(HTMLParser):
    """The tables, elements and paragraphs of a page. Raises AssertionError for what is not closed.

    tables: the cells as text, with a caret before superscripts. elements: (tag, attributes).
    """

    def __init__(self, written: str) -> None:
        super().__init__()
        self.tables: list[Cells] = []
        self.tags: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.titles: list[str] = []
        self.paragraphs: list[str] = []
        self._open: list[str] = []
        self.feed(written)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.elements.append((tag, dict(attrs)))
        self.titles += [value or "" for name, value in attrs if name == "title"]
        if tag not in EMPTY:
            self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "sup":
            self.tables[-1][-1][-1] += "^"
        elif tag in ("p", "li", "h3", "h4"):
            self.paragraphs.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in EMPTY:
            assert self._open.pop() == tag

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of the elements with a tag."""
        return [attributes for own, attributes in self.elements if own == tag]

    def handle_data(self, data: str) -> None:
        if "td" in self._open or "th" in self._open:
            self.tables[-1][-1][-1] += data
        elif {"p", "li", "h3", "h4"} & {*self._open}:
            self.paragraphs[-1] += data
