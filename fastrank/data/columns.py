"""The nouns: judgments and runs as flat columns, one row range per query.

They are frozen, and what they hold was checked when they were made. Texts stay bytes in the
buffer they were read in; numbers are typed memory that kernels read and numpy views.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, ClassVar, TypeAlias

    import numpy as np
    import numpy.typing as npt

    from fastrank.data.grade_scale import Scale

    # Ids of queries, as lists and made when asked for.
    Ids: TypeAlias = "Chosen | list[bytes]"


class Frozen:
    """Fields given once, by name, and never changed; can be copied and pickled.

    defaults: the values of fields that need not be given.
    """

    __slots__: tuple[str, ...] = ()
    defaults: ClassVar[dict[str, Any]] = {}

    @classmethod
    def field_names(cls) -> set[str]:
        """The names of all fields, those of base classes included."""
        return {name for kind in cls.__mro__ for name in getattr(kind, "__slots__", ())}

    def __init__(self, **fields: Any) -> None:
        fields = {**self.defaults, **fields}
        wrong = self.field_names() ^ set(fields)
        if wrong:
            raise TypeError(f"{type(self).__name__}: fields missing or unknown: {sorted(wrong)}")
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def changed(self, **fields: Any) -> Any:
        """The same with other values in some fields."""
        kept = {name: getattr(self, name) for name in self.field_names()}
        return type(self)(**{**kept, **fields})

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __reduce__(self) -> Any:
        fields = {name: _packed(getattr(self, name)) for name in self.field_names()}
        return _unpack, (type(self), fields)


class _Packed:
    """Typed memory on its way through a pickle, which knows no memoryviews."""

    def __init__(self, column: memoryview) -> None:
        self.code, self.content = column.format, bytes(column)

    def column(self) -> Any:
        memory: Any = memoryview(bytearray(self.content))
        return memory.cast(self.code)


def _packed(value: Any) -> Any:
    if isinstance(value, memoryview):
        return _Packed(value)
    return [_packed(item) for item in value] if isinstance(value, list) else value


def _unpacked(value: Any) -> Any:
    if isinstance(value, _Packed):
        return value.column()
    return [_unpacked(item) for item in value] if isinstance(value, list) else value


def _unpack(kind: type[Frozen], fields: dict[str, Any]) -> Frozen:
    made = object.__new__(kind)
    Frozen.__init__(made, **{name: _unpacked(value) for name, value in fields.items()})
    return made


def as_array(column: Any) -> npt.NDArray[Any]:
    """A read-only numpy view of a column."""
    import numpy

    view: npt.NDArray[Any] = numpy.asarray(column).view()
    view.flags.writeable = False
    return view


class Texts(Frozen):
    """Byte strings as ranges of one buffer; a sequence of `bytes`."""

    __slots__ = ("buffer", "lengths", "starts")

    buffer: bytes | memoryview
    starts: memoryview
    lengths: memoryview
    # What `line` counts.
    unit = "line"

    def __init__(self, buffer: bytes | memoryview, starts: Any, lengths: Any) -> None:
        super().__init__(buffer=buffer, starts=starts, lengths=lengths)

    @property
    def columns(self) -> tuple[Any, Any, Any]:
        """Buffer, starts and lengths, as kernels take them."""
        return self.buffer, self.starts, self.lengths

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> bytes:
        start = self.starts[i]
        return bytes(self.buffer[start : start + self.lengths[i]])

    def __iter__(self) -> Iterator[bytes]:
        return map(self.__getitem__, range(len(self)))

    def take(self, rows: Iterable[int]) -> list[bytes]:
        """The texts of some rows."""
        buffer, starts, lengths = self.columns
        if not isinstance(buffer, bytes):
            return [self[row] for row in rows]
        return [buffer[(start := starts[row]) : start + lengths[row]] for row in rows]

    def line(self, i: int) -> int:
        """The line of the buffer, from 1, on which text i stands."""
        return bytes(self.buffer[: self.starts[i]]).count(b"\n") + 1


class Chosen:
    """Some of the texts, in some order; like a list of `bytes`, but they are made when asked for.

    To make 7,000 of them takes as long as half of the measures of a large run.
    """

    def __init__(self, texts: Texts, rows: Sequence[int]) -> None:
        self._texts, self._rows = texts, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, i: int | slice) -> Any:
        if isinstance(i, slice):
            return self._texts.take(self._rows[i])
        return self._texts[self._rows[i]]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._texts.take(self._rows))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Chosen, list)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        # A pickle holds the texts, and not the file they are a part of.
        return list, (list(self),)


class PlacedTexts(Texts):
    """Texts that come from the rows of a table or the records of a file.

    `rows` says which row each stands in, None that text i stands in row i; `unit` is what the
    source counts: rows from 0, as frames and arrays do, items of a dict, or lines from 1.
    """

    __slots__ = ("rows", "unit")

    rows: Any

    def __init__(
        self, buffer: bytes | memoryview, starts: Any, lengths: Any, rows: Any, unit: str
    ) -> None:
        Frozen.__init__(self, buffer=buffer, starts=starts, lengths=lengths, rows=rows, unit=unit)

    def line(self, i: int) -> int:
        """The row or line in which text i stands."""
        return i if self.rows is None else int(self.rows[i])


class LineTexts(PlacedTexts):
    """Texts of the lines of a file that is not in memory; `rows` counts lines from 0."""

    __slots__ = ()

    def line(self, i: int) -> int:
        """The line, from 1, in which text i stands."""
        return super().line(i) + 1


class KnownTexts(Texts):
    """Texts that are at hand as a list too."""

    __slots__ = ("known",)

    known: list[bytes]

    def __init__(self, known: list[bytes], starts: Any, lengths: Any) -> None:
        Frozen.__init__(self, buffer=b"".join(known), starts=starts, lengths=lengths, known=known)

    def take(self, rows: Iterable[int]) -> list[bytes]:
        """The texts of some rows."""
        known = self.known
        return [known[row] for row in rows]


def decoded(text: bytes) -> str:
    """A text as str; bytes that are not UTF-8 survive a round trip through `os.fsencode`'s rule."""
    return text.decode("utf-8", "surrogateescape")


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

    @property
    def columns(self) -> tuple[Any, ...]:
        """Buffer, offsets, starts and lengths of the documents, as kernels take them."""
        return self.docs.buffer, self.offset_column, self.docs.starts, self.docs.lengths

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
        from fastrank.formats.dicts import to_dict

        return to_dict(self)

    def to_pandas(self) -> Any:
        """The rows as a DataFrame of pandas.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).to_pandas()
          query_id doc_id  relevance
        0       q1     d1          1
        1       q1     d2          0
        """
        from fastrank.formats.frames import to_pandas

        return to_pandas(self)

    def to_polars(self) -> Any:
        """The rows as a DataFrame of polars. Raises InputError for ids that are not UTF-8.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).to_polars().columns
        ['query_id', 'doc_id', 'relevance']
        """
        from fastrank.formats.frames import to_polars

        return to_polars(self)

    def to_arrow(self) -> Any:
        """The rows as an arrow table. Raises InputError for ids that are not UTF-8.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).to_arrow().column_names
        ['query_id', 'doc_id', 'relevance']
        """
        from fastrank.formats.arrow import to_arrow

        return to_arrow(self)


class Qrels(Convertible):
    """Relevance judgments: rows of document and grade.

    `groups` holds the second field of each line: the judgment group in the qrels_jg format,
    otherwise without meaning. `scale` says which grades the integers of `grade_column` stand for,
    where one has a fraction; None where they are the grades.

    >>> qrels = fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}})
    >>> qrels
    <Qrels <dict>: 2 queries, 3 rows>
    >>> list(qrels.queries), list(qrels.docs), qrels.grades.tolist()
    ([b'q1', b'q2'], [b'd1', b'd2', b'd1'], [1, 0, 2])
    >>> qrels.offsets.tolist()
    [0, 2, 3]
    """

    __slots__ = ("grade_column", "groups", "scale")
    defaults: ClassVar[dict[str, Any]] = {"scale": None}

    groups: Texts
    grade_column: Any
    scale: Scale | None

    @classmethod
    def from_dict(cls, given: Mapping[Any, Mapping[Any, Any]]) -> Qrels:
        """Judgments from {query: {document: grade}}.

        Ids may be str, bytes, integers or anything whose str() is meant; grades are integers or
        floats, see `grades`. A query without documents is left out. Raises InputError, which
        names the query and the document.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).grades.tolist()
        [1, 0]
        """
        from fastrank.formats.dicts import qrels_from_dict

        return qrels_from_dict(given)

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
        from fastrank.formats.frames import PandasTable
        from fastrank.formats.rows import qrels_of

        return qrels_of(PandasTable(frame), columns)

    @classmethod
    def from_polars(cls, frame: Any, *, columns: Mapping[str, Any] | None = None) -> Qrels:
        """Judgments from a DataFrame of polars; names and errors as in `from_pandas`.

        >>> import polars
        >>> frame = polars.DataFrame({"topic": [1, 1], "doc_id": ["a", "b"], "relevance": [1, 0]})
        >>> fr.Qrels.from_polars(frame, columns={"query": "topic"}).to_dict()
        {'1': {'a': 1, 'b': 0}}
        """
        from fastrank.formats.frames import PolarsTable
        from fastrank.formats.rows import qrels_of

        return qrels_of(PolarsTable(frame), columns)

    @classmethod
    def from_arrow(cls, table: Any, *, columns: Mapping[str, Any] | None = None) -> Qrels:
        """Judgments from a table or record batch of arrow; names and errors as in `from_pandas`.

        Anything that offers itself through arrow's PyCapsule interface will do.

        >>> import pyarrow
        >>> table = pyarrow.table({"query-id": ["q1"], "corpus-id": ["d1"], "score": [1]})
        >>> fr.Qrels.from_arrow(table).to_dict()
        {'q1': {'d1': 1}}
        """
        from fastrank.formats.arrow import arrow_table
        from fastrank.formats.rows import qrels_of

        return qrels_of(arrow_table(table), columns)

    @classmethod
    def from_arrays(cls, queries: Any, docs: Any, grades: Any) -> Qrels:
        """Judgments from three lists or one-dimensional arrays of one length, a row for each.

        Raises InputError, which names the row.

        >>> fr.Qrels.from_arrays([1, 1, 2], ["a", "b", "a"], [1, 0, 2]).queries[1]
        b'2'
        """
        from fastrank.formats.array_columns import table_of_arrays
        from fastrank.formats.rows import qrels_of

        return qrels_of(table_of_arrays(query=queries, doc=docs, grade=grades))

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
    def columns(self) -> tuple[Any, ...]:
        """Buffer, offsets, starts, lengths and grades, as kernels take them."""
        return *super().columns, self.grade_column


class Graded(Frozen):
    """Judgments whose documents have no texts: their queries, and the grades of each.

    What a query's documents are is known to whoever judges the rankings. `scale` as in Qrels.
    """

    __slots__ = ("grade_column", "offset_column", "queries", "scale")
    defaults: ClassVar[dict[str, Any]] = {"scale": None}

    queries: Texts
    offset_column: Any
    grade_column: Any
    scale: Scale | None

    def __len__(self) -> int:
        return len(self.queries)


class Run(Convertible):
    """A retrieval result: rows of document and score, which need not be by score.

    `tag` is the run's name, from the last line.

    >>> run = fr.Run.from_dict({"q1": {"d1": 0.5, "d2": 0.75}}, tag="bm25")
    >>> run
    <Run <dict>: 1 queries, 2 rows>
    >>> run.tag, list(run.docs), run.scores.tolist()
    (b'bm25', [b'd1', b'd2'], [0.5, 0.75])
    """

    __slots__ = ("score_column", "tag")

    tag: bytes
    score_column: Any

    @classmethod
    def from_dict(
        cls,
        given: Mapping[Any, Mapping[Any, Any]],
        *,
        tag: str | None = None,
        higher_is_better: bool = True,
    ) -> Run:
        """A run from {query: {document: score}}.

        Ids are as in Qrels.from_dict; scores are numbers, and not NaN. tag: the run's name.
        higher_is_better: False for distances, which become scores by changing sign. A query with an
        empty dict is one for which nothing was retrieved, and counts. Raises InputError, which
        names the query and the document.

        >>> fr.Run.from_dict({"q1": {"d1": 0.5, "d2": 2}}, tag="bm25").scores.tolist()
        [0.5, 2.0]
        """
        from fastrank.formats.dicts import run_from_dict

        return run_from_dict(given, tag=tag, higher_is_better=higher_is_better)

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        *,
        columns: Mapping[str, Any] | None = None,
        tag: str | None = None,
        higher_is_better: bool = True,
    ) -> Run:
        """A run from a DataFrame of pandas, one row per result; its index means nothing.

        The columns for query, doc and score are known by the names that ir_measures, PyTerrier,
        ranx, trectools, BEIR and Hugging Face use; columns: their names by role where they have
        others. Where there is a column rank and none for the score, a document's score is minus its
        rank. tag and higher_is_better: as in `from_dict`; by default the tag is that of the column
        tag or system, if there is one. Raises InputError, which names row and column.

        >>> import pandas
        >>> columns = {"q_id": ["q1", "q1"], "doc_id": ["a", "b"], "score": [0.5, 0.75]}
        >>> frame = pandas.DataFrame(columns)
        >>> fr.Run.from_pandas(frame, tag="bm25").to_dict()
        {'q1': {'a': 0.5, 'b': 0.75}}
        """
        from fastrank.formats.frames import PandasTable
        from fastrank.formats.rows import run_of

        return run_of(PandasTable(frame), columns, tag=tag, higher_is_better=higher_is_better)

    @classmethod
    def from_polars(
        cls,
        frame: Any,
        *,
        columns: Mapping[str, Any] | None = None,
        tag: str | None = None,
        higher_is_better: bool = True,
    ) -> Run:
        """A run from a DataFrame of polars; names, options and errors as in `from_pandas`.

        >>> import polars
        >>> frame = polars.DataFrame({"qid": ["q1", "q1"], "docno": ["a", "b"], "rank": [2, 1]})
        >>> fr.Run.from_polars(frame).to_dict()
        {'q1': {'a': -2.0, 'b': -1.0}}
        """
        from fastrank.formats.frames import PolarsTable
        from fastrank.formats.rows import run_of

        return run_of(PolarsTable(frame), columns, tag=tag, higher_is_better=higher_is_better)

    @classmethod
    def from_arrow(
        cls,
        table: Any,
        *,
        columns: Mapping[str, Any] | None = None,
        tag: str | None = None,
        higher_is_better: bool = True,
    ) -> Run:
        """A run from a table or record batch of arrow; names and the rest as in `from_pandas`.

        Anything that offers itself through arrow's PyCapsule interface will do.

        >>> import pyarrow
        >>> table = pyarrow.table({"query_id": ["q1"], "doc_id": ["d1"], "score": [0.5]})
        >>> fr.Run.from_arrow(table, higher_is_better=False).to_dict()
        {'q1': {'d1': -0.5}}
        """
        from fastrank.formats.arrow import arrow_table
        from fastrank.formats.rows import run_of

        return run_of(arrow_table(table), columns, tag=tag, higher_is_better=higher_is_better)

    @classmethod
    def from_arrays(
        cls,
        queries: Any,
        docs: Any,
        scores: Any,
        *,
        tag: str | None = None,
        higher_is_better: bool = True,
    ) -> Run:
        """A run from three lists or one-dimensional arrays of one length, a row for each result.

        tag and higher_is_better: as in `from_dict`. Raises InputError, which names the row.

        >>> run = fr.Run.from_arrays([7, 7], ["a", "b"], [0.1, 0.3], higher_is_better=False)
        >>> run.to_dict()
        {'7': {'a': -0.1, 'b': -0.3}}
        """
        from fastrank.formats.array_columns import table_of_arrays
        from fastrank.formats.rows import run_of

        table = table_of_arrays(query=queries, doc=docs, score=scores)
        return run_of(table, tag=tag, higher_is_better=higher_is_better)

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The score of every document, float64[rows]."""
        return as_array(self.score_column)

    @property
    def columns(self) -> tuple[Any, ...]:
        """Buffer, offsets, starts, lengths and scores, as kernels take them."""
        return *super().columns, self.score_column


class Preferences(PerQuery):
    """Preference judgments: rows of group, subgroup, document and preference level.

    `subgroups` is empty in the qrels_prefs format, where there is only one.

    >>> import io
    >>> lines = b"q1 0 0 d1 2\\nq1 0 0 d2 1\\nq1 0 0 d3 1\\n"
    >>> preferences = fr.read_prefs(io.BytesIO(lines))
    >>> list(preferences.docs), preferences.levels.tolist()
    ([b'd1', b'd2', b'd3'], [2.0, 1.0, 1.0])
    >>> fr.evaluate(preferences, {"q1": {"d1": 0.5, "d2": 0.75}}, "prefs_simp").mean
    {'prefs_simp': 0.5}
    """

    __slots__ = ("groups", "level_column", "subgroups")

    groups: Texts
    subgroups: Texts
    level_column: Any

    @property
    def levels(self) -> npt.NDArray[np.float64]:
        """The preference level of every row, float64[rows]; higher is preferred."""
        return as_array(self.level_column)
