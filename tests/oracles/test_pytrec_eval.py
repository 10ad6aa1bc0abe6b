"""Every double against pytrec_eval, which computes with the C code of trec_eval 9.0.8."""

from __future__ import annotations

import random
from typing import Any

import pytest
import pytrec_eval

import fastrank
from fastrank.core.native import engine
from tests.helpers.small import as_read

Nested = dict[str, dict[str, float]]

# pytrec_eval has no values per query for these, or none that are numbers.
NOT_COMPARED = {"runid", "num_q", "relstring", "gm_map", "gm_bpref"}
SUPPORTED = sorted(pytrec_eval.supported_measures - NOT_COMPARED)
SEEDS = range(3 if engine().startswith("python") else 20)


def _inputs(seed: int) -> tuple[Nested, Nested]:
    """Judgments and a run with ties, float32 collisions, and queries on one side only."""
    rng = random.Random(seed)
    grades = [[0, 1], [0, 1, 2, 3], [-1, 0, 1, 2], [0]][seed % 4]
    documents = [f"d{i}" for i in range(60)]
    scores = [
        lambda: float(rng.randrange(6)),
        lambda: rng.random(),
        lambda: 1.0 + rng.randrange(8) * 2e-8,
        lambda: rng.choice([0.1, -0.1, 1e-30, 1e30, 3.0]),
    ]
    qrels: Nested = {}
    run: Nested = {}
    for number in range(rng.randrange(1, 9)):
        judged = rng.sample(documents, rng.randrange(1, 40))
        qrels[f"q{number}"] = {doc: rng.choice(grades) for doc in judged}
        # trec_eval refuses a first query with only negative grades.
        qrels[f"q{number}"][judged[0]] = max(0, *grades)
        if rng.random() < 0.9 or number == 0:
            score = rng.choice(scores)
            retrieved = rng.sample(documents, rng.randrange(1, 60))
            run[f"q{number}"] = {doc: score() for doc in retrieved}
    run["unjudged"] = {"d1": 1.0}
    return qrels, run


JUDGED_ONLY = ["map", "ndcg", "P", "bpref", "num_ret", "recip_rank"]


@pytest.mark.parametrize(
    ("measures", "ours", "theirs"),
    [
        (SUPPORTED, {"relevance_level": 1}, {"relevance_level": 1}),
        (SUPPORTED, {"relevance_level": 2}, {"relevance_level": 2}),
        (JUDGED_ONLY, {"judged_only": True}, {"judged_docs_only_flag": True}),
    ],
    ids=["level 1", "level 2", "judged only"],
)
@pytest.mark.parametrize("seed", SEEDS)
def test_values_per_query_have_the_same_bits(
    seed: int, measures: list[str], ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    """Every measure pytrec_eval has, every query, every bit."""
    qrels, run = _inputs(seed)
    expected = pytrec_eval.RelevanceEvaluator(qrels, set(measures), **theirs).evaluate(run)

    scores = fastrank.evaluate(*as_read(qrels, run), measures, **ours)

    assert set(scores.queries) <= set(expected)
    assert "judged_only" in ours or scores.queries == sorted(expected)
    compared = 0
    for i, query in enumerate(scores.queries):
        for name, value in expected[query].items():
            assert float(scores[name][i]).hex() == float(value).hex(), (query, name)
            compared += 1
    assert compared >= len(measures)


def test_discounts_of_deep_ranks() -> None:
    """The logarithms of the first 1,023 ranks are kept in a table."""
    run = {"q": {f"d{rank}": -float(rank) for rank in range(1, 1031)}}
    qrels = {"q": {f"d{rank}": 1 for rank in range(1020, 1031)}}
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(run)

    assert fastrank.evaluate(qrels, run, "ndcg").mean["ndcg"] == expected["q"]["ndcg"]
