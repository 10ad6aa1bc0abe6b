"""The look of the plots: sizes, short names, and colours and lines that colour-blind readers can
tell apart."""

from __future__ import annotations

import re

from fastrank.common.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

# The black of lines and text, which reports replace by the colour of their text, and a grey that is
# readable on white and on black.
INK, MUTED = "#000000", "#7a7a7a"
# The white of the paper inside a plot, which reports replace by their background.
PAPER = "#fefefe"
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
LONGEST = 26
# Letters that are kept of what names have in common.
SHARED = 6


def line(place: int) -> dict[str, Any]:
    """A colour and line style, which differ for the first 28."""
    return {"color": COLORS[place % len(COLORS)], "linestyle": LINES[place % len(LINES)]}


def styles_of(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The colour and line style of each system, the same in all plots of a comparison.

    What is not a system is drawn in INK or MUTED.
    """
    return {name: line(place) for place, name in enumerate(names)}


def short(name: str, longest: int = LONGEST) -> str:
    """The visible name, without its middle if it is too long."""
    name = visible(name)
    if len(name) <= longest:
        return name
    head = (longest - 1) // 2
    return f"{name[:head]}…{name[head + 1 - longest :]}"


def short_names(names: Sequence[str], longest: int = LONGEST) -> list[str]:
    """The visible names, shortened so that they still differ.

    Names that would become equal are cut around the place where they differ.
    """
    full = [visible(name) for name in names]
    made = [short(name, longest) for name in full]
    for label in {label for label in made if made.count(label) > 1}:
        places = [place for place, own in enumerate(made) if own == label]
        same = _shared([full[place] for place in places])
        for place in places:
            made[place] = _window(full[place], max(0, same - SHARED), longest)
    most = max(map(len, full), default=0)
    if longest >= most or len(set(made)) == len(set(full)):
        return made
    return short_names(names, longest + 8)


def shortening(names: Sequence[str]) -> Callable[[str], str]:
    """What makes these names short wherever they are in a text."""
    found = dict(zip(map(visible, names), short_names(names), strict=True))
    # A name may begin as another one.
    longest = sorted((name for name, own in found.items() if name != own), key=len, reverse=True)
    if not longest:
        return str
    pattern = re.compile("|".join(map(re.escape, longest)))
    return lambda text: pattern.sub(lambda name: found[name[0]], text)


def _shared(names: Sequence[str]) -> int:
    """How many letters at the start are the same in all names."""
    letters = zip(*names, strict=False)
    return next((place for place, own in enumerate(letters) if len(set(own)) > 1), 0)


def _window(name: str, start: int, longest: int) -> str:
    """The part of a name from about `start` on."""
    start = min(start, max(0, len(name) - longest + 1))
    stop = start + longest - (start > 0)
    end = f"{name[start : stop - 1]}…" if stop < len(name) else name[start:]
    return f"…{end}" if start else end
