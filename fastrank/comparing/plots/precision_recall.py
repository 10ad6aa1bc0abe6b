"""Interpolated precision at 11 levels of recall, as trec_eval's iprec_at_recall."""

from __future__ import annotations

from fastrank.comparing.plots.lines import draw_lines, interval_words
from fastrank.comparing.plots.style import heading
from fastrank.comparing.plots.view import View, Words
from fastrank.errors import MeasureError
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison

FAMILY = "iprec_at_recall"


def draw(axes: Any, comparison: Comparison, view: View) -> Words:
    """Draw, and return the title, the description, and the size of a figure.

    Raises MeasureError unless iprec_at_recall was compared.
    """
    if view.measure and not view.measure.startswith(FAMILY):
        raise MeasureError(view.measure, f"precision-recall shows {FAMILY}, not {view.measure!r}")
    names = [name for name in comparison.measures if name.startswith(f"{FAMILY}_")]
    if len(names) < 2:
        raise MeasureError(FAMILY, f"precision-recall needs the measure {FAMILY}; compare with it")
    levels = [float(name.rpartition("_")[2]) for name in names]
    values = draw_lines(axes, comparison, names, levels)
    axes.set_xlabel("recall")
    axes.set_ylabel("interpolated precision")
    axes.set_ylim(bottom=0)
    title = "Precision over recall"
    heading(axes, title, interval_words(comparison))
    recall = ", ".join(f"{level:g}" for level in levels)
    return Words(title, f"{visible(title)} {recall}: {values}", (7.5, 4.0))
