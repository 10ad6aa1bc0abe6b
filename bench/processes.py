"""One command as a process of its own: how long it took and what it printed."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

CREATE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC

# These say where packages are; every other PYTHON variable changes how fast Python starts.
KEPT = ("PYTHONPATH", "PYTHONHOME")


@dataclass(frozen=True)
class Finished:
    """A process that ended. Times in seconds; `cpu` is user and system time together.

    peak: the most memory it held, in bytes. Linux counts what the starting process held when it
    started it, so that processes that measure memory should be small themselves.
    """

    wall: float
    cpu: float
    peak: int
    status: int
    output: bytes
    errors: bytes
    timed_out: bool = False


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


def run(
    words: list[str],
    environment: dict[str, str],
    scratch: Path,
    *,
    timeout: float | None = None,
    discard: bool = False,
) -> Finished:
    """Run a command to its end, its output going to files in `scratch`, or nowhere.

    posix_spawn and wait4 rather than subprocess: no pipes and no threads between the clock's
    two readings (but for a timer where there is a time limit), and the operating system's own
    account of processor time and memory.
    """
    output, errors = scratch / "stdout", scratch / "stderr"
    output.write_bytes(b"")
    target = os.devnull if discard else os.fspath(output)
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, target, CREATE, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, os.fspath(errors), CREATE, 0o600),
    ]
    start = time.perf_counter()
    child = os.posix_spawn(words[0], words, environment, file_actions=actions)
    killed = threading.Event()
    timer = None
    if timeout is not None:
        timer = threading.Timer(timeout, _kill, (child, killed))
        timer.start()
    try:
        _, status, usage = os.wait4(child, 0)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.wait4(child, 0)
        raise
    finally:
        if timer is not None:
            timer.cancel()
    wall = time.perf_counter() - start
    return finished(wall, status, usage, output, errors, timed_out=killed.is_set())


def finished(
    wall: float,
    status: int,
    usage: resource.struct_rusage,
    output: Path,
    errors: Path,
    *,
    timed_out: bool,
) -> Finished:
    """What wait4 told of a process, with what it wrote."""
    return Finished(
        wall=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        peak=usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        status=os.waitstatus_to_exitcode(status),
        output=output.read_bytes(),
        errors=errors.read_bytes(),
        timed_out=timed_out,
    )


def _kill(child: int, killed: threading.Event) -> None:
    killed.set()
    os.kill(child, signal.SIGKILL)


def failure(finished: Finished) -> str:
    """How a process failed, with the last line of its complaints."""
    lines = finished.errors.decode("utf-8", "replace").strip().splitlines()
    return f"exit status {finished.status}" + "".join(f": {line}" for line in lines[-1:])
