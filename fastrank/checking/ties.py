"""Checks for ties and for results that are not sorted by score."""

from __future__ import annotations

import numpy as np

from fastrank.checking.findings import Collector, counted, quoted
from fastrank.checking.rows import Rows

# Two results may tie by chance.
FEWEST_CONSTANT = 3


def check_ties(rows: Rows, findings: Collector) -> None:
    """Note ties, also as 32-bit floats, and results that are not sorted by score."""
    adjacent, scores = rows.adjacent(), rows.scores
    rises = np.flatnonzero(adjacent & (scores[:-1] < scores[1:])) + 1
    order = np.arange(len(rows))
    if len(rises) or np.isnan(scores).any():
        order = np.lexsort((-scores, rows.query_of))
    _check_unsorted(rows, findings, rises)
    sorted_scores = scores[order]
    tied = adjacent & (sorted_scores[:-1] == sorted_scores[1:])
    _note_ties(rows, findings, "tied-scores", order, tied, "")
    with np.errstate(over="ignore"):
        singles = sorted_scores.astype(np.float32)
    as_floats = adjacent & (singles[:-1] == singles[1:]) & ~tied
    _note_ties(rows, findings, "tied-as-floats", order, as_floats, " as 32-bit floats only")
    _check_constant(rows, findings)


def _check_unsorted(rows: Rows, findings: Collector, rises: np.ndarray) -> None:
    if not len(rises):
        return
    row = int(rises[np.argmin(rows.lines[rises])])
    queries = len(np.unique(np.searchsorted(rows.offsets, rises, side="right")))
    message = (
        "the score is higher than that of the result before; the results of"
        f" {counted(queries, 'query', 'queries')} are not sorted by score"
    )
    findings.add("unsorted", int(rows.lines[row]), message, rows.query(row), rows.doc(row))


def _note_ties(
    rows: Rows, findings: Collector, kind: str, order: np.ndarray, tied: np.ndarray, words: str
) -> None:
    pairs = np.flatnonzero(tied)
    if not len(pairs):
        return
    of_tie = np.zeros(len(rows), dtype=bool)
    of_tie[pairs] = of_tie[pairs + 1] = True
    places = order[of_tie]
    queries = len(np.unique(np.searchsorted(rows.offsets, places, side="right")))
    row = int(places[np.argmin(rows.lines[places])])
    results = counted(len(places), "result")
    if kind == "tied-scores":
        rule = "trec_eval ranks ties by document id, descending"
    else:
        rule = "trec_eval 9.0.8 and pytrec_eval rank these by document id, 10.0 by score"
    message = (
        f"{results} in {counted(queries, 'query', 'queries')} have equal scores{words}, this one"
        " first"
    )
    findings.add(kind, int(rows.lines[row]), f"{message}; {rule}", rows.query(row), rows.doc(row))


def _check_constant(rows: Rows, findings: Collector) -> None:
    starts = rows.offsets[:-1]
    highest = np.maximum.reduceat(rows.scores, starts)
    lowest = np.minimum.reduceat(rows.scores, starts)
    depths = np.diff(rows.offsets)
    constant = np.flatnonzero((highest == lowest) & (depths >= FEWEST_CONSTANT))

    def say(i: int) -> tuple[str, bytes, None]:
        number = int(constant[i])
        query = rows.queries[number]
        message = (
            f"all {counted(int(depths[number]), 'result')} of query {quoted(query)} have the same"
            " score, so they are ranked by document id"
        )
        return message, query, None

    findings.add_lines("constant-scores", rows.first_lines[constant], say)
