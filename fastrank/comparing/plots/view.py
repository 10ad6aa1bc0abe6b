"""What a plot shows of a comparison."""

from __future__ import annotations

from typing import NamedTuple

from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.comparison import Comparison


class View(NamedTuple):
    """A measure and two systems; a or b is empty if all systems are shown."""

    measure: str
    a: str = ""
    b: str = ""


def default_pair(
    comparison: Comparison, measure: str, a: str | None = None, b: str | None = None
) -> tuple[str, str]:
    """Two systems to show: those given, else the best of the others, and the baseline.

    Without a baseline, the best two. Raises OptionError if there are no two systems.
    """
    need_two_systems(comparison)
    ranked = comparison.ranked(measure)
    if b is None:
        others = [name for name in comparison.baseline or ranked if name != a]
        best = ranked[0] if a is None and not comparison.baseline else a
        b = next((name for name in others if name != best), ranked[0])
    if a is None:
        a = next(name for name in ranked if name != b)
    comparison.pair(measure, a, b)
    return a, b


def need_two_systems(comparison: Comparison) -> None:
    """Raise OptionError for a single system, which has no pairs to show."""
    if len(comparison) < 2:
        raise OptionError("kind", "this plot needs two systems, found 1")


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
        return View(measure, *default_pair(comparison, measure, a, b))
    if shows == "baseline":
        baseline = b or next(iter(comparison.baseline), "")
        if baseline:
            comparison.interval_of(measure, baseline)
        return View(measure, "", baseline if len(comparison) > 1 else "")
    return View(measure)
