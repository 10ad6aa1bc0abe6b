"""Means, or differences from a baseline, with their intervals: a forest plot."""

from __future__ import annotations

import numpy as np

from fastrank.comparing.plots.labels import short, short_names
from fastrank.comparing.plots.style import MUTED, PAPER, beside, color_of, heading
from fastrank.comparing.plots.view import View, Words
from fastrank.document.numbers import interval, number, signed
from fastrank.messages import counted, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison


def draw(axes: Any, comparison: Comparison, view: View) -> Words:
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
