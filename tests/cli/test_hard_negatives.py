"""`fastrank hard-negatives`: judgments, a run and texts in, training data out."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

import fastrank as fr

RUN = "q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.8 t\nq1 Q0 d3 3 0.7 t\nq2 Q0 d1 1 0.5 t\n"
QRELS = "q1 0 d2 1\nq2 0 d1 1\n"
CORPUS = [{"_id": f"d{i}", "title": f"T{i}", "text": f"text {i}"} for i in range(1, 5)]
QUERIES = [{"_id": "q1", "text": "one?"}, {"_id": "q2", "text": "two?"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    for name, records in (("corpus", CORPUS), ("queries", QUERIES)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    return tmp_path


def mine(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fastrank", "hard-negatives", "qrels", "run", *arguments],
        capture_output=True, text=True, check=False, cwd=folder,
        env={"PYTHONPATH": str(Path(fr.__file__).parent.parent)},
    )  # fmt: skip


def test_records_with_texts_go_to_a_compressed_file(folder: Path) -> None:
    found = mine(
        folder, "--negatives", "1", "--corpus", "corpus.jsonl", "--queries", "queries.jsonl",
        "-o", "out.jsonl.gz",
    )  # fmt: skip

    assert found.stdout == (
        "2 queries, 1 negative, 2 records; 1 query with fewer negatives than requested"
        " (1 with none)\n"
    )
    assert (found.stderr, found.returncode) == ("", 0)
    lines = gzip.decompress((folder / "out.jsonl.gz").read_bytes()).splitlines()
    mined = fr.hard_negatives(folder / "qrels", folder / "run", 1)
    texts = {own["_id"]: {"title": own["title"], "text": own["text"]} for own in CORPUS}
    asked = {own["_id"]: own["text"] for own in QUERIES}
    assert list(map(json.loads, lines)) == list(mined.records(corpus=texts, queries=asked))


def test_without_texts_ids_go_to_standard_output(folder: Path) -> None:
    found = mine(folder, "--format", "triplet")

    assert found.stdout == (
        '{"anchor": "q1", "positive": "d2", "negative": "d1"}\n'
        '{"anchor": "q1", "positive": "d2", "negative": "d3"}\n'
    )
    assert found.stderr.startswith(
        "fastrank hard-negatives: 2 queries, 2 negatives, 2 records; 2 queries"
    )


def test_options_are_those_of_hard_negatives(folder: Path) -> None:
    (folder / "gone").write_text("q1 d1\n")

    for options in (["--skip-top", "2"], ["--margin", "0.05"], ["--exclude", "gone"]):
        found = mine(folder, "--format", "n-tuple", "--negatives", "1", *options)

        assert json.loads(found.stdout)["negative_1"] == "d3"


def test_texts_may_be_tab_separated(folder: Path) -> None:
    (folder / "corpus.tsv").write_text("id\ttext\ttitle\nd1\tfirst\t\nd2\tsecond\tTwo\n")

    found = mine(folder, "--format", "triplet", "--negatives", "1", "--corpus", "corpus.tsv")

    assert json.loads(found.stdout) == {
        "anchor": "q1",
        "positive": "Two second",
        "negative": "first",
    }


def test_answers_of_the_questions_are_written_for_dpr_only(folder: Path) -> None:
    (folder / "dev.qa.csv").write_text("one?\t['1', 'I']\ntwo?\t['2']\n")
    (folder / "qrels").write_text("0 0 d2 1\n1 0 d1 1\n")
    (folder / "run").write_text("0 Q0 d1 1 0.9 t\n0 Q0 d2 2 0.8 t\n1 Q0 d2 1 0.5 t\n")

    found = mine(folder, "--queries", "dev.qa.csv")

    asked = [
        (own["question"], own["answers"]) for own in map(json.loads, found.stdout.splitlines())
    ]
    assert asked == [("one?", ["1", "I"]), ("two?", ["2"])]
    found = mine(folder, "--queries", "dev.qa.csv", "--format", "triplet")
    assert json.loads(found.stdout.splitlines()[0])["anchor"] == "one?"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"_id": "d1", "text": "x"}\n', "corpus: no text for 'd2'"),
        (
            '{"_id": "d1", "text": "x"}\n{"_id": "d1", "text": "y"}\n',
            "x.jsonl:2: duplicate id 'd1' with a different text",
        ),
        ('{"_id": "d1"}\n', "x.jsonl:1: expected a text"),
        ("d1\n", "x.jsonl:1: expected <DOC> or <top>, JSON, or an id, a tab and a text"),
        ('{"_id": "d1",\n', "x.jsonl:1: "),
    ],
)
def test_what_is_wrong_with_a_corpus_is_said_and_nothing_written(
    folder: Path, lines: str, message: str
) -> None:
    (folder / "x.jsonl").write_text(lines)
    before = sorted(folder.iterdir())

    found = mine(folder, "--negatives", "1", "--corpus", "x.jsonl", "-o", "out.jsonl")

    assert found.stderr.startswith(f"fastrank hard-negatives: {message}")
    assert found.returncode == 1
    assert sorted(folder.iterdir()) == before


def test_a_file_that_cannot_be_written_is_named(folder: Path) -> None:
    found = mine(folder, "--negatives", "1", "-o", "none/out.jsonl")

    expected = "fastrank hard-negatives: cannot write none/out.jsonl: No such file or directory\n"
    assert (found.stderr, found.returncode) == (expected, 1)


def test_wrong_options_have_a_status_of_their_own(folder: Path) -> None:
    found = mine(folder, "--negatives", "0")

    assert found.stderr == "fastrank hard-negatives: negatives: expected 1 or more, found 0\n"
    assert found.returncode == 2


def test_help_has_examples(folder: Path) -> None:
    found = mine(folder, "--help")

    assert "examples:\n  fastrank hard-negatives qrels.txt run.txt" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 80
