"""Judges arrays as a run in memory whose ids are texts, for options that kernels of arrays lack.

These are orders of tied documents other than trec_eval's, and documents that leave a ranking.
"""

from __future__ import annotations

from fastrank.data.qrels import Qrels
from fastrank.data.run import Run
from fastrank.data.texts import NO_ITERATION, PlacedTexts, constant, memory_of
from fastrank.formats.array_validation import as_texts, selected_integers
from fastrank.formats.ids import texts_of_array
from fastrank.judging.arrays import PADDING, nan_score, negative_id, repeated_id
from fastrank.judging.filters import without_excluded
from fastrank.judging.matching import MatchedQueries
from fastrank.judging.memory import MemoryJudge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    import numpy.typing as npt

    from fastrank.data.grade_scale import Graded
    from fastrank.data.texts import Texts
    from fastrank.errors import ArrayError
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
        if self._options.duplicates == "error":
            found.refuse_repeats(made, self._options)
        rankings = numpy.full(len(order), -1, numpy.int64)
        rankings[looked[found.sizes > 0]] = numpy.arange(len(made))
        matched = MatchedQueries(
            judgments=memory_of(order.astype(numpy.int64)), rankings=memory_of(rankings)
        )
        judged: JudgedRun = self._judge.judge(made, matched).changed(skipped=run.unknown)
        return judged


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
        """Raise an error about the first place at which something is wrong."""
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

    def refuse_repeats(self, run: Run, options: Options) -> None:
        """Raise ArrayError for a document twice in a row, which is not left out of its ranking."""
        import numpy

        left = self.ids
        kept = without_excluded(run, options.exclude, identical=options.ignore_identical_ids).docs
        if kept is not run.docs:
            assert isinstance(kept, PlacedTexts)
            places = numpy.flatnonzero(self.present)[numpy.asarray(kept.rows)]
            flat = numpy.full(self.ids.size, PADDING, numpy.int64)
            flat[places] = self.ids.reshape(-1)[places]
            left = flat.reshape(self.ids.shape)
        ascending = numpy.sort(left, axis=1)
        twice = (ascending[:, 1:] == ascending[:, :-1]) & (ascending[:, 1:] != PADDING)
        if place := _first(twice):
            i, column = place
            first, again, *_ = numpy.flatnonzero(left[i] == ascending[i, column]).tolist()
            raise repeated_id(self.queries[i], self.ids[i], int(self.rows[i]), (first, again))


def with_ids(judgments: Graded, ids: Array) -> Qrels:
    """Judgments of the documents with these ids, one for each grade."""
    return Qrels(
        queries=judgments.queries, docs=_decimal(ids), groups=constant(NO_ITERATION, len(ids)),
        source=SOURCE, offset_column=judgments.offset_column, grade_column=judgments.grade_column,
        scale=judgments.scale,
    )  # fmt: skip


def _descending(width: int) -> Array:
    """Scores of a ranking, of which no two are equal as 32-bit floats either."""
    import numpy

    bits = numpy.arange(width, 0, -1, dtype=numpy.int32) + numpy.int32(SMALLEST_NORMAL)
    scores: Array = bits.view(numpy.float32).astype(numpy.float64)
    return scores


def _first(wrong: Array) -> tuple[int, int] | None:
    """Row and column of the first place at which something is wrong."""
    import numpy

    if not wrong.any():
        return None
    row, column = numpy.unravel_index(int(wrong.argmax()), wrong.shape)
    return int(row), int(column)


def _decimal(ids: Array) -> Texts:
    return texts_of_array(ids, _no_failure)


def _no_failure(row: int, reason: str) -> NoReturn:
    raise AssertionError(f"row {row}: {reason}")
