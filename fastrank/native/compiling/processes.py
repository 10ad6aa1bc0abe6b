"""How many processes a build starts."""

from __future__ import annotations

import os

from fastrank.native.threads import processors

_MOST = 8
# What one process needs for numba, LLVM, and the largest kernel.
_MEMORY = 512 << 20


def count_processes(cgroup: str = "/sys/fs/cgroup", meminfo: str = "/proc/meminfo") -> int:
    """As many as there are processors and memory for, within a container's limits; 8 at most.

    cgroup: the folder of the control group (version 2) of this process, if it has limits.
    meminfo: the file of the system that says how much memory is available.
    """
    counts = [processors(), _MOST]
    quota, _, period = _read(cgroup, "cpu.max").partition(" ")
    if quota.isdigit():
        counts.append(int(quota) // int(period))
    limit = _read(cgroup, "memory.max").strip()
    if limit.isdigit():
        used = int(_read(cgroup, "memory.current") or 0)
        counts.append((int(limit) - used) // _MEMORY)
    for line in _read("", meminfo).splitlines():
        if line.startswith("MemAvailable:"):
            counts.append((int(line.split()[1]) << 10) // _MEMORY)
    return max(1, min(counts))


def _read(folder: str, name: str) -> str:
    """The content of a file, empty where the system has no such file."""
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read()
    except OSError:
        return ""
