"""Whole runs: read in any order, checked, compared, fused, and mined."""

from __future__ import annotations

from fastrank.core.native.record import Record, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.core.native.record import Float64Array, Int64Array, UInt8Array
    from fastrank.core.native.records import RankingScratch, ResultFields, Spans, Stretches, Texts


class PageRoom(State):
    """Which pages are free: those from the byte `free` to `end`, of `page_size` bytes each."""

    free: int
    end: int
    page_size: int


class ResultPages(Record):
    """Results kept by query: see kernels/matching/scattered.py.

    counts[q]: the results of query q. firsts[q]: its first page. ends[q]: where its next result
    goes. room: which pages are free.
    """

    buffer: UInt8Array
    counts: Int64Array
    firsts: Int64Array
    ends: Int64Array
    room: PageRoom


class FilledPages(Record):
    """Results kept by several parts of a run; firsts[part * queries + q] is the first page of q."""

    buffer: UInt8Array
    firsts: Int64Array
    page_size: int
    parts: int


class Results(Record):
    """Results of one query, in some buffer."""

    docs: Spans
    scores: Float64Array


class ScatteredFields(Record):
    """The fields of lines of any query, and the number of each line's query."""

    queries: Spans
    numbers: Int64Array
    results: ResultFields


class CheckedLines(Record):
    """The findings of `check_lines`: columns by row, stretches of query and of tag, and odd lines.

    odd: line, place and number of fields of lines of each kind; odd_counts: how many there are.
    """

    lines: Int64Array
    docs: Spans
    scores: Float64Array
    integers: Int64Array
    classes: UInt8Array
    rank_classes: UInt8Array
    queries: Stretches
    tags: Stretches
    odd: Int64Array
    odd_counts: Int64Array
    fallbacks: Int64Array


class Checking(State):
    """How many rows, stretches of queries and of tags, and fallbacks there are."""

    rows: int
    queries: int
    tags: int
    fallbacks: int


class OverlapOptions(Record):
    """How the rankings of two runs are compared.

    depth: of rankings that share documents. ties: see native/codes.py.
    """

    single_precision: int
    depth: int
    ties: int


class TiedRanks(Record):
    """A ranking with ties: the first and the last rank of the tie group at each rank, from 1."""

    tops: Int64Array
    bottoms: Int64Array


class RankingPairs(Record):
    """The rankings to compare: the place of each in the first and second run, -1 if it is empty."""

    first: Int64Array
    second: Int64Array


class RankedScratch(Record):
    """Memory for ranking the documents of one query."""

    ranking: RankingScratch
    ranks: TiedRanks


class OverlapScratch(Record):
    """Memory for comparing the rankings of one query.

    table: a hash table for the documents of both rankings. first_rows, partners, shared,
    shared_partners, overlaps: one for each document of the longer ranking; tree: one more than the
    documents of both.
    problem, pairs, biased: what join, kendall_tau and rank_biased_overlap report.
    """

    first: RankedScratch
    second: RankedScratch
    table: Int64Array
    first_rows: Int64Array
    partners: Int64Array
    shared: Int64Array
    shared_partners: Int64Array
    tree: Int64Array
    overlaps: Float64Array
    problem: Int64Array
    pairs: Int64Array
    biased: Float64Array


class FusionRules(Record):
    """How rankings are fused: see kernels/fusion/__init__.py for `values` and `combination`.

    depth: the entries of a ranking that count. keep: the fused documents that are kept.
    missing_lowest: whether what a run lacks counts as the lowest value there. parameter: that of
    the method.
    """

    single_precision: int
    tie_direction: int
    depth: int
    keep: int
    values: int
    combination: int
    missing_lowest: int
    parameter: float


class FusedSize(State):
    """How many rows and bytes of text the output has so far."""

    rows: int
    bytes: int


class RankedEntries(Record):
    """The rankings of a block of queries, run by run, best first.

    Run r has the entries offsets[r * queries + q] : offsets[r * queries + q + 1] for query q of the
    block: the document's id and its score. Each id has SLACK bytes behind it in the buffer, which
    the next id may overwrite.
    """

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

    docs: Texts
    scores: Float64Array
    counts: Int64Array


class MiningRules(Record):
    """Which documents are negatives: `number` of them, behind the first `skipped`, up to `depth`.

    level: the lowest grade of a positive. by_margin, by_relative_margin: whether there is such a
    margin below the positive with the lowest score or, `by_highest`, the highest.
    """

    level: int
    number: int
    skipped: int
    depth: int
    single_precision: int
    by_highest: int
    by_margin: int
    margin: float
    by_relative_margin: int
    relative_margin: float


class MiningScratch(Record):
    """Memory for one query: a hash table, its ranking, and the rows of the judgments."""

    table: Int64Array
    ranking: RankingScratch
    judged_rows: Int64Array


class Negatives(Record):
    """Hard negatives.

    retrieved[row of a judgment]: 1 + the row of the run that has its document, or 0. selected: rows
    of the run, best first, from where the rows of a ranking begin; counts[i] of them for query i.
    """

    retrieved: Int64Array
    selected: Int64Array
    counts: Int64Array
