"""Measurements as a table for people and as JSON lines for programs."""

from __future__ import annotations

import json
from dataclasses import asdict

from bench.startup import PEER, TARGET, TREC_EVAL, Row

Facts = dict[str, str | int | float]

HEADER = ("case", "command", "median ms", "best ms", "cpu ms", "ratio", "correct")


def table(rows: list[Row]) -> str:
    """Aligned columns. Wrong answers stand first and have no ratio; the rest goes by time."""
    ordered = sorted(rows, key=lambda row: (row.correct, row.case, row.wall))
    cells = [HEADER, *map(_cells, ordered)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    wrong = [f"WRONG: {row.command} on {row.case}: {row.problem}" for row in rows if row.problem]
    return "\n".join([*wrong, *lines])


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
    return "\n".join(
        [
            f"machine: {machine['cpu']}, {machine['cores']} cores, {machine['system']}, load"
            f" {machine['load']} before",
            f"versions: {machine['python']}, fastrank {machine['fastrank']}, numpy"
            f" {machine['numpy']}, numba {machine['numba']}",
            *engines,
        ]
    )


def json_lines(rows: list[Row], machine: Facts) -> str:
    """One object for each row, complete in itself."""
    return "".join(
        json.dumps({"benchmark": "startup", **asdict(row), "machine": machine}) + "\n"
        for row in rows
    )
