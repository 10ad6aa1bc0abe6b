"""The programs to measure: where they are, and which `trec_eval` is whose."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from bench.errors import NotFoundError


def ours(name: str) -> str:
    """The path of a command that fastrank installed for this interpreter."""
    path = Path(sys.executable).parent / name
    if not path.exists():
        raise NotFoundError(f"no command {name!r} beside this Python: pip install -e '.[test]'")
    return os.fspath(path)


def find_peer(given: Path | None) -> tuple[str, str] | None:
    """Path and version of the original trec_eval: the given one, or one on the PATH."""
    if given is not None:
        path = os.fspath(given.absolute())
        told = _version(path)
        if not told:
            raise NotFoundError(f"{given} does not tell its version: not a trec_eval to run")
        if "fastrank" in told:
            raise NotFoundError(f"{given} is fastrank's own trec_eval, not a peer")
        return path, told
    for folder in os.get_exec_path():
        path = os.path.join(os.path.abspath(folder), "trec_eval")
        told = _version(path) if os.access(path, os.X_OK) else ""
        if told and "fastrank" not in told:
            return path, told
    return None


def _version(path: str) -> str:
    """The line with which a trec_eval tells its version, "" if it does not; ours names fastrank."""
    try:
        told = subprocess.run([path, "-v"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    text = (told.stdout + told.stderr).decode("utf-8", "replace")
    line = next(iter(text.splitlines()), "")
    return line if line.startswith("trec_eval version") else ""


def version(package: str) -> str:
    """The version of an installed distribution, "" where there is none."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
