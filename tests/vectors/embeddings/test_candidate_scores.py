"""evaluate_model on labelled candidates: each list is ranked by similarity to its question."""

import numpy as np
import pytest
import pytrec_eval

import fastrank as fr
from fastrank.errors import InputError, MeasureError, OptionError
from tests.helpers.parsing import read_trec_run

TABLE = {
    "qid": ["a", "a", "a", "b", "b"],
    "question": ["red apple"] * 3 + ["blue plum"] * 2,
    "docno": ["a1", "a2", "a3", "b1", "b2"],
    "answer": ["a red apple", "blue plums", "an apple", "blue plums", "a red pear"],
    "label": [0, 0, 1, 1, 0],
}
CANDIDATES = fr.read_candidates(TABLE)


def encode(texts):
    return np.array([[text.count(letter) + 0.5 for letter in "aberlpun"] for text in texts])


def similarity(metric, one, other):
    if metric == "l2":
        return -float(((one - other) ** 2).sum())
    product = float(one @ other)
    if metric == "cosine":
        product /= float(np.linalg.norm(one) * np.linalg.norm(other))
    return product


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
def test_candidates_are_ranked_by_similarity(metric):
    found = fr.evaluate_model(encode, CANDIDATES, "map recip_rank", metric=metric)
    run = {}
    rows = zip(CANDIDATES.queries, CANDIDATES.docs, CANDIDATES.pairs, strict=True)
    for query, doc, (question, text) in rows:
        one, other = encode([question, text]).astype("float32").astype(float)
        run.setdefault(query, {})[doc] = similarity(metric, one, other)
    judged = pytrec_eval.RelevanceEvaluator(CANDIDATES.qrels.to_dict(), {"map", "recip_rank"})
    values = judged.evaluate(run)
    assert found.to_dict() == {name: values[name] for name in sorted(values)}


def test_a_text_that_repeats_is_encoded_once():
    seen = []

    def remember(texts):
        seen.extend(texts)
        return encode(texts)

    made = fr.read_candidates({**TABLE, "answer": ["blue plums"] * 5})
    fr.evaluate_model((encode, remember), made, "map")

    assert set(seen) == {"blue plums"}


def test_ties_and_the_run_of_candidates(tmp_path):
    """All candidates alike: the expected value of a random order, and lines with equal scores."""
    path = tmp_path / "found.run"
    options = {"ties": "average", "run": path, "tag": "flat"}
    found = fr.evaluate_model(lambda texts: np.ones((len(texts), 3)), CANDIDATES, "P.1", **options)
    assert found["P_1"].tolist() == pytest.approx([1 / 3, 1 / 2])
    run = read_trec_run(path)
    assert run.tag == "flat"
    assert run.to_dict()["b"] == pytest.approx({"b1": 1.0, "b2": 1.0})


ONLY_IDS = fr.read_candidates({name: own for name, own in TABLE.items() if name != "answer"})
NOT_APPLICABLE = "not applicable to candidates"


@pytest.mark.parametrize(
    ("data", "options", "error", "reason"),
    [
        (CANDIDATES, {"k": 5}, OptionError, NOT_APPLICABLE),
        (CANDIDATES, {"index_factory": "HNSW8"}, OptionError, NOT_APPLICABLE),
        (CANDIDATES, {"parameters": "nprobe=1"}, OptionError, NOT_APPLICABLE),
        (CANDIDATES, {"measures": "mapp"}, MeasureError, "unknown measure 'mapp'"),
        (ONLY_IDS, {}, InputError, "no column contains the text of the candidate"),
    ],
)
def test_what_is_wrong_shows_before_texts_are_encoded(data, options, error, reason):
    texts = []
    with pytest.raises(error, match=reason):
        fr.evaluate_model(texts.extend, data, **{"measures": "map", **options})
    assert texts == []
