"""A comparison as Markdown."""

from __future__ import annotations

from fastrank.arguments import flag
from fastrank.comparing.display import (
    interval_name,
    interval_text,
    joined,
    layout_of,
    legend,
    means_of,
    notes_of,
)
from fastrank.comparing.text import SYMBOLS, difference_rows
from fastrank.scores.table_formats import Markup, markdown, markdown_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.display import Layout, Mean


def markdown_of(
    comparison: Comparison, *, bold: bool = True, underline: bool = False, **options: Any
) -> str:
    """Tables in GitHub's Markdown, the legend and the notes. options: of `layout_of`."""
    layout = layout_of(comparison, **options)
    marked = _Marked(bold=flag("bold", bold), underline=flag("underline", underline))
    if comparison.baseline:
        tables = [_differences(comparison, m, layout, marked) for m in comparison.measures]
    else:
        tables = [_means(comparison, layout, marked)]
    paragraphs = [legend(comparison, layout, SYMBOLS), *notes_of(comparison)]
    return "\n\n".join([*tables, *map(markdown_text, paragraphs)])


class _Marked:
    """Means with the best and second in bold and underlined."""

    def __init__(self, *, bold: bool, underline: bool) -> None:
        self._around = {1: ("**", "**") if bold else ("", "")}
        self._around[2] = ("<u>", "</u>") if underline else ("", "")

    def __call__(self, mean: Mean) -> Markup:
        before, after = self._around.get(mean.place, ("", ""))
        superscript = f" <sup>{joined(mean.marks)}</sup>" if mean.marks else ""
        return Markup(f"{before}{mean.text}{after}{superscript}")


def _means(comparison: Comparison, layout: Layout, marked: _Marked) -> str:
    columns: list[list[Any]] = [list(layout.letters.values())] if layout.letters else []
    header = ["", "system"] if layout.letters else ["system"]
    columns.append(layout.names)
    for measure in comparison.measures:
        header.append(measure)
        columns.append([marked(mean) for mean in means_of(comparison, measure, layout).values()])
        if len(layout.names) == 1 and interval_name(comparison):
            header.append(interval_name(comparison))
            bounds = comparison.interval_of(measure, layout.names[0])
            columns.append([Markup(interval_text(*bounds, layout.number))])
    return markdown(header, list(zip(*columns, strict=True)))


def _differences(comparison: Comparison, measure: str, layout: Layout, marked: _Marked) -> str:
    header, rows = difference_rows(comparison, measure, layout, SYMBOLS)
    means = means_of(comparison, measure, layout)
    places = [place for place, name in enumerate(header) if name not in ("system", "baseline", "")]
    shown: list[list[Any]] = []
    for row in rows:
        cells: list[Any] = list(row)
        for place in places:
            cells[place] = Markup(cells[place])
        cells[1] = marked(means[row[0]])
        shown.append(cells)
    return markdown(header, shown)
