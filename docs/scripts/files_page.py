"""Writes the tables of formats and of names of columns in docs/files.md from their records.

    python docs/scripts/files_page.py

A test compares the page with the records.
"""

from __future__ import annotations

import re
from pathlib import Path

from fastrank.core.formats.formats import FORMATS
from fastrank.core.formats.tables.roles import ROLES, names_of

PAGE = Path(__file__).parents[1] / "files.md"
KINDS = {("qrels",): "judgments", ("qrels", "run"): "judgments, runs"}
# The tables by what is above them: what a role is, and its key in the table of roles.
TABLES = {
    "judgments and runs": {
        "query": "query",
        "doc": "doc",
        "grade": "grade",
        "score": "score",
        "rank": "rank",
        "tag": "tag",
        "iteration": "iteration",
        "stratum": "stratum",
        "list of relevant documents": "relevant",
        "list of results": "retrieved",
        "query beside a list": "query_of_list",
    },
    "labelled candidates": {
        role: role for role in ("question", "question_id", "candidate", "candidate_id", "label")
    },
    "spans and chunks": {
        "query": "query",
        **{role: role for role in ("document", "chunk", "start", "end", "evidence", "page")},
        "tokens": "tokens",
        "content": "content",
    },
    "texts and training data": {
        **{role: role for role in ("id", "title", "text", "positive", "negative", "answers")},
        "query (a text)": "asked",
        **{role: role for role in ("text_a", "text_b", "text_c")},
        "label": "target",
        "similar": "similar",
        "embedding": "embedding",
    },
    "values of systems": {
        role: role
        for role in ("system", "item", "measure", "value", "dataset", "cluster", "filter")
    },
}


def page(text: str) -> str:
    """The page with new tables."""
    for title, table in {"formats": _formats(), **{t: _names(t) for t in TABLES}}.items():
        pattern = rf"(<!-- {title} -->\n\n)(?:\|.*\n)*\n*"
        text = re.sub(pattern, lambda match, new=table: f"{match[1]}{new}\n\n", text)
    return text.rstrip() + "\n"


def _formats() -> str:
    rows = [
        f"| `{form.name}` | {', '.join(f'`{suffix}`' for suffix in form.suffixes) or '-'} |"
        f" {KINDS[form.kinds]}{'' if form.write else ', only read'} | {form.doc} |"
        for form in FORMATS.values()
    ]
    return "\n".join(["| format | names of files | has | content |", "|---|---|---|---|", *rows])


def _names(title: str) -> str:
    rows = []
    for role, key in TABLES[title].items():
        # Names that stand in a table above are not repeated.
        pairs = [(t, r) for t, table in TABLES.items() for r in table]
        first = next(pair for pair in pairs if names_of(TABLES[pair[0]][pair[1]]) == names_of(key))
        names = ", ".join(f"`{name}`" for name in names_of(key))
        rows.append(f"| {role} | {names if first[0] == title else f'as `{first[1]}` above'} |")
    return "\n".join(["| role | names |", "|---|---|", *rows])


def unlisted() -> set[str]:
    """The roles that are in no table."""
    return set(ROLES) - {key for table in TABLES.values() for key in table.values()}


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
