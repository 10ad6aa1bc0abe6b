"""Scores of several systems as matrices over the same queries."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from fastrank.analysis.comparing.options import QUERY, Unit
from fastrank.common.faces import by_face
from fastrank.common.messages import counted, enumerated, first_few
from fastrank.core.measures.trec import BY_NAME
from fastrank.core.scores.columns import Column, columns_by_name
from fastrank.core.scores.text import missing_note
from fastrank.errors import GroupError, MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Container, Sequence

    import numpy.typing as npt

    from fastrank.common.arrays import Floats
    from fastrank.core.scores.scores import Scores

# Remedy for different measures, on the command line.
CHOOSE = "; choose some that all have with -m"
# How many queries a note or an error names.
NAMED = 3
# The squares of larger values, and sums of them, might not be finite.
LARGEST = 1e100
# How `evaluate` summarizes measures whose summary is not the mean of the values per query.
SUMMARIES = {
    "pooled": "weights queries by their numbers of documents",
    "median": "gives the median",
    "sum": "gives the sum",
    "total": "gives the sum",
}


class Measured(NamedTuple):
    """The values of one measure, float64[systems, queries], and which ones are better.

    within: if the queries are data sets, the values of each one's queries, float64[systems,
    queries], to resample them, too. name: of the measure, which tells what values can be.
    """

    values: Floats
    better: str
    within: list[Floats] | None = None
    name: str = ""


class Aligned(NamedTuple):
    """The values of systems on the same queries. notes: what a reader must know about them."""

    names: list[str]
    queries: list[str]
    measures: dict[str, Measured]
    notes: list[str]


class System(NamedTuple):
    """The values of one system: {measure: {query: value}} as arrays over its queries."""

    queries: list[str]
    values: dict[str, Floats]
    better: dict[str, str]


def align(
    names: list[str],
    systems: Sequence[System],
    *,
    common: bool,
    caller: str,
    noted: bool = True,
    pairwise: bool = True,
    unit: Unit = QUERY,
) -> Aligned:
    """The values on the same queries, in byte order of their ids.

    common: keep the queries that all systems have, and note the others if `noted`; else different
    queries are an error. pairwise: whether pairs are tested on the queries with values of both, or
    all on those with values of all; the notes say so. unit: what messages call queries. Raises
    GroupError and MeasureError.
    """
    if not systems:
        raise GroupError(f"{caller}: expected at least one system, found none")
    # Systems of one evaluation have the same queries in the same order.
    first = systems[0].queries
    are_same = all(system.queries == first for system in systems[1:])
    sets = [set(first)] * len(systems) if are_same else [set(each.queries) for each in systems]
    if not any(sets):
        raise GroupError(f"{caller}: no system has a query")
    _check_measures(names, systems)
    shared, every = set.intersection(*sets), set.union(*sets)
    notes = []
    if len(shared) < len(every):
        if not common:
            raise _different(names, sets, shared, caller, unit)
        if noted:
            notes.append(_lacking(names, sets, shared, every, unit))
    if not shared:
        raise _disjoint(names, sets, caller, unit)
    queries = _in_byte_order(shared)
    measures, rows = {}, []
    for system in systems[: 1 if are_same else None]:
        row_of = {query: row for row, query in enumerate(system.queries)}
        rows.append([row_of[query] for query in queries])
    rows *= len(systems) if are_same else 1
    for measure, better in systems[0].better.items():
        columns = [np.asarray(system.values[measure], float) for system in systems]
        values = np.stack([column[row] for column, row in zip(columns, rows, strict=True)])
        _refuse_too_large(measure, values, names, queries, unit)
        measures[measure] = Measured(values, better)
        notes.extend(_gaps(measure, values, names, queries, unit, pairwise=pairwise))
    return Aligned(names, queries, measures, notes)


def _in_byte_order(queries: Collection[str]) -> list[str]:
    """Ids in the order of their bytes, which is that of their characters in ASCII."""
    return sorted(queries, key=None if all(map(str.isascii, queries)) else os.fsencode)


def _check_measures(names: list[str], systems: Sequence[System]) -> None:
    first = list(systems[0].values)
    if not first:
        raise MeasureError("", "expected a measure with values per query, found none")
    for name, system in zip(names[1:], systems[1:], strict=True):
        different = sorted(set(first) ^ set(system.values))
        if different:
            raise MeasureError(
                different[0],
                f"{names[0]!r} and {name!r} have different measures: only one has"
                f" {', '.join(different)}{by_face('', CHOOSE)}",
            )


def _different(
    names: list[str], sets: list[set[str]], shared: set[str], caller: str, unit: Unit
) -> GroupError:
    """The error of the first two systems whose queries differ."""
    index = next(i for i, queries in enumerate(sets) if queries != sets[0])
    only = [
        f"{len(queries)} only in {name!r}{_some(queries)}"
        for name, queries in (
            (names[0], sets[0] - sets[index]),
            (names[index], sets[index] - sets[0]),
        )
    ]
    hint = f" (queries='common' compares on the {len(shared)} in common)" if shared else ""
    return GroupError(
        f"{caller}: {names[0]!r} and {names[index]!r} have different {unit.many}: {', '.join(only)}"
        f"{hint}"
    )


def _disjoint(names: list[str], sets: list[set[str]], caller: str, unit: Unit) -> GroupError:
    """The error of systems without a common query."""
    shown = [
        f"{name!r} has {counted(len(queries), *unit[:2])}{_some(queries)}"
        for name, queries in zip(names, sets, strict=True)
    ]
    common = f"the systems have no {unit.one} in common"
    return GroupError(f"{caller}: {common}: {first_few(shown, NAMED)}")


def _lacking(
    names: list[str], sets: list[set[str]], shared: set[str], every: set[str], unit: Unit
) -> str:
    lacking = [
        f"{name} lacks {len(every - queries)}{_some(every - queries)}"
        for name, queries in zip(names, sets, strict=True)
        if queries != every
    ]
    return f"compared on {len(shared)} of {len(every)} {unit.many}: {'; '.join(lacking)}"


def _some(queries: Collection[str]) -> str:
    """The first queries in parentheses."""
    return f" ({first_few(_in_byte_order(queries), NAMED)})" if queries else ""


def _refuse_too_large(
    measure: str, values: Floats, names: list[str], queries: list[str], unit: Unit
) -> None:
    cells = np.argwhere(np.abs(values) > LARGEST)
    if len(cells):
        system, query = cells[0]
        value = values[system, query]
        reason = (
            "infinite; infinite values cannot be compared"
            if np.isinf(value)
            else f"{value:g}; values above {LARGEST:g} cannot be compared"
        )
        item = f"{unit.one} {queries[query]!r}"
        raise GroupError(f"{measure}: the value of {names[system]!r} for {item} is {reason}")


def _gaps(
    measure: str,
    values: Floats,
    names: list[str],
    queries: list[str],
    unit: Unit,
    *,
    pairwise: bool,
) -> list[str]:
    """A note on the systems that have no value (NaN) for some queries."""
    gaps = np.isnan(values)
    systems = np.flatnonzero(gaps.any(axis=1))
    if not len(systems):
        return []
    lacking: list[str] = []
    for system in systems:
        count = int(gaps[system].sum())
        first = f"has no value for {count} of {len(queries)} {unit.many}"
        words = f"for {count}" if lacking else first
        ids = _some([query for query, gap in zip(queries, gaps[system], strict=True) if gap])
        lacking.append(f"{names[system]} {words}{ids}")
    return [f"{measure}: {first_few(lacking, NAMED)}{_used(gaps, unit, pairwise=pairwise)}"]


def _used(gaps: npt.NDArray[np.bool_], unit: Unit, *, pairwise: bool) -> str:
    """Which queries the means and the tests use."""
    systems, common = len(gaps), int((~gaps.any(axis=0)).sum())
    if systems == 1:
        return ""
    pairs = f"; a pair is compared on the {unit.many} with values of both"
    pairs *= pairwise and systems > 2
    if not common:
        return f"{pairs}; no {unit.one} has values of all systems, so the means cannot be compared"
    queries = f"the {counted(common, *unit[:2])} with values of all systems"
    used = "is used" if common == 1 else "are used"
    return f"{pairs}; means are over {queries}" if pairs else f"; only {queries} {used}"


def systems_of(
    scores: Sequence[Scores], allowed: Container[str] | None = None
) -> tuple[list[System], list[str]]:
    """The values per query of Scores, and notes on means that differ from those of `evaluate`.

    allowed: the names of measures to use, others are skipped. Raises MeasureError for a measure
    without numbers per query.
    """
    systems: list[System] = []
    notes: dict[str, None] = {}
    for item in scores:
        columns = {
            name: column
            for name, column in columns_by_name(item).items()
            if allowed is None or name in allowed
        }
        for name, column in columns.items():
            _refuse_without_values(column, columns)
            summary = SUMMARIES.get(column.average)
            if summary and not item.zscored:
                notes[f"{name}: the mean shown is over queries; `evaluate` {summary}"] = None
        systems.append(
            System(
                item.queries,
                {name: column.to_array() for name, column in columns.items()},
                {name: column.better for name, column in columns.items()},
            )
        )
    return systems, list(notes)


def _refuse_without_values(column: Column, columns: dict[str, Column]) -> None:
    if column.values is not None and column.kind != "text":
        return
    others = [
        other_column.name
        for other_column in columns.values()
        if other_column.values is not None and other_column.kind != "text"
    ]
    measure = BY_NAME.get(column.name)
    if measure is not None and measure.average == "geometric":
        others = [column.name.removeprefix("gm_")]
    hint = f"; compare {enumerated(others, 'or', NAMED)} instead" if others else ""
    raise MeasureError(column.name, f"{column.name} has no values per query{hint}")


def note_missing(scores: Sequence[Scores], names: list[str]) -> list[str]:
    """A note for each run that lacks judged queries."""
    notes = []
    for name, item in zip(names, scores, strict=True):
        undefined = [
            measure
            for measure in item
            if item.zero_rows
            and all(item[measure][row] != item[measure][row] for row in item.zero_rows)
        ]
        has = "have" if len(undefined) > 1 else "has"
        but = f", except in {enumerated(undefined)}, which {has} no value" if undefined else ""
        notes += [note + but for note in missing_note(item, name)]
    return notes
