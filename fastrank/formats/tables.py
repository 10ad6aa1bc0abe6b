"""Tables of any kind, as what conversion needs of them."""

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
    """Columns by place: `names`, `size` rows; `source` is what to call the table in messages.

    `unit` and `rows` are those of PlacedTexts.
    """

    unit = "row"
    rows: Any = None

    def __init__(self, source: str, names: Sequence[Any], size: int) -> None:
        self.source, self.names, self.size = source, list(names), size

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
        """What raises the error about a row of a column."""

        def fail(row: int, reason: str) -> NoReturn:
            self.refuse(row, f"column {self.names[place]!r}: {reason}")

        return fail

    def refuse(self, row: int, reason: str) -> NoReturn:
        """Raise the error about a row."""
        if self.unit == "line":
            raise FormatError(self.source, int(self.rows[row]), reason)
        if self.rows is not None:
            raise InputError(self.source, f"{self.unit} {self.rows[row]}, {reason}")
        raise InputError(self.source, f"row {row} (the first is 0), {reason}")


class ColumnsTable(Table):
    """Columns that are lists or arrays already."""

    def __init__(self, source: str, names: Sequence[Any], columns: Sequence[Any]) -> None:
        super().__init__(source, names, len(columns[0]))
        self._columns = columns

    def values(self, place: int) -> Any:
        """A column as it was given."""
        return self._columns[place]


class LinesTable(ColumnsTable):
    """Columns whose rows stand in lines of a file."""

    unit = "line"

    def __init__(
        self, source: str, names: Sequence[Any], columns: Sequence[Any], lines: Any
    ) -> None:
        super().__init__(source, names, columns)
        self.rows = lines


class RecordsTable(LinesTable):
    """The same for records that are counted, from 1, since nobody knows their lines."""

    unit = "record"


class CellsTable(LinesTable):
    """The same where all is text, and has to be read."""

    def numbers(self, place: int) -> Any:
        """A column of numbers: decimals, nothing more."""
        cells = self.values(place)
        # Python also takes `1_0` and digits of other scripts.
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
