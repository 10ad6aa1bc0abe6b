"""The sections of a report, and the plots inside a page."""

from __future__ import annotations

import json
import re
from base64 import b64encode

import numpy as np

from fastrank.analysis.comparing.pairs import pairs_of
from fastrank.analysis.comparing.plots.pairs import counts
from fastrank.analysis.comparing.plots.plot import draw
from fastrank.analysis.comparing.power import detectable, queries_for
from fastrank.analysis.comparing.shown import basis
from fastrank.common.messages import counted, enumerated
from fastrank.common.plots.style import FIRST, INK, MANY_POINTS, PAPER, SECOND
from fastrank.common.rendering.document import Cell, Document, Grid, Items, Paragraph
from fastrank.common.rendering.html import html, name, safe, scrolled, table
from fastrank.common.rendering.numbers import interval, number, p_words, signed
from fastrank.core.scores.text import NOTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.analysis.comparing.pairs import Pair
    from fastrank.analysis.comparing.report.report import Sources

OUTSIDE = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->|<style[^>]*>.*?</style>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
LONG_DECIMALS = re.compile(r"(\d\.\d\d)\d+")
REFERENCES = re.compile(r"#(\w+)[\")]")
# Colours that differ on dark pages.
COLORS_OF_PAGE = {
    INK: "currentColor",
    PAPER: "var(--paper)",
    FIRST.lower(): "var(--first)",
    SECOND.lower(): "var(--second)",
}
IDS = re.compile(r' id="([^"]*)"')


def figure(
    comparison: Comparison,
    kind: str,
    measure: str,
    salt: str,
    a: str | None = None,
    b: str | None = None,
) -> str:
    """A figure element. salt: what distinguishes its ids from those of the other figures."""
    drawing = draw(comparison, kind, measure, a, b)
    if len(comparison.queries) > MANY_POINTS:
        encoded = b64encode(drawing.render("png")).decode()
        alt = safe(f"{drawing.title}. {drawing.description}")
        return f'<figure><img src="data:image/png;base64,{encoded}" alt="{alt}"></figure>'
    svg = inline(drawing.render("svg", salt).decode())
    width = re.search(r'viewBox="0 0 (\d+)', svg)
    # Figures keep their size on wide pages, so that all have text of one size.
    style = f' style="max-width: {int(width[1]) * 4 // 3}px"' if width else ""
    return f"<figure{style}>{svg}</figure>"


def inline(svg: str) -> str:
    """An SVG file as an element of a page, smaller and in the colours of the page."""
    svg = OUTSIDE.sub("", svg[svg.index("<svg") :])
    used = set(REFERENCES.findall(svg))
    return re.sub(r"\s*\n\s*", "\n", TAG.sub(lambda match: _tag(match[0], used), svg)).strip()


def _tag(tag: str, used: set[str]) -> str:
    """A tag without what a page does not need."""
    if tag.startswith("<svg"):
        # HTML has the name space of SVG built in.
        tag = re.sub(r' (xmlns(:\w+)?|version|width|height)="[^"]*"', "", tag)
    tag = IDS.sub(lambda match: match[0] if match[1] in used else "", tag)
    tag = LONG_DECIMALS.sub(r"\1", tag.replace("xlink:href", "href"))
    for color, of_page in COLORS_OF_PAGE.items():
        tag = tag.replace(color, of_page)
    return tag


# How many pairs have plots of their own at most.
MOST_PAIRS = 10
MOST_QUERIES = 1000
DEPTHS = (5, 10, 20, 100)


def summary(comparison: Comparison) -> str:
    """In a sentence for each measure, which systems are better."""
    sentences = [verdict(comparison, measure) for measure in comparison.measures]
    return "\n".join(f"<p>{sentence}</p>" for sentence in sentences if sentence)


def verdict(comparison: Comparison, measure: str) -> str:
    """In a sentence, as HTML, which systems are better; empty if no query has values of all."""
    if not comparison.analysis(measure).has_best:
        return ""
    best = comparison.best(measure)
    mean = number(comparison.mean[measure][best])
    sentence = f"<strong>{safe(measure)}</strong>: {name(best)} has the best mean ({mean})"
    if comparison.baseline:
        others = [system for system in comparison.names if system not in comparison.baseline]
        for baseline in comparison.baseline:
            better = [system for system in others if baseline in comparison.beaten(measure, system)]
            worse = [system for system in comparison.beaten(measure, baseline) if system in others]
            sentence += f". {_listed(better)} significantly better than {name(baseline)}"
            sentence += f", {_listed(worse)} significantly worse" if worse else ""
        return f"{sentence}."
    tied = comparison.tied_with_best(measure)[1:]
    if not tied:
        others = [system for system in comparison.names if system != best]
        worse_systems = name(others[0]) if len(others) == 1 else "all others"
        return f"{sentence} and is significantly better than {worse_systems}."
    equals = enumerated([*map(name, tied)], "or")
    return f"{sentence}; it is not significantly better than {equals}."


def _listed(names: list[str]) -> str:
    listed = enumerated([*map(name, names)]) if names else "No system"
    return f"{listed} {'are' if len(names) > 1 else 'is'}"


def notes(comparison: Comparison, sources: Sources | None) -> str:
    """The notes, the shares of unjudged documents, and those of ties."""
    all_notes = [*comparison.notes, *([] if sources is None else _dropped(sources))]
    items = [f"{note}." for note in all_notes]
    parts = [html(Document([Items(items) if items else Paragraph("None on the comparison.")]))]
    if sources is not None:
        parts.append(_shares(sources))
    return "\n".join(parts)


def _dropped(sources: Sources) -> list[str]:
    """Notes on the documents that were dropped from the rankings."""
    return [
        f"{system}: {counted(count, *NOTED[kind])}"
        for system, removed in sources.dropped.items()
        for kind, count in zip(("excluded", "duplicates"), removed, strict=True)
        if count
    ]


def _shares(sources: Sources) -> str:
    from fastrank.core.evaluation.evaluator import Evaluator
    from fastrank.core.evaluation.ties import tie_report

    measures = " ".join(f"Judged@{depth}" for depth in DEPTHS)
    evaluator = Evaluator(sources.judgments, measures) if sources.graded else None
    rows = []
    for system, run in sources.runs.items():
        ties = tie_report(None, run)
        tied = f"{ties.tied / max(1, ties.lines):.1%}"
        shares = []
        if evaluator is not None:
            mean = evaluator.evaluate(run).mean
            shares = [f"{1 - mean[f'Judged@{depth}']:.1%}" for depth in DEPTHS]
        rows.append(
            [Cell(system, heads_row=True), *(Cell(share, number=True) for share in (*shares, tied))]
        )
    depths = [f"unjudged@{depth}" for depth in DEPTHS] if evaluator is not None else []
    words = (
        "Unjudged: the share of the first documents without a judgment, which most measures count"
        " as not relevant. Tied: the share of results with the score of another one of the query."
    )
    grid = Grid(["system", *depths, "tied"], rows)
    return f"{scrolled(table(grid))}\n{html(Document([Paragraph(words, 'legend')]))}"


def overview_figures(comparison: Comparison) -> str:
    """The intervals of each measure."""
    return "\n".join(
        f"<h3>{safe(measure)}</h3>\n{figure(comparison, 'intervals', measure, f'i{i}')}"
        for i, measure in enumerate(comparison.measures)
    )


def pair_figures(comparison: Comparison, measure: str) -> str:
    """The differences of each pair, or of those of the best systems."""
    order = {system: rank for rank, system in enumerate(comparison.ranked(measure))}
    pairs = sorted(
        pairs_of(comparison, measure),
        key=lambda pair: (max(order[pair.a], order[pair.b]), min(order[pair.a], order[pair.b])),
    )
    parts = []
    if len(pairs) > MOST_PAIRS:
        parts.append(
            f"<p>Of {len(pairs):,} pairs, the {MOST_PAIRS} of the systems with the best means.</p>"
        )
    for i, pair in enumerate(pairs[:MOST_PAIRS]):
        a, b = pair.a, pair.b
        parts.append(
            f"<h3>{name(a)} - {name(b)}</h3>\n<p>{safe(pair_sentence(comparison, pair))}</p>\n"
            '<div class="pair">'
            f"{figure(comparison, 'differences', measure, f'd{i}', a, b)}"
            f"{figure(comparison, 'scatter', measure, f's{i}', a, b)}</div>"
        )
    return "\n".join(parts)


def pair_sentence(comparison: Comparison, pair: Pair) -> str:
    """The difference of two systems, whether it is significant, and what would be found."""
    bounds = interval(pair.low, pair.high, signed)
    significant = comparison.significant(pair.measure, pair.a, pair.b)
    p = f"{'corrected ' if comparison.is_corrected else ''}{p_words(pair.p_adjusted)}"
    level = f", {100 * comparison.level:g}% interval {bounds}{basis(comparison)}" if bounds else ""
    sentences = [
        f"Difference {signed(pair.difference)}{level}; {p},{'' if significant else ' not'}"
        " significant",
        counts(comparison, pair),
    ]
    if pair.sd > 0 and pair.n > 1 and comparison.settings.clusters is None:
        unit = comparison.settings.unit
        difference = number(pair.sd * detectable(pair.n, comparison.alpha))
        needed = queries_for(pair.effect, comparison.alpha)
        for_observed = f"; for the observed one, {needed:,} would be" if needed else ""
        sentences.append(
            f"{pair.n:,} {unit.many} are enough to find a true difference of {difference} in 80% of"
            f" experiments (by a t-test, alpha {comparison.alpha:g}, not corrected for several"
            f" pairs){for_observed}"
        )
    if pair.note:
        sentences.append(pair.note[0].upper() + pair.note[1:])
    return f"{'. '.join(sentences)}."


def query_tables(comparison: Comparison) -> str:
    """The values of each query, a table for each measure."""
    parts = []
    for measure in comparison.measures:
        values = comparison.values(measure)
        rows = np.arange(len(comparison.queries))
        title = f"{len(rows):,} {comparison.settings.unit.many}"
        if len(rows) > MOST_QUERIES:
            ranges = np.nan_to_num(np.ptp(values, axis=0), nan=-1.0)
            rows = np.sort(np.argsort(-ranges, kind="stable")[:MOST_QUERIES])
            title = f"the {MOST_QUERIES:,} of {title} on which the systems differ most"
        cells = [
            [
                Cell(comparison.queries[row], heads_row=True),
                *(Cell(number(value), number=True) for value in values[:, row].tolist()),
            ]
            for row in rows.tolist()
        ]
        grid = Grid([comparison.settings.unit.one, *comparison.names], cells)
        parts.append(
            f"<details><summary>{safe(measure)}: {title}</summary>{scrolled(table(grid))}</details>"
        )
    return "\n".join(parts)


def data(comparison: Comparison) -> str:
    """The comparison as JSON, for programs."""
    return comparison.to_json(per_query=len(comparison.queries) <= MOST_QUERIES)


def settings(comparison: Comparison) -> str:
    """The settings, for readers."""
    content = json.loads(comparison.to_json())
    lines = json.dumps(content["settings"], indent=1, ensure_ascii=False).splitlines()
    return "<pre>" + "\n".join(map(safe, lines)) + "</pre>"
