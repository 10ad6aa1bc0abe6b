"""Rankings of which more is known than ranks and grades."""

from __future__ import annotations

from fastrank.core.native.record import Record, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.core.native.record import (
        Float64Array,
        Int32Array,
        Int64Array,
        Int64PerQuery,
        Offsets,
        UInt8Array,
    )
    from fastrank.core.native.records import Interning, RankingScratch, Spans, Texts


class TiedRankings(Record, query="Tied"):
    """Judged rankings by tie group.

    lows, highs, grades: the listed documents: those at ranks lows + 1 to highs have equal scores,
    in any order. The rest as in Rankings.
    """

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

    offsets: Offsets
    lows: Int64Array
    highs: Int64Array
    gains: Float64Array
    ideal_offsets: Offsets
    ideal_gains: Float64Array
    ideal_counts: Int64Array
    num_ret: Int64PerQuery
    num_rel: Int64PerQuery


class StratifiedRankings(Record, query="Stratified"):
    """The retrieved documents of the pool, and the strata of each query, in byte order.

    ranks, strata, grades, relevant: of the documents, best first; a negative grade is that of a
        document that was not sampled, `relevant` is 1 or 0.
    pool_sizes, sample_sizes, relevant_counts: of each stratum.
    seen, seen_sampled, seen_relevant, sums: memory for each stratum.
    ideal_grades, ideal_counts: the positive grades, highest first, and the estimated number of
        documents of each. text_order: their places in descending order as texts.
    """

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


class SubtopicRankings(Record, query="BySubtopic"):
    """The retrieved documents that are judged, and all judgments of each query.

    ranks, docs: of the retrieved documents, best first; `docs` are their places among the judged
        documents of the query, which are in descending byte order of their ids.
    firsts, stops: the judgments of each judged document.
    bounds: memory for each judged document.
    subtopics, grades, relevant: of each judgment; the subtopics of a document ascend, `relevant` is
        1 or 0. counted: memory for each judgment.
    worth, counts, seen: memory for each subtopic.
    """

    offsets: Offsets
    ranks: Int64Array
    docs: Int64Array
    doc_offsets: Offsets
    firsts: Int64Array
    stops: Int64Array
    bounds: Float64Array
    judgment_offsets: Offsets
    subtopics: Int64Array
    grades: Float64Array
    relevant: Int64Array
    counted: Int64Array
    subtopic_offsets: Offsets
    worth: Float64Array
    counts: Int64Array
    seen: Int64Array


class Preferences(Record):
    """Preferences: query q has the rows offsets[q] : offsets[q + 1].

    The names of groups and subgroups stand in the buffer of the documents.
    """

    docs: Texts
    offsets: Int64Array
    groups: Spans
    subgroups: Spans
    levels: Float64Array


class PreferenceLines(Record):
    """What lines of preferences hold: group, subgroup, document and level."""

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

    ranking: RankingScratch
    interning: Interning
    numbers: Int64Array
    docs: Spans


class Tally(State):
    """Counts of a judgment group.

    ret, imp, absent: preferences of which both documents are retrieved, one, or none; *_done: those
    the ranking agrees with. relevant, nonrelevant: documents; *_ret: those that are retrieved.
    """

    ret: int
    ret_done: int
    imp: int
    imp_done: int
    absent: int
    relevant: int
    nonrelevant: int
    relevant_ret: int
    nonrelevant_ret: int


class PreferenceScratch(Record):
    """Memory for counting the preferences of one query.

    wins, prefers: squares of the largest number of documents; levels, states: a row of them.
    """

    order: Int64Array
    merge: Int64Array
    wins: Int32Array
    prefers: UInt8Array
    levels: Float64Array
    states: Int64Array
    tally: Tally
