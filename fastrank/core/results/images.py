"""Plots as images: how one is drawn and written."""

from __future__ import annotations

import os

from fastrank.common.lazy import optional
from fastrank.core.formats.files import files
from fastrank.core.formats.files.source import name_of
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

    from fastrank.common.plots.frame import Drawn

    Target = str | os.PathLike[str] | BinaryIO

FORMATS = ("png", "svg", "pdf")


def check_format(target: Target, format: str | None = None) -> str:
    """The format of a plot, given or from the path. Raises OptionError, ImportError."""
    is_path = isinstance(target, (str, os.PathLike))
    if format is None and is_path:
        format = os.path.splitext(name_of(target))[1][1:].lower()
    if format not in FORMATS:
        where = f"{name_of(target)}: " if is_path else ""
        expected = f"expected a suffix {', '.join('.' + format for format in FORMATS)}"
        raise OptionError("plot", f"{where}{expected if is_path else f'expected one of {FORMATS}'}")
    optional("matplotlib.figure", "a plot", "plot")
    return format


def draw_image(draw: Callable[[], Drawn], path: Target | None, format: str | None) -> Any:
    """Draw a plot, and write its image if there is a path; the axes.

    Raises OptionError for an unknown suffix or format, OSError, and ImportError without matplotlib.
    """
    optional("matplotlib.figure", "a plot", "plot")
    if path is None:
        return draw().axes
    form = check_format(path, format)
    files.check_target(path)
    drawn = draw()
    files.write(path, [drawn.render(form)])
    return drawn.axes
