"""Judge the results of a search batch by batch, and join them."""

from __future__ import annotations

from fastrank.data.texts import memory_of
from fastrank.errors import ArrayError, EvaluationError
from fastrank.judging.array_qrels import index_qrels
from fastrank.judging.arrays import ArrayJudge, ArrayRun, first_name
from fastrank.judging.judged import Judged, JudgedRun, QueryError
from fastrank.judging.needs import judging_options
from fastrank.judging.problems import repeated
from fastrank.judging.queries import evaluates_missing
from fastrank.judging.scratch import room_for_judged
from fastrank.judging.searched_queries import SearchedQueries
from fastrank.native import records
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    import numpy.typing as npt

    from fastrank.data.qrels import Qrels
    from fastrank.judging.array_qrels import ArrayQrels
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure
    from fastrank.searching import Found
    from fastrank.searching.row_ids import RowIds

    Array = npt.NDArray[Any]

# Numbers of judged documents that are not in the corpus start here, above all row numbers.
NOT_IN_CORPUS = 1 << 62


class BatchJudge:
    """Judges rankings of corpus rows by judgments of document ids.

    corpus, queries: the ids of the vectors. places: for each query its index in the judgments or
    -1; None if the queries are not known in advance. tag: the name of the run.
    """

    def __init__(
        self, qrels: Qrels, measures: list[BoundMeasure], options: Options, *, corpus: RowIds,
        queries: RowIds, tag: bytes,
    ) -> None:  # fmt: skip
        self._options, self._tag = options, tag
        self._queries = SearchedQueries(qrels, queries)
        self.places = self._queries.places
        self.judgments = _by_row(qrels, corpus, first_name(measures))
        self._judging = judging_options(measures, options, self.judgments)
        self._rows = ArrayJudge(self.judgments, measures, options)
        self._pieces: list[JudgedRun] = []

    def judge(self, batches: Iterable[Found]) -> JudgedRun:
        """Judge all batches, in addition to those already added. Raises EvaluationError."""
        for found in batches:
            self.add(found)
        return self._joined()

    def add(self, found: Found) -> None:
        """Judge the results of a batch."""
        judged, places = self._queries.judged(found)
        self._judge(found.rows, places, judged)

    def _judge(self, ids: Array, order: Array, rows: Array) -> None:
        if not len(order):
            return
        run = ArrayRun(
            ids=ids, scores=None, queries=order, rows=rows, lower_is_better=False, unique=True
        )
        piece = self._rows.judge(run)
        assert piece.judged is not None
        self._pieces.append(piece.changed(judged=_copied(piece.judged)))

    def _joined(self) -> JudgedRun:
        """Everything judged, with queries in byte order of their ids. Raises EvaluationError."""
        import numpy

        count = len(self.judgments)
        if evaluates_missing(self._options):
            rest = numpy.ones(count, bool)
            for piece in self._pieces:
                rest[piece.queries] = False
            missing = numpy.flatnonzero(rest)
            self._judge(numpy.empty((0, 1), numpy.int64), missing, numpy.full(len(missing), -1))
        places = numpy.concatenate(
            [numpy.empty(0, numpy.int64), *(piece.queries for piece in self._pieces)]
        ).astype(numpy.int64)
        marks = [numpy.zeros(len(piece.queries), bool) for piece in self._pieces]
        for mark, piece in zip(marks, self._pieces, strict=True):
            mark[piece.placeholders] = True
        marked = numpy.concatenate([numpy.empty(0, bool), *marks])
        position = numpy.empty(count, numpy.int64)
        position[self.judgments.order] = numpy.arange(count)
        order = numpy.argsort(position[places])
        queries = places[order]
        placeholders = numpy.flatnonzero(marked[order]).tolist()
        return JudgedRun(
            queries=queries.tolist(),
            judged=self._in_order(order),
            missing=count - len(queries) + len(placeholders),
            placeholders=placeholders,
            counts=self._queries.counts,
            tag=self._tag,
            unjudged_queries=self._queries.unjudged_queries(),
        )

    def _in_order(self, order: Array) -> Judged:
        """The rankings of all pieces, in an order."""
        none = room_for_judged(self.judgments, zeros("q", 0), 0, self._judging)
        pieces = [piece.judged for piece in self._pieces if piece.judged is not None]
        return _in_order(Judged.joined([none, *pieces]), order)


def _by_row(qrels: Qrels, corpus: RowIds, measure: str) -> ArrayQrels:
    """The judgments with rows of the corpus as document ids; `measure` is for errors."""
    import numpy

    rows = corpus.rows_of(qrels.docs)
    strange = numpy.flatnonzero(rows < 0)
    if len(strange):
        texts = [qrels.docs[row] for row in strange.tolist()]
        numbers = {text: NOT_IN_CORPUS + i for i, text in enumerate(dict.fromkeys(texts))}
        rows[strange] = [numbers[text] for text in texts]
    offsets = numpy.asarray(qrels.offset_column)
    try:
        return index_qrels((offsets, rows, qrels.grades), queries=list(qrels.queries))
    except ArrayError as error:
        if error.row is None:
            raise
        raise _as_evaluation_error(error, qrels, rows, measure) from None


def _as_evaluation_error(
    error: ArrayError, qrels: Qrels, rows: Array, measure: str
) -> EvaluationError | ArrayError:
    """The error about a query's judgments, with the document's id instead of its row."""
    assert error.row is not None
    query = qrels.queries[error.row]
    first, stop = qrels.offset_column[error.row], qrels.offset_column[error.row + 1]
    firsts: dict[int, int] = {}
    for at in range(first, stop):
        other = firsts.setdefault(int(rows[at]), at)
        if other != at:
            return QueryError(error.row, repeated(qrels, other, at)).error(measure, query)
    return error


def _copied(judged: Judged) -> Judged:
    """Copy it without unused memory."""
    import numpy

    *columns, level, size = judged.columns
    copies = (numpy.array(column) for column in columns)
    return Judged(columns=records.Rankings(*copies, level, size))


def _in_order(judged: Judged, order: Array) -> Judged:
    """The rankings in another order."""
    import numpy

    columns = [numpy.asarray(column) for column in judged.columns[:9]]

    def gathered(offsets: Array, *taken: Array) -> list[Any]:
        sizes = numpy.diff(offsets)[order]
        own = numpy.concatenate([numpy.zeros(1, numpy.int64), numpy.cumsum(sizes)])
        places = numpy.arange(own[-1]) + numpy.repeat(offsets[:-1][order] - own[:-1], sizes)
        return [memory_of(own), *(memory_of(column[places]) for column in taken)]

    return Judged(
        columns=records.Rankings(
            *gathered(*columns[:3]), *gathered(*columns[3:6]),
            *(memory_of(column[order]) for column in columns[6:]), *judged.columns[9:],
        )
    )  # fmt: skip
