"""`fastrank hard-negatives`: judgments, a run and texts in, training data out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import fastrank as fr
from tests.helpers.commands import fastrank, write

CORPUS = [{"_id": f"d{i}", "title": f"T{i}", "text": f"text {i}"} for i in range(1, 5)]
QUERIES = [{"_id": "q1", "text": "one?"}, {"_id": "q2", "text": "two?"}]
COMMAND = "hard-negatives qrels run"


@pytest.fixture(autouse=True)
def _inputs(folder: Path) -> None:
    write({"qrels": "q1 0 d2 1\nq2 0 d1 1\n"})
    run = "q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.8 t\nq1 Q0 d3 3 0.7 t\nq2 Q0 d1 1 0.5 t\n"
    write({"run": run})
    for name, records in (("corpus", CORPUS), ("queries", QUERIES)):
        write({f"{name}.jsonl": "".join(json.dumps(record) + "\n" for record in records)})


def test_records_with_texts_go_to_a_compressed_file() -> None:
    texts = "--corpus corpus.jsonl --queries queries.jsonl"
    found = fastrank(f"{COMMAND} --negatives 1 {texts} -o out.jsonl.gz")

    assert found == (
        0,
        "2 queries, 1 negative, 2 records; 1 query with fewer negatives than requested"
        " (1 with none)\n",
        "",
    )
    lines = gzip.decompress(Path("out.jsonl.gz").read_bytes()).splitlines()
    corpus = {own["_id"]: {"title": own["title"], "text": own["text"]} for own in CORPUS}
    queries = {own["_id"]: own["text"] for own in QUERIES}
    mined = fr.hard_negatives("qrels", "run", 1).records(corpus=corpus, queries=queries)
    assert list(map(json.loads, lines)) == list(mined)


def test_without_texts_ids_go_to_standard_output() -> None:
    found = fastrank(f"{COMMAND} --format triplet")

    assert found.out == (
        '{"anchor": "q1", "positive": "d2", "negative": "d1"}\n'
        '{"anchor": "q1", "positive": "d2", "negative": "d3"}\n'
    )
    told = "fastrank hard-negatives: 2 queries, 2 negatives, 2 records; 2 queries"
    assert found.err.startswith(told)


def test_texts_may_be_tab_separated() -> None:
    write({"corpus.tsv": "id\ttext\ttitle\nd1\tfirst\t\nd2\tsecond\tTwo\n"})

    found = fastrank(f"{COMMAND} --format triplet --negatives 1 --corpus corpus.tsv")

    expected = {"anchor": "q1", "positive": "Two second", "negative": "first"}
    assert json.loads(found.out) == expected


def test_answers_of_the_questions_are_written_for_dpr_only() -> None:
    write({"dev.qa.csv": "one?\t['1', 'I']\ntwo?\t['2']\n", "qrels": "0 0 d2 1\n1 0 d1 1\n"})
    write({"run": "0 Q0 d1 1 0.9 t\n0 Q0 d2 2 0.8 t\n1 Q0 d2 1 0.5 t\n"})

    records = [*map(json.loads, fastrank(f"{COMMAND} --queries dev.qa.csv").out.splitlines())]
    triplets = fastrank(f"{COMMAND} --queries dev.qa.csv --format triplet").out.splitlines()

    asked = [(own["question"], own["answers"]) for own in records]
    assert asked == [("one?", ["1", "I"]), ("two?", ["2"])]
    assert json.loads(triplets[0])["anchor"] == "one?"
