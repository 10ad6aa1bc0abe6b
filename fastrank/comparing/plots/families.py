"""Means of several measures as a line for each system: over cutoffs, and over levels of recall."""

from __future__ import annotations

import re

import numpy as np

from fastrank.arguments import DEFAULT_VERSION
from fastrank.comparing.plots.style import MUTED, heading, legend, line_of, short_names
from fastrank.comparing.plots.view import View, Words
from fastrank.document.numbers import number
from fastrank.errors import MeasureError
from fastrank.measures.selection import Selection
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison


# More bands than this hide each other.
WITH_BANDS = 6
# P_10, ndcg_cut_10, nDCG@10.
WITH_CUTOFF = re.compile(r"(.+)[_@](\d+)")
# What an error advises.
CUTOFFS = "1,5,10,20,100"
FAMILY = "iprec_at_recall"


def draw_lines(axes: Any, comparison: Comparison, names: list[str], places: list[float]) -> str:
    """Draw the means of measures at these places; a description of the values."""
    ranked = comparison.ranked(names[0])
    bands = len(ranked) <= WITH_BANDS and comparison.interval != "none"
    parts = []
    for system, label in zip(ranked, short_names(ranked), strict=True):
        means = [comparison.mean[name][system] for name in names]
        look = line_of(comparison, system)
        axes.plot(places, means, marker="o", ms=3, lw=1.5, label=label, **look)
        if bands:
            low, high = np.array([comparison.interval_of(name, system) for name in names]).T
            axes.fill_between(places, low, high, color=look["color"], alpha=0.13, lw=0)
        parts.append(f"{visible(system)} {', '.join(map(number, means))}")
    axes.grid(color=MUTED, alpha=0.25, lw=0.6)
    legend(axes)
    return f"{'; '.join(parts)}."


def interval_words(comparison: Comparison) -> str:
    """What the bands are, empty if there are none."""
    if len(comparison) > WITH_BANDS or comparison.interval == "none":
        return ""
    return f"Bands: {100 * comparison.level:g}% intervals of the means"


def draw_over_k(axes: Any, comparison: Comparison, view: View) -> Words:
    """Draw, and return the title, the description, and the size of a figure.

    Raises MeasureError unless there are two cutoffs of the measure.
    """
    family, cutoffs = _cutoffs(comparison, view.measure)
    values = draw_lines(axes, comparison, list(cutoffs.values()), [float(k) for k in cutoffs])
    if max(cutoffs) >= 20 * min(cutoffs):
        axes.set_xscale("log")
    axes.set_xticks(list(cutoffs), [str(k) for k in cutoffs])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("k")
    axes.set_ylabel(visible(family))
    title = f"{visible(family)} over k"
    heading(axes, title, interval_words(comparison))
    return Words(title, f"{title} = {', '.join(map(str, cutoffs))}: {values}", (7.5, 4.0))


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
            family, f"over k needs several cutoffs of {family or 'a measure'}; compare with"
            f" {_with_cutoffs(family, *cutoffs.values())}"
        )  # fmt: skip
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


def draw_precision_recall(axes: Any, comparison: Comparison, view: View) -> Words:
    """Draw, and return the title, the description, and the size of a figure.

    Raises MeasureError unless iprec_at_recall was compared.
    """
    if view.measure and not view.measure.startswith(FAMILY):
        raise MeasureError(view.measure, f"precision-recall shows {FAMILY}, not {view.measure!r}")
    names = [name for name in comparison.measures if name.startswith(f"{FAMILY}_")]
    if len(names) < 2:
        raise MeasureError(FAMILY, f"precision-recall needs the measure {FAMILY}; compare with it")
    levels = [float(name.rpartition("_")[2]) for name in names]
    values = draw_lines(axes, comparison, names, levels)
    axes.set_xlabel("recall")
    axes.set_ylabel("interpolated precision")
    axes.set_ylim(bottom=0)
    title = "Precision over recall"
    heading(axes, title, interval_words(comparison))
    recall = ", ".join(f"{level:g}" for level in levels)
    return Words(title, f"{visible(title)} {recall}: {values}", (7.5, 4.0))
