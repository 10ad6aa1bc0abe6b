"""Dicts and tables as judgments."""

from __future__ import annotations

from itertools import repeat

from fastrank.core.data.texts import NO_ITERATION, constant
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.tables.dicts import LISTED_GRADE, SOURCE, rows_of_dict
from fastrank.core.formats.tables.grouping import columns_of, group_by_query
from fastrank.core.formats.tables.lists import lists_by_query
from fastrank.core.formats.tables.roles import (
    QRELS_ROLES,
    find_columns,
    kind_of_names,
    may_lack_grades,
)
from fastrank.core.formats.tables.values import (
    grades_of,
)
from fastrank.core.formats.tools.question_files import as_rows
from fastrank.core.native.buffers import filled
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fastrank.core.data.grades import Scale
    from fastrank.core.formats.tables.table import Table


def qrels_from_dict(given: Mapping[Any, Any], *, source: str = SOURCE) -> Qrels:
    """Judgments from {query: {document: grade}}, or {query: [document, ...]} of grade 1.

    source: for messages.
    """

    def listed(count: int) -> Iterable[int]:
        return repeat(LISTED_GRADE, count)

    fields, values, fail = rows_of_dict(given, "grade", source, keep_empty=False, listed=listed)
    grades, scale = grades_of(values, fail)
    groups = constant(NO_ITERATION, len(values))
    return Qrels(**fields, groups=groups, grade_column=grades, scale=scale)


def qrels_of(table: Table, columns: Mapping[str, Any] | None = None) -> Qrels:
    """The judgments of a table; `columns`: as in Qrels.from_pandas."""
    columns = columns_of(table, QRELS_ROLES, columns)
    table = as_rows(table, "qrels", columns)
    by_query = lists_by_query(table, "qrels", columns)
    if by_query is not None:
        return qrels_from_dict(by_query, source=table.source)
    optional = ("grade",) if may_lack_grades(table.names, columns) else ()
    found = find_columns(
        table.names,
        QRELS_ROLES,
        columns,
        table.source,
        optional=optional,
        call=table.call("Qrels"),
    )
    grouped, fields = group_by_query(table, found)
    scale: Scale | None = None
    if "grade" in found:
        index = found["grade"]
        grades, scale = grades_of(table.numbers(index), table.failing(index))
    else:
        grades = filled("q", [LISTED_GRADE] * len(fields["docs"]))
    if scale is not None and columns is None and kind_of_names(table.names) == "run":
        reason = "grades with fractions beside a rank or a tag: this looks like a run"
        raise InputError(table.source, f"{reason}; are judgments and run swapped?")
    fields["groups"] = constant(NO_ITERATION, len(fields["docs"]))
    for name, role in (("groups", "iteration"), ("strata", "stratum")):
        if role in found:
            fields[name] = grouped.reorder(table.texts(found[role]))
    return Qrels(**fields, grade_column=grouped.reorder(grades), scale=scale)
