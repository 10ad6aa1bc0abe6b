"""Judges arrays as a run in memory whose ids are texts, for options that kernels of arrays lack.

These are orders of tied documents other than trec_eval's, and documents that leave a ranking.
"""

from __future__ import annotations

from fastrank.data.qrels import Qrels
from fastrank.data.run import Run
from fastrank.data.texts import NO_ITERATION, constant, memory_of
from fastrank.errors import ArrayError
from fastrank.formats.array_validation import as_texts, selected_integers
from fastrank.formats.ids import texts_of_array
from fastrank.judging.arrays import (
    PADDING,
    ArrayJudge,
    RepeatedIdError,
    nan_score,
    negative_id,
    repeated_id,
)
from fastrank.judging.matching import MatchedQueries
from fastrank.judging.memory import MemoryJudge
from fastrank.judging.needs import needs_rankings, needs_ties

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    import numpy.typing as npt

    from fastrank.data.grade_scale import Graded
    from fastrank.data.texts import Texts
    from fastrank.judging.array_qrels import ArrayQrels
    from fastrank.judging.arrays import ArrayRun
    from fastrank.judging.judged import JudgedRun
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure

    Array = npt.NDArray[Any]

SOURCE = "<arrays>"
# The bits of the smallest normal 32-bit float: those above it are neighbours that differ as scores.
SMALLEST_NORMAL = 1 << 23


class ArrayTextJudge:
    """Judges rows of arrays as a run in memory, whose ids are the numbers' decimal texts."""

    def __init__(self, qrels: ArrayQrels, measures: list[BoundMeasure], options: Options) -> None:
        self._qrels, self._options = qrels, options
        self.judgments = with_ids(qrels, qrels.columns.docs)
        self._judge = MemoryJudge(self.judgments, measures, options)

    def judge(self, run: ArrayRun) -> JudgedRun:
        """Judge rankings. Raises ArrayError, as `ArrayJudge` does."""
        import numpy

        order, rows = run.queries, run.rows
        looked = numpy.flatnonzero(rows >= 0)
        queries = self._qrels.queries.take(order[looked].tolist())
        found = _Rows(
            queries, rows[looked], run.ids, run.scores, lower_is_better=run.lower_is_better
        )
        made = found.run()
        rankings = numpy.full(len(order), -1, numpy.int64)
        rankings[looked[found.sizes > 0]] = numpy.arange(len(made))
        matched = MatchedQueries(
            judgments=memory_of(order.astype(numpy.int64)), rankings=memory_of(rankings)
        )
        judged = self._judge.judge(made, matched)
        if judged.failure is not None and judged.failure.repeated is not None:
            raise found.repeated(*judged.failure.repeated)
        answer: JudgedRun = judged.changed(unjudged_queries=run.unknown)
        return answer


class ArrayRunJudge:
    """Judges rows of arrays as they are or as texts, whichever the options ask for.

    threads: as in ArrayJudge.
    """

    def __init__(
        self, qrels: ArrayQrels, measures: list[BoundMeasure], options: Options,
        threads: int | None,
    ) -> None:  # fmt: skip
        self.judgments, self._measures, self._options = qrels, measures, options
        self._threads = threads

    def judge(self, run: ArrayRun) -> JudgedRun:
        """Judge rankings. Raises ArrayError and EvaluationError.

        A document twice in a row is an error only where a Run of the same rows has one: not behind
        the depth, and not where no measure needs the ranking.
        """
        given = self.judgments, self._measures, self._options
        if self._options.can_stream and not needs_ties(self._measures):
            try:
                return ArrayJudge(*given, threads=self._threads).judge(run)
            except RepeatedIdError as error:
                if not self._options.is_cut and needs_rankings(self._measures, self._options):
                    raise ArrayError(*error.args) from None
        return ArrayTextJudge(*given).judge(run)


class _Rows:
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
    return texts_of_array(ids, _no_failure)


def _no_failure(row: int, reason: str) -> NoReturn:
    raise AssertionError(f"row {row}: {reason}")
