"""Probes as in Ulysses SentEval beside the package: `pytest bench/test_probes.py`.

2,000 vectors of 384 dimensions in two classes, 10 times 5 folds, 12 settings in each. The package
ulysses-senteval is skipped where it is not installed; tests/recorded/probes/README.md says how to
make it run on a CPU. Target: at least 20 times as fast as the package. For comparison, scikit-learn
fits one logistic regression per fold, without a search for parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastrank as fr

ROWS, DIMENSION, REPETITIONS, FOLDS, SEED = 2_000, 384, 10, 5, 0


class Case:
    """Vectors in two classes that overlap."""

    def __init__(self, repetitions: int) -> None:
        random = np.random.RandomState(SEED)
        self.repetitions = repetitions
        self.labels = np.arange(ROWS) % 2
        noise = random.normal(size=(ROWS, DIMENSION))
        shift = 0.15 * random.normal(size=DIMENSION)
        self.vectors = (noise + self.labels[:, None] * shift).astype(np.float32)


@pytest.fixture(scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    return Case(1 if request.config.getoption("benchmark_disable") else REPETITIONS)


def evaluated(case: Case) -> Any:
    return fr.tasks.evaluate_classification(case.vectors, case.labels, repetitions=case.repetitions)


@pytest.mark.benchmark(group="probes")
def test_evaluate_classification(benchmark: Any, case: Case) -> None:
    found = benchmark.pedantic(lambda: evaluated(case), rounds=5, warmup_rounds=1)

    assert len(found.values["matthews"]) == case.repetitions * FOLDS


@pytest.mark.benchmark(group="probes")
def test_ulysses_senteval(benchmark: Any, case: Case) -> None:
    """With 5 processes, the package's default."""
    torch = pytest.importorskip("torch")
    train = pytest.importorskip("ulysses_senteval.train")
    assets = pytest.importorskip("ulysses_senteval.assets")

    means, _ = benchmark.pedantic(
        lambda: train.kfold_train(
            torch.from_numpy(case.vectors),
            case.labels.astype(float),
            2,
            assets.get_eval_metric("T1A", 2),
            device="cpu",
            show_progress_bar=False,
            n_repeats=case.repetitions,
        ),
        rounds=1,
    )

    matthews = evaluated(case).value
    benchmark.extra_info["correct"] = bool(abs(means["avg_metric_test"] - matthews) < 1e-6)
    assert benchmark.extra_info["correct"]


@pytest.mark.benchmark(group="probes")
def test_scikit_learn(benchmark: Any, case: Case) -> None:
    """LogisticRegression with its default penalty, once per fold, in one thread."""
    threads = pytest.importorskip("threadpoolctl")
    selection = pytest.importorskip("sklearn.model_selection")
    linear = pytest.importorskip("sklearn.linear_model")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    pipeline = pytest.importorskip("sklearn.pipeline")
    model = pipeline.make_pipeline(preprocessing.StandardScaler(), linear.LogisticRegression())
    folds = selection.RepeatedStratifiedKFold(
        n_splits=FOLDS, n_repeats=case.repetitions, random_state=SEED
    )

    with threads.threadpool_limits(1):
        found = benchmark.pedantic(
            lambda: selection.cross_val_score(
                model, case.vectors, case.labels, scoring="matthews_corrcoef", cv=folds
            ),
            rounds=3,
        )

    assert len(found) == case.repetitions * FOLDS
