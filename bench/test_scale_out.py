"""Many runs with executors: `pytest bench/test_scale_out.py`.

1,000 runs of 10 MB: 20 files, 50 times each, so that they are in the system's cache. All executors
evaluate with one thread per worker; the means are compared with those of one thread. Targets: two
workers evaluate at least 1.7 times as many runs per second as one worker of the same kind; a run
takes less than 10 ms longer in a Dask worker than without an executor.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr

FILES, REPEATS, QUERIES, DEPTH = 20, 50, 200, 1000
MEASURES = "map ndcg_cut.10 recip_rank P.10"


class Case:
    """Run files, judgments in a file, and the expected means."""

    def __init__(self, folder: Path, files: int, repeats: int) -> None:
        rng = np.random.default_rng(7)
        self.qrels = folder / "qrels"
        judged = rng.integers(0, 1_000_000, (QUERIES, 100))
        self.qrels.write_text(
            "".join(
                f"{query} 0 doc{document:07} {number % 3}\n"
                for query, row in enumerate(judged.tolist())
                for number, document in enumerate(dict.fromkeys(row))
            )
        )
        paths = [_run(folder / f"system{number}.run", judged, rng) for number in range(files)]
        self.runs = paths * repeats
        self.evaluator = fr.Evaluator(self.qrels, MEASURES)
        self.means = [self.evaluator.evaluate(path, threads=1).mean for path in paths] * repeats

    def evaluate(self, executor: Any) -> list[fr.Scores]:
        """The Scores of all runs, with one thread per worker."""
        return self.evaluator.evaluate(self.runs, threads=1, executor=executor)


def _run(path: Path, judged: Any, rng: np.random.Generator) -> Path:
    """Write a run of 10 MB, which finds every other judged document."""
    with path.open("w") as file:
        for query, row in enumerate(judged):
            documents = rng.choice(1_000_000, DEPTH, replace=False)
            documents[rng.choice(DEPTH, 50, replace=False)] = rng.choice(row, 50)
            distinct = list(dict.fromkeys(documents.tolist()))
            file.writelines(
                f"{query} Q0 doc{document:07} {rank} {20 - rank / 100:.6f} {path.stem}-of-the-"
                "benchmark\n"
                for rank, document in enumerate(distinct, 1)
            )
    return path


@pytest.fixture(scope="module")
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    small = request.config.getoption("benchmark_disable")
    files, repeats = (2, 4) if small else (FILES, REPEATS)
    return Case(tmp_path_factory.mktemp("runs"), files, repeats)


@contextmanager
def started(kind: str, workers: int) -> Iterator[Any]:
    """An executor; None for the kind `none`."""
    if kind == "none":
        yield None
    elif kind == "dask":
        distributed = pytest.importorskip("distributed")
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0",
                silence_logs=50,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):  # fmt: skip
            yield client
    else:
        kinds = {"processes": ProcessPoolExecutor, "threads": ThreadPoolExecutor}
        with kinds[kind](workers) as executor:
            yield executor


@pytest.mark.parametrize(
    ("kind", "workers"),
    [("none", 1)] + [(kind, n) for kind in ("processes", "threads", "dask") for n in (1, 2)],
)
@pytest.mark.benchmark(group="1,000 runs of 10 MB")
def test_runs(benchmark: Any, case: Case, kind: str, workers: int) -> None:
    with started(kind, workers) as executor:
        # The workers start and get the judgments.
        case.evaluator.evaluate(case.runs[:8], threads=1, executor=executor)
        found = benchmark.pedantic(case.evaluate, (executor,), rounds=3)

    correct = [scores.mean for scores in found] == case.means
    benchmark.extra_info.update(correct=correct, runs=len(case.runs))
    assert correct
