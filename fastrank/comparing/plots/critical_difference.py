"""Means of the systems, with bars that join those that do not differ significantly.

The idea is from Demsar, 'Statistical comparisons of classifiers over multiple data sets', JMLR 7,
2006. The groups here are those of the comparison's own test, and systems have rows, so that long
names do not overlap.
"""

from __future__ import annotations

from fastrank.comparing.chosen_pair import need_two_systems
from fastrank.comparing.plots.labels import short_names
from fastrank.comparing.plots.style import MUTED, color_of, heading
from fastrank.comparing.plots.view import View, Words
from fastrank.document.numbers import number
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison


# The width of a bar and its margin in inches.
BAR = 0.14


def draw(axes: Any, comparison: Comparison, view: View) -> Words:
    """Draw, and return the title, the description, and the size of a figure.

    Raises OptionError for a comparison with a baseline, and for a single system.
    """
    from matplotlib.transforms import ScaledTranslation

    need_two_systems(comparison)
    measure = view.measure
    ranked = comparison.ranked(measure)
    means = [comparison.mean[measure][name] for name in ranked]
    for place, (name, mean) in enumerate(zip(ranked, means, strict=True)):
        axes.plot([mean], [place], "o", color=color_of(comparison, name), ms=5.5, zorder=3)
        axes.annotate(
            number(mean), (mean, place), xytext=(0, 5), textcoords="offset points", ha="center",
            fontsize=7.5,
        )  # fmt: skip
    joined = [group for group in comparison._alike(measure) if len(group) > 1]
    for place, group in enumerate(joined):
        rows = [ranked.index(name) for name in group]
        # To the right of the axes.
        inches = ScaledTranslation(0.12 + BAR * place, 0, axes.get_figure().dpi_scale_trans)
        axes.plot(
            [1] * len(rows), rows, "o", ls="-", lw=2.5, ms=4, color=MUTED,
            transform=axes.get_yaxis_transform() + inches, clip_on=False,
        )  # fmt: skip
    axes.set_yticks(range(len(ranked)), short_names(ranked))
    axes.set_ylim(len(ranked) - 0.4, -0.8)
    axes.margins(x=0.08)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="both", color=MUTED, alpha=0.25, lw=0.6)
    axes.set_axisbelow(True)
    title = f"{visible(measure)}: systems that do not differ significantly"
    found = "Bars join them" if joined else "All pairs differ significantly"
    heading(axes, title, f"{found} ({comparison.description()})")
    listed = "; ".join(", ".join(map(visible, group)) for group in joined) or "none"
    means_listed = ", ".join(
        f"{visible(name)} {number(mean)}" for name, mean in zip(ranked, means, strict=True)
    )
    return Words(
        title,
        f"{visible(measure)}: means {means_listed}. Groups without a significant difference"
        f" ({comparison.description()}): {listed}.",
        (7.5 + BAR * len(joined), 1.4 + 0.32 * len(ranked)),
    )
