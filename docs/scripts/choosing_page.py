"""Writes the tables of measures by purpose in docs/choosing.md from the records of the measures.

    python docs/scripts/choosing_page.py

A test compares the page with the records.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from fastrank.core.measures.families import FAMILIES, MEASURES
from fastrank.core.measures.trec import MEASURES as TREC_MEASURES
from fastrank.core.measures.trec import Measure

PAGE = Path(__file__).parents[1] / "choosing.md"
# The purposes in their order, and what is said before their tables.
PURPOSES = {
    "One number for the whole ranking": "",
    "The first documents": "",
    "Recall": "",
    "Grades": "",
    "Models of readers": "",
    "Incomplete judgments": "",
    "Diversity": "How well a ranking covers the subtopics of a query. The judgments have subtopics;"
    " see\n[ndeval and pyndeval](migrating.md#ndeval-and-pyndeval).\n",
    "Ranks": "",
    "Sets, without an order": "",
    "Pairs of documents": "How often a relevant document is above another one, as recommender"
    " systems are evaluated.\n",
    "Preferences, and several assessors": "",
    "Counts": "",
}


def page(text: str) -> str:
    """The page with new tables."""
    tables = "\n".join(_section(purpose) for purpose in PURPOSES)
    return re.sub(
        r"^### .*?(?=^## Options by tool)", lambda _: tables + "\n", text, flags=re.M | re.S
    )


def _section(purpose: str) -> str:
    lines = [f"### {purpose}", "", *PURPOSES[purpose].splitlines(keepends=True)]
    rows = [_row(own) for own in (*FAMILIES, *TREC_MEASURES) if own.purpose == purpose]
    intro = "\n".join(lines[:2]) + "\n" + "".join(lines[2:]) + ("\n" if lines[2:] else "")
    return intro + "\n".join(["| measure | value |", "|---|---|", *rows]) + "\n"


def _row(measure: Measure) -> str:
    named = [measure, *(own for own in MEASURES if own.beside == measure.name)]
    return f"| {', '.join(_link(own) for own in named)} | {measure.words} |"


def _link(measure: Measure) -> str:
    """A link to the section of a measure; mkdocs numbers sections whose names differ in case."""
    place = MEASURES.index(measure)
    before = Counter(own.name.lower() for own in MEASURES[:place])[measure.name.lower()]
    anchor = measure.name.lower() + (f"_{before}" if before else "")
    other = " with options" if measure in FAMILIES else " of trec_eval"
    return f"[{measure.name}{other * (measure.beside == measure.name)}](measures.md#{anchor})"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
