"""Rankings given as rows of integer ids, for `evaluate_arrays` and searches."""

from __future__ import annotations

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.core.data.columns import Frozen
from fastrank.core.data.texts import NO_ITERATION, as_texts, constant, decoded, memory_of
from fastrank.core.formats.files.chunks import MOST_PARTS
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.run import Run
from fastrank.core.formats.tables.values import selected_integers, texts_of, to_single
from fastrank.core.matching.judged import Judged, JudgedRun, room_for_judged, room_for_ties
from fastrank.core.matching.texts import match_texts
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import Recycled, filled, zeros
from fastrank.core.native.records.objects import IdRows, JudgedRows, RowScratch
from fastrank.core.native.threads import MOST_THREADS, default_threads, in_threads
from fastrank.errors import ArrayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, NoReturn

    from fastrank.common.arrays import Array
    from fastrank.core.data.texts import Texts
    from fastrank.core.formats.qrels import Graded
    from fastrank.core.matching.plan import Plan
    from fastrank.core.native.record import Int64Array
    from fastrank.errors import FastrankError

# Items converted at a time if kernels cannot use the arrays directly: one or two megabytes.
BLOCK_ITEMS = 1 << 17
# The number of documents below which starting a thread does not pay off: about half a millisecond.
WORTH_A_THREAD = 1 << 18
PADDING = -1
# Places in the table of a row's ids, at least and at most; and how many stay in the first cache.
PLACES, MOST_PLACES, NEAR_PLACES = 1 << 11, 1 << 17, 1 << 13
# Columns that the kernels look at together.
BLOCK = 64
SOURCE = "<arrays>"
# The bits of the smallest normal 32-bit float: those above it are neighbours that differ as scores.
SMALLEST_NORMAL = 1 << 23
# Memory for each thread that is started by default.
_MEMORY = tuple(Recycled() for _ in range(MOST_THREADS))


class ArrayRun(Frozen):
    """Rankings as rows of arrays, and which of them to judge.

    ids: integers[n, k] of documents, -1 for none. scores: numbers[n, k], None if each row is a
    ranking, best first. queries: int64[m], the indexes in the judgments of the queries to evaluate,
    in this order. rows: int64[m], the row of each, or -1. lower_is_better: scores are distances.
    unique: no row has a duplicate document. unknown: the ids of the rows without judgments, None if
    they are not known. in_order: each row is a ranking, best first, and scores only tell ties.
    """

    ids: Array
    scores: Array | None
    queries: Array
    rows: Array
    lower_is_better: bool
    unique: bool
    unknown: list[bytes] | None = None
    in_order: bool = False


class RepeatedIdError(ArrayError):
    """A document stands in a row twice, which need not matter: see match_rows."""


def match_rows(plan: Plan, run: ArrayRun, threads: int | None = None) -> JudgedRun:
    """Judge rows of arrays by judgments of documents with integer ids.

    As texts, the ids are the decimal numbers. threads: the maximum number of threads, by default as
    many as are useful. Raises ArrayError and EvaluationError. A document twice in a row is an error
    only where a Run of the same rows has one: not behind the depth, and not where no measure needs
    the ranking.
    """
    if plan.streams:
        try:
            return judge_rows(plan, run, threads)
        except RepeatedIdError as error:
            if not plan.options.is_cut and plan.requires.needs_rankings:
                raise ArrayError(*error.args) from None
    import numpy

    order, rows = run.queries, run.rows
    looked = numpy.flatnonzero(rows >= 0)
    queries = plan.judgments.queries.take(order[looked].tolist())
    checked = _CheckedRows(queries, rows[looked], run)
    texts = checked.as_run()
    rankings = numpy.full(len(order), -1, numpy.int64)
    rankings[looked] = numpy.arange(len(texts))
    matched = records.Matched(
        judgments=memory_of(order.astype(numpy.int64)), rankings=memory_of(rankings)
    )
    judged = match_texts(plan.texts, texts, matched)
    if judged.failure is not None and judged.failure.repeated is not None:
        raise checked.repeated(*judged.failure.repeated)
    judged_run: JudgedRun = judged.changed(unjudged_queries=run.unknown)
    return judged_run


def judge_rows(plan: Plan, run: ArrayRun, threads: int | None = None) -> JudgedRun:
    """Judge rankings; a document twice in a row is always an error, RepeatedIdError."""
    import numpy

    order, rows = run.queries, run.rows
    if threads is None:
        threads = default_threads(len(rows) * run.ids.shape[1], WORTH_A_THREAD)
    count = max(1, min(threads, len(rows), MOST_PARTS))
    cuts = [len(rows) * number // count for number in range(count + 1)]
    stretches: list[Any] = [None] * count
    plan.known(_most_judged)

    def work(number: int) -> None:
        part = slice(cuts[number], cuts[number + 1])
        memory = _MEMORY[number] if number < len(_MEMORY) else None
        stretches[number] = _judge_some(plan, run, order[part], rows[part], memory)

    in_threads(work, count)
    marked = numpy.concatenate([evaluated for evaluated, _ in stretches])
    placeholders = numpy.flatnonzero(marked < 0).tolist()
    return JudgedRun(
        queries=numpy.where(marked < 0, -1 - marked, marked).tolist(),
        judged=Judged.joined([judged for _, judged in stretches]),
        missing=len(order) - len(marked) + len(placeholders),
        placeholders=placeholders,
        unjudged_queries=run.unknown,
        tag=b"arrays",
    )


def _most_judged(plan: Plan) -> int:
    """The largest number of judgments of a query."""
    return int(kernels.widest(plan.judgments.offset_column))


def _judge_some(
    plan: Plan, run: ArrayRun, order: Array, rows: Array, memory: Recycled | None
) -> tuple[Array, Judged]:
    """Judge some rows: the queries evaluated, as -1 - query where missing, and the rankings."""
    import numpy

    qrels, options, width = plan.judgments, plan.judging, run.ids.shape[1]
    single = options.trec_eval_version == DEFAULT_VERSION or (
        run.scores is None or (run.scores.dtype.kind == "f" and run.scores.dtype.itemsize <= 4)
    )
    judge_rows = kernels.judge_single_arrays if single else kernels.judge_double_arrays
    listed = kernels.count_picked(qrels.offset_column, order)
    if options.list_unjudged:
        listed = len(order) * max(1, width)
    judged = room_for_judged(qrels, order, listed, options, memory)
    ties = room_for_ties(len(order), listed)
    evaluated, problem = zeros("q", len(order)), zeros("q", 4)
    ranking_options, scratch = options.codes(), _scratch(width, plan.known(_most_judged))
    own_scores = zeros("f" if single else "d", width)
    done = 0
    for first, stop, own_rows, ids, scores in _blocks(run, rows, single=single):
        done = judge_rows(
            IdRows(
                ids=ids,
                width=width,
                in_order=run.in_order or run.scores is None,
                ascending=run.lower_is_better,
                unique=run.unique,
                with_absent=plan.options.evaluates_missing,
            ),
            scores,
            own_scores,
            records.Matched(judgments=order[first:stop], rankings=own_rows),
            qrels.columns,
            ranking_options,
            scratch,
            JudgedRows(evaluated, done, judged.columns, ties, problem),
        )
        if problem[0] != codes.FINE:
            i = first + problem[1]
            row = int(rows[i])
            raise _row_error(problem, row, run.ids[row], qrels.queries[int(order[i])])
    return numpy.asarray(evaluated)[:done], judged.changed(ties=ties).first(done)


def _scratch(width: int, most_judged: int) -> RowScratch:
    """Memory for judging one row at a time."""
    # Eight slots per id, so that few ids share one, if the table stays in the cache; else four.
    near, far = (kernels.table_size(count * width) for count in (4, 2))
    slots = min(max(PLACES, near if near <= NEAR_PLACES else far), MOST_PLACES)
    links = zeros("i", (width // BLOCK + 1) * BLOCK)
    return RowScratch(
        row_index=records.RowIndex(table=zeros("i", slots), links=links, clock=filled("q", [1])),
        marks=zeros("q", most_judged),
        ids=zeros("q", width),
        rows=zeros("q", width + BLOCK),
        work=zeros("q", codes.SORT_COLUMNS * width + codes.SORT_BYTES),
    )


def _blocks(
    run: ArrayRun, rows: Array, *, single: bool
) -> Iterator[tuple[int, int, Array, Array, Array]]:
    """Stretches of rows as the kernel takes them: first, stop, row numbers, ids, scores.

    single: whether scores have 32 bits.
    """
    import numpy

    ids, scores = run.ids, run.scores
    item = numpy.float32 if single else numpy.float64
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
        present = picked[picked >= 0]
        numbers = numpy.where(picked >= 0, numpy.cumsum(picked >= 0) - 1, -1)
        converted = none
        if scores is not None:
            wide = (
                scores[present].astype(numpy.float64)
                if scores.dtype.kind in "iu"
                else scores[present]
            )
            converted = to_single(wide) if single else numpy.ascontiguousarray(wide, numpy.float64)
        yield (
            first,
            first + len(picked),
            numbers,
            selected_integers("ids", ids, present).reshape(-1),
            converted.reshape(-1),
        )


def _row_error(problem: Int64Array, row: int, ids: Array, query: bytes) -> FastrankError:
    """The error of a query; the places of the problem count documents, not padding."""
    import numpy

    kind = problem[0]
    if kind == codes.NEGATIVE_ID:
        return negative_id(query, ids, row, problem[2])
    columns = numpy.flatnonzero(ids != PADDING).tolist()
    column = columns[problem[2]]
    if kind == codes.SCORE_IS_NAN:
        return nan_score(query, ids, row, column)
    return RepeatedIdError(*repeated_id(query, ids, row, (column, columns[problem[3]])).args)


class _CheckedRows:
    """Some rows of the arrays, the documents in them checked but for repeats.

    queries: the id of each. rows: its number in the arrays.
    """

    def __init__(self, queries: list[bytes], rows: Array, run: ArrayRun) -> None:
        import numpy

        self.queries, self.rows = queries, rows
        self.ids = selected_integers("ids", run.ids, rows)
        self._refuse(self.ids < PADDING, negative_id)
        self.present = self.ids != PADDING
        if run.scores is None:
            self.scores = numpy.broadcast_to(_descending(run.ids.shape[1]), self.ids.shape)
            return
        scores = run.scores[rows].astype(numpy.float64)
        self._refuse(numpy.isnan(scores) & self.present, nan_score)
        self.scores = -scores if run.lower_is_better else scores

    def _refuse(self, wrong: Array, error: Callable[..., ArrayError]) -> None:
        """Raise an error about the first wrong position."""
        import numpy

        if wrong.any():
            i, column = map(int, numpy.unravel_index(int(wrong.argmax()), wrong.shape))
            raise error(self.queries[i], self.ids[i], int(self.rows[i]), column)

    def as_run(self) -> Run:
        """The rows as a run; a row without documents is a query without results."""
        import numpy

        ends = numpy.cumsum(self.present.sum(axis=1))
        return Run(
            queries=as_texts(self.queries),
            docs=_decimal(self.ids[self.present]).placed(None, "result"),
            tag_bytes=b"arrays",
            source=SOURCE,
            offset_column=memory_of(numpy.concatenate([numpy.zeros(1, numpy.int64), ends])),
            score_column=memory_of(self.scores[self.present]),
        )

    def repeated(self, first: int, again: int) -> ArrayError:
        """The error about a document that is two of the results, which are numbered by row."""
        import numpy

        rows, columns = (positions[[first, again]] for positions in numpy.nonzero(self.present))
        i = int(rows[0])
        return repeated_id(self.queries[i], self.ids[i], int(self.rows[i]), columns.tolist())


def negative_id(query: bytes, ids: Array, row: int, column: int) -> ArrayError:
    """The error about a row of ids with one that is not an id."""
    reason = f"expected an id of at least 0, or -1 for none, found {ids[column]}"
    return ArrayError("ids", f"query {decoded(query)!r}: {reason}", row, column)


def nan_score(query: bytes, ids: Array, row: int, column: int) -> ArrayError:
    """The error about a row in which a document has no score."""
    reason = f"document {ids[column]} has the score nan"
    return ArrayError("scores", f"query {decoded(query)!r}: {reason}", row, column)


def repeated_id(query: bytes, ids: Array, row: int, columns: Sequence[int]) -> ArrayError:
    """The error about a row of ids with one at two places."""
    first, again = columns
    reason = f"document {ids[first]} is retrieved twice, in columns {first} and {again}"
    return ArrayError("ids", f"query {decoded(query)!r}: {reason}", row, again)


def with_ids(judgments: Graded, ids: Array) -> Qrels:
    """Judgments of the documents with these ids, one for each grade."""
    return Qrels(
        queries=judgments.queries,
        docs=_decimal(ids),
        groups=constant(NO_ITERATION, len(ids)),
        source=SOURCE,
        offset_column=judgments.offset_column,
        grade_column=judgments.grade_column,
        scale=judgments.scale,
    )


def _descending(width: int) -> Array:
    """Descending scores that are distinct even as 32-bit floats."""
    import numpy

    bits = numpy.arange(width, 0, -1, dtype=numpy.int32) + numpy.int32(SMALLEST_NORMAL)
    scores: Array = bits.view(numpy.float32).astype(numpy.float64)
    return scores


def _decimal(ids: Array) -> Texts:
    return texts_of(ids, _no_failure)


def _no_failure(row: int, reason: str) -> NoReturn:
    raise AssertionError(f"row {row}: {reason}")
