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

# Numbers up to which dicts are made of them sooner without a kernel, where that is not prepared
# and where it is.
_FEW, _FEW_PREPARED = 64, 16


class RowDicts:
    """Makes dicts from the names of columns to numbers.

    columns: the memory of its doubles, the index of the first and the step from one to the next,
    which may be 0.
    """

    def __init__(self, columns: dict[str, tuple[Any, int, int]]) -> None:
        self._columns, self._few = columns, _FEW
        # Arguments of the kernel: names, where numbers begin, and the steps between them.
        self._prepared: tuple[array[int], ...] = ()

    def make(self, count: int) -> list[dict[str, float]]:
        """A dict for each of `count` rows."""
        columns = self._columns
        api = api_with_numpy() if count * len(columns) > self._few else None
        if api is None:
            return [
                {name: values[first + i * step] for name, (values, first, step) in columns.items()}
                for i in range(count)
            ]
        empty, prepared = self.prepare()
        rows: list[dict[str, float]] = list(map(dict.copy, repeat(empty, count)))
        kernels.fill_dicts(api, addresses(rows), *prepared)
        return rows

    def prepare(self) -> tuple[dict[str, float], tuple[array[int], ...]]:
        """A dict of zeros, and what `fill_dicts` takes to fill its copies."""
        columns = self._columns
        if not self._prepared:
            memory = {id(values): values for values, _, _ in columns.values()}
            starts_of = {key: address(values) for key, values in memory.items()}
            starts = [starts_of[id(values)] + 8 * first for values, first, _ in columns.values()]
            steps = [8 * step for _, _, step in columns.values()]
            self._empty = dict.fromkeys(columns, 0.0)
            self._prepared = addresses(columns), array("q", starts), array("q", steps)
            self._few = _FEW_PREPARED
        return self._empty, self._prepared
