"""Files that may be wrong in any way."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import Float64Array, Int64Array, UInt8Array
    from fastrank.native.records import Spans, Stretches


class CheckedLines(Record):
    """What `check_lines` finds: columns by row, stretches of query and of tag, and odd lines."""

    __slots__ = ()
    lines: Int64Array
    docs: Spans
    scores: Float64Array
    integers: Int64Array
    classes: UInt8Array
    rank_classes: UInt8Array
    queries: Stretches
    tags: Stretches
    odd: Int64Array
    fallbacks: Int64Array
