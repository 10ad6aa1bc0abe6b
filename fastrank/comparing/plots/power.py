"""The smallest difference that a paired t-test finds, by the number of queries.

Source: Cohen, 'Statistical power analysis for the behavioral sciences', 1988, chapter 2.
"""

from __future__ import annotations

import math

import numpy as np

from fastrank.comparing.plots.labels import short_names
from fastrank.comparing.plots.style import INK, LINES, MUTED, heading, legend
from fastrank.comparing.plots.view import View, Words
from fastrank.comparing.power import detectable, queries_for
from fastrank.document.numbers import number
from fastrank.errors import OptionError
from fastrank.messages import counted, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison

POWERS = (0.95, 0.8, 0.5)
POINTS = 30
MOST_QUERIES = 100_000


def draw(axes: Any, comparison: Comparison, view: View) -> Words:
    """Draw, and return the title, the description, and the size of a figure.

    Raises OptionError for systems whose differences do not vary, or are fewer than two.
    """
    measure, a, b, chosen = view
    pair, alpha = comparison.pair(measure, a, b), comparison.alpha
    if pair.n < 2:
        raise OptionError(
            "kind", f"{a!r} and {b!r} have {counted(pair.n, 'query', 'queries')} with values of"
            " both: no power to show"
        )  # fmt: skip
    if not pair.sd > 0:
        raise OptionError(
            "kind", f"{a!r} and {b!r} differ equally on all queries: no power to show"
        )
    needed = queries_for(pair.effect, alpha)
    most = min(MOST_QUERIES, 1.5 * max(4 * pair.n, needed or 0))
    counts = np.unique(np.geomspace(5, max(most, 50), POINTS).round().astype(int))
    for power, style in zip(POWERS, LINES, strict=False):
        sizes = [pair.sd * detectable(int(n), alpha, power) for n in counts]
        axes.plot(counts, sizes, color=INK, ls=style, label=f"power {power:g}")
    axes.axhline(abs(pair.difference), color=MUTED, lw=1, label="observed difference")
    axes.plot([pair.n], [abs(pair.difference)], "D", color=INK, ms=6, label="this comparison")
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")
        axis.set_minor_formatter("")
    axes.set_xlabel("queries")
    axes.set_ylabel(f"mean difference in {visible(measure)}")
    axes.grid(color=MUTED, alpha=0.25, lw=0.6)
    legend(axes)
    title = f"{visible(measure)}: detectable difference of {' and '.join(short_names((a, b)))}"
    found = pair.sd * detectable(pair.n, alpha) if pair.n > 1 else math.nan
    words = (
        f"{pair.n:,} queries detect {number(found)} with power 0.8 (paired t-test, alpha {alpha:g},"
        " not corrected)"
    )
    enough = f"The observed {number(abs(pair.difference))} needs " + (
        f"{needed:,} queries" if needed else "more than 1,000,000,000 queries"
    )
    enough += " for this power"
    heading(axes, title, words, enough, chosen)
    whole = f"{visible(measure)}: detectable difference of {visible(a)} and {visible(b)}"
    sentences = filter(None, (whole, words, enough, chosen))
    return Words(title, ". ".join(sentences) + ".", (7.5, 4.0))
