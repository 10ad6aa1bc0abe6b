"""The values of all queries, system by system: boxes and points.

There are no violins: their density extends to values that a measure cannot have.
"""

from __future__ import annotations

import numpy as np

from fastrank.comparing.plots.labels import short_names
from fastrank.comparing.plots.style import INK, MANY_POINTS, color_of, heading
from fastrank.comparing.plots.view import View, Words
from fastrank.document.numbers import number
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison

GOLDEN = 0.6180339887498949


def draw(axes: Any, comparison: Comparison, view: View) -> Words:
    """Draw, and return the title, the description, and the size of a figure."""
    measure = view.measure
    ranked = comparison.ranked(measure)
    values = comparison.values(measure)
    rows = [values[comparison.names.index(name)] for name in ranked]
    rows = [row[~np.isnan(row)] for row in rows]
    many = sum(map(len, rows)) > MANY_POINTS
    parts = []
    for place, (name, row) in enumerate(zip(ranked, rows, strict=True)):
        color = color_of(comparison, name)
        # Multiples of the golden ratio spread evenly, and are the same each time.
        spread = np.arange(len(row)) * GOLDEN % 1.0 - 0.5
        axes.plot(
            row, place + 0.62 * spread, "o", color=color, ms=2 if many else 3.5, mew=0,
            alpha=0.15 if many else 0.5, rasterized=many, zorder=1,
        )  # fmt: skip
        low, median, high = (float(q) for q in np.quantile(row, (0.25, 0.5, 0.75)))
        mean = comparison.mean[measure][name]
        axes.plot([mean], [place], "D", color=color, mec=INK, mew=0.8, ms=5, zorder=4)
        parts.append(
            f"{visible(name)} mean {number(mean)}, median"
            f" {number(median)}, quartiles {number(low)} and {number(high)}"
        )
    axes.boxplot(
        rows, positions=range(len(rows)), orientation="horizontal", widths=0.62, showfliers=False,
        manage_ticks=False, zorder=3, medianprops={"color": INK, "lw": 2},
        boxprops={"color": INK}, whiskerprops={"color": INK}, capprops={"color": INK},
    )  # fmt: skip
    axes.set_yticks(range(len(ranked)), short_names(ranked))
    axes.set_ylim(len(ranked) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    title = f"{visible(measure)} of {len(comparison.queries):,} queries"
    heading(axes, title, "Boxes: quartiles and median. Diamonds: means. Dots: queries")
    return Words(title, f"{title}. {'; '.join(parts)}.", (7.5, 1.3 + 0.4 * len(ranked)))
