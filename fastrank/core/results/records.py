"""Values as JSON that every reader accepts."""

from __future__ import annotations

from fastrank.common.messages import valid_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.core.results.table import Table


def json_text(value: object, indent: int | None = None) -> str:
    """JSON in ASCII, with null for NaN and infinity and `\\xff` for bytes that are not UTF-8."""
    import json

    try:
        text = json.dumps(value, indent=indent, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), indent=indent, allow_nan=False)
    return valid_json(text)


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value


def records(table: Table) -> list[dict[str, object]]:
    """Each row as {column: value}."""
    return [dict(zip(table.names, row, strict=True)) for row in table.rows()]


def plain(value: object) -> object:
    """A value in which tables are lists of objects."""
    from fastrank.core.results.table import Table

    if isinstance(value, Table):
        return records(value)
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value
