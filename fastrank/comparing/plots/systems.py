"""Plots of all systems: means with intervals, and the values of all queries."""

from __future__ import annotations

import numpy as np

from fastrank.comparing.plots.families import interval_words
from fastrank.comparing.plots.style import (
    INK,
    MANY_POINTS,
    MUTED,
    PAPER,
    beside,
    color_of,
    heading,
    legend,
    line_of,
    short,
    short_names,
)
from fastrank.comparing.plots.view import View, Words
from fastrank.document.numbers import interval, number, signed
from fastrank.messages import counted, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison


GOLDEN = 0.6180339887498949


def draw_intervals(axes: Any, comparison: Comparison, view: View) -> Words:
    """Draw, and return the title, the description, and the size of a figure."""
    measure, baseline = view.measure, view.b
    rows = _rows(comparison, measure, baseline)
    labels = []
    for place, (name, mean, low, high, significant) in enumerate(rows):
        color = color_of(comparison, name)
        if not np.isnan(low):
            axes.plot([low, high], [place, place], color=color, lw=1.6)
        axes.plot([mean], [place], "o", color=color, ms=5.5, mfc=color if significant else PAPER)
        write = signed if baseline else number
        labels.append(f"{write(mean)} {interval(low, high, write)}")
        beside(axes, place, labels[-1])
    axes.set_yticks(range(len(rows)), short_names([row[0] for row in rows]))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=MUTED, alpha=0.25, lw=0.6)
    axes.set_axisbelow(True)
    what = f"{100 * comparison.level:g}% intervals" if comparison.interval != "none" else ""
    over = _queries(comparison, measure, baseline)
    if baseline:
        axes.axvline(0.0, color=MUTED, lw=1)
        title = f"{visible(measure)}: difference from {short(baseline)}"
        note = f"Filled: significant ({comparison.description()})"
        heading(axes, title, ", ".join(filter(None, (over, what))), note)
    else:
        title = f"{visible(measure)}: means" + (f" with {what}" if what else "")
        note = ""
        heading(axes, title, over)
    listed = "; ".join(
        f"{visible(row[0])} {label.strip()}" for row, label in zip(rows, labels, strict=True)
    )
    shown = f"{title}, {counted(len(rows), 'system')}, {over}"
    description = ". ".join(filter(None, (shown, note, listed))) + "."
    return Words(title, description, (7.5, 1.3 + 0.25 * len(rows)))


def _queries(comparison: Comparison, measure: str, baseline: str) -> str:
    """How many queries have the values that are shown."""
    paired, means = comparison._of(measure).paired, comparison._of(measure).means
    counts = paired.n if baseline else means.n
    least, most = int(counts.min()), int(counts.max())
    return f"{most:,} queries" if least == most else f"{least:,} to {most:,} queries"


def _rows(
    comparison: Comparison, measure: str, baseline: str
) -> list[tuple[str, float, float, float, bool]]:
    """Of each system, best first: its name, mean, interval, and whether its point is filled."""
    ranked = comparison.ranked(measure)
    if not baseline:
        mean = comparison.mean[measure]
        return [(n, mean[n], *comparison.interval_of(measure, n), True) for n in ranked]
    pairs = [comparison.pair(measure, name, baseline) for name in ranked if name != baseline]
    return [
        (p.a, p.difference, p.low, p.high, comparison.significant(measure, p.a, baseline))
        for p in pairs
    ]


def draw_distribution(axes: Any, comparison: Comparison, view: View) -> Words:
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


def draw_values(axes: Any, comparison: Comparison, view: View) -> Words:
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
