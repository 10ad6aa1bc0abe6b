"""How many processes a build starts: no more than a container has processors and memory for."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastrank.core.native.compiling import worker
from fastrank.core.native.compiling.worker import count_processes

GIB = 1 << 30


@pytest.fixture(autouse=True)
def six_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "processors", lambda: 6)


def _count(folder: Path, available: int = 64 * GIB, **limits: str) -> int:
    for name, text in limits.items():
        (folder / name.replace("_", ".")).write_text(f"{text}\n")
    meminfo = folder / "meminfo"
    meminfo.write_text(f"MemTotal: 1 kB\nMemAvailable:   {available >> 10} kB\n")
    return count_processes(str(folder), str(meminfo))


@pytest.mark.parametrize(
    ("limits", "count"),
    [
        ({}, 6),
        ({"cpu_max": "max 100000", "memory_max": "max"}, 6),
        ({"cpu_max": "250000 100000"}, 2),
        ({"cpu_max": "50000 100000"}, 1),
        ({"memory_max": str(2 * GIB), "memory_current": str(GIB)}, 2),
        ({"memory_max": str(GIB // 4)}, 1),
    ],
    ids=["no container", "no limits", "processors", "half a processor", "memory", "little memory"],
)
def test_limits_of_a_container_count(limits, count, tmp_path):
    assert _count(tmp_path, **limits) == count


def test_available_memory_counts(tmp_path):
    assert _count(tmp_path, available=3 * GIB // 2) == 3


def test_a_system_without_these_files_has_only_processors(tmp_path):
    missing = str(tmp_path / "missing")

    assert count_processes(missing, missing) == 6


def test_there_are_eight_at_most(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "processors", lambda: 64)

    assert _count(tmp_path) == 8
