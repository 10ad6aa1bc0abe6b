"""A judged run: the ranks and grades from which measures are computed, and the memory for them."""

from __future__ import annotations

from fastrank.core.data.columns import Frozen
from fastrank.core.data.texts import decoded, memory_of
from fastrank.core.native import kernels, records
from fastrank.core.native.buffers import WORTH_KEEPING, columns, filled, zeros
from fastrank.errors import EvaluationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.core.formats.qrels import Graded, Qrels
    from fastrank.core.matching.options import Options
    from fastrank.core.native.buffers import Recycled
    from fastrank.core.native.record import Int64Array, Offsets, Record


class Judged(Frozen):
    """Rankings as grades: per evaluated query the listed documents' ranks and grades, and counts.

    `columns` are these as kernels take them. ties: those of judged documents, which may stand
    behind a depth; None where they were not kept.
    """

    columns: records.Rankings
    ties: records.Ties | None = None

    def __len__(self) -> int:
        return len(self.columns.offsets) - 1

    def first(self, count: int) -> Judged:
        """The first `count` of the rankings."""
        *columns, level, size = self.columns
        listed, distinct = columns[0][count], columns[3][count]
        sizes = (count + 1, listed, listed, count + 1, distinct, distinct, count, count, count)
        cut = (column[:rows] for column, rows in zip(columns, sizes, strict=True))
        return Judged(ties=self.ties, columns=records.Rankings(*cut, level, size))

    @property
    def has_ties(self) -> bool:
        """Whether a judged document is known to tie with another one."""
        return self.ties is not None and self.ties.offsets[len(self.columns.offsets) - 1] > 0

    def copied(self) -> Judged:
        """The same in memory of its own, which kernels may change, and without unused memory."""
        *columns, level, size = self.first(len(self)).columns
        ties = self.ties
        if ties is not None:
            tied = ties.offsets[len(self)]
            ties = records.Ties(*map(_copied, (ties.offsets, ties.lows[:tied], ties.highs[:tied])))
        return Judged(columns=records.Rankings(*map(_copied, columns), level, size), ties=ties)

    @staticmethod
    def joined(pieces: Sequence[Judged]) -> Judged:
        """Concatenate the rankings of all pieces, which must be judged with the same options."""
        import numpy

        if len(pieces) == 1:
            return pieces[0]
        whole: list[Any] = [
            (_joined_offsets if i in OFFSETS else numpy.concatenate)(columns)
            for i, columns in enumerate(zip(*(piece.columns[:9] for piece in pieces), strict=True))
        ]
        # Items of a memoryview are Python's numbers, which JSON can write.
        views = (memoryview(column) for column in whole)
        columns = records.Rankings(*views, *pieces[0].columns[9:])
        return Judged(columns=columns, ties=_joined_ties(pieces))


def _joined_ties(pieces: Sequence[Judged]) -> records.Ties | None:
    """The ties of all pieces; None if there are none."""
    import numpy

    if not any(piece.has_ties for piece in pieces):
        return None
    offsets = []
    columns: tuple[list[Any], list[Any]] = [], []
    for piece in pieces:
        assert piece.ties is not None
        offsets.append(piece.ties.offsets[: len(piece) + 1])
        for column, part in zip(columns, (piece.ties.lows, piece.ties.highs), strict=True):
            column.append(part[: offsets[-1][-1]])
    lows, highs = (memory_of(numpy.concatenate(column)) for column in columns)
    return records.Ties(memory_of(_joined_offsets(offsets)), lows, highs)


# The places of the columns of Rankings that are offsets into those that follow.
OFFSETS = (0, 3)


def _copied(column: Int64Array) -> memoryview:
    return memoryview(bytearray(column)).cast("q")


def _joined_offsets(pieces: Sequence[Offsets]) -> Offsets:
    """Offsets into the rows of all pieces, from the offsets into the rows of each."""
    import numpy

    lengths = [numpy.diff(piece) for piece in pieces]
    return numpy.concatenate([[0], numpy.cumsum(numpy.concatenate(lengths))])


class Tied(Frozen):
    """Rankings with ties ordered by grade, or unordered.

    With ties="average", listed document i has one of the ranks lows[i] + 1 to highs[i], and its
    rank in `judged` has no meaning.
    """

    judged: Judged
    lows: Int64Array
    highs: Int64Array

    def spread(self, ranked: records.Rankings | records.GainedRankings) -> Record:
        """The same rankings, with another level or with gains perhaps, as kernels take them."""
        # Imported late: few measures see ties.
        from fastrank.core.native.records.rankings import TiedGainedRankings, TiedRankings

        has_gains = isinstance(ranked, records.GainedRankings)
        kind: type[Record] = TiedGainedRankings if has_gains else TiedRankings
        fields = {**ranked._asdict(), "lows": self.lows, "highs": self.highs}
        return kind(**{name: fields[name] for name in kind.__annotations__})

    def of_judged(self) -> Tied:
        """The ties of the documents if all that are not judged leave the rankings."""
        judged = self.judged.copied()
        bounds = records.TieBounds(lows=_copied(self.lows), highs=_copied(self.highs))
        kernels.drop_unjudged(judged.columns, bounds)
        return Tied(judged=judged, lows=bounds.lows, highs=bounds.highs)


class JudgedRun(Frozen):
    """A run as it was judged: its judged queries, and their rankings as measures see them.

    queries: the places in the judgments of the queries to evaluate, in this order.
    judged: their rankings, None where no measure needs them, and where they were judged by groups
        or preferences. tied: the same with what each document ties with.
    others: the same judged in another way, by what measures need: "annotated" (each document that
        the judgments of any query name has grade 0; a Tied for expected values), "strata",
        "subtopics", "groups" (rankings, and the offsets of those of each query), "preferences".
    failure: what is wrong with the first query that could not be judged; the rankings are those
        of the queries before it.
    missing: how many judged queries have no results. placeholders: the places in `queries` of
        those that got a document instead, as trec_eval 10.0 does under -c.
    unjudged_queries: the ids of the run's queries without judgments, None where nobody has kept
        them.
    counts: what else is counted, for `Scores.counts`. tag: the name of the run.
    """

    queries: Int64Array
    judged: Judged | None = None
    tied: Tied | None = None
    others: dict[str, Any] = {}  # noqa: RUF012
    failure: QueryError | None = None
    missing: int
    placeholders: Sequence[int] = ()
    unjudged_queries: list[bytes] | None = None
    counts: dict[str, int] = {}  # noqa: RUF012
    tag: bytes

    def before_failure(self) -> JudgedRun:
        """The run with only the queries before the one that could not be judged."""
        if self.failure is None:
            return self
        stop = self.failure.place
        judged: JudgedRun = self.changed(
            queries=self.queries[:stop], placeholders=[i for i in self.placeholders if i < stop]
        )
        return judged


class QueryError(Exception):
    """A query, given by its index among those evaluated, cannot be evaluated.

    inconsistent: as in EvaluationError. repeated: the lines of the run that have one document.
    source: of the judgments, if these are wrong.
    """

    def __init__(
        self,
        index: int,
        reason: str,
        *,
        inconsistent: bool = False,
        repeated: tuple[int, int] | None = None,
        source: str = "",
    ) -> None:
        super().__init__(reason)
        self.place = index
        self.inconsistent = inconsistent
        self.repeated = repeated
        self.source = source

    def error(self, measure: str, query: bytes) -> EvaluationError:
        """Convert it to an EvaluationError of the query and the first measure that needs it."""
        reason = f"query '{decoded(query)}': {self}"
        error = EvaluationError(measure, query, reason, inconsistent=self.inconsistent)
        error.source = self.source
        return error


def count_retrieved(judged: Judged, placeholders: Sequence[int]) -> dict[str, int]:
    """The numbers of retrieved documents and of those without a grade >= 0.

    placeholders: the places of rankings of a placeholder document, which was not retrieved.
    """
    rankings, totals = judged.columns, zeros("q", 2)
    listed = rankings.offsets[len(rankings.num_ret)]
    kernels.count_retrieved(rankings.num_ret, rankings.grades[:listed], totals)
    retrieved, with_grade = totals
    for i in placeholders:
        retrieved -= rankings.num_ret[i]
    return {"retrieved": retrieved, "unjudged": retrieved - with_grade}


def judging_scratch(deepest: int, most: int) -> records.JudgingScratch:
    """Memory for judging one query: `deepest` results at most, by `most` judgments."""
    sizes = records.JudgingSizes()
    kernels.judging_sizes(deepest, most, sizes)
    return records.JudgingScratch(
        table=zeros("q", sizes.table),
        judged_hashes=zeros("q", most),
        positions=zeros("q", sizes.positions),
        row_index=records.RowIndex(
            table=zeros("i", sizes.slots),
            links=zeros("i", sizes.positions),
            clock=filled("q", [1]),
        ),
        keys=zeros("d", deepest),
        hashes=zeros("q", deepest),
        rows=zeros("q", deepest),
    )


def ranking_scratch(deepest: int) -> records.RankingScratch:
    """Memory for ordering as many results as `deepest`."""
    return records.RankingScratch(
        keys=zeros("d", deepest), order=zeros("q", deepest), merge=zeros("q", deepest)
    )


def room_for_ties(queries: int, documents: int) -> records.Ties:
    """The ties of at most these numbers of queries and documents, to be filled by a kernel."""
    return records.Ties(*columns("q", queries + 1, documents, documents))


def room_for_judged(
    qrels: Qrels | Graded,
    queries: Int64Array,
    listed: int,
    options: Options,
    memory: Recycled | None = None,
) -> Judged:
    """The judged rankings of some queries, to be filled by a kernel.

    They have room for `listed` documents. options: as `Plan.judging` has them. memory: where
    that of the documents and judgments comes from if it is worth keeping; by default it is new.
    """
    count, judged = len(queries), kernels.count_picked(qrels.offset_column, queries)
    sizes = listed, listed, judged, judged
    if memory is not None and max(sizes) in WORTH_KEEPING:
        ranks, grades, values, counts = memory.make(*(("q", size) for size in sizes))
    else:
        ranks, grades, values, counts = columns("q", *sizes)
    offsets, grade_offsets, *per_query = columns("q", *[count + 1] * 2, *[count] * 3)
    level, size = int(options.relevance_level), options.collection_size
    return Judged(
        columns=records.Rankings(
            offsets, ranks, grades, grade_offsets, values, counts, *per_query, level, size
        )
    )
