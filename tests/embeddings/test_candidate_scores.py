"""evaluate_model on labelled candidates: each list is ranked by similarity to its question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval

import fastrank as fr
from tests.helpers.parsing import read_trec_run

TABLE = {
    "qid": ["a", "a", "a", "b", "b"],
    "question": ["red apple"] * 3 + ["blue plum"] * 2,
    "docno": ["a1", "a2", "a3", "b1", "b2"],
    "answer": ["a red apple", "blue plums", "an apple", "blue plums", "a red pear"],
    "label": [0, 0, 1, 1, 0],
}
CANDIDATES = fr.read_candidates(TABLE)


def encode(texts: list[str]) -> Any:
    return np.array([[text.count(letter) + 0.5 for letter in "aberlpun"] for text in texts])


def similarity(metric: str, one: Any, other: Any) -> float:
    if metric == "l2":
        return -float(((one - other) ** 2).sum())
    product = float(one @ other)
    if metric == "cosine":
        product /= float(np.linalg.norm(one) * np.linalg.norm(other))
    return product


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
def test_candidates_are_ranked_by_similarity(metric: str) -> None:
    found = fr.evaluate_model(encode, CANDIDATES, "map recip_rank", metric=metric)

    run: dict[str, dict[str, float]] = {}
    rows = zip(CANDIDATES.queries, CANDIDATES.docs, CANDIDATES.pairs, strict=True)
    for query, doc, (question, text) in rows:
        one, other = encode([question, text]).astype("float32").astype(float)
        run.setdefault(query, {})[doc] = similarity(metric, one, other)
    judged = pytrec_eval.RelevanceEvaluator(CANDIDATES.qrels.to_dict(), {"map", "recip_rank"})
    values = judged.evaluate(run)
    assert found.to_dict() == {name: values[name] for name in sorted(values)}


def test_a_text_that_repeats_is_encoded_once() -> None:
    seen: list[str] = []

    def remember(texts: list[str]) -> Any:
        seen.extend(texts)
        return encode(texts)

    made = fr.read_candidates({**TABLE, "answer": ["blue plums"] * 5})
    fr.evaluate_model((encode, remember), made, "map")

    assert set(seen) == {"blue plums"}


def test_ties_and_the_run_of_candidates(tmp_path: Path) -> None:
    """All candidates alike: the expected value of a random order, and lines with equal scores."""
    path = tmp_path / "found.run"

    found = fr.evaluate_model(
        lambda texts: np.ones((len(texts), 3)), CANDIDATES, "P.1", ties="average", run=path,
        tag="flat",
    )  # fmt: skip

    assert found["P_1"].tolist() == pytest.approx([1 / 3, 1 / 2])
    run = read_trec_run(path)
    assert run.tag == "flat"
    assert run.to_dict()["b"] == pytest.approx({"b1": 1.0, "b2": 1.0})


@pytest.mark.parametrize(
    "option", [{"k": 5}, {"index_factory": "HNSW8"}, {"parameters": "nprobe=1"}]
)
def test_options_of_a_search_mean_nothing_for_candidates(option: dict[str, Any]) -> None:
    with pytest.raises(fr.OptionError, match="not applicable to candidates"):
        fr.evaluate_model(encode, CANDIDATES, "map", **option)


def test_what_is_wrong_shows_before_texts_are_encoded() -> None:
    def never(texts: list[str]) -> Any:
        raise AssertionError(texts)

    only_ids = {name: column for name, column in TABLE.items() if name != "answer"}
    with pytest.raises(fr.MeasureError, match="unknown measure 'mapp'"):
        fr.evaluate_model(never, CANDIDATES, "mapp")
    with pytest.raises(fr.InputError, match="no column contains the text of the candidate"):
        fr.evaluate_model(never, fr.read_candidates(only_ids), "map")
