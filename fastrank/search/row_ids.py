"""Ids of rows: texts, or nothing, and then a row's id is its number."""

from __future__ import annotations

from fastrank.data.texts import Texts, decoded, gather_texts, interning, text_order
from fastrank.errors import ArrayError
from fastrank.formats.ids import texts_of, texts_of_ids
from fastrank.native import kernels
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    import numpy.typing as npt

    Array = npt.NDArray[Any]

# What a row number has at most.
DIGITS = 18


class RowIds:
    """The ids of `count` rows (None: however many there are)."""

    def __init__(self, texts: Texts | None, count: int | None) -> None:
        self.texts, self.count = texts, count
        self._order: Any = None
        self._ranks: Any = None

    def take(self, rows: Array) -> Texts:
        """The ids of some rows."""
        if self.texts is None:
            return texts_of(rows, no_failure)
        return gather_texts(self.texts, rows)

    def rows_of(self, asked: Texts) -> Array:
        """For each id its row, or -1."""
        import numpy

        if self.texts is None:
            return _numbers(asked, self.count)
        distinct, numbers = _distinct(asked)
        order = text_order(distinct)
        matches = zeros("q", len(distinct))
        kernels.match_texts(distinct.columns, order, self.texts.columns, self._in_order(), matches)
        rows = numpy.empty(len(distinct), numpy.int64)
        rows[numpy.asarray(order)] = numpy.asarray(matches)
        found: Array = rows[numpy.asarray(numbers)]
        return found

    def sort_keys(self, rows: Array) -> list[Array]:
        """Numbers that order rows as their ids in byte order; the last decides first."""
        import numpy

        if self.texts is not None:
            if self._ranks is None:
                order = numpy.asarray(self._in_order())
                self._ranks = numpy.empty(len(order), numpy.int64)
                self._ranks[order] = numpy.arange(len(order))
            return [self._ranks[rows]]
        # As decimal texts: digits from the left, and of equal ones ("1", "10") the shorter first.
        powers = 10 ** numpy.arange(DIGITS + 1, dtype=numpy.int64)
        digits = numpy.searchsorted(powers[1:], rows, "right") + 1
        return [digits, rows * powers[DIGITS - digits]]

    def _in_order(self) -> Any:
        if self._order is None:
            assert self.texts is not None
            self._order = text_order(self.texts)
        return self._order


def check_row_ids(argument: str, ids: Any, count: int | None) -> RowIds:
    """The ids a caller gave, checked: as many as there are rows, and each once.

    Raises ArrayError.
    """
    if ids is None:
        return RowIds(None, count)
    if isinstance(ids, RowIds):
        texts = ids.texts
        if texts is None:
            return RowIds(None, count)
    elif isinstance(ids, Texts):
        texts = ids
    else:
        texts = texts_of_ids(argument, ids)
    if count is not None and len(texts) != count:
        raise ArrayError(argument, f"expected {count} ids, one per vector, found {len(texts)}")
    _refuse_repeats(argument, texts)
    return RowIds(texts, len(texts))


def _refuse_repeats(argument: str, texts: Texts) -> None:
    import numpy

    distinct, numbers = _distinct(texts)
    if len(distinct) == len(texts):
        return
    found = numpy.asarray(numbers)
    _, firsts = numpy.unique(found, return_index=True)
    row = int(numpy.setdiff1d(numpy.arange(len(found)), firsts)[0])
    first = int(firsts[found[row]])
    raise ArrayError(argument, f"{decoded(texts[row])!r} stands at {first} already", row)


def _distinct(texts: Texts) -> tuple[Texts, Any]:
    """The distinct texts, and for every text the place of its equal among them."""
    import numpy

    numbered = interning(len(texts))
    found = kernels.intern_texts(texts.columns, numbered)
    if found == len(texts):
        return texts, numbered.ids
    return gather_texts(texts, numpy.asarray(numbered.firsts)[:found]), numbered.ids


def _numbers(asked: Texts, count: int | None) -> Array:
    """Row numbers written as texts; -1 for what is none."""
    import numpy

    def row(text: bytes) -> int:
        if not text.isdigit() or (text[:1] == b"0" and len(text) > 1) or len(text) > DIGITS:
            return -1
        number = int(text)
        return number if count is None or number < count else -1

    return numpy.fromiter(map(row, asked), numpy.int64, len(asked))


def no_failure(row: int, reason: str) -> NoReturn:
    """For ids that were checked before, of which none can be refused."""
    raise AssertionError(f"row {row}: {reason}")
