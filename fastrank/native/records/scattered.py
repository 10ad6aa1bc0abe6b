"""Runs whose queries have their lines in several places."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import Float64Array, Int64Array, UInt8Array
    from fastrank.native.records import ResultFields, Spans


class ResultPages(Record):
    """Results kept by query: see kernels/judging/result_pages.py.

    counts[q]: the results of query q. firsts[q]: its first page. ends[q]: where its next result
    goes. room: which pages are free (native/codes.py).
    """

    __slots__ = ()
    buffer: UInt8Array
    counts: Int64Array
    firsts: Int64Array
    ends: Int64Array
    room: Int64Array


class FilledPages(Record):
    """Results kept by several parts of a run; firsts[part * queries + q] is the first page of q."""

    __slots__ = ()
    buffer: UInt8Array
    firsts: Int64Array
    page_size: int
    parts: int


class Results(Record):
    """Results of one query, in some buffer."""

    __slots__ = ()
    docs: Spans
    scores: Float64Array


class ScatteredFields(Record):
    """The fields of lines of any query, and the number of each line's query."""

    __slots__ = ()
    queries: Spans
    numbers: Int64Array
    results: ResultFields
