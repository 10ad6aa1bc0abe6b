"""Processes that compile: `python -m fastrank.core.native.compiling.worker`.

Numba reads its settings from the environment when it is imported, is changed for a build
(frontend.py), and its Python code is half of the work: none of that may happen in the process of a
user, nor all of it in one.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any

from fastrank.core.native.compiling.levels import levels
from fastrank.core.native.compiling.object_cache import BuildError
from fastrank.core.native.library import PACKAGE
from fastrank.core.native.threads import processors

_MOST = 8
# The memory that one process needs for numba, LLVM, and the largest kernel.
_MEMORY = 512 << 20


class Worker:
    """A process that calls functions of this package for this one, until it is closed."""

    def __init__(self) -> None:
        environment = {
            **os.environ,
            "NUMBA_CPU_NAME": next(iter(levels().values())),
            "NUMBA_CPU_FEATURES": "",
            "NUMBA_DISABLE_JIT": "0",
            "FASTRANK_ENGINE": "jit",
            # Where colorama is there, colouring messages that nobody sees takes a seventh of its
            # time.
            "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1",
            "PYTHONPATH": os.pathsep.join([os.path.dirname(PACKAGE), *sys.path]),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fastrank.core.native.compiling.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a function that is called there. Raises BuildError if it fails there."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answered is not None
        try:
            pickle.dump((function, arguments), asked)
            asked.flush()
            problem, result = pickle.load(answered)
        except (EOFError, OSError) as error:
            status = self._process.wait()
            raise BuildError(f"a process that compiled kernels ended with {status}") from error
        if problem:
            raise BuildError(problem)
        return result

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.communicate()


def generate(name: str) -> tuple[str, bytes]:
    """How the entry point of a kernel is called (`call_words`), and its bitcode."""
    from fastrank.core.native.compiling.frontend import frontend
    from fastrank.core.native.compiling.signatures import call_words
    from fastrank.core.native.declare import KERNELS

    bitcode = frontend().compile(name)
    return call_words(KERNELS[name].signature, holds_gil=KERNELS[name].holds_gil), bitcode


def count_processes(cgroup: str = "/sys/fs/cgroup", meminfo: str = "/proc/meminfo") -> int:
    """As many as there are processors and memory for, within a container's limits; 8 at most.

    cgroup: the folder of the control group (version 2) of this process, if it has limits.
    meminfo: the file of the system that says how much memory is available.
    """
    counts = [processors(), _MOST]
    quota, _, period = _read(cgroup, "cpu.max").partition(" ")
    if quota.isdigit():
        counts.append(int(quota) // int(period))
    limit = _read(cgroup, "memory.max").strip()
    if limit.isdigit():
        used = int(_read(cgroup, "memory.current") or 0)
        counts.append((int(limit) - used) // _MEMORY)
    for line in _read("", meminfo).splitlines():
        if line.startswith("MemAvailable:"):
            counts.append((int(line.split()[1]) << 10) // _MEMORY)
    return max(1, min(counts))


def _read(folder: str, name: str) -> str:
    """The content of a file, empty where the system has no such file."""
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read()
    except OSError:
        return ""


def main() -> None:
    """Answer calls until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    # Output goes where errors go.
    os.dup2(2, 1)
    while True:
        try:
            function, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = "", function(*arguments)
        except BuildError as error:
            answer = str(error), None
        except Exception:
            traceback.print_exc()
            kernel = next((argument for argument in arguments if isinstance(argument, str)), "")
            answer = f"compiling {kernel} failed; the messages above say why", None
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()
