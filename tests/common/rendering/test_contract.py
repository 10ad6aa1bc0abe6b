"""Every result in every format: the same cells and paragraphs, which parse back."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from unicodedata import normalize

import numpy as np
import pytest

import fastrank as fr
from fastrank.analysis.comparing.shown import columns_document, document_of, pairs_document
from fastrank.analysis.comparing.tables import query_table
from fastrank.analysis.gating.shown import to_markdown, to_text
from fastrank.common.messages import visible
from fastrank.common.rendering.document import Cell, Document, Grid, Items, Paragraph, Section
from fastrank.common.rendering.html import html
from fastrank.common.rendering.latex import latex
from fastrank.common.rendering.markdown import markdown
from fastrank.common.rendering.numbers import joined
from fastrank.common.rendering.text import text
from fastrank.core.results.table import grid_of
from tests.common.rendering.parsers import (
    PLAIN,
    Page,
    grids_of_latex,
    grids_of_markdown,
    grids_of_text,
    text_of_latex,
    text_of_markdown,
)
from tests.helpers.comparisons import compare_data, random_rows, scores_of
from tests.helpers.tables import giving

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.common.rendering.document import Block

# What each syntax, a terminal, or a reader could take for something else.
MOVING = "\n\r\x1b[2J\x9b\u202e\u2028"
SYNTAX = r"a|b <b>*x* `c` #h_i_ {j} k^2~l \m\\ [n](o) *p [q r--s---t &amp; 日本語 _u v_ +"
HOSTILE = (
    *("50% $x$", "≤ ▲", "- w", "d & e", "1. x", "e\u0301", MOVING, "\udcff", "\"'<script>"),
    *SYNTAX.split(),
)


def _hostile_comparison(**options: Any) -> fr.Comparison:
    rows = random_rows(len(HOSTILE), 12)
    rows[3] += 2
    values = list(scores_of(rows).values())
    return fr.compare_scores(dict(zip(HOSTILE, values, strict=True)), **options)


def _hostile_notes(**options: Any) -> fr.Comparison:
    """Names and queries that move the cursor, in notes too."""
    queries = {f"{MOVING}q{i}": float(i % 3) for i in range(9)}
    values = {f"{MOVING}{name}": dict(queries) for name in "ab"}
    values[f"{MOVING}a"][f"{MOVING}q0"] = float("nan")
    return fr.compare_scores(values, **options)


def _explanation(**options: Any) -> fr.Explanation:
    docs = [name for name in HOSTILE if "\n" not in name]
    qrels = {"<q>": {name: place % 3 for place, name in enumerate(docs[:-3])}}
    run = {"<q>": {name: 30.0 - place for place, name in enumerate(docs[2:])}}
    other = {"<q>": {name: float(place) for place, name in enumerate(docs[2:])}}
    if options.pop("two", False):
        options["other"] = other
    return fr.explain(qrels, run, "ndcg map P.3 rbp", query="<q>", **options)


def _table() -> fr.Table:
    columns = {
        "name|&": list(HOSTILE),
        "value": [float("nan"), -1e-9, 1e9, *np.linspace(-1, 1, len(HOSTILE) - 3)],
        "count": list(range(len(HOSTILE))),
        "empty": [None] * len(HOSTILE),
    }
    return fr.Table(columns=columns, bold=frozenset({(1, 1), (2, 1)}))


def _of_table(table: fr.Table) -> Document:
    """A table alone."""
    return Document([grid_of(table)])


DOCUMENTS: dict[str, Callable[[], Document]] = {
    "comparison": lambda: document_of(compare_data()),
    "compact letters": lambda: document_of(compare_data(), letters=True, percent=True),
    "a baseline": lambda: document_of(compare_data(baseline="pixels")),
    "baselines": lambda: document_of(compare_data(baseline=["pca", "profile"])),
    "one system": lambda: document_of(fr.compare_scores({"a": {"q": 0.1, "r": 0.7}})),
    "hostile systems": lambda: document_of(_hostile_comparison()),
    "a hostile baseline": lambda: document_of(_hostile_comparison(baseline=3, test="sign")),
    "hostile notes": lambda: document_of(_hostile_notes()),
    "hostile notes on a baseline": lambda: document_of(_hostile_notes(baseline=0)),
    "hostile notes on signs": lambda: document_of(_hostile_notes(test="sign")),
    "tiny p-values": lambda: document_of(compare_data(test="sign", baseline="pca")),
    "pairs": lambda: pairs_document(_hostile_comparison(interval="bca", resamples=200)),
    "queries": lambda: _of_table(query_table(_hostile_comparison(), pair=None)),
    "explanation": lambda: _explanation()._document(),
    "explanation of two": lambda: _explanation(two=True)._document(),
    "table": lambda: _of_table(_table()),
    "transposed table": lambda: _of_table(_table().transpose()),
    "agreement": lambda: _of_table(fr.overlap({"<q>": {"a": 1, "b": 2}}, {"<q>": {"a": 1}})),
    "empty table": lambda: _of_table(fr.Table(columns={"a": [], "b": []})),
}


@cache
def _made(name: str) -> Document:
    return DOCUMENTS[name]()


@pytest.fixture(params=DOCUMENTS)
def document(request: pytest.FixtureRequest) -> Document:
    """One of the documents."""
    return _made(request.param)


def _blocks(blocks: Any) -> Iterator[Block]:
    for block in blocks:
        yield block
        if isinstance(block, Section):
            yield from _blocks(block.blocks)


def _grids(document: Document) -> list[Grid]:
    return [block for block in _blocks(document.blocks) if isinstance(block, Grid)]


def _texts(document: Document) -> list[str]:
    """The texts outside grids."""
    found: list[str] = []
    for block in _blocks(document.blocks):
        if isinstance(block, Paragraph):
            found.append(visible(block.text))
        elif isinstance(block, Items):
            found += map(visible, block.texts)
        elif isinstance(block, Section):
            found.append(visible(block.title))
    return found


def _expected(grid: Grid) -> list[list[str]]:
    header = [visible(name).strip() for name in grid.header]
    return [header, *([_plain(cell) for cell in row] for row in grid.rows)]


def _plain(cell: Cell) -> str:
    marks = f"^{joined(cell.marks)}" if cell.marks else ""
    return visible(cell.text).strip() + marks


def _same(found: list[list[list[str]]], document: Document) -> None:
    assert found == [_expected(grid) for grid in _grids(document)]


def test_text_parses_back(document):
    written = text(document, ascii=True)

    _same(_each(grids_of_text(written), lambda cell: cell.replace(" ^", " ")), document)
    unwrapped = " ".join(written.split())
    for expected in _texts(document):
        assert " ".join(expected.split()) in unwrapped


@pytest.mark.parametrize("name", ["comparison", "compact letters"])
def test_superscripts_are_the_letters(name):
    document = _made(name)

    found = [
        [re.sub(f"([{''.join(PLAIN)}]+)$", _as_letters, cell) for cell in row]
        for row in grids_of_text(text(document))[0][1:]
    ]

    # Names end with letters that are no superscripts.
    assert [row[2:] for row in found] == [row[2:] for row in _expected(_grids(document)[0])[1:]]


def _as_letters(found: re.Match[str]) -> str:
    return "^" + "".join(PLAIN[letter] for letter in found[1])


def test_markdown_parses_back(document):
    written = markdown(document)

    _same(grids_of_markdown(written), document)
    plain = text_of_markdown(re.sub(r"^\|.*\n?", "", written, flags=re.MULTILINE))
    for expected in _texts(document):
        assert expected.replace("**", "") in plain


def _each(grids: Any, change: Callable[[str], str]) -> list[list[list[str]]]:
    return [[[change(cell) for cell in row] for row in grid] for grid in grids]


def _without_thin_spaces(cell: str) -> str:
    return cell.replace(r"\,", ",").replace(",^", "^").rstrip(",")


def test_latex_parses_back(document):
    written = latex(document)

    # LaTeX has accented letters as one character.
    found = _each(grids_of_latex(written), _without_thin_spaces)
    assert found == _each(map(_expected, _grids(document)), lambda cell: normalize("NFC", cell))
    plain = text_of_latex(written)
    for expected in _texts(document):
        assert normalize("NFC", expected) in plain


def test_html_parses_back(document):
    page = Page(html(document))

    assert [[[cell.strip() for cell in row] for row in table] for table in page.tables] == [
        _expected(grid) for grid in _grids(document)
    ]
    assert page.paragraphs == _texts(document)
    assert "script" not in page.tags


def test_html_in_a_file_is_a_whole_page(document):
    written = html(document, page="a <title>")
    page = Page(written.removeprefix("<!DOCTYPE html>\n"))

    assert written.startswith('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">')
    assert page.tags.count("html") == page.tags.count("style") == page.tags.count("body") == 1
    assert page.tables == Page(html(document)).tables


@pytest.mark.parametrize("write", [text, markdown, latex, html])
def test_nothing_moves_the_cursor(write, document):
    assert write(document).replace("\n", "").isprintable()


COMPARED, EXPLAINED = compare_data(), _explanation()

test_methods_of_results_write_their_documents = giving("""
COMPARED.to_markdown() => markdown(document_of(COMPARED))
COMPARED.to_latex() => latex(document_of(COMPARED))
COMPARED.to_latex(show="mean") => latex(columns_document(COMPARED, "mean", [*"†‡§¶"]))
COMPARED.to_html() => html(document_of(COMPARED))
COMPARED.to_html(page=True)[:15] => "<!DOCTYPE html>"
EXPLAINED.to_markdown() => markdown(EXPLAINED._document())
EXPLAINED.to_html() => html(EXPLAINED._document())
EXPLAINED.to_html(page=True) => html(EXPLAINED._document(), page="Query <q>")
""")


def test_html_shows_intervals_and_p_values():
    rows = html(document_of(compare_data())).splitlines()

    assert (
        '<td class="number second" title="95% interval [0.8711, 0.9259]"><u>0.8985</u>'
        '<sup title="+0.0935 [+0.0625, +0.1245] from pca, p = 2.4e-08">b</sup></td>'
    ) in rows[5]


def test_html_says_better_and_worse():
    page = html(document_of(_hostile_comparison(baseline=3, test="sign")))

    assert '<td class="worse">▼</td>' in page
    assert any("from d & e, p = " in title for title in Page(page).titles)


def test_latex_aligns_numbers_by_invisible_marks():
    tabular = latex(document_of(compare_data())).splitlines()

    assert tabular[5].split(" & ")[3].strip() == r"0.8050$^{\hphantom{bc}}$"
    assert tabular[6].split(" & ")[3].strip() == r"\underline{0.8985}$^{b\hphantom{c}}$"


def test_legends_are_smaller_than_paragraphs_in_latex():
    small, usual = latex(Document([Paragraph("a", "legend"), Paragraph("b")])).split("\n\n")

    assert r"\footnotesize" in small
    assert r"\footnotesize" not in usual


def test_latex_of_all_measures_marks_better_above_and_worse_below():
    compared = compare_data(baseline=["pixels", "profile"])

    written = latex(columns_document(compared, "mean", ["*", "!"]))

    assert r"0.3493}$_{*}$" in written
    assert r"0.8050$_{*!}$" in written
    assert "Significantly better (above) or worse (below): * than pixels, ! than profile" in written


def _verdict() -> fr.types.Verdict:
    qrels = {f"<{place}>|`\n": {"d": 1} for place in range(12)}
    file = io.BytesIO()
    fr.save_baseline(file, qrels, {query: {"d": 1.0} for query in qrels}, "RR P@5")
    run = {query: {"x": 1.0} for query in qrels}
    return fr.gate(io.BytesIO(file.getvalue()), qrels, run, min={"RR": 0.5})


def test_a_verdict_has_the_same_checks_as_text_and_in_markdown():
    verdict = _verdict()

    (of_text,) = grids_of_text(to_text(verdict))
    of_markdown, *worst = grids_of_markdown(to_markdown(verdict))

    assert of_text == of_markdown
    assert [row[2] for row in of_text[1:]] == [f"{check.now:.4f}" for check in verdict.results]
    assert [row[0] for row in worst[0][1:3]] == [r"<0>|`\n", r"<10>|`\n"]
    assert all(visible(reason) in to_text(verdict) for reason in verdict.reasons)


# What pdflatex has no fonts for.
NO_FONTS = re.compile("[日本語]")


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs LaTeX")
def test_latex_of_all_results_compiles(tmp_path):
    """Between paragraphs, and in a float with a caption, as in papers."""
    based = compare_data(baseline=["pixels", "profile"])
    written = [latex(_made(name)) for name in DOCUMENTS]
    written += [based.to_latex(show="mean"), compare_data(baseline=0).to_latex(show=["mean", "p"])]
    page = [
        r"\documentclass{article}",
        r"\usepackage{booktabs}",
        r"\begin{document}",
        *("\n\n" + NO_FONTS.sub("?", own) for own in written),
        r"\begin{table}",
        written[0],
        r"\caption{Three systems}",
        r"\end{table}",
        r"\end{document}",
    ]
    # Bytes of names that are not UTF-8 are shown as escapes.
    (tmp_path / "page.tex").write_text("\n".join(page), "utf-8")

    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)

    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "page.pdf").stat().st_size > 10_000


# What programs read: full precision, the names as they are, and no value for NaN.


def _pairs(compared: fr.types.Comparison) -> tuple[str, Any, fr.Table]:
    return compared.to_csv(), json.loads(compared.to_json())["pairs"], compared.pairs()


def _rows(table: fr.Table) -> tuple[str, Any, fr.Table]:
    return table.to_csv(), json.loads(table.to_json()), table


RECORDS: dict[str, Callable[[], tuple[str, Any, fr.Table]]] = {
    "comparison": lambda: _pairs(compare_data()),
    "baseline": lambda: _pairs(compare_data(baseline="pca", test="wilcoxon", interval="bca")),
    "hostile systems": lambda: _pairs(_hostile_comparison()),
    "hostile notes": lambda: _pairs(_hostile_notes(test="sign")),
    "one system": lambda: _pairs(fr.compare_scores({"a": {"q": 0.1, "r": 0.7}})),
    "queries": lambda: _rows(query_table(_hostile_comparison(), pair=None)),
    "letters and ranks": lambda: _rows(_hostile_comparison().ranks("value", resamples=50)),
    "explanation": lambda: _rows(_explanation().table("ndcg")),
    "differences": lambda: _rows(_explanation(two=True).difference("ndcg")),
    "table": lambda: _rows(_table()),
    "transposed table": lambda: _rows(_table().transpose()),
    "overlap": lambda: _rows(fr.overlap({"<q>": {"a": 1, "b": 2}}, {"<q>": {"a": 1}})),
    "agreement": lambda: _rows(fr.agreement({"<q>": {"a": 1, "b": 2}}, {"<q>": {"a": 1, "b": 1}})),
    "verdict": lambda: _rows(_verdict().checks),
    "empty table": lambda: _rows(fr.Table(columns={"a": [], "b": []})),
}


@pytest.fixture(params=RECORDS)
def record(request: pytest.FixtureRequest) -> tuple[str, Any, fr.Table]:
    """A result as CSV, as parsed JSON, and as a table."""
    return RECORDS[request.param]()


def _cell(value: Any) -> str:
    """A value in CSV, where a text that a spreadsheet would run begins with an apostrophe."""
    if isinstance(value, str) and len(value) > 1 and value[0] in "=+-@\t\r":
        return f"'{value}"
    return "" if value is None else repr(float(value)) if isinstance(value, float) else str(value)


def test_csv_parses_back(record):
    written, _, table = record

    header, *rows = csv.reader(io.StringIO(written, newline=""))

    assert header == [_cell(name) for name in table.names]
    assert rows == [[_cell(value) for value in row] for row in table.rows()]


def test_json_parses_back(record):
    _, found, table = record

    def known(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return None
        # JSON has no bytes that are not UTF-8.
        return value.replace("\udcff", r"\xff") if isinstance(value, str) else value

    assert found == [
        {known(name): known(value) for name, value in zip(table.names, row, strict=True)}
        for row in table.rows()
    ]


def test_json_of_a_comparison_has_its_means_and_intervals():
    compared = _hostile_comparison()

    found = json.loads(compared.to_json())

    names = [name.replace("\udcff", r"\xff") for name in HOSTILE]
    assert [*found["systems"]] == names
    for name, shown in zip(HOSTILE, names, strict=True):
        low, high = compared.interval_of("value", name)
        expected = {"mean": compared.mean["value"][name], "low": low, "high": high}
        assert found["systems"][shown]["value"] == expected


@pytest.mark.parametrize("write", [text, markdown])
@pytest.mark.parametrize("name", ["::error::q", " ::error::q", "##[error]q"])
def test_no_name_is_a_command_to_a_runner_of_github(write, name):
    """They are in https://docs.github.com/actions: `::` begins a line, and `##[` is anywhere."""
    grid = Grid(["query", "RR"], [[Cell(name), Cell("1.0", number=True)]])
    section = Section(name, [Paragraph(name)])

    written = write(Document([grid, Paragraph(name), Items([name]), section]))

    assert not [line for line in written.splitlines() if re.match(r"\s*::|.*##\[", line)]
    assert written.count("error") == 5
