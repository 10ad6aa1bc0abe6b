"""Scores as dictionaries and as JSON."""

from __future__ import annotations

from fastrank.data.texts import decoded
from fastrank.native.buffers import filled
from fastrank.native.objects import rows_as_dicts
from fastrank.scores.text import as_count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from fastrank.scores.scores import Scores


def to_dict(
    queries: list[str], given: Iterable[tuple[str, Any, int, int]]
) -> dict[str, dict[str, Any]]:
    """{query: {measure: value}} of columns: name, values, how many a query has, and which of them.

    Of a name that comes twice the first column counts.
    """
    nothing = filled("d", [0.0])
    columns: dict[str, tuple[Any, int, int]] = {}
    texts: dict[str, list[bytes]] = {}
    for name, values, width, column in given:
        if name in columns:
            continue
        if isinstance(values, list):
            texts[name], columns[name] = values, (nothing, 0, 0)
        else:
            columns[name] = values, column, width
    rows: list[dict[str, Any]] = rows_as_dicts(columns, len(queries))
    for name, own in texts.items():
        for row, text in zip(rows, own, strict=True):
            row[name] = decoded(text)
    return dict(zip(queries, rows, strict=True))


def to_record(scores: Scores, *, per_query: bool = True, summary: bool = True) -> dict[str, Any]:
    """What `Scores.to_json` writes, counts as integers."""
    whole = scores.whole
    record: dict[str, Any] = {"run": decoded(scores.tag), "counts": dict(scores.counts)}
    if summary:
        record["mean"] = _with_counts(scores.mean, whole)
    if per_query:
        record["per_query"] = {
            query: _with_counts(own, whole) for query, own in scores.to_dict().items()
        }
    return record


def _with_counts(values: dict[str, Any], whole: set[str]) -> dict[str, Any]:
    return {name: as_count(v) if name in whole else v for name, v in values.items()}


def to_json(scores: Scores, *, per_query: bool, indent: int | None) -> str:
    """The record as JSON."""
    return dumped(to_record(scores, per_query=per_query), indent)


def dumped(value: object, indent: int | None = None) -> str:
    """JSON in ASCII; null for what is no finite number, since JSON has no such numbers."""
    import json

    try:
        return json.dumps(value, indent=indent, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(own) for name, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(own) for own in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value
