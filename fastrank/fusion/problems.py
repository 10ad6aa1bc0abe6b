"""The errors for queries that cannot be fused."""

from __future__ import annotations

from fastrank.data.texts import decoded
from fastrank.errors import EvaluationError, InputError
from fastrank.kernels.fusion import codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from fastrank.data.run import Run
    from fastrank.fusion.inputs import NamedRun
    from fastrank.native.records.runs import RankedEntries


def refuse(problem: Any, runs: list[NamedRun], query: bytes, entries: RankedEntries) -> NoReturn:
    """Raise the error that a kernel reports.

    Raises InputError for a document that a run retrieves twice, else EvaluationError.
    """
    kind, _, run, entry = problem
    named, doc, score = decoded(query), decoded(_text(entries, entry)), entries.scores[entry]
    if kind == codes.RESULT_NOT_FINITE:
        reason = f"query {named!r}, document {doc!r}: the fused score is not finite"
        raise EvaluationError("", query, f"{reason}; use a normalization or method by rank")
    own = runs[run]
    if kind == codes.REPEATED:
        raise InputError(own.name, f"query {named!r}: {_repetition(own.run, own.places()[query])}")
    where = f"{own.name}: query {named!r}"
    if kind == codes.NO_MAXIMUM:
        reason = f"{where}: the normalization 'max' needs a score above 0, found at most {score!r}"
        raise EvaluationError("", query, reason)
    reason = f"{where}, document {doc!r}: expected a finite score, found {score!r}"
    raise EvaluationError("", query, f"{reason}; use a method by rank, such as rrf")


def _text(entries: RankedEntries, entry: int) -> bytes:
    buffer, starts, lengths = entries.docs
    return bytes(buffer[starts[entry] : starts[entry] + lengths[entry]])


def _repetition(run: Run, place: int) -> str:
    """Which document a query of a run has twice, and where."""
    rows: dict[bytes, int] = {}
    for row in range(run.offset_column[place], run.offset_column[place + 1]):
        doc = run.docs[row]
        if doc in rows:
            lines = f"{run.docs.unit}s {run.docs.line(rows[doc])} and {run.docs.line(row)}"
            return f"document {decoded(doc)!r} appears twice, {lines}"
        rows[doc] = row
    raise AssertionError("no document is repeated")
