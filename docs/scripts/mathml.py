"""A mkdocs hook that converts formulas to MathML, which browsers display without scripts."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
ESCAPED = r"\_"


def on_page_content(html: str, **_: Any) -> str:
    """Replace the formulas that the arithmatex extension has marked."""
    return FORMULA.sub(_mathml, html)


def _mathml(found: re.Match[str]) -> str:
    tag, opening, latex = found.groups()
    display = "block" if opening == "[" else "inline"
    kind = ' class="formula"' if display == "block" else ""
    made = convert(unescape(latex), display=display)
    # The converter keeps the backslash that LaTeX needs before an underscore in text.
    return f"<{tag}{kind}>{made.replace(ESCAPED, '_')}</{tag}>"
