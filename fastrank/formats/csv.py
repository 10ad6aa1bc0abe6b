"""CSV and TSV files, with or without a header."""

from __future__ import annotations

from fastrank.data.texts import decoded
from fastrank.errors import FormatError
from fastrank.formats.column_names import WITHOUT_HEADER, is_header
from fastrank.formats.tables import CellsTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

DELIMITERS = {"csv": ",", "tsv": "\t"}


def read_delimited(
    content: bytes,
    name: str,
    form: str,
    kind: str,
    columns: Mapping[str, Any] | None,
    rank_by: str = "score",
) -> CellsTable:
    """The table of a CSV or TSV file; kind: qrels or run.

    With `columns` and without a header, the columns are named 0, 1, 2, ... rank_by: may determine
    the role of the third column of a run. Raises FormatError.
    """
    from array import array

    rows: list[list[str]] = []
    lines = array("q")
    for line, row in records(content, name, DELIMITERS[form]):
        rows.append(row)
        lines.append(line)
    if not rows:
        raise FormatError(name, 1, "expected a header or rows, found an empty file")
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        at = next(i for i, row in enumerate(rows) if len(row) != width)
        reason = f"expected {width} cells, as in the first line, found {len(rows[at])}"
        raise FormatError(name, lines[at], reason)
    given = set(map(str, (columns or {}).values()))
    names: Sequence[Any] = [cell.strip() for cell in rows[0]]
    if is_header(names) or (given and given <= set(names)):
        del rows[0], lines[0]
        cells = list(zip(*rows, strict=True)) or [()] * width
    else:
        cells = list(zip(*rows, strict=True))
        names = range(width) if columns else _names(kind, cells, name, lines, rank_by)
    return CellsTable(name, names, cells, memoryview(lines))


def records(content: bytes, name: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The first line number and the cells of each record. Raises FormatError."""
    import csv
    import io

    text = decoded(content).removeprefix("\ufeff")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise FormatError(name, line, str(error)) from None


def _names(kind: str, cells: Any, name: str, lines: Any, rank_by: str) -> list[str]:
    names = list(WITHOUT_HEADER[kind].get(len(cells), ()))
    if not names:
        widths = " or ".join(map(str, WITHOUT_HEADER[kind]))
        reason = (
            f"expected a header with names for query and document, or {widths} cells,"
            f" found {', '.join(repr(column[0]) for column in cells)}"
        )
        raise FormatError(name, lines[0], reason)
    if "" in names:
        third = _rank_or_score(cells, name, lines) if rank_by == "score" else "rank"
        names[names.index("")] = third
    return names


def _rank_or_score(cells: Any, name: str, lines: Any) -> str:
    """The role of the third column of a run without a header: rank (MS MARCO) or score."""
    queries, _, numbers = cells
    if not all(number.strip().isdecimal() for number in numbers):
        return "score"
    ranks: dict[str, int] = {}
    for i, (query, number) in enumerate(zip(queries, numbers, strict=True)):
        expected = ranks[query] = ranks.get(query, 0) + 1
        if int(number) != expected:
            reason = (
                f"the third column could be ranks or scores: expected rank {expected} in query"
                f" {query!r}, found {number}; add a header, or set columns={{'query': 0, 'doc': 1,"
                " 'score': 2} (or 'rank': 2)"
            )
            raise FormatError(name, lines[i], reason)
    return "rank"


def lines_of(form: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """The lines of a CSV or TSV file with a header."""
    import csv
    import io

    text = io.StringIO(newline="")
    plain, quoted = (
        csv.writer(text, delimiter=DELIMITERS[form], lineterminator="\n", quoting=quoting)
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    )
    plain.writerow(names)
    for row in rows:
        # Readers end a line at a carriage return, which Python's writer quotes only since 3.13.
        writer = quoted if any("\r" in cell for cell in row if isinstance(cell, str)) else plain
        writer.writerow(row)
        if text.tell() > 1 << 16:
            yield text.getvalue().encode("utf-8", "surrogateescape")
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode("utf-8", "surrogateescape")
