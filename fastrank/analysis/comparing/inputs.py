"""The values and names of systems, from all kinds of scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np

from fastrank.analysis.comparing.alignment import NAMED, System, systems_of
from fastrank.analysis.comparing.options import QUERY, Unit
from fastrank.analysis.comparing.value_tables import VALUE, values_in
from fastrank.common.messages import first_few
from fastrank.core.results.table import distinct
from fastrank.core.scores.scores import Scores
from fastrank.errors import InputError, MeasureError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from fastrank.core.formats.tables.roles import Name
    from fastrank.core.measures.trec import Measure


class Given(NamedTuple):
    """Input of `compare_scores`: systems, notes, Scores, and of tables the clusters and words."""

    names: list[str]
    systems: list[System]
    notes: list[str]
    evaluated: Sequence[Scores]
    clusters: dict[str, str]
    unit: Unit = QUERY


def systems_from(
    scores: Any,
    names: Sequence[str] | None,
    columns: Mapping[str, Name] | None = None,
    clusters: Name | None = None,
) -> Given:
    """The names and values of systems, as `compare_scores` takes them.

    Raises TypeError for other objects, InputError, MeasureError and OptionError.
    """
    if isinstance(scores, (Mapping, list, tuple)):
        keys = list(scores) if isinstance(scores, Mapping) else None
        items = list(scores.values() if isinstance(scores, Mapping) else scores)
        if all(isinstance(item, Scores) for item in items):
            return Given(system_names(names, keys, items, items), *systems_of(items), items, {})
    notes: list[str] = []
    of_items: dict[str, str] = {}
    unit = QUERY
    if (values := values_in(scores, columns, clusters)) is not None:
        if values.of_datasets:
            listed = first_few(list(map(repr, values.datasets)), NAMED, count=True)
            reason = f"values of the data sets {listed}; use compare_datasets"
            raise InputError(values.source, reason)
        scores, notes, of_items = values.systems(), values.notes, values.clusters
        unit = values.unit
    if isinstance(scores, Mapping):
        keys, systems = _of_dict(scores)
        return Given(system_names(names, keys, [], systems), systems, notes, [], of_items, unit)
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
