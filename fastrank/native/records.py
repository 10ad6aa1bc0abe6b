"""The records that kernels take: which columns belong together, their names, types and order."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import (
        Float32Array,
        Float64Array,
        Int32Array,
        Int64Array,
        Int64PerQuery,
        Offsets,
        UInt8Array,
        UInt16Array,
    )


class Texts(Record):
    """Text i is buffer[starts[i] : starts[i] + lengths[i]]."""

    __slots__ = ()
    buffer: UInt8Array
    starts: Int64Array
    lengths: Int64Array


class Spans(Record):
    """Texts of a buffer that is known from elsewhere."""

    __slots__ = ()
    starts: Int64Array
    lengths: Int64Array


class TextTable(Record):
    """Distinct texts, and the hash table by which the number of a text is found.

    The table is as `intern_texts` or `index_texts` leaves it, whichever the kernel asks for.
    """

    __slots__ = ()
    texts: Texts
    table: Int64Array


class Interning(Record):
    """Memory for `intern_texts`: a hash table, for each text its number, and the first of each.

    The table's size is a power of two above the number of texts.
    """

    __slots__ = ()
    table: Int64Array
    ids: Int64Array
    firsts: Int64Array


class TextsByQuery(Record):
    """Texts, of which query q has those from offsets[q] to offsets[q + 1] - 1."""

    __slots__ = ()
    texts: Texts
    offsets: Int64Array


class Stretches(Record):
    """Rows in a row that have the same text: the text, and the first of the rows."""

    __slots__ = ()
    starts: Int64Array
    lengths: Int64Array
    rows: Int64Array


class BlockIndex(Record):
    """Where the fields of a block of text start and end, a bit per byte, and its newlines."""

    __slots__ = ()
    starts: UInt8Array
    ends: UInt8Array
    newlines: Int64Array


class LineReader(Record):
    """A text, memory for the index of a block of it, and how far it is read (native/codes.py)."""

    __slots__ = ()
    text: UInt8Array
    block: BlockIndex
    cursor: Int64Array


class ResultFields(Record):
    """The fields of lines of a run that are looked at: where the documents and scores stand."""

    __slots__ = ()
    docs: Spans
    scores: Spans


class QrelsLines(Record):
    """What lines of judgments hold: group, document and grade."""

    __slots__ = ()
    groups: Spans
    docs: Spans
    grades: Int64Array


class PreferenceLines(Record):
    """What lines of preferences hold: group, subgroup, document and level."""

    __slots__ = ()
    groups: Spans
    subgroups: Spans
    docs: Spans
    levels: Float64Array


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


class Qrels(Record):
    """Judgments: query q has the rows offsets[q] : offsets[q + 1] of documents and grades."""

    __slots__ = ()
    docs: Texts
    offsets: Int64Array
    grades: Int64Array


class Run(Record):
    """Results: query q has the rows offsets[q] : offsets[q + 1] of documents and scores."""

    __slots__ = ()
    docs: Texts
    offsets: Int64Array
    scores: Float64Array


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


class Matched(Record):
    """The queries to evaluate: the place of each among the judgments, and in the run or -1."""

    __slots__ = ()
    judgments: Int64Array
    rankings: Int64Array


class Rankings(Record, query="Ranking"):
    """Judged rankings, as measures see them.

    ranks, grades: the listed documents, best first; rank starts at 1; grade is the integer of the
        qrels, -2 for any negative one, -1 for a document outside the qrels (see
        kernels/judging/memory.py).
    grade_values, grade_counts: the distinct grades >= 0 of the query's judgments, ascending.
    num_ret, num_rel, num_rel_ret: retrieved, relevant and relevant retrieved documents.
    level: the lowest grade that counts as relevant.
    collection_size: documents in the collection.
    """

    __slots__ = ()
    offsets: Offsets
    ranks: Int64Array
    grades: Int64Array
    grade_offsets: Offsets
    grade_values: Int64Array
    grade_counts: Int64Array
    num_ret: Int64PerQuery
    num_rel: Int64PerQuery
    num_rel_ret: Int64PerQuery
    level: int
    collection_size: int


class GainedRankings(Record, query="Gained"):
    """Judged rankings by what finding the documents is worth.

    ranks, gains: the listed documents.
    ideal_gains, ideal_counts: the best possible ranking, as runs of equal gain, best first.
    """

    __slots__ = ()
    offsets: Offsets
    ranks: Int64Array
    gains: Float64Array
    ideal_offsets: Offsets
    ideal_gains: Float64Array
    ideal_counts: Int64Array
    num_ret: Int64PerQuery
    num_rel: Int64PerQuery


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


class TiedGainedRankings(Record, query="TiedGains"):
    """The same with what finding the documents is worth; the rest as in GainedRankings."""

    __slots__ = ()
    offsets: Offsets
    lows: Int64Array
    highs: Int64Array
    gains: Float64Array
    ideal_offsets: Offsets
    ideal_gains: Float64Array
    ideal_counts: Int64Array
    num_ret: Int64PerQuery


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


class TieBounds(Record):
    """For each listed document: those with its score are at ranks lows + 1 to highs."""

    __slots__ = ()
    lows: Int64Array
    highs: Int64Array


class GradeGains(Record):
    """Grades, and what finding a document of each is worth."""

    __slots__ = ()
    grades: Int64Array
    gains: Float64Array


class GainTable(Record):
    """Memory for the gains of the grades of one query, how many documents have each, and a sort."""

    __slots__ = ()
    grades: Int64Array
    gains: Float64Array
    counts: Int64Array
    order: Int64Array
    merge: Int64Array


class RowIndex(Record):
    """Memory for the index that kernels/judging/row_index.py makes of ids or hashes.

    table: a power of two of numbers. links: as many as ids, up to a multiple of 64. clock: the
    number that comes next, at first 1.
    """

    __slots__ = ()
    table: Int32Array
    links: Int32Array
    clock: Int64Array


class NarrowRowIndex(Record):
    """The same with smaller numbers."""

    __slots__ = ()
    table: UInt16Array
    links: UInt16Array
    clock: Int64Array


class RankingScratch(Record):
    """Memory for ordering the documents of one query: scores as compared, order, and a sort."""

    __slots__ = ()
    keys: Float64Array
    order: Int64Array
    merge: Int64Array


class Hits(Record):
    """Documents that were found: their ranks or places, and the rows of their judgments."""

    __slots__ = ()
    ranks: Int64Array
    rows: Int64Array


class JudgingScratch(Record):
    """Memory for judging the results of one query.

    table: a hash table of results and judgments. judged_hashes: one for each judgment. places: as
    many as results or judgments, and 64 more. keys, hashes, rows: one for each result.
    """

    __slots__ = ()
    table: Int64Array
    judged_hashes: Int64Array
    places: Int64Array
    row_index: RowIndex
    keys: Float64Array
    hashes: Int64Array
    rows: Int64Array


class StreamScratch(Record):
    """Memory for judging one query of a stream, which has as many lines as the text at most."""

    __slots__ = ()
    fields: ResultFields
    scores: Float64Array
    ranks: Int64Array
    judging: JudgingScratch


class StreamedRankings(Record):
    """Judged rankings in the order in which they were met.

    Of query q, listed_counts[q] documents are listed, from first_listed[q] - 1 on; 0: no results
    seen yet.
    """

    __slots__ = ()
    ranks: Int64Array
    grades: Int64Array
    first_listed: Int64Array
    listed_counts: Int64Array
    num_ret: Int64Array
    num_rel_ret: Int64Array


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


class PackedScores(Record):
    """The scores of some rankings, and those of their judged documents.

    Ranking i has the scores offsets[i] : offsets[i + 1], counted from where the first one that is
    packed begins, and the judged documents hit_offsets[i] : hit_offsets[i + 1].
    """

    __slots__ = ()
    scores: Float64Array
    offsets: Int64Array
    hit_scores: Float64Array
    hit_offsets: Int64Array


class DictRankings(Record):
    """Rankings that are Python's dicts, and the documents that are looked up in them.

    dicts: their addresses. keys_are_checked: whether a key may be of another type than str. docs:
    the addresses of the judged documents' ids, those of ranking i from doc_starts[queries[i]] on.
    """

    __slots__ = ()
    dicts: Int64Array
    check_keys: int
    queries: Int64Array
    doc_starts: Int64Array
    docs: Int64Array


class RankedHits(Record):
    """Rankings whose judged documents have ranks.

    Ranking i is that of query queries[i]; it has the documents offsets[i] : offsets[i + 1], and
    its judged ones the ranks hit_offsets[i] : hit_offsets[i + 1], 0 if not retrieved.
    """

    __slots__ = ()
    queries: Int64Array
    offsets: Int64Array
    hit_offsets: Int64Array
    ranks: Int64Array


class DictQrels(Record):
    """Judgments that are Python's dicts, as `index_dicts` leaves them.

    Query q has the rows offsets[q] : offsets[q + 1] of docs (the addresses of the keys), texts
    (four words each, see kernels/judging/dict_index.py) and grades, the hash table
    tables[table_offsets[q] : table_offsets[q + 1]], and the distinct grades >= 0
    grade_values[grade_offsets[q] : grade_offsets[q + 1]], which occur grade_counts times.
    """

    __slots__ = ()
    offsets: Int64Array
    docs: Int64Array
    texts: Int64Array
    grades: Int64Array
    table_offsets: Int64Array
    tables: Int64Array
    grade_offsets: Int64Array
    grade_values: Int64Array
    grade_counts: Int64Array


class DictRun(Record):
    """Rankings that are dicts: their addresses and lengths, and the place of each query.

    check_keys: whether a key may be of another type than str.
    """

    __slots__ = ()
    dicts: Int64Array
    lengths: Int64Array
    queries: Int64Array
    check_keys: int


class DictScratch(Record):
    """Memory for judging one query's dict: as many places as it has documents.

    docs, texts, lengths: the addresses of the keys, and of their UTF-8 with its length. hits,
    sorted_hits: as many as judgments or documents. positions: the rank of each document.
    """

    __slots__ = ()
    docs: Int64Array
    texts: Int64Array
    lengths: Int64Array
    scores: Float64Array
    hits: Hits
    sorted_hits: Hits
    places: Int64Array
    positions: Int64Array
    order: Int64Array
    merge: Int64Array


class StoredGrades(Record):
    """Grades; those of query q begin at starts[q]."""

    __slots__ = ()
    starts: Int64Array
    grades: Int64Array


class IdQrels(Record):
    """Judgments of documents with integer ids, as `index_judgments` leaves them.

    Query q has the rows offsets[q] : offsets[q + 1] of docs and grades, the hash table
    tables[table_offsets[q] : table_offsets[q + 1]] and the distinct grades >= 0
    grade_values[grade_offsets[q] : grade_offsets[q + 1]], which occur grade_counts times.
    """

    __slots__ = ()
    offsets: Int64Array
    docs: Int64Array
    grades: Int64Array
    table_offsets: Int64Array
    tables: Int32Array
    grade_offsets: Int64Array
    grade_values: Int64Array
    grade_counts: Int64Array


class IdRows(Record):
    """Rankings as rows of ids of one width, and what is said of them (0 or 1).

    in_order: they stand by rank. ascending: lower scores are better. unique: no id is twice in a
    row. with_absent: queries without results get a placeholder.
    """

    __slots__ = ()
    ids: Int64Array
    width: int
    in_order: int
    ascending: int
    unique: int
    with_absent: int


class SingleScores(Record):
    """Scores of single precision beside the ids, or none, and memory for those of a row."""

    __slots__ = ()
    scores: Float32Array
    scratch: Float32Array


class DoubleScores(Record):
    """The same of double precision."""

    __slots__ = ()
    scores: Float64Array
    scratch: Float64Array


class RowPicks(Record):
    """Row rows[i] (none: -1) is the ranking of query queries[i]."""

    __slots__ = ()
    rows: Int64Array
    queries: Int64Array


class JudgedRows(Record):
    """The queries evaluated, -1 - query if with a placeholder; and the rankings, `done` so far."""

    __slots__ = ()
    queries: Int64Array
    done: int
    rankings: Rankings


class RowScratch(Record):
    """Memory for judging one row of ids, with one of the indexes empty.

    marks: zeroed, one for each judgment. ids: one for each of a row. order, places, columns, rows:
    64 more.
    """

    __slots__ = ()
    narrow: NarrowRowIndex
    wide: RowIndex
    marks: Int64Array
    ids: Int64Array
    order: Int64Array
    places: Int64Array
    columns: Int64Array
    rows: Int64Array


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
