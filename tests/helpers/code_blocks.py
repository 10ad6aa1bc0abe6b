"""Blocks of code in Markdown pages, and how they are run."""

from __future__ import annotations

import ast
import contextlib
import difflib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
import traceback
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tests.helpers.paths import REPOSITORY

# A block that begins so is a file, which commands below it use.
NAMED = re.compile(r"(?:#|//) (\w+\.\w+)\n")
# Programs that need not be installed.
OPTIONAL = re.compile(r"\b(?:node|rustc)\b")
FENCED = re.compile(r"(?:<!-- output of: (.*?) -->\n)?```(\w+)\n(.*?)```", re.DOTALL)
# What the process of a page begins with.
BEGIN = "import sys; sys.path.append({folder!r}); from {module} import run_page; run_page({page!r})"


class Block(NamedTuple):
    """A block of a kind (`sh`, `python`, ...), and the command that is said to print it."""

    command: str
    kind: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    return [Block(*found) for found in FENCED.findall(page.read_text("utf-8"))]


def sets_up(block: Block) -> bool:
    """Whether a block makes an environment, which the tests have."""
    return "-m venv" in block.text


def shell(command: str, folder: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    """Run commands until one fails, with this environment's programs first on the PATH."""
    return subprocess.run(
        ["sh", "-ec", command],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def python(block: str, folder: Path = REPOSITORY) -> str:
    """Run a program in a process of its own; returns what it prints."""
    found = _started(block, folder)
    assert found.returncode == 0, found.stderr
    return found.stdout


def read(page: Path, folder: Path) -> str:
    """Run the blocks of a page from top to bottom in a folder; returns what goes wrong.

    Python has one process, so that blocks may use names, and files, of those above them.
    """
    begin = BEGIN.format(folder=str(REPOSITORY), module=__name__, page=str(page))
    found = _started(begin, folder)
    return found.stdout if found.returncode == 0 else found.stderr


def _started(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def _environment() -> dict[str, str]:
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("FASTRANK_TREC_EVAL_VERSION", None)
    return environment


def run_page(page: str) -> None:
    """Run its blocks in the working folder, as the main program, and print what goes wrong."""
    names = vars(sys.modules["__main__"])
    del names["sys"], names["run_page"]
    lacking: set[str] = set()
    blocks = [block for block in blocks_of(Path(page)) if not sets_up(block)]
    for block, following in pairwise([*blocks, Block("", "", "")]):
        shown = following.text if following.kind == "text" else None
        problem = ""
        if name := NAMED.match(block.text):
            Path(name[1]).write_text(block.text, "utf-8")
        elif _lacks_a_program(block.command or block.text):
            continue
        elif block.kind == "text":
            problem = _wrong_command(block.command, block.text)
        elif block.kind == "sh" and shown is None:
            problem = _wrong_command(block.text)
        elif block.kind in ("python", "pycon") and not _lacks_a_library(block, lacking):
            if block.kind == "python":
                problem = _wrong_program(block.text, names, shown)
            else:
                problem = _wrong_session(block.text, names)
        if problem:
            print(f"{block.command or block.text.rstrip()}\n{problem}")


def _wrong_command(command: str, shown: str | None = None) -> str:
    """It has to succeed without complaint, and to print what is shown, if anything is."""
    found = subprocess.run(["sh", "-ec", command], capture_output=True, text=True, check=False)
    if found.returncode or found.stderr:
        return f"{found.stderr}exit status {found.returncode}"
    return _difference(shown, found.stdout)


def _wrong_program(block: str, names: dict[str, Any], shown: str | None) -> str:
    """It has to print something: what is shown, if anything is."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(block, "<block>", "exec"), names)
    except Exception:
        return traceback.format_exc()
    return _difference(shown, printed.getvalue()) if printed.getvalue() else "no output"


def _wrong_session(block: str, names: dict[str, Any]) -> str:
    # As doctest marks blank lines of output.
    session = re.sub(r"\n\n(?!>>>|\n|\Z)", "\n<BLANKLINE>\n", block)
    test = doctest.DocTestParser().get_doctest(session, {}, "session", None, 0)
    # A DocTest copies the names that it gets.
    test.globs = names
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=told.append, clear_globs=False)
    return "".join(told)


def _lacks_a_program(command: str) -> bool:
    return any(shutil.which(program) is None for program in OPTIONAL.findall(command))


def _lacks_a_library(block: Block, lacking: set[str]) -> bool:
    """Whether it imports what is not installed, or uses a name of a block that does: of lacking."""
    code = block.text
    if block.kind == "pycon":
        code = "".join(part.source for part in doctest.DocTestParser().get_examples(code))
    nodes = list(ast.walk(ast.parse(code)))
    imported = {
        alias.asname or alias.name: getattr(node, "module", None) or alias.name
        for node in nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound = {*imported, *(name.id for name in names if isinstance(name.ctx, ast.Store))}
    bound |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    if all(find_spec(module.split(".")[0]) for module in imported.values()) and not (
        ({name.id for name in names} - bound) & lacking
    ):
        lacking -= bound
        return False
    lacking |= bound
    return True


def _difference(shown: str | None, printed: str) -> str:
    if shown is None or shown == printed:
        return ""
    return "".join(difflib.unified_diff(shown.splitlines(True), printed.splitlines(True)))
