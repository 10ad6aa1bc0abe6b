"""The limits of a gate, by measure, and the checks of those that need no statistics."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.arguments import finite
from fastrank.errors import OptionError
from fastrank.gating.checks import BASELINE, NOW, Check, check_floor, check_unjudged
from fastrank.gating.settings import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.gating.baseline import Baseline

    # {measure: number}; None is the key for the other measures.
    Limits = float | Mapping[Any, float]
    """One number for all measures, or one for each."""

MAX_DROP = 0.02


def drop_limits(given: Limits, measures: list[str]) -> dict[str, float]:
    """{measure: allowed drop} for all measures. Raises OptionError."""
    option = "max_drop"
    if not isinstance(given, Mapping):
        given = {None: given}
    made = dict.fromkeys(measures, _not_negative(option, given.get(None, MAX_DROP)))
    for asked, limit in given.items():
        if asked is not None:
            made[_found(option, asked, measures)] = _not_negative(option, limit)
    return made


def _found(option: str, asked: str, measures: list[str]) -> str:
    """The measure of the baseline that is meant. Raises OptionError."""
    known = {canonical(own): own for own in measures}
    found = known.get(canonical(asked))
    if found is None:
        raise OptionError(
            option, f"{asked!r} is not in the baseline, which has {', '.join(measures)}"
        )
    return found


def _not_negative(option: str, value: Any) -> float:
    number = finite(option, value)
    if number < 0.0:
        raise OptionError(option, f"expected 0 or more, found {value}")
    return number


def check_floors(comparison: Comparison, given: Mapping[str, float]) -> list[Check]:
    """A check for each smallest mean. Raises OptionError."""
    made = []
    for asked, least in given.items():
        measure = _found("min", asked, comparison.measures)
        if comparison.better(measure) == "lower":
            raise OptionError("min", f"{measure!r}: lower values are better, so it has no minimum")
        mean = comparison.mean[measure]
        made.append(check_floor(measure, mean[BASELINE], mean[NOW], finite("min", least)))
    return made


def check_share(saved: Baseline, current: Baseline, most: float) -> Check:
    """The check of the share of unjudged documents. Raises OptionError."""
    if _not_negative("max_unjudged", most) > 1.0:
        raise OptionError("max_unjudged", f"expected a share from 0 to 1, found {most}")
    before, now = (_share_unjudged(own.counts) for own in (saved, current))
    if now is None:
        raise OptionError("max_unjudged", "the number of unjudged documents is not known")
    return check_unjudged(before, now, most)


def _share_unjudged(counts: dict[str, int]) -> float | None:
    if "unjudged" not in counts or not counts.get("retrieved"):
        return None
    return counts["unjudged"] / counts["retrieved"]
