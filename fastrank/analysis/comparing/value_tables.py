"""Tables with a value per item, of any program, and the systems, data sets and clusters in them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from fastrank.common.faces import by_face
from fastrank.common.messages import closest, did_you_mean, first_few
from fastrank.core.formats.inputs import run_names
from fastrank.core.formats.tables.forms import frame_kind, is_column, is_file, is_missing
from fastrank.core.formats.tables.grouping import columns_of
from fastrank.core.formats.tables.reading import table_of
from fastrank.core.formats.tables.records import are_columns
from fastrank.core.formats.tables.roles import INDEX_NAMES, find_columns, normalized_name
from fastrank.core.formats.tables.table_files import SEMICOLONS, restored
from fastrank.errors import InputError, MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    from fastrank.core.formats.files.files import Source
    from fastrank.core.formats.tables.roles import Name
    from fastrank.core.formats.tables.table import Table

    # {system: {item: {measure: value}}}
    Systems = dict[str, dict[str, dict[str, float]]]

ROLES = ("system", "item", "measure", "value", "dataset", "cluster")
# The name of values that have none.
VALUE = "value"
# Names of rows or columns of means in spreadsheets, which are no items.
AVERAGES = ("average", "avg", "mean", "overall", "total")
TRUTHS = {"true": 1.0, "false": 0.0}
# How many names a note lists.
LISTED = 5
MEANS_ONLY = "; means have no items: `fastrank eval -q` writes values per query"


class Values(NamedTuple):
    """The values in tables.

    datasets: the systems by data set; one, whose name is empty, without a column of data sets.
    has_items: False if each data set has one value, its mean, under its name. clusters: that of
    each item, or if there are several data sets of each of these. notes: what was left out.
    """

    datasets: dict[str, Systems]
    has_items: bool
    clusters: dict[str, str]
    notes: list[str]

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


class Labels(NamedTuple):
    """The data set, the system and the item of each row of a table."""

    datasets: list[str]
    systems: list[str]
    items: list[str]


class Asked(NamedTuple):
    """Columns by role, the column of clusters, and measures, all if empty, that users ask for."""

    columns: Mapping[str, Name] | None
    clusters: Name | None
    measures: Collection[str]


def tables_in(scores: Any) -> list[tuple[str, Table]] | None:
    """The names and tables that scores are, None if they are something else.

    scores: a table in any form, whose name is empty if it is not a file; a list of files; or
    {system: table}. Raises what `table_of` raises.
    """
    if isinstance(scores, Mapping):
        if scores and all(map(_is_file_or_frame, scores.values())):
            return [(str(name), _table(table)) for name, table in scores.items()]
        return [("", _table(scores))] if are_columns_of(scores) else None
    if isinstance(scores, (list, tuple)) and scores:
        if all(map(is_file, scores)):
            return list(zip(run_names(scores), map(_table, scores), strict=True))
        is_table = all(isinstance(row, Mapping) for row in scores)
        return [("", _table(list(scores)))] if is_table else None
    if is_file(scores):
        return [(run_names([scores])[0], _table(scores))]
    return [("", _table(scores))] if frame_kind(scores) is not None else None


def _is_file_or_frame(value: object) -> bool:
    return is_file(value) or frame_kind(value) is not None


def are_columns_of(scores: Mapping[Any, Any]) -> bool:
    """Whether a dict is a table: columns by name, not systems by data set."""
    if any(map(_is_file_or_frame, scores.values())):
        return False
    if any(hasattr(cell, "keys") for column in scores.values() for cell in _first(column)):
        return False
    return bool(scores) and (
        all(map(is_column, scores.values())) or are_columns(scores, (("system",), ("item",)))
    )


def _first(column: Any) -> list[Any]:
    return [next(iter(column), None)] if isinstance(column, (list, tuple)) else []


def _table(scores: Any) -> Table:
    table = table_of(scores, ragged=True, source="scores")
    if not table.names or not table.size:
        raise InputError(table.source, "expected rows of values, found none")
    if len(table.names) == 1 and ";" in str(table.names[0]):
        raise InputError(table.source, SEMICOLONS)
    return table


def read_values(
    tables: Sequence[tuple[str, Table]],
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

    Any may have a column of data sets, which without items have one value each, and a column of
    clusters. A system that several tables have values of, in the same measure and data set, gets
    the name of each of these.

    Raises InputError or FormatError for a cell that is wrong, a value that appears twice and a
    missing column; MeasureError for a measure that is in no table.
    """
    reader = _Reader(Asked(columns, clusters, measures), alone=len(tables) == 1)
    parts = [reader.rows(name, table) for name, table in tables]
    _name_by_file(parts, [name for name, _ in tables], reader.notes)
    datasets: dict[str, Systems] = {}
    for rows, (_, table) in zip(parts, tables, strict=True):
        lines: dict[tuple[str, str, str, str], int] = {}
        for dataset, system, item, measure, value, row in rows:
            first = lines.setdefault((dataset, system, item, measure), row)
            if first != row:
                reason = f"{measure} of {system!r} for query {item!r} appears twice"
                table.refuse(row, f"{reason}{f' in {dataset!r}' if dataset else ''}")
            systems = datasets.setdefault(dataset, {})
            systems.setdefault(system, {}).setdefault(item, {})[measure] = value
    _check_measures(measures, {row.measure for rows in parts for row in rows})
    if reader.has_items and len(datasets) == 1:
        datasets = {"": next(iter(datasets.values()))}
    return Values(datasets, reader.has_items, reader.clusters(len(datasets) > 1), reader.notes)


def means_in(source: Source) -> dict[str, dict[str, float]]:
    """{measure: {system: mean}} of a table, whose means are the values that have no item.

    Raises what reading a table raises, InputError without means, and for two of one system.
    """
    table = _table(source)
    found = find_columns(
        table.names, ROLES, None, table.source, needed=("system", "measure", "value"), call=""
    )
    items = table.cells(found["item"]) if "item" in found else [None] * table.size
    values = _needed_numbers(table, found["value"])
    labels = (_labels(table, found, role) for role in ("system", "measure"))
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

    def __init__(self, asked: Asked, *, alone: bool) -> None:
        self._asked, self._alone = asked, alone
        self._clusters: list[tuple[Table, int, str, str, str]] = []
        self.notes: list[str] = []
        self.has_items = False

    def rows(self, name: str, table: Table) -> list[Row]:
        """The values of a table, row by row."""
        columns = columns_of(table, ROLES, self._asked.columns)
        if self._asked.clusters is not None:
            columns = {**(columns or {}), "cluster": self._asked.clusters}
        found = self._found(table, columns)
        has_value = "value" in found
        of_items = not has_value and "system" in found and not {"item", "dataset"} & {*found}
        of_systems = not has_value and "system" not in found and self._alone
        self.has_items |= of_items or "item" in found
        size = table.size
        labels = Labels(
            _labels(table, found, "dataset") or [""] * size,
            _labels(table, found, "system") or [name or "system"] * size,
            _labels(table, found, "item"),
        )
        if not labels.items:
            labels = labels._replace(items=[""] * size if of_items else labels.datasets)
        if self._asked.clusters is not None:
            cells = _labels(table, found, "cluster")
            tables = [table] * size
            self._clusters += zip(
                tables, range(size), labels.items, labels.datasets, cells, strict=True
            )
        if has_value and ("measure" in found or "value" in (columns or {})):
            return self._long(table, found, labels)
        found.pop("value", None)
        return self._wide(table, found, labels, of_systems=of_systems, of_items=of_items)

    def _found(self, table: Table, columns: Mapping[str, Name] | None) -> dict[str, int]:
        """The column of each role. Raises InputError without what the values belong to."""
        find = partial(find_columns, table.names, ROLES, columns, table.source)
        found = find(needed=(), call="compare_scores")
        if not {"item", "dataset"} & {*found} and ("system" not in found or "value" in found):
            find(needed=("item",), call="compare_scores")
        if "cluster" in found and self._asked.clusters is None:
            cluster = table.names[found["cluster"]]
            option = by_face(f"clusters={cluster!r}", f"--clusters {cluster}")
            self._note(f"the items of a {cluster} are treated as independent, without {option}")
        if "cluster" in found and not {"item", "dataset"} & {*found}:
            raise InputError(table.source, "clusters: expected a column of items beside it")
        return found

    def _long(self, table: Table, found: Mapping[str, int], labels: Labels) -> list[Row]:
        """The values of a column, each with the name of its measure beside it, or of the column."""
        place, asked = found["value"], self._asked.measures
        values = _needed_numbers(table, place)
        measures = _labels(table, found, "measure") or [str(table.names[place])] * table.size
        rows = zip(*labels, measures, values, range(table.size), strict=True)
        return [row for row in map(Row._make, rows) if not asked or row.measure in asked]

    def _wide(
        self,
        table: Table,
        found: Mapping[str, int],
        labels: Labels,
        *,
        of_systems: bool,
        of_items: bool,
    ) -> list[Row]:
        """The values of the columns of numbers, each of a system, of an item, or of a measure."""
        left_out = [*_averages(labels.items)] if of_systems else []
        self._note_left_out([labels.items[row] for row in left_out], "averages are no items")
        kept = [row for row in range(table.size) if row not in left_out]
        asked = () if of_systems or of_items else self._asked.measures
        averages: Collection[str] = ()
        if of_items:
            averages = [str(table.names[place]) for place in _averages(table.names)]
            self._note_left_out(averages, "averages are no items")
        made = []
        for column, values in self._columns(table, {*found.values()}, asked, averages):
            for row in kept:
                dataset, system, item = (side[row] for side in labels)
                measure = VALUE if of_systems or of_items else column
                system, item = column if of_systems else system, column if of_items else item
                made.append(Row(dataset, system, item, measure, values[row], row))
        return made

    def _columns(
        self, table: Table, taken: set[int], asked: Collection[str], averages: Collection[str]
    ) -> Iterator[tuple[str, list[float]]]:
        """The name and the numbers of each column of values. Raises the table's errors."""
        texts = []
        columns: dict[str, list[float]] = {}
        for place, label in enumerate(map(str, table.names)):
            skipped = place in taken or normalized_name(label) in INDEX_NAMES or label in averages
            if skipped or (asked and label not in asked):
                continue
            values = _numbers(table, place)
            if values is None:
                texts.append(label)
            elif label in columns:
                raise InputError(table.source, f"more than one column {label!r}")
            else:
                columns[label] = values
        self._note_left_out(texts, "columns without numbers are not values")
        if not columns and not asked:
            listed = ", ".join(map(repr, table.names))
            raise InputError(table.source, f"expected a column of numbers, found {listed}")
        yield from columns.items()

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


def _averages(names: Sequence[Name]) -> Iterator[int]:
    """The places of names that spreadsheets give to averages."""
    return (place for place, name in enumerate(names) if normalized_name(name) in AVERAGES)


def _labels(table: Table, found: Mapping[str, int], role: str) -> list[str]:
    """The texts of a column; none if there is no such column. Raises the error of an empty one."""
    if role not in found:
        return []
    labels = []
    for row, cell in enumerate(table.cells(found[role])):
        label = "" if is_missing(cell) else restored(cell) if table.has_cells else str(cell)
        if not label.strip():
            reason = f"expected the name of the {role}, found none"
            reason += MEANS_ONLY if role == "item" else ""
            table.failing(found[role])(row, reason)
        labels.append(label)
    return labels


def _numbers(table: Table, place: int) -> list[float] | None:
    """A column as numbers, NaN where one is missing; None if there is no number.

    Raises the table's error for a text among numbers.
    """
    cells = table.cells(place)
    numbers = [_number(cell) for cell in cells]
    if not any(number is not None and number == number for number in numbers):
        return None
    if None in numbers:
        row = numbers.index(None)
        reason = f"expected a number, true or false, found {cells[row]!r:.60}"
        table.failing(place)(row, reason)
    return [number for number in numbers if number is not None]


def _needed_numbers(table: Table, place: int) -> list[float]:
    numbers = _numbers(table, place)
    if numbers is None:
        table.failing(place)(0, f"expected a number, found {table.cells(place)[0]!r:.60}")
    return numbers


def _number(cell: Any) -> float | None:
    """A cell as a number: NaN for a missing one, None for what is no number."""
    if isinstance(cell, str):
        text = cell.strip()
        if not text:
            return math.nan
        if text.lower() in TRUTHS:
            return TRUTHS[text.lower()]
        # Python also accepts `1_0` and digits of other scripts.
        if "_" in text or not text.isascii():
            return None
    elif is_missing(cell):
        return math.nan
    elif not hasattr(type(cell), "__float__") or getattr(cell, "ndim", False):
        return None
    try:
        return float(cell)
    except ValueError:
        return None
    except OverflowError:
        return math.inf


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


def _check_measures(asked: Collection[str], measures: set[str]) -> None:
    """Raise MeasureError for a measure that is not there, InputError if there is none."""
    for measure in asked:
        if measure not in measures:
            listed = first_few(sorted(measures), LISTED, count=True) or "nothing else"
            meant = did_you_mean(closest(measure, sorted(measures)))
            reason = f"no values of {measure!r}; there are values of {listed}{meant}"
            raise MeasureError(measure, reason)
