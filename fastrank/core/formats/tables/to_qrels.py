"""Dicts and tables as judgments."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from operator import eq

from fastrank.common.messages import counted, python_warning
from fastrank.core.data.texts import NO_ITERATION, constant
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.tables.dicts import (
    IN_MEMORY,
    LISTED_GRADE,
    SOURCE,
    plain_lists,
    rows_of_dict,
)
from fastrank.core.formats.tables.forms import is_missing
from fastrank.core.formats.tables.grouping import columns_of, group_by_query
from fastrank.core.formats.tables.lists import lists_by_query
from fastrank.core.formats.tables.roles import (
    QRELS_ROLES,
    find_columns,
    kind_of_names,
    may_lack_grades,
)
from fastrank.core.formats.tables.table import numbers_of_cells
from fastrank.core.formats.tables.values import grades_of
from fastrank.core.formats.tools.question_files import as_rows
from fastrank.core.native.buffers import filled
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from fastrank.common.messages import Warn
    from fastrank.core.data.grades import Scale
    from fastrank.core.formats.tables.table import Table


def qrels_from_dict(
    given: Mapping[Any, Any], *, source: str = SOURCE, warn: Warn | None = None
) -> Qrels:
    """Judgments from {query: {document: grade}}, or {query: [document, ...]} of grade 1.

    source: for messages. warn: called with what is left out because nobody has judged it: documents
    without a grade, and in files queries without documents. Without it, the first are refused.
    """
    given = plain_lists(given, "qrels", "score", source)
    if warn is not None and source not in IN_MEMORY:
        given, warn = without_unrated(given, source, warn), None

    def listed(count: int) -> Iterable[int]:
        return repeat(LISTED_GRADE, count)

    fields, values, fail = rows_of_dict(given, "grade", source, keep_empty=False, listed=listed)
    try:
        grades, scale = grades_of(values, fail)
    except InputError:
        if warn is None or not any(map(is_missing, values)):
            raise
        return qrels_from_dict(without_unrated(given, source, warn), source=source)
    groups = constant(NO_ITERATION, len(values))
    return Qrels(**fields, groups=groups, grade_column=grades, scale=scale)


def without_unrated(given: Mapping[Any, Any], source: str, warn: Warn) -> dict[Any, Any]:
    """The dict without what nobody has judged, with a warning that counts it."""
    unrated: list[str] = []
    judged: dict[Any, Any] = {}
    for query, grades in given.items():
        if isinstance(grades, Mapping) and not _are_numbers(grades.values()):
            missing = {doc for doc, grade in grades.items() if is_missing(grade)}
            unrated += [f"{doc!r} of query {query!r}" for doc in grades if doc in missing]
            grades = {doc: grade for doc, grade in grades.items() if doc not in missing}
        judged[query] = grades
    empty = [
        repr(query) for query, docs in judged.items() if hasattr(docs, "__len__") and not len(docs)
    ]
    if given and len(empty) == len(given):
        count = counted(len(given), "query", "queries")
        raise InputError(
            source, f"expected ratings, found none for {count}, such as {empty[0]:.60}"
        )
    for names, noun, plural in ((unrated, "document", ""), (empty, "query", "queries")):
        if names:
            count = counted(len(names), noun, plural)
            warn(f"{source}: {count} without a rating left out, such as {names[0]:.60}")
    return judged


def _are_numbers(grades: Collection[Any]) -> bool:
    """Whether all are int or float, and none is NaN."""
    return {*map(type, grades)} <= {int, float} and all(map(eq, grades, grades))


def qrels_of(
    table: Table, columns: Mapping[str, Any] | None = None, *, warn: Warn = python_warning
) -> Qrels:
    """The judgments of a table; `columns`: as in Qrels.from_pandas. warn: of what has no grade."""
    columns = columns_of(table, QRELS_ROLES, columns)
    table = as_rows(table, "qrels", columns)
    by_query = lists_by_query(table, "qrels", columns)
    if by_query is not None:
        return qrels_from_dict(by_query, source=table.source, warn=warn)
    optional = ("grade",) if may_lack_grades(table.names, columns) else ()
    indexes = find_columns(
        table.names,
        QRELS_ROLES,
        columns,
        table.source,
        optional=optional,
        call=table.call("Qrels"),
    )
    index = indexes.get("grade", -1)
    scale: Scale | None = None
    try:
        grouped, fields = group_by_query(table, indexes)
        if index >= 0:
            grades, scale = grades_of(table.numbers(index), table.failing(index))
        else:
            grades = filled("q", [LISTED_GRADE] * len(fields["docs"]))
    except (FormatError, InputError):
        graded = table if index < 0 else without_ungraded(table, index, warn)
        if graded is table:
            raise
        return qrels_of(graded, columns, warn=warn)
    if scale is not None and columns is None and kind_of_names(table.names) == "run":
        reason = "grades with fractions beside a rank or a tag: this looks like a run"
        raise InputError(table.source, f"{reason}; are judgments and run swapped?")
    fields["groups"] = constant(NO_ITERATION, len(fields["docs"]))
    for name, role in (("groups", "iteration"), ("strata", "stratum")):
        if role in indexes:
            fields[name] = grouped.reorder(table.texts(indexes[role]))
    return Qrels(**fields, grade_column=grouped.reorder(grades), scale=scale)


def without_ungraded(table: Table, index: int, warn: Warn) -> Table:
    """The rows that have a grade in this column, with a warning if others have not.

    An empty cell is no judgment, as in exports of Quepid.
    """
    columns = [table.values(name) for name in table.names]
    missing = [
        row
        for row, cell in enumerate(columns[index])
        if is_missing(cell) or (isinstance(cell, str) and cell.strip().lower() in ("", "nan"))
    ]
    if not missing:
        return table
    count, first = counted(len(missing), "row"), missing[0]
    if len(missing) == table.size:
        reason = f"expected ratings, found none in column {table.names[index]!r} of {count}"
        raise InputError(table.source, reason)
    where = f"row {first} (from 0)" if table.rows is None else f"{table.unit} {table.rows[first]}"
    warn(f"{table.source}: {count} without a rating left out, the first is {where}")
    rows = sorted({*range(table.size)} - {*missing})
    graded = table.exploded(table.names, ((row, [cells[row] for cells in columns]) for row in rows))
    graded.method, graded.to_numbers = table.method, numbers_of_cells if table.has_cells else None
    return graded
