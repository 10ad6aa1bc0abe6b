"""JSON and JSON lines: their content, checked, and the tables of records and columns in it."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping

from fastrank.core.data.texts import decoded
from fastrank.core.formats.tables.forms import is_column
from fastrank.core.formats.tables.roles import COLUMN_ROLES, is_header
from fastrank.core.formats.tables.sniff import DATA, has_records
from fastrank.core.formats.tables.table import Table
from fastrank.core.formats.tables.values import first_repeat
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from json import JSONDecodeError
    from typing import Any

    from fastrank.core.formats.tables.roles import Name


# Where keys of JSON end, or texts that have a colon after a quote.
KEY_ENDS = re.compile(r'"\s*:')


def load_json(content: bytes | str, name: str, line: int = 1) -> Any:
    """The content of a JSON text that begins on a line of a file. Raises FormatError.

    That is for duplicate keys, too, and for what Python cannot represent.
    """
    import json

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            key = pairs[first_repeat(key for key, _ in pairs)][0]
            raise FormatError(name, line, f"duplicate key {key!r} in an object")
        return content

    text = content if isinstance(content, str) else decoded(content).removeprefix("\ufeff")
    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise FormatError(name, line + error.lineno - 1, why_not_json(error)) from None
    except FormatError:
        raise
    except RecursionError:
        raise FormatError(name, line, "objects are nested too deeply") from None
    except ValueError as error:
        # Python limits integers to some thousand digits.
        raise FormatError(name, line, f"an integer is too long: {error}") from None


def why_not_json(error: JSONDecodeError) -> str:
    """The fault of JSON, and its column; some messages end with "at" already."""
    return f"{error.msg.removesuffix(' at')} at column {error.colno}"


def json_objects(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, Any]]:
    """The number of each line of JSON that is not blank, and its object. Raises FormatError."""
    import json

    for number, line in lines:
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        # With as many keys as there are in the text, no key is repeated, which is slow to see.
        if type(record) is not dict or len(record) != len(KEY_ENDS.findall(line)):
            record = load_json(line, name, number)
        yield number, record


def json_content(content: bytes, name: str, form: str) -> tuple[Any, Sequence[int]]:
    """The content of a JSON or JSONL file, and for a list the number of each record or line.

    Raises FormatError, also for content that is neither a list nor an object.
    """
    if form == "json":
        loaded = load_json(content, name)
        if not isinstance(loaded, (list, dict)):
            raise FormatError(name, 1, f"expected records or an object, found {loaded!r:.60}")
        return loaded, range(1, len(loaded) + 1)
    lines = enumerate(decoded(content).removeprefix("\ufeff").split("\n"), 1)
    objects = list(json_objects(lines, name))
    return [record for _, record in objects], [number for number, _ in objects]


def table_of_json(
    loaded: Any,
    numbers: Sequence[int],
    name: str,
    form: str,
    roles: Iterable[Sequence[str]] | None = COLUMN_ROLES,
    *,
    ragged: bool = False,
) -> Table | None:
    """The table of a list of records, or of an object with columns; None for other objects.

    numbers: of the records. roles: of which columns of lists have one each, None if any names will
    do. ragged: as in `table_of_records`.
    """
    if isinstance(loaded, list):
        unit = "line" if form == "jsonl" else "record"
        return table_of_records(loaded, name, numbers, unit, ragged=ragged)
    if has_records(loaded):
        data, names = loaded[DATA], loaded.get("columns")
        if isinstance(names, list) and data and isinstance(data[0], list):
            # The form that pandas writes with orient="split".
            data = [dict(zip(names, row, strict=False)) for row in data]
        return table_of_records(data, name, range(1, len(data) + 1), "record", ragged=ragged)
    return table_of_columns(loaded, name) if are_columns(loaded, roles) else None


def are_columns(
    given: Mapping[Any, Any], roles: Iterable[Sequence[str]] | None = COLUMN_ROLES
) -> bool:
    """Whether these are columns by name: lists, or as pandas writes JSON {row: cell}.

    roles: of which there is one each, None if any names will do.
    """
    columns = list(given.values())
    if roles == COLUMN_ROLES and columns and all(map(is_column, columns)):
        # Without documents, too, for the error about them.
        roles = (*COLUMN_ROLES[:1], (*COLUMN_ROLES[1], "grade", "score"))
    if not given or not (roles is None or is_header(given, roles)):
        return False
    if all(map(is_column, columns)):
        return True
    first = columns[0]
    if not isinstance(first, Mapping):
        return False
    if any(not isinstance(column, Mapping) or column.keys() != first.keys() for column in columns):
        return False
    # Queries may have such names, too; but their documents have numbers.
    has_texts = any(isinstance(cell, str) for column in columns for cell in column.values())
    return roles != COLUMN_ROLES or (is_header(given, (("query",), ("doc",))) and has_texts)


def table_of_columns(given: Mapping[Name, Any], source: str = "<dict>") -> Table:
    """The table of a dict of columns: lists, arrays, tensors, series. Raises InputError."""
    columns = {name: _column(name, values, source) for name, values in given.items()}
    sizes = {name: len(column) for name, column in columns.items()}
    if len({*sizes.values()}) > 1:
        listed = ", ".join(f"{name!r}: {size}" for name, size in sizes.items())
        raise InputError(source, f"expected columns of equal length, found {listed}")
    return Table(source, columns, list(columns.values()))


def _column(name: Name, values: Any, source: str) -> Any:
    """A column as a list or a numpy array."""

    def refuse(reason: str) -> InputError:
        return InputError(source, f"column {name!r}: {reason}")

    if isinstance(values, Mapping):
        values = list(values.values())
    if hasattr(values, "to_pylist"):
        # The strings of Arrow arrays are only available as a list.
        return values.to_pylist()
    if hasattr(values, "detach"):
        # numpy has no bfloat16.
        values = values.detach().cpu()
        values = (values.double() if values.is_floating_point() else values).numpy()
    if hasattr(values, "to_numpy"):
        # A series of pandas or polars, whose missing values become None or NaN.
        values = values.to_numpy()
    if hasattr(values, "ndim"):
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise refuse(f"expected one dimension, found shape {tuple(values.shape)}")
        if getattr(values, "mask", False) is not False and values.mask.any():
            raise refuse(f"the value in row {int(values.mask.argmax())} (from 0) is masked")
        return values
    if not is_column(values):
        raise refuse(f"expected a list or an array, found {type(values).__name__}: {values!r:.60}")
    return list(values)


def table_of_records(
    records: list[Any],
    name: str,
    numbers: Iterable[int] | None = None,
    unit: str = "row",
    *,
    ragged: bool = False,
) -> Table:
    """The table of dicts; numbers: of each, for messages, by default its place.

    ragged: whether keys may be missing in some, whose cells are None. Raises InputError.
    """
    if not records:
        raise InputError(name, "expected records, found none")
    mappings = [record for record in records if type(record) is dict or isinstance(record, Mapping)]
    names = (
        list(dict.fromkeys(key for record in mappings for key in record))
        if ragged
        else (list(records[0]) if isinstance(records[0], Mapping) else [])
    )
    columns = [[record.get(key) for record in mappings] for key in names]
    rows = None if numbers is None else memoryview(array("q", numbers))
    table = Table(name, names, columns, rows=rows, unit=unit)
    for row, record in enumerate(records):
        if type(record) is not dict and not isinstance(record, Mapping):
            table.refuse(row, f"expected an object, found {type(record).__name__}")
        if not ragged and record.keys() != records[0].keys():
            reason = f"expected the keys {', '.join(map(str, names))}, as in the first {unit}"
            table.refuse(row, f"{reason}, found {', '.join(map(str, record))}")
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
