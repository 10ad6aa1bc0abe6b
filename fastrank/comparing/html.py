"""A comparison as HTML, for notebooks and pages."""

from __future__ import annotations

from html import escape

from fastrank.comparing.display import (
    differences_of,
    interval_name,
    interval_text,
    joined,
    layout_of,
    legend,
    means_of,
    notes_of,
    p_text,
)
from fastrank.comparing.text import SYMBOLS, difference_rows
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison, Pair
    from fastrank.comparing.display import Layout, Mean

CLASSES = {0: "number", 1: "number best", 2: "number second"}
# The headers of columns of words; the others have numbers.
WORDS, NUMBER = ("", "system", "baseline"), ' class="number"'
TAGS = {0: "%s", 1: "<b>%s</b>", 2: "<u>%s</u>"}


def html_of(comparison: Comparison, **options: Any) -> str:
    """Table elements, then paragraphs with the legend and the notes. options: of `layout_of`."""
    layout = layout_of(comparison, **options)
    if comparison.baseline:
        tables = [_differences(comparison, m, layout) for m in comparison.measures]
    else:
        tables = [_means(comparison, layout)]
    explained = legend(comparison, layout, SYMBOLS)
    return "\n".join(
        [
            *tables,
            f'<p class="legend">{safe(explained)}</p>',
            *(f'<p class="note">{safe(note)}</p>' for note in notes_of(comparison)),
        ]
    )


def safe(text: str) -> str:
    """Text for elements and attributes, on one line."""
    return escape(visible(text))


def _means(comparison: Comparison, layout: Layout) -> str:
    """A row for each system, a column for each measure."""
    letters, measures = layout.letters, comparison.measures
    shown = {measure: means_of(comparison, measure, layout) for measure in measures}
    pairs = {measure: _pairs(comparison, measure) if letters else {} for measure in measures}
    with_intervals = len(layout.names) == 1 and interval_name(comparison)
    header = ["", "system"] if letters else ["system"]
    for measure in measures:
        header += [measure, interval_name(comparison)] if with_intervals else [measure]
    rows = []
    for name in layout.names:
        cells = [f"<td>{letters[name]}</td>"] if letters else []
        cells.append(f'<th scope="row">{safe(name)}</th>')
        for measure in measures:
            mean = shown[measure][name]
            better = [
                _tested(layout, pairs[measure][name, other])
                for other, mark in letters.items() if mark in mean.marks
            ]  # fmt: skip
            cells.append(_mean(comparison, measure, name, mean, layout, "; ".join(better)))
            if with_intervals:
                bounds = interval_text(*comparison.interval_of(measure, name), layout.number)
                cells.append(f'<td class="number">{bounds}</td>')
        rows.append("".join(cells))
    return _table(header, rows)


def _pairs(comparison: Comparison, measure: str) -> dict[tuple[str, str], Pair]:
    """The pairs of a measure by the names of their systems, in either order."""
    found = {}
    for pair in comparison._pairs_of(measure):
        found[pair.a, pair.b] = pair
        found[pair.b, pair.a] = pair._replace(
            b=pair.a, difference=-pair.difference, low=-pair.high, high=-pair.low
        )
    return found


def _tested(layout: Layout, pair: Pair) -> str:
    """The difference from a system, with its interval and p-value."""
    interval = interval_text(pair.low, pair.high, layout.difference)
    shown = f"{layout.difference(pair.difference)} {interval}".rstrip()
    p = p_text(pair.p_adjusted)
    return f"{shown} from {pair.b}, p {p if p.startswith('<') else f'= {p}'}"


def _mean(
    comparison: Comparison, measure: str, name: str, mean: Mean, layout: Layout, better: str
) -> str:
    """The cell of a mean; its title has the interval, that of its superscript the p-values."""
    interval = interval_text(*comparison.interval_of(measure, name), layout.number)
    title = f' title="{interval_name(comparison)} {interval}"' if interval else ""
    marks = ""
    if mean.marks:
        explained = f' title="{safe(better)}"' if better else ""
        marks = f"<sup{explained}>{joined(mean.marks)}</sup>"
    shown = TAGS[mean.place] % mean.text
    return f'<td class="{CLASSES[mean.place]}"{title}>{shown}{marks}</td>'


def _differences(comparison: Comparison, measure: str, layout: Layout) -> str:
    """A row for each system and baseline."""
    header, rows = difference_rows(comparison, measure, layout, SYMBOLS)
    means = means_of(comparison, measure, layout)
    found = differences_of(comparison, measure, layout)
    pairs = [one for own in found.values() for one in own or (None,)]
    made = []
    for row, one in zip(rows, pairs, strict=True):
        name = row[0]
        cells = [f'<th scope="row">{safe(name)}</th>']
        cells.append(_mean(comparison, measure, name, means[name], layout, ""))
        for title, cell in zip(header[2:], row[2:], strict=True):
            kind = "" if title in WORDS else NUMBER
            if not title:
                kind = ("", ' class="better"', ' class="worse"')[one.sign if one else 0]
            hover = f' title="{safe(_tested(layout, one.pair))}"' if one and title == "p" else ""
            cells.append(f"<td{kind}{hover}>{safe(cell)}</td>")
        made.append("".join(cells))
    return _table(header, made)


def _table(header: list[str], rows: list[str]) -> str:
    cells = "".join(
        f'<th scope="col"{"" if name in WORDS else NUMBER}>{safe(name)}</th>' for name in header
    )
    return "\n".join(
        [
            '<table class="fastrank-comparison">',
            f"<thead><tr>{cells}</tr></thead>",
            "<tbody>",
            *(f"<tr>{row}</tr>" for row in rows),
            "</tbody>",
            "</table>",
        ]
    )
