"""Documents to exclude from the results of a query: itself, and those in its list."""

from __future__ import annotations

import math

from fastrank.arguments import flag
from fastrank.formats.line_files import as_exclusions
from fastrank.formats.values import texts_of_list
from fastrank.searching.row_ids import no_failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    import numpy.typing as npt

    from fastrank.searching.row_ids import RowIds

    Array = npt.NDArray[Any]


class Exclusion:
    """The rows of the corpus to exclude for each query."""

    def __init__(
        self,
        queries: RowIds,
        corpus: RowIds,
        *,
        itself: bool,
        lists: Mapping[Any, Iterable[Any]] | None,
    ) -> None:
        self._queries, self._corpus = queries, corpus
        self._itself = flag("ignore_identical_ids", itself)
        self._own_rows = None
        if self._itself and queries.texts is not None:
            self._own_rows = corpus.rows_of(queries.texts)
        self._lists = _rows_by_query(as_exclusions(lists), corpus)

    def longest(self, limit: float = math.inf) -> int:
        """The largest number of documents to exclude for a query, without lists above the limit."""
        lengths = (len(rows) for rows in self._lists.values())
        return max((length for length in lengths if length <= limit), default=0) + self._itself

    def of(self, rows: Array) -> list[Array] | None:
        """The rows of the corpus to exclude for each query, or None if there are none."""
        import numpy

        if not self._itself and not self._lists:
            return None
        found = [numpy.empty(0, numpy.int64)] * len(rows)
        if self._itself:
            itself = self._rows_of_themselves(rows)
            found = [itself[i : i + 1] if itself[i] >= 0 else found[i] for i in range(len(rows))]
        if self._lists:
            for i, query in enumerate(self._queries.take(rows)):
                more = self._lists.get(query)
                if more is not None:
                    found[i] = numpy.union1d(found[i], more)
        return found

    def _rows_of_themselves(self, rows: Array) -> Array:
        import numpy

        if self._own_rows is not None:
            found: Array = self._own_rows[rows]
            return found
        if self._corpus.texts is not None:
            return self._corpus.rows_of(self._queries.take(rows))
        count = self._corpus.count
        return rows if count is None else numpy.where(rows < count, rows, -1)


def _rows_by_query(lists: dict[bytes, list[bytes]], corpus: RowIds) -> dict[bytes, Array]:
    """The rows of the listed documents that are in the corpus."""
    if not lists:
        return {}
    rows = corpus.rows_of(
        texts_of_list([doc for docs in lists.values() for doc in docs], no_failure)
    )
    found, start = {}, 0
    for query, docs in lists.items():
        present = rows[start : start + len(docs)]
        start += len(docs)
        if (present >= 0).any():
            found[query] = present[present >= 0]
    return found
