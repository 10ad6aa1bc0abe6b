"""Scores as text, rounded: the lines of trec_eval, and the summary for people."""

from __future__ import annotations

from fastrank.c_numbers import printed
from fastrank.scores.columns import columns_of, presented_means, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from fastrank.scores.columns import Column
    from fastrank.scores.scores import Scores


def trec_lines(
    scores: Scores, *, per_query: bool, summary: bool, zero_rows: bool = True
) -> Iterator[bytes]:
    """The lines that trec_eval prints: queries first if wanted (-q), then the summary (no -n).

    zero_rows: queries without results that count as 0 have lines too, which trec_eval leaves out.

    Layout: the name padded to 22 characters, TAB, query or `all`, TAB, value; counts as
    integers, other values with four decimals, z-scores with a leading Z and four decimals.
    """
    queries = list(scores.query_ids) if per_query else []
    unprinted = set() if zero_rows else set(scores.zero_rows)
    for column, row, value in walk(columns_of(scores), len(queries), summary=summary):
        if row in unprinted:
            continue
        yield _trec_line(column, b"all" if row is None else queries[row], value, row is None)


def _trec_line(column: Column, query: bytes, value: Any, is_summary: bool) -> bytes:
    name = column.printed
    if column.kind == "count":
        return b"%-22b\t%b\t%d\n" % (name, query, value)
    if column.kind == "text":
        return b"%-22b\t%b\t%b\n" % (name, query, value if is_summary else b"'%b'" % value)
    mark = b"Z" if column.kind == "zscore" else b""
    if value != value:
        return b"%b%-22b\t%b\t%b\n" % (mark, name, query, printed("%6.4f", value).encode())
    return b"%b%-22b\t%b\t%6.4f\n" % (mark, name, query, value)


def readable(scores: Scores) -> str:
    """The summary, one line a measure, and what is not part of it."""
    means = presented_means(scores)
    width = max(map(len, means), default=0)
    lines = [f"{name:{width}}  {rounded(value)}" for name, value in means.items()]
    return "\n".join(lines + notes(scores))


def rounded(value: object, digits: int = 4) -> str:
    """A value as tables show it: a float with so many decimals."""
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    return "" if value is None else str(value)


# What options take out of an evaluation, by its name among the counts.
LEFT_OUT = {
    "left_out": "judged queries have no relevant document and were left out",
    "removed": "documents were excluded from the rankings",
    "repeated": "repeated lines were left out of the rankings",
    "cut": "rankings were cut between documents with equal scores",
}
# What to say where all values are 0 because no document is judged.
NOTHING_JUDGED = "no retrieved document is judged: do the document ids of both sides match?"
# How many ids a note names.
NAMED = 5


def notes(scores: Scores) -> list[str]:
    """Lines on the queries that judgments and run do not share, and on what was left out."""
    made = []
    if scores.missing:
        many = scores.missing != 1
        averaged = ("are" if many else "is") + ("" if scores.coverage.complete else " not")
        made.append(
            f"{scores.missing} judged {'queries have' if many else 'query has'} no results and"
            f" {averaged} averaged in (missing={first_ids(scores.missing_queries)})"
        )
    skipped = scores.skipped_queries
    if skipped:
        made.append(
            f"{len(skipped)} {'queries' if len(skipped) != 1 else 'query'} of the run without"
            f" judgments (skipped={first_ids(skipped)})"
        )
    if retrieves_nothing_judged(scores):
        made.append(NOTHING_JUDGED)
    for name, what in LEFT_OUT.items():
        if scores.counts.get(name):
            made.append(f"{what} ({name}={scores.counts[name]})")
    return made


def retrieves_nothing_judged(scores: Scores) -> bool:
    """Whether there are results, and none of them is judged."""
    return 0 < scores.counts.get("retrieved", 0) == scores.counts["unjudged"]


def first_ids(queries: list[str]) -> str:
    """The first of some ids."""
    named = ", ".join(queries[:NAMED]) + (", ..." if len(queries) > NAMED else "")
    # What is not UTF-8 could not be printed.
    return named.encode("utf-8", "backslashreplace").decode()
