"""Checks of judgments: grades, documents judged twice, queries without relevant documents."""

from __future__ import annotations

import numpy as np

from fastrank.analysis.checking.findings import Collector, quoted
from fastrank.analysis.checking.repeats import check_repeats, check_scattered
from fastrank.analysis.checking.rows import Rows
from fastrank.common.c_numbers import atol
from fastrank.common.messages import counted
from fastrank.core.formats.trec.strict import USUAL_ITERATIONS, advice_on_number, handful, swapped
from fastrank.core.native import codes

# Evaluation counts judgments by grade below this (fastrank/core/kernels/matching/rankings.py).
LARGEST_GRADE = 1 << 44


def check_judgments(rows: Rows, findings: Collector) -> None:
    """Check judgments without a run."""
    if not len(rows):
        return
    _check_grades(rows, findings)
    if exchanged := swapped(rows.doc(0)) if _are_swapped(rows) else _handful(rows):
        findings.add("exchanged-columns", int(rows.lines[0]), exchanged)
    else:
        check_repeats(rows, findings, judgments=True)
    check_scattered(rows, findings)
    highest = np.maximum.reduceat(rows.integers, rows.offsets[:-1])
    counts = np.diff(rows.offsets)

    def no_relevant(number: int) -> str:
        judgments = counted(int(counts[number]), "judgment")
        return (
            f"query {quoted(rows.queries[number])} has no relevant document among {judgments}; it"
            " counts as 0 in the means"
        )

    def all_negative(number: int) -> str:
        return (
            f"all judgments of query {quoted(rows.queries[number])} are negative; trec_eval stops"
            " with status 4 if this is the first query evaluated, and may crash otherwise"
        )

    findings.add_queries("no-relevant", rows, np.flatnonzero(highest == 0), no_relevant)
    findings.add_queries("all-negative", rows, np.flatnonzero(highest < 0), all_negative)


def _handful(rows: Rows) -> str:
    """Why documents seem to be in the second field; else ""."""
    if not rows.is_trec:
        return ""
    every = range(len(rows))
    return handful(map(rows.doc, every), (rows.fields(row)[1] for row in every), len(every))


def _are_swapped(rows: Rows) -> bool:
    """Whether documents and iterations have changed places."""
    if not rows.is_trec or rows.doc(0) not in USUAL_ITERATIONS or rows.count_documents() > 1:
        return False
    groups = (rows.fields(row)[1] for row in range(len(rows)))
    first = next(groups)
    return any(group != first for group in groups)


def _check_grades(rows: Rows, findings: Collector) -> None:
    classes, grades = rows.classes, rows.integers

    def note(kind: str, which: np.ndarray, words: str) -> None:
        def describe(row: int) -> str:
            grade = rows.fields(row)[3]
            message = rows.described(row, "grade", grade, words)
            if advice := advice_on_number(grade.decode("utf-8", "replace"), "grade"):
                message += f"; {advice}"
            return message.replace("VALUE", str(atol(grade)))

        findings.add_rows(kind, rows, np.flatnonzero(which), describe)

    note("bad-grade", classes == codes.NO_NUMBER, "is not a number; trec_eval reads 0")
    note("bad-grade", classes == codes.A_PREFIX, "is not a number; trec_eval reads VALUE")
    if rows.is_trec:
        note("float-grade", classes == codes.FRACTION, "is not an integer; trec_eval reads VALUE")
        note(
            "decimal-grade",
            classes == codes.WHOLE_DECIMAL,
            "is written as a decimal; trec_eval reads VALUE, some tools reject it",
        )
    note("huge-grade", grades >= LARGEST_GRADE, "is too large; grades must be below 2**44")
    note("negative-grade", grades < 0, "is negative; the document counts as unjudged")
