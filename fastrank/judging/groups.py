"""Judges rankings by judgment groups: once for each group of a query."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.data.grouping import split_groups
from fastrank.judging.judged import QueryError
from fastrank.judging.matching import Matched
from fastrank.judging.rankings import judge_rankings
from fastrank.native.buffers import filled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.judged import Judged
    from fastrank.judging.needs import JudgingOptions


class JudgedGroups(Frozen):
    """Rankings judged once per judgment group; those of query i are offsets[i] : offsets[i + 1]."""

    __slots__ = ("judged", "offsets")

    judged: Judged
    offsets: Any


def judge_groups(qrels: Qrels, run: Run, matched: Matched, options: JudgingOptions) -> JudgedGroups:
    """Judge each matched ranking by every group of its judgments. Raises QueryError."""
    split, group_offsets = split_groups(qrels)
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
        judged = judge_rankings(split, run, units, options, groups=True)
    except QueryError as stop:
        place = sum(first <= stop.place for first in offsets) - 1
        raise QueryError(place, str(stop)) from None
    return JudgedGroups(judged=judged, offsets=filled("q", offsets))
