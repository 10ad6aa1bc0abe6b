"""Deep and huge JSON in every reader: an error that names the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.analysis.inspecting.sites import check_folder, write_site
from fastrank.core.formats.texts.text_files import objects_of
from fastrank.errors import FastrankError

QRELS, RUN = {"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}
HOSTILE = {
    "deep": '{"a": ' + "[" * 200_000 + "]" * 200_000 + "}",
    "huge": '{"a": ' + "9" * 5_000 + "}",
    "cut": '{"a": [',
}
READERS: dict[str, Callable[[Path], Any]] = {
    "plan": fr.read_plan,
    "against": lambda path: fr.explain(QRELS, RUN, "map", against=path),
    "qrels": fr.read_qrels,
    "run": fr.read_run,
    "baseline": lambda path: fr.gate(path, QRELS, RUN),
    "texts": lambda path: list(objects_of(enumerate(path.read_text().splitlines(), 1), str(path))),
    "pairs": fr.Dataset.from_pairs,
}


@pytest.mark.parametrize("content", HOSTILE)
@pytest.mark.parametrize("reader", READERS)
def test_json_that_python_cannot_read_is_an_error_of_its_file(reader, content, tmp_path):
    path = tmp_path / "file.json"
    path.write_text(HOSTILE[content])

    with pytest.raises(FastrankError) as error:
        READERS[reader](path)

    assert "file.json" in str(error.value)


@pytest.mark.parametrize("content", HOSTILE)
def test_a_manifest_that_cannot_be_read_protects_its_folder(content, tmp_path):
    write_site({"index.html": b"x"}, tmp_path / "site")
    (tmp_path / "site/manifest.json").write_text(HOSTILE[content])
    with pytest.raises(FastrankError, match="choose an empty folder"):
        check_folder(tmp_path / "site")
