"""Documents with equal scores: the orders they can be given, and judging in those that ask grades.

`docno_desc`, `docno_asc` and `given` are a matter of comparing two results, which judging does.
For `best`, `worst` and `average` the judged documents are found first, then what they tie with.
"""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.judging.judged import Judged
from fastrank.judging.matching import MatchedQueries
from fastrank.judging.rankings import judge_rankings
from fastrank.native import kernels
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.needs import JudgingOptions

# Deeper than any ranking: the cut comes after ties are settled.
UNCUT = 2**62


class Tied(Frozen):
    """Rankings in which ties are settled by grade, or not at all.

    With ties="average" listed document i stands at one of the ranks lows[i] + 1 to highs[i], and
    its rank in `judged` has no meaning.
    """

    __slots__ = ("highs", "judged", "lows")

    judged: Judged
    lows: Any
    highs: Any

    def columns(self, judged: Judged) -> tuple[Any, ...]:
        """The columns of the record `Tied` in fastrank/kernels/measures/records.py.

        judged: the same rankings, with another level of relevance perhaps.
        """
        offsets, _, grades, _, _, _, num_ret, num_rel, _, level, _ = judged.columns
        return offsets, self.lows, self.highs, grades, num_ret, num_rel, level

    def gained(self, gains: tuple[Any, ...]) -> tuple[Any, ...]:
        """The columns of the record `TiedGains`, from those of `Gained`."""
        offsets, _, own, ideal_offsets, ideal_gains, ideal_counts, num_ret, _ = gains
        return (
            offsets, self.lows, self.highs, own, ideal_offsets, ideal_gains, ideal_counts, num_ret
        )  # fmt: skip


def judge_ties(qrels: Qrels, run: Run, matched: MatchedQueries, options: JudgingOptions) -> Tied:
    """Judge the matched rankings with ties settled by grade.

    Raises QueryError as `judge_rankings` does.

    A document may not be twice in a ranking, behind the cut either.
    """
    judged = judge_rankings(
        qrels, run, matched, options.changed(max_retrieved=UNCUT, judged_only=False)
    )
    offsets, ranks, codes, *_, num_ret, _, num_rel_ret, level, _ = judged.columns
    listed = offsets[len(offsets) - 1]
    lows, highs = zeros("q", listed), zeros("q", listed)
    widest = kernels.widest(run.offset_column)
    order, scratch = zeros("q", widest), zeros("q", widest)
    kernels.bound_ties(
        run.score_column, run.offset_column, matched.rankings, options.single_precision, offsets,
        ranks, zeros("d", widest), order, scratch, lows, highs,
    )  # fmt: skip
    if options.ties == "average":
        if options.judged_only:
            kernels.drop_unjudged(offsets, codes, lows, highs, num_ret)
        for i, count in enumerate(num_ret):
            num_ret[i] = min(count, options.max_retrieved)
    else:
        kernels.order_ties(options.ties == "best", offsets, lows, highs, ranks, codes, order)
        kernels.cut_listing(
            options.max_retrieved, options.judged_only, level, offsets, ranks, codes, num_ret,
            num_rel_ret,
        )  # fmt: skip
    return Tied(judged=judged, lows=lows, highs=highs)
