"""Rankings judged by a stratified sample of a pool."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import Float64Array, Int64Array, Int64PerQuery, Offsets


class StratifiedRankings(Record, query="Stratified"):
    """The retrieved documents of the pool, and the strata of each query, in byte order.

    ranks, strata, grades, relevant: of the documents, best first; a negative grade is that of a
        document that was not sampled, `relevant` is 1 or 0.
    pool_sizes, sample_sizes, relevant_counts: of each stratum.
    seen, seen_sampled, seen_relevant, sums: memory for each stratum.
    ideal_grades, ideal_counts: the positive grades, highest first, and the estimated number of
        documents of each. text_order: their places in descending order as texts.
    """

    __slots__ = ()
    offsets: Offsets
    ranks: Int64Array
    strata: Int64Array
    grades: Float64Array
    relevant: Int64Array
    stratum_offsets: Offsets
    pool_sizes: Int64Array
    sample_sizes: Int64Array
    relevant_counts: Int64Array
    seen: Int64Array
    seen_sampled: Int64Array
    seen_relevant: Int64Array
    sums: Float64Array
    ideal_offsets: Offsets
    ideal_grades: Float64Array
    ideal_counts: Float64Array
    text_order: Int64Array
    num_ret: Int64PerQuery
