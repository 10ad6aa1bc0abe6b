"""What `run` measured, as tables and a list of targets."""

from __future__ import annotations

from tabulate import tabulate

from bench import targets
from bench.rows import Row
from bench.tasks import TASKS

HEADER = (
    "program",
    "cold ms",
    "warm ms",
    "steady ms",
    "best ms",
    "MB/s",
    "ns/line",
    "peak MB",
    "speedup",
    "/ floor",
    "calls",
    "correct",
)


def text(rows: list[Row]) -> str:
    """Wrong answers first, then a table for each case and task, the targets, and the machine."""
    wrong = [
        f"WRONG: {row.program} on {row.case}, {row.task}: {row.problem}"
        for row in rows
        if row.status == "wrong"
    ]
    parts = ["\n".join(wrong)] if wrong else []
    for case in dict.fromkeys(row.case for row in rows):
        for task in TASKS:
            some = [row for row in rows if (row.case, row.task) == (case, task)]
            if some:
                parts.append(_table(case, task, some))
    measured = [row for row in rows if row.steady is not None]
    parts.append("\n".join(map(str, targets.check(rows))))
    parts.append("\n".join(_facts(measured)))
    return "\n\n".join(filter(None, parts))


def _table(case: str, task: str, rows: list[Row]) -> str:
    """Programs by time; below them, what could not be measured and why."""
    timed = [row for row in rows if row.steady is not None]
    ordered = sorted(timed, key=lambda row: (row.status == "ok", row.steady))
    title = f"{case}, {task}"
    if timed:
        facts = timed[0].facts
        title += f" ({facts['queries']} queries, {facts['lines']} lines,"
        title += f" {facts['bytes'] / 1e6:.1f} MB)"
    baselines = "".join(dict.fromkeys(row.baseline for row in timed))
    if baselines:
        title += f"; speedup over {baselines}"
    if any(row.to_floor for row in timed):
        title += f"; floor: {timed[0].floor}"
    table = [tabulate(map(_cells, ordered), HEADER, disable_numparse=True)] if ordered else []
    others = [
        f"{row.program}: {row.status}: {row.problem}"
        for row in rows
        if row.status not in ("ok", "wrong")
    ]
    return "\n".join([title, *table, *others])


def _cells(row: Row) -> tuple[str, ...]:
    assert row.steady is not None
    return (
        row.program,
        _number(row.cold),
        _number(row.warm),
        _number(row.steady),
        _number(row.best),
        _number(row.facts["bytes"] / row.steady / 1e3, 0),
        _number(row.steady * 1e6 / row.facts["lines"]),
        _number(row.peak_mb, 0),
        _number(row.speedup),
        _number(row.to_floor),
        str(row.calls),
        "yes" if row.status == "ok" else "NO" if row.status == "wrong" else "-",
    )


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _facts(rows: list[Row]) -> list[str]:
    """The machine, the versions, and what was measured with."""
    versions = {row.program: row.facts["version"] for row in rows if "version" in row.facts}
    data = dict.fromkeys(row.data for row in rows)
    return [
        machine(rows),
        *(f"{program}: {version}" for program, version in versions.items()),
        f"data: {'; '.join(data)}; numbers of trec_eval {rows[0].facts['trec_eval_version']}",
    ]


def machine(rows: list[Row]) -> str:
    """What figures depend on; pyperf knows the name of the processor on Linux only."""
    facts = rows[0].facts
    system = " ".join(facts["platform"].split("-")[:2])
    return (
        f"{facts.get('cpu_model_name', 'unknown processor')}, {facts['cpu_count']} cores,"
        f" {system}, {facts['python']}, numpy {facts['numpy']}"
    )
