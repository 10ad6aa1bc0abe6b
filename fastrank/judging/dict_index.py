"""Judgments that are dicts, indexed so that runs that are dicts can be judged by a kernel."""

from __future__ import annotations

from array import array
from itertools import accumulate

from fastrank.data.grade_scale import Graded
from fastrank.data.texts import joined
from fastrank.judging.scratch import room_for_judged
from fastrank.native import kernels, records
from fastrank.native.buffers import table_size, zeros
from fastrank.native.objects import addresses, are_small, interpreter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.judging.judged import Judged
    from fastrank.judging.needs import JudgingOptions


class DictIndex:
    """The judged documents of queries, {document: grade} for each.

    `columns` is what kernels see of them. The dicts must not change.
    """

    def __init__(self, dicts: list[dict[str, int]], columns: records.DictQrels) -> None:
        # They keep alive what the columns have the addresses of.
        self._dicts = dicts
        self.columns = columns

    @staticmethod
    def of(dicts: list[Any]) -> DictIndex | None:
        """Index dicts, whose keys are str and whose values are int; None for others."""
        api = interpreter.api()
        if api is None or not set(map(type, dicts)) <= {dict}:
            return None
        lengths = list(map(len, dicts))
        count = sum(lengths)
        tables = array("q", accumulate(map(table_size, lengths), initial=0))
        # One piece of memory: the system gives large ones in large pages, which are there sooner.
        memory = zeros("q", 8 * count + tables[-1])
        docs, grades, values, counts = (memory[i * count : (i + 1) * count] for i in range(4))
        columns = records.DictQrels(
            offsets=array("q", accumulate(lengths, initial=0)),
            docs=docs,
            texts=memory[4 * count : 8 * count],
            grades=grades,
            table_offsets=tables,
            tables=memory[8 * count :],
            grade_offsets=zeros("q", len(dicts) + 1),
            grade_values=values,
            grade_counts=counts,
        )
        try:
            done = kernels.index_dicts(api, addresses(dicts), columns)
        except UnicodeEncodeError:
            return None
        return DictIndex(dicts, columns) if done == len(dicts) else None

    @property
    def largest_grade(self) -> int:
        """The largest grade; 0 where none is."""
        return max(self.columns.grade_values[: self.columns.grade_offsets[-1]], default=0)

    def graded(self, queries: list[str]) -> Graded:
        """The grades as judgments, of queries with these ids."""
        texts = [query.encode("utf-8", "surrogateescape") for query in queries]
        return Graded(
            queries=joined(b"".join(texts), texts),
            offset_column=self.columns.offsets,
            grade_column=self.columns.grades,
        )

    def judge(
        self,
        run: list[dict[str, float]],
        places: Any,
        judgments: Qrels | Graded,
        options: JudgingOptions,
        option_codes: Any,
    ) -> Judged | None:
        """Judge the rankings of some queries; None if that cannot be done so.

        places: those of the queries among the dicts, and in `judgments`. option_codes: the options
        as kernels take them.
        """
        api = interpreter.api()
        if api is None or not set(map(type, run)) <= {dict}:
            return None
        offsets = self.columns.offsets
        lengths = array("q", map(len, run))
        counts = [offsets[place + 1] - offsets[place] for place in places]
        deepest = max(lengths, default=0)
        listed = sum(map(min, lengths, counts))
        judged = room_for_judged(judgments, places, listed, options)
        scratch = _scratch(deepest, max(deepest, max(counts, default=0)))
        given = records.DictRun(
            dicts=addresses(run), lengths=lengths, queries=places,
            check_keys=not are_small(run, lengths.tolist()),
        )  # fmt: skip
        try:
            done = kernels.judge_dicts(
                api, given, self.columns, option_codes, scratch, judged.columns
            )
        except UnicodeEncodeError:
            return None
        return judged if done == len(run) else None


def _scratch(results: int, most: int) -> records.DictScratch:
    """Memory for a ranking of so many results, and for so many results or judgments."""
    return records.DictScratch(
        docs=zeros("q", results),
        texts=zeros("q", results),
        lengths=zeros("q", results),
        scores=zeros("d", results),
        hits=records.Hits(ranks=zeros("q", most), rows=zeros("q", most)),
        sorted_hits=records.Hits(ranks=zeros("q", most), rows=zeros("q", most)),
        places=zeros("q", most),
        positions=zeros("q", results),
        order=zeros("q", most),
        merge=zeros("q", most),
    )
