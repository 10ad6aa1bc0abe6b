"""A result: a main table and a document, in every form that people read or save."""

from __future__ import annotations

from fastrank.common.arguments import flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from typing import BinaryIO

    import pandas
    import polars
    from matplotlib.axes import Axes

    from fastrank.common.plots.frame import Frame
    from fastrank.common.rendering.document import Document
    from fastrank.core.results.table import Table

# The forms of a result as text, and the methods that give them.
FORMS = {
    "table": "to_text",
    "markdown": "to_markdown",
    "latex": "to_latex",
    "html": "to_html",
    "csv": "to_csv",
    "json": "to_json",
}


class Result:
    """A result with a main table, which is printed, saved and drawn like all others.

    In the examples, `result` is `fr.agreement({"x": 3, "y": 1}, {"x": 2, "y": 1})`.

    A class of results defines `table`; `_document` if it shows more than this table, `_content` if
    JSON has more, and `_drawings` if it is drawn in another way.
    """

    __slots__ = ()

    def table(self) -> Table:
        """The main table.

        >>> result.table().names
        ['coefficient', 'value']
        """
        raise NotImplementedError

    def _document(self) -> Document:
        """The document that text, Markdown, LaTeX and HTML show."""
        return self.table()._document()

    def _content(self) -> object:
        """The content for JSON; tables in it become lists of objects."""
        return self.table()

    def _title(self) -> str:
        """The title of a page."""
        return repr(self).strip("<>")

    def _drawings(self) -> Mapping[str, Callable[[Axes], Frame]]:
        """The kinds of plots, the default first, and what draws them."""
        from fastrank.core.results.drawing import draw_values

        return {"values": lambda axes: draw_values(axes, self._title(), self.table().columns)}

    def _long_names(self) -> Sequence[str]:
        """The names that plots shorten."""
        return ()

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_text(self) -> str:
        """The text that `print` shows: tables in columns, legends and notes.

        >>> result.to_text().splitlines()[2]
        'tau_b           1.0000'
        """
        from fastrank.common.rendering.text import text

        return text(self._document())

    def to_markdown(self) -> str:
        """The same in GitHub's Markdown, escaped: tables in the pipe syntax, and paragraphs.

        >>> result.to_markdown().splitlines()[2]
        '| tau_b         |  1.0000 |'
        """
        from fastrank.common.rendering.markdown import markdown

        return markdown(self._document())

    def to_latex(self) -> str:
        """The same in LaTeX, escaped: tabulars with booktabs rules, and paragraphs.

        >>> result.to_latex().splitlines()[0]
        '\\\\begin{tabular}{lr}'
        """
        from fastrank.common.rendering.latex import latex

        return latex(self._document())

    def to_html(self, *, page: bool | str = False) -> str:
        """The same as HTML elements, escaped, which notebooks show.

        page: a whole page instead, with a title if this is a str.

        >>> result.to_html()[:32], result.to_html(page="Agreement")[:15]
        ('<table class="fastrank numbers">', '<!DOCTYPE html>')
        """
        from fastrank.common.rendering.html import html

        return html(self._document(), page=self._page_title(page))

    def _page_title(self, page: bool | str) -> str | None:
        """The title of a whole page, or None for elements."""
        return page if isinstance(page, str) else self._title() if flag("page", page) else None

    def to_csv(self) -> str:
        """The main table as comma-separated lines, header first, in full precision.

        >>> result.to_csv().splitlines()[:2]
        ['coefficient,value', 'tau_b,1.0']
        """
        return self.table().to_csv()

    def to_json(self, *, indent: int | None = None) -> str:
        """Everything as JSON in full precision, with null for NaN and infinity.

        >>> result.to_json()[:41]
        '[{"coefficient": "tau_b", "value": 1.0}, '
        """
        from fastrank.core.results.records import json_text
        from fastrank.core.results.table import plain

        return json_text(plain(self._content()), indent)

    def to_pandas(self) -> pandas.DataFrame:
        """The main table as a DataFrame of pandas. Raises ImportError without pandas.

        >>> result.to_pandas()["value"].tolist()[:2]
        [1.0, 1.0]
        """
        return self.table().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The main table as a DataFrame of polars. Raises ImportError without polars.

        >>> result.to_polars().columns
        ['coefficient', 'value']
        """
        return self.table().to_polars()

    def plot(
        self,
        kind: str | None = None,
        *,
        ax: Axes | None = None,
        path: str | os.PathLike[str] | BinaryIO | None = None,
        format: str | None = None,
    ) -> Axes:
        """Draw the result with matplotlib, and return its axes; `axes.figure` is the figure.

        kind: what to draw, by default the first kind that this class has. ax: axes to draw into,
        by default those of a new figure. path: where to write the image, as a PNG, SVG or PDF by
        its suffix or by `format`.

        Needs matplotlib (`pip install 'fastrank-eval[plot]'`), whose global state is not changed.
        Raises OptionError for other kinds, suffixes and formats, and ImportError without
        matplotlib.

        >>> result.plot().get_xlabel()
        'value'
        """
        from fastrank.common.plots.frame import framed
        from fastrank.core.results.drawing import drawing_of
        from fastrank.core.results.images import draw_image

        drawing, names = drawing_of(self._drawings(), kind), self._long_names()
        axes: Axes = draw_image(lambda: framed(drawing, ax, names), path, format)
        return axes


def rendered(result: Result, form: str, **layout: object) -> str:
    """A result in one of `FORMS`, ending with a line break; JSON is indented.

    layout: options of the method.
    """
    if form == "json":
        layout["indent"] = 2
    text: str = getattr(result, FORMS[form])(**layout)
    return text if text.endswith("\n") else f"{text}\n"
