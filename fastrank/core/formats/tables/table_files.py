"""CSV and TSV: the tables in files, and the lines of files that are written."""

from __future__ import annotations

import re
from array import array
from itertools import chain, islice

from fastrank.common.c_numbers import number_of_entire_text
from fastrank.core.data.texts import decoded, encoded
from fastrank.core.formats.tables.roles import (
    COLUMN_ROLES,
    asked_columns,
    is_header,
    names_of,
    normalized_name,
)
from fastrank.core.formats.tables.sniff import DELIMITERS as DELIMITERS
from fastrank.core.formats.tables.sniff import HEADER_WITHIN
from fastrank.core.formats.tables.table import Table, numbers_of_cells
from fastrank.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from fastrank.core.formats.tables.roles import Name

LINES_AT_ONCE = 1 << 10
RATING = "rating"
SEMICOLONS = "the cells are separated by semicolons; expected commas (CSV) or tabs (TSV)"
# Text that spreadsheets run as a formula; numbers and single characters, such as a dash, are none.
FORMULA = re.compile(r"[=+\-@\t\r](?=.)(?!(?<=[+-])[0-9.]+(?:[eE][+-]?[0-9]+)?$)", re.DOTALL)


def table_of_delimited(
    content: bytes,
    name: str,
    form: str,
    columns: Mapping[str, Name] | None,
    names_without_header: Callable[[Sequence[Sequence[str]], Sequence[int]], Sequence[str]],
    roles: Sequence[Sequence[str]] | None = COLUMN_ROLES,
    *,
    quoted: bool = True,
) -> Table:
    """The table of a CSV or TSV file.

    names_without_header: the names by the columns of cells and the numbers of the lines; with
    `columns`, they are 0, 1, 2, ... roles: of which a header has one each; None if the first line
    is always a header. quoted: as in `delimited_records`. Raises FormatError.
    """
    lines = array("q")
    rows: list[list[str]] = []
    for line, cells in delimited_records(content, name, DELIMITERS[form], quoted=quoted):
        if not (cells and cells[0].strip()) and rows and not any(map(str.strip, cells)):
            # Spreadsheets write rows without content.
            continue
        rows.append(cells)
        lines.append(line)
        if len(rows) <= HEADER_WITHIN:
            first = rows[0]
            if len(rows) == 2 and first[0].startswith("sep=") and not any(first[1:]):
                # Excel writes the delimiter.
                del rows[0], lines[0]
            elif roles and is_header(cells, roles) > is_header(first, roles):
                raise FormatError(name, line, "this is the header; remove the lines above it")
            elif len(rows) == 2 and len(first) == 1 < len(cells) == len(first[0].split()):
                # Some separate names by blanks, and the cells below them by tabs.
                rows[0] = first[0].split()
        if len(cells) == 1 and RATING in map(normalized_name, rows[0]):
            # Quepid writes only the query if no document of it is rated.
            cells += [""] * (len(rows[0]) - 1)
        if len(cells) != len(rows[0]):
            _refuse_semicolons(rows[0], name, line)
            expected = f"expected {len(rows[0])} cells, as in the first line"
            raise FormatError(name, line, f"{expected}, found {len(cells)}")
    if not rows:
        raise FormatError(name, 1, "expected a header or rows, found an empty file")
    names: Sequence[Name] = [cell.strip() for cell in rows[0]]
    chosen = set(map(str, (columns or {}).values()))
    asked, above = asked_columns(), 1 + (roles == COLUMN_ROLES)
    has_header = roles is None or is_header(names, roles) or (chosen and chosen <= set(names))
    has_header = has_header or (columns is None and asked.are_in(names)) or are_names(*rows[:above])
    if has_header:
        del rows[0], lines[0]
    columns_of_cells = list(zip(*rows, strict=True)) or [()] * len(names)
    if not has_header:
        _refuse_semicolons(rows[0], name, lines[0])
        numbered = range(len(names))
        is_numbered = columns or (columns is None and asked.are_numbers)
        names = numbered if is_numbered else names_without_header(columns_of_cells, lines)
    return table_of_cells(name, names, columns_of_cells, lines)


def _refuse_semicolons(first: Sequence[str], name: str, line: int) -> None:
    """Raise FormatError for what spreadsheets write where a comma is a decimal point."""
    if first[0].count(";") > 1:
        raise FormatError(name, line, f"{SEMICOLONS}, and points for decimals")


def are_names(cells: Sequence[str], below: Sequence[str] = ()) -> bool:
    """Whether a first line has no number, as all rows have, and known names or numbers below."""
    known = {name for role in ("query", "doc", "grade", "score") for name in names_of(role)}
    first, second = (any(map(_is_number, row)) for row in (cells, below))
    is_named = not known.isdisjoint(map(normalized_name, cells))
    return not first and (is_named or (second and {*cells}.isdisjoint(below)))


def _is_number(cell: str) -> bool:
    return number_of_entire_text(encoded(cell)) is not None


def table_of_cells(name: str, names: Iterable[Any], cells: Sequence[Any], lines: Any) -> Table:
    """A table of texts; lines: the number of the line of each row."""
    return Table(
        name, names, cells, rows=memoryview(lines), unit="line", to_numbers=numbers_of_cells
    )


def delimited_records(
    content: bytes, name: str, delimiter: str, *, quoted: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """The first line number and the cells of each record that is not empty. Raises FormatError.

    quoted: whether quotes have a meaning; if not, each line is a record.
    """
    text = decoded(content).removeprefix("\ufeff")
    if not quoted:
        for number, row_text in enumerate(text.split("\n"), 1):
            row_text = row_text.removesuffix("\r")
            if row_text:
                yield number, row_text.split(delimiter)
        return
    import csv
    import io

    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise FormatError(name, line, str(error)) from None


def csv_lines(
    header: Sequence[str], rows: Iterable[Iterable[Any]], delimiter: str = ","
) -> Iterator[str]:
    """Lines of separated cells, header first, quoted where needed; numbers in full precision."""
    import csv

    class Echo:
        """A file to which `writerow` writes, and whose result it returns: the line."""

        def write(self, line: str) -> str:
            return line

    # A lone CR is quoted only if the line ends with one, in Python before 3.13.
    writer: Any = csv.writer(Echo(), delimiter=delimiter, lineterminator="\r\n")
    for row in chain([header], rows):
        yield writer.writerow(row).removesuffix("\r\n") + "\n"


def result_lines(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """The lines of a CSV file of results, which people open in spreadsheets.

    An apostrophe is put before a text that a spreadsheet would run as a formula, such as a name
    =1+1. Source: OWASP, 'CSV injection'.
    """

    def inert(cell: object) -> object:
        return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell

    return csv_lines([str(inert(name)) for name in header], (map(inert, row) for row in rows))


def restored(cell: str) -> str:
    """The text that `result_lines` has written, without its apostrophe."""
    return cell[1:] if cell[:1] == "'" and FORMULA.match(cell, 1) else cell


def delimited_lines(
    form: str, names: Sequence[str], rows: Iterable[Sequence[Any]]
) -> Iterator[bytes]:
    """The lines of a CSV or TSV file with a header, many at a time."""
    lines = csv_lines(names, rows, DELIMITERS[form])
    while some := "".join(islice(lines, LINES_AT_ONCE)):
        yield encoded(some)
