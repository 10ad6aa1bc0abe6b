"""Checks for duplicate documents, padding, and queries whose lines are not adjacent."""

from __future__ import annotations

import numpy as np

from fastrank.analysis.checking.findings import Collector, quoted
from fastrank.analysis.checking.rows import Rows
from fastrank.common.messages import counted
from fastrank.core.data.texts import interning
from fastrank.core.native import kernels
from fastrank.core.native.buffers import zeros

PADDING = b"-1"


def check_repeats(rows: Rows, findings: Collector, *, judgments: bool) -> None:
    """Note duplicate documents and padding."""
    earlier = zeros("q", len(rows))
    repeats = kernels.note_repeats(rows.columns, interning(kernels.widest(rows.offsets)), earlier)
    first, (field, noun) = np.asarray(earlier), (3, "grade") if judgments else (4, "score")

    def describe(row: int) -> str:
        before = int(first[row])
        repeat, original = rows.fields(row), rows.fields(before)
        values = [
            fields[field].decode("utf-8", "backslashreplace") for fields in (repeat, original)
        ]
        message = (
            f"duplicate {rows.named(row)} in query {quoted(rows.query(row))}: {noun} {values[0]},"
            f" but {values[1]} on {rows.where(rows.lines[before])}; trec_eval stops at this query"
        )
        if judgments and rows.is_trec and repeat[1] != original[1]:
            message += "; the second fields differ, as in judgments for measures of subtopics"
        return message

    if repeats:
        again = np.flatnonzero(first >= 0)
        conflict = judgments & (rows.integers[again] != rows.integers[first[again]])
        findings.add_rows("conflicting-grades", rows, again[conflict], describe)
        findings.add_rows("duplicate", rows, again[~conflict], describe)
    _check_padding(rows, findings)


def _check_padding(rows: Rows, findings: Collector) -> None:
    padding = np.flatnonzero(rows.doc_lengths == len(PADDING))
    text = np.frombuffer(rows.text, dtype=np.uint8)
    for i, byte in enumerate(PADDING):
        padding = padding[text[rows.doc_starts[padding] + i] == byte]
    message = "document -1, with which faiss pads results if it finds too few"
    findings.add_rows("padding", rows, padding, lambda _: message)


def check_scattered(rows: Rows, findings: Collector) -> None:
    """Note queries whose lines are not adjacent."""
    first_lines = rows.first_lines if rows.scattered else np.zeros(0, dtype=np.int64)

    def describe(i: int) -> tuple[str, bytes, None]:
        number, _, blocks = rows.scattered[i]
        query = rows.queries[number]
        message = (
            f"query {quoted(query)} continues after other queries; it starts on"
            f" {rows.where(first_lines[number])}, and its {rows.unit}s are in"
            f" {counted(blocks, 'separate block')}"
        )
        return message, query, None

    findings.add_lines("scattered", [line for _, line, _ in rows.scattered], describe)
