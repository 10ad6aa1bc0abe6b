"""The speed table of the README: written from results, between two markers."""

from __future__ import annotations

from pathlib import Path

from bench.errors import BenchError, NotFoundError
from bench.libraries import FASTRANK
from bench.programs import (
    FLOOR,
    MEASURES,
    ONE_THREAD,
    ORIGINAL,
    READ,
    READ_RUN,
    READERS,
    STAND_IN,
    TWO_THREADS,
    WC,
)  # fmt: skip
from bench.rows import Row

BEGIN = "<!-- speed: begin (python -m bench table) -->"
END = "<!-- speed: end -->"
Rows = dict[tuple[str, str, str], Row]
EVALUATORS = (ORIGINAL, ONE_THREAD, TWO_THREADS, *FASTRANK, STAND_IN, "ir_measures", "ranx")


def replace(readme: Path, rows: list[Row]) -> None:
    """Write the table into a file, between the markers, and touch nothing else."""
    try:
        text = readme.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise NotFoundError(f"no file {readme}") from None
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in after or END in after or END in before:
        raise BenchError(f"{readme} does not have the lines {BEGIN!r} and {END!r} once each")
    readme.write_bytes(f"{before}{BEGIN}\n{markdown(rows)}\n{END}{after}".encode())


def markdown(rows: list[Row]) -> str:
    """Milliseconds, and how many times faster than the baseline; then what they depend on."""
    parts = []
    by_key = {row.key: row for row in rows}
    for task, measures in MEASURES.items():
        some = [row for row in rows if row.task == task]
        if some:
            parts.append(_evaluating(f"`-m {measures}`", task, some, by_key))
    reading = [row for row in rows if row.task == READ]
    if reading:
        parts.append(_table(READ, "reading", reading, [READ_RUN, *READERS], by_key))
    return "\n\n".join([*parts, _facts(rows)])


def _evaluating(
    title: str, task: str, some: list[Row], by_key: dict[tuple[str, str, str], Row]
) -> str:
    measured = {row.program for row in some if row.steady is not None}
    programs = [name for name in EVALUATORS if name in measured]
    return _table(task, title, some, programs, by_key)


def _table(
    task: str, title: str, some: list[Row], programs: list[str],
    by_key: Rows,
) -> str:  # fmt: skip
    measured = {row.program for row in some if row.status != "absent"}
    programs = [name for name in programs if name in measured]
    lines = [
        "| " + " | ".join([title, "MB", *programs, f"`{WC}`"]) + " |",
        "|---" * (len(programs) + 3) + "|",
    ]
    for case in dict.fromkeys(row.case for row in some):
        size = next(row.data["bytes"] for row in some if row.case == case) / 1e6
        cells = [_cell(by_key.get((case, task, name))) for name in programs]
        floor = _cell(by_key.get((case, FLOOR, WC)))
        lines.append("| " + " | ".join([case, f"{size:.{size < 10:d}f}", *cells, floor]) + " |")
    return "\n".join(lines)


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    if row.steady is None or not row.correct:
        return row.status
    times = f"{row.steady:,.0f}" if row.steady >= 100 else f"{row.steady:.1f}"
    if row.speedup is None or row.program == row.baseline:
        return times
    ratio = f"{row.speedup:.1f}" if row.speedup >= 1 else f"{row.speedup:.2f}"
    return f"{times} ({ratio} ×)"


def _facts(rows: list[Row]) -> str:
    machine = rows[0].machine
    versions = {row.program: row.version for row in rows if row.version}
    told = [
        f"{name} {version.removeprefix('trec_eval version ')}"
        for name, version in versions.items()
        if not name.startswith("fastrank")
    ]
    baselines = sorted({row.baseline for row in rows if row.baseline})
    data = sorted({f"seed {row.data['seed']}, scale {row.data['scale']:g}" for row in rows})
    engine = next((row.version for row in rows if row.program == ONE_THREAD), machine["fastrank"])
    ratios = f"; in brackets how many times faster than {' or '.join(baselines)}"
    return (
        f"Milliseconds, steady (median of further calls){ratios if baselines else ''}."
        f" {rows[0].time[:10]}, {machine['cpu']},"
        f" {machine['cores']} cores, {machine['system']}, {machine['python']}, numpy"
        f" {machine['numpy']}, fastrank {engine}{''.join(f', {each}' for each in told)};"
        f" {'; '.join(data)}."
    )
