"""A mkdocs hook that includes files of the repository, or sections of them, in pages.

    <!-- include: README.md: Limits -->
    <!-- include: CHANGELOG.md -->

A file is included without its first line, the title. A section is included without its heading, and
the headings below it move up one level. Links of the included text lead to the pages of the site or
to the files in the repository.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
INCLUDED = re.compile(r"^<!-- include: ([\w./-]+)(?:: (.+))? -->$", re.M)
HEADING = re.compile(r"^(#+) (.*)$")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def on_page_markdown(markdown: str, *, config: Any, **_: Any) -> str:
    """Replace the comments of a page by what they include."""

    def text(found: re.Match[str]) -> str:
        whole = (ROOT / found[1]).read_text("utf-8")
        part = section(whole, found[2]) if found[2] else whole.partition("\n")[2]
        return LINK.sub(lambda link: f"]({_target(link[1], config.repo_url)})", part)

    return INCLUDED.sub(text, markdown)


def section(markdown: str, title: str) -> str:
    """The text below a heading, up to the next heading that is not below it.

    >>> section("# A\\n## B\\nb\\n### C\\nc\\n## D\\n", "B")
    'b\\n## C\\nc\\n'
    """
    made: list[str] = []
    level, fenced = 0, False
    for line in markdown.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        heading = None if fenced else HEADING.match(line)
        if level and heading and len(heading[1]) <= level:
            break
        if level:
            made.append(line[1:] if heading else line)
        elif heading and heading[2] == title:
            level = len(heading[1])
    if not level:
        raise LookupError(f"no section {title!r}")
    return "".join(made)


def _target(link: str, repository: str) -> str:
    """Where a link of a file in the root of the repository leads from a page of the site."""
    if re.match(r"\w+:", link):
        return link
    path, _, anchor = link.partition("#")
    if path.startswith("docs/"):
        return f"{path.removeprefix('docs/')}{'#' * bool(anchor)}{anchor}"
    if not path:
        return f"{PAGES_OF_SECTIONS[anchor]}"
    return f"{repository}/blob/main/{link}"


# Where the sections of the README that it links to are on the site.
PAGES_OF_SECTIONS = {"speed": "speed.md"}
