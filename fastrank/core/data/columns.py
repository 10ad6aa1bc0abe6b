"""The common form of judgments and runs: frozen flat columns, one range of rows per query.

The contents are checked on construction. Texts stay bytes in the buffer they were read from;
numbers are typed memory that kernels read and numpy views.
"""

from __future__ import annotations

from fastrank.common.messages import counted, visible
from fastrank.core.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, ClassVar, TypeAlias

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

    from fastrank.core.data.texts import Texts
    from fastrank.core.native.buffers import Code, Memory
    from fastrank.core.native.record import Offsets

    # A column has as many values as there are rows.
    Column: TypeAlias = "Sequence[object] | npt.ArrayLike"


class Frozen:
    """A frozen object with fields given by name; it can be copied and pickled.

    Its annotations are the fields, and the values given there their defaults. internal: names
    hidden from completion. made_by: what makes such objects, unless it is a class method
    `from_...`; "" for those made by their fields.
    """

    internal: ClassVar[frozenset[str]] = frozenset(
        {"changed", "field_names", "internal", "made_by", "required"}
    )
    made_by: ClassVar[str] = ""
    # The names of all fields, also those of base classes; and of those that have no default.
    field_names: ClassVar[frozenset[str]] = frozenset()
    required: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        annotated = vars(cls).get("__annotations__", {}).items()
        fields = {name for name, kind in annotated if not kind.startswith("ClassVar")}
        cls.field_names = cls.field_names | fields
        cls.required = frozenset(name for name in cls.field_names if not hasattr(cls, name))

    def __dir__(self) -> list[str]:
        return sorted(set(object.__dir__(self)) - self.internal)

    def __init__(self, *arguments: object, **fields: object) -> None:
        if arguments or not self.required <= fields.keys() <= self.field_names:
            if arguments or not fields:
                raise TypeError(_how_to_make(type(self)))
            wrong = (self.required - fields.keys()) | (fields.keys() - self.field_names)
            raise TypeError(f"{type(self).__name__}: fields missing or unknown: {sorted(wrong)}")
        vars(self).update(fields)

    def changed(self, **fields: object) -> Self:
        """A copy with other values in some fields."""
        values = {name: getattr(self, name) for name in self.field_names}
        return type(self)(**{**values, **fields})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __copy__(self) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: _to_pickle(getattr(self, name)) for name in self.field_names}
        return _rebuild, (type(self), fields)


class WithDropped(Frozen):
    """Objects that had more attributes before the first release.

    Only for few classes: with this method Python finds every attribute more slowly.
    """

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            from fastrank.common.dropped import instead

            kind = type(self).__name__
            wrong = f"{kind!r} object has no attribute {name!r}{instead(kind, name)}"
            raise AttributeError(wrong, name=name, obj=self)


def _how_to_make(kind: type[Frozen]) -> str:
    """How to create objects of a class, for a call without named fields."""
    names = [name for base in kind.__mro__ for name in vars(base) if name.startswith("from_")]
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

    def __reduce__(self) -> tuple[object, ...]:
        return _memory_of, (self._column.format, bytes(self._column))


def _memory_of(code: Code, content: bytes) -> Memory:
    return memoryview(bytearray(content)).cast(code)


def _to_pickle(value: object) -> object:
    if isinstance(value, memoryview):
        return _PickledMemory(value)
    if isinstance(value, Record):
        return type(value)(*map(_to_pickle, value))
    return [_to_pickle(item) for item in value] if isinstance(value, list) else value


def _rebuild(kind: type[Frozen], fields: dict[str, object]) -> Frozen:
    frozen = object.__new__(kind)
    Frozen.__init__(frozen, **fields)
    return frozen


def as_array(column: object) -> npt.NDArray[Any]:
    """A read-only numpy view of a column."""
    import numpy

    view: npt.NDArray[Any] = numpy.asarray(column).view()
    view.flags.writeable = False
    return view


def id_text(value: object) -> Any:
    """An integer as its digits; anything else unchanged."""
    if isinstance(value, (str, bool)) or not hasattr(value, "__index__"):
        return value
    return str(value.__index__())


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
    offset_column: Offsets

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
        return id_text(query) in self._numbers()

    def _numbers(self) -> dict[str, int]:
        """The index of each query."""
        numbers: dict[str, int] | None = self.__dict__.get("numbers")
        if numbers is None:
            numbers = self.__dict__["numbers"] = {id_: i for i, id_ in enumerate(self.query_ids)}
        return numbers

    def __repr__(self) -> str:
        queries = counted(len(self.queries), "query", "queries")
        name = f"{type(self).__name__} {visible(self.source)}"
        return f"<{name}: {queries}, {counted(len(self.docs), 'row')}>"
