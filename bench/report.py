"""Measurements as text for people and as JSON lines for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

Facts = dict[str, Any]


def aligned(lines: Sequence[Sequence[str]], left: int) -> str:
    """Cells in aligned columns, the first `left` of them by their left edge."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def machine_lines(machine: Facts) -> list[str]:
    """What figures depend on."""
    return [
        f"machine: {machine['cpu']}, {machine['cores']} cores, {machine['system']}, load"
        f" {machine['load']} before",
        f"versions: {machine['python']}, fastrank {machine['fastrank']}, numpy"
        f" {machine['numpy']}, numba {machine['numba']}",
    ]


def json_lines(benchmark: str, rows: Iterable[Facts]) -> str:
    """One object for each row."""
    return "".join(json.dumps({"benchmark": benchmark, **row}) + "\n" for row in rows)
