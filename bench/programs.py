"""Which programs are measured at which task, and which of them are not there."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench import commands, libraries, machine
from bench.driver import Job
from bench.errors import BenchError
from bench.manifest import Stored

FLOOR, READ = "floor", "read"
MEASURES = {"evaluate official": "official", "evaluate all_trec": "all_trec"}
TASKS = (*MEASURES, READ, FLOOR)

PREAD, WC = "pread", "wc -l"
ORIGINAL, STAND_IN = "trec_eval", "pytrec_eval"
ONE_THREAD, TWO_THREADS = "fastrank, 1 thread", "fastrank, 2 threads"
READ_RUN = "fastrank.read_run"
# Each with the distributions it may come from.
EVALUATORS = {
    STAND_IN: ("pytrec_eval-terrier", "pytrec_eval"),
    "ir_measures": ("ir_measures",),
    "ranx": ("ranx",),
}
READERS = {name: (name,) for name in ("pandas", "polars", "pyarrow")}
PEERS = (ORIGINAL, *EVALUATORS, *READERS)
# Those that do not compute every measure.
PARTIAL = ("ir_measures", "ranx")
# trec_eval looks every query up in a list: beyond so many queries it takes minutes.
MOST_QUERIES = 50_000


@dataclass(frozen=True)
class Program:
    """One thing to measure on one case: a command, or calls of a library in a driver.

    hindered: why it cannot be measured, if so, and `status` then says in a word what that is.
    """

    name: str
    task: str
    words: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    version: str = ""
    library: bool = False
    partial: bool = False
    status: str = ""
    hindered: str = ""


@dataclass(frozen=True)
class Setup:
    """What the user chose, and what was found for it."""

    compat: str
    peers: tuple[str, ...]
    original: tuple[str, str] | None
    engine: str

    @property
    def comparable(self) -> bool:
        """Whether the original computes the numbers of this compat level, to the last byte."""
        level = f"trec_eval version {self.compat.partition('.')[0]}."
        return self.original is not None and self.original[1].startswith(level)


def set_up(compat: str, peers: list[str] | None, path: Path | None) -> Setup:
    """Find the programs; raises BenchError for names of peers that do not exist."""
    for name in peers or ():
        if name not in PEERS:
            raise BenchError(f"no peer {name!r}: there are {', '.join(PEERS)}")
    told = subprocess.run(
        [commands.ours("fastrank"), "--version"], capture_output=True, text=True, check=False
    )
    chosen = PEERS if peers is None else tuple(peers)
    original = commands.find_peer(path) if ORIGINAL in chosen else None
    return Setup(compat, chosen, original, told.stdout.strip().removeprefix("fastrank "))


def chosen_tasks(names: list[str] | None) -> list[str]:
    """The named tasks, or all, in their order."""
    for name in names or ():
        if name not in TASKS:
            raise BenchError(f"no task {name!r}: there are {', '.join(TASKS)}")
    return [task for task in TASKS if not names or task in names]


def programs(task: str, stored: Stored, setup: Setup) -> list[Program]:
    """Everything to measure at a task on a case."""
    job = Job(str(stored.qrels), str(stored.run), MEASURES.get(task, ""), setup.compat)
    if task == FLOOR:
        return _floors(job)
    if task == READ:
        ours = Program(READ_RUN, READ, job.words(READ_RUN), version=setup.engine)
        return [replace(ours, library=True), *_libraries(task, READERS, job, setup)]
    arguments = ["-m", job.measures, job.qrels, job.run]
    words = [commands.ours("trec_eval"), *arguments]
    level = {"FASTRANK_COMPAT": setup.compat}
    found = [
        Program(name, task, words, {**level, "FASTRANK_THREADS": threads}, setup.engine)
        for name, threads in ((ONE_THREAD, "1"), (TWO_THREADS, "2"))
    ]
    for name in libraries.FASTRANK:
        found.append(Program(name, task, job.words(name), version=setup.engine, library=True))
    if ORIGINAL in setup.peers:
        found.append(_original(task, arguments, stored, setup))
    return found + _libraries(task, EVALUATORS, job, setup)


def _floors(job: Job) -> list[Program]:
    found = []
    for name in ("cat", WC):
        command, *options = name.split()
        path = shutil.which(command)
        program = Program(name, FLOOR, [os.fspath(path or command), *options, job.run])
        if path is None:
            program = replace(program, status="absent", hindered=f"no {command} on the PATH")
        found.append(program)
    return [*found, Program(PREAD, FLOOR, job.words(PREAD), library=True)]


def _original(task: str, arguments: list[str], stored: Stored, setup: Setup) -> Program:
    if setup.original is None:
        reason = "no trec_eval on the PATH; --peer names one"
        return Program(ORIGINAL, task, status="absent", hindered=reason)
    path, version = setup.original
    program = Program(ORIGINAL, task, [path, *arguments], version=version)
    queries = stored.manifest.queries
    if queries > MOST_QUERIES:
        reason = f"its time grows with the square of the queries, and these are {queries}"
        return replace(program, status="skipped", hindered=reason)
    return program


def _libraries(
    task: str, known: Mapping[str, tuple[str, ...]], job: Job, setup: Setup
) -> list[Program]:
    found = []
    for name, distributions in known.items():
        if name not in setup.peers:
            continue
        if importlib.util.find_spec(name) is None:
            reason = f"not installed: pip install {distributions[0]}"
            found.append(Program(name, task, status="absent", hindered=reason))
            continue
        versions = (machine.version(distribution) for distribution in distributions)
        version = next((each for each in versions if each != machine.NOT_INSTALLED), "")
        found.append(
            Program(
                name, task, job.words(name), version=version, library=True, partial=name in PARTIAL
            )
        )
    return found
