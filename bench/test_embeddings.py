"""Search and its evaluation beside faiss alone: `pytest bench/test_embeddings.py`.

One corpus, 256 queries, 100 documents for each. BEIR and sentence-transformers are skipped where
they are not installed; they are given the vectors instead of a model. Targets: `search_batches` at
most 1.03 times as long as faiss alone, `evaluate_embeddings` 1.05 times.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.searching import build_index, search_batches

ROWS, DIMENSION, QUERIES, K, BATCH = 100_000, 768, 256, 100, 256
MEASURES = "ndcg_cut.10 map_cut.100 recall.100 P.10 recip_rank"
SEED = 11
# Prints the peak of its memory in MB, before and after a search in a file.
SEARCH = """
import sys
import numpy, faiss
from fastrank.searching import search_batches
def peak():
    # Not ru_maxrss, which counts the process that started this one.
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))
queries = numpy.load(sys.argv[2])
corpus = numpy.load(sys.argv[1], mmap_mode="r")
list(search_batches(queries[:2], queries, 2, metric="ip"))
before = peak()
found = sum(len(one) for one in search_batches(queries, corpus, 100, metric="ip"))
print(before, peak(), found)
"""


class Case:
    """Vectors, and judgments of documents near the queries."""

    def __init__(self, rows: int, dimension: int) -> None:
        rng = np.random.default_rng(SEED)
        self.corpus = rng.standard_normal((rows, dimension), np.float32)
        sources = rng.choice(rows, QUERIES, replace=False)
        self.queries = self.corpus[sources] + rng.standard_normal((QUERIES, dimension), np.float32)
        self.corpus_ids = [f"d{i}" for i in range(rows)]
        self.query_ids = [f"q{i}" for i in range(QUERIES)]
        self.qrels = {
            query: {f"d{row}": 1 for row in {int(source), *rng.integers(0, rows, 4).tolist()}}
            for query, source in zip(self.query_ids, sources, strict=True)
        }
        self.index = build_index(self.corpus, ids=self.corpus_ids, metric="ip")
        self.scores, self.rows = self.faiss()

    def faiss(self) -> Any:
        """What faiss alone finds."""
        return self.index.faiss.search(self.queries, K)

    def search(self) -> list[Any]:
        """The same through `search_batches`."""
        return list(
            search_batches(self.queries, self.index, K, query_ids=self.query_ids, batch_size=BATCH)
        )

    def evaluate(self) -> dict[str, float]:
        """All of it: from vectors to means."""
        return fr.evaluate_embeddings(
            self.queries,
            self.index,
            self.qrels,
            MEASURES,
            k=K,
            query_ids=self.query_ids,
            batch_size=BATCH,
        ).mean

    def expected(self) -> dict[str, float]:
        """The means of the dicts of what faiss finds."""
        run = {
            query: {self.corpus_ids[row]: score for row, score in zip(rows, scores, strict=True)}
            for query, rows, scores in zip(
                self.query_ids, self.rows.tolist(), self.scores.tolist(), strict=True
            )
        }
        return fr.evaluate(self.qrels, run, MEASURES).mean


@pytest.fixture(scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    # Where nothing is timed, only the answer counts.
    small = request.config.getoption("benchmark_disable")
    return Case(300, 8) if small else Case(ROWS, DIMENSION)


def record(benchmark: Any, correct: bool) -> None:
    """Put a check beside the timing, then insist on it."""
    benchmark.extra_info.update(correct=bool(correct))
    assert correct


@pytest.mark.benchmark(group="embeddings")
def test_faiss(benchmark: Any, case: Case) -> None:
    scores, rows = benchmark(case.faiss)

    record(benchmark, (scores == case.scores).all() and (rows == case.rows).all())


@pytest.mark.benchmark(group="embeddings")
def test_search_batches(benchmark: Any, case: Case) -> None:
    (found,) = benchmark(case.search)

    # Which documents come last is faiss's choice where scores are equal.
    same = (np.sort(found.rows) == np.sort(case.rows))[~found.ties_at_cutoff].all()
    record(benchmark, same and (found.scores == case.scores).all())


@pytest.mark.benchmark(group="embeddings")
def test_evaluate_embeddings(benchmark: Any, case: Case) -> None:
    record(benchmark, benchmark(case.evaluate) == case.expected())


@pytest.mark.benchmark(group="embeddings")
def test_beir(benchmark: Any, case: Case) -> None:
    pytest.importorskip("beir")
    import torch
    from beir.retrieval.evaluation import EvaluateRetrieval
    from beir.retrieval.search.dense import DenseRetrievalExactSearch

    class Model:
        def encode_queries(self, *_: Any, **__: Any) -> Any:
            return torch.from_numpy(case.queries)

        def encode_corpus(self, corpus: Any, **_: Any) -> Any:
            first, last = (int(corpus[end]["text"]) for end in (0, -1))
            return torch.from_numpy(case.corpus[first : last + 1])

    # They sort by length: numbers of one length keep their order.
    corpus = {name: {"text": f"{i:09d}"} for i, name in enumerate(case.corpus_ids)}
    queries = dict.fromkeys(case.query_ids, "")

    def evaluate() -> dict[str, float]:
        search = DenseRetrievalExactSearch(Model(), batch_size=BATCH)
        results = search.search(corpus, queries, K, "dot")
        parts = EvaluateRetrieval.evaluate(case.qrels, results, [10, 100])
        found = {name: value for part in parts for name, value in part.items()}
        return {"ndcg_cut_10": found["NDCG@10"], "recall_100": found["Recall@100"]}

    _check_peer(benchmark, case, evaluate)


@pytest.mark.benchmark(group="embeddings")
def test_sentence_transformers(benchmark: Any, case: Case) -> None:
    pytest.importorskip("sentence_transformers")
    import torch
    from sentence_transformers.evaluation import InformationRetrievalEvaluator
    from sentence_transformers.util import dot_score

    class Model:
        similarity_fn_name = "dot"

        def encode_query(self, *_: Any, **__: Any) -> Any:
            return torch.from_numpy(case.queries)

    evaluator = InformationRetrievalEvaluator(
        dict.fromkeys(case.query_ids, ""),
        dict.fromkeys(case.corpus_ids, ""),
        {query: set(docs) for query, docs in case.qrels.items()},
        mrr_at_k=[10],
        ndcg_at_k=[10],
        accuracy_at_k=[10],
        precision_recall_at_k=[10, 100],
        map_at_k=[100],
        score_functions={"dot": dot_score},
        write_csv=False,
    )
    corpus = torch.from_numpy(case.corpus)

    def evaluate() -> dict[str, float]:
        found = evaluator.compute_all_metrics(Model(), corpus_embeddings=corpus)["dot"]
        return {"ndcg_cut_10": found["ndcg@k"][10], "recall_100": found["recall@k"][100]}

    _check_peer(benchmark, case, evaluate)


def _check_peer(benchmark: Any, case: Case, evaluate: Callable[[], dict[str, float]]) -> None:
    found, expected = benchmark(evaluate), case.expected()
    # They round to five digits.
    record(benchmark, all(abs(expected[name] - own) < 1e-4 for name, own in found.items()))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells the peak of memory")
def test_memory_of_a_search_in_a_file(benchmark: Any, tmp_path: Path) -> None:
    """64 MB of blocks are read of a file of 128 MB, or of 1 GB."""
    rows = 250_000 if benchmark.disabled else 2_000_000
    files = tmp_path / "corpus.npy", tmp_path / "queries.npy"
    corpus = np.lib.format.open_memmap(files[0], "w+", np.float32, (rows, 128))
    block = np.random.default_rng(SEED).standard_normal((50_000, 128), np.float32)
    for first in range(0, rows, len(block)):
        corpus[first : first + len(block)] = block
    np.save(files[1], np.array(corpus[:5]))
    corpus.flush()
    del corpus

    def search() -> str:
        words = [sys.executable, "-c", SEARCH, *map(str, files)]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    before, after, found = map(int, benchmark.pedantic(search).split())

    benchmark.extra_info.update(megabytes_before=before, megabytes_after=after)
    files[0].unlink()
    record(benchmark, found == 5 and 0 < after - before < 115)
