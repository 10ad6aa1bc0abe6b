"""The values and names of systems, from all kinds of scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import cache

import numpy as np

from fastrank.analysis.comparing.alignment import NAMED, System, systems_of
from fastrank.common.messages import first_few
from fastrank.core.formats.tables.forms import frame_kind, is_file
from fastrank.core.formats.tables.reading import table_of
from fastrank.core.formats.tables.records import are_columns
from fastrank.core.formats.tables.roles import find_columns
from fastrank.core.formats.tables.table_files import restored
from fastrank.core.results.table import distinct
from fastrank.core.scores.scores import Scores
from fastrank.errors import InputError, MeasureError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from fastrank.core.formats.tables.table import Table
    from fastrank.core.measures.trec import Measure

# The roles of the columns of a table of values, by the words for them.
ROLES = {"system": "tag", "query": "query", "measure": "measure", "value": "value"}
NEEDED = (("tag",), ("query",))
# The name of the values of {query: value}.
VALUE = "value"


def systems_from(
    scores: Any, names: Sequence[str] | None
) -> tuple[list[str], list[System], list[str], Sequence[Scores]]:
    """The names and values of systems, notes, and Scores, as `compare_scores` takes them.

    Raises TypeError for other objects, InputError, MeasureError and OptionError.
    """
    if isinstance(scores, (Mapping, list, tuple)):
        keys = list(scores) if isinstance(scores, Mapping) else None
        items = list(scores.values() if isinstance(scores, Mapping) else scores)
        if all(isinstance(item, Scores) for item in items):
            return system_names(names, keys, items, items), *systems_of(items), items
    is_table = are_columns(scores, NEEDED) if isinstance(scores, Mapping) else is_table_of(scores)
    if is_table:
        scores = _of_table(table_of(scores, NEEDED, source="scores"))
    if isinstance(scores, Mapping):
        keys, systems = _of_dict(scores)
        return system_names(names, keys, [], systems), systems, [], []
    raise TypeError(
        "scores: expected a list of Scores, {name: Scores or {query: value}}, a frame, a list of"
        f" dicts or a file, found {type(scores).__name__}"
    )


def system_names(
    given: Sequence[str] | None,
    keys: Sequence[Any] | None,
    scores: Sequence[Scores],
    items: Sequence[Any],
) -> list[str]:
    """The names of the systems: given, the keys, or those of their Scores; made unique."""
    if isinstance(given, str):
        raise OptionError("names", f"expected a list of names, found {given!r}")
    if given is not None:
        names = [str(name) for name in given]
        if len(names) != len(items):
            raise OptionError("names", f"expected {len(items)}, one per system, found {len(names)}")
    elif keys is not None:
        names = [str(key) for key in keys]
    else:
        names = [own.name or "run" for own in scores]
    return distinct(names)


def note_renamed(names: Sequence[str]) -> list[str]:
    """A note on the systems that `system_names` numbered."""
    parts = {name: name[:-1].rpartition(" (") for name in names}
    numbered = [
        name for name, (first, _, number) in parts.items() if number.isdecimal() and first in parts
    ]
    if not numbered:
        return []
    return [f"systems with equal names are numbered: {first_few(numbered, NAMED)}"]


def is_table_of(scores: object) -> bool:
    """Whether it is a frame, a file or a list of dicts."""
    if isinstance(scores, (list, tuple)):
        return bool(scores) and all(isinstance(row, Mapping) for row in scores)
    return is_file(scores) or frame_kind(scores) is not None


def _of_dict(scores: Mapping[Any, Any]) -> tuple[list[str], list[System]]:
    """The systems of {name: {query: value}} or {name: {query: {measure: value}}}."""
    names = [str(name) for name in scores]
    # An unknown name is slow, because close ones are looked for.
    better = cache(better_of)
    return names, [_system(str(name), own, better) for name, own in scores.items()]


def _system(name: str, values: Any, better: Callable[[str], str]) -> System:
    if not isinstance(values, Mapping):
        raise TypeError(
            f"scores of {name!r}: expected Scores, {{query: value}} or {{query: {{measure:"
            f" value}}}}, found {type(values).__name__}"
        )
    queries = [str(query) for query in values]
    if len(set(queries)) < len(queries):
        twice = next(query for query, count in Counter(queries).items() if count > 1)
        raise InputError(
            f"scores of {name!r}", f"query {twice!r} appears twice, with keys of different types"
        )
    rows = [own if isinstance(own, Mapping) else {VALUE: own} for own in values.values()]
    measures = list(dict.fromkeys(measure for row in rows for measure in row))
    by_query = list(zip(queries, rows, strict=True))
    columns = {
        str(measure): np.array([_number(row.get(measure), name, query) for query, row in by_query])
        for measure in measures
    }
    return System(queries, columns, {measure: better(measure) for measure in columns})


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
    record = _record_of(measure)
    return "higher" if record is None else record.better


def may_be_shares(measure: str) -> bool:
    """Whether all values of a measure, by its name, are between 0 and 1; True for unknown names."""
    record = _record_of(measure)
    return record is None or not record.exceeds_one


def _record_of(measure: str) -> Measure | None:
    from fastrank.common.arguments import DEFAULT_VERSION
    from fastrank.core.measures.notation import parse_measure

    try:
        return parse_measure(measure).bind(DEFAULT_VERSION).measure
    except MeasureError:
        return None


def _of_table(table: Table) -> dict[str, dict[str, dict[str, Any]]]:
    """{system: {query: {measure: value}}} of a table in long form or in wide form.

    The long form has columns for the system, the query, the measure and the value; the wide form
    one for the system, one for the query, and one for each measure. Raises the table's errors.
    """
    needed = ("system", "query")
    indexes = find_columns(table.names, ROLES, None, table.source, needed=needed, call="")
    cells = {role: table.values(table.names[index]) for role, index in indexes.items()}
    if table.has_cells:
        cells = {role: list(map(restored, column)) for role, column in cells.items()}
    named = [table.names[indexes[role]] for role in needed]
    measures = {str(name): table.values(name) for name in table.names if name not in named}
    is_long = "measure" in indexes and "value" in indexes
    systems: dict[str, dict[str, dict[str, Any]]] = {}
    for row, (system, query) in enumerate(zip(cells["system"], cells["query"], strict=True)):
        values = systems.setdefault(str(system), {}).setdefault(str(query), {})
        if is_long:
            added = {str(cells["measure"][row]): cells["value"][row]}
        else:
            added = {name: column[row] for name, column in measures.items()}
        if repeated := values.keys() & added.keys():
            reason = f"{repeated.pop()} of {str(system)!r} for query {str(query)!r} appears twice"
            table.refuse(row, reason)
        values.update(added)
    return systems
