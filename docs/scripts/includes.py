"""A mkdocs hook that includes files of the repository in pages, and lets links lead to others.

    <!-- include: CHANGELOG.md -->

A file is included without its first line, the title; its links into docs/ lead to the pages. Links
of the pages in docs/ to other files, such as `../bench/README.md`, lead to those of the repository.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
INCLUDED = re.compile(r"^<!-- include: ([\w./-]+) -->$", re.M)
LINK = re.compile(r"\]\((docs|\.\.)/([^)\s]+)\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Replace the comments of a page by what they include, and the links."""
    if "/" in page.file.src_uri:
        return markdown

    def text(found: re.Match[str]) -> str:
        return (ROOT / found[1]).read_text("utf-8").partition("\n")[2]

    def link(found: re.Match[str]) -> str:
        folder, path = found.groups()
        return f"]({path})" if folder == "docs" else f"]({config.repo_url}/blob/main/{path})"

    return LINK.sub(link, INCLUDED.sub(text, markdown))
