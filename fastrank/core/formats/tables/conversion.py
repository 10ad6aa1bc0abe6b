"""Tables of queries, documents and numbers, converted to judgments and runs."""

from __future__ import annotations

from fastrank.common.faces import by_face
from fastrank.core.data.qrels import Qrels
from fastrank.core.data.run import Run
from fastrank.core.data.texts import NO_ITERATION, Groups, Texts, constant, interning
from fastrank.core.formats.tables.dicts import LISTED_GRADE, qrels_from_dict, run_from_dict
from fastrank.core.formats.tables.lists import lists_by_query
from fastrank.core.formats.tables.roles import (
    QRELS_ROLES,
    ROLES,
    RUN_ROLES,
    UNSURE_TAGS,
    asked_columns,
    find_columns,
    kind_of_names,
    may_lack_grades,
    normalized_name,
)
from fastrank.core.formats.tables.table import first_empty
from fastrank.core.formats.tables.values import (
    grades_of,
    scores_of,
    scores_of_ranks,
    tag_of,
)
from fastrank.core.formats.tools.question_files import as_rows
from fastrank.core.formats.trec.runs import rank_as_given, with_distinct_ranks
from fastrank.core.native import kernels
from fastrank.core.native.buffers import filled, zeros
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from fastrank.core.data.qrels import Scale
    from fastrank.core.formats.tables.roles import Name
    from fastrank.core.formats.tables.table import Table

# Rows that show whether a column names systems.
SOME = 1000


def columns_of(
    table: Table, roles: Sequence[str], columns: Mapping[str, Name] | None
) -> Mapping[str, Name] | None:
    """The columns of the roles in `columns=`, or if it is not given on the command line."""
    return asked_columns().of(roles, table.names) if columns is None else columns


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
    grouped, fields = _group_by_query(table, found)
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


def run_of(
    table: Table,
    columns: Mapping[str, Any] | None = None,
    *,
    tag: str | bytes | None = None,
    higher_is_better: bool = True,
    rank_by: str = "score",
) -> Run:
    """The run of a table; `columns`: as in Run.from_pandas.

    With rank_by="rank", or with ranks but no scores, a document's score is minus its rank.
    """
    columns = columns_of(table, RUN_ROLES["score"], columns)
    table = as_rows(table, "run", columns)
    by_query = lists_by_query(table, "run", columns)
    if by_query is not None:
        return run_from_dict(
            by_query,
            tag=tag,
            higher_is_better=higher_is_better,
            rank_by=rank_by,
            source=table.source,
        )
    # `columns` may name the scores even if the ranks are to be used.
    ignored = [role for role in RUN_ROLES["score"] if role not in RUN_ROLES[rank_by]]
    found = find_columns(
        table.names,
        RUN_ROLES[rank_by],
        columns,
        table.source,
        ignored=ignored,
        call=table.call("Run"),
    )
    grouped, fields = _group_by_query(table, found)
    if "score" in found:
        numbers, fail = table.numbers(found["score"]), table.failing(found["score"])
        scores = scores_of(numbers, fail, higher_is_better=higher_is_better)
    elif "rank" in found:
        scores = scores_of_ranks(table.numbers(found["rank"]), table.failing(found["rank"]))
    else:
        scores = zeros("d", len(fields["docs"]))
    own_tag = tag_of(tag, table.source)
    if tag is None and "tag" in found:
        own_tag = _single_tag(table, found["tag"], found["query"])
    run = Run(**fields, tag_bytes=own_tag, score_column=grouped.reorder(scores))
    if rank_by == "given":
        return rank_as_given(run)
    return run if "score" in found else with_distinct_ranks(run)


def _group_by_query(table: Table, found: dict[str, int]) -> tuple[Groups, dict[str, Any]]:
    """The rows of each query, and fields of the noun."""
    queries, firsts = table.stretches(found["query"])
    _refuse_empty(table, found["query"], queries, firsts)
    docs = table.texts(found["doc"])
    _refuse_empty(table, found["doc"], docs)
    grouped = Groups(queries, firsts, len(docs))
    rows = grouped.order if table.rows is None else grouped.reorder(table.rows)
    docs = grouped.reorder(docs).placed(rows, table.unit)
    return grouped, {
        "queries": grouped.queries,
        "docs": docs,
        "offset_column": grouped.offsets,
        "source": table.source,
    }


def _refuse_empty(table: Table, place: int, texts: Texts, rows: Any = None) -> None:
    """Raise the error about an empty id, which is a missing one, if the table is a text file.

    rows: of the texts, None if there is one in each row of the table.
    """
    if table.is_file and (first := first_empty(texts)) >= 0:
        row = first if rows is None else rows[first]
        table.failing(place)(row, "expected an id, found an empty text")


def _single_tag(table: Table, index: int, query_index: int) -> bytes:
    """The tag of all rows. Raises InputError if there are several."""
    name = normalized_name(table.names[index])
    is_sure = name in ROLES["tag"][0]
    try:
        tags, _ = table.stretches(index)
    except (FormatError, InputError):
        if is_sure:
            raise
        # Other columns may be called so.
        return b""
    if name in UNSURE_TAGS and not _are_systems(table, index, query_index):
        return b""
    count = len(tags)
    numbered = interning(count)
    distinct = kernels.intern_texts(tags.columns, numbered)
    if distinct > 1:
        first, second = (tags[numbered.firsts[i]].decode("utf-8", "replace") for i in range(2))
        column, call = table.names[index], table.call("Run")
        reason = f"expected one run, found {distinct} tags"
        advice = f"select the rows of one {column!r}"
        if call:
            advice += f", or give all rows one new tag: fr.{call}(..., tag=NAME)"
        advice = by_face(advice, f"write the rows of each {column!r} to a file of their own")
        reason = f"{reason}, such as {first!r} and {second!r}"
        raise InputError(table.source, f"{reason}; {advice}")
    return tags[0] if count else b""


def _are_systems(table: Table, index: int, query_index: int) -> bool:
    """Whether a column names systems, not documents: several rows of a query have the same name."""
    tags, queries = table.texts(index), table.texts(query_index)
    count = min(len(tags), SOME)
    pairs = {(queries[row], tags[row]) for row in range(count)}
    return 2 * len(pairs) <= count
