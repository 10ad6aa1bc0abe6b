"""Measures over all orders of tied documents: which have expected values and ranges."""

from __future__ import annotations

from fastrank.common.faces import option
from fastrank.core.measures.families import FAMILIES
from fastrank.core.measures.measure_options import Family
from fastrank.errors import MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.measures.trec import Measure

# Names of the needs of measures that go beyond the grades of their query.
MORE_THAN_GRADES = {
    "annotated": "the judgments of all queries",
    "strata": "judgments with strata",
    "subtopics": "judgments with subtopics",
}


def has_expected_value(bound: BoundMeasure, *, is_cut: bool) -> bool:
    """Whether the expected value of a measure with these options is known.

    is_cut: whether a depth cuts rankings, possibly between tied documents.
    """
    options = bound.options or {}
    # How many judged documents a cut leaves depends on the order.
    if is_cut and options.get("judged_only"):
        return False
    if bound.measure.over_ties == "whole" and "cutoff" in options:
        return False
    return _is_known(bound.measure, is_cut=is_cut)


def _is_known(measure: Measure, *, is_cut: bool) -> bool:
    return measure.over_ties in ("always", "fixed") or bool(measure.over_ties and not is_cut)


def check_expected(bound: list[BoundMeasure], *, is_cut: bool) -> None:
    """Raise MeasureError for a measure without a closed form of its expected value."""
    for bound_measure in bound:
        if not has_expected_value(bound_measure, is_cut=is_cut):
            supported = [
                family.name
                for family in FAMILIES
                if family.kernel and _is_known(family, is_cut=is_cut)
            ]
            where = " with a depth" if is_cut else ""
            name, ties = bound_measure.names[0].decode(), option("ties", "average")
            raise MeasureError(
                bound_measure.measure.name,
                f"{ties}{where} does not support '{name}'; it supports {', '.join(supported)}, and"
                " trec_eval's names of these",
            )


def _no_range(bound: BoundMeasure) -> str:
    """Why the ties "best" and "worst" are not known to bound a measure; "" if they do."""
    asked = bound.names[0].decode()
    if bound.measure.kernel and not bound.measure.monotone:
        # Variants of a measure with options can differ in this.
        name = bound.measure.name if bound.options is None else asked
        return (
            f"'{name}': it is not known whether moving a higher grade up can lower it, nor then its"
            " range over the orders of tied documents"
        )
    if bound.pairs:
        return (
            f"'{asked}': the range over the orders of tied documents is known only if each grade is"
            " its own gain"
        )
    return ""


def check_range(bound: list[BoundMeasure]) -> None:
    """Raise MeasureError for a measure that the ties "best" and "worst" do not bound."""
    for bound_measure in bound:
        if reason := _no_range(bound_measure):
            raise MeasureError(bound_measure.measure.name, f"tie_report does not support {reason}")


def has_range(bound: BoundMeasure) -> bool:
    """Whether the ties "best" and "worst" bound a measure."""
    measure = bound.measure
    return bool(measure.kernel) and measure.needs not in MORE_THAN_GRADES and not _no_range(bound)


def is_share_of_judged(bound: BoundMeasure) -> bool:
    """Whether a measure is a share of the judged retrieved documents."""
    options = bound.options or {}
    is_share = isinstance(bound.measure, Family) and bound.measure.share
    return is_share and "cutoff" not in options and options.get("judged_only", False)


def refuse_more_than_grades(bound: list[BoundMeasure], reason: str) -> None:
    """Raise MeasureError for a measure that needs more than the grades of its query."""
    for bound_measure in bound:
        needed = MORE_THAN_GRADES.get(bound_measure.measure.needs)
        if needed is not None:
            name = bound_measure.names[0].decode()
            raise MeasureError(bound_measure.measure.name, f"'{name}' needs {needed}: {reason}")
