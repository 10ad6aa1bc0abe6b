"""Scores as pandas and polars frames."""

from __future__ import annotations

from fastrank.errors import FastrankError
from fastrank.lazy import optional
from fastrank.scores.columns import columns_by_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt
    import pandas
    import polars

    from fastrank.scores.scores import Scores


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
