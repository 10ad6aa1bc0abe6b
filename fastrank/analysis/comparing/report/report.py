"""Write a comparison as an HTML file."""

from __future__ import annotations

import math
import os
import platform
import time
from importlib import import_module

from fastrank.analysis.comparing.pairs import default_pair
from fastrank.analysis.comparing.report import sections
from fastrank.analysis.comparing.report.sources import Sources
from fastrank.analysis.comparing.shown import document_of, title_of
from fastrank.common.arguments import at_least
from fastrank.common.lazy import optional
from fastrank.common.rendering.document import Cell, Document, Grid
from fastrank.common.rendering.html import html, name, safe, scrolled, table
from fastrank.common.rendering.numbers import number, signed
from fastrank.common.rendering.page import whole_page
from fastrank.core.formats.files import files
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.core.formats.inputs import QrelsLike, RunsLike


def write_report(
    comparison: Comparison,
    path: str | os.PathLike[str] | BinaryIO,
    *,
    title: str | None,
    measure: str | None,
    qrels: QrelsLike | None,
    runs: RunsLike | None,
    examples: int,
    command: str | None,
) -> None:
    """Write the report; the arguments are those of `Comparison.report`."""
    optional("matplotlib.figure", "a report", "plot")
    files.check_target(path)
    if (qrels is None) != (runs is None):
        raise OptionError("qrels", "give qrels and runs together")
    count = at_least("examples", examples, 0)
    main = comparison.measures[0] if measure is None else measure
    comparison.better(main)
    sources = None if runs is None else Sources(comparison, qrels, runs)
    title = title or title_of(comparison)
    parts = {
        "Results": f"{sections.summary(comparison)}{scrolled(_means(comparison))}",
        "Notes": sections.notes(comparison, sources),
        "Means": sections.overview_figures(comparison),
    }
    if len(comparison) > 1:
        parts[f"Pairs in {main}"] = sections.pair_figures(comparison, main)
        if largest := _largest(comparison, main, sources, count):
            parts["Queries that differ most"] = largest
    parts["Values of the queries"] = sections.query_tables(comparison)
    parts["Settings"] = sections.settings(comparison)
    body = [_origin(sources, command), _sections(parts)]
    page = whole_page(title, body, data={"comparison": sections.data(comparison)})
    files.write(path, [page.encode("utf-8", "backslashreplace")])


def _means(comparison: Comparison) -> str:
    """The table with its legend; the notes have a section of their own."""
    blocks = document_of(comparison).blocks
    return html(Document(blocks[: len(blocks) - len(comparison.notes)]))


def _largest(comparison: Comparison, measure: str, sources: Sources | None, count: int) -> str:
    """The queries on which two systems differ most, and how to look at their rankings."""
    a, b = default_pair(comparison, measure)
    queries = comparison.queries_of(measure, a, b).rows()
    differing = [row for row in queries if not math.isnan(row[3]) and row[3] != 0]
    differing.sort(key=lambda row: -abs(row[3]))
    rows = [
        [
            Cell(query, heads_row=True),
            *(
                Cell(text, number=True)
                for text in (number(value_a), number(value_b), signed(change))
            ),
        ]
        for query, value_a, value_b, change in differing[:count]
    ]
    if not rows:
        return ""
    which = f"The {len(rows)} largest differences in {safe(measure)} of {name(a)} and {name(b)}"
    text = f"<p>{which}.</p>\n{scrolled(table(Grid(['query', a, b, 'difference'], rows)))}"
    if sources is not None and sources.graded:
        command = f"<code>{safe(sources.to_inspect(measure))}</code>"
        text += f"\n<p>{command} shows the rankings of all queries side by side.</p>"
    return text


def _origin(sources: Sources | None, command: str | None) -> str:
    """When and with what the report was made, and from which files."""
    # Reproducible builds set this variable to the seconds since 1970.
    seconds = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    date = time.strftime("%Y-%m-%d", time.gmtime(seconds))
    # Imported by name, because the package is above its parts.
    versions = [f"fastrank {import_module('fastrank').__version__}"]
    versions += [f"{module} {import_module(module).__version__}" for module in ("numpy", "scipy")]
    versions.append(f"Python {platform.python_version()}")
    text = f'<p class="soft">{date}, with {", ".join(map(safe, versions))}.</p>'
    if command:
        text += f"\n<p><code>{safe(command)}</code></p>"
    if sources is not None and sources.files:
        rows = [
            [Cell(role, heads_row=True), Cell(path), Cell(digest)]
            for role, path, digest in sources.files
        ]
        listed = scrolled(table(Grid(["", "file", "SHA-256"], rows)))
        text += f"\n<details><summary>Files</summary>{listed}</details>"
    return text


def _sections(parts: dict[str, str]) -> str:
    """The sections under their headings, after links to them."""
    anchors = {heading: f"s{index}" for index, heading in enumerate(parts, 1)}
    links = "".join(
        f'<a href="#{anchor}">{safe(heading)}</a>\n' for heading, anchor in anchors.items()
    )
    body = "\n".join(
        f'<section id="{anchors[heading]}"><h2>{safe(heading)}</h2>\n{part}</section>'
        for heading, part in parts.items()
    )
    return f"<nav>{links}</nav>\n{body}"
