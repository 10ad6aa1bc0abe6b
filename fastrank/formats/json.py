"""JSON files with a dict of dicts or a list of records, and JSONL files of records."""

from __future__ import annotations

from fastrank.data.texts import decoded
from fastrank.errors import FormatError, InputError
from fastrank.formats.ids import first_repeat
from fastrank.formats.tables import LinesTable, RecordsTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any


def read_json(content: bytes, name: str) -> LinesTable | dict[Any, Any]:
    """The content of a JSON file: {query: {document: number}}, or a table of its records.

    Raises FormatError, also for duplicate keys in an object, and InputError.
    """
    loaded: Any = _loaded(decoded(content).removeprefix("\ufeff"), name, 1)
    if isinstance(loaded, list):
        from array import array

        places = memoryview(array("q", range(1, len(loaded) + 1)))
        return _table(RecordsTable, loaded, name, places)
    return loaded  # type: ignore[no-any-return]


def read_jsonl(content: bytes, name: str) -> LinesTable:
    """The table of a JSONL file: one object per line, all with the same keys."""
    from array import array

    records, lines = [], array("q")
    text = decoded(content).removeprefix("\ufeff")
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            records.append(_loaded(line, name, number))
            lines.append(number)
    return _table(LinesTable, records, name, memoryview(lines))


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
        reason = f"duplicate key {str(repeat)!r} in an object"
        raise FormatError(name, line, reason) from None
    except RecursionError:
        raise FormatError(name, line, "objects are nested too deeply") from None
    except ValueError as error:
        # Python limits integers to some thousand digits.
        raise FormatError(name, line, f"an integer is too long: {error}") from None


class _RepeatError(Exception):
    pass


def _table(kind: type[LinesTable], records: list[Any], name: str, places: Any) -> LinesTable:
    if not records:
        raise InputError(name, "no records")
    names = list(records[0]) if isinstance(records[0], dict) else []
    columns = [[record.get(key) for record in records if isinstance(record, dict)] for key in names]
    table = kind(name, names, columns or [[]], places)
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
