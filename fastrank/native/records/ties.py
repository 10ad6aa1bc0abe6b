"""Rankings with equal scores."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import Float64Array, Int64Array, Int64PerQuery, Offsets


class TiedRankings(Record, query="Tied"):
    """Judged rankings by tie group.

    lows, highs, grades: the listed documents: those at ranks lows + 1 to highs have equal scores,
    in any order. The rest as in Rankings.
    """

    __slots__ = ()
    offsets: Offsets
    lows: Int64Array
    highs: Int64Array
    grades: Int64Array
    grade_offsets: Offsets
    grade_values: Int64Array
    grade_counts: Int64Array
    num_ret: Int64PerQuery
    num_rel: Int64PerQuery
    level: int
    collection_size: int


class TiedGainedRankings(Record, query="TiedGains"):
    """Rankings by tie group with what finding the documents is worth, as in GainedRankings."""

    __slots__ = ()
    offsets: Offsets
    lows: Int64Array
    highs: Int64Array
    gains: Float64Array
    ideal_offsets: Offsets
    ideal_gains: Float64Array
    ideal_counts: Int64Array
    num_ret: Int64PerQuery
    num_rel: Int64PerQuery
