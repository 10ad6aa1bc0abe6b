"""Pairs of vectors beside numpy's dot products alone: `pytest bench/test_similarity.py`.

1,000,000 pairs of 384 dimensions. sentence-transformers is skipped where it is not installed; it is
given the vectors instead of a model. Target: `evaluate_pairs` with one similarity at most 1.2 times
as long as `numpy.einsum("ij,ij->i", a, b)`.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fastrank as fr

PAIRS, DIMENSION, SEED = 1_000_000, 384, 11
SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")


class Case:
    """Pairs of vectors, of which those with label 1 are nearer to each other."""

    def __init__(self, rows: int) -> None:
        rng = np.random.default_rng(SEED)
        self.labels = rng.integers(0, 2, rows)
        self.one = rng.standard_normal((rows, DIMENSION), np.float32)
        self.other = rng.standard_normal((rows, DIMENSION), np.float32)
        for first in range(0, rows, 10_000):
            part = slice(first, first + 10_000)
            self.other[part] += 0.1 * self.labels[part, None] * self.one[part]

    def cosines(self) -> Any:
        """By numpy, in single precision."""
        products = [
            np.einsum("ij,ij->i", x, y)
            for x, y in ((self.one, self.other), (self.one, self.one), (self.other, self.other))
        ]
        return products[0] / np.sqrt(products[1] * products[2])


@pytest.fixture(scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    return Case(10_000 if request.config.getoption("benchmark_disable") else PAIRS)


def _check(benchmark: Any, case: Case, found: float) -> None:
    """The average precision of the cosine, which numpy computes in single precision."""
    expected = fr.tasks.average_precision(case.labels, case.cosines())
    benchmark.extra_info["correct"] = bool(abs(found - expected) < 1e-6)
    assert benchmark.extra_info["correct"]


@pytest.mark.benchmark(group="pairs")
def test_numpy_dot_products(benchmark: Any, case: Case) -> None:
    found = benchmark(lambda: np.einsum("ij,ij->i", case.one, case.other))

    assert len(found) == len(case.labels)


@pytest.mark.benchmark(group="pairs")
def test_evaluate_pairs(benchmark: Any, case: Case) -> None:
    found = benchmark(lambda: fr.tasks.evaluate_pairs((case.one, case.other), case.labels))

    _check(benchmark, case, found.value)


@pytest.mark.benchmark(group="pairs")
def test_evaluate_pairs_by_four_similarities(benchmark: Any, case: Case) -> None:
    found = benchmark(
        lambda: fr.tasks.evaluate_pairs(
            (case.one, case.other), case.labels, similarities=SIMILARITIES
        )
    )

    _check(benchmark, case, found.mean["cosine_ap"])


@pytest.mark.benchmark(group="pairs")
def test_numpy_and_scikit_learn(benchmark: Any, case: Case) -> None:
    metrics = pytest.importorskip("sklearn.metrics")

    found = benchmark(lambda: metrics.average_precision_score(case.labels, case.cosines()))

    _check(benchmark, case, found)


@pytest.mark.benchmark(group="pairs")
def test_sentence_transformers(benchmark: Any, case: Case) -> None:
    evaluation = pytest.importorskip("sentence_transformers.evaluation")
    rows = len(case.labels)
    vectors = {"a": case.one, "b": case.other}

    class Evaluator(evaluation.BinaryClassificationEvaluator):  # type: ignore[misc,name-defined]
        def embed_inputs(self, _model: Any, sentences: Any, **_: Any) -> Any:
            return vectors[sentences[0][0]]

    # Lists cannot be put in a set, so that both sides are embedded as a whole.
    texts = [[["a"]] * rows, [["b"]] * rows]
    evaluator = Evaluator(
        *texts, case.labels.tolist(), write_csv=False, similarity_fn_names=["cosine"]
    )
    model = SimpleNamespace(similarity_fn_name="cosine")

    found = benchmark(lambda: evaluator.compute_metrics(model)["cosine"]["ap"])

    _check(benchmark, case, found)
