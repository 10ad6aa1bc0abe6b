"""JSON that is wrong is told in the same words by everything that reads JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.analysis.inspecting.inspect import texts_of
from fastrank.analysis.inspecting.sites import check_folder, write_site
from fastrank.core.formats.tables.records import load_json
from fastrank.datasets import hotpot_spans, squad_spans
from fastrank.errors import FastrankError, FormatError

DEEP = b"[" * 100_000
FAULTS = {
    "deep": (b'{"id": ' + DEEP, 1, "objects are nested too deeply"),
    "long": (b'{"id": ' + b"9" * 5_000 + b"}", 1, "an integer is too long"),
    "repeated": (b'{"id": "a", "text": "b", "id": "c"}', 1, "duplicate key 'id' in an object"),
    "cut": (b'{"id": "a",\n"text": ', 2, "Expecting value at column 9"),
}
PLAIN: tuple[Any, Any] = ({"q": {"a": 1}}, {"q": {"a": 1.0}})
READERS: dict[str, Callable[[Path], Any]] = {
    "judgments": lambda path: fr.read_qrels(path, "json"),
    "a run": lambda path: fr.read_run(path, "json"),
    "SQuAD": squad_spans,
    "values of another tool": lambda path: fr.explain(*PLAIN, against=path),
}
LINES: dict[str, Callable[[Path], Any]] = {
    "documents": lambda path: fr.Dataset.from_files(path, io.BytesIO(b"q\tq"), {"q": {"a": 1}}),
    "texts to show": lambda path: texts_of(path, "texts", {"a"}),
    "pairs": fr.Dataset.from_pairs,
    "articles": fr.Dataset.from_articles,
    "rows of a task": fr.TextTask.from_table,
    "candidates": lambda path: fr.read_candidates(path, "jsonl"),
    "questions": hotpot_spans,
}
CASES = [
    *((read, fault) for read in READERS for fault in FAULTS),
    *((read, fault) for read in LINES for fault in FAULTS if fault != "cut"),
]


@pytest.mark.parametrize(("read", "fault"), CASES)
def test_every_reader_says_what_is_wrong(read, fault, tmp_path):
    content, line, reason = FAULTS[fault]
    (tmp_path / "file.jsonl").write_bytes(content)
    with pytest.raises(FormatError, match=rf"file\.jsonl:{line}: {reason}"):
        (READERS | LINES)[read](tmp_path / "file.jsonl")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("read", [fr.read_plan, lambda path: fr.gate(path, *PLAIN)])
def test_what_is_no_json_is_neither_a_plan_nor_a_baseline(read, fault, tmp_path):
    (tmp_path / "file.json").write_bytes(FAULTS[fault][0])
    with pytest.raises(FastrankError, match=r"file\.json.*(expected a plan|baseline)"):
        read(tmp_path / "file.json")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_manifest_that_cannot_be_read_protects_its_folder(fault, tmp_path):
    write_site({"index.html": b"x"}, tmp_path / "site")
    (tmp_path / "site/manifest.json").write_bytes(FAULTS[fault][0])
    with pytest.raises(FastrankError, match="choose an empty folder"):
        check_folder(tmp_path / "site")


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        ('{"a": 1, "b": 2}', ""),
        ('{"a": "x\\":y", "b": 2}', ""),
        ('{"a":1,"a":2}', "a"),
        ('{"a" : 1, "a": 2}', "a"),
        ('{"a"\n: 1, "a": 2}', "a"),
        ('{"a": "\\":", "a": 2}', "a"),
        ('{"a": {"b": 1, "b": 2}}', "b"),
        ('[{"a": 1, "a": 2}]', "a"),
    ],
)
def test_a_key_that_occurs_twice_is_found_in_any_layout(text, repeated):
    if not repeated:
        assert load_json(text, "x") == json.loads(text)
        return
    with pytest.raises(FormatError, match=f"duplicate key '{repeated}' in an object"):
        load_json(text, "x")
