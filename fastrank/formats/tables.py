"""The interface of tables that are converted to judgments and runs."""

from __future__ import annotations

from fastrank.errors import FormatError, InputError
from fastrank.formats.ids import texts_of
from fastrank.formats.strict import no_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from fastrank.data.texts import Texts
    from fastrank.formats.ids import Fail


class Table:
    """Numbered columns with `names` and `size` rows; `source` is the table's name in messages.

    `unit` and `rows` as in PlacedTexts.
    """

    unit = "row"
    rows: Any = None
    # The method of Qrels and Run that takes such a table with `columns=`; None for files, whose
    # readers do; empty if there is none.
    method: str | None = None

    def __init__(self, source: str, names: Sequence[Any], size: int) -> None:
        self.source, self.names, self.size = source, list(names), size

    def call(self, kind: str) -> str:
        """What reads such a table as Qrels or Run with `columns=`, for messages, or empty."""
        if self.method is None:
            return f"read_{kind.lower()}"
        return self.method and f"{kind}.{self.method}"

    def values(self, place: int) -> Any:
        """A column as a list or a numpy array."""
        raise NotImplementedError

    def texts(self, place: int) -> Texts:
        """A column of ids. Raises InputError or FormatError."""
        return texts_of(self.values(place), self.failing(place))

    def numbers(self, place: int) -> Any:
        """A column of numbers, as a list or a numpy array."""
        return self.values(place)

    def failing(self, place: int) -> Fail:
        """A function that raises the error about a row of a column."""

        def fail(row: int, reason: str) -> NoReturn:
            self.refuse(row, f"column {self.names[place]!r}: {reason}")

        return fail

    def refuse(self, row: int, reason: str) -> NoReturn:
        """Raise the error about a row."""
        if self.unit == "line":
            raise FormatError(self.source, int(self.rows[row]), reason)
        if self.rows is not None:
            raise InputError(self.source, f"{self.unit} {self.rows[row]}, {reason}")
        raise InputError(self.source, f"row {row} (from 0), {reason}")


class ColumnsTable(Table):
    """Columns that are lists or arrays already."""

    def __init__(self, source: str, names: Sequence[Any], columns: Sequence[Any]) -> None:
        super().__init__(source, names, len(columns[0]))
        self._columns = columns

    def values(self, place: int) -> Any:
        """A column, unchanged."""
        return self._columns[place]


class LinesTable(ColumnsTable):
    """Columns whose rows are lines of a file."""

    unit = "line"

    def __init__(
        self, source: str, names: Sequence[Any], columns: Sequence[Any], lines: Any
    ) -> None:
        super().__init__(source, names, columns)
        self.rows = lines


class RecordsTable(LinesTable):
    """Columns of records, which are counted from 1 because their lines are unknown."""

    unit = "record"


class CellsTable(LinesTable):
    """Columns of cells that are text and must be parsed."""

    def numbers(self, place: int) -> Any:
        """A column of decimal numbers."""
        cells = self.values(place)
        # Python also accepts `1_0` and digits of other scripts.
        joined = "".join(cells)
        if "_" not in joined and joined.isascii():
            for convert in (int, float):
                try:
                    return list(map(convert, cells))
                except ValueError:
                    pass
        fail = self.failing(place)
        return [_number(cell, row, fail) for row, cell in enumerate(cells)]


def _number(cell: str, row: int, fail: Fail) -> int | float:
    if "_" not in cell and cell.isascii():
        for convert in (int, float):
            try:
                return convert(cell)
            except ValueError:
                pass
    return fail(row, no_number(cell, "number") if cell.strip() else "the cell is empty")
