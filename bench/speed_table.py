"""The tables of docs/speed.md: written from results, between two markers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.errors import BenchError, NotFoundError
from bench.libraries import LIBRARIES
from bench.memory import ARRAYS, COMPAT, EVALUATOR, ONE_SHOT, PROVIDER
from bench.programs import ORIGINAL, OURS, STAND_IN, WC
from bench.rows import Key, Row
from bench.run_report import machine
from bench.tasks import BUILDING, BUILT, BUILT_ALL, FLOOR, OFFICIAL, SINGLE

BEGIN = "<!-- speed: begin (python -m bench table) -->"
END = "<!-- speed: end -->"
# What the others are compared with first, then the order in which programs are listed. The page has
# no run that is loaded before it is evaluated.
LOADED = "fastrank.evaluate(run)"
COLUMNS = tuple(
    name for name in dict.fromkeys((ORIGINAL, STAND_IN, *OURS, *LIBRARIES)) if name != LOADED
)
FILES = "files, `-m official`"
# In memory: what a table is about, and its columns.
IN_MEMORY = {
    "dicts, `fastrank.compat.pytrec_eval`": {
        "evaluator built beforehand": (BUILT, COMPAT),
        "building included": (BUILDING, COMPAT),
        "one query at a time": (SINGLE, COMPAT),
        "all measures": (BUILT_ALL, COMPAT),
    },
    "other interfaces and libraries": {
        "`evaluate(dict, dict)`": (BUILDING, ONE_SHOT),
        "`Evaluator`, one query at a time": (SINGLE, EVALUATOR),
        "`evaluate_arrays`": (BUILT, ARRAYS),
        "ir_measures with fastrank, building included": (BUILDING, PROVIDER),
    },
}


def replace(page: Path, rows: list[Row]) -> None:
    """Write the table into a file, between the markers, and touch nothing else."""
    try:
        text = page.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise NotFoundError(f"no file {page}") from None
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in after or END in after or END in before:
        raise BenchError(f"{page} does not have the lines {BEGIN!r} and {END!r} once each")
    page.write_bytes(f"{before}{BEGIN}\n{markdown(rows)}\n{END}{after}".encode())


def markdown(rows: list[Row]) -> str:
    """Milliseconds, and how many times faster than the baseline; then what they depend on."""
    by_key = {row.key: row for row in rows}
    parts = [_table(by_key)]
    parts += [_memory_table(title, columns, by_key) for title, columns in IN_MEMORY.items()]
    return "\n\n".join([*filter(None, parts), _facts(rows)])


def _table(by_key: dict[Key, Row]) -> str:
    """What was measured of programs that evaluate files, by case."""
    some = [row for row in by_key.values() if row.task == OFFICIAL]
    if not some:
        return ""
    measured = {row.program for row in some}
    programs = [name for name in COLUMNS if name in measured]
    # Variables make the command start Python.
    titles = [
        f"{name} (starts Python)" if any(OURS.get(name, ())[2:]) else name for name in programs
    ]
    head = [FILES, "judged", "MB", *titles, f"`{WC}`"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for case in dict.fromkeys(row.case for row in some):
        facts = next(row.facts for row in some if row.case == case)
        keys = [*((case, OFFICIAL, name) for name in programs), (case, FLOOR, WC)]
        cells = [case, _judged(facts), _size(facts["bytes"] / 1e6)]
        cells += [_cell(by_key.get(key)) for key in keys]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _memory_table(title: str, columns: dict[str, tuple[str, str]], by_key: dict[Key, Row]) -> str:
    """What was measured of programs that evaluate what is in memory, by case."""
    keys = {row.key[1:] for row in by_key.values()}
    columns = {name: key for name, key in columns.items() if key in keys}
    some = [row for row in by_key.values() if row.key[1:] in columns.values()]
    if not some:
        return ""
    head = [title, "judged", *columns]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for case in dict.fromkeys(row.case for row in some):
        cells = [case, _judged(next(row.facts for row in some if row.case == case))]
        cells += [_cell(by_key.get((case, *key))) for key in columns.values()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _judged(facts: dict[str, Any]) -> str:
    """Judged documents per query."""
    return _size(facts["judgments"] / facts["queries"])


def _size(number: float) -> str:
    return f"{number:,.{number < 10:d}f}"


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    if row.steady is None or row.status != "ok":
        return row.status
    times = f"{row.steady:,.0f}" if row.steady >= 100 else f"{row.steady:.1f}"
    if row.speedup is None or row.program == row.baseline:
        return times
    ratio = f"{row.speedup:.1f}" if row.speedup >= 1 else f"{row.speedup:.2f}"
    return f"{times} ({ratio} ×)"


def _facts(rows: list[Row]) -> str:
    versions = {row.program: row.facts["version"] for row in rows if "version" in row.facts}
    told = [
        f"{name} {version.removeprefix('trec_eval version ')}"
        for name, version in versions.items()
        if not name.startswith("fastrank")
    ]
    baselines = sorted({row.baseline for row in rows if row.baseline})
    data = sorted({row.data for row in rows})
    ratios = f"; in brackets how many times faster than {' or '.join(baselines)}"
    ours = (version for name, version in versions.items() if name.startswith("fastrank"))
    own = [f"fastrank {version}" for version in dict.fromkeys(ours)]
    return (
        f"Milliseconds, steady (median of further calls){ratios if baselines else ''}."
        f" {', '.join([rows[0].facts['date'][:10], machine(rows), *own, *told])};"
        f" {'; '.join(data)}."
    )
