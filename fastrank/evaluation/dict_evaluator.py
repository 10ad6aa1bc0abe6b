"""Values per query of runs that are dicts, for the interfaces of other libraries."""

from __future__ import annotations

from fastrank.errors import InputError
from fastrank.evaluation.values import Values
from fastrank.formats.dicts import documents_of, run_from_dict
from fastrank.judging.dicts import DictBatch, DictRankings, are_texts, with_texts
from fastrank.judging.judged import JudgedRun, QueryError
from fastrank.judging.needs import judging_options
from fastrank.judging.queries import MatchedQueries
from fastrank.judging.rankings import judge_rankings
from fastrank.native.buffers import filled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.judging.dicts import DictJudgments
    from fastrank.judging.judged import Judged
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure


class Computed:
    """The values of measures for the queries of a run that have judgments.

    columns: what `arrange` has made of the values. The memory is the evaluator's again after
    `DictEvaluator.release`.
    """

    def __init__(self, batch: DictBatch | None, queries: Mapping[str, Any], columns: Any) -> None:
        self.batch, self.queries, self.columns = batch, queries, columns


class DictEvaluator:
    """Computes measures for runs {query: {document: score}}, one after the other.

    Unlike `fastrank.Evaluator` it has no error for a run without judged queries, or for a query
    whose grades are all negative. queries: the ids of the judged queries in their order. arrange:
    is called with the measures and the values of a run, and computes them; it must not refer to
    who holds the evaluator, whose memory then waits for the garbage collector. May be called from
    several threads.
    """

    def __init__(
        self,
        judgments: Qrels | DictJudgments,
        queries: Iterable[str],
        measures: list[BoundMeasure],
        options: Options,
        arrange: Callable[[list[BoundMeasure], Values], Any],
    ) -> None:
        self._judgments, self._measures, self._options = judgments, measures, options
        self._arrange = arrange
        self._judging = judging_options(measures, options, judgments)
        self._rankings = DictRankings(judgments, self._judging)
        self._places = {query: place for place, query in enumerate(queries)}

    def compute(self, run: Mapping[str, Any]) -> Computed:
        """Compute the measures for the judged queries of a run. Raises InputError."""
        if not are_texts(run):
            raise _wrong_ids()
        known = run
        places: list[Any] = list(map(self._places.get, run))
        if None in places:
            known = {query: docs for query, docs in run.items() if query in self._places}
            places = list(map(self._places.__getitem__, known))
        return self._compute(known, places)

    def release(self, computed: Computed) -> None:
        """Let the next run have the memory of what was computed."""
        self._rankings.release(computed.batch)

    def _compute(self, known: Mapping[str, Any], places: list[int]) -> Computed:
        rankings = list(known.values())
        if not set(map(type, rankings)) <= {dict}:
            rankings = [documents_of("run", *item) for item in known.items()]
        batch = self._rankings.judge(rankings, places)
        if batch is not None and batch.prepared is not None:
            values, columns = batch.prepared
            values.compute_again()
            return Computed(batch, known, columns)
        judged = self._convert(known, places) if batch is None else batch.judged
        result = JudgedRun(queries=places, judged=judged, missing=0, tag=b"")
        repeats = batch is not None and batch.repeats
        values = Values(self._judgments, self._measures, self._options, result, repeats=repeats)
        columns = self._arrange(self._measures, values)
        if batch is not None and repeats:
            batch.prepared = values, columns
        return Computed(batch, known, columns)

    def _convert(self, known: Mapping[str, Any], places: list[int]) -> Judged:
        """Judge rankings that the kernel cannot read."""
        if not all(map(are_texts, known.values())):
            raise _wrong_ids()
        matched = MatchedQueries(
            judgments=filled("q", places), rankings=filled("q", list(range(len(places))))
        )
        run = run_from_dict(known, source="run")
        qrels = with_texts(self._judgments)
        try:
            return judge_rankings(qrels, run, matched, self._judging)
        except QueryError as failure:
            raise InputError("run", str(failure)) from None


def _wrong_ids() -> InputError:
    reason = "Unable to extract query/object scores: expected ids of type str"
    return InputError("run", reason)
