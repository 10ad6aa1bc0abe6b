"""Tables with a value per item, of any program, and the systems, data sets and clusters in them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from fastrank.analysis.comparing.options import DATASET, ITEM, QUERY, Unit
from fastrank.analysis.comparing.value_cells import (
    labels_of,
    needed_numbers,
    number_of,
    numbers_of,
)
from fastrank.analysis.comparing.value_forms import Named, table_of_values, tables_in
from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.faces import by_face, column_option
from fastrank.common.messages import closest, did_you_mean, first_few
from fastrank.core.formats.tables.forms import is_missing
from fastrank.core.formats.tables.grouping import columns_of
from fastrank.core.formats.tables.roles import INDEX_NAMES, find_columns, normalized_name
from fastrank.core.measures.notation import parse_measure
from fastrank.errors import InputError, MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from fastrank.core.formats.files.files import Source
    from fastrank.core.formats.tables.roles import Name
    from fastrank.core.formats.tables.table import Table

    # {system: {item: {measure: value}}}
    Systems = dict[str, dict[str, dict[str, float]]]
    # Data set, system and item.
    Key = tuple[str, str, str]

ROLES = ("system", "item", "measure", "value", "dataset", "cluster", "filter")
# The name of values that have none.
VALUE = "value"
# Rows and columns of spreadsheets that are no items: means, as in `Average (8)`, and ranks.
NO_ITEMS = re.compile(r"(average|avg|mean|overall|total)\.?( ?\(.*\))?|rank|#|no\.?")
# Words for items whose column has such a name.
WORDS = ("question", "topic", "task", "instance", "sample", "example")
# How many names a note lists.
LISTED = 5


class Values(NamedTuple):
    """The values in tables.

    datasets: the systems by data set; one, whose name is empty, without a column of data sets.
    has_items: False if each data set has one value, its mean, under its name. unit: what items are
    called. clusters: that of each item, or if there are several data sets of each of these. notes:
    what was left out. source: the name of the first table in messages.
    """

    datasets: dict[str, Systems]
    has_items: bool
    unit: Unit
    clusters: dict[str, str]
    notes: list[str]
    source: str

    @property
    def of_datasets(self) -> bool:
        """Whether there are several data sets with items of their own."""
        return self.has_items and len(self.datasets) > 1

    def systems(self) -> Systems:
        """The systems of the only data set, or with the data sets as their items."""
        merged: Systems = {}
        for systems in self.datasets.values():
            for system, items in systems.items():
                merged.setdefault(system, {}).update(items)
        return merged


class Row(NamedTuple):
    """A value, and the row of its table."""

    dataset: str
    system: str
    item: str
    measure: str
    value: float
    row: int


def values_in(
    scores: Any, columns: Mapping[str, Name] | None, clusters: Name | None
) -> Values | None:
    """The values in what `compare_scores` takes, None if it is no table. Raises their errors."""
    if isinstance(scores, Values):
        return scores
    tables = tables_in(scores)
    return None if tables is None else read_values(tables, columns, clusters)


def read_values(
    tables: Sequence[Named],
    columns: Mapping[str, Name] | None = None,
    clusters: Name | None = None,
    measures: Collection[str] = (),
) -> Values:
    """The values in tables, each in one of these forms, which its columns tell.

    * Columns of the system, the item, the measure and the value.
    * Columns of the system and the item; each other column of numbers is a measure.
    * A column of the system; each column of numbers is an item, or a data set.
    * A column of the item; each column of numbers is a system. If there are several tables, or one
      with a value column, each is a system with its name, and the columns are measures.

    Any may have a column of data sets, which without items have one value each, a column of
    clusters, and one of filters, by whose names measures of equal items are told apart. A system
    that several tables have values of, in the same measure and data set, gets the name of each.

    Raises InputError or FormatError for a cell that is wrong, a value that appears twice and a
    missing column; MeasureError for a measure that is in no table.
    """
    reader = _Reader(columns, clusters, measures, alone=len(tables) == 1)
    parts = [reader.rows(named) for named in tables]
    _name_by_file(parts, [named.name for named in tables], reader.notes)
    datasets: dict[str, Systems] = {}
    for rows, (_, _, table) in zip(parts, tables, strict=True):
        lines: dict[tuple[str, str, str, str], int] = {}
        for dataset, system, item, measure, value, row in rows:
            first = lines.setdefault((dataset, system, item, measure), row)
            if first != row:
                where = f" in {dataset!r}" if dataset else ""
                reason = f"{measure} of {system!r} for {reader.unit.one} {item!r} appears twice"
                table.refuse(row, f"{reason}{where}{reader.advice}")
            systems = datasets.setdefault(dataset, {})
            systems.setdefault(system, {}).setdefault(item, {})[measure] = value
    reader.check_measures(datasets)
    if reader.has_items and len(datasets) == 1:
        datasets = {"": next(iter(datasets.values()))}
    clusters_of = reader.clusters(len(datasets) > 1)
    unit, source = reader.unit, tables[0].table.source
    return Values(datasets, reader.has_items, unit, clusters_of, reader.notes, source)


def _spellings(measure: str) -> set[str]:
    """A measure as it is written, and as `eval` prints it: `P.10` and `P_10`."""
    names = {measure}
    with suppress(MeasureError):
        names |= {*map(os.fsdecode, parse_measure(measure).bind(DEFAULT_VERSION).names)}
    return names


def means_in(source: Source) -> dict[str, dict[str, float]]:
    """{measure: {system: mean}} of a table, whose means are the values that have no item.

    Raises what reading a table raises, InputError without means, and for two of one system.
    """
    table = table_of_values(source)
    found = find_columns(
        table.names, ROLES, None, table.source, needed=("system", "measure", "value"), call=""
    )
    items = table.cells(found["item"]) if "item" in found else [None] * table.size
    values = needed_numbers(table, found["value"])
    labels = (labels_of(table, found, role) for role in ("system", "measure"))
    means: dict[str, dict[str, float]] = {}
    for row, (system, measure, item) in enumerate(zip(*labels, items, strict=True)):
        if not is_missing(item) and item != "":
            continue
        systems = means.setdefault(measure, {})
        if system in systems:
            table.refuse(row, f"run {system!r} has a second mean of {measure!r}")
        systems[system] = values[row]
    if not means:
        reason = "has no means; write it with `fastrank eval --format csv` without -q"
        raise InputError(table.source, reason)
    return means


class _Reader:
    """Reads the rows of tables, and gathers what is to be told about all of them."""

    def __init__(
        self,
        columns: Mapping[str, Name] | None,
        cluster: Name | None,
        measures: Collection[str],
        *,
        alone: bool,
    ) -> None:
        self._columns, self._cluster, self._alone = columns, cluster, alone
        self._spellings = {measure: _spellings(measure) for measure in measures}
        self._wanted = set().union(*self._spellings.values())
        self._clusters: list[tuple[Table, int, str, str, str]] = []
        # The data sets and the measures of tables, also of those that are not asked for.
        self._datasets: dict[str, None] = {}
        self._measures: dict[str, None] = {}
        self.notes: list[str] = []
        self.has_items, self.unit, self.advice = False, ITEM, ""

    def rows(self, named: Named) -> list[Row]:
        """The values of a table, row by row."""
        table, size = named.table, named.table.size
        columns = columns_of(table, ROLES, self._columns)
        if self._cluster is not None:
            columns = {**(columns or {}), "cluster": self._cluster}
        found = self._found(table, columns)
        has_value, has_system = "value" in found, "system" in found or bool(named.dataset)
        is_long = has_value and ("measure" in found or "value" in (columns or {}))
        of_items = not has_value and "system" in found and not {"item", "dataset"} & {*found}
        of_systems = not has_value and not has_system and self._alone
        self.has_items |= of_items or "item" in found
        if "item" in found:
            self.unit = _unit_of(table.names[found["item"]])
        elif not self.has_items:
            self.unit = DATASET
        if not has_system and not of_systems:
            self.advice = f"; if a column names systems, {column_option('system')}"
        datasets = labels_of(table, found, "dataset") or [named.dataset] * size
        systems = labels_of(table, found, "system") or [named.name or "system"] * size
        items = labels_of(table, found, "item", may_lack=is_long)
        items = items or ([""] * size if of_items else datasets)
        keys = list(zip(datasets, systems, items, strict=True))
        self._datasets |= dict.fromkeys(datasets)
        if self._cluster is not None:
            cells = labels_of(table, found, "cluster")
            self._clusters += zip([table] * size, range(size), items, datasets, cells, strict=True)
        is_repeated = "filter" in found and len({*keys}) < size
        filters = labels_of(table, found, "filter") if is_repeated else [""] * size
        if is_long:
            return self._long(table, found, keys, filters)
        found.pop("value", None)
        return self._wide(table, found, keys, filters, of_systems=of_systems, of_items=of_items)

    def _found(self, table: Table, columns: Mapping[str, Name] | None) -> dict[str, int]:
        """The column of each role. Raises InputError without what the values belong to."""
        find = partial(find_columns, table.names, ROLES, columns, table.source)
        found = find(needed=(), call="compare_scores")
        if not {"item", "dataset", "system"} & {*found}:
            listed = first_few(list(map(repr, table.names)), LISTED, count=True)
            reason = f"no column of items or systems: found {listed}; name one `item` or `system`"
            raise InputError(table.source, f"{reason}, or {column_option('item')}")
        if not {"item", "dataset"} & {*found} and "value" in found:
            find(needed=("item",), call="compare_scores")
        if "cluster" in found and self._cluster is None:
            cluster = table.names[found["cluster"]]
            option = by_face(f"clusters={cluster!r}", f"--clusters {cluster}")
            self._note(f"the items of a {cluster} are treated as independent, without {option}")
        if "cluster" in found and not {"item", "dataset"} & {*found}:
            raise InputError(table.source, "clusters: expected a column of items beside it")
        return found

    def _long(
        self, table: Table, found: Mapping[str, int], keys: list[Key], filters: list[str]
    ) -> list[Row]:
        """The values of a column, each with the name of its measure beside it, or of the column."""
        place = found["value"]
        values = needed_numbers(table, place)
        measures = labels_of(table, found, "measure") or [str(table.names[place])] * table.size
        pairs = list(zip(measures, filters, strict=True))
        names = {pair: self._asked_for(*pair) for pair in dict.fromkeys(pairs)}
        rows = []
        means = 0
        for row, ((dataset, system, item), pair) in enumerate(zip(keys, pairs, strict=True)):
            means += not item
            if item and names[pair]:
                rows.append(Row(dataset, system, item, names[pair], values[row], row))
        if means:
            self._note(f"means, which have no {self.unit.one}, are left out: {means}")
        return rows

    def _asked_for(self, measure: str, filter_name: str) -> str:
        """The name of the values of a measure and a filter; empty if only others are asked for."""
        name = f"{measure},{filter_name}" if filter_name else measure
        self._measures |= {measure: None, name: None}
        return name if not self._wanted or {measure, name} & self._wanted else ""

    def _wide(
        self,
        table: Table,
        found: Mapping[str, int],
        keys: list[Key],
        filters: list[str],
        *,
        of_systems: bool,
        of_items: bool,
    ) -> list[Row]:
        """The values of the columns of numbers, each of a system, of an item, or of a measure."""
        items = [item for *_, item in keys] if of_systems else table.names if of_items else []
        no_items = {place for place, name in enumerate(items) if _is_no_item(name)}
        left_out = f"averages and ranks are no {self.unit.many}"
        self._note_left_out([str(items[place]) for place in sorted(no_items)], left_out)
        of_measures = not of_systems and not of_items
        wanted = self._wanted if of_measures else set()
        skipped = {*found.values()} | (no_items if of_items else set())
        columns = self._numbers(table, skipped, wanted)
        made = []
        for column, values in columns.items():
            names = dict.fromkeys(filters, VALUE)
            if of_measures:
                names = {filter_name: self._asked_for(column, filter_name) for filter_name in names}
            else:
                self._measures[VALUE] = None
            for row, (dataset, system, item) in enumerate(keys):
                if names[filters[row]] and (of_items or row not in no_items):
                    system, item = column if of_systems else system, column if of_items else item
                    made.append(Row(dataset, system, item, names[filters[row]], values[row], row))
        if of_items:
            listed = first_few(list(columns), LISTED, count=True)
            self._note(f"each column of numbers is an item: {listed}")
        return made

    def _numbers(self, table: Table, skipped: set[int], wanted: set[str]) -> dict[str, list[float]]:
        """The numbers of each column of values, or of those wanted. Raises the table's errors."""
        texts, quoted = [], False
        columns: dict[str, list[float]] = {}
        for place, label in enumerate(map(str, table.names)):
            if place in skipped or normalized_name(label) in INDEX_NAMES:
                continue
            cells = table.cells(place)
            # Numbers of JSON and of frames are none of their texts, such as labels of classes.
            is_text = not table.has_cells and all(
                isinstance(cell, str) or is_missing(cell) for cell in cells
            )
            if wanted and not any(f"{name},".startswith(f"{label},") for name in wanted):
                is_text = is_text or number_of(cells[0]) is None
                self._measures |= {} if is_text else {label: None}
                continue
            values = None if is_text else numbers_of(table, place)
            if values is None:
                texts.append(label)
                quoted |= is_text and number_of(cells[0]) is not None
            elif label in columns:
                raise InputError(table.source, f"more than one column {label!r}")
            else:
                columns[label] = values
        self._note_left_out(texts, "columns without numbers are not values")
        if not columns and not wanted:
            listed = ", ".join(map(repr, table.names))
            reason = f"expected a column of numbers, found {listed}"
            raise InputError(table.source, reason + quoted * "; numbers in quotes are texts")
        return columns

    def check_measures(self, datasets: Collection[str]) -> None:
        """Raise MeasureError for a measure that is in no table; note data sets without any."""
        names = sorted(self._measures)
        for measure, spellings in self._spellings.items():
            if spellings.isdisjoint(names):
                listed = first_few(names, LISTED, count=True) or "nothing else"
                meant = did_you_mean(closest(measure, names))
                reason = f"no values of {measure!r}; there are values of {listed}{meant}"
                raise MeasureError(measure, reason)
        self._note_left_out(
            [name for name in self._datasets if name not in datasets],
            f"data sets without {', '.join(self._spellings)}",
        )

    def clusters(self, of_datasets: bool) -> dict[str, str]:
        """The cluster of each item, or data set. Raises the error of a table."""
        clusters: dict[str, str] = {}
        for table, row, item, dataset, cluster in self._clusters:
            unit = dataset if of_datasets else item
            first = clusters.setdefault(unit, cluster)
            if first != cluster:
                table.refuse(row, f"the cluster of {unit!r} is {cluster!r}, but {first!r} above")
        return clusters

    def _note_left_out(self, names: Iterable[str], why: str) -> None:
        if listed := list(dict.fromkeys(names)):
            self._note(f"{why}: {first_few(listed, LISTED, count=True)}")

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _is_no_item(name: Name) -> bool:
    return NO_ITEMS.fullmatch(str(name).strip().lower()) is not None


def _unit_of(name: Name) -> Unit:
    """The words for items whose column has a name."""
    label = normalized_name(name)
    if label.startswith(QUERY.one) or label in ("q", "qid", "q_id"):
        return QUERY
    word = next((word for word in WORDS if label.startswith(word)), ITEM.one)
    return Unit(word, f"{word}s", f"{word}s")


def _name_by_file(parts: list[list[Row]], names: Sequence[str], notes: list[str]) -> None:
    """Put the name of its table behind each system of which several have the same values."""
    keys = [{(row.system, row.dataset, row.measure) for row in rows} for rows in parts]
    seen: set[tuple[str, str, str]] = set()
    repeated: dict[str, None] = {}
    for part in keys:
        repeated |= dict.fromkeys(sorted(system for system, *_ in part & seen))
        seen |= part
    if not repeated:
        return
    for rows, name in zip(parts, names, strict=True):
        rows[:] = [
            row._replace(system=f"{row.system} ({name})") if row.system in repeated else row
            for row in rows
        ]
    listed = first_few(list(repeated), LISTED, count=True)
    notes.append(f"systems of several files have the names of these, too: {listed}")
