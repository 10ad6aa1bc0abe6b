"""Fusion of two runs, with that of ranx: `pytest bench/test_fusion.py`.

Runs of 1,000 documents per query, half of them in both: 6,980 queries by fastrank, and 700 by
fastrank and ranx, which is skipped where it is not installed. Targets: 6,980 queries in at most 1
s, and 700 at least 20 times as fast as ranx. Building the runs is not measured.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.core.data.texts import joined, memory_of

QUERIES, FEWER, DEPTH, SEED = 6_980, 700, 1_000, 11
# ranx has other names for the same methods.
METHODS = {"rrf": "rrf", "combmnz": "mnz"}


class Case:
    """Two runs of random scores: the documents of each query, as arrays, and the Runs."""

    def __init__(self, queries: int) -> None:
        rng = np.random.default_rng(SEED)
        shape = queries, DEPTH + DEPTH // 2
        # Different numbers in every row.
        docs = np.cumsum(rng.integers(1, 5_000, shape), axis=1)
        self.docs = [rng.permuted(part, axis=1) for part in (docs[:, :DEPTH], docs[:, -DEPTH:])]
        self.scores = [-np.sort(-rng.random((queries, DEPTH)), axis=1) for _ in self.docs]
        self.queries = [f"q{i:05}" for i in range(queries)]

    def runs(self) -> list[fr.Run]:
        """The runs as columns."""
        queries = [query.encode() for query in self.queries]
        made = []
        for docs, scores in zip(self.docs, self.scores, strict=True):
            ids = [b"%d" % doc for doc in docs.ravel().tolist()]
            run = fr.Run(
                queries=joined(b"".join(queries), queries),
                docs=joined(b"".join(ids), ids),
                tag_bytes=b"",
                source="<bench>",
                score_column=memory_of(scores.ravel()),
                offset_column=memory_of(np.arange(0, len(ids) + 1, DEPTH)),
            )
            made.append(run)
        return made

    def dicts(self) -> list[dict[str, dict[str, float]]]:
        """The runs as dicts."""
        return [
            {
                query: dict(zip(map(str, row.tolist()), own.tolist(), strict=True))
                for query, row, own in zip(self.queries, docs, scores, strict=True)
            }
            for docs, scores in zip(self.docs, self.scores, strict=True)
        ]

    def expected(self, method: str) -> dict[str, float]:
        """The fused scores of the last query, in plain Python."""
        found: dict[str, list[float]] = {}
        for docs, scores in zip(self.docs, self.scores, strict=True):
            own = scores[-1]
            normalized = (own - own[-1]) / (own[0] - own[-1])
            for i, doc in enumerate(docs[-1].tolist()):
                value = 1 / (61 + i) if method == "rrf" else float(normalized[i])
                found.setdefault(str(doc), []).append(value)
        factor = {"rrf": 0, "combmnz": 1}[method]
        return {doc: sum(values) * len(values) ** factor for doc, values in found.items()}


@cache
def _case(queries: int) -> Case:
    return Case(queries)


@pytest.fixture(scope="module")
def sizes(request: pytest.FixtureRequest) -> tuple[int, int]:
    return (20, 10) if request.config.getoption("benchmark_disable") else (QUERIES, FEWER)


def _check(benchmark: Any, found: dict[str, float], expected: dict[str, float]) -> None:
    benchmark.extra_info["correct"] = found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert benchmark.extra_info["correct"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [0, 1], ids=["6980", "700"])
def test_fastrank(benchmark: Any, sizes: tuple[int, int], size: int, method: str) -> None:
    benchmark.group = f"fusion by {method}, {sizes[size]} queries"
    case = _case(sizes[size])
    runs = case.runs()

    found = benchmark.pedantic(fr.fuse, (runs, method), rounds=5, warmup_rounds=1)

    _check(benchmark, found[case.queries[-1]], case.expected(method))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore")
def test_ranx(benchmark: Any, sizes: tuple[int, int], method: str) -> None:
    ranx = pytest.importorskip("ranx")
    benchmark.group = f"fusion by {method}, {sizes[1]} queries"
    case = _case(sizes[1])
    runs = [ranx.Run(run) for run in case.dicts()]
    norm = None if method == "rrf" else "min-max"

    found = benchmark.pedantic(
        ranx.fuse, (runs,), {"norm": norm, "method": METHODS[method]}, rounds=3, warmup_rounds=1
    )

    _check(benchmark, dict(found.run[case.queries[-1]]), case.expected(method))
