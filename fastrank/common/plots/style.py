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
PARAMETERS: dict[str, str | float | list[str]] = {
    "axes.edgecolor": MUTED,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    # The minus sign of the tables.
    "axes.unicode_minus": False,
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
# How many letters are kept of a prefix that names share.
SHARED = 6
# Characters between the words of a name.
SEPARATOR = re.compile(r"[\W_]")


def line(number: int) -> dict[str, Any]:
    """A colour and line style, which differ for the first 28."""
    return {"color": COLORS[number % len(COLORS)], "linestyle": LINES[number % len(LINES)]}


def styles_of(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The colour and line style of each system, the same in all plots of a comparison.

    What is not a system is drawn in INK or MUTED.
    """
    return {name: line(number) for number, name in enumerate(names)}


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
    labels = [short(name, longest) for name in full]
    for label in {label for label in labels if labels.count(label) > 1}:
        rows = [i for i, text in enumerate(labels) if text == label]
        same = _shared([full[i] for i in rows])
        for i in rows:
            labels[i] = _window(full[i], max(0, same - SHARED), longest)
    most = max(map(len, full), default=0)
    if longest >= most or len(set(labels)) == len(set(full)):
        return labels
    return short_names(names, longest + 8)


def distinct_parts(names: Sequence[str]) -> list[str]:
    """The names without the words with which all of them begin and end.

    >>> from fastrank.common.plots.style import distinct_parts
    >>> distinct_parts(["input.bm25.run", "input.dense.run"])
    ['bm25', 'dense']
    """
    if len(names) < 2:
        return list(names)
    start = _words_shared(names)
    end = _words_shared([name[start:][::-1] for name in names])
    parts = [name[start : len(name) - end] for name in names]
    return parts if all(parts) else list(names)


def _words_shared(names: Sequence[str]) -> int:
    """The length of the whole words, each with a separator, with which all names begin."""
    prefix = names[0][: _shared(names)]
    return max((match.end() for match in SEPARATOR.finditer(prefix)), default=0)


def shortening(names: Sequence[str]) -> Callable[[str], str]:
    """A function that shortens these names wherever they are in a text."""
    labels = dict(zip(map(visible, names), short_names(names), strict=True))
    # A name may begin as another one.
    longest = sorted(
        (name for name, label in labels.items() if name != label), key=len, reverse=True
    )
    if not longest:
        return str
    pattern = re.compile("|".join(map(re.escape, longest)))
    return lambda text: pattern.sub(lambda name: labels[name[0]], text)


def _shared(names: Sequence[str]) -> int:
    """How many letters at the start are the same in all names."""
    columns = zip(*names, strict=False)
    return next((i for i, letters in enumerate(columns) if len(set(letters)) > 1), 0)


def _window(name: str, start: int, longest: int) -> str:
    """The part of a name from about `start` on."""
    start = min(start, max(0, len(name) - longest + 1))
    stop = start + longest - (start > 0)
    end = f"{name[start : stop - 1]}…" if stop < len(name) else name[start:]
    return f"…{end}" if start else end
