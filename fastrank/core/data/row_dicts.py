"""Columns of numbers as Python's dicts, one for each row."""

from __future__ import annotations

from array import array
from itertools import repeat

from fastrank.core.native import kernels
from fastrank.core.native.buffers import address
from fastrank.core.native.objects import addresses, api_with_numpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Numbers up to which dicts are made of them sooner without a kernel.
_FEW = 64


def rows_as_dicts(columns: dict[str, tuple[Any, int, int]], count: int) -> list[dict[str, float]]:
    """`count` dicts from the names of columns to numbers.

    columns: the memory of its doubles, the index of the first and the step from one to the next,
    which may be 0.
    """
    api = api_with_numpy() if count * len(columns) > _FEW else None
    if api is None:
        return [
            {name: values[first + i * step] for name, (values, first, step) in columns.items()}
            for i in range(count)
        ]
    rows: list[dict[str, float]] = list(map(dict.copy, repeat(dict.fromkeys(columns, 0.0), count)))
    starts = array("q", [address(values) + 8 * first for values, first, _ in columns.values()])
    steps = array("q", [8 * step for _, _, step in columns.values()])
    kernels.fill_dicts(api, addresses(rows), addresses(columns), starts, steps)
    return rows
