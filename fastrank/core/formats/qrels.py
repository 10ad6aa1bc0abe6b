"""Relevance judgments with grades, and preferences."""

from __future__ import annotations

from fastrank.common.messages import python_warning
from fastrank.core.data.columns import Frozen, PerQuery, as_array, id_text
from fastrank.core.data.texts import Texts, decoded, take
from fastrank.core.native import kernels, records
from fastrank.core.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy as np
    import numpy.typing as npt
    import pandas
    import polars
    import pyarrow

    from fastrank.core.data.columns import Column
    from fastrank.core.data.grades import Scale
    from fastrank.core.native.record import Float64Array, Int64Array, Offsets


class Convertible(PerQuery):
    """Judgments or runs, which convert to dicts, data frames and tables.

    Frames and tables have the columns query_id and doc_id (strings). Judgments add relevance
    (int64, or float64 for grades with fractions), iteration (string) unless all are `0`, and
    stratum (string) if there are strata; runs add score (float64) and, if there is one, tag
    (string). A query without results has no row.
    Bytes that are not UTF-8 become lone surrogates, as in `os.fsdecode`.
    """

    def __getitem__(self, query: str | int) -> dict[str, Any]:
        """{document: grade or score} of a query. Raises KeyError for an unknown query."""
        number = self._numbers().get(id_text(query))
        if number is None:
            raise KeyError(f"no query {query!r} in {self!r}")
        from fastrank.core.formats.tables.dicts import query_to_dict

        return query_to_dict(self, number)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Convert to {query: {document: grade or score}}, as pytrec_eval takes it.

        Raises InputError for a duplicate document in a query.

        >>> fr.Run.from_arrays(["q1", "q1"], ["d1", "d2"], [0.5, 0.75]).to_dict()
        {'q1': {'d1': 0.5, 'd2': 0.75}}
        """
        from fastrank.core.formats.tables.dicts import to_dict

        return to_dict(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Convert to a pandas DataFrame.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).to_pandas()
          query_id doc_id  relevance
        0       q1     d1          1
        1       q1     d2          0
        """
        from fastrank.core.formats.tables.frames import to_pandas

        table: pandas.DataFrame = to_pandas(self)
        return table

    def to_polars(self) -> polars.DataFrame:
        """Convert to a polars DataFrame. Raises InputError for ids that are not UTF-8.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).to_polars().columns
        ['query_id', 'doc_id', 'relevance']
        """
        from fastrank.core.formats.tables.frames import to_polars

        table: polars.DataFrame = to_polars(self)
        return table

    def to_arrow(self) -> pyarrow.Table:
        """Convert to an Arrow table. Raises InputError for ids that are not UTF-8.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).to_arrow().column_names
        ['query_id', 'doc_id', 'relevance']
        """
        from fastrank.core.formats.tables.frames import to_arrow

        table: pyarrow.Table = to_arrow(self)
        return table


class Qrels(Convertible):
    """Relevance judgments: rows of document and grade.

    They behave like a dict: `qrels["q1"]` is {document: grade}, and `"q1" in qrels` and
    `for query in qrels` work.

    >>> qrels = fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}})
    >>> qrels
    <Qrels <dict>: 2 queries, 3 rows>
    >>> list(qrels), qrels["q1"], "q3" in qrels
    (['q1', 'q2'], {'d1': 1, 'd2': 0}, False)
    >>> qrels.doc_ids, qrels.grades.tolist(), qrels.offsets.tolist()
    (['d1', 'd2', 'd1'], [1, 0, 2], [0, 2, 3])
    """

    internal = Convertible.internal | {"grade_column", "groups", "scale", "strata"}

    # The second field of each line: the subtopic, or the judgment group in the qrels_jg format.
    groups: Texts
    # The stratum of each row if the judgments are a stratified sample of a pool, else None. Rows
    # with a negative grade are in the pool, but were not sampled.
    strata: Texts | None = None
    grade_column: Int64Array
    # The grades that the integers encode; None if the integers are the grades.
    scale: Scale | None = None

    @classmethod
    def _from_table(cls, form: str, table: object, columns: Any = None) -> Qrels:
        """Make judgments of a table in another form."""
        from fastrank.core.formats.tables.frames import TABLES
        from fastrank.core.formats.tables.to_qrels import qrels_of

        return qrels_of(TABLES[form](table), columns)

    @classmethod
    def from_dict(cls, given: Mapping[Any, object]) -> Qrels:
        """Create judgments from {query: {document: grade}}, or {query: [document, ...]} (grade 1).

        Ids may be str, bytes, integers or objects with a str(); grades are integers or floats, see
        `grades`. Queries without documents are dropped, and, with a warning, documents whose grade
        is missing (None, NaN). Raises InputError, which names the query and the document.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).grades.tolist()
        [1, 0]
        >>> fr.Qrels.from_dict({"q1": ["d1", "d2"]}).to_dict()
        {'q1': {'d1': 1, 'd2': 1}}
        """
        from fastrank.core.formats.tables.to_qrels import qrels_from_dict

        return qrels_from_dict(given, warn=python_warning)

    @classmethod
    def from_pandas(
        cls, frame: pandas.DataFrame, *, columns: Mapping[str, object] | None = None
    ) -> Qrels:
        """Create judgments from a pandas DataFrame with one row per judgment; its index is ignored.

        columns: the names of the columns by role (query, doc, grade, iteration, stratum). Needed
        only for names other than those that ir_measures, PyTerrier, ranx, trectools, BEIR and
        Hugging Face use. Measures of subtopics use a column subtopic or iteration. Raises
        InputError, which names row and column.

        >>> import pandas
        >>> frame = pandas.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "label": [1, 0]})
        >>> fr.Qrels.from_pandas(frame).to_dict()
        {'1': {'a': 1, 'b': 0}}
        """
        return cls._from_table("pandas", frame, columns)

    @classmethod
    def from_polars(
        cls, frame: polars.DataFrame, *, columns: Mapping[str, object] | None = None
    ) -> Qrels:
        """Create judgments from a polars DataFrame; see `from_pandas`.

        >>> import polars
        >>> frame = polars.DataFrame({"topic": [1, 1], "doc_id": ["a", "b"], "relevance": [1, 0]})
        >>> fr.Qrels.from_polars(frame, columns={"query": "topic"}).to_dict()
        {'1': {'a': 1, 'b': 0}}
        """
        return cls._from_table("polars", frame, columns)

    @classmethod
    def from_arrow(cls, table: object, *, columns: Mapping[str, object] | None = None) -> Qrels:
        """Create judgments from an Arrow table or record batch; see `from_pandas`.

        Also accepts any object that supports Arrow's PyCapsule interface.

        >>> import pyarrow
        >>> table = pyarrow.table({"query-id": ["q1"], "corpus-id": ["d1"], "score": [1]})
        >>> fr.Qrels.from_arrow(table).to_dict()
        {'q1': {'d1': 1}}
        """
        return cls._from_table("arrow", table, columns)

    @classmethod
    def from_arrays(
        cls, queries: Column, docs: Column, grades: Column, subtopics: Column | None = None
    ) -> Qrels:
        """Create judgments from three lists or 1-d arrays of equal length, one judgment per row.

        subtopics: as many ids of subtopics (intents, aspects), for measures of subtopics, with a
        row for each subtopic that a document is judged for. Raises InputError, which names the row.

        >>> fr.Qrels.from_arrays([1, 1, 2], ["a", "b", "a"], [1, 0, 2]).query_ids
        ['1', '2']
        >>> by_subtopic = fr.Qrels.from_arrays([1, 1], ["a", "a"], [1, 1], subtopics=["x", "y"])
        >>> fr.evaluate(by_subtopic, {"1": {"a": 0.5}}, "StRecall@1").mean
        {'StRecall@1': 1.0}
        """
        columns = {"query": queries, "doc": docs, "grade": grades}
        if subtopics is not None:
            columns["iteration"] = subtopics
        return cls._from_table("arrays", columns)

    @property
    def grades(self) -> npt.NDArray[Any]:
        """The grade of each judgment, int64[rows], or float64[rows] if one has a fraction.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0.5}}).grades.tolist()
        [1.0, 0.5]
        """
        if self.scale is not None:
            return self.scale.grades(self.grade_column)
        return as_array(self.grade_column)

    @property
    def columns(self) -> records.Qrels:
        """Documents, offsets and grades, for kernels."""
        return records.Qrels(
            docs=self.docs.columns, offsets=self.offset_column, grades=self.grade_column
        )


def lowest_code(judgments: object, level: float) -> int:
    """The smallest code of the judgments whose grade is at least `level`.

    In judged rankings the codes of unjudged documents and negative grades are fixed negative
    numbers, with which a negative level is compared.
    """
    scale = getattr(judgments, "scale", None)
    if scale is None or level <= 0:
        return -int(-level // 1)
    # Imported here because the trec_eval command does not need it.
    from bisect import bisect_left

    return bisect_left(scale.values, level, 0, scale.judged)


def queries_with_relevant(judgments: Qrels | Graded, level: float) -> Int64Array:
    """The indexes of the judged queries that have a relevant document.

    level: the lowest code (`lowest_code`) that is relevant.
    """
    offsets = judgments.offset_column
    queries = zeros("q", len(offsets) - 1)
    count = kernels.with_relevant(offsets, judgments.grade_column, int(level), queries)
    return queries[:count]


def query_and_document(judgments: Any, row: int) -> tuple[bytes, str | int]:
    """The query and the document of a row of judgments.

    A document without an id is represented by its row number.
    """
    query = judgments.queries[sum(stop <= row for stop in judgments.offset_column[1:])]
    return query, decoded(judgments.docs[row]) if hasattr(judgments, "docs") else row


def split_groups(qrels: Qrels) -> tuple[Qrels, Offsets]:
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


class Graded(Frozen):
    """Judgments without document ids: queries and the grades of each.

    The code that judges the rankings knows the documents. `scale` as in Qrels.
    """

    queries: Texts
    offset_column: Offsets
    grade_column: Int64Array
    scale: Scale | None = None

    def __len__(self) -> int:
        return len(self.queries)


class Preferences(PerQuery):
    """Preference judgments: rows of group, subgroup, document and preference level.

    >>> import io
    >>> lines = b"q1 0 0 d1 2\\nq1 0 0 d2 1\\nq1 0 0 d3 1\\n"
    >>> preferences = fr.read_qrels(io.BytesIO(lines), "prefs")
    >>> preferences.doc_ids, preferences.levels.tolist()
    (['d1', 'd2', 'd3'], [2.0, 1.0, 1.0])
    >>> fr.evaluate(preferences, {"q1": {"d1": 0.5, "d2": 0.75}}, "prefs_simp").mean
    {'prefs_simp': 0.5}
    """

    internal = PerQuery.internal | {"groups", "level_column", "subgroups"}

    groups: Texts
    # Empty in the qrels_prefs format, where there is only one.
    subgroups: Texts
    level_column: Float64Array

    @property
    def levels(self) -> npt.NDArray[np.float64]:
        """The preference level of every row, float64[rows]; higher is preferred."""
        return as_array(self.level_column)
