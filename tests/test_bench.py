"""The benchmarks of kernels and functions compute the right values."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
COMMANDS = Path(sys.executable).parent


def run(*words: str, path: Path | str = COMMANDS) -> subprocess.CompletedProcess[str]:
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


def test_the_timed_kernels_and_functions_compute_the_right_values() -> None:
    done = run("-m", "pytest", "bench", "--benchmark-disable", "-q", "-p", "no:cacheprovider")

    assert done.returncode == 0, done.stdout + done.stderr
    # 4 kernels; reading, official and all_trec for each of 9 cases; 17 for arrays and labels; 12
    # for dicts; 4 for embeddings. Where they are installed, ranx has 6 more, BEIR and
    # sentence-transformers one each.
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert 64 <= int(passed[1]) <= 72
