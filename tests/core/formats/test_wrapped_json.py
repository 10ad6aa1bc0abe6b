"""JSON objects around judgments and runs, which may be on one line or on several."""

import gzip
import json

import pytest

import fastrank as fr

ROWS = [
    {"query_id": "q1", "doc_id": "a", "score": 2.0},
    {"query_id": "q1", "doc_id": "b", "score": 1.0},
]
HITS = {"total": {"value": 2}, "hits": [{"_id": "a", "_score": 2.0}, {"_id": "b", "_score": 1.0}]}
RESPONSE = {"took": 1, "timed_out": False, "hits": HITS, "query_id": "q1"}
RUNS = {
    "data": {"data": ROWS, "total": 2},
    "data last": {"version": None, "data": ROWS},
    "orient=split": {
        "columns": [*ROWS[0]],
        "index": [0, 1],
        "data": [[*row.values()] for row in ROWS],
    },
    "hits": RESPONSE,
    "responses": {"took": 3, "responses": [RESPONSE]},
    "search_results": {"name": "x", "search_results": {"q1": {"a": 2.0, "b": 1.0}}},
    "search_results of records": {"eval": {}, "search_results": ROWS},
    "columns": {name: [row[name] for row in ROWS] for name in ROWS[0]},
    "queries": {"q1": {"a": 2.0, "b": 1.0}},
}
QRELS = {
    "data": {"data": [{"query_id": "q1", "doc_id": "a", "relevance": 1}], "total": 1},
    "relevant_docs": {"mode": "text", "relevant_docs": {"q1": ["a"]}},
    "queries": {"case": 3, "queries": [{"query": "q1", "ratings": {"a": 1}}]},
    "lists": {"q1": ["a"]},
}
CASES = [(fr.read_run, RUNS[name], {"q1": {"a": 2.0, "b": 1.0}}) for name in RUNS]
CASES += [(fr.read_qrels, QRELS[name], {"q1": {"a": 1}}) for name in QRELS]


@pytest.mark.parametrize(("read", "wrapped", "expected"), CASES, ids=[*RUNS, *QRELS])
def test_an_object_means_the_same_on_one_line_and_on_several(read, wrapped, expected, tmp_path):
    for indent in (None, 1):
        text = json.dumps(wrapped, indent=indent).encode()
        for name, content in (
            ("a.json", text + b"\n"),
            ("a", text),
            ("a.json.gz", gzip.compress(text)),
        ):
            (tmp_path / name).write_bytes(content)
            assert read(tmp_path / name).to_dict() == expected


def test_texts_on_one_line_are_read_as_a_table(tmp_path):
    (tmp_path / "t.json").write_text('{"data": [{"query": "a", "positive": "b"}], "total": 1}')
    assert len(fr.Dataset.from_pairs(tmp_path / "t.json").queries) == 1
