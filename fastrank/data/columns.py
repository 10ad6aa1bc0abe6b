"""What judgments and runs have in common: frozen flat columns, one range of rows per query.

The contents are checked on construction. Texts stay bytes in the buffer they were read from;
numbers are typed memory that kernels read and numpy views.
"""

from __future__ import annotations

from fastrank.lazy import convert
from fastrank.messages import counted
from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, ClassVar

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

    from fastrank.data.texts import Texts


class Frozen:
    """A frozen object with fields given by name; it can be copied and pickled.

    Its annotations are the fields, and the values given there their defaults. internal: names
    hidden from completion. made_by: what makes such objects, unless it is a class method
    `from_...`; "" for those made by their fields.
    """

    # The defaults of fields that are annotated without a value.
    defaults: ClassVar[dict[str, Any]] = {}
    internal: ClassVar[frozenset[str]] = frozenset(
        {"changed", "defaults", "field_names", "internal", "made_by", "required"}
    )
    made_by: ClassVar[str] = ""
    # The names of all fields, including those of base classes, and of those without a default.
    field_names: ClassVar[frozenset[str]] = frozenset()
    required: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        own = vars(cls)
        for name, value in own.get("defaults", {}).items():
            setattr(cls, name, value)
        annotated = own.get("__annotations__", {}).items()
        fields = {name for name, kind in annotated if not kind.startswith("ClassVar")}
        cls.field_names = cls.field_names | fields
        cls.required = frozenset(name for name in cls.field_names if not hasattr(cls, name))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            from fastrank.dropped import instead

            kind = type(self).__name__
            wrong = f"{kind!r} object has no attribute {name!r}{instead(kind, name)}"
            raise AttributeError(wrong, name=name, obj=self)

    def __dir__(self) -> list[str]:
        return sorted(set(object.__dir__(self)) - self.internal)

    def __init__(self, *given: Any, **fields: Any) -> None:
        if given or not self.required <= fields.keys() <= self.field_names:
            if given or not fields:
                raise TypeError(_how_to_make(type(self)))
            wrong = (self.required - fields.keys()) | (fields.keys() - self.field_names)
            raise TypeError(f"{type(self).__name__}: fields missing or unknown: {sorted(wrong)}")
        vars(self).update(fields)

    def changed(self, **fields: Any) -> Any:
        """A copy with other values in some fields."""
        kept = {name: getattr(self, name) for name in self.field_names}
        return type(self)(**{**kept, **fields})

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __copy__(self) -> Self:
        return self

    def __reduce__(self) -> Any:
        fields = {name: _to_pickle(getattr(self, name)) for name in self.field_names}
        return _rebuild, (type(self), fields)


def _how_to_make(kind: type[Frozen]) -> str:
    """What makes objects of a class that was called with positional arguments, or none."""
    names = [name for own in kind.__mro__ for name in vars(own) if name.startswith("from_")]
    ways = kind.made_by
    if names:
        *others, last = [f"{kind.__name__}.{names[0]}", *names[1:]]
        ways = f"{', '.join(others)} or {last}" if others else last
    advice = f"; create it with {ways}" if ways else ""
    return f"{kind.__name__}() takes fields by name only{advice}"


class _PickledMemory:
    """Typed memory in a pickle, because memoryviews cannot be pickled."""

    def __init__(self, column: memoryview) -> None:
        self._column = column

    def __reduce__(self) -> Any:
        return _memory_of, (self._column.format, bytes(self._column))


def _memory_of(code: Any, content: bytes) -> memoryview:
    return memoryview(bytearray(content)).cast(code)


def _to_pickle(value: Any) -> Any:
    if isinstance(value, memoryview):
        return _PickledMemory(value)
    if isinstance(value, Record):
        return type(value)(*map(_to_pickle, value))
    return [_to_pickle(item) for item in value] if isinstance(value, list) else value


def _rebuild(kind: type[Frozen], fields: dict[str, Any]) -> Frozen:
    made = object.__new__(kind)
    Frozen.__init__(made, **fields)
    return made


def as_array(column: Any) -> npt.NDArray[Any]:
    """A read-only numpy view of a column."""
    import numpy

    view: npt.NDArray[Any] = numpy.asarray(column).view()
    view.flags.writeable = False
    return view


class PerQuery(Frozen):
    """Rows of documents, one range of rows per query.

    Queries are in the order of their first line; query i has the rows
    offsets[i] : offsets[i + 1], in file order. `source` is the file's name, for messages.
    """

    internal = Frozen.internal | {"columns", "docs", "offset_column", "queries"}

    # The ids as bytes; in public they are str.
    queries: Texts
    docs: Texts
    source: str
    offset_column: Any

    @property
    def query_ids(self) -> list[str]:
        """The ids of the queries."""
        return self.queries.decoded()

    @property
    def doc_ids(self) -> list[str]:
        """The id of the document of every row."""
        return self.docs.decoded()

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Row ranges, int64[queries + 1]."""
        return as_array(self.offset_column)

    def __len__(self) -> int:
        return len(self.queries)

    def __iter__(self) -> Iterator[str]:
        return iter(self.query_ids)

    def __contains__(self, query: object) -> bool:
        return query in self._places()

    def _places(self) -> dict[str, int]:
        """The place of each query."""
        places: dict[str, int] | None = self.__dict__.get("places")
        if places is None:
            places = self.__dict__["places"] = {id_: i for i, id_ in enumerate(self.query_ids)}
        return places

    def __repr__(self) -> str:
        queries = counted(len(self.queries), "query", "queries")
        return f"<{type(self).__name__} {self.source}: {queries}, {counted(len(self.docs), 'row')}>"


class Convertible(PerQuery):
    """Judgments or runs, which convert to dicts, data frames and tables.

    Frames and tables have the columns query_id and doc_id (strings). Judgments add relevance
    (int64, or float64 for grades with fractions), iteration (string) unless all are `0`, and
    stratum (string) if there are strata; runs add score (float64) and, if there is one, tag
    (string). A query without results has no row.
    Bytes that are not UTF-8 become lone surrogates, as in `os.fsdecode`.
    """

    @classmethod
    def _from_table(cls, form: str, given: Any, columns: Any = None, **options: Any) -> Self:
        """Make judgments or a run of a table in another form."""
        made: Self = convert("from_table", cls, form, given, columns, **options)
        return made

    def __getitem__(self, query: str) -> dict[str, Any]:
        """{document: grade or score} of a query. Raises KeyError for an unknown query."""
        place = self._places().get(query)
        if place is None:
            raise KeyError(f"no query {query!r} in {self!r}")
        made: dict[str, Any] = convert("query_to_dict", self, place)
        return made

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Convert to {query: {document: grade or score}}, as pytrec_eval takes it.

        Raises InputError for a duplicate document in a query.

        >>> fr.Run.from_arrays(["q1", "q1"], ["d1", "d2"], [0.5, 0.75]).to_dict()
        {'q1': {'d1': 0.5, 'd2': 0.75}}
        """
        made: dict[str, dict[str, Any]] = convert("to_dict", self)
        return made

    def to_pandas(self) -> Any:
        """Convert to a pandas DataFrame.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).to_pandas()
          query_id doc_id  relevance
        0       q1     d1          1
        1       q1     d2          0
        """
        return convert("to_pandas", self)

    def to_polars(self) -> Any:
        """Convert to a polars DataFrame. Raises InputError for ids that are not UTF-8.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).to_polars().columns
        ['query_id', 'doc_id', 'relevance']
        """
        return convert("to_polars", self)

    def to_arrow(self) -> Any:
        """Convert to an Arrow table. Raises InputError for ids that are not UTF-8.

        >>> fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}).to_arrow().column_names
        ['query_id', 'doc_id', 'relevance']
        """
        return convert("to_arrow", self)
