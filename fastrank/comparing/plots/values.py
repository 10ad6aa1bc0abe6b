"""The values of all queries, sorted: a line for each system."""

from __future__ import annotations

import numpy as np

from fastrank.comparing.plots.labels import short_names
from fastrank.comparing.plots.lines import interval_words
from fastrank.comparing.plots.style import MUTED, heading, legend, line_of
from fastrank.comparing.plots.view import View, Words
from fastrank.document.numbers import interval, number
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison


def draw(axes: Any, comparison: Comparison, view: View) -> Words:
    """Draw, and return the title, the description, and the size of a figure."""
    from matplotlib.ticker import MaxNLocator

    measure = view.measure
    ranked = comparison.ranked(measure)
    values = comparison.values(measure)
    parts, words = [], interval_words(comparison)
    for name, label in zip(ranked, short_names(ranked), strict=True):
        row = values[comparison.names.index(name)]
        row = np.sort(row[~np.isnan(row)])[::-1]
        look, mean = line_of(comparison, name), comparison.mean[measure][name]
        axes.plot(np.arange(len(row)) + 0.5, row, lw=1.5, label=label, **look)
        axes.axhline(mean, color=look["color"], lw=0.8)
        bounds = comparison.interval_of(measure, name)
        if words and not np.isnan(bounds[0]):
            axes.axhspan(*bounds, color=look["color"], alpha=0.15, lw=0)
        parts.append(f"{visible(name)} mean {number(mean)} {interval(*bounds)}".rstrip())
    axes.set_xlim(0, max(1, len(comparison.queries)))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlabel("query, sorted by value")
    axes.set_ylabel(visible(measure))
    axes.grid(color=MUTED, alpha=0.25, lw=0.6)
    title = f"{visible(measure)} of {len(comparison.queries):,} queries, sorted"
    if len(ranked) > 1:
        legend(axes)
    means = "; ".join(parts)
    heading(axes, title, "Horizontal lines: means" if len(ranked) > 1 else means, words)
    return Words(title, ". ".join(filter(None, (title, means, words))) + ".", (7.5, 3.8))
