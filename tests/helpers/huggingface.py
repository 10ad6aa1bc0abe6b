"""What a Dataset of Hugging Face can do, as far as fastrank uses it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Table:
    """Columns; in a format of the user's, values are no objects of Python's own."""

    def __init__(self, columns: dict[str, list[Any]], kind: Any = None) -> None:
        self._columns, self._kind = columns, kind
        self.column_names = list(columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __getitem__(self, rows: slice) -> dict[str, list[Any]]:
        assert self._kind is None
        return {name: column[rows] for name, column in self._columns.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        assert self._kind is None
        for values in zip(*self._columns.values(), strict=True):
            yield dict(zip(self._columns, values, strict=True))

    def iter(self, batch_size: int) -> Iterator[Any]:
        import pyarrow

        assert self._kind == "arrow"
        yield pyarrow.table(self._columns)

    def select_columns(self, names: list[str]) -> Table:
        return Table({name: self._columns[name] for name in names}, self._kind)

    def with_format(self, kind: str | None) -> Table:
        return Table(self._columns, kind)


# By the module of its type it is known without importing the library.
Table.__module__ = "datasets.arrow_dataset"
