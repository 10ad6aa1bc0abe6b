"""Preferences, and what counts them."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import Float64Array, Int32Array, Int64Array, Offsets, UInt8Array
    from fastrank.native.records import Interning, RankingScratch, Spans, Texts


class Preferences(Record):
    """Preferences: query q has the rows offsets[q] : offsets[q + 1].

    The names of groups and subgroups stand in the buffer of the documents.
    """

    __slots__ = ()
    docs: Texts
    offsets: Int64Array
    groups: Spans
    subgroups: Spans
    levels: Float64Array


class PreferenceLines(Record):
    """What lines of preferences hold: group, subgroup, document and level."""

    __slots__ = ()
    groups: Spans
    subgroups: Spans
    docs: Spans
    levels: Float64Array


class PreferenceCounts(Record, query="CountedPreferences"):
    """Preferences that were counted, with one item per judgment group.

    possible_ret have both documents retrieved, possible_imp exactly one, absent none; fulfilled_*
        those the ranking agrees with.
    balanced*: the preferences with as many nonrelevant as relevant documents (Rnonrel).
    pair_*: over all groups, the summed agreement on unordered pairs and how many pairs there are,
        in three scopes: both documents retrieved, at least one, all.
    """

    __slots__ = ()
    group_offsets: Offsets
    possible_ret: Int64Array
    fulfilled_ret: Int64Array
    possible_imp: Int64Array
    fulfilled_imp: Int64Array
    absent: Int64Array
    balanced_fulfilled: Float64Array
    balanced_possible: Float64Array
    balanced_fulfilled_ret: Float64Array
    balanced_possible_ret: Float64Array
    pair_offsets: Offsets
    pair_agreement: Float64Array
    pair_count: Int64Array


class NumberingScratch(Record):
    """Memory for numbering the documents of one query's preferences."""

    __slots__ = ()
    ranking: RankingScratch
    interning: Interning
    numbers: Int64Array
    docs: Spans


class PreferenceScratch(Record):
    """Memory for counting the preferences of one query.

    wins, prefers: squares of the largest number of documents; levels, states: a row of them.
    """

    __slots__ = ()
    order: Int64Array
    merge: Int64Array
    wins: Int32Array
    prefers: UInt8Array
    levels: Float64Array
    states: Int64Array
