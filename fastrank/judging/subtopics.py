"""Judge rankings by the subtopics of queries: the second field of judgments."""

from __future__ import annotations

from fastrank.data.columns import as_array
from fastrank.data.texts import Texts, decoded, interning, memory_of
from fastrank.errors import InputError
from fastrank.formats.strict import USUAL_ITERATIONS
from fastrank.judging.problems import repeated
from fastrank.judging.rows import judge_rows, numbered_texts, offsets_of, picked
from fastrank.native import kernels
from fastrank.native.buffers import zeros
from fastrank.native.records.subtopics import SubtopicRankings

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.matching import MatchedQueries
    from fastrank.judging.needs import JudgingOptions


class Subtopics:
    """The judgments of each document of a query, by subtopic.

    documents: judgments with one row for each document, which has its highest grade. Documents of a
    query are in descending byte order, subtopics in the order of their first row in the judgments.
    Raises InputError for a document that is judged twice for one subtopic.
    """

    def __init__(self, qrels: Qrels) -> None:
        import numpy

        queries = numpy.repeat(numpy.arange(len(qrels)), numpy.diff(as_array(qrels.offset_column)))
        names = interning(len(qrels.groups))
        distinct = kernels.intern_texts(qrels.groups.columns, names)
        subtopics = as_array(names.ids)[: len(queries)]
        docs = numbered_texts(qrels.docs)
        order = numpy.lexsort((subtopics, -docs, queries))
        columns = queries[order], docs[order], subtopics[order]
        self._refuse_repeated(qrels, order, columns)
        queries, docs, subtopics = columns
        starts = numpy.flatnonzero(numpy.diff(queries, prepend=-1) | numpy.diff(docs, prepend=-1))
        self.starts = numpy.append(starts, len(order))
        self.grades = numpy.asarray(qrels.grades, "float64")[order]
        self.offsets = offsets_of(queries, len(qrels))
        self.doc_offsets = offsets_of(queries[starts], len(qrels))
        keys, places = numpy.unique(queries * distinct + subtopics, return_inverse=True)
        self.subtopic_offsets = offsets_of(keys // distinct, len(qrels))
        self.subtopics = places.reshape(-1) - self.subtopic_offsets[queries]
        codes = as_array(qrels.grade_column)[order]
        firsts = order[starts]
        starts_of, lengths = (as_array(own) for own in qrels.docs.columns[1:])
        self.documents = qrels.changed(
            docs=Texts(
                qrels.docs.buffer, memory_of(starts_of[firsts]), memory_of(lengths[firsts])
            ),
            offset_column=memory_of(self.doc_offsets),
            grade_column=memory_of(numpy.maximum.reduceat(codes, starts)),
            strata=None,
        )  # fmt: skip

    @staticmethod
    def _refuse_repeated(
        qrels: Qrels, order: npt.NDArray[np.int64], columns: tuple[npt.NDArray[np.int64], ...]
    ) -> None:
        import numpy

        same = numpy.logical_and.reduce([numpy.diff(column) == 0 for column in columns])
        if same.any():
            place = int(same.argmax())
            one, other = (int(row) for row in order[place : place + 2])
            query = decoded(qrels.queries[int(columns[0][place])])
            subtopic = decoded(qrels.groups[one])
            where = f"query '{query}', subtopic '{subtopic}'"
            raise InputError(qrels.source, f"{where}: {repeated(qrels, one, other)}")

    def judge(
        self, run: Run, matched: MatchedQueries, options: JudgingOptions, level: float
    ) -> SubtopicRankings:
        """Judge the matched rankings. Raises QueryError as `judge_rankings`."""
        import numpy

        rankings = judge_rows(self.documents, run, matched, options)
        offsets = as_array(rankings.offsets)
        rows = as_array(rankings.grades)[: offsets[-1]]
        queries = numpy.asarray(matched.judgments, "int64")
        doc_offsets, docs = picked(self.doc_offsets, queries)
        judgment_offsets, judgments = picked(self.offsets, queries)
        subtopic_offsets, _ = picked(self.subtopic_offsets, queries)
        firsts = numpy.repeat(self.offsets[queries], numpy.diff(doc_offsets))
        return SubtopicRankings(
            offsets=rankings.offsets,
            ranks=rankings.ranks,
            docs=memory_of(rows - numpy.repeat(self.doc_offsets[queries], numpy.diff(offsets))),
            doc_offsets=memory_of(doc_offsets),
            firsts=memory_of(self.starts[docs] - firsts),
            stops=memory_of(self.starts[docs + 1] - firsts),
            bounds=zeros("d", len(docs)),
            judgment_offsets=memory_of(judgment_offsets),
            subtopics=memory_of(self.subtopics[judgments]),
            grades=memory_of(self.grades[judgments]),
            relevant=memory_of((self.grades[judgments] >= level).astype("int64")),
            counted=zeros("q", len(judgments)),
            subtopic_offsets=memory_of(subtopic_offsets),
            worth=zeros("d", int(subtopic_offsets[-1])),
            counts=zeros("q", int(subtopic_offsets[-1])),
            seen=zeros("q", int(subtopic_offsets[-1])),
        )


def subtopics_of(qrels: Qrels) -> Subtopics:
    """The subtopics of judgments, which are found once."""
    known: Subtopics | None = qrels.__dict__.get("subtopics")
    if known is None:
        known = qrels.__dict__["subtopics"] = Subtopics(qrels)
    return known


def has_subtopics(qrels: Qrels) -> bool:
    """Whether a second field of the judgments is not what plain judgments have there."""
    names = interning(len(qrels.groups))
    distinct = kernels.intern_texts(qrels.groups.columns, names)
    return any(name not in USUAL_ITERATIONS for name in qrels.groups.take(names.firsts[:distinct]))
