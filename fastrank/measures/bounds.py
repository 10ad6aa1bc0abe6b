"""The best possible values of measures."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.measures.binding import BoundMeasure

# Kernels of rankings and gains whose best value is 1 for every query.
BEST_IS_ONE = {
    "average_precision",
    "average_precision_cut",
    "average_precision_of_found",
    "average_precision_of_possible",
    "average_interpolated_precision",
    "binary_g",
    "binary_preference",
    "compatibility",
    "expected_reciprocal_rank",
    "f1_cut",
    "graded_g",
    "inferred_average_precision",
    "interpolated_precision",
    "normalized_cumulated_gain",
    "normalized_discounted_gain",
    "normalized_discounted_gain_cut",
    "normalized_discounted_gain_of_retrieved",
    "normalized_gain_at_levels",
    "normalized_gain_at_relevant",
    "precision_cut",
    "precision_of_retrieved",
    "q_measure",
    "r_precision",
    "r_precision_multiple",
    "rank_biased_precision_binary",
    "recall_cut",
    "reciprocal_hit_rank",
    "reciprocal_rank",
    "reciprocal_rank_cut",
    "relative_precision_cut",
    "set_average_precision",
    "set_f",
    "set_precision",
    "set_recall",
    "set_relative_precision",
    "success_cut",
}


def best_is_one(bound: BoundMeasure) -> bool:
    """Whether 1 is the best value of a measure."""
    return bound.measure.kernel in BEST_IS_ONE and bound.measure.average == "mean"
