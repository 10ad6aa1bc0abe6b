"""Scores as dictionaries and as JSON."""

from __future__ import annotations

from fastrank.core.data.row_dicts import RowDicts
from fastrank.core.native.buffers import filled
from fastrank.core.scores.columns import columns_by_name, presented_means

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.core.scores.columns import Evaluated


def to_dict(scores: Evaluated) -> dict[str, dict[str, Any]]:
    """{query: {measure: value}}."""
    queries, zero = scores.queries, filled("d", [0.0])
    memory: dict[str, tuple[Any, int, int]] = {}
    texts: dict[str, list[str]] = {}
    for name, column in columns_by_name(scores).items():
        if column.values is None:
            continue
        if column.kind == "text":
            # A placeholder, so that the names keep their order.
            memory[name], texts[name] = (zero, 0, 0), column.to_list()
        else:
            memory[name] = column.values, column.index, column.width
    rows: list[dict[str, Any]] = RowDicts(memory).make(len(queries))
    for name, values in texts.items():
        for row, text in zip(rows, values, strict=True):
            row[name] = text
    return dict(zip(queries, rows, strict=True))


def to_record(scores: Evaluated, *, per_query: bool = True, summary: bool = True) -> dict[str, Any]:
    """The object that `Scores.to_json` writes, counts as integers."""
    record: dict[str, Any] = {"run": scores.name, "counts": dict(scores.counts)}
    if summary:
        record["mean"] = presented_means(scores)
    if per_query:
        record["per_query"] = rows = to_dict(scores)
        for name, column in columns_by_name(scores).items():
            if column.kind == "count" and column.values is not None:
                for row in rows.values():
                    row[name] = column.presented(row[name])
    return record
