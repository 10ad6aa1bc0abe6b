"""What is measured, call by call: commands, each call a process, and libraries, all in one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import driver, processes
from bench.conversation import Conversation, EndedError
from bench.oracle import difference
from bench.processes import Finished
from bench.programs import FLOOR, Program

# What is wrong with an answer: the output of a command or the values of a library.
Check = Callable[[Any], str]


@dataclass(frozen=True)
class Limits:
    """Seconds that a call may take, and after which a program is not called once more."""

    timeout: float
    budget: float


class Subject(ABC):
    """A program with the times of its calls, in seconds; the first call stands apart."""

    def __init__(
        self,
        program: Program,
        check: Check,
        limits: Limits,
        variables: dict[str, str],
        scratch: Path,
    ) -> None:
        self.program = program
        self.status = program.status or "ok"
        self.problem = program.hindered
        self.cold: float | None = None
        self.warm: float | None = None
        self.steady: list[float] = []
        self.peak = 0
        self.output = b""
        self._check = check
        self._limits = limits
        self._variables = {**variables, **program.variables}
        self._scratch = scratch

    def first(self) -> None:
        """Make the first call, unless the program is not there."""
        if self.status == "ok":
            self._first()

    def again(self) -> None:
        """Make one more call, unless one failed or the time is used up."""
        if self.status in ("ok", "wrong") and not self._used_up():
            self._again()

    def judge(self, answer: Any) -> None:
        """Check an answer; the first wrong one is told."""
        if self.status == "ok" and (problem := self._check(answer)):
            self.status, self.problem = "wrong", problem

    def compare(self, output: bytes, whose: str, but_for: bytes) -> None:
        """Check that the last output is that of another program, byte for byte.

        Lines that begin with `but_for` are left out.
        """
        own, other = (
            b"".join(line for line in text.splitlines(True) if not line.startswith(but_for))
            for text in (self.output, output)
        )
        if self.status == "ok" and (problem := difference(own, other)):
            self.status, self.problem = "wrong", f"not what {whose} prints: {problem}"

    def _used_up(self) -> bool:
        return len(self.steady) > 0 and sum(self.steady, self.cold or 0) > self._limits.budget

    def _failed(self, finished: Finished) -> None:
        if finished.timed_out:
            self.status = "timeout"
            self.problem = f"took longer than {self._limits.timeout:g} s (--timeout)"
        else:
            self.status, self.problem = "failed", processes.failure(finished)

    @abstractmethod
    def _first(self) -> None: ...

    @abstractmethod
    def _again(self) -> None: ...

    @abstractmethod
    def end(self) -> None:
        """Release what the program holds."""


class CommandSubject(Subject):
    """A command: each call is a process of its own."""

    def _first(self) -> None:
        self.cold = self._call()

    def _again(self) -> None:
        wall = self._call()
        if wall is not None:
            self.steady.append(wall)

    def _call(self) -> float | None:
        finished = processes.run(
            self.program.words,
            self._variables,
            self._scratch,
            timeout=self._limits.timeout,
            discard=self.program.name == "cat",
        )
        self.peak = max(self.peak, finished.peak)
        if finished.status != 0:
            self._failed(finished)
            return None
        self.output = finished.output
        self.judge(finished.output)
        return finished.wall

    def end(self) -> None:
        """Nothing is held."""


class LibrarySubject(Subject):
    """A library: all calls in one process, which waits between them."""

    _process: Conversation | None = None

    def _first(self) -> None:
        variables = driver.environment(self._variables)
        self._process = Conversation(self.program.words, variables, self._scratch)
        answer = self._answer(self._process)
        if answer is not None:
            self.cold, self.warm = answer["ended"] - self._process.started, answer["seconds"]

    def _again(self) -> None:
        assert self._process is not None
        try:
            self._process.ask()
        except EndedError:
            self._failed(self._process.end(kill=True))
            return
        answer = self._answer(self._process)
        if answer is not None:
            self.steady.append(answer["seconds"])

    def _answer(self, process: Conversation) -> dict[str, Any] | None:
        try:
            answer = process.answer(self._limits.timeout)
        except EndedError:
            self._failed(process.end())
            return None
        self.judge(answer["values"])
        return answer

    def end(self) -> None:
        """Let the process end; it tells its peak memory then."""
        if self._process is not None:
            self.peak = self._process.end().peak


def subject(
    program: Program, check: Check, limits: Limits, variables: dict[str, str], scratch: Path
) -> Subject:
    """What measures a program."""
    kind = LibrarySubject if program.library else CommandSubject
    return kind(program, check, limits, variables, scratch)


def is_floor(subject: Subject) -> bool:
    """Whether it only reads the file."""
    return subject.program.task == FLOOR
