"""Runs held as dicts, judged as they are: no loop over documents, no copy of their ids.

What cannot be done so makes the run be converted: the judging of runs in memory knows all cases.
"""

from __future__ import annotations

from itertools import pairwise, repeat

from fastrank.data.texts import decoded
from fastrank.judging.dict_batch import Batches, DictBatch, plain
from fastrank.judging.dict_index import DictIndex, DictJudgments
from fastrank.judging.judged import JudgedRun
from fastrank.judging.needs import judging_options
from fastrank.judging.placeholders import PLACEHOLDER
from fastrank.judging.queries import evaluates_missing, judged_order
from fastrank.native.buffers import filled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure


class DictJudge:
    """Judges runs {query: {document: score}}, for measures and options that need only rankings.

    The queries are judged in the byte order of their ids. May be called from several threads.
    """

    def __init__(
        self, judgments: Qrels | DictJudgments, measures: list[BoundMeasure], options: Options
    ) -> None:
        self.judgments = judgments
        self._options = judging_options(measures, options, judgments)
        self._with_placeholders = evaluates_missing(options)
        self._order = judged_order(judgments, options)
        ids = map(decoded, judgments.queries.take(self._order))
        self._numbers = {query: number for number, query in enumerate(ids)}
        index = index_of(judgments)
        self.batches = None if index is None else Batches(index, self._options)

    def judge(self, run: Mapping[Any, Any]) -> JudgedRun | None:
        """Judge a run; None for one that has to be in memory as a Run.

        A query with an empty dict has a ranking without documents. `batches` may get the batch of
        the judged run back.
        """
        if self.batches is None or self._options.list_unjudged or not are_texts(run):
            return None
        found: dict[int | None, Any] = dict(
            zip(map(self._numbers.get, run), run.values(), strict=True)
        )
        unjudged_queries: list[bytes] = []
        if None in found:
            del found[None]
            unknown = [query for query in run if query not in self._numbers]
            # A look at each of them would take half as long as judging does.
            if hasattr(next(iter(run[unknown[-1]].values()), None), "items"):
                return None
            try:
                unjudged_queries = [query.encode("utf-8", "surrogateescape") for query in unknown]
            except UnicodeEncodeError:
                return None
        missing = len(self._numbers) - len(found)
        placeholders: list[int] = []
        if self._with_placeholders:
            placeholders = [n for n in range(len(self._numbers)) if n not in found]
            found.update(zip(placeholders, repeat({decoded(PLACEHOLDER): 1.0})))
        queries: list[Any] = sorted(found)
        places = list(map(self._order.__getitem__, queries))
        results = list(map(found.__getitem__, queries))
        batch = judge_batch(results, places, self.batches.take)
        if batch is None:
            return None
        return JudgedRun(
            queries=filled("q", places), judged=batch.judged, batch=batch, missing=missing,
            placeholders=placeholders, tag=b"", unjudged_queries=unjudged_queries,
        )  # fmt: skip


def judge_batch(
    run: list[Any], places: list[int], batch_of: Callable[[int, int], DictBatch]
) -> DictBatch | None:
    """Judge the rankings of queries at some places of an index; None if that cannot be done.

    batch_of: returns the batch for a number of rankings, and of documents at most in each.
    """
    given: list[Any] | None = run if set(map(type, run)) <= {dict} else plain(run)
    while given is not None:
        lengths = list(map(len, given))
        batch = batch_of(len(given), max(lengths, default=0))
        if batch.judge(given, lengths, places):
            return batch
        # Numbers of other types become floats, once.
        given = plain(run) if given is run else None
    return None


def are_texts(ids: Any) -> bool:
    """Whether all ids are of type str or of a kind of it."""
    return all(issubclass(kind, str) for kind in set(map(type, ids)))


def index_of(qrels: Qrels | DictJudgments) -> DictIndex | None:
    """An index of judgments; None where a document is twice in a query, or that cannot be done."""
    if isinstance(qrels, DictJudgments):
        return qrels.index
    ids = list(map(decoded, qrels.docs.take(range(len(qrels.docs)))))
    grades = qrels.grade_column.tolist()
    dicts = [
        dict(zip(ids[first:stop], grades[first:stop], strict=True))
        for first, stop in pairwise(qrels.offset_column)
    ]
    return DictIndex.of(dicts) if sum(map(len, dicts)) == len(ids) else None
