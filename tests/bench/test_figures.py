"""The figures of the code: what is counted, and what may only become less."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import code_counts, figures
from bench.__main__ import main
from tests.helpers.paths import REPOSITORY

# No more than these; lower one when its figure gets lower.
MOST = {
    "entries of fastrank/ in git": 16,
    "modules of the largest circle of imports in the core": 2,
    "functions that take judgments, measures and options": 3,
    "classes that keep judgments, measures and options": 2,
    "Any in annotations": 1100,
    "modules of fastrank imported by trec_eval -m map": 48,
    "Python calls of trec_eval -m map, after imports": 740,
    "Python calls for evaluate(file, file, 'map'), warm": 650,
    "Python calls for evaluate(dict, dict, 'map'), warm": 105,
    "objects for evaluate(dict, dict, 'map'), warm": 9,
}
SOURCE = '''"""Docstring."""
from typing import Any

def scored(judgments, measures: Any, *, options) -> list[Any]:
    """Docstring."""
    found, rows = 1, 2  # A comment.
    return [found, rows]

class Judge:
    """Docstring."""

    def __init__(self, qrels, how):
        self._qrels, self.bound, self.options = qrels, [], how
'''


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "fastrank"
    folder.mkdir()
    (folder / "source.py").write_text(SOURCE)
    for name, imported in {"a": "b", "b": "c", "c": "a", "d": "a"}.items():
        (folder / f"{name}.py").write_text(f"def late():\n    from fastrank import {imported}\n")
    return folder


def test_figures_do_not_grow(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    counts = figures.figures()

    assert {what: counts[what] for what in MOST if counts[what] > MOST[what]} == {}


def test_each_figure_has_a_line(monkeypatch, capsys):
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr(figures, "figures", lambda: {"lines": 70123, "modules": 32})

    assert main(["figures"]) == 0
    assert capsys.readouterr().out == "  70,123 lines\n      32 modules\n"


def test_figures_need_a_checkout(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    assert main(["figures"]) == 2
    assert "run this in the root of the repository" in capsys.readouterr().err


def test_what_is_counted_in_the_source(package):
    files = [package / "source.py"]

    assert code_counts.lines(files) == 13
    assert code_counts.tokens(files) == 67
    assert list(code_counts.bindings(files)) == [
        *("judgments", "measures", "options", "found", "rows", "self", "qrels", "how")
    ]
    assert code_counts.vague_bindings(files) == 1
    assert code_counts.anys(files) == 2
    assert code_counts.functions_of_three(files) == 1
    assert code_counts.classes_of_three(files) == 1


def test_modules_that_import_each_other_are_a_circle(package):
    circle = code_counts.largest_circle(package.glob("*.py"), package)

    assert circle == ["fastrank.a", "fastrank.b", "fastrank.c"]
