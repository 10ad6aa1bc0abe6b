"""Relevance judgments."""

from __future__ import annotations

from fastrank.data.columns import Convertible, as_array
from fastrank.lazy import convert
from fastrank.native import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

    import numpy.typing as npt

    from fastrank.data.grade_scale import Scale
    from fastrank.data.texts import Texts


class Qrels(Convertible):
    """Relevance judgments: rows of document and grade.

    They are looked up and iterated over as dicts are: `qrels["q1"]` is {document: grade},
    `"q1" in qrels`, `for query in qrels`.

    >>> qrels = fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}})
    >>> qrels
    <Qrels <dict>: 2 queries, 3 rows>
    >>> list(qrels), qrels["q1"], "q3" in qrels
    (['q1', 'q2'], {'d1': 1, 'd2': 0}, False)
    >>> qrels.doc_ids, qrels.grades.tolist(), qrels.offsets.tolist()
    (['d1', 'd2', 'd1'], [1, 0, 2], [0, 2, 3])
    """

    __slots__ = ("grade_column", "groups", "scale")
    internal = Convertible.internal | {"grade_column", "groups", "scale"}
    defaults: ClassVar[dict[str, Any]] = {"scale": None}

    # The second field of each line: the judgment group in the qrels_jg format.
    groups: Texts
    grade_column: Any
    # Which grades the integers stand for, where one has a fraction; None where they are the grades.
    scale: Scale | None

    @classmethod
    def from_dict(cls, given: Mapping[Any, Any]) -> Qrels:
        """Judgments from {query: {document: grade}}, or {query: [document, ...]} of grade 1.

        Ids may be str, bytes, integers or anything whose str() is meant; grades are integers or
        floats, see `grades`. A query without documents is left out. Raises InputError, which
        names the query and the document.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).grades.tolist()
        [1, 0]
        >>> fr.Qrels.from_dict({"q1": ["d1", "d2"]}).to_dict()
        {'q1': {'d1': 1, 'd2': 1}}
        """
        made: Qrels = convert("qrels_from_dict", given)
        return made

    @classmethod
    def from_pandas(cls, frame: Any, *, columns: Mapping[str, Any] | None = None) -> Qrels:
        """Judgments from a DataFrame of pandas, one row each; its index means nothing.

        The columns for query, doc, grade and, if there is one, iteration are known by the names
        that ir_measures, PyTerrier, ranx, trectools, BEIR and Hugging Face use; columns: their
        names by role where they have others. Raises InputError, which names row and column.

        >>> import pandas
        >>> frame = pandas.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "label": [1, 0]})
        >>> fr.Qrels.from_pandas(frame).to_dict()
        {'1': {'a': 1, 'b': 0}}
        """
        made: Qrels = convert("qrels_from_pandas", frame, columns)
        return made

    @classmethod
    def from_polars(cls, frame: Any, *, columns: Mapping[str, Any] | None = None) -> Qrels:
        """Judgments from a DataFrame of polars; names and errors as in `from_pandas`.

        >>> import polars
        >>> frame = polars.DataFrame({"topic": [1, 1], "doc_id": ["a", "b"], "relevance": [1, 0]})
        >>> fr.Qrels.from_polars(frame, columns={"query": "topic"}).to_dict()
        {'1': {'a': 1, 'b': 0}}
        """
        made: Qrels = convert("qrels_from_polars", frame, columns)
        return made

    @classmethod
    def from_arrow(cls, table: Any, *, columns: Mapping[str, Any] | None = None) -> Qrels:
        """Judgments from a table or record batch of arrow; names and errors as in `from_pandas`.

        Anything that offers itself through arrow's PyCapsule interface will do.

        >>> import pyarrow
        >>> table = pyarrow.table({"query-id": ["q1"], "corpus-id": ["d1"], "score": [1]})
        >>> fr.Qrels.from_arrow(table).to_dict()
        {'q1': {'d1': 1}}
        """
        made: Qrels = convert("qrels_from_arrow", table, columns)
        return made

    @classmethod
    def from_arrays(cls, queries: Any, docs: Any, grades: Any) -> Qrels:
        """Judgments from three lists or one-dimensional arrays of one length, a row for each.

        Raises InputError, which names the row.

        >>> fr.Qrels.from_arrays([1, 1, 2], ["a", "b", "a"], [1, 0, 2]).query_ids
        ['1', '2']
        """
        made: Qrels = convert("qrels_from_arrays", queries, docs, grades)
        return made

    @property
    def grades(self) -> npt.NDArray[Any]:
        """The grade of every judgment, int64[rows]; float64[rows] if one of them has a fraction.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0.5}}).grades.tolist()
        [1.0, 0.5]
        """
        if self.scale is not None:
            return self.scale.grades(self.grade_column)
        return as_array(self.grade_column)

    @property
    def columns(self) -> records.Qrels:
        """Documents, offsets and grades, as kernels take them."""
        return records.Qrels(
            docs=self.docs.columns, offsets=self.offset_column, grades=self.grade_column
        )
