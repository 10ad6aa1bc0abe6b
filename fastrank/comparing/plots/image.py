"""Figures as the bytes of an image."""

from __future__ import annotations

import io
import os
import re
import warnings
from contextlib import contextmanager
from html import escape

from fastrank.comparing.plots.style import DOTS, PARAMETERS
from fastrank.errors import OptionError
from fastrank.formats.source import name_of
from fastrank.lazy import optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

FORMATS = ("png", "svg", "pdf")


def check_format(target: str | os.PathLike[str] | BinaryIO, format: str | None = None) -> str:
    """The format of a plot, given or from the path. Raises OptionError, ImportError."""
    named = isinstance(target, (str, os.PathLike))
    if format is None and named:
        format = os.path.splitext(name_of(target))[1][1:].lower()
    if format not in FORMATS:
        where = f"{name_of(target)}: " if named else ""
        expected = f"expected a suffix {', '.join('.' + format for format in FORMATS)}"
        raise OptionError("plot", f"{where}{expected if named else f'expected one of {FORMATS}'}")
    optional("matplotlib.figure", "a plot", "plot")
    return format


@contextmanager
def our_style() -> Iterator[None]:
    """Our parameters of matplotlib, whatever the user's are, until the end of the block."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(PARAMETERS)
        yield


def rendered(figure: Any, format: str, title: str, description: str, salt: str = "") -> bytes:
    """The bytes of an image, the same for the same figure.

    title, description: the alternative text of an SVG. salt: what distinguishes the ids of an SVG
    from those of other figures on a page.
    """
    import matplotlib

    # Without the date, the same figure gives the same file.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format, {})
    image = io.BytesIO()
    with our_style(), warnings.catch_warnings():
        # Readers of SVG and PDF have fonts for what ours lacks; PNG shows boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        matplotlib.rcParams["svg.hashsalt"] = f"fastrank{salt}"
        figure.savefig(
            image, format=format, dpi=DOTS, transparent=format == "svg" and bool(salt),
            metadata={**metadata, **({"Title": title} if format == "pdf" else {})},
        )  # fmt: skip
    if format != "svg":
        return image.getvalue()
    words = f"<title>{escape(title)}</title>\n <desc>{escape(description)}</desc>"
    return re.sub(
        r"<svg ([^>]*)>",
        lambda found: f'<svg role="img" {found[1]}>\n {words}',
        image.getvalue().decode(),
        count=1,
    ).encode()
