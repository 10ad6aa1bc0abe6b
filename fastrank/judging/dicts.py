"""Runs held as dicts, judged as they are: no loop over documents, no copy of their ids.

What cannot be done so makes the run be converted: the judging of runs in memory knows all cases.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, chain, repeat

from fastrank.data.texts import byte_order, decoded
from fastrank.judging.dict_ranks import Rankings, are_texts, encoded
from fastrank.judging.judged import PLACEHOLDER, JudgedRun, room_for_judged
from fastrank.native import kernels, records
from fastrank.native.buffers import filled, zeros
from fastrank.native.objects import addresses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.judging.judged import JudgingOptions


class DictJudge:
    """Judges runs of the form {query: {document: score}} by the same judgments and options.

    only: the one query to evaluate. with_absent: judged queries without results are evaluated too,
    with a placeholder document. stop_if_none_judged: leave to others, as trec_eval refuses it, a
    run whose first query has negative grades only. in_byte_order: judge the queries in the order
    of their ids, not of the run. May be called from several threads.
    """

    def __init__(
        self,
        qrels: Qrels,
        options: JudgingOptions,
        *,
        only: bytes | None = None,
        with_absent: bool = False,
        stop_if_none_judged: bool = True,
        in_byte_order: bool = True,
    ) -> None:
        self._qrels, self._options, self._with_absent = qrels, options, with_absent
        self._in_byte_order = in_byte_order or with_absent
        self._places = options.places(stop_if_none_judged=stop_if_none_judged)
        order = byte_order(qrels)
        if only is not None:
            order = filled("q", [q for q in order if qrels.queries[q] == only])
        self._judgments = Judgments(qrels, order)

    def judge(self, run: Mapping[Any, Any]) -> JudgedRun | None:
        """Judge a run; None if it has to be converted. Raises InputError.

        A query with an empty dict has a ranking without documents.
        """
        judgments = self._judgments
        if judgments.repeat or self._options.list_unjudged or not are_texts(run):
            return None
        found: dict[int | None, Any] = dict(
            zip(map(judgments.numbers.get, run), run.values(), strict=True)
        )
        unknown = []
        if None in found:
            del found[None]
            unknown = [query for query in run if query not in judgments.numbers]
        missing = len(judgments.ids) - len(found)
        absent: list[int] = []
        if self._with_absent:
            absent = [number for number in range(len(judgments.ids)) if number not in found]
            placeholder = {decoded(PLACEHOLDER): 1.0}
            found.update(zip(absent, repeat(placeholder)))
        queries: list[Any] = sorted(found) if self._in_byte_order else list(found)
        rankings = Rankings(queries, found, judgments, self._places)
        if not rankings.have_texts:
            return None
        rankings.rank()
        places = array("q", map(judgments.order.__getitem__, queries))
        judged = room_for_judged(self._qrels, places, rankings.hit_offsets[-1], self._options)
        most = max(judgments.counts, default=0)
        done = kernels.list_found(
            rankings.columns,
            records.StoredGrades(starts=judgments.starts, grades=judgments.grades),
            self._places,
            records.Hits(ranks=zeros("q", most), rows=zeros("q", most)),
            zeros("q", most),
            judged.columns,
        )
        if done < len(queries):
            return None
        return JudgedRun(
            queries=places, judged=judged, missing=missing, absent=absent, tag=b"",
            unknown=encoded(unknown, "a query"),
        )  # fmt: skip


class Judgments:
    """The judgments of some queries, which are numbered in this order, as Python's objects.

    The documents of query i are docs[i], in the order of their grades, which have to be counted in
    that order; their grades, and their addresses for kernels, stand from starts[i] on.
    """

    def __init__(self, qrels: Qrels, order: Any) -> None:
        self.order = order
        self.ids = list(map(decoded, qrels.queries.take(order)))
        self.numbers = {query: number for number, query in enumerate(self.ids)}
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
