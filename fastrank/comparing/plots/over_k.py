"""The means of a measure over its cutoffs k."""

from __future__ import annotations

import re

from fastrank.arguments import DEFAULT_VERSION
from fastrank.comparing.plots.lines import draw_lines, interval_words
from fastrank.comparing.plots.style import heading
from fastrank.comparing.plots.view import View, Words
from fastrank.errors import MeasureError
from fastrank.measures.selection import Selection
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison

# P_10, ndcg_cut_10, nDCG@10.
WITH_CUTOFF = re.compile(r"(.+)[_@](\d+)")
# What an error advises.
CUTOFFS = "1,5,10,20,100"


def draw(axes: Any, comparison: Comparison, view: View) -> Words:
    """Draw, and return the title, the description, and the size of a figure.

    Raises MeasureError unless there are two cutoffs of the measure.
    """
    family, cutoffs = _cutoffs(comparison, view.measure)
    values = draw_lines(axes, comparison, list(cutoffs.values()), [float(k) for k in cutoffs])
    if max(cutoffs) >= 20 * min(cutoffs):
        axes.set_xscale("log")
    axes.set_xticks(list(cutoffs), [str(k) for k in cutoffs])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("k")
    axes.set_ylabel(visible(family))
    title = f"{visible(family)} over k"
    heading(axes, title, interval_words(comparison))
    return Words(title, f"{title} = {', '.join(map(str, cutoffs))}: {values}", (7.5, 4.0))


def _cutoffs(comparison: Comparison, family: str) -> tuple[str, dict[int, str]]:
    """A family of measures, by default that with the most cutoffs, and {k: measure}."""
    found: dict[str, dict[int, str]] = {}
    for name in comparison.measures:
        if match := WITH_CUTOFF.fullmatch(name):
            found.setdefault(match[1], {})[int(match[2])] = name
    match = WITH_CUTOFF.fullmatch(family)
    family = match[1] if match else family
    if not family and found:
        family = max(found, key=lambda name: len(found[name]))
    cutoffs = dict(sorted(found.get(family, {}).items()))
    if len(cutoffs) < 2:
        raise MeasureError(
            family, f"over k needs several cutoffs of {family or 'a measure'}; compare with"
            f" {_with_cutoffs(family, *cutoffs.values())}"
        )  # fmt: skip
    return family, cutoffs


def _with_cutoffs(family: str, compared: str = "") -> str:
    """The measures to compare, in the notation of one that was; those of P if there are none."""
    for separator in "@." if "@" in compared else ".@":
        try:
            Selection(measure := f"{family}{separator}{CUTOFFS}").bind(DEFAULT_VERSION)
        except MeasureError:
            continue
        return measure
    return f"P.{CUTOFFS}"
