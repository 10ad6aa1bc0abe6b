"""The benchmarks as commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.helpers.paths import REPOSITORY

COMMANDS = Path(sys.executable).parent


def run(*words: str, path: Path = COMMANDS) -> subprocess.CompletedProcess[str]:
    """Run `python WORDS` in the repository, with `path` as the only folder of programs."""
    unwanted = ("NUMBA_DISABLE_JIT", "FASTRANK_ENGINE")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    return subprocess.run(
        [sys.executable, *words],
        cwd=REPOSITORY,
        env={**environment, "PATH": str(path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
