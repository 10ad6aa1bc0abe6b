"""What the start-up benchmark found, as a table."""

from __future__ import annotations

from bench import report
from bench.report import Facts
from bench.startup import PEER, TARGET, TREC_EVAL, Row

HEADER = ("case", "command", "median ms", "best ms", "cpu ms", "ratio", "correct")


def table(rows: list[Row]) -> str:
    """Aligned columns. Wrong answers stand first and have no ratio; the rest goes by time."""
    ordered = sorted(rows, key=lambda row: (row.correct, row.case, row.wall))
    wrong = [f"WRONG: {row.command} on {row.case}: {row.problem}" for row in rows if row.problem]
    return "\n".join([*wrong, report.aligned([HEADER, *map(_cells, ordered)], left=2)])


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.case or "-",
        row.command,
        f"{row.wall:.2f}",
        f"{row.best:.2f}",
        f"{row.cpu:.2f}",
        "-" if row.ratio is None else f"{row.ratio:.2f}",
        "yes" if row.correct else "NO",
    )


def target_line(rows: list[Row]) -> str:
    """Whether the command starts as fast as it should, for every case."""
    told = [
        f"{row.case}: {'wrong answer' if row.ratio is None else _verdict(row.ratio)}"
        for row in rows
        if row.command == TREC_EVAL
    ]
    return f"target: {TREC_EVAL} at most {TARGET:.1f} x `python -c pass`: {'; '.join(told)}"


def _verdict(ratio: float) -> str:
    return f"{ratio:.2f}, {'met' if ratio <= TARGET else 'missed'}"


def facts(machine: Facts, rows: list[Row]) -> str:
    """What the figures depend on."""
    engines = {
        f"{'peer' if row.command == PEER else 'engine'}: {row.engine}": None
        for row in rows
        if row.engine
    }
    return "\n".join([*report.machine_lines(machine), *engines])
