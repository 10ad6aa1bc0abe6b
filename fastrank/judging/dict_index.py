"""Judgments that are dicts, indexed so that runs that are dicts can be judged by a kernel."""

from __future__ import annotations

from array import array
from itertools import accumulate

from fastrank.data.grade_scale import Graded
from fastrank.data.texts import joined
from fastrank.native import kernels
from fastrank.native.buffers import table_size, zeros
from fastrank.native.objects import addresses, interpreter
from fastrank.native.records.dicts import DictQrels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# Integers from which on memory is mapped: 8 MB.
LARGE = 1 << 20


class DictIndex:
    """The judged documents of queries, {document: grade} for each.

    `columns` is what kernels see of them. The dicts must not change.
    """

    def __init__(self, dicts: list[dict[str, int]], columns: DictQrels) -> None:
        # They keep alive what the columns have the addresses of.
        self._dicts = dicts
        self.columns = columns
        self.most_judged = max(map(len, dicts), default=0)
        self.most_grades = kernels.widest(columns.grade_offsets)

    @staticmethod
    def of(dicts: list[Any]) -> DictIndex | None:
        """Index dicts, whose keys are str and whose values are int; None for others."""
        api = interpreter.api()
        if api is None or not set(map(type, dicts)) <= {dict}:
            return None
        lengths = list(map(len, dicts))
        count = sum(lengths)
        tables = array("q", accumulate(map(table_size, lengths), initial=0))
        memory = _one_piece(8 * count + tables[-1] // 2)
        docs, grades, values, counts = (memory[i * count : (i + 1) * count] for i in range(4))
        columns = DictQrels(
            offsets=array("q", accumulate(lengths, initial=0)),
            docs=docs,
            texts=memory[4 * count : 8 * count],
            grades=grades,
            table_offsets=tables,
            tables=memory[8 * count :].cast("B").cast("i"),
            grade_offsets=zeros("q", len(dicts) + 1),
            grade_values=values,
            grade_counts=counts,
        )
        done = kernels.index_dicts(api, addresses(dicts), columns)
        return DictIndex(dicts, columns) if done == len(dicts) else None

    @property
    def largest_grade(self) -> int:
        """The largest grade; 0 where none is."""
        return max(self.columns.grade_values[: self.columns.grade_offsets[-1]], default=0)


def _one_piece(count: int) -> Any:
    """Zeroed memory for a number of integers.

    New pages take longer to be had than memory that was used before; but many of them are large.
    """
    if count >= LARGE:
        return zeros("q", count)
    memory: Any = memoryview(bytearray(8 * count))
    return memory.cast("q")


class DictJudgments(Graded):
    """Judgments {query: {document: grade}} of str and int, indexed; made by `index_judgments`.

    dicts: a copy of them. A pickle holds that alone.
    """

    __slots__ = ("dicts", "index")

    dicts: dict[str, dict[str, int]]
    index: DictIndex

    def select(self, places: Any) -> DictJudgments:
        """Those of the queries at some places."""
        queries = list(self.dicts)
        chosen = index_judgments({queries[place]: self.dicts[queries[place]] for place in places})
        assert chosen is not None
        return chosen

    def __reduce__(self) -> Any:
        return index_judgments, (self.dicts,)


def with_texts(judgments: Any) -> Any:
    """Qrels of judgments that are dicts, with the texts of the documents; other judgments."""
    if not isinstance(judgments, DictJudgments):
        return judgments
    from fastrank.formats.dicts import qrels_from_dict

    return qrels_from_dict(judgments.dicts, source="qrels")


def index_judgments(given: Any) -> DictJudgments | None:
    """Index judgments {query: {document: grade}}; None unless all are dicts of str and int."""
    if not (set(map(type, given)) <= {str} and set(map(type, given.values())) <= {dict}):
        return None
    # The caller may change his.
    dicts = {query: dict(documents) for query, documents in given.items() if documents}
    index = DictIndex.of(list(dicts.values()))
    if index is None:
        return None
    try:
        texts = [query.encode() for query in dicts]
    except UnicodeEncodeError:
        return None
    return DictJudgments(
        queries=joined(b"".join(texts), texts), offset_column=index.columns.offsets,
        grade_column=index.columns.grades, dicts=dicts, index=index,
    )  # fmt: skip
