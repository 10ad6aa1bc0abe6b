"""The executable `trec_eval`, as a build makes it, and what it answers where there is no Python."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.commands import Result
from tests.helpers.paths import TESTS

# The exit status of what is left to Python.
LEFT = 127
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")


@pytest.fixture(scope="session")
def executable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Alone in a folder. It ends with SIGSEGV if it touches what is behind its memory."""
    program = pytest.importorskip("fastrank.cli.native.program")
    guard = str(TESTS / "helpers" / "guarded_memory.c")
    guarded = guard, "-Wl,--wrap=calloc", "-DSTATIC_BYTES=0"
    folder = str(tmp_path_factory.mktemp("bin"))
    strict = "-Wall", "-Wextra", "-Werror"
    return Path(program.link_program(program.compile_needed(), folder, *strict, *guarded))


def alone(executable: Path, *arguments: str, folder: Path) -> Result:
    """What it does with files of a folder, without any Python or environment."""
    done = subprocess.run(
        [executable, *arguments],
        cwd=folder,
        env={"PATH": os.devnull},
        capture_output=True,
        check=False,
    )
    return Result(done.returncode, done.stdout, os.fsdecode(done.stderr))
