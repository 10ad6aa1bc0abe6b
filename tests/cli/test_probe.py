"""`fastrank probe`: what it prints and writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.tasks.ulysses_files import FILES
from tests.helpers.commands import fastrank, printed, write
from tests.helpers.probe_inputs import letter_counts, texts_of, write_tasks

OPTIONS = "--option repetitions=1 --option folds=2 --option epochs=1"
COMMAND = f"probe films.csv {OPTIONS}"
ROWS = texts_of(1400, 2, 5)


@pytest.fixture(autouse=True)
def _inputs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["text,label", *(f"{a},{b}" for a, b in zip(*ROWS.values(), strict=True))]
    write({"films.csv": "\n".join(lines) + "\n"})
    write({"my_models.py": "from tests.helpers.probe_inputs import letter_counts as encode\n"})
    np.save("films.npy", letter_counts(ROWS["text_a"]))


@pytest.fixture(scope="module")
def expected() -> Any:
    options = {"repetitions": 1, "folds": 2, "epochs": 1}
    vectors = letter_counts(ROWS["text_a"])
    return fr.tasks.evaluate_classification(vectors, ROWS["label"], **options)


@pytest.mark.parametrize("source", ["--vectors films.npy", "--model my_models:encode"])
def test_the_table_has_the_values_of_evaluate_classification(source: str, expected: Any) -> None:
    header, _, first, second = printed(f"{COMMAND} {source}").splitlines()

    assert header.split() == ["task", "metric", "mean", "std", "low", "high"]
    assert first.split()[:3] == ["films", "matthews", f"{expected.value:.4f}"]
    assert second.split()[:2] == ["films", "loss"]


def test_a_file_of_json_has_all_values(expected: Any) -> None:
    assert printed(f"{COMMAND} --vectors films.npy -o found.json") == ""

    (found,) = json.loads(Path("found.json").read_text())
    assert found["values"] == expected.values
    assert (found["name"], found["rows"], found["classes"]) == ("films", 1400, [0, 1])


@pytest.mark.parametrize("form", ["markdown", "latex", "csv", "html"])
def test_other_formats_are_those_of_tables(form: str, expected: Any) -> None:
    table = expected.changed(name="films").table()
    shown = getattr(table, f"to_{form}")().rstrip("\n")

    line = f"{COMMAND} --vectors films.npy --format {form}"
    assert printed(line).rstrip("\n") == shown
    assert printed(f"{line} -o out.txt") == ""
    assert Path("out.txt").read_text().rstrip("\n") == shown


def test_a_folder_has_tasks_of_ulysses_senteval(folder: Path) -> None:
    (folder / "tasks").mkdir()
    write_tasks(folder / "tasks", FILES)

    found = fastrank(f"probe tasks --model my_models:encode {OPTIONS}")

    names = [line.split()[0] for line in found.out.splitlines()[2:]]
    assert (found.status, names) == (0, ["F3", "F3", "G3", "G3", "T1A", "T1A"])
    assert "F3: as in the package, the learning rate stays at 5 %" in found.err
