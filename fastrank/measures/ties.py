"""What ties mean for measures."""

from __future__ import annotations

from fastrank.errors import MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.measures.binding import BoundMeasure


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


def refuse_annotated(bound: list[BoundMeasure], reason: str) -> None:
    """Raise MeasureError at a measure for which rankings have to be judged so."""
    for own in bound:
        if own.measure.on == "annotated":
            name = own.names[0].decode()
            raise MeasureError(
                own.measure.name, f"'{name}' asks for the judgments of all queries: {reason}"
            )
