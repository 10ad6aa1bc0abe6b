"""The files that plots are written to."""

from __future__ import annotations

import os

from fastrank.common.lazy import optional
from fastrank.core.formats.files.source import name_of
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

FORMATS = ("png", "svg", "pdf")


def check_format(target: str | os.PathLike[str] | BinaryIO, format: str | None = None) -> str:
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
