"""Writes docs/measures.md from the table of measures and their formulas.

    python docs/scripts/measures_page.py > docs/measures.md

A test compares the page with what this prints.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from formulas import FORMULAS, NOTATION, WITHOUT_FORMULA

from fastrank.measures.trec import MEASURES as TREC_MEASURES
from fastrank.measures.trec import NICKNAMES

INTRODUCTION = """
# Measures

This page is generated from the table `fastrank.MEASURES`, which `fastrank measures` prints. The
first part lists the measures of trec_eval under their names there, and the second part those with
named options, in the notation of ir_measures. You can mix both in one call.

```sh
fastrank measures PercentileRank nDCG
```

If a denominator is 0, the value is 0, unless stated otherwise. A query without relevant documents
therefore scores 0 in most measures; the option `no_relevant` changes that. Sums are computed in
64-bit floats, in the same order as in trec_eval.

## Symbols
"""
SETS = """
## Sets of measures

| name | measures |
|---|---|
"""
SUMMARIES = {
    "mean": "the mean over queries",
    "sum": "the sum over queries",
    "total": "the sum over queries",
    "geometric": "the geometric mean over queries",
    "": "none",
    "defined": "the mean over the queries with a value",
    "median": "the median over the queries with a value",
}
WORDS = {
    "rank": "rank", "grade": "grade", "share": "number from 0 to 1", "number": "number",
    "positive": "number above 0",
    "flag": "`True` or `False`", "gains": "`{grade:gain,...}`",
}  # fmt: skip


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION.strip(), NOTATION.strip(), SETS.strip()]
    parts[-1] += "\n" + "\n".join(f"| `{name}` | {what} |" for name, what in NICKNAMES.items())
    command = [sys.executable, "-m", "fastrank", "measures", "--format", "json"]
    known = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    first = len(TREC_MEASURES)
    for title, measures in (
        ("Measures of trec_eval", known[:first]),
        ("Measures with options", known[first:]),
    ):
        parts.append(f"## {title}")
        parts += [_section(measure) for measure in measures]
    return "\n\n".join(parts) + "\n"


def _section(measure: dict[str, Any]) -> str:
    name = measure["name"]
    lines = [f"### {_escaped(name)}"]
    lines.append(f"`{measure['usage']}`" + _also(measure["aliases"]))
    lines.append(_escaped(measure["definition"]))
    if name not in WITHOUT_FORMULA:
        lines += [f"$$\n{formula}\n$$" for formula in FORMULAS[name]]
    facts = [f"Summary: {SUMMARIES[measure['average']]}."]
    if measure["parameters"]:
        facts.append(f"Default parameters: {', '.join(measure['parameters'])}.")
    if measure["sets"]:
        facts.append(f"In {', '.join(f'`{name}`' for name in measure['sets'])}.")
    lines.append(" ".join(facts))
    if measure["options"]:
        rows = ["| option | values | default | meaning |", "|---|---|---|---|"]
        lines.append("\n".join(rows + [_option(option) for option in measure["options"]]))
    if measure["source"]:
        lines.append(f"Source: {_escaped(measure['source'])}")
    return "\n\n".join(lines)


def _also(aliases: list[str]) -> str:
    return f", also {', '.join(f'`{alias}`' for alias in aliases)}" if aliases else ""


def _option(option: dict[str, Any]) -> str:
    values, default = option["values"], option["default"]
    if isinstance(values, str):
        shown = WORDS[values]
    else:
        shown = ", ".join(f"`{value!r}`" for value in values)
    first = {None: "", "required": "required"}.get(default, f"`{default!r}`")
    return f"| `{option['name']}` | {shown} | {first} | {_escaped(option['meaning'])} |"


def _escaped(text: str) -> str:
    """Text with Markdown's special characters escaped."""
    for mark in "\\*_<>|":
        text = text.replace(mark, "\\" + mark)
    return text


if __name__ == "__main__":
    sys.stdout.write(page())
