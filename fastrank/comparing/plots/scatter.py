"""The values of two systems on every query, one against the other."""

from __future__ import annotations

import math

import numpy as np

from fastrank.comparing.plots.differences import counts
from fastrank.comparing.plots.labels import short_names
from fastrank.comparing.plots.style import INK, MANY_POINTS, MUTED, color_of, heading
from fastrank.comparing.plots.view import View, Words
from fastrank.document.numbers import number
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison


# The number of queries above which dots do not grow.
MOST = 30


def draw(axes: Any, comparison: Comparison, view: View) -> Words:
    """Draw, and return the title, the description, and the size of a figure."""
    measure, a, b, chosen = view
    pair = comparison.pair(measure, a, b)
    values = comparison.values(measure)
    both = values[[comparison.names.index(b), comparison.names.index(a)]]
    both = both[:, ~np.isnan(both).any(axis=0)]
    places, sizes = np.unique(np.round(both, 12), axis=1, return_counts=True)
    largest = int(sizes.max(initial=1))
    few = len(sizes) <= MANY_POINTS
    area, alpha = (14, 0.55) if few else (5, 0.3)
    # One call for each size makes far smaller SVG files than one with all sizes.
    for size in np.unique(sizes):
        axes.plot(
            *places[:, sizes == size], "o", color=INK, ms=math.sqrt(area * min(size, MOST)),
            alpha=alpha, mew=0, rasterized=not few, zorder=2,
        )  # fmt: skip
    low, high = (float(both.min()), float(both.max())) if both.size else (0.0, 1.0)
    margin = 0.05 * (high - low or 1.0)
    axes.set_xlim(low - margin, high + margin)
    axes.set_ylim(low - margin, high + margin)
    axes.axline((low, low), slope=1, color=MUTED, lw=1, ls="--", zorder=1)
    axes.set_aspect("equal")
    shown = dict(zip((a, b), short_names((a, b), 22), strict=True))
    axes.set_xlabel(f"{visible(measure)} of {shown[b]}", color=color_of(comparison, b))
    axes.set_ylabel(f"{visible(measure)} of {shown[a]}", color=color_of(comparison, a))
    title = f"{visible(measure)} of {pair.n:,} queries"
    dots = f"Area: number of queries, up to {largest:,}" if largest > 1 else ""
    # Long names need lines of their own.
    heading(axes, title, *counts(comparison, pair, shown.__getitem__).split(", "), dots, chosen)
    title = f"{visible(measure)}: {shown[a]} against {shown[b]}"
    description = (
        f"{visible(measure)} of {visible(a)} against that of {visible(b)} on {pair.n:,} queries,"
        f" means {number(pair.mean_a)} and {number(pair.mean_b)}."
        f" {counts(comparison, pair, visible)}." + (f" {chosen}." if chosen else "")
    )
    return Words(title, description, (4.6, 4.9))
