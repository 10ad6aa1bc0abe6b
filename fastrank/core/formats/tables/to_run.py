"""Dicts and tables as runs, ranked by score, by rank, or as given.

Where the rank column or the given order counts, a document's score becomes minus its rank, so that
every measure follows the ranks.
"""

from __future__ import annotations

from bisect import bisect_right

from fastrank.common.faces import by_face, option
from fastrank.common.messages import python_warning
from fastrank.core.data.texts import decoded, interning
from fastrank.core.formats.run import Run
from fastrank.core.formats.tables.dicts import SOURCE, is_listing, plain_lists, rows_of_dict
from fastrank.core.formats.tables.grouping import columns_of, group_by_query
from fastrank.core.formats.tables.lists import lists_by_query
from fastrank.core.formats.tables.roles import (
    ROLES,
    RUN_ROLES,
    UNSURE_TAGS,
    find_columns,
    normalized_name,
)
from fastrank.core.formats.tables.values import LAST_RANK, scores_of, scores_of_ranks, tag_of
from fastrank.core.formats.tools.question_files import as_rows
from fastrank.core.native import kernels
from fastrank.core.native.buffers import zeros
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from fastrank.common.messages import Warn
    from fastrank.core.formats.tables.table import Table


# Rows that show whether a column names systems.
SOME = 1000


def run_from_dict(
    given: Mapping[Any, Mapping[Any, Any]],
    *,
    tag: str | bytes | None = None,
    higher_is_better: bool = True,
    rank_by: str = "score",
    source: str = SOURCE,
) -> Run:
    """A run from {query: {document: score}}, or {query: [document, ...]}, best first.

    A query with an empty dict or list is kept as a query without results. source: for messages.
    """
    given = plain_lists(given, "run", rank_by, source)

    def ranks(count: int) -> Iterable[int]:
        return range(-1, -count - 1, -1) if higher_is_better else range(1, count + 1)

    fields, values, fail = rows_of_dict(given, "score", source, keep_empty=True, listed=ranks)
    scores = scores_of(values, fail, higher_is_better=higher_is_better)
    run = Run(**fields, tag_bytes=tag_of(tag, source), score_column=scores)
    if rank_by == "rank" and all(map(is_listing, given.values())):
        return run
    return apply_order(run, rank_by)


def run_of(
    table: Table,
    columns: Mapping[str, Any] | None = None,
    *,
    tag: str | bytes | None = None,
    higher_is_better: bool = True,
    rank_by: str = "score",
    warn: Warn = python_warning,
) -> Run:
    """The run of a table; `columns`: as in Run.from_pandas.

    With rank_by="rank", or with ranks but no scores, a document's score is minus its rank. warn: of
    a column that may name systems.
    """
    columns = columns_of(table, RUN_ROLES["score"], columns)
    table = as_rows(table, "run", columns)
    by_query = lists_by_query(table, "run", columns, rank_by)
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
    indexes = find_columns(
        table.names,
        RUN_ROLES[rank_by],
        columns,
        table.source,
        ignored=ignored,
        call=table.call("Run"),
    )
    grouped, fields = group_by_query(table, indexes)
    if "score" in indexes:
        numbers, fail = table.numbers(indexes["score"]), table.failing(indexes["score"])
        scores = scores_of(numbers, fail, higher_is_better=higher_is_better)
    elif "rank" in indexes:
        scores = scores_of_ranks(table.numbers(indexes["rank"]), table.failing(indexes["rank"]))
    else:
        scores = zeros("d", len(fields["docs"]))
    own_tag = tag_of(tag, table.source)
    if tag is None:
        rows = (grouped.order or range(len(fields["docs"])))[:SOME]
        tagged = [indexes["tag"]] if "tag" in indexes else []
        for index, name in enumerate(() if "tag" in (columns or ()) else table.names):
            if normalized_name(name) in UNSURE_TAGS and index not in indexes.values():
                tagged.append(index)
        names = [_tag_of_rows(table, index, rows, fields, warn) for index in tagged]
        own_tag = next(filter(None, names), b"")
    run = Run(**fields, tag_bytes=own_tag, score_column=grouped.reorder(scores))
    if rank_by == "given":
        return rank_as_given(run)
    return run if "score" in indexes else with_distinct_ranks(run)


def _tag_of_rows(
    table: Table, index: int, rows: Sequence[int], fields: Mapping[str, Any], warn: Warn
) -> bytes:
    """The tag of all rows in a column, empty if it may name something else.

    rows: those of the table by query. fields: of the run. Raises InputError for several systems,
    and warns if the column may name some.
    """
    column = table.names[index]
    name = normalized_name(column)
    try:
        tags, _ = table.stretches(index)
    except (FormatError, InputError):
        if name in ROLES["tag"][0]:
            raise
        # Other columns may be called so.
        return b""
    numbered = interning(len(tags))
    distinct = kernels.intern_texts(tags.columns, numbered)
    if distinct < 2:
        return tags[0] if len(tags) else b""
    first, second = (f"{decoded(tags[numbered.firsts[i]])!r:.60}" for i in range(2))
    if name in UNSURE_TAGS and not (shown := _are_systems(table.texts(index).take(rows), fields)):
        if shown is None:
            reason = f"column {column!r} has values such as {first} and {second}"
            reason += "; does the table contain several runs? All rows are read as one"
            warn(f"{table.source}: {reason}")
        return b""
    advice = "select the rows of one"
    if call := table.call("Run"):
        advice += f", or give all rows one new tag: fr.{call}(..., tag=NAME)"
    to_files = f"write the rows of each {column!r} to a file of their own"
    advice = by_face(advice, f"{to_files}, or set --columns tag= to read all as one run")
    reason = f"expected one run, found {distinct} systems, such as {first} and {second}; {advice}"
    raise InputError(table.source, f"column {column!r}: {reason}")


def _are_systems(tags: Sequence[bytes], fields: Mapping[str, Any]) -> bool | None:
    """Whether these values, of the first rows of a run, name systems; None if it is unclear.

    They do if a query has several rows with a value, or a document with two; they do not if they
    tell documents apart.
    """
    docs, offsets = fields["docs"].take(range(len(tags))), fields["offset_column"]
    queries = [bisect_right(offsets, row) for row in range(len(tags))]
    if len({*zip(queries, docs, tags, strict=True)}) > len({*zip(queries, docs, strict=True)}):
        return True
    names = {*zip(docs, tags, strict=True)}
    if len(names) == len({*docs}) and 2 * len({*tags}) > len(names):
        return False
    return 2 * len({*zip(queries, tags, strict=True)}) <= len(tags) or None


def apply_order(run: Run, rank_by: str) -> Run:
    """Rank a run that has no rank column by score or in the given order.

    Raises InputError for rank_by="rank".
    """
    if rank_by == "rank":
        reason = "expected ranks, found only scores; files and data frames can have a rank column"
        raise InputError(run.source, f"{option('rank_by', 'rank')}: {reason}")
    return run if rank_by == "score" else rank_as_given(run)


def rank_as_given(run: Run) -> Run:
    """Rank each query's documents in the given order. Raises InputError for too many."""
    import numpy

    sizes = numpy.diff(run.offsets)
    if len(sizes) and sizes.max() > LAST_RANK:
        query = decoded(run.queries[int(sizes.argmax())])
        reason = f"query {query!r}: expected at most {LAST_RANK} results, found {sizes.max()}"
        raise InputError(run.source, f"{option('rank_by', 'given')}: {reason}")
    scores = zeros("d", len(run.docs))
    numpy.asarray(scores)[:] = numpy.repeat(run.offsets[:-1], sizes) - numpy.arange(len(scores)) - 1
    ranked: Run = run.changed(score_column=scores)
    return ranked


def with_distinct_ranks(run: Run) -> Run:
    """The run, whose scores are minus the ranks. Raises InputError for duplicate ranks."""
    import numpy

    scores, sizes = run.scores, numpy.diff(run.offsets)
    queries = numpy.repeat(numpy.arange(len(sizes)), sizes)
    is_next = numpy.diff(queries) == 0
    # Most files are sorted by rank, which is quick to check.
    if (is_next <= (numpy.diff(scores) < 0)).all():
        return run
    order = numpy.lexsort((-scores, queries))
    equal = numpy.flatnonzero(is_next & (numpy.diff(scores[order]) == 0))
    if not len(equal):
        return run
    first, second = (int(order[i]) for i in (equal[0], equal[0] + 1))
    query = decoded(run.queries[int(queries[first])])
    docs = " and ".join(repr(run.docs[row].decode("utf-8", "replace")) for row in (first, second))
    where = f"{run.docs.unit}s {run.docs.line(first)} and {run.docs.line(second)}"
    reason = f"query {query!r}: documents {docs} both have rank {-int(scores[first])}, {where}"
    raise InputError(run.source, reason)
