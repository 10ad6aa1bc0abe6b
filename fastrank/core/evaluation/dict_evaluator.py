"""Values per query of runs that are dicts, for the interfaces of other libraries."""

from __future__ import annotations

from fastrank.core.evaluation.values import computed
from fastrank.core.formats.tables.dicts import documents_of
from fastrank.core.formats.tables.to_run import run_from_dict
from fastrank.core.matching.dicts import are_texts, judge_dicts
from fastrank.core.matching.judged import JudgedRun, QueryError
from fastrank.core.matching.rankings import judge_rankings
from fastrank.core.native.buffers import filled
from fastrank.core.native.records import Matched
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from fastrank.core.evaluation.values import Values
    from fastrank.core.matching.dicts import DictBatch
    from fastrank.core.matching.judged import Judged
    from fastrank.core.matching.plan import Plan


WRONG_IDS = "Unable to extract query/object scores: expected ids of type str"


class DictEvaluator:
    """Computes measures for runs {query: {document: score}}, one after the other.

    Unlike `fastrank.Evaluator` it has no error for a run without judged queries, or for a query
    whose grades are all negative. queries: the ids of the judged queries in their order. arrange:
    is called with the values of a run, and computes them; it must not refer to who holds the
    evaluator, whose memory then waits for the garbage collector. May be called from several
    threads.
    """

    def __init__(
        self, plan: Plan, queries: Iterable[str], arrange: Callable[[Values], object]
    ) -> None:
        self.plan, self._arrange = plan, arrange
        self._numbers = {query: i for i, query in enumerate(queries)}

    def compute(self, run: Mapping[str, object]) -> tuple[Mapping[str, Any], Any, DictBatch | None]:
        """Compute the measures for the judged queries of a run. Raises InputError.

        Returns these queries, what `arrange` has made of the values, and what holds the memory of
        both where it is reused for another run once nothing refers to it.
        """
        if not are_texts(run):
            raise InputError("run", WRONG_IDS)
        judged_run = run
        numbers: list[Any] = list(map(self._numbers.get, run))
        if None in numbers:
            judged_run = {query: docs for query, docs in run.items() if query in self._numbers}
            numbers = list(map(self._numbers.__getitem__, judged_run))
        rankings = list(judged_run.values())
        if not set(map(type, rankings)) <= {dict}:
            rankings = [documents_of("run", *item) for item in judged_run.items()]
        judged, batch = judge_dicts(self.plan, rankings, numbers)
        if batch is not None and batch.prepared is not None:
            values, columns = batch.prepared
            values.compute_again()
            return judged_run, columns, batch
        if judged is None:
            judged = self._convert(judged_run, numbers)
        result = JudgedRun(queries=numbers, judged=judged, missing=0, tag=b"")
        _, columns = computed(self.plan, result, self._arrange, batch)
        return judged_run, columns, batch

    def _convert(self, judged_run: Mapping[str, Any], numbers: list[int]) -> Judged:
        """Judge rankings that the kernel cannot read."""
        if not all(map(are_texts, judged_run.values())):
            raise InputError("run", WRONG_IDS)
        matched = Matched(
            judgments=filled("q", numbers), rankings=filled("q", list(range(len(numbers))))
        )
        run = run_from_dict(judged_run, source="run")
        try:
            return judge_rankings(self.plan.texts.judgments, run, matched, self.plan.judging)
        except QueryError as failure:
            raise InputError("run", str(failure)) from None
