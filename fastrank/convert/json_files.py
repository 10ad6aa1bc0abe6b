"""JSON files, which hold a dict of dicts or a list of records, and JSONL files of records."""

from __future__ import annotations

from fastrank.columns import decoded
from fastrank.convert.ids import first_repeat
from fastrank.convert.tables import LinesTable
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any


def read_json(content: bytes, name: str) -> LinesTable | dict[Any, Any]:
    """What a JSON file holds: {query: {document: number}}, or a table of its records.

    A key that stands twice in an object is an error, since one of its values would be lost.
    Raises FormatError and InputError.
    """
    loaded: Any = _loaded(decoded(content).removeprefix("\ufeff"), name, 1)
    if isinstance(loaded, list):
        return _table(loaded, name, None)
    return loaded  # type: ignore[no-any-return]


def read_jsonl(content: bytes, name: str) -> LinesTable:
    """The table of a JSONL file: one object per line, all with the same names."""
    from array import array

    records, lines = [], array("q")
    text = decoded(content).removeprefix("\ufeff")
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            records.append(_loaded(line, name, number))
            lines.append(number)
    return _table(records, name, memoryview(lines))


def _loaded(text: str, name: str, line: int) -> Any:
    import json

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            raise _RepeatError(pairs[first_repeat(key for key, _ in pairs)][0])
        return made

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise FormatError(
            name, line + error.lineno - 1, f"{error.msg} at column {error.colno}"
        ) from None
    except _RepeatError as repeat:
        reason = f"the key {str(repeat)!r} stands twice in an object"
        raise FormatError(name, line, reason) from None
    except RecursionError:
        raise FormatError(name, line, "objects are nested too deeply") from None


class _RepeatError(Exception):
    pass


def _table(records: list[Any], name: str, lines: Any) -> LinesTable:
    # Records of a list are counted, from 1, since nobody knows their lines.
    from array import array

    if lines is None:
        lines = memoryview(array("q", range(1, len(records) + 1)))
    names = list(records[0]) if records and isinstance(records[0], dict) else []
    for line, record in zip(lines, records, strict=True):
        if not isinstance(record, dict):
            found = type(record).__name__
            raise FormatError(name, line, f"expected an object with names, found {found}")
        if record.keys() != records[0].keys():
            reason = f"expected {', '.join(names)}, as in the first record"
            raise FormatError(name, line, f"{reason}; found {', '.join(record)}")
    if not records:
        raise InputError(name, "no records")
    columns = [[record[own] for record in records] for own in names]
    return LinesTable(name, names, columns or [[]], lines)


def json_of(queries: dict[str, dict[str, Any]]) -> Iterator[bytes]:
    """The text of {query: {document: number}}, a query to a line."""
    import json

    before = "{"
    for query, docs in queries.items():
        yield f"{before}\n{json.dumps(query)}: {json.dumps(docs)}".encode()
        before = ","
    yield b"\n}\n" if queries else b"{}\n"


def jsonl_of(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """The text of records, one to a line."""
    import json

    for row in rows:
        yield json.dumps(dict(zip(names, row, strict=True))).encode() + b"\n"
