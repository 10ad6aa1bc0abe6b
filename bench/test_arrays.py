"""Arrays of ids and scores, and labels: `pytest bench/test_arrays.py`.

Each timing stands beside a check by pytrec_eval of the first queries; `extra_info` has the
nanoseconds per (query, document) and `correct`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import pytrec_eval

import fastrank as fr

QUERIES, RETRIEVED, COLLECTION = 6980, 1000, 8_841_823
CHECKED = 20


class Case:
    """Rankings by descending float32 scores, and judgments that they find more or less well."""

    def __init__(self, judged: int, queries: int) -> None:
        rng = np.random.default_rng(1)
        # Distinct within a row: a random start, and steps of at least one.
        steps = rng.integers(1, COLLECTION // RETRIEVED, (queries, RETRIEVED))
        self.ids = rng.permuted(np.cumsum(steps, axis=1), axis=1)
        scores = rng.standard_normal((queries, RETRIEVED), np.float32)
        self.scores = -np.sort(-scores, axis=1)
        self.qrels = []
        for row in self.ids:
            places = (RETRIEVED ** rng.random(judged)).astype(int) - 1
            found = rng.random(judged) < 0.85
            docs = np.where(found, row[places], COLLECTION + np.arange(judged))
            self.qrels.append({int(doc): 1 + int(doc) % 3 for doc in docs})
        self.indexed = fr.index_qrels(self.qrels)

    def is_correct(self, scores: fr.Scores, measures: set[str], runs: Any) -> bool:
        """Whether the first queries have the bits of pytrec_eval."""
        rows = range(CHECKED)
        qrels = {str(i): {str(doc): grade for doc, grade in self.qrels[i].items()} for i in rows}
        run = {
            str(i): dict(zip(map(str, self.ids[i].tolist()), runs[i].tolist(), strict=True))
            for i in rows
        }
        expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
        return all(
            scores[name][i] == value for i in rows for name, value in expected[str(i)].items()
        )


@pytest.fixture(scope="module", params=[1, 50], ids=["1 judged", "50 judged"])
def case(request: pytest.FixtureRequest) -> Case:
    # Where nothing is timed, only the answer counts.
    disabled = request.config.getoption("benchmark_disable")
    return Case(request.param, QUERIES // 10 if disabled else QUERIES)


@pytest.mark.parametrize("threads", [1, None], ids=["1 thread", "threads"])
@pytest.mark.parametrize("unique", [False, True], ids=["checked", "assume_unique"])
@pytest.mark.parametrize("order", ["ordered", "shuffled"])
def test_evaluate_arrays(
    benchmark: Any, case: Case, order: str, unique: bool, threads: int | None
) -> None:
    scores = case.scores
    if order == "shuffled":
        scores = np.random.default_rng(2).permuted(scores, axis=1)
    measures = {"map", "ndcg_cut_10", "recip_rank", "P_10", "recall_1000"}
    names = ["map", "ndcg_cut.10", "recip_rank", "P.10", "recall.1000"]

    found = benchmark(
        fr.evaluate_arrays, case.ids, scores, case.indexed, names,
        assume_unique=unique, threads=threads,
    )  # fmt: skip

    record(benchmark, case.is_correct(found, measures, scores))


def test_evaluate_labels(benchmark: Any) -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 5, (QUERIES, 100))
    scores = rng.standard_normal(labels.shape)
    run = {"0": {f"{999 - i}": score for i, score in enumerate(scores[0].tolist())}}
    qrels = {"0": {f"{999 - i}": label for i, label in enumerate(labels[0].tolist())}}
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_10"}).evaluate(run)

    found = benchmark(fr.evaluate_labels, labels, scores, ["ndcg_cut.10"])

    correct = found["ndcg_cut_10"][0] == expected["0"]["ndcg_cut_10"]
    record(benchmark, correct, documents=labels.size)


def record(benchmark: Any, correct: bool, documents: int = QUERIES * RETRIEVED) -> None:
    """Put a check beside the timing, then insist on it."""
    benchmark.extra_info.update(correct=bool(correct), engine=fr.engine())
    if benchmark.stats:
        nanoseconds = 1e9 * benchmark.stats.stats.median / documents
        benchmark.extra_info["nanoseconds"] = nanoseconds
    assert correct
