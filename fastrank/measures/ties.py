"""What ties mean for measures."""

from __future__ import annotations

from fastrank.errors import MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.measures.binding import BoundMeasure


# By kernel, the kernel of the expected value over the orders of tied documents. Those whose value
# no order changes have their own.
EXPECTED_KERNELS = {
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
MONOTONE_KERNELS = {
    *EXPECTED_KERNELS,
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


def has_expected_value(bound: BoundMeasure) -> bool:
    """Whether the expected value of a measure is known, with the options it was given."""
    if bound.options is not None and bound.options.get("judged_only"):
        return False
    return bound.measure.on != "custom" and (
        not bound.measure.kernel or bound.measure.kernel in EXPECTED_KERNELS
    )


def check_expected(bound: list[BoundMeasure]) -> None:
    """Raise MeasureError at a measure without a closed form of its expected value."""
    for bound_measure in bound:
        if not has_expected_value(bound_measure):
            raise MeasureError(
                bound_measure.measure.name,
                "ties='average': no closed form of the expected value of"
                f" '{bound_measure.names[0].decode()}' over the orders of tied documents is known"
                " here, and none is approximated; it is known for"
                " map, map_cut, P, recall, relative_P, Rprec, recip_rank, RR, success, dcg, ndcg,"
                " ndcg_cut, without a judged_only of their own",
            )


def check_range(bound: list[BoundMeasure]) -> None:
    """Raise MeasureError at a measure that "best" and "worst" need not bound."""
    for bound_measure in bound:
        name = bound_measure.measure.name
        if bound_measure.measure.kernel and bound_measure.measure.kernel not in MONOTONE_KERNELS:
            raise MeasureError(
                name,
                f"the range of '{name}' over the orders of tied documents is not known: a higher"
                " grade that moves up need not raise it",
            )
        if bound_measure.pairs:
            raise MeasureError(
                name,
                f"the range of '{bound_measure.names[0].decode()}' over the orders of tied"
                " documents is known only where grades are their own gains",
            )


def refuse_annotated(bound: list[BoundMeasure], reason: str) -> None:
    """Raise MeasureError at a measure for which rankings have to be judged so."""
    for bound_measure in bound:
        if bound_measure.measure.on == "annotated":
            name = bound_measure.names[0].decode()
            raise MeasureError(
                bound_measure.measure.name,
                f"'{name}' asks for the judgments of all queries: {reason}",
            )
