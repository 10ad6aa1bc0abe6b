"""A mkdocs hook: the copy button of a Python session copies the code without prompts and output."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

SESSION = re.compile(r'<div class="language-pycon highlight">(.*?)</div>', re.DOTALL)
TAG = re.compile(r"<[^>]*>")
PROMPT = re.compile(r"(>>>|\.\.\.)(?: |$)")


def on_page_content(html: str, **_: Any) -> str:
    """Add what the button copies to each session."""
    made, count = SESSION.subn(_with_code, html)
    if '<span class="gp">' in html and not count:
        raise LookupError("a page has sessions of Python that do not look as expected")
    return made


def _with_code(found: re.Match[str]) -> str:
    code = escape(code_of(unescape(TAG.sub("", found[1]))), quote=True).replace("\n", "&#10;")
    return f'<div class="language-pycon highlight" data-copy="{code}">{found[1]}</div>'


def code_of(session: str) -> str:
    """The code of a session, with a blank line after each indented block, as Python's prompt needs.

    >>> code_of(">>> for n in 1, 2:\\n...     print(n)\\n1\\n2\\n>>> n\\n2\\n")
    'for n in 1, 2:\\n    print(n)\\n\\nn\\n'
    """
    made: list[str] = []
    for line in session.splitlines():
        if not PROMPT.match(line):
            continue
        if line.startswith(">>>") and made and made[-1].startswith(" "):
            made.append("")
        made.append(PROMPT.sub("", line, count=1))
    return "".join(f"{line}\n" for line in made)
