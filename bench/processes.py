"""One command as a process of its own: how long it took and what it printed."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

# These say where packages are; every other PYTHON variable changes how fast Python starts.
KEPT = ("PYTHONPATH", "PYTHONHOME")


@dataclass(frozen=True)
class Finished:
    """A process that ended. Times in seconds; `cpu` is user and system time together."""

    wall: float
    cpu: float
    status: int
    output: bytes
    errors: bytes


def environment(bytecode: Path) -> dict[str, str]:
    """The environment of a user who set nothing, with compiled bytecode cached.

    Under PYTHONDONTWRITEBYTECODE a package in a source tree would be compiled again in each
    call; the cache then goes to the folder `bytecode` instead of the tree.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in KEPT or not name.startswith(("PYTHON", "FASTRANK_", "NUMBA_"))
    }
    if os.environ.get("PYTHONDONTWRITEBYTECODE"):
        kept["PYTHONPYCACHEPREFIX"] = os.fspath(bytecode)
    return kept


def run(words: list[str], environment: dict[str, str], scratch: Path) -> Finished:
    """Run a command to its end, its output going to files in `scratch`.

    posix_spawn and wait4 rather than subprocess: no pipes and no threads between the clock's
    two readings, and the operating system's own account of the processor time.
    """
    output, errors = scratch / "stdout", scratch / "stderr"
    create = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.fspath(output), create, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, os.fspath(errors), create, 0o600),
    ]
    start = time.perf_counter()
    child = os.posix_spawn(words[0], words, environment, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    return Finished(
        wall=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        status=os.waitstatus_to_exitcode(status),
        output=output.read_bytes(),
        errors=errors.read_bytes(),
    )
