"""Embeddings: `python -m bench embeddings`, what search and evaluation cost beside faiss itself.

Every round calls each subject once, so that ratios come from the same seconds; beside each figure
stands whether its answer was right. BEIR and sentence-transformers are left out where they are not
installed; they are given the vectors instead of a model.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import fastrank as fr
from fastrank.evaluation.scoring import score_run
from fastrank.formats.accept import as_qrels
from fastrank.judging.batches import BatchJudge
from fastrank.judging.request import Asked
from fastrank.search import Index, build_index, search_batches
from fastrank.search.names import names_of

MEASURES = "ndcg_cut.10 map_cut.100 recall.100 P.10 recip_rank"
RATIO, SHARE = 1.03, 0.02
SEED = 11
# Prints the peak of its memory in MB, before and after a search in a file.
DRIVER = """
import sys
import numpy, faiss
from fastrank.search import search_batches
def peak():
    # Not ru_maxrss, which counts the process that started this one.
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))
queries = numpy.load(sys.argv[2])
corpus = numpy.load(sys.argv[1], mmap_mode="r")
list(search_batches(queries, queries[:2], 2))
before = peak()
found = sum(len(one) for one in search_batches(corpus, queries, int(sys.argv[3])))
print(before, peak(), found)
"""


class Case:
    """Vectors, and judgments of documents near the queries."""

    def __init__(self, rows: int, dimension: int, queries: int, k: int, batch_size: int) -> None:
        rng = np.random.default_rng(SEED)
        self.k, self.batch_size = k, batch_size
        self.corpus = rng.standard_normal((rows, dimension), np.float32)
        sources = rng.choice(rows, queries, replace=False)
        noise = rng.standard_normal((queries, dimension), np.float32)
        self.queries = self.corpus[sources] + noise
        self.corpus_ids = [f"d{i}" for i in range(rows)]
        self.query_ids = [f"q{i}" for i in range(queries)]
        self.qrels = {
            query: {f"d{row}": 1 for row in {int(source), *rng.integers(0, rows, 4).tolist()}}
            for query, source in zip(self.query_ids, sources, strict=True)
        }
        self.index = build_index(self.corpus, ids=self.corpus_ids)

    def raw(self) -> list[Any]:
        """What faiss alone finds, batch by batch."""
        search, size = self.index.faiss.search, self.batch_size
        starts = range(0, len(self.queries), size)
        return [search(self.queries[first : first + size], self.k) for first in starts]

    def ours(self) -> list[Any]:
        """The same through `search_batches`."""
        return list(self.batches(self.index))

    def batches(self, index: Index) -> Any:
        return search_batches(
            index, self.queries, self.k, query_ids=self.query_ids, batch_size=self.batch_size
        )

    def judged(self, batches: list[Any]) -> fr.Scores:
        """The evaluation of what was found, judgments and all."""
        asked = Asked(MEASURES)
        queries = names_of("query_ids", self.query_ids, len(self.queries))
        judge = BatchJudge(
            as_qrels(self.qrels, compat="9.0.8"), asked.bound, asked.options,
            corpus=self.index.names, queries=queries, tag=b"",
        )  # fmt: skip
        return score_run(judge, batches, asked.bound, asked.options)

    def whole(self) -> dict[str, float]:
        """All of it: from vectors to means."""
        return fr.evaluate_embeddings(
            self.queries, self.index, self.qrels, MEASURES, k=self.k, query_ids=self.query_ids,
            batch_size=self.batch_size,
        ).mean  # fmt: skip

    def expected(self) -> dict[str, float]:
        """The means of the dicts of what faiss finds."""
        run = {}
        for first, (scores, rows) in zip(
            range(0, len(self.queries), self.batch_size), self.raw(), strict=True
        ):
            for i, (own, values) in enumerate(zip(rows.tolist(), scores.tolist(), strict=True)):
                names = [self.corpus_ids[row] for row in own]
                run[self.query_ids[first + i]] = dict(zip(names, values, strict=True))
        found = fr.evaluate(self.qrels, run, MEASURES)
        assert isinstance(found, fr.Scores)
        return found.mean


def beir(case: Case) -> Callable[[], dict[str, float]]:
    """BEIR's exact search and its evaluation, of vectors that are at hand."""
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

    def call() -> dict[str, float]:
        search = DenseRetrievalExactSearch(Model(), batch_size=case.batch_size)
        results = search.search(corpus, queries, case.k, "dot")
        parts = EvaluateRetrieval.evaluate(case.qrels, results, [10, 100])
        found = {name: value for part in parts for name, value in part.items()}
        return {"ndcg_cut_10": found["NDCG@10"], "recall_100": found["Recall@100"]}

    return call


def sentence_transformers(case: Case) -> Callable[[], dict[str, float]]:
    """The InformationRetrievalEvaluator, of vectors that are at hand."""
    import torch
    from sentence_transformers.evaluation import InformationRetrievalEvaluator
    from sentence_transformers.util import dot_score

    class Model:
        similarity_fn_name = "dot"

        def encode_query(self, *_: Any, **__: Any) -> Any:
            return torch.from_numpy(case.queries)

    evaluator = InformationRetrievalEvaluator(
        dict.fromkeys(case.query_ids, ""), dict.fromkeys(case.corpus_ids, ""),
        {query: set(docs) for query, docs in case.qrels.items()},
        mrr_at_k=[10], ndcg_at_k=[10], accuracy_at_k=[10], precision_recall_at_k=[10, 100],
        map_at_k=[100], score_functions={"dot": dot_score}, write_csv=False,
    )  # fmt: skip
    corpus = torch.from_numpy(case.corpus)

    def call() -> dict[str, float]:
        found = evaluator.compute_all_metrics(Model(), corpus_embeddings=corpus)["dot"]
        return {"ndcg_cut_10": found["ndcg@k"][10], "recall_100": found["recall@k"][100]}

    return call


PEERS = {"beir": beir, "sentence_transformers": sentence_transformers}


def measure(case: Case, repeat: int, show: Callable[[str], None]) -> bool:
    """Print figures and targets; returns whether all answers were right."""
    expected = case.expected()
    times: dict[str, list[float]] = {}

    def timed(name: str, call: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        answer = call()
        times.setdefault(name, []).append(time.perf_counter() - start)
        return answer

    peers = {name: make(case) for name, make in PEERS.items() if find_spec(name)}
    right: dict[str, bool] = {}
    for _ in range(repeat):
        alone = timed("faiss", case.raw)
        batches = timed("search", case.ours)
        scores = timed("evaluation", lambda found=batches: case.judged(found))
        right["search"] = _same(alone, batches)
        right["evaluation"] = scores.mean == expected
        right["evaluate_embeddings"] = timed("evaluate_embeddings", case.whole) == expected
        for name, call in peers.items():
            found = timed(name, call)
            right[name] = all(abs(expected[key] - own) < 1e-4 for key, own in found.items())
    for name, own in times.items():
        verdict = "" if name == "faiss" else f"  correct: {right[name]}"
        show(f"{name:24} {1000 * median(own):10.1f} ms{verdict}")
    ratios = [ours / own for ours, own in zip(times["search"], times["faiss"], strict=True)]
    shares = [own / base for own, base in zip(times["evaluation"], times["faiss"], strict=True)]
    show(f"search / faiss: {median(ratios):.3f} (target {RATIO})")
    show(f"evaluation / faiss: {median(shares):.4f} (target {SHARE})")
    for name in peers:
        pairs = zip(times[name], times["evaluate_embeddings"], strict=True)
        ratio = median(their / own for their, own in pairs)
        show(f"{name} / evaluate_embeddings: {ratio:.2f}")
    for name in PEERS.keys() - peers.keys():
        show(f"{name}: not installed")
    return all(right.values())


def _same(alone: list[Any], batches: list[Any]) -> bool:
    """Whether the scores are the same, and the documents where no scores are equal."""
    return all(
        (scores == found.scores).all() and (np.sort(rows) == np.sort(found.rows))[~found.cut].all()
        for (scores, rows), found in zip(alone, batches, strict=True)
    )


def measure_memory(rows: int, dimension: int, queries: int, k: int) -> tuple[int, int, float]:
    """The peak of memory in MB before and after a search in a mapped file, and the file's MB."""
    rng = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory(prefix="fastrank-bench-") as folder:
        path, asked = Path(folder) / "corpus.npy", Path(folder) / "queries.npy"
        corpus = np.lib.format.open_memmap(path, "w+", np.float32, (rows, dimension))
        for first in range(0, rows, 100_000):
            size = min(100_000, rows - first)
            corpus[first : first + size] = rng.standard_normal((size, dimension), np.float32)
        np.save(asked, np.array(corpus[:queries]))
        corpus.flush()
        del corpus
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, str(path), str(asked), str(k)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        before, after, found = map(int, done.stdout.split())
        assert found == queries
        return before, after, path.stat().st_size / 1e6
