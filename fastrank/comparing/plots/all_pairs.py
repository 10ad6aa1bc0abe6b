"""Plots of all pairs at once: their p-values as a heat map, and Demsar's diagram of mean ranks."""

from __future__ import annotations

import numpy as np

from fastrank.comparing.groups import mean_ranks
from fastrank.comparing.pairs import need_all_pairs, need_two_systems, pairs_of
from fastrank.comparing.plots.frame import Frame
from fastrank.comparing.plots.style import BLANK, INK, MUTED, PAPER, short_names, styles_of
from fastrank.document.numbers import p_text, p_words
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.plots.plot import View

# Up to this number of systems, cells have room for numbers.
WITH_TEXT = 20
# The cells of more systems are the pixels of an image, also in SVG and PDF.
MOST_SHAPES = 40
# The width of a letter of a label in inches.
LETTER = 0.075
# So many pairs are in the description.
LISTED = 50
# The darker, the smaller the p-value; black text on the pale ones and white text on the others.
WHITE, BLACK = "#ffffff", "#111111"
SHADES = (("#08306b", WHITE), ("#2f7ebc", WHITE), ("#b5d3e9", BLACK), (BLANK, INK))


def draw_p_values(axes: Any, comparison: Comparison, view: View) -> Frame:
    """Draw the p-value of each pair as a cell.

    Raises OptionError for a single system.
    """
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch, Rectangle

    need_two_systems(comparison)
    measure, alpha = view.measure, comparison.alpha
    rows, columns = _axes_of(comparison, measure)
    limits = [alpha / 50, alpha / 5, alpha]
    # Cells without a pair are transparent.
    many, image = len(comparison) > MOST_SHAPES, np.zeros((len(rows), len(columns), 4))
    significant, cells = 0, _cells(comparison, measure, rows, columns)
    for (row, column), (p, differs) in cells.items():
        shade = int(np.searchsorted(limits, p)) if differs else len(limits)
        color, ink = SHADES[shade]
        significant += differs
        if many:
            image[row, column] = to_rgba(color)
        else:
            axes.add_patch(
                Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=color, edgecolor=PAPER, lw=1)
            )
        if len(comparison) <= WITH_TEXT:
            axes.text(column, row, p_text(p), color=ink, fontsize=7.5, ha="center", va="center")
    if many:
        axes.imshow(image, interpolation="none")
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_aspect("equal")
    short = dict(zip(comparison.names, short_names(comparison.names, 22), strict=True))
    labels = [[short[name] for name in own] for own in (rows, columns)]
    axes.set_yticks(range(len(rows)), labels[0])
    axes.set_xticks(
        range(len(columns)),
        labels[1],
        rotation=45,
        ha="right",
        rotation_mode="anchor",
    )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    names = [f"p <= {limit:g}" for limit in limits] + ["not significant"]
    corrected = "" if comparison.correction == "none" else "corrected "
    listed = [
        f"{visible(rows[row])} and {visible(columns[column])} {p_text(p)}"
        for (row, column), (p, _) in list(cells.items())[:LISTED]
    ]
    if len(cells) > LISTED:
        listed.append(f"and {len(cells) - LISTED:,} more pairs")
    cell = 0.14 if many else 0.5 if len(comparison) <= WITH_TEXT else 0.24
    widest = LETTER * max(map(len, labels[0] + labels[1]))
    inches = widest + cell * len(columns) + 2.2, 0.75 * widest + cell * len(rows) + 1.3
    return Frame(
        f"{visible(measure)}: {corrected}p-values",
        [pair.n for pair in pairs_of(comparison, measure)],
        [comparison.description()],
        [f"Significant: {significant:,} of {len(cells):,} pairs", "; ".join(listed)],
        handles=[
            Patch(color=color, label=own) for (color, _), own in zip(SHADES, names, strict=True)
        ],
        inches=(max(5.5, inches[0]), max(2.6, inches[1])),
    )


def _axes_of(comparison: Comparison, measure: str) -> tuple[list[str], list[str]]:
    """The systems of the rows, and those of the columns."""
    ranked = comparison.ranked(measure)
    if not comparison.baseline:
        return ranked[1:], ranked[:-1]
    columns = [name for name in ranked if name in comparison.baseline]
    single = len(columns) == 1
    return [name for name in ranked if not (single and name in columns)], columns


def _cells(
    comparison: Comparison, measure: str, rows: list[str], columns: list[str]
) -> dict[tuple[int, int], tuple[float, bool]]:
    """The p-value of each cell, and whether it is significant; each pair is in one cell."""
    row_of = {name: place for place, name in enumerate(rows)}
    column_of = {name: place for place, name in enumerate(columns)}
    order = {name: place for place, name in enumerate(comparison.ranked(measure))}
    found = {}
    for pair in pairs_of(comparison, measure):
        better, worse = sorted((pair.a, pair.b), key=order.__getitem__)
        if comparison.baseline:
            worse, better = pair.a, pair.b
        differs = bool(pair.p_adjusted <= comparison.alpha and pair.difference != 0.0)
        found[row_of[worse], column_of[better]] = (pair.p_adjusted, differs)
    return dict(sorted(found.items()))


# The heights of a row of names and of a bar, in inches.
ROW, BAR = 0.24, 0.1


def draw_critical_difference(axes: Any, comparison: Comparison, view: View) -> Frame:
    """Draw Demsar's diagram.

    Raises OptionError for a comparison with a baseline, and for a single system.
    """
    from matplotlib.ticker import MaxNLocator

    need_two_systems(comparison)
    measure, alpha = view.measure, comparison.alpha
    need_all_pairs(comparison, "critical-difference")
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
            x,
            y,
            f"{rank:.2f}  {label}" if side else f"{label}  {rank:.2f}",
            ha=align,
            va="center",
            color=look["color"],
            fontsize=8.5,
            transform=by_side,
        )
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
