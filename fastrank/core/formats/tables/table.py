"""Tables of queries, documents and numbers, in memory or read from files."""

from __future__ import annotations

from array import array

from fastrank.core.data.texts import Texts, take
from fastrank.core.formats.tables.values import texts_of
from fastrank.core.native import kernels
from fastrank.core.native.buffers import zeros
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, NoReturn

    from fastrank.core.formats.tables.values import Fail


class Table:
    """Named columns of equal length; `source` is the table's name in messages.

    columns: lists, or what `to_texts`, `to_numbers` and `to_stretches` convert. unit, rows: as in
    TextColumn.
    may_have_lists: whether a cell may be a list of documents.
    method: the method of Qrels and Run that takes such a table with `columns=`; None for files,
    whose readers do; empty if there is none.
    """

    def __init__(
        self,
        source: str,
        names: Iterable[Any],
        columns: Sequence[Any],
        *,
        rows: Any = None,
        unit: str = "row",
        method: str | None = None,
        to_texts: Callable[[Any, Fail], Texts] = texts_of,
        to_numbers: Callable[[Any, Fail], Any] | None = None,
        to_stretches: Callable[[Any, Fail], tuple[Texts, Any]] | None = None,
    ) -> None:
        self.source, self.names, self.columns = source, list(names), columns
        self.rows, self.unit, self.method = rows, unit, method
        self._to_texts, self.to_numbers, self._to_stretches = to_texts, to_numbers, to_stretches
        self.may_have_lists = True
        # Whether an empty id is a missing one.
        self.is_file = rows is not None

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    @property
    def has_cells(self) -> bool:
        """Whether all values are the text of cells, of which numbers are read."""
        return self.to_numbers is numbers_of_cells

    def call(self, kind: str) -> str:
        """The call that reads such a table with `columns=`, for messages, or empty."""
        if self.method is None:
            return f"read_{kind.lower()}"
        return self.method and f"{kind}.{self.method}"

    def values(self, name: str) -> Any:
        """A column as a list of Python objects, None for a null of Arrow and polars."""
        return self.cells(self.names.index(name))

    def cells(self, place: int) -> Any:
        """The same of a column by its place, which tells columns of one name apart."""
        column = self.columns[place]
        for method in ("to_pylist", "to_list", "tolist"):
            if hasattr(column, method):
                return getattr(column, method)()
        return column

    def records(self) -> Iterator[dict[Any, Any]]:
        """The rows as dicts of Python objects by name."""
        columns = [self.values(name) for name in self.names]
        return (dict(zip(self.names, cells, strict=True)) for cells in zip(*columns, strict=True))

    def texts(self, place: int) -> Texts:
        """A column of ids. Raises InputError or FormatError."""
        return self._to_texts(self.columns[place], self.failing(place))

    def stretches(self, place: int) -> tuple[Texts, Any]:
        """As `stretches_of` the texts of a column."""
        if self._to_stretches is None:
            return stretches_of(self.texts(place))
        return self._to_stretches(self.columns[place], self.failing(place))

    def numbers(self, place: int) -> Any:
        """A column of numbers, as a list or a numpy array."""
        column = self.columns[place]
        return self.to_numbers(column, self.failing(place)) if self.to_numbers else column

    def failing(self, place: int) -> Fail:
        """A function that raises the error about a row of a column."""

        def fail(row: int, reason: str) -> NoReturn:
            self.refuse(row, f"column {self.names[place]!r}: {reason}")

        return fail

    def exploded(self, names: Sequence[str], items: Iterable[tuple[int, Sequence[Any]]]) -> Table:
        """A table of the cells of items, each with the row of this table that it stands in."""
        columns: tuple[list[Any], ...] = tuple([] for _ in names)
        rows = array("q")
        for row, cells in items:
            rows.append(row if self.rows is None else self.rows[row])
            for column, cell in zip(columns, cells, strict=True):
                column.append(cell)
        made = Table(self.source, names, columns, rows=memoryview(rows), unit=self.unit)
        made.is_file = self.is_file
        return made

    def refuse(self, row: int, reason: str) -> NoReturn:
        """Raise the error about a row."""
        if self.rows is None:
            raise InputError(self.source, f"row {row} (from 0), {reason}")
        if self.unit == "line":
            raise FormatError(self.source, int(self.rows[row]), reason)
        raise InputError(self.source, f"{self.unit} {self.rows[row]}, {reason}")


def stretches_of(texts: Texts) -> tuple[Texts, Any]:
    """The texts that differ from the one before, and their rows."""
    firsts = zeros("q", len(texts))
    firsts = firsts[: kernels.find_stretches(texts.columns, firsts)]
    text, starts, lengths = texts.columns
    return Texts(text, take(starts, firsts), take(lengths, firsts)), firsts


def numbers_of_cells(cells: Sequence[str], _fail: Fail) -> list[int | float | str | None]:
    """The decimal numbers that cells of a text file are; others stay texts, empty ones are None."""
    # Python also accepts `1_0` and digits of other scripts.
    joined = "".join(cells)
    if "_" not in joined and joined.isascii():
        for convert in (int, float):
            try:
                return list(map(convert, cells))
            except ValueError:
                pass
    return [_number(cell) for cell in cells]


def _number(cell: str) -> int | float | str | None:
    if "_" not in cell and cell.isascii():
        for convert in (int, float):
            try:
                return convert(cell)
            except ValueError:
                pass
    return cell if cell.strip() else None


def first_empty(texts: Texts) -> int:
    """The first text that is empty, or -1."""
    import numpy

    lengths = numpy.asarray(texts.lengths)
    return -1 if lengths.all() else int(lengths.argmin())
