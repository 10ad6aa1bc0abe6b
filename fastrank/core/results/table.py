"""Tables: named columns of labels and values, the main part of every result."""

from __future__ import annotations

from functools import partial

from fastrank.common.lazy import optional
from fastrank.common.messages import counted, visible
from fastrank.common.rendering.document import Cell, Document, Grid, Paragraph
from fastrank.common.rendering.numbers import interval, number
from fastrank.core.data.columns import Frozen
from fastrank.core.results.result import Result
from fastrank.errors import FastrankError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    import pandas
    import polars


class Estimate(float):
    """A mean with the bounds of its interval, which tables show: `0.4348 [0.4113, 0.4583]`."""

    __slots__ = ("high", "low")

    low: float
    high: float

    def __new__(cls, mean: float, low: float, high: float) -> Estimate:
        """The mean with its bounds."""
        estimate = super().__new__(cls, mean)
        estimate.low, estimate.high = low, high
        return estimate


class Table(Result, Frozen):
    """Rows of labels and values.

    columns: {name: list of values}, with one value per row: str for labels, int for counts, else
    float. digits: decimals of floats in text; frames, CSV and JSON have full precision. bold: the
    cells (row, column) to set in bold in Markdown and LaTeX. notes: what a reader must know, shown
    below the table, but not in frames, CSV and JSON. is_data: whether it is read back, such as a
    sheet for assessors, so that its CSV has all texts as they are.

    >>> table = fr.table(scores)
    >>> table
    <Table: 1 row, 2 columns>
    >>> table.names, table.columns["run"]
    (['run', 'map'], ['pixels'])
    >>> print(table)
    run        map
    ------  ------
    pixels  0.4348
    """

    made_by = "fastrank.table"

    columns: dict[str, list[Any]]
    digits: int = 4
    bold: frozenset[tuple[int, int]] = frozenset()
    notes: tuple[str, ...] = ()
    is_data: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows as tuples with one value per column.

        >>> list(fr.table(scores).rows())
        [('pixels', 0.43476959975458557)]
        """
        return zip(*self.columns.values(), strict=True)

    def transpose(self, label: str = "measure") -> Table:
        """The table with a column for each row: the first column becomes the header.

        label: the header of the new first column, which holds the names of the old columns.

        >>> print(fr.table(scores).transpose())
        measure      pixels
        ---------  --------
        map          0.4348
        """
        label_column, *names = self.names
        header = distinct([label, *map(str, self.columns[label_column])])
        value_rows = zip(*(self.columns[name] for name in names), strict=True)
        return Table(
            columns=dict(zip(header, [names, *map(list, value_rows)], strict=True)),
            digits=self.digits,
            bold=frozenset((column - 1, row + 1) for row, column in self.bold),
            notes=self.notes,
        )

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __repr__(self) -> str:
        return f"<Table: {counted(len(self), 'row')}, {counted(len(self.columns), 'column')}>"

    def table(self) -> Table:
        """The table itself."""
        return self

    def _document(self) -> Document:
        return Document([grid_of(self), *(Paragraph(note, "note") for note in self.notes)])

    def _title(self) -> str:
        return "Table"

    def to_csv(self) -> str:
        """Comma-separated lines, header first, in full precision.

        Texts that spreadsheets would run as a formula, such as =1+1, begin with an apostrophe,
        except in tables that are read back.

        >>> print(fr.table(scores).to_csv(), end="")
        run,map
        pixels,0.43476959975458557
        """
        from fastrank.core.formats.tables.table_files import csv_lines, result_lines

        make_lines = csv_lines if self.is_data else result_lines
        return "".join(make_lines(self.names, self.rows()))

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with these columns.

        >>> fr.table(scores).to_pandas()
              run      map
        0  pixels  0.43477
        """
        pandas = optional("pandas", "to_pandas")
        refuse_bytes(self.columns)
        return pandas.DataFrame(self.columns)

    def to_polars(self) -> polars.DataFrame:
        """A polars frame with these columns.

        >>> fr.table(scores).to_polars().columns
        ['run', 'map']
        """
        polars = optional("polars", "to_polars")
        refuse_bytes(self.columns)
        # A transposed table has counts and other values in one column.
        return polars.DataFrame(self.columns, strict=False)


def refuse_bytes(columns: Mapping[str, Iterable[object]]) -> None:
    """Raise FastrankError for a text with bytes that are not UTF-8, which frames cannot have."""
    for name, column in columns.items():
        for cell in column:
            if isinstance(cell, str) and not cell.isascii():
                try:
                    cell.encode()
                except UnicodeEncodeError:
                    reason = "the text is not UTF-8, which frames require"
                    raise FastrankError(f"{name} '{visible(cell)}': {reason}") from None


def table_of_rows(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """A table of the rows, if any."""
    columns = list(map(list, zip(*rows, strict=True))) or [[] for _ in names]
    return Table(columns=dict(zip(names, columns, strict=True)))


def records(table: Table) -> list[dict[str, object]]:
    """Each row as {column: value}."""
    return [dict(zip(table.names, row, strict=True)) for row in table.rows()]


def plain(value: object) -> object:
    """A value in which tables are lists of objects."""
    if isinstance(value, Table):
        return records(value)
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


def grid_of(table: Table, formats: Mapping[str, Callable[[float], str]] | None = None) -> Grid:
    """A table as it is shown. formats: {column: how to show its numbers}, if not rounded."""

    def rounded(value: float) -> str:
        text = number(value, table.digits)
        if isinstance(value, Estimate):
            bounds = interval(value.low, value.high, partial(number, digits=table.digits))
            return f"{text} {bounds}"
        return text

    def cell(value: Any, row: int, column: int) -> Cell:
        if isinstance(value, float):
            return Cell(formatters[column](value), True, place=int((row, column) in table.bold))
        text = "" if value is None else str(value)
        return Cell(text, number=isinstance(value, int), heads_row=not column)

    formatters = [(formats or {}).get(name, rounded) for name in table.names]
    rows = [
        [cell(value, row, column) for column, value in enumerate(values)]
        for row, values in enumerate(table.rows())
    ]
    return Grid(table.names, rows)


def distinct(names: Iterable[str]) -> list[str]:
    """Make names unique: a repeated name becomes `name (2)` and so on."""
    taken: set[str] = set()
    return [distinct_from(taken, name) for name in names]


def distinct_from(taken: set[str], name: str) -> str:
    """The name, with a number if it is taken; the result is added to `taken`."""
    copies, candidate = 1, name
    while candidate in taken:
        copies += 1
        candidate = f"{name} ({copies})"
    taken.add(candidate)
    return candidate


def best_rows(values: Sequence[float | None], better: str, digits: int) -> list[int]:
    """The indexes of the best values, with those that are equal to it when rounded to `digits`.

    better: "higher", "lower", or "" for neither. Empty for fewer than two values.
    """
    numbers = [value for value in values if value is not None and value == value]
    if not better or len(values) < 2 or not numbers:
        return []
    best_text = number(min(numbers) if better == "lower" else max(numbers), digits)
    return [
        row
        for row, value in enumerate(values)
        if value is not None and number(value, digits) == best_text
    ]
