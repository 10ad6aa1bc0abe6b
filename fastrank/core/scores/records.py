"""Scores as dictionaries, as JSON, and as pandas and polars frames."""

from __future__ import annotations

from fastrank.common.lazy import optional
from fastrank.common.messages import valid_json
from fastrank.core.native.buffers import filled
from fastrank.core.native.objects import rows_as_dicts
from fastrank.core.scores.columns import columns_by_name, presented_means
from fastrank.errors import FastrankError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.core.native.record import Int64Array
    from fastrank.core.scores.scores import Scores


def to_dict(scores: Scores) -> dict[str, dict[str, Any]]:
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
    rows: list[dict[str, Any]] = rows_as_dicts(memory, len(queries))
    for name, values in texts.items():
        for row, text in zip(rows, values, strict=True):
            row[name] = text
    return dict(zip(queries, rows, strict=True))


def to_record(scores: Scores, *, per_query: bool = True, summary: bool = True) -> dict[str, Any]:
    """What `Scores.to_json` writes, counts as integers."""
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


def json_text(value: object, indent: int | None = None) -> str:
    """JSON in ASCII, with null for NaN and infinity and `\\xff` for bytes that are not UTF-8."""
    import json

    try:
        text = json.dumps(value, indent=indent, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), indent=indent, allow_nan=False)
    return valid_json(text)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value


def to_frame(library: str, scores: Scores, values: dict[str, Any], *, wide: bool) -> Any:
    """A frame with one row per query and measure, or one row per query if `wide`.

    library: "pandas" or "polars". scores: whose queries these are. values: of each measure, numbers
    as an array, text as a list, which only the wide form includes. Raises FastrankError for an id
    that is not valid UTF-8.
    """
    import numpy

    frames, queries = optional(library, f"to_{library}"), scores.queries
    for query, text in zip(scores.query_ids, queries, strict=True):
        if not text.isascii() and text != query.decode("utf-8", "replace"):
            raise FastrankError(f"query {query!r}: the id is not UTF-8, which frames require")

    def texts_at(texts: list[str], rows: Int64Array) -> Any:
        if library == "polars":
            return frames.Series(texts, dtype=frames.String).gather(rows)
        return frames.array(texts, dtype=str).take(rows)

    each = numpy.arange(len(queries))
    if wide:
        ids = texts_at(queries, each) if library == "polars" else queries
        return frames.DataFrame({"query": ids, **values})
    arrays = {name: column for name, column in values.items() if not isinstance(column, list)}
    numbers = numpy.stack([*arrays.values()], axis=1).ravel() if arrays else numpy.empty(0)
    return frames.DataFrame(
        {
            "query": texts_at(queries, each.repeat(len(arrays))),
            "measure": texts_at([*arrays], numpy.tile(numpy.arange(len(arrays)), len(each))),
            "value": numbers,
        }
    )
