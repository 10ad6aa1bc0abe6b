"""Judgments and run → what measures need: the join, done once."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.data.preferences import Preferences
from fastrank.data.qrels import Qrels
from fastrank.data.run import Run
from fastrank.data.texts import decoded
from fastrank.errors import EvaluationError
from fastrank.native import codes as at
from fastrank.native import kernels, records
from fastrank.native.buffers import filled, table_size, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

    from fastrank.data.grade_scale import Graded
    from fastrank.native.buffers import Recycled

# What is wrong with a first query that has negative grades only.
NEGATIVE_ONLY = "all its judgments are negative, and it is the first one evaluated"
# The document that trec_eval 10.0 gives a query without results under -c.
PLACEHOLDER = b"ceci_nest_pas_un_docno"
# Orders of tied documents that comparing two of them decides.
DIRECTIONS = {
    "docno_desc": at.LARGER_ID_FIRST,
    "docno_asc": at.SMALLER_ID_FIRST,
    "given": at.FIRST_LINE_FIRST,
}


class Judged(Frozen):
    """Rankings as grades: per evaluated query the listed documents' ranks and grades, and counts.

    `columns` are these as kernels take them.
    """

    __slots__ = ("columns",)

    columns: records.Rankings

    def __len__(self) -> int:
        return len(self.columns.offsets) - 1

    def first(self, count: int) -> Judged:
        """The first `count` of the rankings."""
        own = self.columns
        listed, distinct = own.offsets[count], own.grade_offsets[count]
        return Judged(
            columns=own.changed(
                offsets=own.offsets[: count + 1],
                ranks=own.ranks[:listed],
                grades=own.grades[:listed],
                grade_offsets=own.grade_offsets[: count + 1],
                grade_values=own.grade_values[:distinct],
                grade_counts=own.grade_counts[:distinct],
                num_ret=own.num_ret[:count],
                num_rel=own.num_rel[:count],
                num_rel_ret=own.num_rel_ret[:count],
            )
        )

    @staticmethod
    def joined(pieces: Sequence[Judged]) -> Judged:
        """The rankings of all pieces, which were judged by the same options, one after another."""
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


def _joined_offsets(pieces: Sequence[Any]) -> Any:
    """Offsets into the rows of all pieces, from the offsets into the rows of each."""
    import numpy

    lengths = [numpy.diff(piece) for piece in pieces]
    return numpy.concatenate([[0], numpy.cumsum(numpy.concatenate(lengths))])


class JudgedRun(Frozen):
    """The judged queries of a run that is not in memory.

    queries: places in the judgments, in byte order of the ids. missing: how many judged queries
    have no results. absent: the places in `queries` of those that got a placeholder document
    instead. tag: the run's name. unknown: the ids of its queries without judgments, None where
    nobody has kept them. counts: what else is counted, for `Scores.counts`.
    """

    __slots__ = ("absent", "counts", "judged", "missing", "queries", "tag", "unknown")
    defaults: ClassVar[dict[str, Any]] = {"counts": {}, "unknown": None}

    queries: Any
    judged: Judged
    missing: int
    absent: list[int]
    counts: dict[str, int]
    tag: bytes
    unknown: list[bytes] | None


class JudgingOptions(Frozen):
    """How rankings are cut and judged; the names are those of `fastrank.evaluate`."""

    __slots__ = (
        "collection_size", "judged_only", "list_unjudged", "max_retrieved", "relevance_level",
        "single_precision", "ties",
    )  # fmt: skip
    defaults: ClassVar[dict[str, Any]] = {"ties": "docno_desc"}

    relevance_level: int
    max_retrieved: int
    judged_only: bool
    list_unjudged: bool
    single_precision: bool
    collection_size: int
    ties: str

    def places(self, *, stop_if_none_judged: bool) -> Any:
        """The options as the kernels take them."""
        options = zeros("q", at.OPTIONS_SIZE)
        options[at.LEVEL] = self.relevance_level
        options[at.MAX_RETRIEVED] = self.max_retrieved
        options[at.JUDGED_ONLY] = self.judged_only
        options[at.LIST_UNJUDGED] = self.list_unjudged
        options[at.SINGLE_PRECISION] = self.single_precision
        options[at.STOP_IF_NONE_JUDGED] = stop_if_none_judged
        options[at.TIE_DIRECTION] = DIRECTIONS.get(self.ties, at.LARGER_ID_FIRST)
        # How NaN ranks is a matter of trec_eval's sort, which only its own order of ties repeats.
        options[at.REFUSE_NAN] = self.ties != "docno_desc"
        return options


class StoppedError(Exception):
    """Judging ended at query number `at`, for a reason; `inconsistent` as in EvaluationError."""

    def __init__(self, place: int, reason: str, *, inconsistent: bool = False) -> None:
        super().__init__(reason)
        self.place = place
        self.inconsistent = inconsistent

    def error(self, measure: str, query: bytes) -> EvaluationError:
        """The same as an error about the query and the first measure that needs it."""
        reason = f"query '{decoded(query)}': {self}"
        return EvaluationError(measure, query, reason, inconsistent=self.inconsistent)


def judging_scratch(deepest: int, most: int) -> records.JudgingScratch:
    """Memory for judging one query: `deepest` results at most, by `most` judgments."""
    # Links are loaded 64 at once, and columns stored up to 12 in excess.
    more = max(deepest, most) + 64
    # Four places a hash, where fewer hashes meet than in two, while they stay in the second cache.
    size = table_size(more)
    return records.JudgingScratch(
        table=zeros("q", table_size(deepest + most)),
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


def room_for_judged(
    qrels: Qrels | Graded, queries: Any, listed: int, options: JudgingOptions,
    memory: Recycled | None = None,
) -> Judged:  # fmt: skip
    """The judged rankings of some queries, to be filled by a kernel.

    They have room for so many listed documents. memory: where that of these comes from; by default
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


def count_retrieved(judged: Judged, absent: list[int]) -> dict[str, int]:
    """How many documents were retrieved, and how many of them have no grade >= 0.

    absent: the queries that got a placeholder document; it was not retrieved.
    """
    rankings = judged.columns
    retrieved = sum(rankings.num_ret) - sum(rankings.num_ret[i] for i in absent)
    grades = rankings.grades[: rankings.offsets[len(judged)]]
    return {"retrieved": retrieved, "unjudged": retrieved - kernels.count_judged(grades)}


def what_is_wrong(problem: Any, judgments: Qrels | Preferences, run: Run) -> str:
    """What is wrong, in words, with the lines where it stands."""
    kind, one, other = problem
    if kind == at.RUN_REPEATS:
        return repeated(run, one, other)
    if kind == at.QRELS_REPEAT:
        return repeated(judgments, one, other)
    if kind == at.SCORE_IS_NAN:
        where = f"line {run.docs.line(one)} of {run.source}"
        return f"the score of document {_name(run, one)}, {where}, is no number and has no rank"
    if kind == at.NONE_JUDGED:
        return NEGATIVE_ONLY
    if kind == at.GRADE_TOO_LARGE:
        return "a grade is too large to count judgments by grade"
    where = f"{judgments.source}:{judgments.docs.line(one)}"
    if kind == at.TWO_LEVELS:
        return (
            f"{where}: document {_name(judgments, one)} occurs with different levels in the same"
            " judgment group"
        )
    if kind == at.ZERO_AND_NONZERO:
        return f"{where}: doc '{_name(judgments, one)}' has both 0 and non-0 rel_level assigned"
    return f"{where}: Pref inconsistency found: the preferences of this judgment group form a cycle"


def repeated(noun: Any, one: int, other: int) -> str:
    """What is wrong with a document that stands in two rows, for one query."""
    return f"duplicate docs {_name(noun, one)}, {_lines(noun, one, other)}"


def _name(noun: Any, row: int) -> str:
    return str(noun.docs[row].decode("utf-8", "replace"))


def _lines(noun: Any, one: int, other: int) -> str:
    first, second = sorted((noun.docs.line(one), noun.docs.line(other)))
    return f"{noun.docs.unit}s {first} and {second} of {noun.source}"
