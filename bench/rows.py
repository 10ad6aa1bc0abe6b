"""The result of measuring one program at one task on one case, and files of such results."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench import report
from bench.errors import BenchError, NotFoundError

BENCHMARK, FORMAT = "run", 1


@dataclass(frozen=True)
class Row:
    """What was measured. Times are in milliseconds, None where there is none.

    cold: from the start of a process to the end of its first call. warm: a library's first call
    alone. steady: the median of the further calls, best the shortest of them.
    status: ok, wrong, failed, timeout, skipped or absent; `problem` says more.
    speedup: how many times faster than `baseline`, from the steady times of the same rounds.
    to_wc: the steady time over that of `wc -l`.
    """

    case: str
    task: str
    program: str
    version: str
    status: str
    problem: str
    calls: int
    cold: float | None
    warm: float | None
    steady: float | None
    best: float | None
    peak_mb: float | None
    mb_per_s: float | None
    ns_per_line: float | None
    baseline: str
    speedup: float | None
    to_wc: float | None
    correct: bool | None
    compat: str
    data: dict[str, Any]
    machine: dict[str, Any]
    time: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two rows comparable."""
        return self.case, self.task, self.program


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as JSON lines, each complete in itself."""
    facts = ({"format": FORMAT, **asdict(row)} for row in rows)
    path.write_text(report.json_lines(BENCHMARK, facts), encoding="utf-8")


def read(path: Path) -> list[Row]:
    """The rows of a file; raises BenchError for one that `run` did not write."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise NotFoundError(f"no file {path}") from None
    except UnicodeDecodeError:
        raise BenchError(f"{path} is not a file of results: not text") from None
    rows = [_row(f"{path}:{number}", line) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise BenchError(f"{path} has no results")
    return rows


def _row(place: str, line: str) -> Row:
    try:
        fields = json.loads(line)
    except ValueError:
        raise BenchError(f"{place}: not a result: not JSON") from None
    if not isinstance(fields, dict) or fields.pop("benchmark", None) != BENCHMARK:
        raise BenchError(f"{place}: not a result of `python -m bench run`")
    if fields.pop("format", None) != FORMAT:
        raise BenchError(f"{place}: not of format {FORMAT}, which this version reads")
    try:
        return Row(**fields)
    except TypeError as error:
        raise BenchError(f"{place}: not a result: {error}") from None
