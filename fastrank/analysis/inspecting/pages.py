"""The pages of an inspection: what they show without a script, and data for the script."""

from __future__ import annotations

import json
import math
import zlib
from base64 import b64encode
from hashlib import sha256

import numpy as np

from fastrank.analysis.comparing.report.sections import (
    COLORS_OF_PAGE,
    pair_sentence,
    query_tables,
    verdict,
)
from fastrank.analysis.comparing.shown import columns_document, document_of, interval_name
from fastrank.common.messages import counted
from fastrank.common.plots.style import LINES, distinct_parts, short_names, styles_of
from fastrank.common.rendering.document import Cell, Document, Grid, Items, Paragraph, Section
from fastrank.common.rendering.html import html, safe, scrolled
from fastrank.common.rendering.page import whole_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.analysis.inspecting.inspect import Inspection, Text
    from fastrank.analysis.inspecting.results import QueryResults


# The size of a chunk before compression, in characters: what is unpacked for one query.
CHUNK = 400_000
# The size of a text, compressed and in base 64, as a share of the original; the size of a row.
RATIO = 0.55
ROW = 20


def size_of(results: QueryResults, texts: Mapping[str, Text]) -> float:
    """About how many bytes the results of a query take in a page."""
    size = float(ROW * len(results.documents) * (1 + len(results.ranks)))
    for doc in results.documents:
        size += RATIO * (len(doc) + sum(map(len, texts.get(doc, ()))))
    return size


def chunks_of(
    results: Sequence[QueryResults], measures: Sequence[str], texts: Mapping[str, Text]
) -> tuple[dict[str, list[int]], dict[str, str]]:
    """Where the results and documents are, and the chunks, {id of the element: JSON}.

    Documents are numbered in the order in which queries need them. A chunk of results has an array
    for each query: numbers of documents, grades, ranks and scores of each run, what the documents
    add to each measure in each run as {place: value}, the numbers of results, and the number of
    relevant documents that no run has in the first k. A chunk of documents has [id, title, text]
    for each.
    """
    numbers: dict[str, int] = {}
    for query_results in results:
        for doc in query_results.documents:
            numbers.setdefault(doc, len(numbers))
    rows = ([*_row(query_results, measures, numbers)] for query_results in results)
    documents = ([doc, *texts.get(doc, ())] for doc in numbers)
    chunks: dict[str, str] = {}
    starts: dict[str, list[int]] = {}
    for name, items in (("results", rows), ("documents", documents)):
        starts[name] = []
        for i, (first, content) in enumerate(_chunks(items)):
            starts[name].append(first)
            chunks[f"{name}-{i}"] = f'"{content}"'
    return starts, chunks


def _row(
    results: QueryResults, measures: Sequence[str], numbers: Mapping[str, int]
) -> Iterator[object]:
    yield [numbers[doc] for doc in results.documents]
    yield [None if grade is None else short(grade) for grade in results.grades]
    yield results.ranks
    yield [
        [None if score is None else short(score) for score in scores] for scores in results.scores
    ]
    yield [
        [{index: short(add) for index, add in shares.items()} for shares in results.adds[measure]]
        for measure in measures
    ]
    yield results.retrieved
    yield results.missed


def _chunks(items: Iterable[object]) -> Iterator[tuple[int, str]]:
    """The number of the first item, and the items as JSON, compressed and in base 64."""
    texts: list[str] = []
    first = size = 0
    for stop, item in enumerate(items, 1):
        texts.append(json.dumps(item, ensure_ascii=False, separators=(",", ":")))
        size += len(texts[-1])
        if size > CHUNK:
            yield first, _packed(texts)
            texts, first, size = [], stop, 0
    if texts:
        yield first, _packed(texts)


def _packed(texts: Sequence[str]) -> str:
    # Bytes that are not UTF-8 stay lone surrogates, as escapes.
    content = f"[{','.join(texts)}]".encode("utf-8", "backslashreplace")
    return b64encode(zlib.compress(content, 9)).decode()


def short(value: float) -> float | int:
    """A number with at most 5 digits, in as few characters as JSON allows."""
    shown = float(f"{value:.5g}")
    return int(shown) if shown.is_integer() and abs(shown) < 1e6 else shown


# The size of the results in a page of a folder, in bytes.
PAGE = 10_000_000
# Without a script, the results of this many queries are shown, to this depth.
MOST_RESULTS = 10
STATIC_DEPTH = 10
# With more runs than this, pairs have no sentences.
MOST_RUNS = 12
# The digits of values in the data; four are shown.
DIGITS = 6
# The length of names above columns of values, which have space for so many letters.
SHORT = 7


def page_of(inspection: Inspection) -> str:
    """One page with all results."""
    return _page(inspection, _common(inspection), [0], 0)


def folder_of(inspection: Inspection) -> dict[str, bytes]:
    """`index.html` with all queries and no results, and pages with the results of some each."""
    starts, size = [0], 0.0
    for i, results in enumerate(inspection.results):
        added = size_of(results, inspection.texts)
        if size + added > PAGE and size:
            starts.append(i)
            size = 0.0
        size += added
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
    results = [] if part is None else inspection.results[starts[part] : stops[part]]
    data, chunks = chunks_of(results, list(common["adds"]), inspection.texts)
    about = common | {"chunks": data, "part": part, "parts": starts}
    return whole_page(
        inspection.title,
        [_verdicts(inspection.comparison), _notes(inspection), _static(inspection)],
        data={"inspection": about, **chunks},
        kind="inspection",
    )


def _common(inspection: Inspection) -> dict[str, object]:
    """The data that the script reads on every page."""
    comparison, results = inspection.comparison, inspection.results
    values = {
        measure: [[_rounded(value) for value in row] for row in comparison.values(measure).tolist()]
        for measure in comparison.measures
    }
    explained = list(results[0].adds) if results else []
    styles = [*styles_of(comparison.names).values()]
    identity = repr((comparison.queries, comparison.names, comparison.mean)).encode(
        "utf-8", "backslashreplace"
    )
    return {
        # Grades that were given in a page are kept under this name.
        "key": sha256(identity).hexdigest()[:16],
        "runs": comparison.names,
        "short": short_names(distinct_parts(comparison.names), SHORT),
        "lines": [LINES.index(style["linestyle"]) for style in styles],
        "colors": [COLORS_OF_PAGE.get(style["color"].lower(), style["color"]) for style in styles],
        "measures": comparison.measures,
        "lower": [
            measure for measure in comparison.measures if comparison.better(measure) == "lower"
        ],
        "adds": explained,
        "k": inspection.k,
        "level": inspection.level,
        "grades": [short(grade) for grade in inspection.grades],
        "queries": [item.query for item in results],
        "texts": [_query_text(inspection, item.query) for item in results],
        "groups": [inspection.groups.get(item.query) for item in results],
        "unjudged": [[item.unjudged[run] for item in results] for run in range(len(comparison))],
        "values": values,
        "pairs": _pairs(comparison),
    }


def _query_text(inspection: Inspection, query: str) -> str:
    title, text = inspection.queries.get(query, ("", ""))
    return " ".join((title or text).split())


def _pairs(comparison: Comparison) -> dict[str, list[list[str]]]:
    """{measure: for each run and each other one, the sentence on the first minus the second}."""
    if not 1 < len(comparison) <= MOST_RUNS or comparison.baseline:
        return {}

    def sentence(measure: str, a: str, b: str) -> str:
        if a == b or np.isnan(comparison.pair(measure, a, b).difference):
            return ""
        return pair_sentence(comparison, comparison.pair(measure, a, b))

    names = comparison.names
    return {
        measure: [[sentence(measure, a, b) for b in names] for a in names]
        for measure in comparison.measures
    }


def _verdicts(comparison: Comparison) -> str:
    """The verdict on each measure, and the means with their intervals."""
    sentences = [
        verdict(comparison, measure) for measure in comparison.measures if len(comparison) > 1
    ]
    shown = "\n".join(
        f'<p class="verdict" data-measure="{safe(measure)}">{sentence}</p>'
        for measure, sentence in zip(comparison.measures, sentences, strict=False)
    )
    if comparison.baseline:
        blocks = document_of(comparison).blocks
    else:
        columns = ["mean", "interval"] if interval_name(comparison) else ["mean"]
        blocks = columns_document(comparison, columns, ()).blocks
    # The notes have a place of their own.
    means = html(Document(blocks[: len(blocks) - len(comparison.notes)]))
    return f'{shown}<div class="verdicts">{scrolled(means)}</div>'


def _notes(inspection: Inspection) -> str:
    if not inspection.notes:
        return ""
    items = html(Document([Items([f"{note}." for note in inspection.notes])]))
    summary = counted(len(inspection.notes), "note")
    return f'<details class="notes"><summary>{summary}</summary>{items}</details>'


def _static(inspection: Inspection) -> str:
    """For browsers without scripts: values of queries, and some results of the first measure."""
    comparison, results = inspection.comparison, inspection.results
    ranges = np.nan_to_num(np.ptp(comparison.values(comparison.measures[0]), axis=0), nan=-1.0)
    most = np.argsort(-ranges, kind="stable")[: MOST_RESULTS if results else 0].tolist()
    words = "Without JavaScript, this page shows values and the results of the queries that differ"
    sections = [_side_by_side(inspection, results[index]) for index in most]
    shown = html(Document([Paragraph(f"{words} most."), *sections]))
    return f"<noscript>{query_tables(comparison)}\n{shown}</noscript>"


def _side_by_side(inspection: Inspection, results: QueryResults) -> Section:
    """The first results of each run, rank by rank, with their grades."""
    rows = []
    for rank in range(1, min(STATIC_DEPTH, inspection.k, max(results.retrieved)) + 1):
        indices = [ranks.index(rank) if rank in ranks else None for ranks in results.ranks]
        hits = (
            Cell("" if index is None else _hit(inspection, results, index)) for index in indices
        )
        rows.append([Cell(str(rank), number=True), *hits])
    text = _query_text(inspection, results.query)
    title = f"Query {results.query}{': ' if text else ''}{text}"
    grid = Grid(["rank", *inspection.comparison.names], rows)
    return Section(title, [grid if rows else Paragraph("No results.")], 2)


def _hit(inspection: Inspection, results: QueryResults, index: int) -> str:
    doc, grade = results.documents[index], results.grades[index]
    title, text = inspection.texts.get(doc, ("", ""))
    words = " ".join((title or text).split())[:80]
    shown = "unjudged" if grade is None else f"grade {grade:g}"
    return f"{doc} ({shown}){': ' if words else ''}{words}"


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(value, DIGITS)
