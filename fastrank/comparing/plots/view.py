"""What a plot shows of a comparison."""

from __future__ import annotations

from typing import NamedTuple

from fastrank.comparing.chosen_pair import default_pair, why_chosen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.comparison import Comparison


class View(NamedTuple):
    """A measure and two systems; a or b is empty if all systems are shown.

    chosen: how the two were chosen, if nobody named them and there are others.
    """

    measure: str
    a: str = ""
    b: str = ""
    chosen: str = ""


class Words(NamedTuple):
    """The title and the description of a plot, and the size of its figure in inches."""

    title: str
    description: str
    inches: tuple[float, float]


def view_of(
    comparison: Comparison, shows: str, measure: str | None, a: str | None, b: str | None
) -> View:
    """What a plot shows: a "pair", all systems with a "baseline", "all", or a
    "family" of measures.

    A single measure is by default the first. Raises OptionError and MeasureError.
    """
    if shows == "family":
        return View(measure or "")
    measure = comparison.measures[0] if measure is None else measure
    comparison.better(measure)
    if shows == "pair":
        shown = default_pair(comparison, measure, a, b)
        why = why_chosen(comparison) if a is None and b is None else ""
        chosen = f"{why[0].upper()}{why[1:]} of {len(comparison)} systems" if why else ""
        return View(measure, *shown, chosen)
    if shows == "baseline":
        baseline = b or next(iter(comparison.baseline), "")
        if baseline:
            comparison.interval_of(measure, baseline)
        return View(measure, "", baseline if len(comparison) > 1 else "")
    return View(measure)
