"""One program and its runs. pyperf makes and times the calls, in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pyperf

from bench import checks
from bench.manifest import Manifest
from bench.programs import Program

ROOT = Path(__file__).resolve().parent.parent
# pyperf throws away what a command prints. The shell sends it to files, and becomes the command.
SHELL = ["/bin/sh", "-c", 'out=$1 err=$2; shift 2; exec "$@" >"$out" 2>"$err"', "sh"]
# Short calls are repeated for so many seconds, but not so often: starting pyperf takes 0.3 s.
REPEATED, MOST = 0.25, 10


@dataclass(frozen=True)
class Limits:
    """Seconds that a call may take, and after which a program is not called once more."""

    timeout: float
    budget: float


class Subject:
    """A program with its runs; the first call stands apart.

    cold: the seconds of the first call. peak: the most memory that a command held, in bytes.
    benchmark: pyperf's account of the other calls. output: what was printed or found last.
    """

    def __init__(self, program: Program, manifest: Manifest, limits: Limits, scratch: Path) -> None:
        self.program = program
        self.status, self.problem = program.status, program.hindered
        self.cold: float | None = None
        self.peak = 0
        self.benchmark: pyperf.Benchmark | None = None
        self.output = b""
        self._manifest = manifest
        self._limits = limits
        self._scratch = scratch
        self._spent = 0.0

    def first(self) -> None:
        """Make one call, in a process of its own, unless the program is not there."""
        if self.status == "ok" and (found := self._command(1)) is not None:
            self.cold = found.get_values()[0]

    def again(self) -> None:
        """Make more calls, unless one failed or the time is used up."""
        if self.status not in ("ok", "wrong"):
            return
        if self.benchmark is None:
            self.benchmark = self._calls(1)
        elif self._spent <= self._limits.budget:
            times = max(1, min(MOST, int(REPEATED / self.benchmark.median())))
            if (found := self._calls(times)) is not None:
                self.benchmark.add_runs(found)

    def judge(self, problem: str) -> None:
        """Note what is wrong with an answer, if anything; the first wrong one is told."""
        if self.status == "ok" and problem:
            self.status, self.problem = "wrong", problem

    def _calls(self, times: int) -> pyperf.Benchmark | None:
        """Calls of a command, or in a new process of a library, which makes one more before."""
        if self.program.package is None:
            return self._command(times)
        return self._timed([*self.program.words, *self._options(times, 1)], times + 1)

    def _command(self, times: int) -> pyperf.Benchmark | None:
        prints = self.program.package is None and self.program.name != "cat"
        output = self._scratch / "answers" if prints else Path(os.devnull)
        words = [*SHELL, str(output), str(self._scratch / "errors"), *self.program.command]
        options = [*self._options(times, 0), "--name", self.program.name]
        return self._timed(["-m", "pyperf", "command", *options, "--", *words], times)

    def _options(self, times: int, before: int) -> list[str]:
        variables = ",".join(self.program.variables)
        return [
            "--quiet",
            f"--output={self._scratch / 'runs'}",
            "--processes=1",
            "--loops=1",
            f"--values={times}",
            f"--warmups={before}",
            f"--inherit-environ={variables}",
        ]

    def _timed(self, words: list[str], times: int) -> pyperf.Benchmark | None:
        """What pyperf found, with the answers checked; None where a call failed."""
        (self._scratch / "runs").unlink(missing_ok=True)
        for name in ("answers", "errors"):
            (self._scratch / name).write_bytes(b"")
        limit = self._limits.timeout
        try:
            status = self._run(words, limit * times)
        except subprocess.TimeoutExpired:
            self.status, self.problem = "timeout", f"took longer than {limit:g} s (--timeout)"
            return None
        if status != 0:
            self.status, self.problem = "failed", self._complaint()
            return None
        found = pyperf.Benchmark.load(str(self._scratch / "runs"))
        for run in found.get_runs():
            self._spent += sum(run.values) + sum(seconds for _, seconds in run.warmups)
            self.peak = max(self.peak, run.get_metadata().get("command_max_rss", 0))
        self.output = (self._scratch / "answers").read_bytes()
        self.judge(checks.problem(self.program, self._manifest, self.output))
        return found

    def _run(self, words: list[str], limit: float) -> int:
        """Run a script of pyperf's; its exit status."""
        with open(self._scratch / "pyperf", "wb") as told:
            # In a session of its own, so that what it started can be ended with it.
            process = subprocess.Popen(
                [sys.executable, *words],
                cwd=ROOT,
                env={**os.environ, **self.program.variables},
                stdout=subprocess.DEVNULL,
                stderr=told,
                start_new_session=True,
            )
        try:
            return process.wait(limit)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise

    def _complaint(self) -> str:
        """The last thing that the program said, or else pyperf."""
        for name in ("errors", "pyperf"):
            text = (self._scratch / name).read_text(encoding="utf-8", errors="replace")
            if text.strip():
                return text.strip().splitlines()[-1]
        return "failed without a word"
