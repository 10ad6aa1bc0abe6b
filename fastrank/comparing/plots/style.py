"""The look of the plots: sizes, colours and lines that colour-blind readers can tell apart."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison

# The black of lines and text, which reports replace by the colour of their text, and a grey that is
# readable on white and on black.
INK, MUTED = "#000000", "#7a7a7a"
# The white of the paper inside a plot, which reports replace by their background.
PAPER = "#fefefe"
# The grey of what is not significant.
BLANK = "#eeeeee"
# Okabe and Ito, 'Color universal design', 2008, without yellow, which is too pale for lines.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
LINES = ("-", "--", "-.", ":")
FIRST, SECOND = COLORS[:2]
# Points above this number are drawn as pixels, also in SVG and PDF.
MANY_POINTS = 2000
DOTS = 150

PARAMETERS: dict[str, Any] = {
    "axes.edgecolor": MUTED,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "figure.constrained_layout.use": True,
    "figure.dpi": DOTS,
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    # Without these, ids in SVG are random and text becomes shapes.
    "svg.fonttype": "none",
    "svg.hashsalt": "fastrank",
    # A name such as $x$ is not a formula.
    "text.parse_math": False,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8.5,
}


def line(place: int) -> dict[str, Any]:
    """A colour and line style, which differ for the first 28."""
    return {
        "color": COLORS[place % len(COLORS)],
        "linestyle": LINES[place % len(LINES)],
    }


def line_of(comparison: Comparison, system: str) -> dict[str, Any]:
    """The colour and line style of a system, the same in all plots of a comparison."""
    return line(comparison.names.index(system))


def color_of(comparison: Comparison, system: str) -> str:
    """The colour of a system. What is not a system is drawn in INK, MUTED, or BLANK."""
    return str(line_of(comparison, system)["color"])


def heading(axes: Any, title: str, *lines: str) -> None:
    """The title of a plot, with smaller lines below it."""
    rows = "\n".join(row for row in lines if row).splitlines()
    # The lines are between the title and the axes.
    axes.set_title(title, pad=8 + 12 * len(rows))
    if rows:
        axes.annotate(
            "\n".join(rows), (0, 1), xytext=(0, 6), xycoords="axes fraction",
            textcoords="offset points", va="bottom", fontsize=8, linespacing=1.25,
        )  # fmt: skip


def beside(axes: Any, y: float, text: str, **more: Any) -> None:
    """Text to the right of the axes; y: a value of the axis."""
    axes.annotate(
        text, (1, y), xytext=(8, 0), xycoords=("axes fraction", "data"),
        textcoords="offset points", fontsize=8, va="center", annotation_clip=False, **more,
    )  # fmt: skip


def legend(axes: Any, **more: Any) -> None:
    """A legend to the right of the axes."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0, **more)
