"""Rankings that are dicts, judged together by one kernel."""

from __future__ import annotations

from array import array
from contextlib import suppress

from fastrank.judging.judged import Judged
from fastrank.judging.scratch import room_for_ties
from fastrank.native import kernels, records
from fastrank.native.buffers import zeros
from fastrank.native.objects import addresses, are_small, interpreter
from fastrank.native.records.dicts import DictRun, DictScratch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.judging.dict_index import DictIndex
    from fastrank.judging.needs import JudgingOptions


class DictBatch:
    """Memory for `count` rankings of at most `deepest` documents, and for what judging makes of it.

    codes: the options as kernels take them. repeats: the memory is used for more than one batch;
    without it there is room for the first one's documents only. prepared: for the caller, what
    computes values of the rankings that are in the memory; it must not refer to the batch.
    """

    def __init__(
        self, index: DictIndex, options: JudgingOptions, codes: Any, count: int, deepest: int,
        *, repeats: bool = False,
    ) -> None:  # fmt: skip
        if repeats:
            # Of the next rankings some may be deeper.
            deepest = 1 << deepest.bit_length()
        self.count, self.repeats, self._deepest = count, repeats, deepest
        self.prepared: Any = None
        listed = min(len(index.columns.grades), count * min(deepest, index.most_judged))
        grades = min(len(index.columns.grades), count * index.most_grades)
        rankings = records.Rankings(
            offsets=zeros("q", count + 1), ranks=zeros("q", listed), grades=zeros("q", listed),
            grade_offsets=zeros("q", count + 1), grade_values=zeros("q", grades),
            grade_counts=zeros("q", grades), num_ret=zeros("q", count),
            num_rel=zeros("q", count), num_rel_ret=zeros("q", count),
            level=options.relevance_level, collection_size=options.collection_size,
        )  # fmt: skip
        ties = room_for_ties(count, listed)
        self.judged = Judged(columns=rankings, ties=ties)
        self._run = DictRun(
            dicts=zeros("q", count), lengths=zeros("q", count), queries=zeros("q", count),
            check_keys=zeros("q", 1),
        )  # fmt: skip
        arguments = (
            interpreter.api(), self._run, index.columns, codes,
            _scratch(deepest), records.RankingsAndTies(rankings=rankings, ties=ties),
        )  # fmt: skip
        if repeats:
            self._judge = kernels.prepare("judge_dicts", *arguments)
        else:
            self._judge = lambda: kernels.judge_dicts(*arguments)

    def has_room(self, count: int, deepest: int) -> bool:
        """Whether the memory serves for these rankings too."""
        return self.repeats and count == self.count and deepest <= self._deepest

    def judge(self, run: list[dict[str, Any]], lengths: list[int], places: list[int]) -> bool:
        """Judge as many rankings as there is room for, of queries at these places of the index.

        lengths: how many documents they have. False if one has ids that are not str or not UTF-8,
        or scores that are not floats, integers or floats of NumPy.
        """
        given = self._run
        given.dicts[:], given.lengths[:] = addresses(run), array("q", lengths)
        given.queries[:] = array("q", places)
        given.check_keys[0] = not are_small(run, lengths)
        return bool(self._judge() == self.count)


class Batches:
    """Batches of rankings, one after the other, which use the same memory where they can."""

    def __init__(self, index: DictIndex, options: JudgingOptions) -> None:
        self._index, self._options, self._codes = index, options, options.codes()
        # At most one; empty while it is in use.
        self._kept: list[DictBatch] = []
        self._last_count = -1

    def take(self, count: int, deepest: int) -> DictBatch:
        """The batch for a number of rankings, with at most `deepest` documents each."""
        # Memory is prepared for more batches when there is a second one.
        repeats, self._last_count = count == self._last_count, count
        with suppress(IndexError):
            kept = self._kept.pop()
            if kept.has_room(count, deepest):
                return kept
        return DictBatch(self._index, self._options, self._codes, count, deepest, repeats=repeats)

    def release(self, batch: DictBatch | None) -> None:
        """Let the next batch have the memory of one that was taken."""
        if batch is not None and batch.repeats:
            self._kept = [batch]


def plain(run: list[Any]) -> list[dict[Any, float]] | None:
    """Rankings as dicts of floats, whatever kind of mapping and number they were; None if one has
    a score that is not a number."""
    copies = []
    for documents in run:
        # Listed first: the code that makes floats of numbers may change the dicts.
        ids, scores = list(documents), list(documents.values())
        if any(map(_is_no_number, set(map(type, scores)))):
            return None
        try:
            copies.append(dict(zip(ids, map(float, scores))))  # noqa: B905
        except (OverflowError, TypeError, ValueError):
            return None
    return copies


def _is_no_number(kind: type) -> bool:
    return issubclass(kind, (str, bytes)) or not hasattr(kind, "__float__")


def _scratch(results: int) -> DictScratch:
    """Memory for a ranking with a number of results."""
    return DictScratch(
        docs=zeros("q", results),
        texts=zeros("q", results),
        lengths=zeros("q", results),
        scores=zeros("d", results),
        hits=records.Hits(ranks=zeros("q", results), rows=zeros("q", results)),
        sorted_hits=records.Hits(ranks=zeros("q", results), rows=zeros("q", results)),
        places=zeros("q", results),
        positions=zeros("q", results),
        order=zeros("q", results),
        merge=zeros("q", results),
    )
