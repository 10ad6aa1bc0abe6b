"""Blocks of code in Markdown pages, and how they are run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.helpers import warm
from tests.helpers.paths import REPOSITORY

FENCED = re.compile(r"(?:<!-- output of: (.*?) -->\n)?```(\w+)\n(.*?)```", re.DOTALL)


class Block(NamedTuple):
    """A block of a kind (`sh`, `python`, ...), and the command that is said to print it."""

    command: str
    kind: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    return [Block(*found) for found in FENCED.findall(page.read_text("utf-8"))]


def shell(command: str, folder: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    """Run commands until one fails, with this environment's programs first on the PATH."""
    path = os.pathsep.join(map(str, [warm.folder(), Path(sys.executable).parent]))
    environment = {**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("FASTRANK_TREC_EVAL_VERSION", None)
    return subprocess.run(
        ["sh", "-ec", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def python(block: str, folder: Path = REPOSITORY) -> str:
    """Run a program in a process of its own; returns what it prints."""
    found = warm.started("python", "-c", block, cwd=folder, capture_output=True)
    assert found.returncode == 0, found.stderr
    return found.stdout
