"""Rankings as Python's dicts, and what judges them."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import Float64Array, Int64Array
    from fastrank.native.records import Hits


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


class StoredGrades(Record):
    """Grades; those of query q begin at starts[q]."""

    __slots__ = ()
    starts: Int64Array
    grades: Int64Array


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
