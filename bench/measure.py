"""Measure the programs of a case in rounds, so that ratios come from the same seconds."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

from bench import checks
from bench.cases import SEED
from bench.manifest import Stored
from bench.programs import ORIGINAL, OURS, Setup, programs
from bench.timing import Limits, Subject


def measure(
    stored: Stored, tasks: list[str], setup: Setup, rounds: int, limits: Limits, scratch: Path
) -> list[Subject]:
    """All programs after their calls: one each to begin with, then some in every round.

    The order in a round is random, so that none always runs in the wake of the same other one.
    """
    group = [
        Subject(program, stored.manifest, limits, scratch)
        for program in programs(stored, tasks, setup, scratch / "answers")
    ]
    random = Random(SEED)
    for number in range(rounds + 1):
        print(f"{stored.case.name}: round {number} of {rounds}", file=sys.stderr, flush=True)
        for subject in random.sample(group, len(group)):
            _read(stored.run)
            if number == 0:
                subject.first()
            else:
                subject.again()
        if setup.comparable:
            _compare_bytes(group)
    return group


def _read(path: Path) -> None:
    """Bring a file into the system's cache, so that no program pays for the disk.

    Before every call: while one program takes seconds, the system may drop what the next one reads.
    """
    with path.open("rb", buffering=0) as file:
        buffer = bytearray(1 << 20)
        while file.readinto(buffer):
            pass


def _compare_bytes(group: list[Subject]) -> None:
    """Ours must print what the original prints, to the last byte.

    But for rbp in 10.0, into which the original mixes the measures computed before it.
    """
    originals = {
        subject.program.task: subject.output
        for subject in group
        if subject.program.name == ORIGINAL and subject.status == "ok"
    }
    for subject in group:
        wanted = originals.get(subject.program.task)
        if subject.program.name in OURS and subject.status == "ok" and wanted is not None:
            problem = checks.difference(subject.output, wanted, but_for=b"rbp ")
            subject.judge(f"not what {ORIGINAL} prints: {problem}" if problem else "")
