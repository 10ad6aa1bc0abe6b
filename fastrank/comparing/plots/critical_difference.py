"""Demsar's diagram: mean ranks, and bars that join systems that cannot be told apart."""

from __future__ import annotations

from fastrank.comparing.groups import mean_ranks
from fastrank.comparing.pairs import need_two_systems
from fastrank.comparing.plots.frame import Frame
from fastrank.comparing.plots.style import INK, MUTED, short_names, styles_of
from fastrank.document.numbers import p_words
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.plots.plot import View

# The heights of a row of names and of a bar, in inches.
ROW, BAR = 0.24, 0.1


def draw_critical_difference(axes: Any, comparison: Comparison, view: View) -> Frame:
    """Draw Demsar's diagram.

    Raises OptionError for a comparison with a baseline, and for a single system.
    """
    from matplotlib.ticker import MaxNLocator

    need_two_systems(comparison)
    measure, alpha = view.measure, comparison.alpha
    comparison.need_all_pairs("critical-difference")
    found = mean_ranks(comparison.analysis(measure).paired, comparison.better(measure), alpha)
    order = sorted(range(len(comparison)), key=lambda place: float(found.ranks[place]))
    groups, bar = found.groups(), BAR / ROW
    # Rows below the axis: the bars, then names from the outside to the inside on both sides.
    top, half = 0.6 + bar * len(groups), -(-len(order) // 2)
    labels = short_names([comparison.names[place] for place in order])
    ends = ((-0.02, "right"), (1.02, "left"))
    styles, by_side = styles_of(comparison), axes.get_yaxis_transform()
    for row, (place, label) in enumerate(zip(order, labels, strict=True)):
        side, rank = int(row >= half), float(found.ranks[place])
        y = top + (len(order) - 1 - row if side else row)
        look, (x, align) = styles[comparison.names[place]], ends[side]
        axes.plot([rank, rank, len(order) if side else 1], [0, y, y], lw=1, **look)
        axes.text(
            x, y, f"{rank:.2f}  {label}" if side else f"{label}  {rank:.2f}", ha=align, va="center",
            color=look["color"], fontsize=8.5, transform=by_side,
        )  # fmt: skip
    for place, group in enumerate(groups):
        ranks = [float(found.ranks[own]) for own in group]
        axes.plot([min(ranks), max(ranks)], [0.4 + bar * place] * 2, color=INK, lw=3)
    if found.critical == found.critical:
        axes.plot([1, 1 + found.critical], [-1.5, -1.5], "|-", color=MUTED, lw=1, clip_on=False)
        axes.text(1, -1.7, f"critical difference {found.critical:.3g}", fontsize=8, va="bottom")
    axes.plot([1, len(order)], [0, 0], color=INK, lw=1)
    for tick in MaxNLocator(9, integer=True).tick_values(1, len(order)):
        if 1 <= tick <= len(order):
            axes.plot([tick, tick], [-0.2, 0], color=INK, lw=1)
            axes.text(tick, -0.3, f"{tick:g}", fontsize=8.5, ha="center", va="bottom")
    axes.set_xlim(1, len(order))
    axes.set_ylim(top + half - 0.5, -2.4)
    axes.set_axis_off()
    ranked = (f"{visible(comparison.names[own])} {found.ranks[own]:.2f}" for own in order)
    joined = "; ".join(
        ", ".join(visible(comparison.names[place]) for place in group) for group in groups
    )
    test = f"Nemenyi, alpha {alpha:g}"
    return Frame(
        f"{visible(measure)}: mean ranks",
        [found.n],
        [
            f"Friedman's test of all systems: {p_words(found.p)}",
            f"Bars join systems that cannot be told apart ({test})"
            if groups
            else f"All pairs can be told apart ({test})",
        ],
        [
            ", ".join(ranked),
            f"Critical difference {found.critical:.3g}",
            f"Groups that cannot be told apart: {joined or 'none'}",
        ],
        inches=(7.5, 1.3 + ROW * (top + half + 2)),
    )
