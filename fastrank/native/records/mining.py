"""Hard negatives, and what looks for them."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import Int64Array
    from fastrank.native.records import RankingScratch


class MiningScratch(Record):
    """Memory for one query: a hash table, its ranking, and the rows of the judgments."""

    __slots__ = ()
    table: Int64Array
    ranking: RankingScratch
    found: Int64Array


class Negatives(Record):
    """Hard negatives.

    retrieved[row of a judgment]: 1 + the row of the run that has its document, or 0. selected: rows
    of the run, best first, from where the rows of a ranking begin; counts[i] of them for query i.
    """

    __slots__ = ()
    retrieved: Int64Array
    selected: Int64Array
    counts: Int64Array
