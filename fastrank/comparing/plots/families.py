"""Means of several measures as a line for each system: over cutoffs, and over levels of recall."""

from __future__ import annotations

import re

import numpy as np

from fastrank.arguments import DEFAULT_VERSION
from fastrank.comparing.plots.frame import Frame
from fastrank.comparing.plots.style import styles_of
from fastrank.document.numbers import number
from fastrank.errors import MeasureError
from fastrank.measures.selection import Selection
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.plots.plot import View


# More bands than this hide each other.
WITH_BANDS = 6
# P_10, ndcg_cut_10, nDCG@10.
WITH_CUTOFF = re.compile(r"(.+)[_@](\d+)")
# What an error advises.
CUTOFFS = "1,5,10,20,100"
FAMILY = "iprec_at_recall"


def has_bands(comparison: Comparison) -> bool:
    """Whether the intervals of the means are drawn as bands."""
    return len(comparison) <= WITH_BANDS and comparison.interval != "none"


def band_words(comparison: Comparison) -> str:
    """What the bands are, or why there are none."""
    intervals = f"{100 * comparison.level:g}% intervals of the means"
    if has_bands(comparison):
        return f"Bands: {intervals}"
    if comparison.interval == "none":
        return ""
    return f"No bands of {intervals}: more than {WITH_BANDS} systems"


def _lines(
    axes: Any, comparison: Comparison, names: list[str], places: list[float], about: Frame
) -> Frame:
    """Draw the means of measures at these places, in the frame `about`."""
    ranked, styles = comparison.ranked(names[0]), styles_of(comparison)
    handles, parts = [], []
    for system in ranked:
        means = [comparison.mean[name][system] for name in names]
        look = styles[system]
        handles += axes.plot(places, means, marker="o", ms=3, lw=1.5, label=system, **look)
        if has_bands(comparison):
            low, high = np.array([comparison.interval_of(name, system) for name in names]).T
            axes.fill_between(places, low, high, color=look["color"], alpha=0.13, lw=0)
        parts.append(f"{visible(system)} {', '.join(map(number, means))}")
    return about._replace(
        queries=[int(n) for name in names for n in comparison.analysis(name).means.n],
        lines=[band_words(comparison)],
        values=[f"{about.x} = {', '.join(f'{own:g}' for own in places)}", "; ".join(parts)],
        handles=handles,
        grid="both",
    )


def draw_over_k(axes: Any, comparison: Comparison, view: View) -> Frame:
    """Draw the means of a measure over its cutoffs.

    Raises MeasureError unless there are two cutoffs of the measure.
    """
    family, cutoffs = _cutoffs(comparison, view.measure)
    names, places = list(cutoffs.values()), [float(k) for k in cutoffs]
    about = Frame(f"{visible(family)} over k", [], x="k", y=visible(family))
    frame = _lines(axes, comparison, names, places, about)
    if max(cutoffs) >= 20 * min(cutoffs):
        axes.set_xscale("log")
    axes.set_xticks(list(cutoffs), [str(k) for k in cutoffs])
    axes.set_xticks([], minor=True)
    return frame


def _cutoffs(comparison: Comparison, family: str) -> tuple[str, dict[int, str]]:
    """A family of measures, by default that with the most cutoffs, and {k: measure}."""
    found: dict[str, dict[int, str]] = {}
    for name in comparison.measures:
        if match := WITH_CUTOFF.fullmatch(name):
            found.setdefault(match[1], {})[int(match[2])] = name
    match = WITH_CUTOFF.fullmatch(family)
    family = match[1] if match else family
    if not family and found:
        family = max(found, key=lambda name: len(found[name]))
    cutoffs = dict(sorted(found.get(family, {}).items()))
    if len(cutoffs) < 2:
        raise MeasureError(
            family,
            f"over k needs several cutoffs of {family or 'a measure'}; compare with"
            f" {_with_cutoffs(family, *cutoffs.values())}",
        )
    return family, cutoffs


def _with_cutoffs(family: str, compared: str = "") -> str:
    """The measures to compare, in the notation of one that was; those of P if there are none."""
    for separator in "@." if "@" in compared else ".@":
        try:
            Selection(measure := f"{family}{separator}{CUTOFFS}").bind(DEFAULT_VERSION)
        except MeasureError:
            continue
        return measure
    return f"P.{CUTOFFS}"


def draw_precision_recall(axes: Any, comparison: Comparison, view: View) -> Frame:
    """Draw interpolated precision over levels of recall.

    Raises MeasureError unless iprec_at_recall was compared.
    """
    if view.measure and not view.measure.startswith(FAMILY):
        raise MeasureError(view.measure, f"precision-recall shows {FAMILY}, not {view.measure!r}")
    names = [name for name in comparison.measures if name.startswith(f"{FAMILY}_")]
    if len(names) < 2:
        raise MeasureError(FAMILY, f"precision-recall needs the measure {FAMILY}; compare with it")
    levels = [float(name.rpartition("_")[2]) for name in names]
    about = Frame("Precision over recall", [], x="recall", y="interpolated precision")
    frame = _lines(axes, comparison, names, levels, about)
    axes.set_ylim(bottom=0)
    return frame
