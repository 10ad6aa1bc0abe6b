"""Judging a run in memory."""

from __future__ import annotations

from fastrank.judging.judged import StoppedError, judging_scratch, room_for_judged, what_is_wrong
from fastrank.judging.queries import Matched
from fastrank.native import codes as at
from fastrank.native import kernels
from fastrank.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.judged import Judged, JudgingOptions


def judge(
    qrels: Qrels, run: Run, matched: Matched, options: JudgingOptions, *, groups: bool = False
) -> Judged:
    """Judge the matched rankings. Raises StoppedError at the first query that cannot be judged.

    A repeated document, in a ranking or in a query's judgments, cannot; nor can, as in
    trec_eval and unless judging by `groups`, a first query that has only negative grades.
    """
    deepest = kernels.widest(run.offset_column)
    listed = kernels.count_picked(run.offset_column, matched.rankings)
    problem = zeros("q", 3)
    judged = room_for_judged(qrels, matched.judgments, listed, options)
    done = kernels.judge_rankings(
        qrels.columns,
        run.columns,
        matched.columns,
        options.places(stop_if_none_judged=not groups),
        judging_scratch(deepest, kernels.widest(qrels.offset_column)),
        judged.columns,
        problem,
    )
    if problem[0] != at.FINE:
        raise StoppedError(done, what_is_wrong(problem, qrels, run))
    return judged


def judge_groups(
    split: Qrels, group_offsets: Any, run: Run, matched: Matched, options: JudgingOptions
) -> tuple[Judged, Any]:
    """Judge each ranking once per judgment group; the groups of query i are offsets[i : i + 2]."""
    judgments: list[int] = []
    rankings: list[int] = []
    offsets = [0]
    for query, ranking in zip(matched.judgments, matched.rankings, strict=True):
        own = range(group_offsets[query], group_offsets[query + 1])
        judgments += own
        rankings += [ranking] * len(own)
        offsets.append(len(judgments))
    units = Matched(judgments=filled("q", judgments), rankings=filled("q", rankings))
    try:
        return judge(split, run, units, options, groups=True), filled("q", offsets)
    except StoppedError as stop:
        place = sum(first <= stop.place for first in offsets) - 1
        raise StoppedError(place, str(stop)) from None
