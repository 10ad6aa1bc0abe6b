"""Files of judgments and runs in other formats than TREC's: CSV, TSV, JSON, JSONL, samples."""

from __future__ import annotations

from array import array
from itertools import chain, islice

from fastrank.common.messages import counted
from fastrank.core.data.texts import decoded
from fastrank.core.formats.files.json_text import parse_json
from fastrank.core.formats.files.source import BYTE_ORDER_MARK
from fastrank.core.formats.tables.sniff import (
    QRELS_ROLES,
    WITHOUT_HEADER,
    check_mapping,
    find_columns,
    is_header,
    kind_of_names,
    normalized_name,
)
from fastrank.core.formats.tables.table import Table, numbers_of_cells
from fastrank.core.formats.trec.reader import malformed, python_warning
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from fastrank.core.formats.trec.reader import Warn


DELIMITERS = {"csv": ",", "tsv": "\t"}
LINES_AT_ONCE = 1 << 10


def read_table(
    content: bytes,
    name: str,
    form: str,
    columns: Mapping[str, Any] | None,
    names_without_header: Callable[[Sequence[Sequence[str]], Sequence[int]], Sequence[str]],
    roles: Sequence[Sequence[str]] = (("query",), ("doc",)),
    *,
    quoted: bool = True,
) -> Table | dict[Any, Any]:
    """The table of a CSV, TSV, JSON, JSONL or parquet file, or the object of a JSON file.

    names_without_header: the names by the columns of cells and the numbers of the lines; with
    `columns`, they are 0, 1, 2, ... roles: of which a header has one each. quoted: as in
    `delimited_records`. Raises FormatError, also for duplicate keys in an object, and InputError.
    """
    if form == "parquet":
        from fastrank.core.formats.tables.frames import table_of_arrow
        from fastrank.core.formats.tables.parquet import ParquetColumns

        columns_of_file = ParquetColumns(content, name)
        return table_of_arrow(name, columns_of_file.names, columns_of_file)
    lines = array("q")
    rows: list[Any] = []
    if form in DELIMITERS:
        for line, row in delimited_records(content, name, DELIMITERS[form], quoted=quoted):
            rows.append(row)
            lines.append(line)
            if len(row) != len(rows[0]):
                reason = f"expected {len(rows[0])} cells, as in the first line, found {len(row)}"
                raise FormatError(name, line, reason)
        if not rows:
            raise FormatError(name, 1, "expected a header or rows, found an empty file")
        names: Sequence[Any] = [cell.strip() for cell in rows[0]]
        given = set(map(str, (columns or {}).values()))
        has_header = is_header(names, roles) or (given and given <= set(names))
        if has_header:
            del rows[0], lines[0]
        cells = list(zip(*rows, strict=True)) or [()] * len(names)
        if not has_header:
            names = range(len(cells)) if columns else names_without_header(cells, lines)
        return table_of_cells(name, names, cells, lines)
    return _of_json(*_json_in(content, name, form), name, form)


def _json_in(content: bytes, name: str, form: str) -> tuple[Any, Sequence[int]]:
    """The content of a JSON or JSONL file, and for a list the number of each record or line."""
    text = decoded(content).removeprefix("\ufeff")
    if form == "json":
        loaded = parse_json(text, name)
        return loaded, range(1, len(loaded) + 1)
    lines = [line for line in enumerate(text.split("\n"), 1) if line[1].strip()]
    records = [parse_json(record, name, number) for number, record in lines]
    return records, [number for number, _ in lines]


def _of_json(loaded: Any, places: Sequence[int], name: str, form: str) -> Table | dict[Any, Any]:
    """The table of a list of records, or the object itself."""
    if isinstance(loaded, list):
        return table_of_records(loaded, name, places, "line" if form == "jsonl" else "record")
    return loaded  # type: ignore[no-any-return]


def _whole(loaded: Any, form: str) -> Any:
    """The object of a file of one line, which could be both, JSON and JSON lines."""
    return loaded[0] if form == "jsonl" and len(loaded) == 1 else loaded


def kind_of_json(content: bytes, name: str, form: str) -> str | None:
    """The kind (qrels or run) of a JSON or JSONL file, or None if it is unclear."""
    from fastrank.core.formats.tools.question_files import kinds_of_record
    from fastrank.core.formats.tools.search_engines import kinds_of

    loaded, _ = _json_in(content, name, form)
    first = loaded[0] if isinstance(loaded, list) and loaded else None
    record = first if isinstance(first, dict) else {}
    kinds = kinds_of(_whole(loaded, form), name) | kinds_of_record(record)
    return kinds.pop() if len(kinds) == 1 else None if kinds else kind_of_names(record)


def table_of_cells(name: str, names: Iterable[Any], cells: Sequence[Any], lines: Any) -> Table:
    """A table of texts; lines: the number of the line of each row."""
    return Table(
        name, names, cells, rows=memoryview(lines), unit="line", to_numbers=numbers_of_cells
    )


def table_of_columns(given: Mapping[Any, Any]) -> Table:
    """The table of a dict of columns. Raises InputError."""
    for name, column in given.items():
        if isinstance(column, (str, bytes)) or not hasattr(column, "__iter__"):
            found = f"{type(column).__name__}: {column!r:.60}"
            raise InputError("<dict>", f"{name!r}: expected a column of values, found {found}")
    values = [list(column) for column in given.values()]
    if len({len(column) for column in values}) > 1:
        found = ", ".join(
            f"{name!r}: {len(column)}" for name, column in zip(given, values, strict=True)
        )
        raise InputError("<dict>", f"expected columns of equal length, found {found}")
    return Table("<dict>", given, values)


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


def _roles_of(kind: str, cells: Any, name: str, lines: Any, rank_by: str) -> list[str]:
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


def delimited_lines(
    form: str, names: Sequence[str], rows: Iterable[Sequence[Any]]
) -> Iterator[bytes]:
    """The lines of a CSV or TSV file with a header, many at a time."""
    lines = csv_lines(names, rows, DELIMITERS[form])
    while some := "".join(islice(lines, LINES_AT_ONCE)):
        yield some.encode("utf-8", "surrogateescape")


def table_of_records(records: list[Any], name: str, places: Iterable[int], unit: str) -> Table:
    """The table of dicts with the same keys; places: the number of each. Raises InputError."""
    if not records:
        raise InputError(name, "no records")
    names = list(records[0]) if isinstance(records[0], dict) else []
    columns = [[record.get(key) for record in records if isinstance(record, dict)] for key in names]
    table = Table(name, names, columns, rows=memoryview(array("q", places)), unit=unit)
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            table.refuse(row, f"expected an object, found {type(record).__name__}")
        if record.keys() != records[0].keys():
            reason = f"expected the keys {', '.join(names)}, as in the first record"
            table.refuse(row, f"{reason}, found {', '.join(record)}")
    return table


def json_of(queries: dict[str, dict[str, Any]]) -> Iterator[bytes]:
    """The text of {query: {document: number}}, one query per line."""
    import json

    before = "{"
    for query, docs in queries.items():
        yield f"{before}\n{json.dumps(query)}: {json.dumps(docs)}".encode()
        before = ","
    yield b"\n}\n" if queries else b"{}\n"


def jsonl_of(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """The text of records, one per line."""
    import json

    for row in rows:
        yield json.dumps(dict(zip(names, row, strict=True))).encode() + b"\n"


SAMPLE_FIELDS = ("query", "iteration", "doc", "stratum", "grade")
SAMPLE_LINE = "5 fields (query iter doc stratum grade)"


def read_sample(content: bytes, name: str, kind: str) -> Table:
    """The table of a file; kind: qrels or run. Raises FormatError, and InputError for a run."""
    if kind != "qrels":
        raise InputError(name, "the format sample has judgments, expected a run")
    rows: list[list[str]] = []
    lines = array("q")
    for number, line in enumerate(content.removeprefix(BYTE_ORDER_MARK).split(b"\n"), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != len(SAMPLE_FIELDS):
            raise FormatError(name, number, malformed(SAMPLE_LINE, len(fields), line))
        rows.append([decoded(field) for field in fields])
        lines.append(number)
    if not rows:
        raise FormatError(name, 1, f"expected lines of {SAMPLE_LINE}, found an empty file")
    return table_of_cells(name, SAMPLE_FIELDS, list(zip(*rows, strict=True)), lines)


def content_of(
    content: bytes,
    name: str,
    form: str,
    kind: str,
    columns: Mapping[str, Any] | None = None,
    rank_by: str = "score",
    warn: Warn = python_warning,
) -> Table | dict[Any, Any]:
    """The table of a file that is not in TREC format, or {query: {document: number}}.

    content: of a local file in parquet, it may be the path. kind: qrels or run. rank_by: may
    determine the role of the third column of a run. Raises FormatError and InputError.
    """
    check_mapping(columns, name)
    if form == "sample":
        return read_sample(content, name, kind)
    if form in ("json", "jsonl"):
        from fastrank.core.formats.tools.search_engines import numbers_by_query

        loaded, places = _json_in(content, name, form)
        numbers = numbers_by_query(_whole(loaded, form), name, kind, warn)
        return _of_json(loaded, places, name, form) if numbers is None else numbers
    found = read_table(
        content,
        name,
        form,
        columns,
        lambda cells, lines: _roles_of(kind, cells, name, lines, rank_by),
    )
    if form in DELIMITERS and isinstance(found, Table) and kind == "qrels":
        return _with_ratings(found, columns, warn)
    return found


def _with_ratings(table: Table, columns: Mapping[str, Any] | None, warn: Warn) -> Table:
    """The rows that have a rating, as some in an export of Quepid have not."""
    call = table.call("Qrels")
    place = find_columns(table.names, QRELS_ROLES, columns, table.source, call=call)["grade"]
    if normalized_name(table.names[place]) != "rating":
        return table
    cells = table.columns[place]
    kept = [row for row, cell in enumerate(cells) if cell.strip()]
    if len(kept) == len(cells):
        return table
    first = next(row for row, cell in enumerate(cells) if not cell.strip())
    left = counted(len(cells) - len(kept), "row")
    where = f"the first is line {table.rows[first]}"
    warn(f"{table.source}: {left} without a rating left out, {where}")
    rated = [[column[row] for row in kept] for column in table.columns]
    lines = array("q", [table.rows[row] for row in kept])
    return table_of_cells(table.source, table.names, rated, lines)
