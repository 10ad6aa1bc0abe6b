"""Checks of the rank column, which trec_eval ignores, against the scores, by which it ranks."""

from __future__ import annotations

import numpy as np

from fastrank.checking.findings import Collector, counted, quoted
from fastrank.checking.rows import Rows
from fastrank.native import codes


def check_ranks(rows: Rows, findings: Collector) -> None:
    """Note ranks that are invalid, that repeat, or that disagree with the scores."""
    exchanged = _exchanged(rows)
    if rows.is_trec and len(exchanged):
        first = int(exchanged[np.argmin(rows.lines[exchanged])])
        rank, score = map(quoted, rows.fields(first)[3:5])
        has_fraction = rows.rank_classes == codes.FRACTION
        count = np.count_nonzero(has_fraction & (rows.scores == np.floor(rows.scores)))
        message = (
            f"the rank is {rank} and the score {score} ({counted(int(count), 'such line')} in the"
            " file): are the two columns exchanged?"
        )
        findings.add("exchanged-columns", int(rows.lines[first]), message)
        return
    bad = np.flatnonzero(rows.rank_classes != codes.A_NUMBER)

    def say_bad(i: int) -> tuple[str, bytes, bytes]:
        row = int(bad[i])
        message = f"rank {quoted(rows.fields(row)[3])} is not an integer; trec_eval ignores it"
        if not rows.is_trec:
            message = message.partition("; trec_eval")[0]
        return message, rows.query(row), rows.doc(row)

    findings.add_lines("bad-rank", rows.lines[bad], say_bad)
    order = _rank_order(rows)
    before, after = order[:-1], order[1:]
    both = rows.adjacent()
    if len(bad):
        is_rank = rows.rank_classes == codes.A_NUMBER
        both = both & is_rank[before] & is_rank[after]
    ranks, scores = rows.integers, rows.scores
    same = both & (ranks[before] == ranks[after])
    _check_repeated(rows, findings, after, same)
    apart = both & ~same
    up = np.flatnonzero(apart & (scores[before] < scores[after]))
    if not len(up):
        return
    down = np.count_nonzero(apart & (scores[before] > scores[after]))
    if down:
        _check_order(rows, findings, before[up], after[up])
        return
    row, other = int(before[up[0]]), int(after[up[0]])
    message = (
        f"scores increase with the rank throughout ({_ranked(rows, row)}, {_ranked(rows, other)} on"
        f" {rows.where(rows.lines[other])}); trec_eval ranks the highest score first. Are these"
        " distances?"
    )
    findings.add("ascending-scores", int(rows.lines[row]), message, rows.query(row), rows.doc(row))


def _exchanged(rows: Rows) -> np.ndarray:
    """The first rows of queries whose rank has a fraction and whose scores begin like ranks.

    The readers of runs refuse the same files: see kernels/parsing/columns.py.
    """
    first = rows.offsets[:-1][np.diff(rows.offsets) > 1]
    second = first + 1
    numbers = (codes.A_NUMBER, codes.WHOLE_DECIMAL, codes.FRACTION)
    scores = rows.scores[first]
    are_exchanged = (
        (rows.rank_classes[first] == codes.FRACTION)
        & np.isin(rows.rank_classes[second], numbers)
        & np.isfinite(scores)
        & (scores == np.floor(scores))
        & (rows.scores[second] == scores + 1)
    )
    exchanged: np.ndarray = first[are_exchanged]
    return exchanged


def _rank_order(rows: Rows) -> np.ndarray:
    """The rows of each query by rank, then by descending score."""
    order = np.arange(len(rows))
    rises = rows.integers[:-1] < rows.integers[1:]
    if np.all(rises | ~rows.adjacent()):
        return order
    # Queries are already in order and stay so.
    return np.lexsort((-rows.scores, rows.integers, rows.query_of))


def _ranked(rows: Rows, row: int) -> str:
    fields = rows.fields(row)
    rank, score = (field.decode("utf-8", "backslashreplace") for field in (fields[3], fields[4]))
    return f"rank {rank} has score {score}"


def _per_query(rows: Rows, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of the given rows in each query, and how many there are per query."""
    queries = np.searchsorted(rows.offsets, places, side="right")
    _, firsts, counts = np.unique(queries, return_index=True, return_counts=True)
    return firsts, counts


def _check_repeated(rows: Rows, findings: Collector, after: np.ndarray, same: np.ndarray) -> None:
    repeats = after[same]
    firsts, counts = _per_query(rows, repeats)
    places = repeats[firsts]

    def say(i: int) -> tuple[str, bytes, None]:
        row = int(places[i])
        query = rows.query(row)
        message = (
            f"duplicate rank {rows.integers[row]} in query {quoted(query)}"
            f" ({counted(int(counts[i]), 'duplicate')} in the query); trec_eval ignores ranks"
        )
        return message, query, None

    findings.add_lines("repeated-rank", rows.lines[places], say)


def _check_order(rows: Rows, findings: Collector, before: np.ndarray, after: np.ndarray) -> None:
    firsts, counts = _per_query(rows, after)

    def say(i: int) -> tuple[str, bytes, bytes]:
        row, other = int(before[firsts[i]]), int(after[firsts[i]])
        query = rows.query(row)
        message = (
            f"{_ranked(rows, row)}, but {_ranked(rows, other)} on {rows.where(rows.lines[other])}"
            f" ({counted(int(counts[i]), 'such pair')} in query {quoted(query)}); trec_eval ranks"
            " by score"
        )
        return message, query, rows.doc(row)

    findings.add_lines("rank-order", rows.lines[before[firsts]], say)
