"""Plots inside a page: SVG that takes the colours of the page, or PNG for many queries."""

from __future__ import annotations

import re
from base64 import b64encode

from fastrank.comparing.plots.plot import draw
from fastrank.comparing.plots.style import BLANK, FIRST, INK, MANY_POINTS, PAPER, SECOND
from fastrank.document.html import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.comparison import Comparison

OUTSIDE = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->|<style[^>]*>.*?</style>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
LONG_DECIMALS = re.compile(r"(\d\.\d\d)\d+")
REFERENCES = re.compile(r"#(\w+)[\")]")
# Colours that differ on dark pages.
COLORS_OF_PAGE = {
    INK: "currentColor",
    PAPER: "var(--paper)",
    BLANK: "var(--blank)",
    FIRST.lower(): "var(--first)",
    SECOND.lower(): "var(--second)",
}
IDS = re.compile(r' id="([^"]*)"')


def figure(
    comparison: Comparison,
    kind: str,
    measure: str,
    a: str | None = None,
    b: str | None = None,
    salt: str = "",
) -> str:
    """A figure element. salt: what distinguishes its ids from those of the other figures."""
    drawn = draw(comparison, kind, measure, a, b)
    if len(comparison.queries) > MANY_POINTS:
        data = b64encode(drawn.render("png")).decode()
        alt = safe(f"{drawn.title}. {drawn.description}")
        return f'<figure><img src="data:image/png;base64,{data}" alt="{alt}"></figure>'
    svg = inline(drawn.render("svg", salt or kind).decode())
    width = re.search(r'viewBox="0 0 (\d+)', svg)
    # Figures keep their size on wide pages, so that all have text of one size.
    style = f' style="max-width: {int(width[1]) * 4 // 3}px"' if width else ""
    return f"<figure{style}>{svg}</figure>"


def inline(svg: str) -> str:
    """An SVG file as an element of a page, smaller and in the colours of the page."""
    svg = OUTSIDE.sub("", svg[svg.index("<svg") :])
    used = set(REFERENCES.findall(svg))
    return re.sub(r"\s*\n\s*", "\n", TAG.sub(lambda found: _tag(found[0], used), svg)).strip()


def _tag(tag: str, used: set[str]) -> str:
    """A tag without what a page does not need."""
    if tag.startswith("<svg"):
        # HTML has the name space of SVG built in.
        tag = re.sub(r' (xmlns(:\w+)?|version|width|height)="[^"]*"', "", tag)
    tag = IDS.sub(lambda found: found[0] if found[1] in used else "", tag)
    tag = LONG_DECIMALS.sub(r"\1", tag.replace("xlink:href", "href"))
    for color, of_page in COLORS_OF_PAGE.items():
        tag = tag.replace(color, of_page)
    return tag
