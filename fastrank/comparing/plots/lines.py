"""Means of several measures as a line for each system."""

from __future__ import annotations

import numpy as np

from fastrank.comparing.plots.labels import short_names
from fastrank.comparing.plots.style import MUTED, legend, line_of
from fastrank.document.numbers import number
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison

# More bands than this hide each other.
WITH_BANDS = 6


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
