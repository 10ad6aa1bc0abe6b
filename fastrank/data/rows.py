"""Rows of documents, one range of rows per query."""

from __future__ import annotations

from fastrank.data.columns import Frozen, as_array
from fastrank.data.conversions import convert

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from fastrank.data.texts import Texts


class PerQuery(Frozen):
    """Rows of documents, one range of rows per query.

    Queries stand in the order of their first line; query i has the rows
    offsets[i] : offsets[i + 1], in file order. `source` is the file's name, for messages.
    """

    __slots__ = ("docs", "offset_column", "queries", "source")

    queries: Texts
    docs: Texts
    source: str
    offset_column: Any

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Row ranges, int64[queries + 1]."""
        return as_array(self.offset_column)

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        rows, queries = len(self.docs), len(self.queries)
        return f"<{type(self).__name__} {self.source}: {queries} queries, {rows} rows>"


class Convertible(PerQuery):
    """What can be had as a dict, a frame or a table, which is documents with one number each.

    Frames and tables have the columns query_id and doc_id (text), then for judgments relevance
    (int64), and iteration (text) unless all are `0`; for runs score (float64), and tag (text) if
    there is one; a query without results has no row. Bytes that are not UTF-8 become lone
    surrogates, as in `os.fsdecode`.
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """{query: {document: grade or score}}, as pytrec_eval takes it.

        Raises InputError if a document stands twice in a query.

        >>> fr.Run.from_arrays(["q1", "q1"], ["d1", "d2"], [0.5, 0.75]).to_dict()
        {'q1': {'d1': 0.5, 'd2': 0.75}}
        """
        made: dict[str, dict[str, Any]] = convert("to_dict", self)
        return made

    def to_pandas(self) -> Any:
        """The rows as a DataFrame of pandas.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).to_pandas()
          query_id doc_id  relevance
        0       q1     d1          1
        1       q1     d2          0
        """
        return convert("to_pandas", self)

    def to_polars(self) -> Any:
        """The rows as a DataFrame of polars. Raises InputError for ids that are not UTF-8.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).to_polars().columns
        ['query_id', 'doc_id', 'relevance']
        """
        return convert("to_polars", self)

    def to_arrow(self) -> Any:
        """The rows as an arrow table. Raises InputError for ids that are not UTF-8.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).to_arrow().column_names
        ['query_id', 'doc_id', 'relevance']
        """
        return convert("to_arrow", self)
