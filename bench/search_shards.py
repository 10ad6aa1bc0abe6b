"""Search in shards on disk: time, rates, peak memory of each process, and the share of merging.

    python bench/search_shards.py FOLDER

writes ten files of 10^6 vectors of dimension 96 as float16 to FOLDER (2 GB), searches them for 2000
queries with two worker processes, and compares the results with those of one search of all vectors
with one thread, bit for bit. Needs Linux for the memory of the workers.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from fastrank.searching import Found, Shards, search_batches

SEED = 17


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    for name, default in (
        ("shards", 10),
        ("vectors", 10**6),
        ("dimension", 96),
        ("queries", 2000),
        ("k", 100),
        ("workers", 2),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--metric", default="ip")
    given = parser.parse_args()
    files = [generated(given, number) for number in range(given.shards)]
    rng = np.random.default_rng(SEED)
    queries = rng.standard_normal((given.queries, given.dimension), np.float32)
    size = sum(file.stat().st_size for file in files)
    print(f"{given.shards * given.vectors} vectors, {size / 1e9:.2f} GB of float16, {vars(given)}")
    merging = [0.0]
    plain = faiss.ResultHeap.add_result

    def timed(*arguments: Any) -> None:
        start = time.perf_counter()
        plain(*arguments)
        merging[0] += time.perf_counter() - start

    # The forkserver is started without threads.
    with ProcessPoolExecutor(given.workers, get_context("forkserver")) as executor:
        list(executor.map(int, range(8 * given.workers)))
        faiss.ResultHeap.add_result = timed
        start = time.perf_counter()
        found = list(search_batches(queries, Shards(files, executor), given.k, metric=given.metric))
        seconds = time.perf_counter() - start
        faiss.ResultHeap.add_result = plain
        peaks = [peak("self"), *map(peak, executor._processes)]
    compared = given.queries * given.shards * given.vectors
    rate = compared / seconds / given.workers
    print(f"search: {seconds:.1f} s, {rate / 1e6:.0f} million comparisons/s per worker")
    print(f"merging: {merging[0]:.3f} s, {100 * merging[0] / seconds:.3f} % of the search")
    print("peak memory in MB, of this process and the workers:", *peaks)
    faiss.omp_set_num_threads(1)
    start = time.perf_counter()
    expected = list(search_batches(queries, all_vectors(files), given.k, metric=given.metric))
    print(f"one search, one thread: {time.perf_counter() - start:.1f} s")
    print("equal, bit for bit:", equal(found, expected))


def generated(given: argparse.Namespace, number: int) -> Path:
    """A file of normally distributed vectors."""
    path: Path = given.folder / f"{number}.npy"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng([SEED, number])
        shape = given.vectors, given.dimension
        np.save(path, rng.standard_normal(shape, np.float32).astype(np.float16))
    return path


def all_vectors(files: list[Path]) -> Iterator[Any]:
    for file in files:
        yield np.load(file)


def peak(process: int | str) -> int:
    """The peak memory of a process in MB, with mapped files."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) // 1000


def equal(found: list[Found], expected: list[Found]) -> bool:
    return len(found) == len(expected) and all(
        np.array_equal(one.rows, other.rows) and np.array_equal(one.scores, other.scores)
        for one, other in zip(found, expected, strict=True)
    )


if __name__ == "__main__":
    main()
