"""Checks of judgments: grades, documents judged twice, queries without relevant documents."""

from __future__ import annotations

import numpy as np

from fastrank.c_numbers import atol
from fastrank.checking.findings import Collector, counted, quoted
from fastrank.checking.repeats import check_repeats, check_scattered
from fastrank.checking.rows import Rows
from fastrank.formats.strict import USUAL_ITERATIONS, swapped
from fastrank.native import codes

# Evaluation counts judgments by grade below this (fastrank/kernels/judging/rankings.py).
LARGEST_GRADE = 1 << 44


def check_judgments(rows: Rows, findings: Collector) -> None:
    """Check judgments without a run."""
    if not len(rows):
        return
    _check_grades(rows, findings)
    if _are_swapped(rows):
        findings.add("exchanged-columns", int(rows.lines[0]), swapped(rows.doc(0)))
    else:
        check_repeats(rows, findings, judgments=True)
    check_scattered(rows, findings)
    highest = np.maximum.reduceat(rows.integers, rows.offsets[:-1])
    counts = np.diff(rows.offsets)

    def no_relevant(i: int) -> tuple[str, bytes, None]:
        query = rows.queries[none[i]]
        message = (
            f"query {quoted(query)} has no relevant document among"
            f" {counted(int(counts[none[i]]), 'judgment')}; it counts as 0 in the means"
        )
        return message, query, None

    def all_negative(i: int) -> tuple[str, bytes, None]:
        query = rows.queries[negative[i]]
        message = (
            f"all judgments of query {quoted(query)} are negative; trec_eval stops with status 4 if"
            " this is the first query evaluated, and may crash otherwise"
        )
        return message, query, None

    first_lines = rows.first_lines
    none = np.flatnonzero((highest <= 0) & (highest >= 0))
    negative = np.flatnonzero(highest < 0)
    findings.add_lines("no-relevant", first_lines[none], no_relevant)
    findings.add_lines("all-negative", first_lines[negative], all_negative)


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
        places = np.flatnonzero(which)

        def say(i: int) -> tuple[str, bytes, bytes]:
            row = int(places[i])
            grade = rows.fields(row)[3]
            message = f"grade {quoted(grade)} of document {quoted(rows.doc(row))} {words}"
            if not rows.is_trec:
                message = message.partition("; trec_eval")[0]
            return message.replace("VALUE", str(atol(grade))), rows.query(row), rows.doc(row)

        findings.add_lines(kind, rows.lines[places], say)

    note("bad-grade", classes == codes.NO_NUMBER, "is not a number; trec_eval reads 0")
    note("bad-grade", classes == codes.A_PREFIX, "is not a number; trec_eval reads VALUE")
    if rows.is_trec:
        note("float-grade", classes == codes.FRACTION, "is not an integer; trec_eval reads VALUE")
        note(
            "decimal-grade", classes == codes.WHOLE_DECIMAL,
            "is written as a decimal; trec_eval reads VALUE, some tools reject it",
        )  # fmt: skip
    note("huge-grade", grades >= LARGEST_GRADE, "is too large; grades must be below 2**44")
    note("negative-grade", grades < 0, "is negative; the document counts as unjudged")
