"""A judged run: the ranks and grades from which measures are computed, and the memory for them."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.data.texts import decoded
from fastrank.errors import EvaluationError
from fastrank.native import codes, kernels, records
from fastrank.native.buffers import columns, filled, table_size, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

    from fastrank.data.qrels import Graded, Qrels
    from fastrank.judging.dicts import DictBatch
    from fastrank.judging.needs import JudgingOptions
    from fastrank.judging.rankings import JudgedGroups, Tied
    from fastrank.native.buffers import Recycled
    from fastrank.native.record import Record
    from fastrank.native.records.rankings import PreferenceCounts


class Judged(Frozen):
    """Rankings as grades: per evaluated query the listed documents' ranks and grades, and counts.

    `columns` are these as kernels take them. ties: those of judged documents, which may stand
    behind a depth; None where they were not kept.
    """

    __slots__ = ("columns", "ties")
    defaults: ClassVar[dict[str, Any]] = {"ties": None}

    columns: records.Rankings
    ties: records.Ties | None

    def __len__(self) -> int:
        return len(self.columns.offsets) - 1

    def first(self, count: int) -> Judged:
        """The first `count` of the rankings."""
        rankings = self.columns
        listed, distinct = rankings.offsets[count], rankings.grade_offsets[count]
        return Judged(
            ties=self.ties,
            columns=rankings.changed(
                offsets=rankings.offsets[: count + 1],
                ranks=rankings.ranks[:listed],
                grades=rankings.grades[:listed],
                grade_offsets=rankings.grade_offsets[: count + 1],
                grade_values=rankings.grade_values[:distinct],
                grade_counts=rankings.grade_counts[:distinct],
                num_ret=rankings.num_ret[:count],
                num_rel=rankings.num_rel[:count],
                num_rel_ret=rankings.num_rel_ret[:count],
            ),
        )

    @property
    def has_ties(self) -> bool:
        """Whether a judged document is known to tie with another one."""
        return self.ties is not None and self.ties.offsets[len(self)] > 0

    def copied(self) -> Judged:
        """The same with rankings and ties in memory of their own, which kernels may change."""
        rankings, ties = self.columns, self.ties
        assert ties is not None
        listed, tied = rankings.offsets[len(self)], ties.offsets[len(self)]
        columns = rankings.changed(
            offsets=_copied(rankings.offsets), ranks=_copied(rankings.ranks[:listed]),
            grades=_copied(rankings.grades[:listed]),
            **{name: _copied(getattr(rankings, name)) for name in _COUNTED},
        )  # fmt: skip
        own = records.Ties(
            offsets=_copied(ties.offsets), lows=_copied(ties.lows[:tied]),
            highs=_copied(ties.highs[:tied]),
        )  # fmt: skip
        return Judged(columns=columns, ties=own)

    @staticmethod
    def joined(pieces: Sequence[Judged]) -> Judged:
        """Concatenate the rankings of all pieces, which must be judged with the same options."""
        import numpy

        if len(pieces) == 1:
            return pieces[0]
        listed, ranks, grades, distinct, values, counts, *more = zip(
            *(piece.columns for piece in pieces), strict=True
        )
        per_query, shared = more[:3], (column[0] for column in more[3:])
        columns = (
            _joined_offsets(listed), *map(numpy.concatenate, (ranks, grades)),
            _joined_offsets(distinct), *map(numpy.concatenate, (values, counts, *per_query)),
        )  # fmt: skip
        # What is taken from memory are Python's own numbers, which JSON knows too.
        return Judged(
            columns=records.Rankings(*(memoryview(column) for column in columns), *shared)
        )


# The columns of rankings that another run overwrites.
_COUNTED = (
    "grade_offsets", "grade_values", "grade_counts", "num_ret", "num_rel", "num_rel_ret",
)  # fmt: skip


def _copied(column: Any) -> Any:
    return memoryview(bytearray(column)).cast("q")


def _joined_offsets(pieces: Sequence[Any]) -> Any:
    """Offsets into the rows of all pieces, from the offsets into the rows of each."""
    import numpy

    lengths = [numpy.diff(piece) for piece in pieces]
    return numpy.concatenate([[0], numpy.cumsum(numpy.concatenate(lengths))])


class JudgedRun(Frozen):
    """A run as it was judged: its judged queries, and their rankings as measures see them.

    queries: the places in the judgments of the queries to evaluate, in this order.
    judged: their rankings, None where no measure needs them, and where they were judged by
        `groups` or `preferences`. tied: the same with what each document ties with.
    all_queries: the same, each document having grade 0 that the judgments of any query name.
    tied_by_all_queries: these with what each document ties with.
    by_column: the same judged by another column of the judgments, by what measures need ("strata",
        "subtopics").
    batch: the memory of `judged`, where it can serve for the next run.
    failure: what is wrong with the first query that could not be judged; the rankings are those
        of the queries before it.
    missing: how many judged queries have no results. placeholders: the places in `queries` of
        those that got a document instead, as trec_eval 10.0 does under -c.
    unjudged_queries: the ids of the run's queries without judgments, None where nobody has kept
        them.
    counts: what else is counted, for `Scores.counts`. tag: the name of the run.
    """

    __slots__ = (
        "all_queries",
        "batch",
        "by_column",
        "counts",
        "failure",
        "groups",
        "judged",
        "missing",
        "placeholders",
        "preferences",
        "queries",
        "tag",
        "tied",
        "tied_by_all_queries",
        "unjudged_queries",
    )  # fmt: skip
    defaults: ClassVar[dict[str, Any]] = {
        "all_queries": None, "batch": None, "by_column": {}, "counts": {}, "failure": None,
        "groups": None, "judged": None, "placeholders": [], "preferences": None,
        "unjudged_queries": None, "tied": None, "tied_by_all_queries": None,
    }  # fmt: skip

    queries: Any
    judged: Judged | None
    batch: DictBatch | None
    tied: Tied | None
    all_queries: Judged | None
    tied_by_all_queries: Tied | None
    by_column: dict[str, Record]
    groups: JudgedGroups | None
    preferences: PreferenceCounts | None
    failure: QueryError | None
    missing: int
    placeholders: list[int]
    unjudged_queries: list[bytes] | None
    counts: dict[str, int]
    tag: bytes

    def before_failure(self) -> JudgedRun:
        """The run with only the queries before the one that could not be judged."""
        if self.failure is None:
            return self
        place = self.failure.place
        judged: JudgedRun = self.changed(
            queries=self.queries[:place],
            placeholders=[own for own in self.placeholders if own < place],
        )
        return judged


class QueryError(Exception):
    """A query, given by its index among those evaluated, cannot be evaluated.

    inconsistent: as in EvaluationError. repeated: the lines of the run that have one document.
    source: of the judgments, if these are wrong.
    """

    def __init__(
        self, place: int, reason: str, *, inconsistent: bool = False,
        repeated: tuple[int, int] | None = None, source: str = "",
    ) -> None:  # fmt: skip
        super().__init__(reason)
        self.place = place
        self.inconsistent = inconsistent
        self.repeated = repeated
        self.source = source

    def error(self, measure: str, query: bytes) -> EvaluationError:
        """Convert it to an EvaluationError of the query and the first measure that needs it."""
        reason = f"query '{decoded(query)}': {self}"
        error = EvaluationError(measure, query, reason, inconsistent=self.inconsistent)
        error.source = self.source
        return error


def count_retrieved(judged: Judged, placeholders: list[int]) -> dict[str, int]:
    """The numbers of retrieved documents and of those without a grade >= 0.

    placeholders: the places of rankings of a placeholder document, which was not retrieved.
    """
    rankings = judged.columns
    retrieved = sum(rankings.num_ret) - sum(rankings.num_ret[i] for i in placeholders)
    grades = rankings.grades[: rankings.offsets[len(judged)]]
    return {"retrieved": retrieved, "unjudged": retrieved - kernels.count_judged(grades)}


def judging_scratch(deepest: int, most: int) -> records.JudgingScratch:
    """Memory for judging one query: `deepest` results at most, by `most` judgments."""
    # Links are loaded 64 at once, and columns stored up to 12 in excess.
    more = max(deepest, most) + 64
    # Four places a hash, where fewer hashes meet than in two, while they stay in the second cache.
    size = table_size(more)
    return records.JudgingScratch(
        table=zeros(
            "q", max(table_size(deepest + most), codes.SORT_COLUMNS * deepest + codes.SORT_BYTES)
        ),
        judged_hashes=zeros("q", most),
        places=zeros("q", more),
        row_index=records.RowIndex(
            table=zeros("i", 2 * size if size <= 1 << 16 else size),
            links=zeros("i", more),
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
    qrels: Qrels | Graded, queries: Any, listed: int, options: JudgingOptions,
    memory: Recycled | None = None,
) -> Judged:  # fmt: skip
    """The judged rankings of some queries, to be filled by a kernel.

    They have room for `listed` documents. memory: where that of these comes from; by default
    it is new.
    """
    count, judged = len(queries), kernels.count_picked(qrels.offset_column, queries)
    wanted = (("q", listed), ("q", listed))
    ranks, grades = memory.make(*wanted) if memory else (zeros(*one) for one in wanted)
    return Judged(
        columns=records.Rankings(
            offsets=zeros("q", count + 1),
            ranks=ranks,
            grades=grades,
            grade_offsets=zeros("q", count + 1),
            grade_values=zeros("q", judged),
            grade_counts=zeros("q", judged),
            num_ret=zeros("q", count),
            num_rel=zeros("q", count),
            num_rel_ret=zeros("q", count),
            level=options.relevance_level,
            collection_size=options.collection_size,
        )
    )
