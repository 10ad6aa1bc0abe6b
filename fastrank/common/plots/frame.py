"""The frame of a plot: figure and axes, title, labels, legend, alternative text; and its image."""

from __future__ import annotations

import io
import re
import warnings
from contextlib import contextmanager, nullcontext
from textwrap import fill
from typing import NamedTuple

from fastrank.common.messages import visible
from fastrank.common.plots.style import DOTS, MUTED, PARAMETERS, shortening
from fastrank.common.rendering.html import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Literal

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


@contextmanager
def our_style() -> Iterator[None]:
    """Our parameters of matplotlib, whatever the user's are, until the end of the block."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(PARAMETERS)
        yield


# The letters of a title and of a line below it that fit into an inch of the figure.
TITLE_LETTERS, LINE_LETTERS = 9, 13


class Frame(NamedTuple):
    """Everything around the data of a plot.

    queries: how many are drawn, of each system or pair. lines: the text below the title, which is
    also in the alternative text. values: sentences about the data, for the alternative text alone.
    x, y: the labels of the axes. rows: the systems along the y axis, from the top. handles: the
    artists that the legend explains. grid: the axes with a grid, "x" or "both". inches: the size of
    the figure.
    """

    title: str
    queries: Sequence[int]
    lines: Sequence[str] = ()
    values: Sequence[str] = ()
    x: str = ""
    y: str = ""
    rows: Sequence[str] = ()
    handles: Sequence[Artist] = ()
    grid: Literal["", "x", "both"] = ""
    inches: tuple[float, float] = (7.5, 4.0)

    def description(self) -> str:
        """The alternative text after the title."""
        return ". ".join(filter(None, (self.title, *self.lines, *self.values))) + "."


class Drawn(NamedTuple):
    """A plot: the axes of matplotlib, and its alternative text."""

    axes: Axes
    title: str
    description: str

    def render(self, format: str, salt: str = "") -> bytes:
        """The bytes of an image, the same for the same figure; an SVG has its alternative text.

        salt: what distinguishes the ids of an SVG from those of other figures on a page.
        """
        import matplotlib

        # Without the date, the same figure gives the same file.
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format, {})
        image = io.BytesIO()
        with our_style(), warnings.catch_warnings():
            # Readers of SVG and PDF have fonts for what ours lacks; PNG shows boxes.
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            matplotlib.rcParams["svg.hashsalt"] = f"fastrank{salt}"
            figure: Any = self.axes.get_figure()
            figure.savefig(
                image,
                format=format,
                dpi=DOTS,
                transparent=format == "svg" and bool(salt),
                metadata={**metadata, **({"Title": self.title} if format == "pdf" else {})},
            )
        if format != "svg":
            return image.getvalue()
        words = f"<title>{safe(self.title)}</title>\n <desc>{safe(self.description)}</desc>"
        return re.sub(
            r"<svg ([^>]*)>",
            lambda match: f'<svg role="img" {match[1]}>\n {words}',
            image.getvalue().decode(),
            count=1,
        ).encode()


def framed(
    drawing: Callable[[Axes], Frame], axes: Axes | None = None, names: Sequence[str] = ()
) -> Drawn:
    """Draw data, and the frame around it; into a figure of its own unless there are axes.

    drawing: draws the data into axes. names: those that are shortened in the figure; the
    alternative text has them whole.
    """
    # Avoids pyplot, which has global state and a backend.
    from matplotlib.figure import Figure

    with our_style() if axes is None else nullcontext():
        figure = Figure()
        target = figure.add_subplot() if axes is None else axes
        frame = _visible(drawing(target))
        if axes is None:
            figure.set_size_inches(frame.inches)
        _draw_frame(target, frame, shortening(names))
    return Drawn(target, frame.title, frame.description())


def _visible(frame: Frame) -> Frame:
    """The frame with escapes for characters that fonts and XML do not have."""
    return frame._replace(
        title=visible(frame.title),
        lines=list(map(visible, frame.lines)),
        values=list(map(visible, frame.values)),
        rows=list(map(visible, frame.rows)),
        x=visible(frame.x),
        y=visible(frame.y),
    )


def _draw_frame(axes: Axes, frame: Frame, short: Callable[[str], str]) -> None:
    width = frame.inches[0]
    rows = [fill(short(line), int(LINE_LETTERS * width)) for line in frame.lines if line]
    below = "\n".join(rows)
    # The lines are between the title and the axes.
    pad = 8 + 12 * len(below.splitlines())
    axes.set_title(fill(short(frame.title), int(TITLE_LETTERS * width)), pad=pad)
    if rows:
        axes.annotate(
            below,
            (0, 1),
            xytext=(0, 6),
            xycoords="axes fraction",
            textcoords="offset points",
            va="bottom",
            fontsize=8,
            linespacing=1.25,
        )
    if frame.x:
        axes.set_xlabel(short(frame.x))
    if frame.y:
        axes.set_ylabel(short(frame.y))
    if frame.rows:
        axes.set_yticks(range(len(frame.rows)), [*map(short, frame.rows)])
        axes.set_ylim(len(frame.rows) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
    if frame.grid:
        axes.grid(axis=frame.grid, color=MUTED, alpha=0.25, lw=0.6)
        axes.set_axisbelow(True)
    if frame.handles:
        labels = [short(visible(str(handle.get_label()))) for handle in frame.handles]
        axes.legend(
            frame.handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0
        )


def beside(axes: Axes, y: float, text: str, **more: Any) -> None:
    """Text to the right of the axes; y: a value of the axis, or as `xycoords` says."""
    look: dict[str, Any] = {
        "xycoords": ("axes fraction", "data"),
        "va": "center",
        "annotation_clip": False,
    }
    axes.annotate(
        text, (1, y), xytext=(8, 0), textcoords="offset points", fontsize=8, **(look | more)
    )
