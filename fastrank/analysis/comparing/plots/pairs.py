"""Plots of two systems: their differences, and their values, query by query."""

from __future__ import annotations

import math

import numpy as np

from fastrank.common.messages import visible
from fastrank.common.plots.frame import Frame, beside
from fastrank.common.plots.style import INK, MANY_POINTS, MUTED, short, styles_of
from fastrank.common.rendering.numbers import interval, number, p_words, signed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.analysis.comparing.pairs import Pair
    from fastrank.analysis.comparing.plots.plot import View
    from fastrank.common.arrays import Floats, Integers

EXTREMES = 5
# The number of queries above which dots do not grow.
LARGEST_DOT = 30


def draw_differences(axes: Axes, comparison: Comparison, view: View) -> Frame:
    """Draw the differences of two systems on all queries, sorted."""
    from matplotlib.ticker import MaxNLocator

    measure, a, b, _ = view
    pair = comparison.pair(measure, a, b)
    names, _, _, column = comparison.queries_of(measure, a, b).columns.values()
    differences = np.array(column)
    differences = differences[~np.isnan(differences)]
    heights, edges = _steps(differences)
    # The heights are sorted, so those above 0 are together, and those below.
    above, rest = int((heights > 0).sum()), int((heights >= 0).sum())
    color_a, color_b = _colors(comparison, a, b)
    for part, color in ((slice(0, above), color_a), (slice(rest, len(heights)), color_b)):
        # One shape for all queries: thousands of bars would take half a minute.
        if part.start < part.stop:
            steps = edges[part.start : part.stop + 1]
            axes.stairs(heights[part], steps, baseline=0.0, fill=True, color=color, lw=0)
    axes.axhline(0.0, color=INK, lw=0.8)
    if not np.isnan(pair.low):
        axes.axhspan(pair.low, pair.high, color=MUTED, alpha=0.25, lw=0)
    axes.axhline(pair.difference, color=MUTED, lw=1.2, ls="--")
    axes.set_xlim(0, max(1, len(differences)))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    extremes = _extremes(differences)
    examples = [(names[i], float(differences[i])) for i in extremes]
    for largest, top, color in (
        ([(q, d) for q, d in examples if d > 0], 1.0, color_a),
        ([(q, d) for q, d in examples if d < 0], 0.0, color_b),
    ):
        if largest:
            beside(
                axes,
                top,
                "\n".join(f"{short(query, 18)}  {signed(d)}" for query, d in largest),
                xycoords="axes fraction",
                va="top" if top else "bottom",
                color=color,
                linespacing=1.3,
            )
    worst = "; ".join(f"{query} {signed(d)}" for query, d in examples)
    return Frame(
        f"{measure}: {a} - {b}",
        [len(differences)],
        [_mean_words(comparison, pair), counts(comparison, pair)],
        [
            f"Largest differences: {worst}" if worst else "",
            "Lower values are better" if comparison.better(measure) == "lower" else "",
        ],
        x=f"{comparison.settings.unit.one}, sorted by difference",
        y=f"difference in {measure}",
    )


def _colors(comparison: Comparison, *systems: str) -> list[str]:
    styles = styles_of(comparison.names)
    return [styles[name]["color"] for name in systems]


def _mean_words(comparison: Comparison, pair: Pair) -> str:
    bounds = interval(pair.low, pair.high, signed)
    level = f", {100 * comparison.level:g}% interval {bounds}" if bounds else ""
    mean = signed(pair.difference)
    return f"Mean {mean} (dashed){level}, {p_words(pair.p_adjusted)}"


def counts(comparison: Comparison, pair: Pair) -> str:
    """The numbers of queries on which each system is better, or higher."""
    if pair.wins is not None:
        first, second, word = pair.wins, pair.losses, "better"
    else:
        values = comparison.queries_of(pair.measure, pair.a, pair.b).columns
        differences = np.round(np.array(list(values.values())[-1]), 12)
        first, second, word = int((differences > 0).sum()), int((differences < 0).sum()), "higher"
    a, b = visible(pair.a), visible(pair.b)
    return f"{a} {word} on {first:,}, {b} {word} on {second:,}, equal on {pair.ties:,}"


def _steps(differences: Floats) -> tuple[Floats, Integers]:
    """The heights and edges of steps, one for each run of equal differences."""
    starts = np.flatnonzero(np.diff(differences, prepend=np.nan) != 0)
    return differences[starts], np.append(starts, len(differences))


def _extremes(differences: Floats) -> list[int]:
    """The indices of the queries with the largest differences, in the order of the plot."""
    order = np.argsort(-np.abs(differences), kind="stable")[:EXTREMES]
    return sorted(int(i) for i in order if differences[i] != 0)


def draw_scatter(axes: Axes, comparison: Comparison, view: View) -> Frame:
    """Draw the values of two systems against each other."""
    measure, a, b, _ = view
    pair = comparison.pair(measure, a, b)
    values = comparison.values(measure)
    both = values[[comparison.names.index(b), comparison.names.index(a)]]
    both = both[:, ~np.isnan(both).any(axis=0)]
    points, sizes = np.unique(np.round(both, 12), axis=1, return_counts=True)
    largest = int(sizes.max(initial=1))
    few, many = len(sizes) <= MANY_POINTS, comparison.settings.unit.many
    area, alpha = (14, 0.55) if few else (5, 0.3)
    # One call for each size makes far smaller SVG files than one with all sizes.
    for size in np.unique(sizes):
        axes.plot(
            *points[:, sizes == size],
            "o",
            color=INK,
            ms=math.sqrt(area * min(size, LARGEST_DOT)),
            alpha=alpha,
            mew=0,
            rasterized=not few,
            zorder=2,
        )
    low, high = (float(both.min()), float(both.max())) if both.size else (0.0, 1.0)
    margin = 0.05 * (high - low or 1.0)
    axes.set_xlim(low - margin, high + margin)
    axes.set_ylim(low - margin, high + margin)
    axes.axline((low, low), slope=1, color=MUTED, lw=1, ls="--", zorder=1)
    axes.set_aspect("equal")
    for axis, color in zip((axes.yaxis, axes.xaxis), _colors(comparison, a, b), strict=True):
        axis.label.set_color(color)
    return Frame(
        f"{measure}: {a} against {b}",
        [pair.n],
        [
            counts(comparison, pair),
            f"Area: number of {many}, up to {largest:,}" if largest > 1 else "",
        ],
        [f"Means {number(pair.mean_a)} and {number(pair.mean_b)}"],
        x=f"{measure} of {b}",
        y=f"{measure} of {a}",
        inches=(4.6, 4.9),
    )
