"""What `run` measured, as tables and a list of targets."""

from __future__ import annotations

from bench import report, targets
from bench.programs import TASKS
from bench.rows import Row

HEADER = (
    "program", "cold ms", "warm ms", "steady ms", "best ms", "MB/s", "ns/line", "peak MB",
    "speedup", "/ wc -l", "calls", "correct",
)  # fmt: skip


def text(rows: list[Row]) -> str:
    """Wrong answers first, then a table for each case and task, the targets, and the machine."""
    parts = ["\n".join(_wrong(rows))] if _wrong(rows) else []
    for case in dict.fromkeys(row.case for row in rows):
        for task in TASKS:
            some = [row for row in rows if (row.case, row.task) == (case, task)]
            if some:
                parts.append(_table(case, task, some))
    parts.append("\n".join(map(str, targets.check(rows))))
    parts.append("\n".join(_facts(rows)))
    return "\n\n".join(parts)


def _wrong(rows: list[Row]) -> list[str]:
    return [
        f"WRONG: {row.program} on {row.case}, {row.task}: {row.problem}"
        for row in rows
        if row.correct is False
    ]


def _table(case: str, task: str, rows: list[Row]) -> str:
    """Programs by time; below them, what could not be measured and why."""
    timed = [row for row in rows if row.steady is not None]
    ordered = sorted(timed, key=lambda row: (row.correct is True, row.steady))
    data = rows[0].data
    title = f"{case}, {task} ({data['queries']} queries, {data['lines']} lines,"
    title += f" {data['bytes'] / 1e6:.1f} MB)"
    baselines = "".join(dict.fromkeys(row.baseline for row in rows))
    if baselines:
        title += f"; speedup over {baselines}"
    others = [f"{row.program}: {row.status}: {row.problem}" for row in rows if row.correct is None]
    table = [report.aligned([HEADER, *map(_cells, ordered)], left=1)] if ordered else []
    return "\n".join([title, *table, *others])


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.program,
        _number(row.cold),
        _number(row.warm),
        _number(row.steady),
        _number(row.best),
        _number(row.mb_per_s, 0),
        _number(row.ns_per_line),
        _number(row.peak_mb, 0),
        _number(row.speedup),
        _number(row.to_wc),
        str(row.calls),
        {True: "yes", False: "NO", None: "-"}[row.correct],
    )


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _facts(rows: list[Row]) -> list[str]:
    """The machine, the versions, and what was measured with."""
    versions = {row.program: row.version for row in rows if row.version}
    data = {f"seed {row.data['seed']}, scale {row.data['scale']:g}": None for row in rows}
    return [
        *report.machine_lines(rows[0].machine),
        *(f"{program}: {version}" for program, version in versions.items()),
        f"data: {'; '.join(data)}; numbers of trec_eval {rows[0].compat}",
    ]
