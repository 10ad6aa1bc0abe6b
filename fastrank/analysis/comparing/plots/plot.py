"""The plots of a comparison by their names."""

from __future__ import annotations

from typing import NamedTuple

from fastrank.analysis.comparing.pairs import default_pair, why_chosen
from fastrank.analysis.comparing.plots.pairs import draw_differences, draw_scatter
from fastrank.analysis.comparing.plots.systems import (
    draw_critical_difference,
    draw_intervals,
    draw_over_k,
    draw_precision_recall,
)
from fastrank.common.lazy import optional
from fastrank.common.messages import counted, meant_choice
from fastrank.common.plots.frame import framed
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.common.plots.frame import Drawn, Frame

# The function that draws each kind, and the systems that it shows.
KINDS: dict[str, tuple[Callable[[Axes, Comparison, View], Frame], str]] = {
    "differences": (draw_differences, "pair"),
    "scatter": (draw_scatter, "pair"),
    "intervals": (draw_intervals, "baseline"),
    "critical-difference": (draw_critical_difference, "all"),
    "over-k": (draw_over_k, "family"),
    "precision-recall": (draw_precision_recall, "family"),
}
TAKES = {"pair": "ab", "baseline": "b", "all": "", "family": ""}


class View(NamedTuple):
    """A measure and two systems; a or b is empty if all systems are shown.

    systems: how many are shown, or how the two were chosen, if nobody named them and there are
    others.
    """

    measure: str
    a: str = ""
    b: str = ""
    systems: str = ""


def default_kind(systems: int) -> str:
    """The kind of plot that shows so many systems."""
    return "differences" if systems == 2 else "intervals"


def check_kind(kind: str) -> None:
    """Raise OptionError unless there is a plot of this kind."""
    if kind in KINDS:
        return
    from fastrank.common.dropped import instead

    hint = instead("kind", kind) or meant_choice(kind, KINDS)
    raise OptionError("kind", f"no plot {kind!r}{hint or '; expected one of ' + ', '.join(KINDS)}")


def draw(
    comparison: Comparison,
    kind: str,
    measure: str | None = None,
    a: str | None = None,
    b: str | None = None,
    axes: Axes | None = None,
) -> Drawn:
    """Draw a plot, into a figure of its own unless there are axes.

    Raises OptionError, MeasureError, and ImportError without matplotlib.
    """
    check_kind(kind)
    draw_frame, scope = KINDS[kind]
    for system, name in (("a", a), ("b", b)):
        if name is not None and system not in TAKES[scope]:
            raise OptionError(system, f"the plot {kind!r} has no {system}: it shows all systems")
    optional("matplotlib.figure", "a plot", "plot")
    view = _view_of(comparison, scope, measure, a, b)

    def draw_with_counts(target: Axes) -> Frame:
        frame = draw_frame(target, comparison, view)
        remarks = (view.systems, _queries(frame.queries, comparison))
        return frame._replace(lines=[*frame.lines, ", ".join(filter(None, remarks))])

    return framed(draw_with_counts, axes, comparison.names)


def _view_of(
    comparison: Comparison, scope: str, measure: str | None, a: str | None, b: str | None
) -> View:
    """The view of a plot: a "pair", all with a "baseline", "all", or a "family" of measures.

    A single measure is by default the first. Raises OptionError and MeasureError.
    """
    systems = counted(len(comparison), "system") if len(comparison) > 1 else ""
    if scope == "family":
        return View(measure or "", systems=systems)
    measure = comparison.measures[0] if measure is None else measure
    comparison.better(measure)
    if scope == "pair":
        pair = default_pair(comparison, measure, a, b)
        why = why_chosen(comparison) if a is None and b is None else ""
        systems = f"{why[0].upper()}{why[1:]} of {len(comparison)} systems" if why else ""
        return View(measure, *pair, systems)
    if scope == "baseline":
        baseline = b or next(iter(comparison.baseline), "")
        if baseline:
            comparison.interval_of(measure, baseline)
        return View(measure, "", baseline if len(comparison) > 1 else "", systems)
    return View(measure, systems=systems)


def _queries(counts: Sequence[int], comparison: Comparison) -> str:
    """The number of queries shown, with what the others lack. counts: those of each system."""
    query_count, least, most = len(comparison.queries), min(counts), max(counts)
    all_queries = counted(query_count, *comparison.settings.unit[:2])
    if least == query_count:
        return all_queries
    count = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    return f"{count} of {all_queries}; the others have no values"
