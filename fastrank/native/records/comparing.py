"""Pairs of rankings."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import Float64Array, Int64Array
    from fastrank.native.records import RankingScratch


class TiedRanks(Record):
    """A ranking with ties: the first and the last rank of the tie group at each rank, from 1."""

    __slots__ = ()
    tops: Int64Array
    bottoms: Int64Array


class RankingPairs(Record):
    """The rankings to compare: the place of each in the first and second run, -1 if it is empty."""

    __slots__ = ()
    first: Int64Array
    second: Int64Array


class RankedScratch(Record):
    """Memory for ranking the documents of one query."""

    __slots__ = ()
    ranking: RankingScratch
    ranks: TiedRanks


class OverlapScratch(Record):
    """Memory for comparing the rankings of one query.

    table: a hash table for the documents of both rankings. found, partners, shared,
    shared_partners, overlaps: one for each document of the longer ranking; tree: one more than the
    documents of both.
    problem, pairs, biased: what join, kendall_tau and rank_biased_overlap report.
    """

    __slots__ = ()
    first: RankedScratch
    second: RankedScratch
    table: Int64Array
    found: Int64Array
    partners: Int64Array
    shared: Int64Array
    shared_partners: Int64Array
    tree: Int64Array
    overlaps: Float64Array
    problem: Int64Array
    pairs: Int64Array
    biased: Float64Array
