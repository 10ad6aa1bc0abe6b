"""What the results of this package have in common: tables, and how they are written and drawn."""

from __future__ import annotations

from fastrank.analysis.comparing.options import COMPARISON, settings
from fastrank.core.data.columns import Frozen
from fastrank.core.scores.tables import Table, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    import pandas
    from matplotlib.axes import Axes

    from fastrank.analysis.comparing.options import Settings
    from fastrank.common.plots.frame import Frame
    from fastrank.common.rendering.document import Document


class Result(Frozen):
    """A result with a main table, shown as a document."""

    def table(self) -> Table:
        """The main table."""
        raise NotImplementedError

    def _document(self) -> Document:
        raise NotImplementedError

    def _content(self) -> dict[str, object]:
        """What JSON has; tables in it become lists of objects."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a DataFrame of pandas. Raises ImportError without pandas.

        >>> agreement.to_pandas()["coefficient"].tolist()[:2]
        ['agreement', 'kappa']
        """
        return self.table().to_pandas()

    def to_json(self, *, indent: int | None = None) -> str:
        """Everything as a JSON object, with null for NaN and infinity.

        >>> agreement.to_json()[:36]
        '{"judges": ["judge 1", "judge 2"], "'
        """
        from fastrank.core.scores.records import json_text

        return json_text(_plain(self._content()), indent)

    def __str__(self) -> str:
        from fastrank.common.rendering.text import text

        return text(self._document())

    def _repr_html_(self) -> str:
        from fastrank.common.rendering.html import html

        return html(self._document())


def _plain(value: object) -> object:
    if isinstance(value, Table):
        return records(value)
    return (
        {name: _plain(inner) for name, inner in value.items()} if isinstance(value, dict) else value
    )


def settings_of(**options: object) -> Settings:
    """The settings of a comparison with these options, and its defaults for the others."""
    return settings({keyword.name: keyword.default for keyword in COMPARISON} | options)


def draw(
    drawing: Callable[[Axes], Frame],
    names: Sequence[str],
    ax: Axes | None,
    path: str | os.PathLike[str] | BinaryIO | None,
    format: str | None,
) -> Axes:
    """Draw into axes, or a figure of its own, and write the image if there is a path; the axes.

    Raises OptionError for an unknown suffix or format, and ImportError without matplotlib.
    """
    from fastrank.analysis.comparing.plots.images import check_format
    from fastrank.common.lazy import optional
    from fastrank.common.plots.frame import framed
    from fastrank.core.formats.files import files

    optional("matplotlib.figure", "a plot", "plot")
    form = "" if path is None else check_format(path, format)
    drawn = framed(drawing, ax, names)
    if path is not None:
        files.write(path, [drawn.render(form)])
    return drawn.axes
