"""Which measures have an expected value over the orders of tied documents, and which a range."""

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
    "average_precision_of_possible": "expected_average_precision_of_possible",
    "r_precision": "expected_r_precision",
    "r_precision_multiple": "expected_r_precision_multiple",
    "reciprocal_rank": "expected_recip_rank",
    "reciprocal_rank_cut": "expected_recip_rank",
    "precision_cut": "expected_precision_cut",
    "precision_of_retrieved": "expected_precision_of_retrieved",
    "recall_cut": "expected_recall_cut",
    "relative_precision_cut": "expected_relative_precision_cut",
    "success_cut": "expected_success_cut",
    "f1_cut": "expected_f1_cut",
    "discounted_gain": "expected_discounted_gain",
    "discounted_gain_cut": "expected_discounted_gain_cut",
    "normalized_discounted_gain": "expected_normalized_discounted_gain",
    "normalized_discounted_gain_cut": "expected_normalized_discounted_gain_cut",
    "rank_biased_precision": "expected_rank_biased_precision",
    "rank_biased_precision_cut": "expected_rank_biased_precision_cut",
    "rank_biased_precision_binary": "expected_rank_biased_precision_binary",
    "unjudged_cut": "expected_unjudged_cut",
    "judged_share": "expected_judged_share",
    "unjudged_share": "expected_unjudged_share",
    "hole_share": "expected_unjudged_cut",
    "num_rel_ret": "expected_num_rel_ret",
    "num_nonrel_judged_ret": "expected_num_nonrel_judged_ret",
    "utility": "expected_utility",
    "set_precision": "expected_set_precision",
    "set_relative_precision": "expected_set_relative_precision",
    "set_recall": "expected_set_recall",
    "set_f": "expected_set_f",
    "normalized_gain_at_levels": "expected_normalized_gain_at_levels",
}
# The same where no depth cuts the rankings, so that it is known which documents are retrieved.
EXPECTED_UNCUT_KERNELS = {
    "set_average_precision": "set_average_precision",
    "binary_g": "expected_binary_g",
    "percentile_rank": "expected_percentile_rank",
    "first_rank": "expected_first_rank",
    "reciprocal_hit_rank": "expected_reciprocal_hit_rank",
    "rank_biased_residual": "expected_rank_biased_residual",
    "binary_preference": "expected_binary_preference",
    "average_precision_of_found": "expected_average_precision_of_found",
    "hit_share": "expected_hit_share",
    "pair_accuracy": "expected_pair_accuracy",
    "expected_pair_accuracy": "expected_pair_accuracy",
    "grouped_area_under_curve": "grouped_area_under_curve",
    "normalized_discounted_gain_of_retrieved": "expected_normalized_discounted_gain_of_retrieved",
}
# Those of them that a cutoff of the measure makes unknown, too.
UNCUT_WITHOUT_CUTOFF = {"average_precision_of_found", "pair_accuracy", "reciprocal_hit_rank"}
# By what measures need that is more than the grades of their query, what this is called.
MORE_THAN_GRADES = {
    "annotated": "the judgments of all queries", "strata": "judgments with strata",
    "subtopics": "judgments with subtopics",
}  # fmt: skip
# Shares of the retrieved documents. Where a depth cuts rankings and unjudged documents leave them
# after that, a judged document that is not relevant lowers them wherever it stands.
SHARE_KERNELS = {
    "set_precision", "set_relative_precision", "set_average_precision", "set_f", "f1_cut",
}  # fmt: skip
# Kernels whose value cannot fall when a document changes places with one of a lower grade before
# it, so that no order is worse than "worst" or better than "best". Missing are those of which this
# is not so (G, infAP, relstring) or not proved (ndcg_rel, Rndcg, rbp, rbp_resid, unj, utility).
MONOTONE_KERNELS = {
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "expected_pair_accuracy",
    "grouped_area_under_curve",
    "average_precision",
    "average_precision_cut",
    "log_average_precision",
    "log_odds_average_precision",
    "binary_preference",
    "log_binary_preference",
    "binary_g",
    "interpolated_precision",
    "average_interpolated_precision",
    "r_precision",
    "r_precision_multiple",
    "reciprocal_rank",
    "reciprocal_rank_cut",
    "precision_cut",
    "recall_cut",
    "relative_precision_cut",
    "success_cut",
    "f1_cut",
    "discounted_gain",
    "discounted_gain_cut",
    "expected_reciprocal_rank",
    "ideal_discounted_gain",
    "normalized_discounted_gain",
    "normalized_discounted_gain_cut",
    "normalized_cumulated_gain",
    "scaled_discounted_gain",
    "insq",
    "rank_biased_precision_binary",
    "rank_biased_precision_cut",
    "set_precision",
    "set_relative_precision",
    "set_recall",
    "set_average_precision",
    "set_f",
}


def expected_kernel(kernel: str) -> str:
    """The kernel of the expected value of what another kernel computes."""
    return EXPECTED_KERNELS.get(kernel) or EXPECTED_UNCUT_KERNELS[kernel]


def has_expected_value(bound: BoundMeasure, *, is_cut: bool) -> bool:
    """Whether the expected value of a measure with these options is known.

    is_cut: whether a depth cuts rankings, possibly between tied documents.
    """
    kernel, options = bound.measure.kernel, bound.options or {}
    # How many judged documents a cut leaves depends on the order.
    if bound.measure.needs == "custom" or (is_cut and options.get("judged_only")):
        return False
    # How many are found up to a cutoff depends on the order.
    if kernel in UNCUT_WITHOUT_CUTOFF and "cutoff" in options:
        return False
    # The median over queries of expected values is not the expected median.
    if bound.measure.average == "median":
        return False
    if kernel == "percentile_rank" and options.get("unretrieved") == "worst":
        return True
    return not kernel or _is_known(kernel, is_cut=is_cut)


def _is_known(kernel: str, *, is_cut: bool) -> bool:
    return kernel in EXPECTED_KERNELS or (not is_cut and kernel in EXPECTED_UNCUT_KERNELS)


def check_expected(bound: list[BoundMeasure], *, is_cut: bool) -> None:
    """Raise MeasureError for a measure without a closed form of its expected value."""
    for bound_measure in bound:
        if not has_expected_value(bound_measure, is_cut=is_cut):
            from fastrank.measures.families import FAMILIES

            supported = [
                family.name
                for family in FAMILIES
                if family.average != "median" and _is_known(family.kernel, is_cut=is_cut)
            ]
            where = " with a depth" if is_cut else ""
            raise MeasureError(
                bound_measure.measure.name,
                f"ties='average'{where} does not support '{bound_measure.names[0].decode()}'; it"
                f" supports {', '.join(supported)}, and trec_eval's names of these",
            )


def check_range(bound: list[BoundMeasure]) -> None:
    """Raise MeasureError for a measure that the ties "best" and "worst" do not bound."""
    for bound_measure in bound:
        name = bound_measure.measure.name
        if bound_measure.measure.kernel and bound_measure.measure.kernel not in MONOTONE_KERNELS:
            raise MeasureError(
                name,
                f"tie_report does not support '{name}': moving a higher grade up need not raise it,"
                " so its range over the orders of tied documents is unknown",
            )
        if bound_measure.pairs:
            raise MeasureError(
                name,
                f"tie_report does not support '{bound_measure.names[0].decode()}': the range over"
                " the orders of tied documents is known only if each grade is its own gain",
            )


def has_range(bound: BoundMeasure) -> bool:
    """Whether the ties "best" and "worst" bound a measure."""
    if not bound.measure.kernel or bound.measure.needs in MORE_THAN_GRADES:
        return False
    try:
        check_range([bound])
    except MeasureError:
        return False
    return True


def is_share_of_judged(bound: BoundMeasure) -> bool:
    """Whether a measure is a share of the judged retrieved documents."""
    options = bound.options or {}
    is_share = bound.measure.kernel in SHARE_KERNELS and "cutoff" not in options
    return is_share and options.get("judged_only", False)


def refuse_more_than_grades(bound: list[BoundMeasure], reason: str) -> None:
    """Raise MeasureError for a measure that needs more than the grades of its query."""
    for bound_measure in bound:
        needed = MORE_THAN_GRADES.get(bound_measure.measure.needs)
        if needed is not None:
            name = bound_measure.names[0].decode()
            raise MeasureError(bound_measure.measure.name, f"'{name}' needs {needed}: {reason}")
