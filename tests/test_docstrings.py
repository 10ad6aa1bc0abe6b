"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import fastrank as fr

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("module", ["scores", "tables", "groups"])
def test_examples_print_what_they_show(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`fr` is imported there, and `scores` is the average precision of a run in data/."""
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    monkeypatch.chdir(REPOSITORY)
    qrels, run = fr.read_qrels("data/digits.qrels"), fr.read_run("data/pixels.run")
    names = {"fr": fr, "scores": fr.evaluate(qrels, run, "map")}

    found = doctest.testmod(
        importlib.import_module(f"fastrank.{module}"),
        extraglobs=names, optionflags=doctest.ELLIPSIS,
    )  # fmt: skip

    assert found.failed == 0
    assert found.attempted > 0
