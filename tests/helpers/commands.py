"""Commands that run in this process or in their own, and what they left behind."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from fastrank.cli.main import main, parser_of
from tests.helpers.paths import DATA, REPOSITORY
from tests.helpers.tables import matches

QRELS, PIXELS, PCA, PROFILE = "digits.qrels", "pixels.run", "pca.run", "profile.run"
RUNS = f"{PIXELS} {PCA} {PROFILE}"
FILES = f"{QRELS} {RUNS}"


class Result(NamedTuple):
    """What a command left behind."""

    status: int
    stdout: bytes
    stderr: str


Command = Callable[..., Result]


class Done(NamedTuple):
    """What a command left behind: its exit status, and what it printed."""

    status: int
    out: str
    err: str


def fastrank(line: str, *more: object) -> Done:
    """Run `fastrank LINE MORE...` in this process; the line is split as a shell splits it."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        try:
            status: Any = main([*shlex.split(line), *map(str, more)])
        except SystemExit as end:
            status = end.code
        for stream in streams:
            stream.flush()
    out, err = (os.fsdecode(stream.buffer.getvalue()) for stream in streams)  # type: ignore[attr-defined]
    return Done(status, out, err)


def printed(line: str, *more: object) -> str:
    """What a command prints that succeeds without a word on standard error."""
    found = fastrank(line, *more)
    assert (found.status, found.err) == (0, "")
    return found.out


def assert_refused(line: str, expected: str) -> None:
    """A command prints nothing, and ends with a status and a message: `2 what is wrong`.

    The name of the command, which begins the message, is left out; ... stands for any text.
    """
    found = fastrank(line)
    status, _, message = expected.partition(" ")
    assert (found.status, found.out) == (int(status), "")
    name = re.match(r"(gate )?\S*", line)
    told = found.err.removeprefix(f"fastrank {name and name[0]}: ")
    assert matches(told, message), f"{told}\nis not {message}"
    assert "Traceback" not in found.err


def words_of(line: str, *more: object) -> list[str]:
    """The command line of a process of its own."""
    return [sys.executable, "-m", "fastrank", *shlex.split(line), *map(str, more)]


def process(line: str, *more: object, **options: Any) -> Done:
    """Run `fastrank LINE MORE...` in a process of its own."""
    path = os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])])
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    options["env"] = {**os.environ, "PYTHONPATH": path, **options.get("env", {})}
    found = subprocess.run(words_of(line, *more), text=True, check=False, **options)
    return Done(found.returncode, found.stdout, found.stderr)


def flags_of(command: str) -> set[str]:
    """The flags of a command and of its steps."""
    parser = parser_of(command)
    steps: Any = parser.steps.choices.values() if parser.steps else ()
    return {flag for one in (parser, *steps) for flag in one.flags()}


def link_data(folder: Path) -> None:
    """Put the judgments and runs of data/ into a folder."""
    for name in (QRELS, PIXELS, PCA, PROFILE):
        (folder / name).symlink_to(DATA / name)


def write(files: dict[str, str | bytes]) -> None:
    """Write files to the working folder."""
    for name, content in files.items():
        Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
