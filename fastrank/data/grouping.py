"""Group rows by query."""

from __future__ import annotations

from fastrank.data.qrels import Qrels
from fastrank.data.texts import Texts, interning
from fastrank.native import kernels, records
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Groups:
    """The rows of each query, found from stretches of rows with the same query.

    queries: the ids in the order of their first row. offsets: the row ranges after reordering.
    order: the former row of each row, or None if rows keep their order.
    """

    def __init__(self, stretches: Texts, first_rows: Any, rows: int) -> None:
        count = len(stretches)
        text, starts, lengths = stretches.columns
        numbered = interning(count)
        distinct = kernels.intern_texts(stretches.columns, numbered)
        self._rows = rows
        self.order: Any = None
        if distinct == count:
            self.queries = stretches
            self.offsets = zeros("q", count + 1)
            self.offsets[:count], self.offsets[count] = first_rows, rows
            return
        self.offsets, self.order = zeros("q", distinct + 1), zeros("q", rows)
        kernels.gather_rows(numbered.ids, first_rows, rows, self.offsets, self.order)
        first = numbered.firsts[:distinct]
        self.queries = Texts(text, take(starts, first), take(lengths, first))

    def reorder(self, column: Any) -> Any:
        """A column, a tuple of columns, or texts, with the rows of each query together."""
        if isinstance(column, tuple):
            return tuple(map(self.reorder, column))
        if isinstance(column, Texts):
            return Texts(column.buffer, self.reorder(column.starts), self.reorder(column.lengths))
        column = column[: self._rows]
        return column if self.order is None else take(column, self.order)


def take(column: Any, order: Any) -> Any:
    """The rows of a column in the given order."""
    if not column:
        return column
    rows = zeros(column.format, len(order))
    kernel = kernels.take_numbers if column.format == "d" else kernels.take_integers
    kernel(column, order, rows)
    return rows


def split_groups(qrels: Qrels) -> tuple[Qrels, Any]:
    """Split judgments into one row range per (query, group), groups of a query in byte order.

    Returns the judgments, and the offsets of the ranges of each query.
    """
    rows, queries = len(qrels.docs), len(qrels.queries)
    order, scratch, ranges = zeros("q", rows), zeros("q", rows), zeros("q", rows + 1)
    group_offsets = zeros("q", queries + 1)
    texts = qrels.groups
    names = records.TextsByQuery(texts=texts.columns, offsets=qrels.offset_column)
    count = kernels.sort_groups(names, order, scratch, group_offsets, ranges)
    docs = Texts(qrels.docs.buffer, take(qrels.docs.starts, order), take(qrels.docs.lengths, order))
    grades = take(qrels.grade_column, order)
    split: Qrels = qrels.changed(
        docs=docs, grade_column=grades, offset_column=ranges[: count + 1], strata=None
    )
    return split, group_offsets
