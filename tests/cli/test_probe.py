"""`fastrank probe`: what it prints and writes, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fastrank as fr
from fastrank.cli.main import main
from fastrank.tasks.ulysses_files import FILES
from tests.helpers.probe_inputs import letter_counts, texts_of, write_tasks

OPTIONS = ("--option", "repetitions=1", "--option", "folds=2", "--option", "epochs=1")
SHORT = {"repetitions": 1, "folds": 2, "epochs": 1}
ROWS = texts_of(1400, 2, 5)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = ["text,label", *(f"{a},{b}" for a, b in zip(*ROWS.values(), strict=True))]
    (tmp_path / "films.csv").write_text("\n".join(lines) + "\n")
    np.save(tmp_path / "films.npy", letter_counts(ROWS["text_a"]))
    (tmp_path / "my_models.py").write_text(
        "from tests.helpers.probe_inputs import letter_counts as encode\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def expected():
    return fr.tasks.evaluate_classification(letter_counts(ROWS["text_a"]), ROWS["label"], **SHORT)


def run(capfdbinary, *words: str) -> tuple[int, str, str]:
    status = main(["probe", *words])
    out, err = capfdbinary.readouterr()
    return status, out.decode(), err.decode()


@pytest.mark.parametrize("source", [("--vectors", "films.npy"), ("--model", "my_models:encode")])
def test_the_table_has_the_values_of_evaluate_classification(source, folder, capfdbinary, expected):
    status, out, err = run(capfdbinary, "films.csv", *source, *OPTIONS)
    header, _, first, second = out.splitlines()
    assert (status, err) == (0, "")
    assert header.split() == ["task", "metric", "mean", "std", "low", "high"]
    assert first.split()[:3] == ["films", "matthews", f"{expected.value:.4f}"]
    assert second.split()[:2] == ["films", "loss"]


def test_json_has_all_values(folder, capfdbinary, expected):
    status, out, _ = run(
        capfdbinary, "films.csv", "--vectors", "films.npy", *OPTIONS, "--format", "json"
    )
    (found,) = json.loads(out)
    assert status == 0
    assert found["values"] == expected.values
    assert (found["name"], found["rows"], found["classes"]) == ("films", 1400, [0, 1])


@pytest.mark.parametrize("form", ["markdown", "latex", "csv", "html"])
def test_other_formats_are_those_of_tables(form, folder, capfdbinary, expected):
    command = ("films.csv", "--vectors", "films.npy", *OPTIONS, "--format", form)
    table = expected.changed(name="films").table()
    printed = getattr(table, f"to_{form}")()
    assert run(capfdbinary, *command)[1].rstrip("\n") == printed.rstrip("\n")
    assert run(capfdbinary, *command, "-o", "out.txt") == (0, "", "")
    assert Path("out.txt").read_text().rstrip("\n") == printed.rstrip("\n")


def test_the_name_of_the_output_file_determines_the_format(folder, capfdbinary):
    command = ("films.csv", "--vectors", "films.npy", *OPTIONS, "-o", "found.json")
    assert run(capfdbinary, *command) == (0, "", "")
    assert json.loads(Path("found.json").read_text())[0]["name"] == "films"


def test_separate_test_rows_are_for_protocols_that_do_not_split(folder, capfdbinary):
    files = ("--test-rows", "films.csv", "--test-vectors", "films.npy")
    status, _, err = run(capfdbinary, "films.csv", "--vectors", "films.npy", *files)
    assert status == 2
    assert "protocol 'ulysses' has no option 'test'" in err


def test_a_folder_has_tasks_of_ulysses_senteval(folder, capfdbinary):
    (folder / "tasks").mkdir()
    write_tasks(folder / "tasks", FILES)
    status, out, err = run(capfdbinary, "tasks", "--model", "my_models:encode", *OPTIONS)
    names = [line.split()[0] for line in out.splitlines()[2:]]
    assert (status, names) == (0, ["F3", "F3", "G3", "G3", "T1A", "T1A"])
    assert "F3: as in the package, the learning rate stays at 5 %" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["films.csv"], "--vectors: expected either --vectors or --model"),
        (["films.csv", "films.csv", "--vectors", "films.npy"], "--vectors: expected one task, fo"),
        (["films.csv", "--model", "encode"], "--model: expected MODULE:NAME, found 'encode'"),
        (["films.csv", "--model", "my_models:decode"], "--model: 'my_models:decode': module"),
        (["films.csv", "--vectors", "films.npy", "--option", "3"], "--option: expected NAME=VALUE"),
        (["films.csv", "--vectors", "films.npy", "--option", "fold=3"], "no option 'fold'; did"),
        (["films.csv", "--vectors", "films.npy", "--option", "folds=1"], "folds: expected 2 or mo"),
        (
            ["films.csv", "--vectors", "films.npy", "--test-rows", "films.csv"],
            "--test-vectors: is need",
        ),
    ],
)
def test_wrong_options_exit_with_2(words, message, folder, capfdbinary):
    status, out, err = run(capfdbinary, *words)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert message in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text,label\na,1\n", "expected 1 rows, one per label, found 1400"),
        ("text,label\na,\nb,1\n", "wrong.csv:2: the label is missing"),
        ("", "wrong.csv"),
        (None, "wrong.csv: no such file"),
    ],
)
def test_wrong_files_exit_with_1(content, message, folder, capfdbinary):
    if content is not None:
        (folder / "wrong.csv").write_text(content)
    status, out, err = run(capfdbinary, "wrong.csv", "--vectors", "films.npy")
    assert (status, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert message in err or "at least two classes" in err
