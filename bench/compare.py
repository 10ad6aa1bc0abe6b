"""Two files of results, row by row."""

from __future__ import annotations

from bench import report
from bench.rows import Row

HEADER = ("case", "task", "program", "A ms", "B ms", "B / A", "A MB", "B MB", "correct")


def compare(before: list[Row], after: list[Row]) -> tuple[str, bool]:
    """A table with B over A, and whether B has a wrong answer where A has none."""
    old, new = ({row.key: row for row in rows} for rows in (before, after))
    both = [(old[key], new[key]) for key in old if key in new]
    cells = [HEADER, *(_cells(a, b) for a, b in both)]
    lines = [report.aligned(cells, left=3)] if both else ["no row is in both files"]
    lines += [f"only in A: {', '.join(key)}" for key in old if key not in new]
    lines += [f"only in B: {', '.join(key)}" for key in new if key not in old]
    wrong = [row for key, row in new.items() if row.correct is False and _was_not(old.get(key))]
    lines = [f"WRONG in B: {', '.join(row.key)}: {row.problem}" for row in wrong] + lines
    return "\n".join(lines + _differences(before, after)), bool(wrong)


def _was_not(row: Row | None) -> bool:
    """Whether a row of A is not wrong."""
    return row is None or row.correct is not False


def _cells(a: Row, b: Row) -> tuple[str, ...]:
    ratio = f"{b.steady / a.steady:.3f}" if a.steady and b.steady else "-"
    times = ["-" if row.steady is None else f"{row.steady:.2f}" for row in (a, b)]
    peaks = ["-" if row.peak_mb is None else f"{row.peak_mb:.0f}" for row in (a, b)]
    status = a.status if a.status == b.status else f"{a.status} -> {b.status}"
    return (*a.key, *times, ratio, *peaks, status)


def _differences(before: list[Row], after: list[Row]) -> list[str]:
    """What makes the times of two files incomparable."""
    notes = []
    for what in ("cpu", "cores", "system", "python"):
        old, new = ({str(row.machine.get(what)) for row in rows} for rows in (before, after))
        if old != new:
            notes.append(f"note: {what} differs: {', '.join(old)} and {', '.join(new)}")
    for what in ("seed", "scale"):
        old, new = ({str(row.data.get(what)) for row in rows} for rows in (before, after))
        if old != new:
            notes.append(f"note: {what} differs: {', '.join(old)} and {', '.join(new)}")
    return notes
