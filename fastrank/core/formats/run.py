"""Rankings of documents."""

from __future__ import annotations

from fastrank.core.data.columns import as_array
from fastrank.core.data.texts import decoded
from fastrank.core.formats.qrels import Convertible
from fastrank.core.native import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy as np
    import numpy.typing as npt
    import pandas
    import polars

    from fastrank.core.data.columns import Column
    from fastrank.core.native.record import Float64Array


class Run(Convertible):
    """A retrieval run: rows of document and score, not necessarily sorted.

    Runs behave like a dict: `run["q1"]` is {document: score}, and `"q1" in run` and
    `for query in run` work.

    >>> run = fr.Run.from_dict({"q1": {"d1": 0.5, "d2": 0.75}}, tag="bm25")
    >>> run
    <Run <dict>: 1 query, 2 rows>
    >>> run.tag, run["q1"], run.scores.tolist()
    ('bm25', {'d1': 0.5, 'd2': 0.75}, [0.5, 0.75])
    """

    internal = Convertible.internal | {"score_column", "tag_bytes"}

    tag_bytes: bytes
    score_column: Float64Array

    @classmethod
    def _from_table(
        cls,
        form: str,
        table: object,
        columns: Any = None,
        *,
        tag: str | None,
        higher_is_better: bool,
    ) -> Run:
        """Make a run of a table in another form."""
        from fastrank.core.formats.tables.frames import TABLES
        from fastrank.core.formats.tables.to_run import run_of

        return run_of(TABLES[form](table), columns, tag=tag, higher_is_better=higher_is_better)

    @classmethod
    def from_dict(
        cls,
        given: Mapping[Any, Mapping[Any, object]],
        *,
        tag: str | None = None,
        higher_is_better: bool = True,
    ) -> Run:
        """Create a run from {query: {document: score}}.

        Ids are as in Qrels.from_dict; scores are numbers other than NaN. A query with an empty dict
        has no results but counts as part of the run. tag: the run's name. higher_is_better: False
        for distances, which are negated to become scores. Raises InputError, which names the query
        and the document.

        >>> fr.Run.from_dict({"q1": {"d1": 0.5, "d2": 2}}, tag="bm25").scores.tolist()
        [0.5, 2.0]
        """
        from fastrank.core.formats.tables.to_run import run_from_dict

        return run_from_dict(given, tag=tag, higher_is_better=higher_is_better)

    @classmethod
    def from_pandas(
        cls,
        frame: pandas.DataFrame,
        *,
        columns: Mapping[str, object] | None = None,
        tag: str | None = None,
        higher_is_better: bool = True,
    ) -> Run:
        """Create a run from a pandas DataFrame with one row per result; its index is ignored.

        columns: the names of the columns by role (query, doc, score, rank, tag). Needed only for
        names other than those that ir_measures, PyTerrier, ranx, trectools, BEIR and Hugging Face
        use. With ranks but no scores, a document's score is minus its rank. tag,
        higher_is_better: as in `from_dict`; by default the tag is that in the column tag or
        system, if there is one. Raises InputError, which names row and column.

        >>> import pandas
        >>> columns = {"q_id": ["q1", "q1"], "doc_id": ["a", "b"], "score": [0.5, 0.75]}
        >>> frame = pandas.DataFrame(columns)
        >>> fr.Run.from_pandas(frame, tag="bm25").to_dict()
        {'q1': {'a': 0.5, 'b': 0.75}}
        """
        return cls._from_table("pandas", frame, columns, tag=tag, higher_is_better=higher_is_better)

    @classmethod
    def from_polars(
        cls,
        frame: polars.DataFrame,
        *,
        columns: Mapping[str, object] | None = None,
        tag: str | None = None,
        higher_is_better: bool = True,
    ) -> Run:
        """Create a run from a polars DataFrame; see `from_pandas`.

        >>> import polars
        >>> frame = polars.DataFrame({"qid": ["q1", "q1"], "docno": ["a", "b"], "rank": [2, 1]})
        >>> fr.Run.from_polars(frame).to_dict()
        {'q1': {'a': -2.0, 'b': -1.0}}
        """
        return cls._from_table("polars", frame, columns, tag=tag, higher_is_better=higher_is_better)

    @classmethod
    def from_arrow(
        cls,
        table: object,
        *,
        columns: Mapping[str, object] | None = None,
        tag: str | None = None,
        higher_is_better: bool = True,
    ) -> Run:
        """Create a run from an Arrow table or record batch; see `from_pandas`.

        Also accepts any object that supports Arrow's PyCapsule interface.

        >>> import pyarrow
        >>> table = pyarrow.table({"query_id": ["q1"], "doc_id": ["d1"], "score": [0.5]})
        >>> fr.Run.from_arrow(table, higher_is_better=False).to_dict()
        {'q1': {'d1': -0.5}}
        """
        return cls._from_table("arrow", table, columns, tag=tag, higher_is_better=higher_is_better)

    @classmethod
    def from_arrays(
        cls,
        queries: Column,
        docs: Column,
        scores: Column,
        *,
        tag: str | None = None,
        higher_is_better: bool = True,
    ) -> Run:
        """Create a run from three lists or 1-d arrays of equal length, one result per row.

        tag, higher_is_better: as in `from_dict`. Raises InputError, which names the row.

        >>> run = fr.Run.from_arrays([7, 7], ["a", "b"], [0.1, 0.3], higher_is_better=False)
        >>> run.to_dict()
        {'7': {'a': -0.1, 'b': -0.3}}
        """
        columns = {"query": queries, "doc": docs, "score": scores}
        return cls._from_table("arrays", columns, tag=tag, higher_is_better=higher_is_better)

    @property
    def tag(self) -> str:
        """The run's name: the tag of the last line of its file, or empty."""
        return decoded(self.tag_bytes)

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The score of every document, float64[rows]."""
        return as_array(self.score_column)

    @property
    def columns(self) -> records.Run:
        """Documents, offsets and scores, for kernels."""
        return records.Run(
            docs=self.docs.columns, offsets=self.offset_column, scores=self.score_column
        )


def repetition(run: Run, query: int, first: int, second: int) -> str:
    """The error of a query that has one document in two rows; query: its index."""
    docs = run.docs
    lines = f"{docs.unit}s {docs.line(first)} and {docs.line(second)}"
    where = f"query {decoded(run.queries[query])!r}: document {decoded(docs[first])!r}"
    return f"{where} appears twice, {lines}"
