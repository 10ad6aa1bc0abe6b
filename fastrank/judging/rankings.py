"""Judges rankings of a run in memory by grades: by those of a query, or of its groups."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.data.grouping import split_groups
from fastrank.judging.judged import Judged, QueryError
from fastrank.judging.matching import MatchedQueries
from fastrank.judging.problems import repeated_lines, what_is_wrong
from fastrank.judging.scratch import judging_scratch, room_for_judged, room_for_ties
from fastrank.native import codes, kernels, records
from fastrank.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.needs import JudgingOptions


class JudgedGroups(Frozen):
    """Rankings judged once per judgment group; those of query i are offsets[i] : offsets[i + 1]."""

    __slots__ = ("judged", "offsets")

    judged: Judged
    offsets: Any


def judge_rankings(
    qrels: Qrels, run: Run, matched: MatchedQueries, options: JudgingOptions
) -> Judged:
    """Judge the matched rankings. Raises QueryError at the first query that cannot be judged.

    A repeated document, in a ranking or in a query's judgments, cannot.
    """
    deepest = kernels.widest(run.offset_column)
    listed = kernels.count_picked(run.offset_column, matched.rankings)
    problem = zeros("q", 3)
    rankings = room_for_judged(qrels, matched.judgments, listed, options).columns
    ties = room_for_ties(len(matched), listed)
    done = kernels.judge_rankings(
        qrels.columns,
        run.columns,
        matched.columns,
        options.codes(),
        judging_scratch(deepest, kernels.widest(qrels.offset_column)),
        records.RankingsAndTies(rankings=rankings, ties=ties),
        problem,
    )
    if problem[0] != codes.FINE:
        raise QueryError(
            done, what_is_wrong(problem, qrels, run), repeated=repeated_lines(problem, run),
            source=str(qrels.source) if problem[0] == codes.QRELS_REPEAT else "",
        )  # fmt: skip
    return Judged(columns=rankings, ties=ties)


def judge_groups(
    qrels: Qrels, run: Run, matched: MatchedQueries, options: JudgingOptions
) -> JudgedGroups:
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
    units = MatchedQueries(judgments=filled("q", judgments), rankings=filled("q", rankings))
    try:
        judged = judge_rankings(split, run, units, options)
    except QueryError as stop:
        place = sum(first <= stop.place for first in offsets) - 1
        raise QueryError(place, str(stop)) from None
    return JudgedGroups(judged=judged, offsets=filled("q", offsets))
