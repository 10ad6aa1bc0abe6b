"""Judgments from ir_datasets, of which a stand-in has the interface."""

from __future__ import annotations

import sys
from collections import namedtuple
from types import SimpleNamespace
from typing import Any

import pytest

import fastrank as fr
from fastrank.cli.main import main

TrecQrel = namedtuple("TrecQrel", "query_id doc_id relevance iteration")
ROWS = [TrecQrel("7", "d1", 2, "0"), TrecQrel("7", "d2", 0, "0"), TrecQrel("9", "d1", 1, "0")]
EXPECTED = {"7": {"d1": 2, "d2": 0}, "9": {"d1": 1}}


@pytest.fixture
def ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = {
        "small/dev": SimpleNamespace(has_qrels=lambda: True, qrels_iter=lambda: iter(ROWS)),
        "small": SimpleNamespace(has_qrels=lambda: False),
    }
    module: Any = SimpleNamespace(load=datasets.__getitem__)
    monkeypatch.setitem(sys.modules, "ir_datasets", module)


def test_judgments_are_read_by_the_id_of_the_dataset(ir_datasets: None) -> None:
    qrels = fr.read_qrels("irds:small/dev")
    assert qrels.to_dict() == EXPECTED
    assert qrels.source == "irds:small/dev"


def test_evaluate_takes_the_id(ir_datasets: None) -> None:
    assert fr.evaluate("irds:small/dev", {"7": {"d1": 1.0}}, "P.1").mean["P_1"] == 1.0


def test_the_judgments_are_converted(ir_datasets: None, tmp_path: Any) -> None:
    path = str(tmp_path / "x.qrels")
    assert main(["convert", "irds:small/dev", path]) == 0
    assert fr.read_qrels(path).to_dict() == EXPECTED


def test_a_run_is_checked_against_the_judgments(
    ir_datasets: None, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.run"
    path.write_text("7 Q0 d1 1 0.5 x\n8 Q0 d1 1 0.5 x\n")

    assert main(["check", "irds:small/dev", str(path)]) == 0

    found = capsys.readouterr().out
    assert "x.run:2: warning: query '8' has no judgments in irds:small/dev" in found
    assert "missing-query: 1" in found


def test_twice_judged_documents_of_a_dataset_are_found(
    ir_datasets: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROWS", [*ROWS, ROWS[0]])

    report = fr.check("irds:small/dev")

    assert report.total("error") == 1
    assert "duplicate" in {one.kind for one in report.findings}


def test_check_names_an_unknown_dataset(
    ir_datasets: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "irds:x"]) == 2
    assert "irds:x: ir_datasets has no dataset with this id" in capsys.readouterr().err


def test_an_unknown_dataset_is_an_error(ir_datasets: None) -> None:
    with pytest.raises(fr.ReadError, match="irds:x: ir_datasets has no dataset with this id"):
        fr.read_qrels("irds:x")


def test_a_dataset_without_judgments_is_an_error(ir_datasets: None) -> None:
    with pytest.raises(fr.InputError, match="irds:small: the dataset has no judgments"):
        fr.read_qrels("irds:small")


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(ImportError) as caught:
        fr.read_qrels("irds:small")
    assert str(caught.value) == "irds:small needs ir_datasets: pip install ir_datasets"
