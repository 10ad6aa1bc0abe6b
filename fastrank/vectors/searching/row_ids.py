"""Ids of rows: texts, or by default the row numbers."""

from __future__ import annotations

import codecs
import math
import os

import numpy

from fastrank.common.arguments import flag
from fastrank.core.data.texts import Texts, decoded, gather_texts, interning, text_order
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.tables.sniff import read_text
from fastrank.core.formats.tables.values import first_repeat, texts_of, texts_of_ids, texts_of_list
from fastrank.core.formats.trec.line_files import as_exclusions
from fastrank.core.native import kernels, records
from fastrank.core.native.buffers import zeros
from fastrank.errors import ArrayError, FormatError, InputError
from fastrank.vectors.searching.npy_files import load_npy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, NoReturn

    from fastrank.common.arrays import Array

    IdsLike = Iterable[str] | Iterable[int] | str | os.PathLike[str] | Any
    """The ids of rows: a list or an array of texts or integers, or the path of a file with one id
    per line or of a `.npy` file."""

# The maximum length of a row number.
DIGITS = 18


class RowIds:
    """The ids of `count` rows (None: any number)."""

    def __init__(self, texts: Texts | None, count: int | None) -> None:
        self.texts, self.count = texts, count
        self._ranks: Any = None

    def take(self, rows: Array) -> Texts:
        """The ids of some rows."""
        if self.texts is None:
            return texts_of(rows, no_failure)
        return gather_texts(self.texts, rows)

    def first(self, most: int = 3) -> Texts:
        """The ids of the first rows."""
        return self.take(numpy.arange(most if self.count is None else min(most, self.count)))

    def rows_of(self, asked: Texts) -> Array:
        """The row of each id, or -1."""
        if self.texts is None:
            return _numbers(asked, self.count)
        numbered, matches = interning(len(asked)), zeros("q", len(asked))
        kernels.intern_texts(asked.columns, numbered)
        table = records.TextTable(texts=asked.columns, table=numbered.table)
        kernels.match_texts(self.texts.columns, table, matches)
        firsts = numpy.asarray(numbered.firsts)[numpy.asarray(numbered.ids)]
        rows: Array = numpy.asarray(matches)[firsts]
        return rows

    def sort_keys(self, rows: Array) -> list[Array]:
        """Sort keys (as in numpy.lexsort) that order rows by the byte order of their ids."""
        if self.texts is not None:
            if self._ranks is None:
                order = numpy.asarray(text_order(self.texts))
                self._ranks = numpy.empty(len(order), numpy.int64)
                self._ranks[order] = numpy.arange(len(order))
            return [self._ranks[rows]]
        # As decimal texts: by digits from the left, then ("1", "10") the shorter first.
        powers = 10 ** numpy.arange(DIGITS + 1, dtype=numpy.int64)
        digits = numpy.searchsorted(powers[1:], rows, "right") + 1
        return [digits, rows * powers[DIGITS - digits]]

    def check_count(self, argument: str, rows: int, *, partial: bool = False) -> None:
        """Raise ArrayError unless there is one id per row; partial: there may be more rows."""
        count = rows if self.texts is None else len(self.texts)
        if count < rows or (count > rows and not partial):
            some = f"at least {rows}" if partial else rows
            raise ArrayError(argument, f"expected {some} ids, one per vector, found {count}")


def check_row_ids(argument: str, ids: IdsLike | RowIds | None, count: int | None) -> RowIds:
    """Check ids from a caller: one per row, without duplicates; or the path of a file with them.

    Raises ArrayError, and what `read_ids` raises.
    """
    if ids is None or (isinstance(ids, RowIds) and ids.texts is None):
        return RowIds(None, count)
    if isinstance(ids, RowIds):
        if count is not None:
            ids.check_count(argument, count)
        return ids
    if isinstance(ids, (str, os.PathLike)):
        ids = read_ids(os.fspath(ids))
    texts = ids if isinstance(ids, Texts) else texts_of_ids(argument, ids)
    names = RowIds(texts, len(texts))
    if count is not None:
        names.check_count(argument, count)
    numbered = interning(len(texts))
    if kernels.intern_texts(texts.columns, numbered) < len(texts):
        row = first_repeat(texts)
        first = numbered.firsts[numbered.ids[row]]
        raise ArrayError(argument, f"duplicate id {decoded(texts[row])!r}, also at {first}", row)
    return names


def _numbers(asked: Texts, count: int | None) -> Array:
    """Parse row numbers from texts; -1 if a text is not a row number."""

    def row(text: bytes) -> int:
        if not text.isdigit() or (text[:1] == b"0" and len(text) > 1) or len(text) > DIGITS:
            return -1
        number = int(text)
        return number if count is None or number < count else -1

    return numpy.fromiter(map(row, asked), numpy.int64, len(asked))


def check_numbering(
    source: str,
    judged: Texts,
    rows: RowIds,
    noun: str,
    remedy: str,
    grades: Array | None = None,
) -> None:
    """Raise InputError where judgments and row numbers number documents or queries differently.

    That is, if the number of rows is judged and 0 is not: judgments count from 1. grades: of
    documents; those below 0 count as not judged. With them, it is also an error if judged ids that
    are not among the rows are all larger numbers. remedy: the end of the message.
    """
    if rows.texts is not None or not rows.count:
        return
    numbers = _numbers(judged, None)
    if grades is not None:
        numbers = numbers[grades >= 0]
    above = numbers >= rows.count
    from_one = bool((numbers == rows.count).any()) and not (numbers == 0).any()
    if from_one or (grades is not None and above.any() and not (numbers[~above] < 0).any()):
        hint = "; the judgments seem to count from 1" if from_one else ""
        raise InputError(
            source,
            f"{noun} up to {numbers.max()} are judged, but the ids are row numbers, 0 to"
            f" {rows.count - 1}{hint}; {remedy}",
        )


def no_failure(row: int, reason: str) -> NoReturn:
    """For ids that were checked before, so that this cannot happen."""
    raise AssertionError(f"row {row}: {reason}")


def read_ids(path: str) -> Array | list[bytes]:
    """The ids in a file: one per line, or a .npy file of strings or integers.

    Raises ReadError, and FormatError for a line that is not one id.
    """
    name = name_of(path)
    if name.endswith(".npy"):
        return load_npy(path)
    lines = read_text(path).removeprefix(codecs.BOM_UTF8).split(b"\n")
    if not lines[-1]:
        lines.pop()
    ids = [line.removesuffix(b"\r") for line in lines]
    for number, text_id in enumerate(ids, 1):
        if not text_id or len(text_id.split()) != 1 or text_id.strip() != text_id:
            description = repr(decoded(text_id)) if text_id else "an empty line"
            raise FormatError(name, number, f"expected an id without blanks, found {description}")
    return ids


class Exclusion:
    """The rows of the corpus to exclude for each query."""

    def __init__(
        self,
        queries: RowIds,
        corpus: RowIds,
        *,
        itself: bool,
        lists: Mapping[Any, Iterable[object]] | None,
    ) -> None:
        self._queries, self._corpus = queries, corpus
        self._itself = flag("ignore_identical_ids", itself)
        self._own_rows = None
        if self._itself and queries.texts is not None:
            self._own_rows = corpus.rows_of(queries.texts)
        self._lists = _rows_by_query(as_exclusions(lists), corpus)

    def longest(self, limit: float = math.inf) -> int:
        """The largest number of documents to exclude for a query, without lists above the limit."""
        lengths = (len(rows) for rows in self._lists.values())
        return max((length for length in lengths if length <= limit), default=0) + self._itself

    def of(self, rows: Array) -> list[Array] | None:
        """The rows of the corpus to exclude for each query, or None if there are none."""
        if not self._itself and not self._lists:
            return None
        excluded = [numpy.empty(0, numpy.int64)] * len(rows)
        if self._itself:
            itself = self._rows_of_themselves(rows)
            excluded = [
                itself[i : i + 1] if itself[i] >= 0 else excluded[i] for i in range(len(rows))
            ]
        if self._lists:
            for i, query in enumerate(self._queries.take(rows)):
                more = self._lists.get(query)
                if more is not None:
                    excluded[i] = numpy.union1d(excluded[i], more)
        return excluded

    def _rows_of_themselves(self, rows: Array) -> Array:
        if self._own_rows is not None:
            return self._own_rows[rows]
        if self._corpus.texts is not None:
            return self._corpus.rows_of(self._queries.take(rows))
        count = self._corpus.count
        return rows if count is None else numpy.where(rows < count, rows, -1)


def _rows_by_query(lists: dict[bytes, list[bytes]], corpus: RowIds) -> dict[bytes, Array]:
    """The rows of the listed documents that are in the corpus."""
    if not lists:
        return {}
    rows = corpus.rows_of(
        texts_of_list([doc for docs in lists.values() for doc in docs], no_failure)
    )
    by_query, start = {}, 0
    for query, docs in lists.items():
        present = rows[start : start + len(docs)]
        start += len(docs)
        if (present >= 0).any():
            by_query[query] = present[present >= 0]
    return by_query
