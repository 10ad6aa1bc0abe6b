"""What a measurement was taken on: processor, operating system, versions."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

NOT_INSTALLED = "not installed"
PACKAGES = {"fastrank": "fastrank-eval", "numpy": "numpy", "numba": "numba"}


def describe() -> dict[str, str | int | float]:
    """The facts that figures depend on. `load` is the 1-minute load average before measuring."""
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name: version(package) for name, package in PACKAGES.items()},
    }


def cpu_model() -> str:
    """The processor's name as the operating system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def version(package: str) -> str:
    """The version of an installed distribution."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return NOT_INSTALLED
