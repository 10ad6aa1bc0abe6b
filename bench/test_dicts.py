"""Dicts in memory, evaluators made beforehand: `pytest bench/test_dicts.py`.

The right answer is that of pytrec_eval, every bit of it; of ranx, which computes in another order,
to nine digits.
"""

from __future__ import annotations

import functools
import random
from typing import Any

import pytest

import fastrank as fr
from bench.cases import FEW, SEED

SHAPES = [(6980, 1000), (100, 1000), (6980, 100)]
FOUR = ("map", "ndcg_cut_10", "recip_rank", "P_10")
RANX = ("map", "ndcg@10", "mrr", "precision@10")


@functools.lru_cache(maxsize=1)
def inputs(queries: int, retrieved: int) -> tuple[Any, Any]:
    """Judgments and a run as of MS MARCO's passages: 1 to 4 relevant documents, 7 of 8 found."""
    rng = random.Random(SEED)
    docs = [str(number) for number in range(max(100_000, 3 * retrieved))]
    qrels, run = {}, {}
    for query in map(str, range(queries)):
        found = rng.sample(docs, retrieved)
        scores = sorted((rng.uniform(5, 30) for _ in found), reverse=True)
        run[query] = dict(zip(found, scores, strict=True))
        (relevant,) = rng.choices(range(1, len(FEW) + 1), FEW)
        chosen = [rng.choice(found if rng.random() < 0.857 else docs) for _ in range(relevant)]
        qrels[query] = dict.fromkeys(chosen, 1)
    return qrels, run


def _calls(name: str, measures: str, qrels: Any, run: Any) -> tuple[Any, Any]:
    """What to time, and what makes {query: {measure: value}} of its result."""
    if name == "ranx":
        import ranx

        judged, ranked = ranx.Qrels(qrels), ranx.Run(run)

        def evaluate() -> Any:
            return ranx.evaluate(judged, ranked, list(RANX), return_mean=False)

        return evaluate, lambda found: {
            query: {own: found[name][i] for own, name in zip(FOUR, RANX, strict=True)}
            for i, query in enumerate(sorted(run))
        }
    import pytrec_eval as original

    from fastrank.compat import pytrec_eval as ours

    module = ours if name == "fastrank" else original
    wanted = FOUR if measures == "four" else original.supported_measures
    evaluator = module.RelevanceEvaluator(qrels, wanted)
    return lambda: evaluator.evaluate(run), dict


@pytest.mark.parametrize("name", ["fastrank", "pytrec_eval", "ranx"])
@pytest.mark.parametrize("measures", ["four", "all"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "{}x{}".format(*shape))
def test_evaluate(benchmark: Any, shape: tuple[int, int], measures: str, name: str) -> None:
    if name == "ranx":
        pytest.importorskip("ranx")
        if measures == "all":
            pytest.skip("ranx has no such measures")
    queries, retrieved = shape
    # Where nothing is timed, only the answer counts.
    qrels, run = inputs(max(1, queries // 100) if benchmark.disabled else queries, retrieved)
    call, values = _calls(name, measures, qrels, run)

    result = benchmark.pedantic(call, rounds=3, warmup_rounds=1)

    reference, _ = _calls("pytrec_eval", measures, qrels, run)
    found, expected = values(result), reference()
    correct = found == expected if name != "ranx" else _close(found, expected)
    benchmark.extra_info.update(correct=correct, engine=fr.engine() if name == "fastrank" else "")
    assert correct


def _close(found: Any, expected: Any) -> bool:
    return all(
        found[query][name] == pytest.approx(value, rel=1e-9)
        for query, row in expected.items()
        for name, value in row.items()
    )
