"""Judge the results of a search in which ties are not ordered by id."""

from __future__ import annotations

from fastrank.judging.memory import MemoryJudge
from fastrank.judging.searched_queries import SearchedQueries
from fastrank.searching.runs import run_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastrank.data.qrels import Qrels
    from fastrank.judging.judged import JudgedRun
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure
    from fastrank.searching import Found
    from fastrank.searching.row_ids import RowIds


class CollectedBatchJudge:
    """Judges the run of all batches in memory, with ties ordered by the options.

    queries: the ids of the vectors. places and tag: as in BatchJudge.
    """

    def __init__(
        self, qrels: Qrels, measures: list[BoundMeasure], options: Options, *, queries: RowIds,
        tag: bytes,
    ) -> None:  # fmt: skip
        self.judgments, self._options, self._tag = qrels, options, tag
        self._judge = MemoryJudge(qrels, measures, options)
        self._queries = SearchedQueries(qrels, queries)
        self.places = self._queries.places
        self._found: list[Found] = []

    def judge(self, batches: Iterable[Found]) -> JudgedRun:
        """Judge all batches, in addition to those already added."""
        for found in batches:
            self.add(found)
        judged = self._judge.judge(run_of(self._found, self._tag))
        made: JudgedRun = judged.changed(
            unjudged_queries=self._queries.unjudged_queries(), counts=self._queries.counts
        )
        return made

    def add(self, found: Found) -> None:
        """Keep the results of a batch for judged queries."""
        import numpy

        judged, _ = self._queries.judged(found)
        rows, scores = found.rows[judged], found.scores[judged]
        if self._options.ties == "given":
            order = numpy.lexsort([rows, -scores], axis=1)
            rows, scores = (numpy.take_along_axis(table, order, axis=1) for table in (rows, scores))
        self._found.append(
            found.changed(
                queries=found.queries[judged], rows=rows, scores=scores,
                ties_at_cutoff=found.ties_at_cutoff[judged], excluded=found.excluded[judged],
            )
        )  # fmt: skip
