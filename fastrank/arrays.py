"""Rankings as arrays of integer ids and scores, such as faiss returns, → Scores."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.array_input import (
    as_rows,
    check_integers,
    check_scores,
    query_ids,
    row_numbers,
    to_int64,
    to_single,
)
from fastrank.array_qrels import ArrayQrels, index_qrels
from fastrank.asked import Asked
from fastrank.columns import Qrels, decoded
from fastrank.errors import ArrayError, EvaluationError, OptionError
from fastrank.judge import Judged, JudgedRun, room_for_judged
from fastrank.kernels import places as at
from fastrank.levels import DEFAULT_COMPAT
from fastrank.native import kernels
from fastrank.native.buffers import table_size, zeros
from fastrank.options import flag, integer
from fastrank.parts import default_threads, in_threads
from fastrank.scoring import evaluate_bound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    import numpy.typing as npt

    from fastrank.errors import FastrankError
    from fastrank.scores import Scores

    Array = npt.NDArray[Any]

# Items converted at a time, where the arrays are not as the kernels take them: a megabyte or two.
BLOCK_ITEMS = 1 << 17
# Documents, below which starting a thread costs more than it gains: about half a millisecond.
WORTH_A_THREAD = 1 << 18
PADDING = -1
# Places of the filter of judged ids: few of the others pass, and it stays in a near cache.
FLAGS, MOST_FLAGS = 1 << 12, 1 << 18


def evaluate_arrays(
    ids: Any,
    scores: Any,
    qrels: Any,
    measures: str | Iterable[str] = "official",
    *,
    queries: Iterable[object] | None = None,
    higher_is_better: bool = True,
    assume_unique: bool = False,
    threads: int | None = None,
    relevance_level: float = 1,
    missing: str | None = None,
    depth: int | None = None,
    complete: bool = False,
    judged_only: bool = False,
    max_retrieved: int | None = None,
    collection_size: int = 0,
    compat: str = DEFAULT_COMPAT,
) -> Scores:
    """Evaluate rankings that are rows of integer document ids, as faiss and others return them.

    ids: integers[queries, k] of any width and memory order, a memory map too; at least 0, or -1
        for no document, wherever it stands.
    scores: float16, float32, float64 or integers[queries, k], or None: then each row is a ranking,
        best first. Scores of -1 ids are not looked at.
    qrels: judgments as `index_qrels` takes them, or what it returned: nothing is indexed again.
    measures: as `evaluate` takes them.
    queries: the id of each row, by which judgments are looked up. Without it row i has the
        judgments of row i, or of the query i if they are keyed by query.
    higher_is_better: False for distances: rows are ranked by the negated scores.
    assume_unique: do not look for documents that stand in a row twice; a judged one is found in any
        case. About half of the time goes into that for rankings of 1,000.
    threads: how many may judge; by default as many as help. The values do not depend on it.
    relevance_level, missing, depth, complete, judged_only, max_retrieved, collection_size, compat:
        as `evaluate` takes them.

    The values are those of trec_eval for the same run and judgments as files: scores compare as
    `compat` says (9.0.8: as 32-bit floats), and of documents with equal scores the one comes first
    whose id as decimal text sorts later (9 before 10). Given `scores=None`, the rows' order counts.
    The queries of the Scores are in the byte order of their ids, as trec_eval adds them up, and
    without ids in the order of the rows. As there, rows without judgments, which are not looked at,
    and rows without documents are left out; the latter count as `missing`.

    Raises ArrayError, which names row and column, for shapes and types other than these, a NaN, a
    repeated document or an id below -1; MeasureError, NoQueriesError and EvaluationError as
    `evaluate` does.

    >>> ids = [[4, 59, 31], [26, 15, -1]]
    >>> distances = [[0.1, 0.3, 0.2], [0.5, 0.7, 0.0]]
    >>> qrels = [{31: 1, 4: 2}, {15: 1}]
    >>> found = fr.evaluate_arrays(ids, distances, qrels, "map P.1", higher_is_better=False)
    >>> found.mean
    {'map': 0.75, 'P_1': 0.5}
    >>> found["map"].tolist()
    [1.0, 0.5]
    """
    asked = Asked(
        measures,
        relevance_level=relevance_level,
        missing=missing,
        depth=depth,
        complete=complete,
        judged_only=judged_only,
        max_retrieved=max_retrieved,
        collection_size=collection_size,
        compat=compat,
    )
    if threads is not None and integer("threads", threads) < 1:
        raise OptionError("threads", f"expected 1 or more, found {threads}")
    docs = check_integers("ids", as_rows("ids", ids, 2))
    keys = None
    if scores is not None:
        keys = check_scores("scores", as_rows("scores", scores, 2))
        if keys.shape != docs.shape:
            raise ArrayError(
                "scores", f"expected the shape of ids {docs.shape}, found {keys.shape}"
            )
    if not isinstance(qrels, ArrayQrels):
        keyed = isinstance(qrels, (Qrels, Mapping))
        qrels = index_qrels(qrels, queries=None if keyed else queries)
        queries = queries if keyed else None
    places = _places_of_rows(qrels, queries, len(docs))
    is_named = qrels.named if queries is None and qrels.rows is not None else queries is not None
    order = qrels.order if is_named else places[places >= 0]
    rows = _rows_of_queries(places, len(qrels))[order]
    judge = _ArrayJudge(docs, keys, qrels, asked)
    judge.lay_out(
        lower_is_better=not flag("higher_is_better", higher_is_better),
        unique=flag("assume_unique", assume_unique),
    )
    return evaluate_bound(qrels, judge.judge(order, rows, threads), asked.bound, asked.options)


def _places_of_rows(qrels: ArrayQrels, queries: Iterable[object] | None, count: int) -> Array:
    """For each row the place of its query in the judgments, or -1."""
    import numpy

    if queries is None and qrels.rows is not None:
        if len(qrels.rows) != count:
            raise ArrayError(
                "ids", f"expected {len(qrels.rows)} rows, one per query of qrels, found {count}"
            )
        rows: Array = qrels.rows
        return rows
    ids = row_numbers(count) if queries is None else query_ids(queries)
    if len(ids) != count:
        raise ArrayError("queries", f"expected {count}, one per row of ids, found {len(ids)}")
    places = {query: place for place, query in enumerate(qrels.queries)}
    if queries is None:
        known = set(ids)
        strange = next((query for query in places if query not in known), None)
        if strange is not None:
            raise ArrayError(
                "queries", "must say which row belongs to which query of qrels:"
                f" {decoded(strange)!r} is not the number of a row",
            )  # fmt: skip
    return numpy.fromiter((places.get(query, -1) for query in ids), numpy.int64, count)


def _rows_of_queries(places: Array, count: int) -> Array:
    """For each query of the judgments its row, or -1."""
    import numpy

    rows = numpy.full(count, -1, numpy.int64)
    judged = numpy.flatnonzero(places >= 0)
    rows[places[judged]] = judged
    return rows


class _ArrayJudge:
    """Judges rows of arrays, several at a time where they must be converted."""

    def __init__(self, ids: Array, scores: Array | None, qrels: ArrayQrels, asked: Asked) -> None:
        self._ids, self._scores, self._qrels, self._asked = ids, scores, qrels, asked
        self._options = asked.judging(qrels)
        self._single = True
        if scores is not None and not self._options.single_precision:
            self._single = scores.dtype.kind == "f" and scores.dtype.itemsize <= 4
        self._layout = zeros("q", at.LAYOUT_SIZE)
        self._layout[at.WIDTH] = ids.shape[1]
        self._layout[at.IN_ORDER] = scores is None
        self._layout[at.WITH_ABSENT] = asked.evaluates_missing

    def lay_out(self, *, lower_is_better: bool, unique: bool) -> None:
        """What the scores mean, and whether no row has a document twice."""
        self._layout[at.ASCENDING_SCORES] = lower_is_better
        self._layout[at.UNIQUE] = unique

    def judge(self, order: Array, rows: Array, threads: int | None = None) -> JudgedRun:
        """Judge the row rows[i], or none (-1), by the judgments of the query order[i], for each."""
        import numpy

        if threads is None:
            threads = default_threads(len(rows) * self._ids.shape[1], WORTH_A_THREAD)
        count = max(1, min(threads, len(rows)))
        cuts = [len(rows) * number // count for number in range(count + 1)]
        stretches: list[Any] = [None] * count

        def work(number: int) -> None:
            own = slice(cuts[number], cuts[number + 1])
            stretches[number] = self._judge(order[own], rows[own], is_first=number == 0)

        in_threads(work, count)
        if count > 1 and not len(stretches[0][0]):
            # The first query evaluated, for which negative grades only are an error, is in another.
            return self.judge(order, rows, threads=1)
        marked = numpy.concatenate([evaluated for evaluated, _ in stretches])
        absent = numpy.flatnonzero(marked < 0).tolist()
        return JudgedRun(
            queries=numpy.where(marked < 0, -1 - marked, marked).tolist(),
            judged=Judged.joined([judged for _, judged in stretches]),
            missing=len(order) - len(marked) + len(absent),
            absent=absent,
            tag=b"arrays",
        )

    def _judge(self, order: Array, rows: Array, *, is_first: bool) -> tuple[Array, Judged]:
        """Judge some rows: the queries evaluated, as -1 - query where absent, and the rankings."""
        import numpy

        judge_rows = kernels.judge_single_arrays if self._single else kernels.judge_double_arrays
        options = self._options
        width = self._ids.shape[1]
        listed = kernels.count_picked(self._qrels.offset_column, order)
        if options.list_unjudged:
            listed = len(order) * max(1, width)
        judged, columns = room_for_judged(self._qrels, order, listed, options)
        evaluated, problem = zeros("q", len(order)), zeros("q", 4)
        places = options.places(stop_if_none_judged=is_first)
        scratch = self._scratch()
        done = 0
        for first, stop, own_rows, ids, scores in self._blocks(rows):
            done = judge_rows(
                ids, scores, own_rows, order[first:stop], done, *self._qrels.columns,
                self._layout, places, *scratch, evaluated, *columns, problem,
            )  # fmt: skip
            if problem[0] != at.FINE:
                i = first + problem[1]
                raise self._error(problem, int(rows[i]), self._qrels.queries[int(order[i])])
        return numpy.asarray(evaluated)[:done], judged.first(done)

    def _scratch(self) -> tuple[Any, ...]:
        """Room for judging one row at a time."""
        width, most = self._ids.shape[1], kernels.widest(self._qrels.offset_column)
        return (
            zeros("B", max(FLAGS, min(MOST_FLAGS, table_size(8 * most)))),
            zeros("q", table_size((width + most) // 8)),
            zeros("q", width),
            zeros("q", most),
            zeros("q", table_size(width)),
            zeros("q", width),
            zeros("f" if self._single else "d", width),
            *(zeros("q", max(1, width)) for _ in range(3)),
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
                self._converted_ids(found),
                none if scores is None else self._converted_scores(scores[found]),
            )  # fmt: skip

    def _converted_ids(self, rows: Array) -> Array:
        try:
            return to_int64("ids", self._ids[rows]).reshape(-1)
        except ArrayError as error:
            row = int(rows[error.row or 0])
            raise ArrayError("ids", error.reason, row, error.column) from None

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
        name = decoded(query)
        if kind == at.NONE_JUDGED:
            reason = "all its judgments are negative, and it is the first one evaluated"
            return EvaluationError(self._asked.first_measure, query, f"query '{name}': {reason}")
        own = self._ids[row]
        if kind == at.NEGATIVE_ID:
            column = problem[2]
            return ArrayError(
                "ids", f"query {name!r}: expected an id of at least 0, or -1 for none, found"
                f" {own[column]}", row, column,
            )  # fmt: skip
        columns = numpy.flatnonzero(own != PADDING).tolist()
        column = columns[problem[2]]
        if kind == at.SCORE_IS_NAN:
            return ArrayError(
                "scores", f"query {name!r}: document {own[column]} has the score nan", row, column
            )
        return ArrayError(
            "ids", f"query {name!r}: document {own[column]} is retrieved twice, in the columns"
            f" {column} and {columns[problem[3]]}", row, columns[problem[3]],
        )  # fmt: skip
