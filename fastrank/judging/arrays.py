"""Rankings given as rows of integer ids, for `evaluate_arrays` and searches."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.data.qrels import Qrels
from fastrank.data.run import Run
from fastrank.data.texts import NO_ITERATION, as_texts, constant, decoded, memory_of
from fastrank.errors import ArrayError
from fastrank.formats.chunks import MOST_PARTS
from fastrank.formats.values import selected_integers, texts_of, to_single
from fastrank.judging.judged import Judged, JudgedRun, room_for_judged
from fastrank.judging.memory import TextRun
from fastrank.judging.needs import judging_options, needs_rankings
from fastrank.judging.queries import MatchedQueries, evaluates_missing
from fastrank.native import codes, kernels, records
from fastrank.native.buffers import WORTH_KEEPING, Recycled, filled, table_size, zeros
from fastrank.native.records.objects import (
    DoubleScores,
    IdRows,
    JudgedRows,
    NarrowRowIndex,
    RowPicks,
    RowScratch,
    SingleScores,
)
from fastrank.native.threads import MOST_THREADS, default_threads, in_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, ClassVar, NoReturn

    import numpy.typing as npt

    from fastrank.data.qrels import Graded
    from fastrank.data.texts import Texts
    from fastrank.errors import FastrankError
    from fastrank.judging.array_qrels import ArrayQrels
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure

    Array = npt.NDArray[Any]

# Items converted at a time if kernels cannot use the arrays directly: one or two megabytes.
BLOCK_ITEMS = 1 << 17
# The number of documents below which starting a thread does not pay off: about half a millisecond.
WORTH_A_THREAD = 1 << 18
PADDING = -1
# Places in the table of a row's ids, of at most 8 to 16 per id: few ids share one, and the table of
# 1,000 ids stays in the first cache beside them. Up to WIDEST ids, their numbers have 16 bits.
PLACES, MOST_PLACES = 1 << 12, 1 << 18
WIDEST = (1 << 15) - 1
# Columns that the kernels look at together.
BLOCK = 64
SOURCE = "<arrays>"
# The bits of the smallest normal 32-bit float: those above it are neighbours that differ as scores.
SMALLEST_NORMAL = 1 << 23
# For each thread that is started by default.
_MEMORY = tuple(Recycled() for _ in range(MOST_THREADS))


class ArrayRun(Frozen):
    """Rankings as rows of arrays, and which of them to judge.

    ids: integers[n, k] of documents, -1 for none. scores: numbers[n, k], None if each row is a
    ranking, best first. queries: int64[m], the indexes in the judgments of the queries to evaluate,
    in this order. rows: int64[m], the row of each, or -1. lower_is_better: scores are distances.
    unique: no row has a duplicate document. unknown: the ids of the rows without judgments, None if
    they are not known.
    """

    __slots__ = ("ids", "lower_is_better", "queries", "rows", "scores", "unique", "unknown")
    defaults: ClassVar[dict[str, Any]] = {"unknown": None}

    ids: Array
    scores: Array | None
    queries: Array
    rows: Array
    lower_is_better: bool
    unique: bool
    unknown: list[bytes] | None


class RepeatedIdError(ArrayError):
    """A document stands in a row twice, which need not matter: see RowStore."""


class RowStore:
    """Judges rows of arrays by judgments of documents with integer ids.

    As texts, the ids are the decimal numbers. threads: the maximum number of threads, by default as
    many as are useful.
    """

    ties = "docno_desc"

    def __init__(
        self, qrels: ArrayQrels, measures: list[BoundMeasure], options: Options,
        threads: int | None = None,
    ) -> None:  # fmt: skip
        self.judgments = qrels
        self.options = judging_options(measures, options, qrels)
        self.evaluates_missing = evaluates_missing(options)
        self.most_judged = kernels.widest(qrels.offset_column)
        self._repeats_matter = not options.is_cut and needs_rankings(measures, options)
        self._threads = threads

    def judge(self, run: ArrayRun) -> JudgedRun | None:
        """Judge rankings. Raises ArrayError and EvaluationError.

        A document twice in a row is an error only where a Run of the same rows has one: not behind
        the depth, and not where no measure needs the ranking.
        """
        try:
            return self.judge_rows(run)
        except RepeatedIdError as error:
            if self._repeats_matter:
                raise ArrayError(*error.args) from None
            return None

    def judge_rows(self, run: ArrayRun) -> JudgedRun:
        """The same, where a document twice in a row is always an error, RepeatedIdError."""
        return _Rows(self, run).judge(self._threads)

    def judgments_as_texts(self) -> Qrels:
        """The judgments with decimal numbers as ids."""
        return with_ids(self.judgments, self.judgments.columns.docs)

    def as_texts(self, run: ArrayRun) -> TextRun:
        """The rankings with decimal numbers as ids. Raises ArrayError, as `judge` does."""
        import numpy

        order, rows = run.queries, run.rows
        looked = numpy.flatnonzero(rows >= 0)
        queries = self.judgments.queries.take(order[looked].tolist())
        found = _CheckedRows(
            queries, rows[looked], run.ids, run.scores, lower_is_better=run.lower_is_better
        )
        made = found.run()
        rankings = numpy.full(len(order), -1, numpy.int64)
        rankings[looked[found.sizes > 0]] = numpy.arange(len(made))
        matched = MatchedQueries(
            judgments=memory_of(order.astype(numpy.int64)), rankings=memory_of(rankings)
        )
        return TextRun(run=made, matched=matched, unknown=run.unknown, repeated=found.repeated)


class _Rows:
    """Rows of arrays, judged several at a time where they must be converted."""

    def __init__(self, store: RowStore, run: ArrayRun) -> None:
        self._store, self._run = store, run
        self._qrels, self._options = store.judgments, store.options
        self._ids, self._scores = run.ids, run.scores
        self._single = True
        if run.scores is not None and not store.options.single_precision:
            self._single = run.scores.dtype.kind == "f" and run.scores.dtype.itemsize <= 4

    def judge(self, threads: int | None) -> JudgedRun:
        """Judge all rows."""
        import numpy

        order, rows = self._run.queries, self._run.rows
        if threads is None:
            threads = default_threads(len(rows) * self._ids.shape[1], WORTH_A_THREAD)
        count = max(1, min(threads, len(rows), MOST_PARTS))
        cuts = [len(rows) * number // count for number in range(count + 1)]
        stretches: list[Any] = [None] * count

        def work(number: int) -> None:
            own = slice(cuts[number], cuts[number + 1])
            memory = _MEMORY[number] if number < len(_MEMORY) else None
            stretches[number] = self._judge_some(order[own], rows[own], memory)

        in_threads(work, count)
        marked = numpy.concatenate([evaluated for evaluated, _ in stretches])
        placeholders = numpy.flatnonzero(marked < 0).tolist()
        return JudgedRun(
            queries=numpy.where(marked < 0, -1 - marked, marked).tolist(),
            judged=Judged.joined([judged for _, judged in stretches]),
            missing=len(order) - len(marked) + len(placeholders),
            placeholders=placeholders,
            unjudged_queries=self._run.unknown,
            tag=b"arrays",
        )

    def _judge_some(
        self, order: Array, rows: Array, memory: Recycled | None
    ) -> tuple[Array, Judged]:
        """Judge some rows: the queries evaluated, as -1 - query where missing, and the rankings."""
        import numpy

        judge_rows = kernels.judge_single_arrays if self._single else kernels.judge_double_arrays
        options = self._options
        width = self._ids.shape[1]
        listed = kernels.count_picked(self._qrels.offset_column, order)
        if options.list_unjudged:
            listed = len(order) * max(1, width)
        memory = memory if listed in WORTH_KEEPING else None
        judged = room_for_judged(self._qrels, order, listed, options, memory)
        evaluated, problem = zeros("q", len(order)), zeros("q", 4)
        places = options.codes()
        scratch = self._scratch()
        of_scores = SingleScores if self._single else DoubleScores
        own_scores = zeros("f" if self._single else "d", width)
        done = 0
        for first, stop, own_rows, ids, scores in self._blocks(rows):
            done = judge_rows(
                IdRows(
                    ids=ids,
                    width=width,
                    in_order=self._scores is None,
                    ascending=self._run.lower_is_better,
                    unique=self._run.unique,
                    with_absent=self._store.evaluates_missing,
                ),
                of_scores(scores=scores, scratch=own_scores),
                RowPicks(rows=own_rows, queries=order[first:stop]),
                self._qrels.columns,
                places,
                scratch,
                JudgedRows(queries=evaluated, done=done, rankings=judged.columns),
                problem,
            )
            if problem[0] != codes.FINE:
                i = first + problem[1]
                raise self._error(problem, int(rows[i]), self._qrels.queries[int(order[i])])
        return numpy.asarray(evaluated)[:done], judged.first(done)

    def _scratch(self) -> RowScratch:
        """Memory for judging one row at a time."""
        width = self._ids.shape[1]
        own = (min(max(PLACES, table_size(4 * width)), MOST_PLACES), (width // BLOCK + 1) * BLOCK)
        narrow, wide = (own, (0, 0)) if width <= WIDEST else ((0, 0), own)
        clock = filled("q", [1])
        return RowScratch(
            narrow=NarrowRowIndex(*(zeros("H", count) for count in narrow), clock),
            wide=records.RowIndex(*(zeros("i", count) for count in wide), clock),
            marks=zeros("q", self._store.most_judged),
            ids=zeros("q", width),
            rows=zeros("q", width + BLOCK),
            work=zeros("q", codes.SORT_COLUMNS * width + codes.SORT_BYTES),
        )

    def _blocks(self, rows: Array) -> Iterator[tuple[int, int, Array, Array, Array]]:
        """Stretches of rows as the kernel takes them: first, stop, row numbers, ids, scores."""
        import numpy

        ids, scores = self._ids, self._scores
        item = numpy.float32 if self._single else numpy.float64
        none = numpy.empty(0, item)
        fits = ids.dtype == numpy.int64 and ids.flags.c_contiguous and ids.dtype.isnative
        if scores is not None:
            fits = fits and scores.dtype == item and scores.flags.c_contiguous
        if fits:
            flat = none if scores is None else scores.reshape(-1)
            yield 0, len(rows), rows, ids.reshape(-1), flat
            return
        step = max(1, BLOCK_ITEMS // max(1, ids.shape[1]))
        for first in range(0, len(rows), step):
            picked = rows[first : first + step]
            found = picked[picked >= 0]
            own = numpy.where(picked >= 0, numpy.cumsum(picked >= 0) - 1, -1)
            yield (
                first, first + len(picked), own,
                selected_integers("ids", self._ids, found).reshape(-1),
                none if scores is None else self._converted_scores(scores[found]),
            )  # fmt: skip

    def _converted_scores(self, scores: Array) -> Array:
        import numpy

        if scores.dtype.kind in "iu":
            scores = scores.astype(numpy.float64)
        if self._single:
            return to_single(scores).reshape(-1)
        return numpy.ascontiguousarray(scores, numpy.float64).reshape(-1)

    def _error(self, problem: Any, row: int, query: bytes) -> FastrankError:
        """What is wrong with a query; the places of the problem count documents, not padding."""
        import numpy

        kind = problem[0]
        own = self._ids[row]
        if kind == codes.NEGATIVE_ID:
            return negative_id(query, own, row, problem[2])
        columns = numpy.flatnonzero(own != PADDING).tolist()
        column = columns[problem[2]]
        if kind == codes.SCORE_IS_NAN:
            return nan_score(query, own, row, column)
        return RepeatedIdError(*repeated_id(query, own, row, (column, columns[problem[3]])).args)


class _CheckedRows:
    """Some rows of the arrays, the documents in them checked but for repeats.

    queries: the id of each. rows: its number in the arrays. sizes: how many documents it has.
    """

    def __init__(
        self, queries: list[bytes], rows: Array, ids: Array, scores: Array | None, *,
        lower_is_better: bool,
    ) -> None:  # fmt: skip
        import numpy

        self.queries, self.rows = queries, rows
        self.ids = selected_integers("ids", ids, rows)
        self._refuse(self.ids < PADDING, negative_id)
        self.present = self.ids != PADDING
        self.sizes = self.present.sum(axis=1)
        if scores is None:
            self.scores = numpy.broadcast_to(_descending(ids.shape[1]), self.ids.shape)
            return
        own = scores[rows].astype(numpy.float64)
        self._refuse(numpy.isnan(own) & self.present, nan_score)
        self.scores = -own if lower_is_better else own

    def _refuse(self, wrong: Array, error: Callable[..., ArrayError]) -> None:
        """Raise an error about the first wrong position."""
        if place := _first(wrong):
            i, column = place
            raise error(self.queries[i], self.ids[i], int(self.rows[i]), column)

    def run(self) -> Run:
        """The rows that have documents as a run."""
        import numpy

        answered = self.sizes > 0
        ends = numpy.cumsum(self.sizes[answered])
        return Run(
            queries=as_texts([self.queries[i] for i in numpy.flatnonzero(answered).tolist()]),
            docs=_decimal(self.ids[self.present]).placed(None, "result"),
            tag_bytes=b"arrays",
            source=SOURCE,
            offset_column=memory_of(numpy.concatenate([numpy.zeros(1, numpy.int64), ends])),
            score_column=memory_of(self.scores[self.present]),
        )

    def repeated(self, first: int, again: int) -> ArrayError:
        """The error about a document that is two of the results, which are numbered by row."""
        import numpy

        rows, columns = (own[[first, again]] for own in numpy.nonzero(self.present))
        i = int(rows[0])
        places = (int(columns[0]), int(columns[1]))
        return repeated_id(self.queries[i], self.ids[i], int(self.rows[i]), places)


def negative_id(query: bytes, ids: Array, row: int, column: int) -> ArrayError:
    """The error about a row of ids with one that is not an id."""
    reason = f"expected an id of at least 0, or -1 for none, found {ids[column]}"
    return ArrayError("ids", f"query {decoded(query)!r}: {reason}", row, column)


def nan_score(query: bytes, ids: Array, row: int, column: int) -> ArrayError:
    """The error about a row of ids of which one has no score."""
    reason = f"document {ids[column]} has the score nan"
    return ArrayError("scores", f"query {decoded(query)!r}: {reason}", row, column)


def repeated_id(query: bytes, ids: Array, row: int, columns: tuple[int, int]) -> ArrayError:
    """The error about a row of ids with one at two places."""
    first, again = columns
    reason = f"document {ids[first]} is retrieved twice, in columns {first} and {again}"
    return ArrayError("ids", f"query {decoded(query)!r}: {reason}", row, again)


def with_ids(judgments: Graded, ids: Array) -> Qrels:
    """Judgments of the documents with these ids, one for each grade."""
    return Qrels(
        queries=judgments.queries, docs=_decimal(ids), groups=constant(NO_ITERATION, len(ids)),
        source=SOURCE, offset_column=judgments.offset_column, grade_column=judgments.grade_column,
        scale=judgments.scale,
    )  # fmt: skip


def _descending(width: int) -> Array:
    """Descending scores that are distinct even as 32-bit floats."""
    import numpy

    bits = numpy.arange(width, 0, -1, dtype=numpy.int32) + numpy.int32(SMALLEST_NORMAL)
    scores: Array = bits.view(numpy.float32).astype(numpy.float64)
    return scores


def _first(wrong: Array) -> tuple[int, int] | None:
    """Row and column of the first wrong position."""
    import numpy

    if not wrong.any():
        return None
    row, column = numpy.unravel_index(int(wrong.argmax()), wrong.shape)
    return int(row), int(column)


def _decimal(ids: Array) -> Texts:
    return texts_of(ids, _no_failure)


def _no_failure(row: int, reason: str) -> NoReturn:
    raise AssertionError(f"row {row}: {reason}")
