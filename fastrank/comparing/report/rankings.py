"""The rankings of two systems side by side, and what they are read from.

The idea is from diffir: Jose et al., 'DiffIR: Exploring differences in ranking models' behavior',
SIGIR 2021.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

from fastrank.arguments import DEFAULT_VERSION
from fastrank.comparing.plots.style import short
from fastrank.document.html import name, safe
from fastrank.document.numbers import number, signed
from fastrank.errors import OptionError
from fastrank.formats.digests import file_digest
from fastrank.formats.inputs import as_qrels, as_run, is_file
from fastrank.formats.line_files import as_exclusions, titles_of
from fastrank.formats.load import read_run
from fastrank.formats.runs import apply_order
from fastrank.formats.source import name_of
from fastrank.judging.filters import rows_of, without_excluded, without_repeats
from fastrank.judging.rankings import rank_documents
from fastrank.native.buffers import filled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.data.run import Run

Ranking = list[tuple[str, float]]


class Rankings:
    """The rankings of the systems, and the judgments.

    files: of those that are files, (role, path, SHA-256). dropped: {system: the numbers of excluded
    and of duplicate documents that the evaluation dropped, and that are not shown}.
    """

    def __init__(self, comparison: Comparison, qrels: Any, runs: Any) -> None:
        self._evaluation = comparison.evaluation
        self._version = self._evaluation.get("trec_eval_version", DEFAULT_VERSION)
        given = _in_order(runs, comparison.names)
        digests = [("qrels", qrels, file_digest(qrels))]
        digests += [(system, run, file_digest(run)) for system, run in given.items()]
        self.files = [(role, name_of(own), found) for role, own, found in digests if found]
        self.judgments: Any = as_qrels(qrels, trec_eval_version=self._version)
        self.runs: dict[str, Run] = {}
        self.dropped: dict[str, tuple[int, int]] = {}
        queries = set(map(os.fsencode, comparison.queries))
        for system, run in given.items():
            self.runs[system], *dropped = self._filtered(self._read(run), queries)
            self.dropped[system] = (dropped[0], dropped[1])

    def _read(self, run: Any) -> Run:
        """A run, ranked as it was for the comparison; warnings were given then."""
        rank_by = self._evaluation.get("rank_by", "score")
        how = {"trec_eval_version": self._version}
        if is_file(run):
            return read_run(run, rank_by=rank_by, warn=lambda _: None, **how)
        return apply_order(as_run(run, **how), rank_by)

    def _filtered(self, run: Run, queries: set[bytes]) -> tuple[Run, int, int]:
        """A run without the documents that the evaluation dropped, and how many of the queries."""
        rankings = filled("q", [i for i, query in enumerate(run.queries) if query in queries])
        before = rows_of(run, rankings)
        exclude = as_exclusions(self._evaluation.get("exclude"))
        identical = self._evaluation.get("ignore_identical_ids", False)
        run = without_excluded(run, exclude, identical=identical)
        between = rows_of(run, rankings)
        duplicates = self._evaluation.get("duplicates", "error")
        if duplicates != "error":
            run = without_repeats(run, by_score=duplicates == "max")
        return run, before - between, between - rows_of(run, rankings)

    def ranking(self, system: str, query: str) -> Ranking:
        """The documents of a query with their scores, in the order of the evaluation."""
        results, ties = (
            _rows_of(self.runs[system], query),
            self._evaluation.get("ties", "docno_desc"),
        )
        return rank_documents(
            list(results.items()), self.grades(query), ties=ties, trec_eval_version=self._version
        )

    def grades(self, query: str) -> dict[str, float]:
        """The grades of the judged documents of a query; preferences have none."""
        return _rows_of(self.judgments, query) if hasattr(self.judgments, "grades") else {}


def _rows_of(given: Any, query: str) -> dict[str, Any]:
    """The documents of a query; a query without any is not an error."""
    try:
        return dict(given[query])
    except KeyError:
        return {}


def _in_order(runs: Any, names: list[str]) -> dict[str, Any]:
    """The run of each system. Raises OptionError unless there is one for each."""
    if isinstance(runs, Mapping):
        missing = [name for name in names if name not in runs]
        if missing:
            raise OptionError("runs", f"no run {missing[0]!r}, which was compared")
        return {name: runs[name] for name in names}
    if not isinstance(runs, (list, tuple)) or len(runs) != len(names):
        found = len(runs) if isinstance(runs, (list, tuple)) else type(runs).__name__
        raise OptionError("runs", f"expected a list of {len(names)} runs, found {found}")
    return dict(zip(names, runs, strict=True))


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
