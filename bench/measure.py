"""Measure programs on generated cases, in rounds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path
from random import Random
from statistics import median

from bench import expected, machine, processes, subjects
from bench.cases import SEED
from bench.libraries import READ_FACTS
from bench.manifest import Manifest, Stored
from bench.programs import (
    FLOOR,
    MEASURES,
    ONE_THREAD,
    ORIGINAL,
    PREAD,
    READ,
    STAND_IN,
    TWO_THREADS,
    WC,
    Program,
    Setup,
    programs,
)  # fmt: skip
from bench.rows import Row
from bench.subjects import Check, Limits, Subject


def measure(
    stored: Stored, tasks: list[str], setup: Setup, repeat: int, limits: Limits, scratch: Path
) -> Iterator[Row]:
    """The rows of one case.

    Each task has rounds of its own, in which every program is called once, in random order; the
    floors are called in all of them, so that ratios come from the same seconds.
    """
    floors: dict[str, list[Subject]] = {}
    finish = _Finish(stored.manifest, setup)
    for task in [task for task in tasks if task != FLOOR] or [FLOOR]:
        print(f"measuring {stored.manifest.case}: {task}", file=sys.stderr, flush=True)
        chosen = programs(task, stored, setup) if task != FLOOR else []
        group = _rounds(
            [*chosen, *programs(FLOOR, stored, setup)], stored, setup, repeat, limits, scratch
        )
        for subject in filter(subjects.is_floor, group):
            floors.setdefault(subject.program.name, []).append(subject)
        yield from finish.rows(group)
    if FLOOR in tasks:
        yield from map(finish.floor, floors.values())


def _read(path: Path) -> None:
    """Bring a file into the system's cache, so that no program pays for the disk.

    Before every call: while one program takes seconds, the system may drop what the next one reads.
    """
    with path.open("rb", buffering=0) as file:
        buffer = bytearray(1 << 20)
        while file.readinto(buffer):
            pass


def _rounds(
    chosen: list[Program], stored: Stored, setup: Setup, repeat: int, limits: Limits, scratch: Path
) -> list[Subject]:
    variables = processes.environment(scratch / "bytecode")
    group = [
        subjects.subject(program, _check(program, stored.manifest), limits, variables, scratch)
        for program in chosen
    ]
    with ExitStack() as stack:
        for subject in group:
            stack.callback(subject.end)
        for subject in group:
            _read(stored.run)
            subject.first()
        if setup.comparable:
            _compare_bytes(group)
        random = Random(SEED)
        for _ in range(repeat):
            for subject in random.sample(group, len(group)):
                _read(stored.run)
                subject.again()
    return group


def _check(program: Program, manifest: Manifest) -> Check:
    """What tells whether an answer is right."""
    values = manifest.expected
    if program.task in MEASURES:
        official = MEASURES[program.task] == "official"
        names = expected.OFFICIAL if official else expected.ALL_TREC
        if program.library:
            needed = () if program.partial else names
            return lambda found: expected.values_wrong(found, values, needed)
        return lambda output: expected.printed_wrong(output, values, names)
    if program.task == READ:
        facts = {name: getattr(manifest, name) for name in READ_FACTS}
        return lambda found: expected.values_wrong(found, facts, READ_FACTS)
    if program.name == WC:
        lines = [b"%d" % manifest.lines]
        return lambda output: "" if output.split()[:1] == lines else "another number of lines"
    if program.name == PREAD:
        return lambda found: expected.values_wrong(found, {"bytes": manifest.bytes}, ("bytes",))
    return lambda _: ""


def _compare_bytes(group: list[Subject]) -> None:
    """Ours must print what the original prints, to the last byte.

    But for rbp in 10.0, into which the original mixes the measures computed before it.
    """
    outputs = {subject.program.name: subject for subject in group if subject.output}
    original = outputs.get(ORIGINAL)
    for name in (ONE_THREAD, TWO_THREADS):
        if original is not None and name in outputs and original.status == "ok":
            outputs[name].compare(original.output, original.program.name, but_for=b"rbp ")


class _Finish:
    """Makes rows of what was measured on one case."""

    def __init__(self, manifest: Manifest, setup: Setup) -> None:
        self._manifest = manifest
        self._setup = setup
        names = ("seed", "scale", "queries", "lines", "bytes", "judgments")
        self._data = {name: getattr(manifest, name) for name in names}
        self._machine = machine.describe()

    def rows(self, group: list[Subject]) -> Iterator[Row]:
        """One row for each program but the floors."""
        right = {s.program.name: median(s.steady) for s in group if s.status == "ok" and s.steady}
        baseline = ORIGINAL if ORIGINAL in right else STAND_IN
        for subject in group:
            if not subjects.is_floor(subject):
                yield self._row(subject, subject.steady, right.get(WC), baseline, right)

    def floor(self, same: list[Subject]) -> Row:
        """The row of a floor, from its calls in all rounds."""
        times = [time for subject in same for time in subject.steady]
        worst = next((subject for subject in same if subject.status != "ok"), same[0])
        return self._row(worst, times, None, "", {})

    def _row(
        self, subject: Subject, times: list[float], wc: float | None, baseline: str,
        right: dict[str, float],
    ) -> Row:  # fmt: skip
        steady = median(times) if times else None
        slower = right.get(baseline)
        ratio = slower / steady if slower and steady and subject.status == "ok" else None
        return Row(
            case=self._manifest.case,
            task=subject.program.task,
            program=subject.program.name,
            version=subject.program.version,
            status=subject.status,
            problem=subject.problem,
            calls=len(times) + (subject.cold is not None),
            cold=_milliseconds(subject.cold),
            warm=_milliseconds(subject.warm),
            steady=_milliseconds(steady),
            best=_milliseconds(min(times, default=None)),
            peak_mb=round(subject.peak / 1e6, 1) if subject.peak else None,
            mb_per_s=round(self._manifest.bytes / steady / 1e6, 1) if steady else None,
            ns_per_line=round(steady / self._manifest.lines * 1e9, 2) if steady else None,
            baseline=baseline if ratio else "",
            speedup=round(ratio, 3) if ratio else None,
            to_wc=round(steady / wc, 3) if steady and wc and subject.status == "ok" else None,
            correct={"ok": True, "wrong": False}.get(subject.status),
            compat=self._setup.compat,
            data=self._data,
            machine=self._machine,
            time=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        )


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(1000 * seconds, 3)
