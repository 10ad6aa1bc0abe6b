"""The nouns: judgments and runs as flat columns, one row range per query.

They are frozen, and what they hold was checked when they were made. Texts stay bytes in the
buffer they were read in; numbers are typed memory that kernels read and numpy views.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    import numpy as np
    import numpy.typing as npt


class Frozen:
    """Fields given once, by name, and never changed; can be copied and pickled."""

    __slots__: tuple[str, ...] = ()

    @classmethod
    def field_names(cls) -> set[str]:
        """The names of all fields, those of base classes included."""
        return {name for kind in cls.__mro__ for name in getattr(kind, "__slots__", ())}

    def __init__(self, **fields: Any) -> None:
        wrong = self.field_names() ^ set(fields)
        if wrong:
            raise TypeError(f"{type(self).__name__}: fields missing or unknown: {sorted(wrong)}")
        for name, value in fields.items():
            object.__setattr__(self, name, value)

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


class Qrels(PerQuery):
    """Relevance judgments: rows of document and grade.

    `groups` holds the second field of each line: the judgment group in the qrels_jg format,
    otherwise without meaning.
    """

    __slots__ = ("grade_column", "groups")

    groups: Texts
    grade_column: Any

    @property
    def grades(self) -> npt.NDArray[np.int64]:
        """The grade of every judgment, int64[rows]."""
        return as_array(self.grade_column)

    @property
    def columns(self) -> tuple[Any, ...]:
        """Buffer, offsets, starts, lengths and grades, as kernels take them."""
        return *super().columns, self.grade_column


class Graded(Frozen):
    """Judgments whose documents have no texts: their queries, and the grades of each.

    What a query's documents are is known to whoever judges the rankings.
    """

    __slots__ = ("grade_column", "offset_column", "queries")

    queries: Texts
    offset_column: Any
    grade_column: Any

    def __len__(self) -> int:
        return len(self.queries)


class Run(PerQuery):
    """A retrieval result: rows of document and score, which need not be by score.

    `tag` is the run's name, from the last line.
    """

    __slots__ = ("score_column", "tag")

    tag: bytes
    score_column: Any

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
    """

    __slots__ = ("groups", "level_column", "subgroups")

    groups: Texts
    subgroups: Texts
    level_column: Any

    @property
    def levels(self) -> npt.NDArray[np.float64]:
        """The preference level of every row, float64[rows]; higher is preferred."""
        return as_array(self.level_column)
