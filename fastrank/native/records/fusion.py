"""Rankings of several runs, and what they are fused to."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import Float64Array, Int64Array
    from fastrank.native.records import RankingScratch, Texts


class RankedEntries(Record):
    """The rankings of a block of queries, run by run, best first.

    Run r has the entries offsets[r * queries + q] : offsets[r * queries + q + 1] for query q of the
    block: the document's id and its score. Each id has SLACK bytes behind it in the buffer, which
    the next id may overwrite.
    """

    __slots__ = ()
    docs: Texts
    scores: Float64Array
    offsets: Int64Array


class FusionScratch(Record):
    """Memory for fusing one query.

    table: a hash table. numbers, values: for each entry of the block, its document and the value
    that its run gives it. docs: the ids of distinct documents; counts, ends: for each, the number
    of its entries, and where they end in grouped. fused: its score; words, other_words,
    other_order: for sorting. terms, lowest: for each run. histogram: 2,048 counts.
    """

    __slots__ = ()
    table: Int64Array
    numbers: Int64Array
    values: Float64Array
    docs: Texts
    counts: Int64Array
    ends: Int64Array
    grouped: Int64Array
    fused: Float64Array
    ranking: RankingScratch
    words: Int64Array
    other_words: Int64Array
    other_order: Int64Array
    terms: Float64Array
    lowest: Float64Array
    histogram: Int64Array


class FusedRankings(Record):
    """The fused documents and their scores; counts: the number of documents of each query."""

    __slots__ = ()
    docs: Texts
    scores: Float64Array
    counts: Int64Array
