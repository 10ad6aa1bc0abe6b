"""Judge rankings by columns of judgments other than the grades: strata and subtopics."""

from __future__ import annotations

from fastrank.core.data.columns import as_array
from fastrank.core.data.texts import Texts, decoded, interning, memory_of, text_order
from fastrank.core.formats.trec.strict import USUAL_ITERATIONS
from fastrank.core.matching.filters import rows_of_queries, taken_texts
from fastrank.core.matching.queries import repeated
from fastrank.core.matching.rankings import judge_rankings
from fastrank.core.native import kernels
from fastrank.core.native.buffers import zeros
from fastrank.core.native.records.rankings import StratifiedRankings, SubtopicRankings
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fastrank.common.arrays import Integers
    from fastrank.core.formats.qrels import Qrels
    from fastrank.core.formats.run import Run
    from fastrank.core.matching.options import Options
    from fastrank.core.native import records
    from fastrank.core.native.record import Record

# The needs of measures that do not use rankings; and of those that do not use grades, or use the
# strata.
WITHOUT_RANKINGS = ("queries", "run")
WITHOUT_GRADES = (*WITHOUT_RANKINGS, "strata")
# The number of possible keys per key that occurs up to which a table numbers them faster than
# sorting.
DENSE = 16


def judge_rows(
    qrels: Qrels, run: Run, matched: records.Matched, options: Options
) -> records.Rankings:
    """The matched rankings with the row of each listed document in the judgments as its grade.

    Documents with a negative grade are listed, too. Raises QueryError as `judge_rankings`.
    """
    import numpy

    numbers = memory_of(numpy.arange(len(qrels.docs), dtype="int64"))
    rows = qrels.changed(grade_column=numbers, scale=None)
    options = options.changed(relevance_level=0, list_unjudged=False, original=False)
    return judge_rankings(rows, run, matched, options).columns


def numbered_texts(names: Texts) -> Integers:
    """The number of each text among the distinct texts in byte order."""
    import numpy

    numbered = interning(len(names))
    distinct = kernels.intern_texts(names.columns, numbered)
    order = text_order(taken_texts(names, numbered.firsts[:distinct]))
    ranks = numpy.empty(distinct, "int64")
    ranks[as_array(order)] = numpy.arange(distinct)
    numbers: Integers = ranks[as_array(numbered.ids)[: len(names)]]
    return numbers


def offsets_of(query_of: Integers, queries: int) -> Integers:
    """Where the items of each query begin, if they are sorted by query."""
    import numpy

    offsets: Integers = numpy.searchsorted(query_of, numpy.arange(queries + 1)).astype("int64")
    return offsets


def _numbered(keys: Integers, stop: int) -> tuple[Integers, Integers]:
    """The distinct keys, all below `stop`, in order; and for each key its place among these."""
    import numpy

    if stop > DENSE * len(keys):
        distinct, positions = numpy.unique(keys, return_inverse=True)
        return distinct, positions.reshape(-1)
    is_there = numpy.zeros(stop, "int64")
    is_there[keys] = 1
    numbers = numpy.cumsum(is_there) - 1
    return numpy.flatnonzero(is_there), numbers[keys]


class Strata:
    """The strata of judgments: how many documents are in the pool, sampled and relevant.

    Strata are numbered over all queries, those of a query in byte order.
    """

    def __init__(self, qrels: Qrels, level: float) -> None:
        import numpy

        assert qrels.strata is not None
        offsets = as_array(qrels.offset_column)
        queries = numpy.repeat(numpy.arange(len(qrels)), numpy.diff(offsets))
        names = numbered_texts(qrels.strata)
        distinct = int(names.max(initial=0)) + 1
        keys, self.of_row = numpy.unique(queries * distinct + names, return_inverse=True)
        self.grades = numpy.asarray(qrels.grades, "float64")
        self.relevant = (self.grades >= level) & (self.grades >= 0.0)
        count = len(keys)
        self.offsets = offsets_of(keys // distinct, len(qrels))
        self.pool_sizes = numpy.bincount(self.of_row, minlength=count)
        self.sample_sizes = numpy.bincount(self.of_row[self.grades >= 0.0], minlength=count)
        self.relevant_counts = numpy.bincount(self.of_row[self.relevant], minlength=count)
        self._estimate_grades(keys // distinct, len(qrels))

    def _estimate_grades(self, query_of: Integers, queries: int) -> None:
        """Estimate how many documents of the pool have each grade, stratum by stratum."""
        import numpy

        positive = numpy.flatnonzero(self.grades > 0.0)
        pairs = numpy.stack([self.of_row[positive].astype("float64"), self.grades[positive]], 1)
        cells, counts = numpy.unique(pairs.reshape(-1, 2), axis=0, return_counts=True)
        strata, grades = cells[:, 0].astype("int64"), cells[:, 1]
        estimates = counts * self.pool_sizes[strata] / self.sample_sizes[strata]
        keys = numpy.stack([query_of[strata].astype("float64"), -grades], 1)
        levels, rows = numpy.unique(keys.reshape(-1, 2), axis=0, return_inverse=True)
        # Added one after the other, in the order of the strata; bincount of nothing has integers.
        self.ideal_counts = numpy.bincount(
            rows.reshape(-1), weights=estimates, minlength=len(levels)
        ).astype("float64", copy=False)
        self.ideal_grades = -levels[:, 1]
        self.ideal_offsets = offsets_of(levels[:, 0].astype("int64"), queries)
        order = [
            row - first
            for first, stop in zip(self.ideal_offsets[:-1], self.ideal_offsets[1:], strict=True)
            for row in sorted(range(first, stop), key=self._written, reverse=True)
        ]
        self.text_order = numpy.array(order, "int64")

    def _written(self, row: int) -> str:
        grade = float(self.ideal_grades[row])
        return str(int(grade)) if grade.is_integer() else repr(grade)

    def judge(
        self, qrels: Qrels, run: Run, matched: records.Matched, options: Options
    ) -> StratifiedRankings:
        """Judge the matched rankings. Raises QueryError as `judge_rankings`."""
        import numpy

        rankings = judge_rows(qrels, run, matched, options)
        offsets = as_array(rankings.offsets)
        rows = as_array(rankings.grades)[: offsets[-1]]
        queries = numpy.asarray(matched.judgments, "int64")
        firsts = numpy.repeat(self.offsets[queries], numpy.diff(offsets))
        strata, stratum_offsets = rows_of_queries(self.offsets, queries)
        ideals, ideal_offsets = rows_of_queries(self.ideal_offsets, queries)
        whole = (self.pool_sizes, self.sample_sizes, self.relevant_counts)
        pool_sizes, sample_sizes, relevant_counts = (memory_of(column[strata]) for column in whole)
        return StratifiedRankings(
            offsets=rankings.offsets,
            ranks=rankings.ranks,
            strata=memory_of(self.of_row[rows] - firsts),
            grades=memory_of(self.grades[rows]),
            relevant=memory_of(self.relevant[rows].astype("int64")),
            stratum_offsets=stratum_offsets,
            pool_sizes=pool_sizes,
            sample_sizes=sample_sizes,
            relevant_counts=relevant_counts,
            seen=zeros("q", len(strata)),
            seen_sampled=zeros("q", len(strata)),
            seen_relevant=zeros("q", len(strata)),
            sums=zeros("d", len(strata)),
            ideal_offsets=ideal_offsets,
            ideal_grades=memory_of(self.ideal_grades[ideals]),
            ideal_counts=memory_of(self.ideal_counts[ideals]),
            text_order=memory_of(self.text_order[ideals]),
            num_ret=rankings.num_ret,
        )


def strata_of(qrels: Qrels, level: float) -> Strata:
    """The strata of judgments, which are computed once."""
    strata_by_level: dict[float, Strata] = qrels.__dict__.setdefault("strata_by_level", {})
    if level not in strata_by_level:
        strata_by_level[level] = Strata(qrels, level)
    return strata_by_level[level]


def sample_counts(qrels: Qrels, needs: frozenset[str], level: float) -> dict[str, int]:
    """Counts for notes on judgments with strata: strata without samples, unsampled documents."""
    import numpy

    strata = strata_of(qrels, level)
    counts = {}
    if "strata" in needs:
        counts["strata_without_samples"] = int(numpy.count_nonzero(strata.sample_sizes == 0))
    if needs - {*WITHOUT_GRADES}:
        counts["not_sampled"] = int(numpy.count_nonzero(strata.grades < 0.0))
    return counts


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
        order = numpy.lexsort((subtopics - docs * distinct, queries))
        columns = queries[order], docs[order], subtopics[order]
        self._refuse_repeated(qrels, order, columns)
        queries, docs, subtopics = columns
        starts = numpy.flatnonzero(numpy.diff(queries, prepend=-1) | numpy.diff(docs, prepend=-1))
        self.starts = numpy.append(starts, len(order))
        self.grades = numpy.asarray(qrels.grades, "float64")[order]
        self.offsets = offsets_of(queries, len(qrels))
        self.doc_offsets = offsets_of(queries[starts], len(qrels))
        keys, numbers = _numbered(queries * distinct + subtopics, len(qrels) * distinct)
        self.subtopic_offsets = offsets_of(keys // distinct, len(qrels))
        self.subtopics = numbers - self.subtopic_offsets[queries]
        codes = as_array(qrels.grade_column)[order]
        firsts = order[starts]
        self.documents = qrels.changed(
            docs=Texts(*taken_texts(qrels.docs, memory_of(firsts)).columns),
            offset_column=memory_of(self.doc_offsets),
            grade_column=memory_of(numpy.maximum.reduceat(codes, starts)),
            strata=None,
        )

    @staticmethod
    def _refuse_repeated(
        qrels: Qrels, order: npt.NDArray[np.int64], columns: tuple[npt.NDArray[np.int64], ...]
    ) -> None:
        import numpy

        same = numpy.logical_and.reduce([numpy.diff(column) == 0 for column in columns])
        if same.any():
            position = int(same.argmax())
            first, second = (int(row) for row in order[position : position + 2])
            query = decoded(qrels.queries[int(columns[0][position])])
            subtopic = decoded(qrels.groups[first])
            where = f"query '{query}', subtopic '{subtopic}'"
            raise InputError(qrels.source, f"{where}: {repeated(qrels, first, second)}")

    def judge(
        self, run: Run, matched: records.Matched, options: Options, level: float
    ) -> SubtopicRankings:
        """Judge the matched rankings. Raises QueryError as `judge_rankings`."""
        import numpy

        rankings = judge_rows(self.documents, run, matched, options)
        offsets = as_array(rankings.offsets)
        rows = as_array(rankings.grades)[: offsets[-1]]
        queries = numpy.asarray(matched.judgments, "int64")
        docs, doc_offsets = rows_of_queries(self.doc_offsets, queries)
        judgments, judgment_offsets = rows_of_queries(self.offsets, queries)
        _, subtopic_offsets = rows_of_queries(self.subtopic_offsets, queries)
        docs = numpy.asarray(docs)
        firsts = numpy.repeat(self.offsets[queries], numpy.diff(doc_offsets))
        return SubtopicRankings(
            offsets=rankings.offsets,
            ranks=rankings.ranks,
            docs=memory_of(rows - numpy.repeat(self.doc_offsets[queries], numpy.diff(offsets))),
            doc_offsets=doc_offsets,
            firsts=memory_of(self.starts[docs] - firsts),
            stops=memory_of(self.starts[docs + 1] - firsts),
            bounds=zeros("d", len(docs)),
            judgment_offsets=judgment_offsets,
            subtopics=memory_of(self.subtopics[judgments]),
            grades=memory_of(self.grades[judgments]),
            relevant=memory_of((self.grades[judgments] >= level).astype("int64")),
            counted=zeros("q", len(judgments)),
            subtopic_offsets=subtopic_offsets,
            worth=zeros("d", subtopic_offsets[-1]),
            counts=zeros("q", subtopic_offsets[-1]),
            seen=zeros("q", subtopic_offsets[-1]),
        )


def subtopics_of(qrels: Qrels) -> Subtopics:
    """The subtopics of judgments, which are found once."""
    subtopics: Subtopics | None = qrels.__dict__.get("subtopics")
    if subtopics is None:
        subtopics = qrels.__dict__["subtopics"] = Subtopics(qrels)
    return subtopics


def has_subtopics(qrels: Qrels) -> bool:
    """Whether a second field of the judgments is not what plain judgments have there.

    The second field is read once, and the answer is kept.
    """
    is_unusual: bool | None = qrels.__dict__.get("has_subtopics")
    if is_unusual is None:
        names = interning(len(qrels.groups))
        distinct = kernels.intern_texts(qrels.groups.columns, names)
        iterations = qrels.groups.take(names.firsts[:distinct])
        is_unusual = any(name not in USUAL_ITERATIONS for name in iterations)
        qrels.__dict__["has_subtopics"] = is_unusual
    return is_unusual


def judge_by_column(
    qrels: Qrels,
    needs: frozenset[str],
    level: float,
    run: Run,
    matched: records.Matched,
    options: Options,
) -> dict[str, Record]:
    """The matched rankings for each column that measures need. Raises QueryError."""
    rankings: dict[str, Record] = {}
    if "strata" in needs:
        rankings["strata"] = strata_of(qrels, level).judge(qrels, run, matched, options)
    if "subtopics" in needs:
        rankings["subtopics"] = subtopics_of(qrels).judge(run, matched, options, level)
    return rankings


def with_distinct_documents(qrels: Qrels, needs: frozenset[str]) -> Qrels:
    """The judgments with one row per document, if all measures that use rankings use subtopics."""
    distinct = needs.difference(WITHOUT_RANKINGS) == {"subtopics"}
    return subtopics_of(qrels).documents if distinct else qrels
