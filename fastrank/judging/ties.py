"""Documents with equal scores: the orders they can be given, and judging in those that ask grades.

`docno_desc`, `docno_asc` and `given` are a matter of comparing two results, which judging does.
For `best`, `worst` and `average` the judged documents are found first, then what they tie with.
"""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.errors import MeasureError
from fastrank.judging.judged import Judged, JudgingOptions, Matched, judge
from fastrank.native import kernels
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.columns import Qrels, Run
    from fastrank.measures.selection import BoundMeasure

# Deeper than any ranking: the cut comes after ties are settled.
UNCUT = 2**62

# By kernel, the kernel of the expected value over the orders of tied documents. Those whose value
# no order changes have their own.
EXPECTED = {
    "num_ret": "num_ret",
    "num_rel": "num_rel",
    "ideal_discounted_gain": "ideal_discounted_gain",
    "average_precision": "expected_average_precision",
    "average_precision_cut": "expected_average_precision_cut",
    "r_precision": "expected_r_precision",
    "reciprocal_rank": "expected_recip_rank",
    "reciprocal_rank_cut": "expected_recip_rank",
    "precision_cut": "expected_precision_cut",
    "recall_cut": "expected_recall_cut",
    "relative_precision_cut": "expected_relative_precision_cut",
    "success_cut": "expected_success_cut",
    "discounted_gain": "expected_discounted_gain",
    "normalized_discounted_gain": "expected_normalized_discounted_gain",
    "normalized_discounted_gain_cut": "expected_normalized_discounted_gain_cut",
}

# Kernels whose value cannot fall when a document changes places with one of a lower grade before
# it, so that no order is worse than "worst" or better than "best". Missing are those of which this
# is not so (G, infAP, relstring) or not proved (ndcg_rel, Rndcg, rbp, rbp_resid, unj, utility).
MONOTONE = {
    *EXPECTED,
    "num_rel_ret",
    "log_average_precision",
    "log_odds_average_precision",
    "binary_preference",
    "log_binary_preference",
    "binary_g",
    "interpolated_precision",
    "average_interpolated_precision",
    "r_precision_multiple",
    "set_precision",
    "set_relative_precision",
    "set_recall",
    "set_average_precision",
    "set_f",
}


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


def expects(own: BoundMeasure) -> bool:
    """Whether the expected value of a measure is known, with the options it was given."""
    if own.options is not None and own.options.get("judged_only"):
        return False
    return own.measure.on != "own" and (not own.measure.kernel or own.measure.kernel in EXPECTED)


def check_expected(bound: list[BoundMeasure]) -> None:
    """Raise MeasureError at a measure without a closed form of its expected value."""
    for own in bound:
        if not expects(own):
            raise MeasureError(
                own.measure.name,
                "ties='average': no closed form of the expected value of"
                f" '{own.names[0].decode()}' over the orders of tied documents is known here, and"
                " none is approximated; it is known for"
                " map, map_cut, P, recall, relative_P, Rprec, recip_rank, RR, success, dcg, ndcg,"
                " ndcg_cut, without a judged_only of their own",
            )


def check_range(bound: list[BoundMeasure]) -> None:
    """Raise MeasureError at a measure that "best" and "worst" need not bound."""
    for own in bound:
        name = own.measure.name
        if own.measure.kernel and own.measure.kernel not in MONOTONE:
            raise MeasureError(
                name,
                f"the range of '{name}' over the orders of tied documents is not known: a higher"
                " grade that moves up need not raise it",
            )
        if own.pairs:
            raise MeasureError(
                name,
                f"the range of '{own.names[0].decode()}' over the orders of tied documents is known"
                " only where grades are their own gains",
            )


def judge_ties(qrels: Qrels, run: Run, matched: Matched, options: JudgingOptions) -> Tied:
    """Judge the matched rankings with ties settled by grade. Raises StoppedError as `judge` does.

    A document may not be twice in a ranking, behind the cut either.
    """
    judged = judge(qrels, run, matched, options.changed(max_retrieved=UNCUT, judged_only=False))
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
