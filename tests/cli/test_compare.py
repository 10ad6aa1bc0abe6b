"""`fastrank compare`: what it prints and writes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import fastrank as fr
from fastrank.cli.main import main
from tests.helpers.commands import FILES, PCA, PIXELS, PROFILE, QRELS, fastrank, printed, write

RUNS = [PIXELS, PCA, PROFILE]
TWO = f"{QRELS} {PIXELS} {PCA}"


def compare(arguments: str) -> str:
    return printed(f"compare {arguments}")


@pytest.mark.parametrize(
    ("chosen", "a", "b"),
    [
        ("", "pixels", "profile"),
        ("-b pca", "pixels", "pca"),
        (f"--pair profile {PCA}", "profile", "pca"),
    ],
)
def test_values_of_each_query_have_a_difference(chosen, a, b):
    lines = compare(f"-q -m P.5 {chosen} {FILES}").splitlines()

    assert len(lines) == 202
    assert lines[0].split() == ["measure", "query", "pixels", "pca", "profile", a, "-", b]
    names = ["pixels", "pca", "profile"]
    for line in lines[2:]:
        *values, difference = map(float, line.split()[2:])
        first, second = (values[names.index(name)] for name in (a, b))
        assert difference == pytest.approx(first - second, abs=1e-4)


def _rows(text: str, form: str) -> list[list[str]]:
    """The rows of a table without its header."""
    if form == "json":
        return [list(row.values()) for row in json.loads(text)]
    lines = text.splitlines()
    if form == "csv":
        return [line.split(",") for line in lines[1:]]
    return [line.replace("|", " ").split() for line in lines[2:]]


@pytest.mark.parametrize("form", ["table", "markdown", "csv", "json"])
def test_the_queries_that_differ_most_are_printed(form):
    rows = _rows(compare(f"--largest 3 --format {form} {TWO}"), form)

    compared = fr.compare(QRELS, RUNS[:2])
    assert compared.measures == ["map", "ndcg_cut_10", "P_10"]
    for place, measure in enumerate(compared.measures):
        part = rows[3 * place : 3 * place + 3]
        expected = compared.largest(measure, 3, pair=("pixels", "pca")).rows()
        for (name, query, *values), (own, *numbers) in zip(part, expected, strict=True):
            assert (name, query) == (measure, own)
            assert list(map(float, values)) == pytest.approx(numbers, abs=1e-4)


def test_the_page_of_the_largest_differences_is_called_after_the_command(tmp_path):
    page = tmp_path / "x.html"

    assert compare(f"--largest 3 -o {page} {TWO}") == ""

    assert "<title>fastrank compare</title>" in page.read_text("utf-8")


def test_symbols_are_in_ascii_if_the_terminal_cannot_encode_others(monkeypatch):
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, "ascii"))

    assert main(["compare", *FILES.split()]) == 0

    assert b"0.4348^bc" in out.getvalue()


def test_notes_of_csv_are_on_standard_error():
    found = fastrank(f"compare --format csv --test wilcoxon {FILES}")

    assert found.status == 0
    assert found.err
    assert all(line.startswith("fastrank compare: ") for line in found.err.splitlines())


def test_a_plot_is_written_in_the_format_of_its_name():
    pytest.importorskip("matplotlib")

    assert "pixels" in compare(f"--plot plot.svg --plot-kind critical-difference {FILES}")

    compared = fr.compare(QRELS, RUNS, "map ndcg_cut.10", names=["pixels", "pca", "profile"])
    compared.plot("critical-difference", path=(image := io.BytesIO()), format="svg")
    assert Path("plot.svg").read_bytes() == image.getvalue()


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (TWO, "map: pixels - pca"),
        (FILES, "map: means with"),
        (f"--plot-kind scatter --pair profile pca {FILES}", "map: profile against pca"),
    ],
)
def test_the_plot_follows_the_number_of_runs_or_shows_what_is_named(arguments, title):
    pytest.importorskip("matplotlib")

    compare(f"--plot plot.svg {arguments}")

    assert f"<title>{title}" in Path("plot.svg").read_text()


def test_a_report_has_the_names_of_the_files():
    pytest.importorskip("matplotlib")

    compare(f"--report report.html -m map {FILES}")

    page = Path("report.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<code>fastrank inspect ") == 1
    assert all(file in page for file in FILES.split())


def test_a_report_follows_the_order_of_the_ranks():
    pytest.importorskip("matplotlib")
    write({"qrels": "1 0 d1 1\n"})
    write({"a.run": "".join(f"1 Q0 d{place} {place} {place} a\n" for place in range(1, 7))})
    write({"b.run": "1 Q0 d1 1 1 b\n"})

    assert fastrank("compare --rank-by rank -m map --report x.html qrels a.run b.run").status == 0

    assert "<bdi>a</bdi></th><td>80.0%</td>" in Path("x.html").read_text()


@pytest.mark.parametrize("runs", [f"-b pca {FILES}", f"-b {PCA} {FILES}", f"{QRELS} {PCA}"])
def test_the_saved_baseline_is_that_of_the_gate(runs, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    fr.save_baseline("expected.json", QRELS, PCA, "map P.10", relevance_level=2)

    compare(f"--save saved.json -m map -m P.10 -l 2 {runs}")

    found = json.loads(Path("saved.json").read_bytes())
    assert found["source"].pop("command")[0] == "fastrank"
    assert found == json.loads(Path("expected.json").read_bytes())
