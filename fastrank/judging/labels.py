"""Judge scores of documents that are all labelled."""

from __future__ import annotations

from fastrank.data.run import Run
from fastrank.data.texts import memory_of
from fastrank.errors import ArrayError
from fastrank.judging.arrays import with_ids
from fastrank.judging.judged import JudgedRun, room_for_judged
from fastrank.judging.memory import TextRun
from fastrank.judging.needs import judging_options, last_rank
from fastrank.judging.queries import MatchedQueries
from fastrank.native import codes, kernels
from fastrank.native.buffers import SIZES, WORTH_KEEPING, Recycled, address, zeros
from fastrank.native.records.objects import LabelScratch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from fastrank.data.qrels import Graded, Qrels
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure

    Array = npt.NDArray[Any]

TAG = b"labels"
CACHE_LINE = 64
# What judging fills is free again when the values are computed.
_MEMORY = Recycled()


class LabelStore:
    """Judges scores of labelled documents, one for each grade of the judgments.

    order: int64[m], the indexes of the queries to evaluate, in this order. rows: int64[m], the row
    numbers of the queries in the user's input, for messages. As texts, the documents have their
    numbers as ids.
    """

    ties = "given"

    def __init__(
        self, graded: Graded, measures: list[BoundMeasure], options: Options, *, order: Array,
        rows: Array,
    ) -> None:  # fmt: skip
        self.judgments, self._order, self._rows = graded, order, rows
        self._how, self._depth = judging_options(measures, options, graded), last_rank(measures)

    def judge(self, scores: Array) -> JudgedRun:
        """Judge float64[documents]. Raises ArrayError for a label too large to count by grade."""
        import numpy

        graded, queries = self.judgments, self._order
        offsets = graded.offset_column
        memory = _MEMORY if len(scores) in WORTH_KEEPING else None
        judged = room_for_judged(graded, queries, len(scores), self._how, memory)
        problem = zeros("q", 1)
        done = kernels.judge_labels(
            graded.grade_column,
            scores,
            offsets,
            queries,
            self._depth,
            self._how.codes(),
            _scratch(kernels.widest(offsets)),
            judged.columns,
            problem,
        )
        if problem[0] != codes.FINE:
            raise ArrayError(
                "labels", "a label is too large to count by grade", int(self._rows[queries[done]])
            )
        return JudgedRun(
            queries=memory_of(queries.astype(numpy.int64)),
            judged=judged,
            missing=0,
            unjudged_queries=[],
            tag=TAG,
        )

    def judgments_as_texts(self) -> Qrels:
        """The judgments with the numbers of documents as ids."""
        import numpy

        return with_ids(self.judgments, numpy.arange(len(self.judgments.grade_column)))

    def as_texts(self, scores: Array) -> TextRun:
        """The scores with the numbers of documents as ids. Raises ArrayError, as `judge` does."""
        import numpy

        self.judge(scores)
        qrels = self.judgments_as_texts()
        run = Run(
            queries=qrels.queries, docs=qrels.docs, tag_bytes=TAG, source=qrels.source,
            offset_column=qrels.offset_column, score_column=scores,
        )  # fmt: skip
        places = memory_of(self._order.astype(numpy.int64))
        matched = MatchedQueries(judgments=places, rankings=places)
        return TextRun(run=run, matched=matched, unknown=[])


def _scratch(deepest: int) -> LabelScratch:
    """Memory for queries of at most `deepest` documents.

    It is one piece, from the start of a cache line: what is read over two pages, or while something
    is written as far into another page, takes half as long again.
    """
    sizes = {"above": ("i", 256), "singles": ("f", 256), "keys": ("d", deepest + 8)}
    sizes |= dict.fromkeys(("words", "order", "other_words", "other_order"), ("q", deepest))
    sizes["places"] = ("q", 256 * 8)
    whole = zeros("B", CACHE_LINE + sum(SIZES[code] * count for code, count in sizes.values()))
    at = -address(whole) % CACHE_LINE
    made = {}
    for name, (code, count) in sizes.items():
        made[name] = whole[at : at + SIZES[code] * count].cast(code)
        at += SIZES[code] * count
    return LabelScratch(**made)
