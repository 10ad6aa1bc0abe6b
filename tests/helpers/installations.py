"""Installations of fastrank: copies of it, Python in them, and what tests need of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from tests.helpers.paths import PACKAGE, REPOSITORY

needs_checkout = pytest.mark.skipif(
    PACKAGE.parent != REPOSITORY, reason="the sources of the package are not in this folder"
)
# Without the folder of an installed fastrank, there is no numba, if both are in one.
needs_numba_elsewhere = pytest.mark.skipif(
    Path(numba.__file__).parents[1] == PACKAGE.parent,
    reason="numba and fastrank are installed in one folder",
)

# Other installations would lend their library: all go but the working folder and $SITE.
ALONE = (
    "import os, sys\n"
    "kept = ('', os.environ.get('SITE'))\n"
    "others = [entry for entry in sys.path if os.path.isdir(os.path.join(entry, 'fastrank'))]\n"
    "sys.path = [entry for entry in sys.path if entry in kept or entry not in others]\n"
)
# What chooses an engine.
SETTINGS = ("FASTRANK_ENGINE", "FASTRANK_BUILD_LEVELS", "NUMBA_DISABLE_JIT")


def copy_package(folder: Path, *, libraries: bool = False) -> Path:
    """A copy of the package in a folder."""
    ignored = shutil.ignore_patterns("__pycache__", *([] if libraries else ["*.so"]))
    return Path(shutil.copytree(PACKAGE, folder / "fastrank", ignore=ignored))


def try_python(code: str, folder: Path | None = None, **environment: str) -> tuple[int, str, str]:
    """The exit status, standard output and standard error of code, without an engine chosen."""
    clean = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.strip(), done.stderr


def run_python(code: str, folder: Path | None = None, **environment: str) -> str:
    """What code prints that does not fail."""
    status, shown, complaint = try_python(code, folder, **environment)
    assert status == 0, complaint
    return shown
