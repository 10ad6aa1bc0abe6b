"""Judge with the orders of ties that depend on grades: `best`, `worst` and `average`.

The other orders only compare two results, which all judges do. For these, the judged documents are
found first, then the documents that tie with them.
"""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.judging.judged import Judged
from fastrank.judging.matching import MatchedQueries
from fastrank.judging.rankings import judge_rankings
from fastrank.native import kernels, records
from fastrank.native.buffers import zeros
from fastrank.native.records.ties import TiedGainedRankings, TiedRankings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.needs import JudgingOptions

# Deeper than any ranking: the cut comes after ties are settled.
UNCUT = 2**62


class Tied(Frozen):
    """Rankings with ties ordered by grade, or unordered.

    With ties="average", listed document i has one of the ranks lows[i] + 1 to highs[i], and its
    rank in `judged` has no meaning.
    """

    __slots__ = ("highs", "judged", "lows")

    judged: Judged
    lows: Any
    highs: Any

    def columns(self, judged: Judged) -> TiedRankings:
        """The same as kernels take it.

        judged: the same rankings, with another level of relevance perhaps.
        """
        own = judged.columns
        return TiedRankings(
            offsets=own.offsets, lows=self.lows, highs=self.highs, grades=own.grades,
            grade_offsets=own.grade_offsets, grade_values=own.grade_values,
            grade_counts=own.grade_counts,
            num_ret=own.num_ret, num_rel=own.num_rel, level=own.level,
            collection_size=own.collection_size,
        )  # fmt: skip

    def of_judged(self) -> Tied:
        """What the documents tie with if all that are not judged leave the rankings."""
        import numpy

        own = self.judged.columns
        changed = {
            name: numpy.array(getattr(own, name)) for name in ("offsets", "grades", "num_ret")
        }
        rankings = own.changed(**changed)
        bounds = records.TieBounds(lows=numpy.array(self.lows), highs=numpy.array(self.highs))
        kernels.drop_unjudged(rankings, bounds)
        return Tied(judged=Judged(columns=rankings), lows=bounds.lows, highs=bounds.highs)

    def gained(self, gained: records.GainedRankings) -> TiedGainedRankings:
        """The same with gains, as kernels take it."""
        return TiedGainedRankings(
            offsets=gained.offsets, lows=self.lows, highs=self.highs, gains=gained.gains,
            ideal_offsets=gained.ideal_offsets, ideal_gains=gained.ideal_gains,
            ideal_counts=gained.ideal_counts, num_ret=gained.num_ret, num_rel=gained.num_rel,
        )  # fmt: skip


def judge_ties(qrels: Qrels, run: Run, matched: MatchedQueries, options: JudgingOptions) -> Tied:
    """Judge the matched rankings with ties settled by grade.

    Raises QueryError as `judge_rankings` does.

    A document may not be twice in a ranking, behind the cut either.
    """
    uncut = options.changed(max_retrieved=UNCUT, judged_only=False)
    return settle_ties(judge_rankings(qrels, run, matched, uncut), options)


def settle_ties(judged: Judged, options: JudgingOptions) -> Tied:
    """Settle the ties of uncut rankings by grade, in their memory."""
    rankings, ties = judged.columns, judged.ties
    assert ties is not None
    listed = rankings.offsets[len(judged)]
    bounds = records.TieBounds(lows=zeros("q", listed), highs=zeros("q", listed))
    kernels.bound_ties(rankings, ties, bounds)
    if options.ties == "average":
        if options.judged_only:
            kernels.drop_unjudged(rankings, bounds)
        for i, count in enumerate(rankings.num_ret):
            rankings.num_ret[i] = min(count, options.max_retrieved)
    else:
        unjudged_below = options.relevance_level if options.unjudged_between else 0
        kernels.order_ties(
            options.ties == "best", unjudged_below, rankings, bounds, zeros("q", listed)
        )
        kernels.cut_listing(options.max_retrieved, options.judged_only, rankings)
    return Tied(judged=judged, lows=bounds.lows, highs=bounds.highs)
