"""Judge scores of documents that are all labelled."""

from __future__ import annotations

from fastrank.data.run import Run
from fastrank.data.texts import memory_of
from fastrank.errors import ArrayError
from fastrank.judging.judged import JudgedRun
from fastrank.judging.needs import judging_options
from fastrank.judging.scratch import ranking_scratch, room_for_judged
from fastrank.native import codes, kernels
from fastrank.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from fastrank.data.grade_scale import Graded
    from fastrank.data.qrels import Qrels
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure

    Array = npt.NDArray[Any]

TAG = b"labels"


class LabelJudge:
    """Judges scores of labelled documents, one for each grade of the judgments.

    order: int64[m], the indexes of the queries to evaluate, in this order. rows: int64[m], the row
    numbers of the queries in the user's input, for messages. If ties are ordered by grade, the
    documents get their numbers as ids and are judged as a run in memory.
    """

    def __init__(
        self, graded: Graded, measures: list[BoundMeasure], options: Options, *, order: Array,
        rows: Array,
    ) -> None:  # fmt: skip
        self._graded, self._order, self._rows = graded, order, rows
        self._measures, self._options = measures, options
        self.judgments: Graded | Qrels = graded
        if options.ties != "given":
            import numpy

            from fastrank.judging.arrays_as_texts import with_ids

            self.judgments = with_ids(graded, numpy.arange(len(graded.grade_column)))

    def judge(self, scores: Array) -> JudgedRun:
        """Judge float64[documents]. Raises ArrayError for a label too large to count by grade."""
        judged = self._in_given_order(scores)
        return judged if self._options.ties == "given" else self._by_grade(scores)

    def _in_given_order(self, scores: Array) -> JudgedRun:
        graded, queries = self._graded, self._order
        offsets = graded.offset_column
        deepest = kernels.widest(offsets)
        options = judging_options(self._measures, self._options, graded)
        judged = room_for_judged(graded, queries, len(scores), options)
        problem = zeros("q", 1)
        done = kernels.judge_labels(
            graded.grade_column,
            scores,
            offsets,
            queries,
            options.codes(),
            ranking_scratch(deepest),
            judged.columns,
            problem,
        )
        if problem[0] != codes.FINE:
            raise ArrayError(
                "labels", "a label is too large to count by grade", int(self._rows[queries[done]])
            )
        return JudgedRun(
            queries=filled("q", queries.tolist()),
            judged=judged,
            missing=0,
            unjudged_queries=[],
            tag=TAG,
        )

    def _by_grade(self, scores: Array) -> JudgedRun:
        import numpy

        from fastrank.judging.matching import MatchedQueries
        from fastrank.judging.memory import MemoryJudge

        qrels: Any = self.judgments
        run = Run(
            queries=qrels.queries, docs=qrels.docs, tag_bytes=TAG, source=qrels.source,
            offset_column=qrels.offset_column, score_column=scores,
        )  # fmt: skip
        places = memory_of(self._order.astype(numpy.int64))
        matched = MatchedQueries(judgments=places, rankings=places)
        judged = MemoryJudge(qrels, self._measures, self._options).judge(run, matched)
        made: JudgedRun = judged.changed(unjudged_queries=[])
        return made
