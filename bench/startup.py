"""The wall time of one call of a command on small files."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

from bench import inputs, oracle, processes
from bench.commands import Command, find_peer, ours
from bench.errors import NotFoundError
from bench.inputs import Case
from bench.oracle import Check
from bench.processes import Finished

FLOOR = "python -c pass"
TREC_EVAL = "trec_eval"
PEER = "peer"
# What a call of `trec_eval` may cost, as a multiple of starting Python and doing nothing.
TARGET = 2.0
# The JIT engine takes about a hundred times as long, and its figure is for orientation only.
JIT_RUNS = 5


@dataclass(frozen=True)
class Row:
    """What was measured of one command on one case.

    Times are in milliseconds; `wall` and `cpu` are medians, `best` the shortest wall time.
    `ratio` is the wall time over that of the floor, None when the answer was wrong; `problem`
    says what was wrong with it. `engine` is a version of fastrank's or the peer's.
    """

    case: str
    command: str
    engine: str
    runs: int
    wall: float
    best: float
    cpu: float
    ratio: float | None
    correct: bool
    problem: str


@dataclass(frozen=True)
class _Call:
    """One command on one case, and how to tell whether its answer is right."""

    case: str
    command: Command
    files: list[str]
    check: Check | None
    engine: str
    runs: int


def measure(
    *, runs: int, peer: Path | None, compat: str, suite: Path | None, jit: bool
) -> list[Row]:
    """Measure all commands on all cases, in rounds: each round calls every command once.

    The order within a round is shuffled, so that no command always follows the same other one.
    """
    with tempfile.TemporaryDirectory(prefix="fastrank-bench-") as name:
        folder = Path(name)
        bench = _Bench(folder, compat, find_peer(peer))
        cases = [inputs.small(folder)]
        if suite is not None:
            cases.append(_suite_case(suite))
        return bench.measure(cases, runs, jit)


def _suite_case(folder: Path) -> Case:
    case = Case("suite", folder / "qrels.test", folder / "results.test")
    for path in (case.qrels, case.run):
        if not path.is_file():
            raise NotFoundError(f"no file {path.name} in {folder}")
    return case


class _Bench:
    """The state of a measurement: scratch files, environment, and the peer if there is one."""

    def __init__(self, folder: Path, compat: str, peer: tuple[str, str] | None) -> None:
        self._folder = folder
        self._environment = processes.environment(folder / "bytecode")
        self._compat = compat
        self._peer = peer

    def measure(self, cases: list[Case], runs: int, jit: bool) -> list[Row]:
        calls = [_Call("", Command(FLOOR, [sys.executable, "-c", "pass"]), [], None, "", runs)]
        commands = self._commands(runs, jit)
        for case in cases:
            check = self._oracle(case)
            files = [str(case.qrels), str(case.run)]
            for command, engine, times in commands:
                calls.append(_Call(case.name, command, files, check, engine, times))
        problems = [self._warm_up(call) for call in calls]
        timed: list[list[Finished]] = [[] for _ in calls]
        order, random = list(range(len(calls))), Random(inputs.SEED)
        for done in range(runs):
            random.shuffle(order)
            for i in order:
                if done < calls[i].runs:
                    timed[i].append(self._run(calls[i].command, calls[i].files))
        for i, call in enumerate(calls):
            wrong = (_problem(call, finished, per_query=False) for finished in timed[i])
            problems[i] = problems[i] or next(filter(None, wrong), "")
        floor = median(finished.wall for finished in timed[0])
        return [
            _row(call, finished, floor, problem)
            for call, finished, problem in zip(calls, timed, problems, strict=True)
        ]

    def _commands(self, runs: int, jit: bool) -> list[tuple[Command, str, int]]:
        """What to call on every case, each with the engine that computes and how often."""
        own = {"FASTRANK_COMPAT": self._compat}
        engine = self._engine({})
        commands = [
            (Command(TREC_EVAL, [ours("trec_eval")], own), engine, runs),
            (Command("fastrank trec_eval", [ours("fastrank"), "trec_eval"], own), engine, runs),
        ]
        if jit:
            chosen = {"FASTRANK_ENGINE": "jit"}
            command = Command("trec_eval, JIT engine", [ours("trec_eval")], {**own, **chosen})
            commands.append((command, self._engine(chosen), min(runs, JIT_RUNS)))
        if self._peer is not None:
            path, version = self._peer
            commands.append((Command(PEER, [path]), version, runs))
        return commands

    def _engine(self, variables: dict[str, str]) -> str:
        """What `fastrank --version` says runs the kernels."""
        finished = self._run(Command("", [ours("fastrank"), "--version"], variables), [])
        return finished.output.decode("utf-8", "replace").partition("engine: ")[2].strip()

    def _oracle(self, case: Case) -> Check:
        if self._peer is None:
            return oracle.same_map(case)
        command, files = Command(PEER, [self._peer[0]]), [str(case.qrels), str(case.run)]
        finished = [self._run(command, files), self._run(command, ["-q", *files])]
        for answer in finished:
            if answer.status != 0:
                raise NotFoundError(
                    f"the peer fails on case {case.name}: {processes.failure(answer)}"
                )
        return oracle.same_bytes(*(answer.output for answer in finished))

    def _warm_up(self, call: _Call) -> str:
        """Fill caches (files, bytecode, compiled kernels); check the values per query."""
        self._run(call.command, call.files)
        if call.check is None:
            return ""
        return _problem(call, self._run(call.command, ["-q", *call.files]), per_query=True)

    def _run(self, command: Command, files: list[str]) -> Finished:
        environment = {**self._environment, **command.variables}
        return processes.run([*command.words, *files], environment, self._folder)


def _problem(call: _Call, finished: Finished, *, per_query: bool) -> str:
    """What is wrong with an answer; empty if nothing is."""
    if finished.status != 0:
        return processes.failure(finished)
    return call.check(finished.output, per_query) if call.check is not None else ""


def _row(call: _Call, finished: list[Finished], floor: float, problem: str) -> Row:
    wall = median(each.wall for each in finished)
    return Row(
        case=call.case,
        command=call.command.name,
        engine=call.engine,
        runs=len(finished),
        wall=round(1000 * wall, 3),
        best=round(1000 * min(each.wall for each in finished), 3),
        cpu=round(1000 * median(each.cpu for each in finished), 3),
        ratio=None if problem else round(wall / floor, 3),
        correct=not problem,
        problem=problem,
    )
