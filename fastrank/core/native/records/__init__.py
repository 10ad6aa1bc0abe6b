"""The records that kernels take: which columns belong together, their names, types and order.

Here are those that the trec_eval command uses, or only kernels; other modules have the others.
"""

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


class Texts(Record):
    """Text i is buffer[starts[i] : starts[i] + lengths[i]]."""

    buffer: UInt8Array
    starts: Int64Array
    lengths: Int64Array


class Spans(Record):
    """Texts of a buffer that is known from elsewhere."""

    starts: Int64Array
    lengths: Int64Array


class TextTable(Record):
    """Texts, and the hash table by which one is found.

    The table is as `intern_texts` or `index_texts` leaves it, whichever the kernel asks for.
    """

    texts: Texts
    table: Int64Array


class Interning(Record):
    """Memory for `intern_texts`: a hash table, for each text its number, and the first of each.

    The table's size is a power of two above the number of texts.
    """

    table: Int64Array
    ids: Int64Array
    firsts: Int64Array


class TextsByQuery(Record):
    """Texts, of which query q has those from offsets[q] to offsets[q + 1] - 1."""

    texts: Texts
    offsets: Int64Array


class Stretches(Record):
    """Rows in a row that have the same text: the text, and the first of the rows."""

    starts: Int64Array
    lengths: Int64Array
    rows: Int64Array


class BlockIndex(Record):
    """Where the fields of a block of text start and end, a bit per byte, and its newlines.

    bounds: start and stop of each of the first six fields of the line that was split last.
    """

    starts: UInt8Array
    ends: UInt8Array
    newlines: Int64Array
    bounds: Int64Array


class Cursor(State):
    """How far the lines of a text are read. Places are those of bytes in the text.

    From outside come: size, the length of the text; ended, whether nothing follows; comments,
    whether # begins one; checked, whether fields in the column of others end the reading; and the
    `file` that goes on with the text from its byte `file_position` on, up to `file_stop`.

    position: where the next line begins, which is number `line` of the `lines` of the block that
    begins at `base` and ends at `indexed`. blanks: what is known of the blanks there. nul_seen: its
    first NUL, or -1. blocks, misses: see `index_lines`.
    query, query_length, tag, tag_size: of the last line taken. template, prefix: a line that others
    are compared with, and its length up to the document; rest: that of the last line from its tag
    on (kernels/parsing/fields.py). fields: of the line that ended the reading.
    """

    position: int
    line: int
    lines: int
    indexed: int
    base: int
    blanks: int
    blocks: int
    misses: int
    nul_seen: int
    query: int
    query_length: int
    fields: int
    tag: int
    tag_size: int
    template: int
    prefix: int
    rest: int
    size: int
    ended: int
    comments: int
    checked: int
    file: int
    file_position: int
    file_stop: int


class Reading(State):
    """The findings of a reader, and why it stopped.

    refused: from outside, which numbers end the reading or are left to a slower reader, as bits.
    status: DONE, or what is wrong with the line at `at`, which has `fields` fields.
    rows, stretches, fallbacks: how many there are; numbers of fallbacks are left to a slower
    reader. tag, tag_size: that of the last line. listed: documents of the rankings. kept: bytes of
    ids that were copied. passed_over: whether lines without a result were. unknown_bytes: those of
    ids of queries without judgments.
    """

    refused: int
    status: int
    at: int
    fields: int
    rows: int
    stretches: int
    fallbacks: int
    tag: int
    tag_size: int
    listed: int
    kept: int
    passed_over: int
    unknown_bytes: int


class LineReader(Record):
    """A text, memory for the index of a block of it, and how far it is read."""

    text: UInt8Array
    block: BlockIndex
    cursor: Cursor


class ResultFields(Record):
    """The fields of lines of a run that are looked at: where the documents and scores stand."""

    docs: Spans
    scores: Spans


class QrelsLines(Record):
    """What lines of judgments hold: group, document and grade."""

    groups: Spans
    docs: Spans
    grades: Int64Array


class Qrels(Record):
    """Judgments: query q has the rows offsets[q] : offsets[q + 1] of documents and grades."""

    docs: Texts
    offsets: Int64Array
    grades: Int64Array


class Run(Record):
    """Results: query q has the rows offsets[q] : offsets[q + 1] of documents and scores."""

    docs: Texts
    offsets: Int64Array
    scores: Float64Array


class RankingOptions(Record):
    """How rankings are cut and judged; all but three are 1 or 0.

    level: the lowest grade that counts as relevant. max_retrieved: the results that count.
    tie_direction: see native/codes.py. stop_if_none_judged: a first query with only negative
    grades cannot be judged. refuse_nan: nor can a ranking with a score that is NaN.
    """

    level: int
    max_retrieved: int
    judged_only: int
    list_unjudged: int
    single_precision: int
    stop_if_none_judged: int
    tie_direction: int
    refuse_nan: int


class Matched(Record):
    """The queries to evaluate: the number of each in the judgments, and in the run or -1."""

    judgments: Int64Array
    rankings: Int64Array


class Rankings(Record, query="Ranking"):
    """Judged rankings, as measures see them.

    ranks, grades: the listed documents, best first; rank starts at 1; grade is the integer of the
        qrels, -2 for any negative one, -1 for a document outside the qrels (see
        kernels/matching/texts.py).
    grade_values, grade_counts: the distinct grades >= 0 of the query's judgments, ascending.
    num_ret, num_rel, num_rel_ret: retrieved, relevant and relevant retrieved documents.
    level: the lowest grade that counts as relevant.
    collection_size: documents in the collection.
    """

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


class TieBounds(Record):
    """For each listed document: those with its score are at ranks lows + 1 to highs."""

    lows: Int64Array
    highs: Int64Array


class Ties(Record):
    """The ties of judged documents, those of query q at offsets[q] : offsets[q + 1].

    Documents at ranks lows + 1 to highs have one score, and a judged one is among them. They come
    in any order, and several times.
    """

    offsets: Int64Array
    lows: Int64Array
    highs: Int64Array


class RankingsAndTies(Record):
    """Judged rankings, and their ties."""

    rankings: Rankings
    ties: Ties


class GainedRankings(Record, query="Gained"):
    """Judged rankings by what finding the documents is worth.

    ranks, gains: the listed documents.
    ideal_gains, ideal_counts: the best possible ranking, as runs of equal gain, best first.
    """

    offsets: Offsets
    ranks: Int64Array
    gains: Float64Array
    ideal_offsets: Offsets
    ideal_gains: Float64Array
    ideal_counts: Int64Array
    num_ret: Int64PerQuery
    num_rel: Int64PerQuery


class GradeGains(Record):
    """Grades, and what finding a document of each is worth."""

    grades: Int64Array
    gains: Float64Array


class GainTable(Record):
    """Memory for the gains of the grades of one query, how many documents have each, and a sort."""

    grades: Int64Array
    gains: Float64Array
    counts: Int64Array
    order: Int64Array
    merge: Int64Array


class RowIndex(Record):
    """Memory for the index that kernels/matching/row_index.py makes of ids or hashes.

    table: a power of two of numbers. links: as many as ids, up to a multiple of 64. clock: the
    number that comes next, at first 1.
    """

    table: Int32Array
    links: Int32Array
    clock: Int64Array


class RankingScratch(Record):
    """Memory for ordering the documents of one query: scores as compared, order, and a sort."""

    keys: Float64Array
    order: Int64Array
    merge: Int64Array


class SortScratch(Record):
    """Memory for ranking the results of one query: one number for each, and `positions` for bytes.

    See kernels/matching/ranks.py.
    """

    order: Int64Array
    other_order: Int64Array
    words: Int64Array
    other_words: Int64Array
    positions: Int64Array


class Hits(Record):
    """Documents that were found: their ranks or positions, and the rows of their judgments."""

    ranks: Int64Array
    rows: Int64Array


class JudgingSizes(State):
    """Sizes of `JudgingScratch`: of the table, of positions and links, and of the row index."""

    table: int
    positions: int
    slots: int


class JudgingScratch(Record):
    """Memory for judging the results of one query, of the sizes that `judging_sizes` says.

    table: a hash table of results and judgments, or what ranking takes. judged_hashes: one for each
    judgment. positions: as many as results or judgments, and 64 more. keys, hashes, rows: one for
    each result.
    """

    table: Int64Array
    judged_hashes: Int64Array
    positions: Int64Array
    row_index: RowIndex
    keys: Float64Array
    hashes: Int64Array
    rows: Int64Array


class UnknownQueries(Record):
    """Memory for the ids of a run's queries without judgments; without any, none are kept.

    recent: a power of two of places in `ids`, plus 1.
    """

    ids: UInt8Array
    recent: Int64Array


class StreamScratch(Record):
    """Memory for judging one query of a stream, which has as many lines as the text at most."""

    fields: ResultFields
    scores: Float64Array
    ranks: Int64Array
    judging: JudgingScratch
    unknown: UnknownQueries


class StreamedRankings(Record):
    """Judged rankings in the order in which they were met.

    Of query q, listed_counts[q] documents are listed, from first_listed[q] - 1 on; 0: no results
    seen yet. The ties of q are the tie_counts[q] from place qrels.offsets[q] on.
    """

    ranks: Int64Array
    grades: Int64Array
    lows: Int64Array
    highs: Int64Array
    first_listed: Int64Array
    listed_counts: Int64Array
    num_ret: Int64Array
    num_rel_ret: Int64Array
    tie_counts: Int64Array
