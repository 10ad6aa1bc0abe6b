"""How much there is to read, and how much a call does: code, files, modules, and Python calls."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import fastrank
from bench import code_counts
from bench.errors import NotFoundError

PACKAGE = Path(fastrank.__file__).parent
# Calls until what is made once is made.
WARM = 100
COMMAND = ["-m", "map", "data/digits.qrels", "data/pixels.run"]
QRELS, RUN = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0, "c": 0.5}}
COUNT_MODULES = """
import sys
from fastrank.cli.trec_eval import main
main()
print(sum(name.split(".")[0] == "fastrank" for name in sys.modules), file=sys.stderr)
"""
COUNT_COMMAND = """
import sys
from bench.figures import counted_calls
from fastrank.cli.trec_eval import main
with counted_calls() as calls:
    main()
print(len(calls), file=sys.stderr)
"""


def figures() -> dict[str, int]:
    """Each figure by what it counts. Raises NotFoundError outside of a checkout."""
    if not Path(COMMAND[-1]).exists():
        raise NotFoundError(f"no file {COMMAND[-1]}: run this in the root of the repository")
    files = sorted(PACKAGE.rglob("*.py"))
    core = sorted((PACKAGE / "core").rglob("*.py"))
    return {
        "entries of fastrank/ in git": len(_entries()),
        "lines of fastrank": code_counts.lines(files),
        "files of fastrank": len(files),
        "tokens of fastrank without comments and docstrings": code_counts.tokens(files),
        "lines of the core": code_counts.lines(core),
        "files of the core": len(core),
        "modules of the largest circle of imports in the core": len(
            code_counts.largest_circle(core, PACKAGE)
        ),
        "functions that take judgments, measures and options": code_counts.functions_of_three(
            files
        ),
        "classes that keep judgments, measures and options": code_counts.classes_of_three(files),
        "parameters and locals with a name that does not tell": code_counts.vague_bindings(files),
        "Any in annotations": code_counts.anys(files),
        "modules of fastrank imported by trec_eval -m map": _printed(COUNT_MODULES),
        "Python calls of trec_eval -m map, after imports": _printed(COUNT_COMMAND),
        "Python calls for evaluate(file, file, 'map'), warm": len(_calls(_evaluate_files)),
        "Python calls for evaluate(dict, dict, 'map'), warm": len(_calls(_evaluate_dicts)),
        "objects for evaluate(dict, dict, 'map'), warm": _constructed(_evaluate_dicts),
    }


def text() -> str:
    """A line for each figure. Raises NotFoundError outside of a checkout."""
    return "\n".join(f"{count:>8,} {what}" for what, count in figures().items())


def _entries() -> list[str]:
    """The files and folders of the package that git knows."""
    listed = subprocess.run(
        ["git", "ls-tree", "--name-only", "HEAD", f"{PACKAGE}/"],
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.splitlines()


def _printed(program: str) -> int:
    """The number that a program prints to standard error."""
    code = [sys.executable, "-c", program, *COMMAND]
    return int(subprocess.run(code, capture_output=True, text=True, check=True).stderr)


def _evaluate_files() -> Any:
    return fastrank.evaluate(*COMMAND[2:], "map")


def _evaluate_dicts() -> Any:
    return fastrank.evaluate(QRELS, RUN, "map")


@contextmanager
def counted_calls() -> Iterator[list[FrameType]]:
    """The frames of calls of our Python functions within the block."""
    frames: list[FrameType] = []
    folder = str(PACKAGE)

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(folder):
            frames.append(frame)

    sys.setprofile(note)
    try:
        yield frames
    finally:
        sys.setprofile(None)


def _calls(function: Callable[[], Any]) -> list[FrameType]:
    """The calls of our functions when the function has been called often before."""
    for _ in range(WARM):
        function()
    with counted_calls() as frames:
        function()
    return frames


def _constructed(function: Callable[[], Any]) -> int:
    """How many objects of our classes with an `__init__` are made."""
    frames = _calls(function)
    made = {
        id(frame.f_locals["self"])
        for frame in frames
        if frame.f_code.co_name == "__init__" and "self" in frame.f_locals
    }
    return len(made)
