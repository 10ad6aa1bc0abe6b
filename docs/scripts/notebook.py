"""A mkdocs hook that offers the tutorial as a Jupyter notebook, with its output."""

from __future__ import annotations

import ast
import json
import re
from doctest import DocTestParser, Example
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "tutorial.md"
SESSION = re.compile(r"```pycon\n(.*?)```", re.DOTALL)
# Within output.
BLANK = re.compile(r"\n\n(?!>>>|\n)")
PAGE_LINK = re.compile(r"\]\(([\w-]+)\.md(#[\w-]+)?\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Put the link to the notebook, which only the site has, before the first section."""
    link = f'<a href="{PAGE.stem}.ipynb" download>Download it as a notebook</a>.'
    is_page = page.file.src_uri == PAGE.name
    return markdown.replace("\n## ", f"\n{link}\n\n## ", 1) if is_page else markdown


def on_post_build(*, config: Any, **_: Any) -> None:
    """Write the notebook to the folder of the page."""
    target = Path(config.site_dir) / PAGE.stem / f"{PAGE.stem}.ipynb"
    made = notebook(PAGE.read_text("utf-8"), config.site_url)
    target.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", "utf-8")


def notebook(markdown: str, site: str) -> dict[str, Any]:
    """A page as a notebook: text as Markdown, and a cell for each statement that prints something.

    site: where links to other pages lead.
    """
    cells: list[dict[str, Any]] = []
    for at, part in enumerate(SESSION.split(markdown)):
        if at % 2:
            cells += _code(part)
        else:
            text = PAGE_LINK.sub(lambda link: f"]({site}{link[1]}/{link[2] or ''})", part)
            cells.append(_cell("markdown", text.strip()))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}


def _code(session: str) -> list[dict[str, Any]]:
    """The cells of a session. Statements without output are in the cell of the next with one."""
    cells: list[dict[str, Any]] = []
    source = ""
    examples = DocTestParser().get_examples(BLANK.sub("\n<BLANKLINE>\n", session))
    for count, example in enumerate(examples, 1):
        source += example.source
        if example.want or count == len(examples):
            outputs = [_output(example)] if example.want else []
            cell = _cell("code", source.rstrip("\n"))
            cells.append({**cell, "execution_count": None, "outputs": outputs})
            source = ""
    return cells


def _cell(kind: str, source: str) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}


def _output(example: Example) -> dict[str, Any]:
    lines = example.want.replace("<BLANKLINE>", "").splitlines(keepends=True)
    (statement,) = ast.parse(example.source).body
    if isinstance(statement, ast.Expr) and not example.source.startswith("print("):
        data = {"text/plain": "".join(lines).rstrip("\n").splitlines(keepends=True)}
        return {
            "output_type": "execute_result",
            "execution_count": None,
            "metadata": {},
            "data": data,
        }
    return {"output_type": "stream", "name": "stdout", "text": lines}
