"""Rows of any table as mappings from names to values."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.datasets.text_files import objects_of
from fastrank.errors import FormatError, InputError
from fastrank.formats import sniff
from fastrank.formats.inputs import choose_split, is_file
from fastrank.formats.line_files import lines_of
from fastrank.formats.source import BYTE_ORDER_MARK
from fastrank.formats.table_files import why_not_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def rows_of(given: Any, split: str | None, name: str) -> list[Mapping[str, Any]]:
    """The rows of a table, a file or an iterable of mappings.

    given: a Hugging Face Dataset in any format or a DatasetDict, a pandas or polars DataFrame, an
    Arrow table, a JSON, JSONL or parquet file, or mappings. split: of a DatasetDict. Raises
    InputError, which names the row, and FormatError for a file.
    """
    rows = _list_of(choose_split(name, given, split))
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            found = type(row).__name__
            raise InputError(name, f"row {place}: expected a mapping, found {found}")
    return rows


def is_missing(value: Any) -> bool:
    """Whether a value is missing: None, or the NaN that pandas uses for it."""
    return value is None or (isinstance(value, float) and value != value)


def _list_of(given: Any) -> list[Any]:
    if is_file(given):
        return _rows_of_file(given)
    if hasattr(given, "with_format"):
        # Plain Python objects: tensors and arrays of other formats are not valid ids.
        return list(given.with_format(None))
    if hasattr(given, "to_pylist"):
        return list(given.to_pylist())
    if hasattr(given, "to_dicts"):
        return list(given.to_dicts())
    if hasattr(given, "iterrows"):
        return list(given.to_dict("records"))
    return list(given)


def json_of(content: bytes, name: str) -> Any:
    """The content of a JSON file. Raises FormatError and InputError."""
    import json

    try:
        return json.loads(content.removeprefix(BYTE_ORDER_MARK))
    except json.JSONDecodeError as error:
        raise FormatError(name, error.lineno, why_not_json(error)) from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise InputError(name, f"cannot be read as JSON: {error}") from None


def _rows_of_file(source: Any) -> list[Any]:
    file, head = sniff.head_of(source)
    if sniff.is_parquet(head):
        from fastrank.formats.parquet import read_parquet

        with file:
            records: list[Any] = read_parquet(file.read(), file.name).to_pylist()
            return records
    if head.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"[":
        with file:
            rows = json_of(file.read(), file.name)
        return list(rows)
    return [record for _, record in objects_of(lines_of(file, file.name, "utf-8"), file.name)]
