"""The metrics of MTEB's retrieval tasks, with MTEB's own: `pytest bench/test_mteb.py`.

From dicts to all means, at MTEB's cutoffs; MTEB is skipped where it is not installed. Target: five
times its speed. The values by query are checked with pytrec_eval, to the last bit; the tests of
fastrank.compat.mteb compare all others.
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import pytrec_eval

from bench.test_dicts import Shape

CUTOFFS = [1, 3, 5, 10, 20, 100, 1000]
SHAPES = [Shape(300, 1000), Shape(50, 1000, 60), Shape(3000, 100)]
MODULES = {"fastrank": "fastrank.compat.mteb", "MTEB": "mteb._evaluators.retrieval_metrics"}


@pytest.mark.parametrize("program", MODULES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_retrieval_scores(benchmark: Any, shape: Shape, program: str) -> None:
    if program == "MTEB":
        pytest.importorskip("mteb")
    evaluate = importlib.import_module(MODULES[program]).calculate_retrieval_scores
    benchmark.group = f"metrics of MTEB, {shape}"
    qrels, run = shape.draw(10 if benchmark.disabled else shape.queries)

    scores = benchmark.pedantic(evaluate, (run, qrels, CUTOFFS), rounds=5, warmup_rounds=1)

    cutoffs = ",".join(map(str, CUTOFFS))
    measures = {f"{name}.{cutoffs}" for name in ("map_cut", "ndcg_cut", "recall", "P", "success")}
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    benchmark.extra_info["correct"] = scores.all_scores == expected
    assert benchmark.extra_info["correct"]
