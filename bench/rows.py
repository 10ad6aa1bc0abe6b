"""What was measured: kept in pyperf's files, with what a row of a table needs beside the times."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import pyperf

from bench.commands import version
from bench.errors import BenchError, NotFoundError
from bench.manifest import Stored
from bench.programs import ORIGINAL, PASS, STAND_IN, WC, Setup
from bench.tasks import FLOOR, MEMORY, START
from bench.timing import Subject

FROM_MANIFEST = ("seed", "scale", "queries", "lines", "bytes", "judgments")
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Row:
    """One program at one task on one case. Times are in milliseconds, None where there is none.

    status: ok, wrong, failed, timeout, skipped or absent; `problem` says more.
    cold: the first call, the start of its process included. warm: the first call in a process of
    a library, at the median. steady: the median of the other calls, best the shortest of them.
    speedup: how many times faster than `baseline`. to_floor: the steady time over that of `floor`.
    facts: what pyperf found out about the machine, and what the figures depend on beside it.
    """

    case: str
    task: str
    program: str
    status: str = "ok"
    problem: str = ""
    calls: int = 0
    cold: float | None = None
    warm: float | None = None
    steady: float | None = None
    best: float | None = None
    peak_mb: float | None = None
    baseline: str = ""
    speedup: float | None = None
    floor: str = ""
    to_floor: float | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        return self.case, self.task, self.program

    @property
    def data(self) -> str:
        """Where its input is from."""
        if "seed" not in self.facts:
            return "files that were added"
        return f"seed {self.facts['seed']}, scale {self.facts['scale']:g}"


def benchmark(subject: Subject, stored: Stored, setup: Setup) -> pyperf.Benchmark | None:
    """A program's benchmark in pyperf's sense, None where it has no times.

    What is not right has another name, so that no comparison of files takes it for the same.
    """
    program, found = subject.program, subject.benchmark
    if found is None:
        return None
    right = "" if subject.status == "ok" else f" ({subject.status})"
    facts = {
        "name": f"{stored.case.name}, {program.task}, {program.name}{right}",
        "case": stored.case.name,
        "task": program.task,
        "program": program.name,
        "version": program.version,
        "status": subject.status,
        "problem": subject.problem,
        "cold": subject.cold,
        "command_max_rss": subject.peak or None,
        "trec_eval_version": setup.trec_eval_version,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name: version(name) for name in ("numpy", "numba")},
        **{name: getattr(stored.manifest, name) for name in FROM_MANIFEST},
    }
    found.update_metadata({name: fact for name, fact in facts.items() if fact not in ("", None)})
    return found


def unmeasured(subject: Subject, stored: Stored) -> Row:
    """The row of a program without times."""
    program = subject.program
    return Row(stored.case.name, program.task, program.name, subject.status, subject.problem)


def rows(suite: Sequence[pyperf.Benchmark]) -> list[Row]:
    """A row for each benchmark, with ratios between those that were right."""
    facts = [_facts(found) for found in suite]
    steady: dict[Key, float] = {
        (own["case"], own["task"], own["program"]): found.median()
        for found, own in zip(suite, facts, strict=True)
        if own["status"] == "ok"
    }
    return [_row(found, own, steady) for found, own in zip(suite, facts, strict=True)]


def _facts(found: pyperf.Benchmark) -> dict[str, Any]:
    facts: dict[str, Any] = found.get_runs()[0].get_metadata()
    if not {"case", "task", "program", "status"} <= facts.keys():
        raise BenchError(f"{found.get_name()}: not measured by `python -m bench run`")
    return facts


def _row(found: pyperf.Benchmark, facts: dict[str, Any], steady: dict[Key, float]) -> Row:
    case, task, program = key = facts["case"], facts["task"], facts["program"]
    runs, own = found.get_runs(), steady.get(key)
    first = [seconds for run in runs for _, seconds in run.warmups]
    baseline = ORIGINAL if (case, task, ORIGINAL) in steady else STAND_IN
    floor = PASS if task == START else WC
    slower, least = steady.get((case, task, baseline)), steady.get((case, FLOOR, floor))
    peak = facts.get("command_max_rss")
    return Row(
        case,
        task,
        program,
        facts["status"],
        facts.get("problem", ""),
        calls=len(found.get_values()) + len(first) + 1,
        cold=1000 * facts["cold"],
        warm=1000 * median(first) if first else None,
        steady=1000 * found.median(),
        best=1000 * min(found.get_values()),
        peak_mb=peak / 1e6 if peak else None,
        baseline=baseline if slower and own else "",
        speedup=slower / own if slower and own else None,
        floor=floor,
        to_floor=own / least if least and own and task not in (FLOOR, *MEMORY) else None,
        facts=facts,
    )


def write(path: Path, benchmarks: list[pyperf.Benchmark]) -> None:
    """Write a file that `python -m pyperf` reads too."""
    if benchmarks:
        pyperf.BenchmarkSuite(benchmarks).dump(str(path), replace=True)


def read(paths: Sequence[Path]) -> list[Row]:
    """The rows of files; raises BenchError for one that `run` did not write."""
    return [row for path in paths for row in _read(path)]


def _read(path: Path) -> list[Row]:
    try:
        return rows(pyperf.BenchmarkSuite.load(str(path)).get_benchmarks())
    except FileNotFoundError:
        raise NotFoundError(f"no file {path}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BenchError(f"{path} is not a file of results: {error}") from None
