"""Scores as dictionaries, as JSON, and as pandas and polars frames."""

from __future__ import annotations

from fastrank.errors import FastrankError
from fastrank.lazy import optional
from fastrank.messages import valid_json
from fastrank.native.buffers import filled
from fastrank.native.objects import rows_as_dicts
from fastrank.scores.columns import columns_by_name, presented_means

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt
    import pandas
    import polars

    from fastrank.scores.scores import Scores


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
            memory[name] = column.values, column.place, column.width
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


def to_json(scores: Scores, *, per_query: bool, indent: int | None) -> str:
    """The record as JSON."""
    return json_text(to_record(scores, per_query=per_query), indent)


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


def to_pandas(queries: list[str], columns: dict[str, Any], *, wide: bool) -> pandas.DataFrame:
    """One row per query and measure, or one row per query if `wide`.

    columns: the values of each measure, text as lists, numbers as arrays.
    """
    import numpy

    pandas = optional("pandas", "to_pandas")

    if wide:
        return pandas.DataFrame({"query": queries, **columns})
    names, values = _numbers(columns)
    texts = pandas.array(queries, dtype=str)
    each, all_names = numpy.arange(len(queries)), numpy.arange(len(names))
    return pandas.DataFrame(
        {
            "query": texts.take(each.repeat(len(names))),
            "measure": pandas.array(names, dtype=str).take(numpy.tile(all_names, len(each))),
            "value": values,
        }
    )


def to_polars(queries: list[str], columns: dict[str, Any], *, wide: bool) -> polars.DataFrame:
    """Like `to_pandas`, but a polars frame."""
    import numpy

    polars = optional("polars", "to_polars")

    texts = polars.Series(queries, dtype=polars.String)
    if wide:
        return polars.DataFrame({"query": texts, **columns})
    names, values = _numbers(columns)
    each, all_names = numpy.arange(len(queries)), numpy.arange(len(names))
    measures = polars.Series(names, dtype=polars.String)
    return polars.DataFrame(
        {
            "query": texts.gather(each.repeat(len(names))),
            "measure": measures.gather(numpy.tile(all_names, len(each))),
            "value": values,
        }
    )


def queries_of(scores: Scores) -> list[str]:
    """The ids of the queries. Raises FastrankError for one that is not valid UTF-8."""
    for query, text in zip(scores.query_ids, scores.queries, strict=True):
        if not text.isascii() and text != query.decode("utf-8", "replace"):
            raise FastrankError(f"query {query!r}: the id is not UTF-8, which frames require")
    return scores.queries


def columns_of(scores: Scores) -> dict[str, Any]:
    """The values of every measure, text as lists."""
    return {
        name: column.to_list() if column.kind == "text" else column.to_array()
        for name, column in columns_by_name(scores).items()
        if column.values is not None
    }


def _numbers(columns: dict[str, Any]) -> tuple[list[str], npt.NDArray[Any]]:
    """The names of the measures with numeric values, and all their values, query by query."""
    import numpy

    arrays = {name: values for name, values in columns.items() if not isinstance(values, list)}
    if not arrays:
        return [], numpy.empty(0)
    return list(arrays), numpy.stack(list(arrays.values()), axis=1).ravel()
