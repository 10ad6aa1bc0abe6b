"""A verdict as plain text."""

from __future__ import annotations

from fastrank.gating.rows import header, heading, listed, row
from fastrank.messages import visible
from fastrank.scores.table_formats import tabulated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.gating.verdict import Verdict

# Queries in a line.
WORST = 5


def to_text(verdict: Verdict) -> str:
    """The table of the checks, the verdict with its reasons, the worst queries, and notes."""
    table = tabulated(header(verdict), map(row, verdict.results), "simple")
    lines = ["", heading(verdict)]
    lines += [f"  {reason}" for reason in verdict.reasons]
    if verdict.status != "pass":
        for measure in listed(verdict):
            rows = list(verdict.regressed(measure, WORST).rows())
            if rows:
                worst = ", ".join(f"{query} {change:+.4f}" for query, *_, change in rows)
                lines.append(f"  most regressed in {measure}: {worst}")
    lines += [f"note: {note}" for note in all_notes(verdict)]
    return "\n".join([table, *map(visible, lines)])


def all_notes(verdict: Verdict) -> list[str]:
    """The notes, and the messages of checks that pass."""
    passed = [one.message for one in verdict.results if one.result == "pass" and one.message]
    return [*passed, *verdict.notes]
