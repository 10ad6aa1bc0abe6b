"""Data sets from SQuAD's files."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import fastrank as fr


def squad(**changes: Any) -> io.BytesIO:
    """Two paragraphs as in SQuAD 2.0, which has questions that cannot be answered."""
    first = {
        "question": "In what country is Normandy?", "id": "56ddde6b9a695914005b9628",
        "answers": [{"text": "France", "answer_start": 3}] * 2, "is_impossible": False, **changes,
    }  # fmt: skip
    second = {
        "question": "Who?", "id": "5ad39d53604f3c001a3fe8d1", "is_impossible": True, "answers": [],
        "plausible_answers": [{"text": "Normans", "answer_start": 4}],
    }  # fmt: skip
    paragraphs = [{"context": "In France.", "qas": [first]}, {"context": "The N.", "qas": [second]}]
    whole = {"version": "v2.0", "data": [{"title": "Normans", "paragraphs": paragraphs}]}
    return io.BytesIO(json.dumps(whole).encode())


def test_questions_ask_for_their_paragraph() -> None:
    data = fr.Dataset.from_squad(squad())

    query = "56ddde6b9a695914005b9628"
    assert dict(zip(data.corpus_ids, data.corpus, strict=True)) == {
        "Normans-0": "In France.", "Normans-1": "The N.",
    }  # fmt: skip
    assert (data.query_ids, data.queries) == ([query], ["In what country is Normandy?"])
    assert (data.qrels.to_dict(), data.answers) == ({query: {"Normans-0": 1}}, {query: ["France"]})
    assert data.unjudged == ["5ad39d53604f3c001a3fe8d1"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"id": 7}, r"data\[0\]\.paragraphs\[0\]\.qas\[0\]: expected 'id', a text, found int"),
        ({"answers": "x"}, r"qas\[0\]: expected 'answers', a list, found str"),
        ({"answers": ["x"]}, r"qas\[0\]\.answers: expected 'text', a text, found 'x'"),
        ({"id": "5ad39d53604f3c001a3fe8d1"}, r"paragraphs\[1\]\.qas\[0\]: duplicate id '5ad"),
    ],
)
def test_objects_that_are_wrong(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(fr.InputError, match=reason):
        fr.Dataset.from_squad(squad(**changes))


def test_other_json_is_no_squad() -> None:
    with pytest.raises(fr.InputError, match="expected 'data', a list, found rows"):
        fr.Dataset.from_squad(io.BytesIO(b'{"rows": []}'))
