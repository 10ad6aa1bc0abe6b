"""Rankings judged by subtopics."""

from __future__ import annotations

from fastrank.native.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.native.record import Float64Array, Int64Array, Offsets


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

    __slots__ = ()
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
