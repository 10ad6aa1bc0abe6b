"""The plots of a comparison by their names."""

from __future__ import annotations

import os
from importlib import import_module
from typing import NamedTuple

from fastrank.comparing.plots.image import check_format, our_style, rendered
from fastrank.comparing.plots.view import view_of
from fastrank.errors import OptionError
from fastrank.formats import files
from fastrank.lazy import optional
from fastrank.messages import closest, did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from fastrank.comparing.comparison import Comparison

# Each kind: the module that draws it, and what it shows.
KINDS = {
    "differences": ("pairs", "pair"),
    "scatter": ("pairs", "pair"),
    "intervals": ("systems", "baseline"),
    "p-values": ("p_values", "all"),
    "distribution": ("systems", "all"),
    "values": ("systems", "all"),
    "critical-difference": ("critical_difference", "all"),
    "power": ("pairs", "pair"),
    "over-k": ("families", "family"),
    "precision-recall": ("families", "family"),
}
TAKES = {"pair": "ab", "baseline": "b", "all": "", "family": ""}


class Drawn(NamedTuple):
    """A plot: the axes of matplotlib, and its alternative text."""

    axes: Any
    title: str
    description: str

    def render(self, format: str, salt: str = "") -> bytes:
        """The bytes of an image."""
        return rendered(self.axes.get_figure(), format, self.title, self.description, salt)


def check_kind(kind: str) -> None:
    """Raise OptionError unless there is a plot of this kind."""
    if kind in KINDS:
        return
    hint = did_you_mean(map(repr, closest(kind, KINDS)))
    raise OptionError("kind", f"no plot {kind!r}{hint or '; expected one of ' + ', '.join(KINDS)}")


def draw(
    comparison: Comparison,
    kind: str,
    measure: str | None = None,
    a: str | None = None,
    b: str | None = None,
    axes: Any = None,
) -> Drawn:
    """Draw a plot, into a figure of its own unless there are axes.

    Raises OptionError, MeasureError, and ImportError without matplotlib.
    """
    check_kind(kind)
    name, shows = KINDS[kind]
    for system, given in (("a", a), ("b", b)):
        if given is not None and system not in TAKES[shows]:
            raise OptionError(system, f"the plot {kind!r} has no {system}: it shows all systems")
    optional("matplotlib.figure", "a plot", "plot")
    module = import_module(f"fastrank.comparing.plots.{name}")
    drawing = getattr(module, f"draw_{kind.replace('-', '_')}")
    view = view_of(comparison, shows, measure, a, b)
    if axes is not None:
        title, description, _ = drawing(axes, comparison, view)
        return Drawn(axes, title, description)
    # Avoids pyplot, which has global state and a backend.
    from matplotlib.figure import Figure

    with our_style():
        figure = Figure()
        axes = figure.add_subplot()
        title, description, inches = drawing(axes, comparison, view)
        figure.set_size_inches(inches)
    return Drawn(axes, title, description)


def plot(
    comparison: Comparison,
    kind: str,
    measure: str | None,
    a: str | None,
    b: str | None,
    axes: Any,
    path: str | os.PathLike[str] | BinaryIO | None,
    format: str | None,
) -> Any:
    """Draw a plot and write it if there is a path; the axes. Raises what `draw` raises."""
    check_kind(kind)
    if path is not None:
        format = check_format(path, format)
        files.check_target(path)
    drawn = draw(comparison, kind, measure, a, b, axes)
    if path is not None and format is not None:
        files.write(path, [drawn.render(format)])
    return drawn.axes
