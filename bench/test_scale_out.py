"""Many runs with executors: `pytest bench/test_scale_out.py`.

1,000 runs of 10 MB: 20 files, 50 times each, so that they are in the system's cache. All executors
evaluate with one thread per worker; the means are compared with those of one thread. No executor,
one worker, and two workers take turns. Targets: two workers evaluate at least 1.7 times as many
runs per second as one worker of the same kind (`extra_info["speedup"]`); a run takes less than
10 ms longer in a Dask worker than without an executor.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pytest

import fastrank as fr

FILES, REPEATS, QUERIES, DEPTH = 20, 50, 200, 1000
ROUNDS = 7
MEASURES = "map ndcg_cut.10 recip_rank P.10"


class Case:
    """Run files, judgments in a file, and the expected means."""

    def __init__(self, folder: Path, files: int, repeats: int, queries: int) -> None:
        rng = np.random.default_rng(7)
        self.qrels = folder / "qrels"
        judged = rng.integers(0, 1_000_000, (queries, 100))
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
    """Write a run, of 10 MB for all queries, which finds every other judged document."""
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
    sizes = (2, 4, 20) if small else (FILES, REPEATS, QUERIES)
    return Case(tmp_path_factory.mktemp("runs"), *sizes)


@contextmanager
def started(kind: str, workers: int, processes: bool) -> Iterator[Any]:
    """An executor with some workers; those of Dask are processes, or threads of this one."""
    if kind == "dask":
        distributed = pytest.importorskip("distributed")
        with (
            distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=processes,
                dashboard_address=":0",
                silence_logs=50,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
    else:
        kinds = {"processes": ProcessPoolExecutor, "threads": ThreadPoolExecutor}
        with kinds[kind](workers) as executor:
            yield executor


@pytest.mark.parametrize("kind", ["processes", "threads", "dask"])
@pytest.mark.benchmark(group="1,000 runs of 10 MB, two workers")
def test_two_workers(benchmark: Any, case: Case, kind: str) -> None:
    times: list[tuple[float, float]] = []
    # Where nothing is timed, only the answer counts.
    processes = not benchmark.disabled
    with started(kind, 1, processes) as one, started(kind, 2, processes) as two:
        for executor in (one, two):
            # The workers start and get the judgments.
            case.evaluator.evaluate(case.runs[:8], threads=1, executor=executor)

        def others_first() -> None:
            times.append((_seconds(case, None), _seconds(case, one)))

        found = benchmark.pedantic(case.evaluate, (two,), setup=others_first, rounds=ROUNDS)

    correct = [scores.mean for scores in found] == case.means
    none, single = map(median, zip(*times, strict=True))
    benchmark.extra_info.update(
        correct=correct,
        runs=len(case.runs),
        seconds_without_executor=none,
        seconds_of_one_worker=single,
        speedup=single / benchmark.stats.stats.median if benchmark.stats else None,
        ms_more_per_run=1e3 * (single - none) / len(case.runs),
    )
    assert correct


def _seconds(case: Case, executor: Any) -> float:
    before = perf_counter()
    case.evaluate(executor)
    return perf_counter() - before
