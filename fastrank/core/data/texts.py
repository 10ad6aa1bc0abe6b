"""Byte strings as ranges of one buffer, and rows grouped by such a string."""

from __future__ import annotations

from fastrank.core.data.columns import Frozen
from fastrank.core.native import kernels, records
from fastrank.core.native.buffers import columns, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Sized
    from typing import Any, TypeAlias

    import numpy.typing as npt

    from fastrank.core.native.buffers import Code, Memory
    from fastrank.core.native.record import Int64Array

    # Query ids, as a list or decoded lazily.
    Ids: TypeAlias = "TextSelection | list[bytes]"


NO_ITERATION = b"0"


def joined(whole: bytes, parts: Sequence[Sized]) -> Texts:
    """Consecutive texts in `whole`, with the lengths of the parts."""
    import numpy

    lengths = numpy.fromiter(map(len, parts), "int64", len(parts))
    return Texts(whole, memory_of(numpy.cumsum(lengths) - lengths), memory_of(lengths))


def gather_texts(words: Texts, codes: Int64Array) -> Texts:
    """Text number codes[i] for every i."""
    import numpy

    starts, lengths = numpy.asarray(words.starts), numpy.asarray(words.lengths)
    return Texts(words.buffer, memory_of(starts[codes]), memory_of(lengths[codes]))


def memory_of(values: npt.NDArray[Any]) -> Memory:
    """A numpy array of 8-byte numbers, not changed elsewhere, as memory for kernels."""
    code: Code = "d" if values.dtype.kind == "f" else "q"
    return values.data.cast("B").cast(code) if len(values) else zeros(code, 0)


class Texts(Frozen):
    """Byte strings as ranges of one buffer; a sequence of `bytes`."""

    buffer: bytes | memoryview
    starts: memoryview
    lengths: memoryview
    # The unit that `line` counts.
    unit = "line"

    def __init__(self, buffer: bytes | memoryview, starts: Int64Array, lengths: Int64Array) -> None:
        super().__init__(buffer=buffer, starts=starts, lengths=lengths)

    @property
    def columns(self) -> records.Texts:
        """Buffer, starts and lengths, for kernels."""
        return records.Texts(self.buffer, self.starts, self.lengths)

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

    def decoded(self) -> list[str]:
        """All texts as str."""
        texts = self
        if not isinstance(self.buffer, bytes):
            # Slicing bytes is faster than copying from a memoryview.
            texts = Texts(bytes(self.buffer), self.starts, self.lengths)
        return [decoded(text) for text in texts.take(range(len(self)))]

    def placed(self, rows: Int64Array | None, unit: str) -> TextColumn:
        """The same texts, with the rows they come from."""
        return TextColumn(self.buffer, self.starts, self.lengths, rows, unit)

    def line(self, i: int) -> int:
        """The line of text i in the buffer, from 1."""
        return bytes(self.buffer[: self.starts[i]]).count(b"\n") + 1


class TextSelection:
    """Some texts in some order: a sequence of `bytes` that are created on access.

    Creating 7,000 takes as long as computing half of the measures of a large run.
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
        return isinstance(other, (TextSelection, list)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        # Pickle the texts, not the whole file they are part of.
        return list, (list(self),)


def remaining(texts: Texts | Sequence[bytes], rows: Iterable[int]) -> list[bytes]:
    """The texts but those of the given rows."""
    taken = set(rows)
    if len(taken) == len(texts):
        return []
    return [texts[i] for i in range(len(texts)) if i not in taken]


class TextColumn(Texts):
    """Texts that come from the rows of a table or the records of a file.

    rows: the row of each text, or None if text i is in row i. unit: what the source counts: rows
    from 0 (frames and arrays), items of a dict, or lines from 1.
    """

    rows: Int64Array | None
    unit: str

    def __init__(
        self,
        buffer: bytes | memoryview,
        starts: Int64Array,
        lengths: Int64Array,
        rows: Int64Array | None,
        unit: str,
    ) -> None:
        Frozen.__init__(self, buffer=buffer, starts=starts, lengths=lengths, rows=rows, unit=unit)

    def line(self, i: int) -> int:
        """The row or line of text i."""
        return i if self.rows is None else int(self.rows[i])


class LineFields(TextColumn):
    """Texts from the lines of a file that is not kept in memory; `rows` counts lines from 0."""

    def line(self, i: int) -> int:
        """The line of text i, from 1."""
        return super().line(i) + 1


class TextSet(Texts):
    """Texts that are also available as a list."""

    listed: list[bytes]

    def __init__(self, texts: list[bytes], starts: Int64Array, lengths: Int64Array) -> None:
        Frozen.__init__(self, buffer=b"".join(texts), starts=starts, lengths=lengths, listed=texts)

    def take(self, rows: Iterable[int]) -> list[bytes]:
        """The texts of some rows."""
        texts = self.listed
        return [texts[row] for row in rows]


def as_texts(texts: list[bytes]) -> TextSet:
    """Byte strings as texts, one after the other."""
    # Imported late: the trec_eval command needs neither, and array imports collections.
    from array import array
    from itertools import accumulate

    lengths = array("q", map(len, texts))
    starts = array("q", accumulate(lengths, initial=0))
    starts.pop()
    return TextSet(texts, memoryview(starts), memoryview(lengths))


def spans(count: int) -> records.Spans:
    """Memory for the starts and lengths of `count` texts."""
    return records.Spans(starts=zeros("q", count), lengths=zeros("q", count))


def interning(count: int) -> records.Interning:
    """Memory for numbering `count` texts."""
    return records.Interning(
        table=zeros("q", kernels.table_size(count)), ids=zeros("q", count), firsts=zeros("q", count)
    )


def text_table(texts: Texts) -> records.TextTable:
    """Texts, and the table by which kernels find them."""
    numbered = interning(len(texts))
    kernels.intern_texts(texts.columns, numbered)
    return records.TextTable(texts=texts.columns, table=numbered.table)


def decoded(text: bytes) -> str:
    """Decode UTF-8; other bytes become lone surrogates, which `os.fsencode` restores."""
    return text.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """Encode as UTF-8; lone surrogates become the bytes that `decoded` read."""
    return text.encode("utf-8", "surrogateescape")


def constant(text: bytes, count: int) -> Texts:
    """The same text `count` times."""
    import numpy

    lengths = numpy.full(count, len(text), "int64")
    return Texts(text, zeros("q", count), memory_of(lengths))


def text_order(texts: Texts) -> Int64Array:
    """The indexes of texts in their byte order."""
    count = len(texts.starts)
    beginnings, order, scratch = columns("q", count, count, count)
    kernels.order_texts(texts.columns, beginnings, order, scratch)
    return order


class Groups:
    """The rows of each query, found from stretches of rows with the same query.

    queries: the ids in the order of their first row. offsets: the row ranges after reordering.
    order: the former row of each row, or None if rows keep their order.
    """

    def __init__(self, stretches: Texts, first_rows: Int64Array, rows: int) -> None:
        count = len(stretches)
        text, starts, lengths = stretches.columns
        numbered = interning(count)
        distinct = kernels.intern_texts(stretches.columns, numbered)
        self._rows = rows
        self.order: Int64Array | None = None
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


def take(column: Any, order: Int64Array) -> Any:
    """The rows of a column in the given order."""
    if not column:
        return column
    rows = zeros(column.format, len(order))
    # Only items of eight bytes are taken.
    values, taken = (memoryview(memory).cast("B").cast("q") for memory in (column, rows))
    kernels.take_words(values, order, taken)
    return rows
