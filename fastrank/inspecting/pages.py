"""The pages of an inspection: what they show without a script, and data for the script."""

from __future__ import annotations

import math
from hashlib import sha256

import numpy as np

from fastrank.comparing.plots.style import LINES, short_names, styles_of
from fastrank.comparing.report.sections import pair_sentence, verdict
from fastrank.document.document import Cell, Document, Grid, Items, Paragraph, Section
from fastrank.document.html import html, safe
from fastrank.document.numbers import interval, number
from fastrank.document.page import whole_page
from fastrank.inspecting.chunks import chunks_of, size_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.document.document import Block
    from fastrank.inspecting.inspection import Inspection
    from fastrank.inspecting.results import QueryResults

# The size of the results in a page of a folder, in bytes.
PAGE = 10_000_000
# What is shown without a script: the values of so many queries, the results of so many.
MOST_VALUES = 1000
MOST_RESULTS = 10
STATIC_DEPTH = 10
# More runs than this have no sentence for each pair.
MOST_RUNS = 12
# The digits of values in the data; four are shown.
DIGITS = 6
# The length of names above columns of values.
SHORT = 9


def page_of(inspection: Inspection) -> str:
    """One page with all results."""
    return _page(inspection, _common(inspection), [0], 0)


def folder_of(inspection: Inspection) -> dict[str, bytes]:
    """`index.html` with all queries and no results, and pages with the results of some each."""
    starts, size = [0], 0.0
    for place, results in enumerate(inspection.results):
        own = size_of(results, inspection.texts)
        if size + own > PAGE and size:
            starts.append(place)
            size = 0.0
        size += own
    common = _common(inspection)
    pages = {"index.html": _page(inspection, common, starts, None)}
    for part in range(len(starts)):
        pages[f"queries-{part + 1}.html"] = _page(inspection, common, starts, part)
    return {path: page.encode() for path, page in pages.items()}


def _page(
    inspection: Inspection, common: dict[str, Any], starts: list[int], part: int | None
) -> str:
    """A page with the results of the queries of a part, from starts[part] on."""
    stops = [*starts[1:], len(inspection.results)]
    own = [] if part is None else inspection.results[starts[part] : stops[part]]
    data, chunks = chunks_of(own, list(common["adds"]), inspection.texts)
    about = common | {"chunks": data, "part": part, "parts": starts}
    return whole_page(
        inspection.title,
        [_verdicts(inspection.comparison), _notes(inspection), _static(inspection)],
        data={"inspection": about, **chunks},
        kind="inspection",
    )


def _common(inspection: Inspection) -> dict[str, Any]:
    """What the script reads on every page."""
    comparison, results = inspection.comparison, inspection.results
    values = {
        measure: [[_rounded(value) for value in own] for own in comparison.values(measure).tolist()]
        for measure in comparison.measures
    }
    explained = list(results[0].adds) if results else []
    lines = [LINES.index(own["linestyle"]) for own in styles_of(comparison).values()]
    identity = repr((comparison.queries, comparison.names, comparison.mean)).encode(
        "utf-8", "backslashreplace"
    )
    return {
        # Grades that were given in a page are kept under this name.
        "key": sha256(identity).hexdigest()[:16],
        "runs": comparison.names,
        "short": short_names(comparison.names, SHORT),
        "lines": lines,
        "measures": comparison.measures,
        "lower": [own for own in comparison.measures if comparison.better(own) == "lower"],
        "adds": explained,
        "k": inspection.k,
        "level": inspection.level,
        "grades": [_whole(grade) for grade in inspection.grades],
        "queries": [own.query for own in results],
        "texts": [_query_text(inspection, own.query) for own in results],
        "groups": [inspection.groups.get(own.query) for own in results],
        "unjudged": [[own.unjudged[run] for own in results] for run in range(len(comparison))],
        "values": values,
        "pairs": _pairs(comparison),
    }


def _query_text(inspection: Inspection, query: str) -> str:
    title, text = inspection.queries.get(query, ("", ""))
    return " ".join((title or text).split())


def _pairs(comparison: Comparison) -> dict[str, list[list[str]]]:
    """{measure: for each run and each other one, the sentence on the second minus the first}."""
    if not 1 < len(comparison) <= MOST_RUNS or comparison.baseline:
        return {}

    def sentence(measure: str, a: str, b: str) -> str:
        if a == b or np.isnan(comparison.pair(measure, b, a).difference):
            return ""
        return pair_sentence(comparison, comparison.pair(measure, b, a))

    names = comparison.names
    return {
        measure: [[sentence(measure, a, b) for b in names] for a in names]
        for measure in comparison.measures
    }


def _verdicts(comparison: Comparison) -> str:
    """The verdict on each measure, its means and their intervals."""
    parts = []
    for measure in comparison.measures:
        sentence = verdict(comparison, measure) if len(comparison) > 1 else ""
        shown = f"<p>{sentence}</p>" if sentence else f"<h2>{safe(measure)}</h2>"
        grid = html(Document([_means(comparison, measure)]))
        parts.append(
            f'<section class="verdict" data-measure="{safe(measure)}">{shown}'
            f'<div class="wide" tabindex="0">{grid}</div></section>'
        )
    return "\n".join(['<div class="verdicts">', *parts, "</div>"])


def _means(comparison: Comparison, measure: str) -> Grid:
    """The mean of each run, with its interval and the runs that it is better than."""
    several = len(comparison) > 2 and not comparison.baseline
    found = [interval(*comparison.interval_of(measure, name)) for name in comparison.names]
    header = ["run", f"mean {measure}"]
    header += [f"{100 * comparison.level:g}% interval"] * any(found)
    header += ["significantly better than"] * several
    known, rows = comparison.analysis(measure).has_best, []
    best = comparison.best(measure) if known else ""
    for name, bounds in zip(comparison.names, found, strict=True):
        mean = comparison.mean[measure][name]
        first = name == best and len(comparison) > 1
        row = [Cell(name, heads_row=True), Cell(number(mean), number=True, place=int(first))]
        row += [Cell(bounds, number=True)] * any(found)
        if several:
            row.append(Cell(", ".join(comparison.beaten(measure, name)) if known else ""))
        rows.append(row)
    return Grid(header, rows)


def _notes(inspection: Inspection) -> str:
    if not inspection.notes:
        return ""
    count = len(inspection.notes)
    items = html(Document([Items([f"{note}." for note in inspection.notes])]))
    summary = f"{count} note{'s' if count > 1 else ''}"
    return f'<details class="notes"><summary>{summary}</summary>{items}</details>'


def _static(inspection: Inspection) -> str:
    """For browsers without scripts: values of queries, and some results of the first measure."""
    comparison = inspection.comparison
    measure = comparison.measures[0]
    values = comparison.values(measure)
    ranges = np.nan_to_num(np.ptp(values, axis=0), nan=-1.0)
    order = np.argsort(-ranges, kind="stable").tolist()
    rows = [
        [
            Cell(comparison.queries[place], heads_row=True),
            Cell(_query_text(inspection, comparison.queries[place])),
            *(Cell(number(value), number=True) for value in values[:, place].tolist()),
        ]
        for place in order[:MOST_VALUES]
    ]
    shown = f"{len(rows):,} of {len(order):,} queries, the largest differences first."
    blocks: list[Block] = [
        Paragraph("Without JavaScript, this page shows values and the results of some queries."),
        Section(
            f"Values of {measure}",
            [Paragraph(shown), Grid(["query", "text", *comparison.names], rows)], 2,
        ),
        *(
            _side_by_side(inspection, inspection.results[place])
            for place in order[: MOST_RESULTS if inspection.results else 0]
        ),
    ]  # fmt: skip
    return f"<noscript>{html(Document(blocks))}</noscript>"


def _side_by_side(inspection: Inspection, results: QueryResults) -> Section:
    """The first results of each run, rank by rank."""
    ranked = [
        {rank: place for place, rank in enumerate(own) if 0 < rank <= STATIC_DEPTH}
        for own in results.ranks
    ]
    depth = max((max(own, default=0) for own in ranked), default=0)
    rows = [
        [
            Cell(str(rank), number=True),
            *(c for own in ranked for c in _hit(inspection, results, own.get(rank))),
        ]
        for rank in range(1, depth + 1)
    ]
    header = ["rank", *(text for name in inspection.comparison.names for text in (name, "grade"))]
    text = _query_text(inspection, results.query)
    title = f"Query {results.query}" + (f": {text}" if text else "")
    return Section(title, [Grid(header, rows)] if rows else [Paragraph("No results.")], 2)


def _hit(inspection: Inspection, results: QueryResults, place: int | None) -> Iterator[Cell]:
    if place is None:
        yield from (Cell(""), Cell(""))
        return
    doc, grade = results.documents[place], results.grades[place]
    title, text = inspection.texts.get(doc, ("", ""))
    words = " ".join((title or text).split())[:80]
    yield Cell(f"{doc}: {words}" if words else doc)
    yield Cell("unjudged" if grade is None else f"{grade:g}")


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(value, DIGITS)


def _whole(grade: float) -> float | int:
    return int(grade) if grade.is_integer() else grade
