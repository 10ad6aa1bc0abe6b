"""Rankings as Python's dicts, and what judges them."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import Float64Array, Int64Array


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
