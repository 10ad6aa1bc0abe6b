"""Runs held as dicts, judged as they are: no loop over documents, no copy of their ids.

What cannot be done so makes the run be converted: the judging of runs in memory knows all cases.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, chain, pairwise, repeat

from fastrank.data.grade_scale import Graded
from fastrank.data.texts import decoded
from fastrank.judging.dict_index import DictIndex
from fastrank.judging.dict_ranks import Rankings, are_texts, encoded
from fastrank.judging.judged import JudgedRun
from fastrank.judging.needs import judging_options
from fastrank.judging.placeholders import PLACEHOLDER
from fastrank.judging.queries import evaluates_missing, judged_order
from fastrank.judging.scratch import room_for_judged
from fastrank.native import kernels, records
from fastrank.native.buffers import zeros
from fastrank.native.objects import addresses
from fastrank.native.records.dicts import StoredGrades

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.judging.judged import Judged
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure


class DictJudge:
    """Judges runs {query: {document: score}}, for measures and options that need only rankings.

    in_byte_order: judge the queries in the order of their ids, not of the run. May be called from
    several threads.
    """

    def __init__(
        self,
        qrels: Qrels | Graded,
        measures: list[BoundMeasure],
        options: Options,
        *,
        in_byte_order: bool = True,
        index: DictIndex | None = None,
    ) -> None:
        self.judgments = self._qrels = qrels
        self._options = judging_options(measures, options, qrels)
        self._with_placeholders = evaluates_missing(options)
        self._in_byte_order = in_byte_order or self._with_placeholders
        self._places = self._options.codes()
        self._order = judged_order(qrels, options)
        self._ids = list(map(decoded, qrels.queries.take(self._order)))
        self._numbers = {query: number for number, query in enumerate(self._ids)}
        self._index = index or _index_of(qrels)
        self._judgments: Judgments | None = None

    def judge(self, run: Mapping[Any, Any]) -> JudgedRun | None:
        """Judge a run; None for one that has to be in memory as a Run. Raises InputError.

        A query with an empty dict has a ranking without documents.
        """
        if self._options.list_unjudged or not are_texts(run):
            return None
        found: dict[int | None, Any] = dict(
            zip(map(self._numbers.get, run), run.values(), strict=True)
        )
        unjudged_queries = []
        if None in found:
            del found[None]
            unjudged_queries = [query for query in run if query not in self._numbers]
        missing = len(self._ids) - len(found)
        placeholders: list[int] = []
        if self._with_placeholders:
            placeholders = [number for number in range(len(self._ids)) if number not in found]
            found.update(zip(placeholders, repeat({decoded(PLACEHOLDER): 1.0})))
        queries: list[Any] = sorted(found) if self._in_byte_order else list(found)
        places = array("q", map(self._order.__getitem__, queries))
        judged = None
        if self._index is not None:
            results = list(map(found.__getitem__, queries))
            judged = self._index.judge(results, places, self._qrels, self._options, self._places)
        if judged is None:
            judged = self._look_up(queries, places, found)
        if judged is None:
            return None
        return JudgedRun(
            queries=places, judged=judged, missing=missing, placeholders=placeholders, tag=b"",
            unjudged_queries=encoded(unjudged_queries, "a query"),
        )  # fmt: skip

    def _look_up(self, queries: list[Any], places: Any, found: dict[Any, Any]) -> Judged | None:
        """Judge runs that hold other scores than floats, or are of other types than dict."""
        if isinstance(self._qrels, Graded):
            return None
        if self._judgments is None:
            self._judgments = Judgments(self._qrels, self._order, self._ids)
        judgments = self._judgments
        if judgments.repeat:
            return None
        rankings = Rankings(queries, found, judgments, self._places)
        if not rankings.have_texts:
            return None
        rankings.rank()
        judged = room_for_judged(self._qrels, places, rankings.hit_offsets[-1], self._options)
        most = max(judgments.counts, default=0)
        done = kernels.list_found(
            rankings.columns,
            StoredGrades(starts=judgments.starts, grades=judgments.grades),
            self._places,
            records.Hits(ranks=zeros("q", most), rows=zeros("q", most)),
            zeros("q", most),
            judged.columns,
        )
        return judged if done == len(queries) else None


def _index_of(qrels: Qrels | Graded) -> DictIndex | None:
    """An index of judgments; None where a document is twice in a query, or that cannot be done."""
    if isinstance(qrels, Graded):
        return None
    ids = list(map(decoded, qrels.docs.take(range(len(qrels.docs)))))
    grades = qrels.grade_column.tolist()
    dicts = [
        dict(zip(ids[first:stop], grades[first:stop], strict=True))
        for first, stop in pairwise(qrels.offset_column)
    ]
    return DictIndex.of(dicts) if sum(map(len, dicts)) == len(ids) else None


class Judgments:
    """The judgments of some queries, which are numbered in this order, as Python's objects.

    The documents of query i are docs[i], in the order of their grades, which have to be counted in
    that order; their grades, and their addresses for kernels, stand from starts[i] on.
    """

    def __init__(self, qrels: Qrels, order: Any, ids: list[str]) -> None:
        self.ids = ids
        self.docs: list[tuple[str, ...]] = []
        grades: list[int] = []
        for query in order:
            rows = sorted(
                range(qrels.offset_column[query], qrels.offset_column[query + 1]),
                key=qrels.grade_column.__getitem__,
            )
            self.docs.append(tuple(map(decoded, qrels.docs.take(rows))))
            grades += [qrels.grade_column[row] for row in rows]
        self.counts = list(map(len, self.docs))
        self.starts = array("q", accumulate(self.counts, initial=0))
        self.grades = array("q", grades)
        self.doc_addresses = addresses(chain.from_iterable(self.docs))
        self.repeat = any(len(set(docs)) < len(docs) for docs in self.docs)
