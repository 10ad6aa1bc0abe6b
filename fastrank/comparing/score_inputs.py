"""The values of systems from dicts and frames."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from fastrank.comparing.alignment import System
from fastrank.errors import InputError, MeasureError
from fastrank.scores.scores import Scores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SYSTEM = ("system", "run", "name")
QUERY = ("query", "qid", "query_id")
# The name of the values of {query: value}.
VALUE = "value"


def is_frame(scores: object) -> bool:
    """Whether it is a frame of pandas or polars."""
    return hasattr(scores, "columns") and hasattr(scores, "to_dict")


def named_systems(scores: Mapping[Any, Any]) -> tuple[list[str], list[System]]:
    """The systems of {name: {query: value}} or {name: {query: {measure: value}}}."""
    names = [str(name) for name in scores]
    return names, [_system(str(name), own) for name, own in scores.items()]


def _system(name: str, values: Any) -> System:
    if not isinstance(values, Mapping):
        raise TypeError(
            f"scores of {name!r}: expected Scores, {{query: value}} or {{query: {{measure:"
            f" value}}}}, found {type(values).__name__}"
        )
    queries = [str(query) for query in values]
    rows = [own if isinstance(own, Mapping) else {VALUE: own} for own in values.values()]
    measures = list(dict.fromkeys(measure for row in rows for measure in row))
    found = {
        str(measure): np.array(
            [
                _number(row.get(measure), name, query)
                for row, query in zip(rows, queries, strict=True)
            ]
        )
        for measure in measures
    }
    return System(queries, found, {measure: better_of(measure) for measure in found})


def _number(value: Any, name: str, query: str) -> float:
    """A value as a float; None, as a missing value of a frame, is NaN."""
    if value is None:
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(
            f"scores of {name!r}", f"query {query!r}: expected a number, found {value!r}"
        ) from None


def better_of(measure: str) -> str:
    """Which values of a measure are better, by its name; "higher" for unknown names."""
    from fastrank.arguments import DEFAULT_VERSION
    from fastrank.measures.notation import parse_measure

    try:
        return parse_measure(measure).bind(DEFAULT_VERSION).measure.better
    except MeasureError:
        return "higher"


def frame_systems(frame: Any) -> tuple[list[str], list[System]]:
    """The systems of a frame in long form (system, query, measure, value) or wide form.

    The wide form has a column for the system, one for the query, and one for each measure.
    """
    columns = [str(name) for name in frame.columns]
    system, query = (_column(columns, names, frame) for names in (SYSTEM, QUERY))
    rest = [name for name in columns if name not in (system, query)]
    cells = {name: list(frame[name]) for name in columns}
    nested: dict[str, dict[str, dict[str, Any]]] = {}
    long = set(rest) == {"measure", "value"}
    for row, (one, its_query) in enumerate(zip(cells[system], cells[query], strict=True)):
        values = nested.setdefault(str(one), {}).setdefault(str(its_query), {})
        own = (
            {str(cells["measure"][row]): cells["value"][row]}
            if long
            else {name: cells[name][row] for name in rest}
        )
        twice = values.keys() & own.keys()
        if twice:
            raise InputError(
                "<frame>", f"row {row}: {twice.pop()} of {str(one)!r} for query {str(its_query)!r}"
                " appears twice"
            )  # fmt: skip
        values.update(own)
    return named_systems(nested)


def _column(columns: list[str], names: tuple[str, ...], frame: Any) -> str:
    found = [name for name in columns if name in names]
    if len(found) != 1:
        raise InputError(
            "<frame>", f"expected a column {' or '.join(map(repr, names))}, found"
            f" {', '.join(map(repr, frame.columns))}"
        )  # fmt: skip
    return found[0]


def all_scores(scores: Any) -> list[Scores] | None:
    """The items of a list or the values of a dict, if all are Scores."""
    items = list(scores.values() if isinstance(scores, Mapping) else scores)
    return items if all(isinstance(item, Scores) for item in items) else None
