"""Rankings as Python's dicts, and what judges them."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import Float64Array, Int32Array, Int64Array
    from fastrank.native.records import Hits


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
    tables: Int32Array
    grade_offsets: Int64Array
    grade_values: Int64Array
    grade_counts: Int64Array


class DictRun(Record):
    """Rankings that are dicts: their addresses and lengths, and the place of each query.

    check_keys: one number, whether a key may be of another type than str.
    """

    __slots__ = ()
    dicts: Int64Array
    lengths: Int64Array
    queries: Int64Array
    check_keys: Int64Array


class DictScratch(Record):
    """Memory for judging one query's dict: as many places as it has documents.

    docs, texts, lengths: the addresses of the keys, and of their UTF-8 with its length. hits,
    sorted_hits: the judged ones. positions: the rank of each document.
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
