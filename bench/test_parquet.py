"""A run of 7 million rows in parquet, evaluated in its own process: `pytest bench/test_parquet.py`.

The processor time and the peak of the memory are in `extra_info`: the time of the first evaluation
depends most on how much memory it touches.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

QUERIES, DEPTH = 6980, 1000
EVALUATE = """
import sys, time
import pyarrow.parquet
import fastrank as fr

evaluator = fr.Evaluator(sys.argv[1], "map ndcg_cut.10")
before = time.process_time()
scores = evaluator.evaluate(sys.argv[2])
used = time.process_time() - before
with open("/proc/self/status") as status:
    # Not ru_maxrss, which counts the process that started this one.
    peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
print(used, peak, scores.mean["map"])
"""


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path, float]:
    """The paths of judgments and of a run, and its mean average precision."""
    rng = np.random.default_rng(3)
    count = 50 if request.config.getoption("benchmark_disable") else QUERIES
    docs = np.array([rng.choice(8_841_823, DEPTH, replace=False) for _ in range(count)])
    queries = pa.array(np.repeat(np.arange(count), DEPTH)).cast(pa.string())
    columns = {
        "query_id": queries,
        "doc_id": pa.array(docs.ravel()).cast(pa.string()),
        "score": -np.sort(rng.random((count, DEPTH))).ravel(),
        "tag": pa.repeat("bm25", len(queries)),
    }
    parquet.write_table(pa.table(columns), tmp_path / "run.parquet")
    ranks = rng.integers(DEPTH, size=count)
    lines = (f"{i} 0 {docs[i, rank]} 1\n" for i, rank in enumerate(ranks))
    (tmp_path / "qrels").write_text("".join(lines))
    return tmp_path / "qrels", tmp_path / "run.parquet", float((1 / (1 + ranks)).mean())


@pytest.mark.benchmark(group="a run of 7 million rows in parquet")
def test_evaluate(benchmark: Any, case: tuple[Path, Path, float]) -> None:
    qrels, run, expected = case
    found: list[list[float]] = []

    def evaluate() -> None:
        words = [sys.executable, "-c", EVALUATE, str(qrels), str(run)]
        output = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        found.append(list(map(float, output.split())))

    benchmark.pedantic(evaluate, rounds=7)

    used, peak, means = zip(*found, strict=True)
    correct = all(abs(mean - expected) < 1e-9 for mean in means)
    benchmark.extra_info.update(
        correct=correct, processor_s=median(used), peak_mb=median(peak) / 1024
    )
    assert correct
