"""Which programs are measured on a case, and which of them are not there.

Commands are listed here, libraries in `libraries.py`.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench import commands
from bench.driver import Job
from bench.errors import BenchError
from bench.libraries import EVALUATE, LIBRARIES, Library
from bench.libraries import tasks as library_tasks
from bench.manifest import Stored
from bench.tasks import COMMANDS, FLOOR, MEASURES, MEMORY, START, TASKS
from fastrank.common.arguments import DEFAULT_VERSION

ORIGINAL, STAND_IN = "trec_eval", "pytrec_eval"
ONE_THREAD, TWO_THREADS = "fastrank, 1 thread", "fastrank, 2 threads"
OWN_TREC_EVAL, JIT = "fastrank's trec_eval", "fastrank's JIT engine"
WC, PASS = "wc -l", "python -c pass"
# Our commands: the tasks, the words, and the variables that make the difference.
OURS = {
    ONE_THREAD: (EVALUATE, ["trec_eval"], {"FASTRANK_THREADS": "1"}),
    TWO_THREADS: (EVALUATE, ["trec_eval"], {"FASTRANK_THREADS": "2"}),
    OWN_TREC_EVAL: ((START, *COMMANDS), ["trec_eval"], {}),
    "fastrank trec_eval": ((START,), ["fastrank", "trec_eval"], {}),
    JIT: ((START,), ["trec_eval"], {"FASTRANK_ENGINE": "jit"}),
}
# What only reads the run, or does nothing.
FLOORS = ("cat", WC)
# Those that can be left out. The JIT engine takes half a minute when it compiles.
PEERS = (ORIGINAL, JIT, *(name for name, library in LIBRARIES.items() if library.distributions))
# trec_eval looks every query up in a list: beyond so many queries it takes minutes.
MOST_QUERIES = 50_000


@dataclass(frozen=True)
class Program:
    """One thing to measure on one case: a command, or calls of a library in a driver.

    words: of a command, or Python's arguments for a library. hindered: why it cannot be measured,
    if so, and `status` then says in a word what that is.
    """

    name: str
    task: str
    words: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    version: str = ""
    package: Library | None = None
    status: str = "ok"
    hindered: str = ""

    @property
    def command(self) -> list[str]:
        """What makes one call, in a process of its own."""
        return [sys.executable, *self.words] if self.package else self.words


@dataclass(frozen=True)
class Setup:
    """What the user chose, and what was found for it."""

    trec_eval_version: str
    peers: tuple[str, ...]
    original: tuple[str, str] | None
    engine: str

    @property
    def variables(self) -> dict[str, str]:
        """Those that choose the version, if that is not the default."""
        version = self.trec_eval_version
        return {} if version == DEFAULT_VERSION else {"FASTRANK_TREC_EVAL_VERSION": version}

    @property
    def comparable(self) -> bool:
        """Whether the original computes the numbers of this version, to the last byte."""
        level = f"trec_eval version {self.trec_eval_version.partition('.')[0]}."
        return self.original is not None and self.original[1].startswith(level)


def set_up(trec_eval_version: str, peers: list[str] | None, path: Path | None) -> Setup:
    """Find the programs; raises BenchError for names of peers that do not exist."""
    for name in peers or ():
        if name not in PEERS:
            raise BenchError(f"no peer {name!r}: there are {', '.join(PEERS)}")
    told = subprocess.run(
        [commands.ours("fastrank"), "--version"], capture_output=True, text=True, check=False
    )
    chosen = PEERS if peers is None else tuple(peers)
    original = commands.find_peer(path) if ORIGINAL in chosen else None
    engine = told.stdout.partition("\n")[0].removeprefix("fastrank ")
    return Setup(trec_eval_version, chosen, original, engine)


def chosen_tasks(names: list[str] | None) -> list[str]:
    """The named tasks, or all, in their order."""
    for name in names or ():
        if name not in TASKS:
            raise BenchError(f"no task {name!r}: there are {', '.join(TASKS)}")
    return [task for task in TASKS if not names or task in names]


def programs(stored: Stored, tasks: list[str], setup: Setup, answers: Path) -> Iterator[Program]:
    """Everything to measure on a case. Libraries write what they found to the file `answers`."""
    wanted = [task for task in stored.case.tasks if task in tasks]
    files = [str(stored.qrels), str(stored.run)]
    for task in wanted:
        # Commands read files: what is in memory is left to the libraries.
        measures = MEASURES.get(task, "") if task not in MEMORY else ""
        arguments = [*COMMANDS.get(task, [] if task == START else ["-m", measures]), *files]
        for name, (own, (command, *more), variables) in OURS.items():
            if task in own and (name not in PEERS or name in setup.peers):
                words = [commands.ours(command), *more, *arguments]
                # A variable of ours makes the executable start Python.
                chosen = {**setup.variables, **variables}
                version = "" if name == JIT else setup.engine
                yield Program(name, task, words, chosen, version)
        if measures and ORIGINAL in setup.peers:
            yield _original(Program(ORIGINAL, task), arguments, stored, setup)
    if START in wanted:
        yield Program(PASS, FLOOR, [sys.executable, "-c", "pass"])
    floors = [] if wanted == [START] else [FLOOR]
    for task in wanted + floors:
        job = Job(*files, task, setup.trec_eval_version, str(answers))
        for name, library in LIBRARIES.items():
            if task in library_tasks(name) and (not library.distributions or name in setup.peers):
                yield _library(Program(name, task, job.words(name), package=library), setup)
    for name in FLOORS if floors else ():
        command, *options = name.split()
        program = Program(name, FLOOR, [shutil.which(command) or "", *options, files[1]])
        if not program.words[0]:
            program = replace(program, status="absent", hindered=f"no {command} on the PATH")
        yield program


def _original(program: Program, arguments: list[str], stored: Stored, setup: Setup) -> Program:
    if setup.original is None:
        reason = "no trec_eval on the PATH; --peer names one"
        return replace(program, status="absent", hindered=reason)
    path, version = setup.original
    queries = stored.manifest.queries
    if queries > MOST_QUERIES:
        reason = f"its time grows with the square of the queries, and these are {queries}"
        return replace(program, version=version, status="skipped", hindered=reason)
    return replace(program, version=version, words=[path, *arguments])


def _library(program: Program, setup: Setup) -> Program:
    """With its version, or why it cannot be measured."""
    assert program.package is not None
    distributions = program.package.distributions
    if not distributions:
        return replace(program, version="" if program.task == FLOOR else setup.engine)
    if importlib.util.find_spec(program.package.module) is None:
        reason = f"not installed: pip install {distributions[0]}"
        return replace(program, status="absent", hindered=reason)
    if program.name.startswith("fastrank"):
        return replace(program, version=setup.engine)
    return replace(program, version=next(filter(None, map(commands.version, distributions)), ""))
