"""Two rankings of a query side by side.

The idea is from diffir: Jose et al., 'DiffIR: Exploring differences in ranking models' behavior',
SIGIR 2021.
"""

from __future__ import annotations

import math

from fastrank.comparing.plots.style import short
from fastrank.document.html import name, safe
from fastrank.document.numbers import number, signed
from fastrank.formats.line_files import titles_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.report.sources import Ranking, Rankings

LONGEST_TEXT = 160


def examples_of(
    comparison: Comparison, measure: str, a: str, b: str, count: int
) -> list[tuple[str, float, float, float]]:
    """The queries with the largest differences: each with both values and the difference."""
    rows = comparison.queries_of(measure, a, b).rows()
    known = [row for row in rows if not math.isnan(row[3]) and row[3] != 0]
    known.sort(key=lambda row: -abs(row[3]))
    return known[:count]


def side_by_side(
    examples: list[tuple[str, float, float, float]],
    rankings: Rankings,
    measure: str,
    a: str,
    b: str,
    depth: int,
    documents: Any,
    queries: Any,
) -> str:
    """The rankings of both systems for each example."""
    complete = {
        query: (rankings.ranking(a, query), rankings.ranking(b, query)) for query, *_ in examples
    }
    shown = {doc for both in complete.values() for ranking in both for doc, _ in ranking[:depth]}
    titles = titles_of(documents, "documents", shown)
    words = titles_of(queries, "queries", complete)
    parts = []
    for query, value_a, value_b, difference in examples:
        first, second = complete[query]
        grades = rankings.grades(query)
        asked = f": {safe(_cut(words[query]))}" if query in words else ""
        parts.append(
            f"<details open><summary>{name(query)}{asked} <span>{safe(measure)}"
            f" {number(value_a)} and {number(value_b)},"
            f" {signed(difference)}</span></summary>\n"
            '<div class="sides">'
            f"{_ranking(a, b, first, second, grades, titles, depth)}"
            f"{_ranking(b, a, second, first, grades, titles, depth)}</div></details>"
        )
    return "\n".join(parts)


def _ranking(
    system: str,
    other: str,
    own: Ranking,
    others: Ranking,
    grades: dict[str, float],
    titles: dict[str, str],
    depth: int,
) -> str:
    rank_of = {doc: rank for rank, (doc, _) in enumerate(others, 1)}
    rows = []
    for rank, (doc, _) in enumerate(own[:depth], 1):
        title = f'<span class="title">{safe(_cut(titles[doc]))}</span>' if doc in titles else ""
        rows.append(
            f'<tr><td class="number">{rank}</td><td class="id">{name(doc)}{title}</td>'
            f"{_grade(grades.get(doc))}{_movement(rank, rank_of.get(doc), other)}</tr>"
        )
    if not rows:
        rows.append('<tr><td colspan="4">no documents</td></tr>')
    return (
        f"<div><table><caption>{name(short(system, 60))}</caption><thead><tr>"
        '<th scope="col" class="number">rank</th><th scope="col" class="id">document</th>'
        '<th scope="col" class="grade">grade</th><th scope="col">moved</th></tr></thead>\n'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _grade(grade: float | None) -> str:
    if grade is None:
        return '<td class="grade unjudged">unjudged</td>'
    kind = "high" if grade > 1 else "low" if grade > 0 else "zero"
    return f'<td class="grade {kind}">{grade:g}</td>'


def _movement(rank: int, before: int | None, other: str) -> str:
    """How far a document is above or below its rank in the other run."""
    if before is None:
        return f'<td title="not retrieved by {safe(other)}">new</td>'
    where = f'title="rank {before} of {safe(other)}"'
    if before == rank:
        return f"<td {where}>=</td>"
    arrow, kind = ("▲", "better") if before > rank else ("▼", "worse")
    return f'<td class="{kind}" {where}>{arrow} {abs(before - rank)}</td>'


def _cut(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= LONGEST_TEXT else f"{words[: LONGEST_TEXT - 1]}…"
