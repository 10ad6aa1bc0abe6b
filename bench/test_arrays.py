"""Arrays of ids and scores, and labels: `pytest bench/test_arrays.py`.

Each timing stands beside a check by pytrec_eval of the first queries; `extra_info` has the
nanoseconds per (query, document) and `correct`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import pytrec_eval

import fastrank as fr
from bench import added, memory, trec_files

QUERIES, RETRIEVED, COLLECTION = 6980, 1000, 8_841_823
# Judged per query, and queries: pools have fewer of them.
JUDGED = {1: QUERIES, 10: QUERIES, 50: QUERIES, 100: QUERIES, 1300: 500}
CHECKED = 20


@dataclass(frozen=True)
class Case:
    """Rankings, as integer ids and scores in rows, and judgments of the rows."""

    ids: Any
    scores: Any
    qrels: list[dict[int, int]]
    indexed: Any

    @classmethod
    def draw(cls, judged: int, queries: int) -> Case:
        """Rankings by descending float32 scores, that find the judged more or less well."""
        rng = np.random.default_rng(1)
        # Distinct within a row: a random start, and steps of at least one.
        steps = rng.integers(1, COLLECTION // RETRIEVED, (queries, RETRIEVED))
        ids = rng.permuted(np.cumsum(steps, axis=1), axis=1)
        scores = -np.sort(-rng.standard_normal((queries, RETRIEVED), np.float32), axis=1)
        # Few judged documents are nearly all found; of a pool, less than half.
        share = 0.85 if judged <= 50 else 0.4
        qrels = []
        for row in ids:
            places = (RETRIEVED ** rng.random(judged)).astype(int) - 1
            if judged > 50:
                places = (RETRIEVED * rng.random(judged) ** 2).astype(int)
            found = rng.random(judged) < share
            docs = np.where(found, row[places], COLLECTION + np.arange(judged))
            qrels.append({int(doc): 1 + int(doc) % 3 for doc in docs})
        return cls(ids, scores, qrels, fr.index_qrels(qrels))

    @classmethod
    def added(cls, name: str) -> Case:
        """What was added to the inputs, with numbers as ids."""
        stored = added.stored()[name]
        judged, (ids, scores, queries) = memory.as_arrays(
            trec_files.parse_qrels(stored.qrels.read_bytes()),
            trec_files.parse_run(stored.run.read_bytes()),
        )
        qrels = [judged.get(query, {}) for query in queries]
        return cls(ids, scores, qrels, fr.index_qrels(qrels))

    def is_correct(self, found: fr.Scores, measures: set[str], scores: Any) -> bool:
        """Whether the first queries have the bits of pytrec_eval."""
        rows = range(CHECKED)
        qrels = {str(i): {str(doc): grade for doc, grade in self.qrels[i].items()} for i in rows}
        run = {
            str(i): {
                str(doc): score
                for doc, score in zip(self.ids[i].tolist(), scores[i].tolist(), strict=True)
                if doc >= 0
            }
            for i in rows
        }
        expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
        return all(
            found[name][i] == value for i in rows for name, value in expected[str(i)].items()
        )


@pytest.fixture(scope="module", params=[*JUDGED, *added.parameters()], ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    if request.param not in JUDGED:
        return Case.added(request.param)
    # Where nothing is timed, only the answer counts.
    disabled = request.config.getoption("benchmark_disable")
    queries = JUDGED[request.param]
    return Case.draw(request.param, queries // 10 if disabled else queries)


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
        fr.evaluate_arrays,
        case.indexed,
        case.ids,
        scores,
        names,
        assume_unique=unique,
        threads=threads,
    )

    record(benchmark, case.is_correct(found, measures, scores), case.ids.size)


SHAPES = {"1,000 x 100": (1000, 100), "8,000 x 40": (8000, 40), "6,980 x 100": (QUERIES, 100)}


@pytest.mark.parametrize("form", ["table", "group_sizes", "query_ids"])
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_evaluate_labels(benchmark: Any, shape: str, kind: str, form: str) -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 5, SHAPES[shape])
    scores = rng.standard_normal(labels.shape).astype(kind)
    expected = ndcg_by_numpy(labels, scores, 10)
    options = {}
    if form != "table":
        queries, width = labels.shape
        ids = np.repeat(np.arange(queries), width)
        options[form] = ids if form == "query_ids" else np.full(queries, width)
        labels, scores = labels.ravel(), scores.ravel()

    found = benchmark(fr.evaluate_labels, labels, scores, ["ndcg_cut.10"], **options)

    correct = found.mean["ndcg_cut_10"] == pytest.approx(expected, rel=1e-12)
    record(benchmark, correct, labels.size)


@pytest.mark.parametrize("way", ["numpy", "scikit-learn"])
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape[0] != "6"])
def test_evaluate_labels_otherwise(benchmark: Any, shape: str, kind: str, way: str) -> None:
    """The same by three lines of numpy, and by scikit-learn."""
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 5, SHAPES[shape])
    scores = rng.standard_normal(labels.shape).astype(kind)
    if way == "numpy":
        found = benchmark(ndcg_by_numpy, labels, scores, 10)
    else:
        found = benchmark(metrics.ndcg_score, labels, scores, k=10, ignore_ties=True)

    expected = fr.evaluate_labels(labels, scores, ["ndcg_cut.10"]).mean["ndcg_cut_10"]
    record(benchmark, found == pytest.approx(expected, rel=1e-6), labels.size)


def ndcg_by_numpy(labels: Any, scores: Any, k: int) -> float:
    """The mean nDCG of tables in which every query has a relevant document."""
    discounts = np.log2(np.arange(2, k + 2))
    own = np.take_along_axis(labels, np.argsort(-scores, axis=1)[:, :k], 1) / discounts
    best = -np.sort(-labels, axis=1)[:, :k] / discounts
    return float((own.sum(axis=1) / best.sum(axis=1)).mean())


def record(benchmark: Any, correct: bool, documents: int) -> None:
    """Put a check beside the timing, then insist on it."""
    benchmark.extra_info.update(correct=bool(correct), engine=fr.testing.engine())
    if benchmark.stats:
        nanoseconds = 1e9 * benchmark.stats.stats.median / documents
        benchmark.extra_info["nanoseconds"] = nanoseconds
    assert correct
