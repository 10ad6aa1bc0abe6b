"""Judge the results of a search batch by batch."""

from __future__ import annotations

from fastrank.data.texts import memory_of
from fastrank.errors import ArrayError, EvaluationError
from fastrank.judging.array_qrels import index_qrels
from fastrank.judging.arrays import ArrayRun, RowStore
from fastrank.judging.judged import Judged, JudgedRun, QueryError, room_for_judged
from fastrank.judging.memory import judge_texts
from fastrank.judging.needs import needs_ties
from fastrank.judging.queries import evaluates_missing, repeated
from fastrank.native import records
from fastrank.native.buffers import zeros
from fastrank.searching.row_ids import RowIds
from fastrank.searching.runs import run_of

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

    Array = npt.NDArray[Any]

# Numbers of judged documents that are not in the corpus start here, above all row numbers.
NOT_IN_CORPUS = 1 << 62


class BatchJudge:
    """Judges rankings of corpus rows by judgments of document ids.

    In trec_eval's order of ties each batch is judged at once, by row; else all results are kept,
    and judged as a run. corpus, queries: the ids of the vectors. places: for each query its index
    in the judgments or -1; None if the queries are not known in advance. tag: the name of the run.
    """

    def __init__(
        self, qrels: Qrels, measures: list[BoundMeasure], options: Options, *, corpus: RowIds,
        queries: RowIds, tag: bytes,
    ) -> None:  # fmt: skip
        self._measures, self._options, self._tag = measures, options, tag
        self._queries = _SearchedQueries(qrels, queries)
        self.places = self._queries.places
        self.judgments: Any = qrels
        self._rows: RowStore | None = None
        if options.ties == "docno_desc" and not needs_ties(measures):
            self.judgments = _by_row(qrels, corpus, measures[0].measure.name if measures else "")
            self._rows = RowStore(self.judgments, measures, options)
        self._pieces: list[JudgedRun] = []
        self._found: list[Found] = []

    def judge(self, batches: Iterable[Found]) -> JudgedRun:
        """Judge all batches, in addition to those already added. Raises EvaluationError."""
        for found in batches:
            self.add(found)
        if self._rows is not None:
            return self._joined(self._rows)
        run = run_of(self._found, self._tag)
        judged: JudgedRun = judge_texts(self.judgments, self._measures, self._options, run).changed(
            unjudged_queries=self._queries.unjudged_queries(), counts=self._queries.counts
        )
        return judged

    def add(self, found: Found) -> None:
        """Judge or keep the results of a batch for judged queries."""
        judged, places = self._queries.judged(found)
        if self._rows is not None:
            self._judge(self._rows, found.rows, places, judged)
        else:
            self._found.append(_selected(found, judged, in_order=self._options.ties == "given"))

    def _judge(self, store: RowStore, ids: Array, order: Array, rows: Array) -> None:
        if not len(order):
            return
        run = ArrayRun(
            ids=ids, scores=None, queries=order, rows=rows, lower_is_better=False, unique=True
        )
        piece = store.judge_rows(run)
        assert piece.judged is not None
        self._pieces.append(piece.changed(judged=_copied(piece.judged)))

    def _joined(self, store: RowStore) -> JudgedRun:
        """Everything judged, with queries in byte order of their ids. Raises EvaluationError."""
        import numpy

        count = len(self.judgments)
        if evaluates_missing(self._options):
            rest = numpy.ones(count, bool)
            for piece in self._pieces:
                rest[piece.queries] = False
            missing = numpy.flatnonzero(rest)
            nothing = numpy.empty((0, 1), numpy.int64)
            self._judge(store, nothing, missing, numpy.full(len(missing), -1))
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
        none = room_for_judged(self.judgments, zeros("q", 0), 0, store.options)
        judged = [piece.judged for piece in self._pieces if piece.judged is not None]
        return JudgedRun(
            queries=queries.tolist(),
            judged=_in_order(Judged.joined([none, *judged]), order),
            missing=count - len(queries) + len(placeholders),
            placeholders=placeholders,
            counts=self._queries.counts,
            tag=self._tag,
            unjudged_queries=self._queries.unjudged_queries(),
        )


class _SearchedQueries:
    """The queries of a search, batch by batch.

    places: for each query its index in the judgments or -1; None if the queries are not known in
    advance.
    """

    def __init__(self, qrels: Qrels, queries: RowIds) -> None:
        self._queries, self._known = queries, RowIds(qrels.queries, len(qrels))
        self._skipped: list[bytes] = []
        self._excluded = self._ties_at_cutoff = 0
        self.places: Array | None = None
        if queries.count is not None:
            import numpy

            self.places = self._places_of(numpy.arange(queries.count))

    def _places_of(self, rows: Array) -> Array:
        return self._known.rows_of(self._queries.take(rows))

    def judged(self, found: Found) -> tuple[Array, Array]:
        """The judged queries of a batch: their indexes in it and in the judgments. Counts them."""
        import numpy

        if self.places is not None:
            places = self.places[found.queries]
        else:
            places = self._places_of(found.queries)
            self._skipped += self._queries.take(found.queries[places < 0])
        judged = numpy.flatnonzero(places >= 0)
        self._excluded += int(found.excluded[judged].sum())
        self._ties_at_cutoff += int(found.ties_at_cutoff[judged].sum())
        return judged, places[judged]

    @property
    def counts(self) -> dict[str, int]:
        """The counts of all batches, for `Scores.counts`."""
        return {"excluded": self._excluded, "ties_at_cutoff": self._ties_at_cutoff}

    def unjudged_queries(self) -> list[bytes]:
        """The ids of the queries without judgments, after all batches."""
        import numpy

        if self.places is None:
            return self._skipped
        return list(self._queries.take(numpy.flatnonzero(self.places < 0)))


def _selected(found: Found, judged: Array, *, in_order: bool) -> Found:
    """Some rankings of a batch; in_order: equal scores are in the order of the corpus."""
    import numpy

    rows, scores = found.rows[judged], found.scores[judged]
    if in_order:
        order = numpy.lexsort([rows, -scores], axis=1)
        rows, scores = (numpy.take_along_axis(table, order, axis=1) for table in (rows, scores))
    chosen: Found = found.changed(
        queries=found.queries[judged], rows=rows, scores=scores,
        ties_at_cutoff=found.ties_at_cutoff[judged], excluded=found.excluded[judged],
    )  # fmt: skip
    return chosen


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
