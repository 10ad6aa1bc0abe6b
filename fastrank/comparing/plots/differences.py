"""The difference of two systems on every query, sorted."""

from __future__ import annotations

import numpy as np

from fastrank.comparing.plots.labels import short, short_names
from fastrank.comparing.plots.style import INK, MUTED, color_of, heading
from fastrank.comparing.plots.view import View, Words
from fastrank.document.numbers import interval, p_words, signed
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.comparing.comparison import Comparison, Pair

EXTREMES = 5


def draw(axes: Any, comparison: Comparison, view: View) -> Words:
    """Draw, and return the title, the description, and the size of a figure."""
    from matplotlib.ticker import MaxNLocator

    measure, a, b, chosen = view
    pair = comparison.pair(measure, a, b)
    names, _, _, column = comparison.queries_of(measure, a, b).columns.values()
    differences = np.array(column)
    differences = differences[~np.isnan(differences)]
    heights, edges = _steps(differences)
    # The heights fall, so that those above and below 0 are together.
    above, rest = int((heights > 0).sum()), int((heights >= 0).sum())
    color_a, color_b = (color_of(comparison, name) for name in (a, b))
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
    axes.set_xlabel("query, sorted by difference")
    axes.set_ylabel(" - ".join(short_names((a, b), 20)))
    extremes = _extremes(differences)
    named = [(names[place], float(differences[place])) for place in extremes]
    for largest, top, color in (
        ([(q, d) for q, d in named if d > 0], 1.0, color_a),
        ([(q, d) for q, d in named if d < 0], 0.0, color_b),
    ):
        if largest:
            axes.annotate(
                "\n".join(f"{short(query, 18)}  {signed(d)}" for query, d in largest),
                (1, top), xytext=(8, 0), xycoords="axes fraction", textcoords="offset points",
                va="top" if top else "bottom", fontsize=8, color=color, linespacing=1.3,
            )  # fmt: skip
    shown = dict(zip((a, b), short_names((a, b)), strict=True))
    title = f"{visible(measure)}: {shown[a]} - {shown[b]}"
    mean = _mean(comparison, pair)
    heading(axes, title, mean, counts(comparison, pair, shown.__getitem__), chosen)
    worst = "; ".join(f"{visible(query)} {signed(d)}" for query, d in named)
    sentences = [
        f"Difference in {visible(measure)} of {visible(a)} and {visible(b)} on"
        f" {len(differences):,} queries, sorted",
        mean.replace(" (dashed)", ""),
        counts(comparison, pair, visible),
        f"Largest differences: {worst}" if worst else "",
        chosen,
        "Lower values are better" if comparison.better(measure) == "lower" else "",
    ]
    return Words(title, ". ".join(filter(None, sentences)) + ".", (7.5, 3.8))


def _mean(comparison: Comparison, pair: Pair) -> str:
    bounds = interval(pair.low, pair.high, signed)
    level = f", {100 * comparison.level:g}% interval {bounds}" if bounds else ""
    mean = signed(pair.difference)
    return f"Mean {mean} (dashed){level}, {p_words(pair.p_adjusted)}"


def counts(comparison: Comparison, pair: Pair, name: Callable[[str], str]) -> str:
    """The numbers of queries on which each system is better, or higher."""
    if pair.wins is not None:
        first, second, word = pair.wins, pair.losses, "better"
    else:
        values = comparison.queries_of(pair.measure, pair.a, pair.b).columns
        found = np.round(np.array(list(values.values())[-1]), 12)
        first, second, word = int((found > 0).sum()), int((found < 0).sum()), "higher"
    a, b = name(pair.a), name(pair.b)
    return f"{a} {word} on {first:,}, {b} {word} on {second:,}, equal on {pair.ties:,}"


def _steps(differences: Any) -> tuple[Any, Any]:
    """The heights and edges of steps, one for each run of equal differences."""
    starts = np.flatnonzero(np.diff(differences, prepend=np.nan) != 0)
    return differences[starts], np.append(starts, len(differences))


def _extremes(differences: Any) -> list[int]:
    """The places of the queries with the largest differences, in order of the plot."""
    places = np.argsort(-np.abs(differences), kind="stable")[:EXTREMES]
    return sorted(int(place) for place in places if differences[place] != 0)
