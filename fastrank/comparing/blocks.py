"""Resamples, block by block, in several threads."""

from __future__ import annotations

import numpy as np

from fastrank.native import kernels
from fastrank.native.threads import default_threads, in_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.comparing.paired import Floats

    # Takes the sums of the rows in a block, float64[rows * count], and the block's first resample.
    Use = Callable[[Any, int, int], None]

# Weights at a time, and the limits of resamples at a time: so that they stay in the cache.
WEIGHTS = 1 << 16
FEWEST, MOST = 32, 256
# Operations that justify a thread.
WORTH_A_THREAD = 20_000_000


def thread_count(operations: int, threads: int | None) -> int:
    """How many threads are useful for a number of operations, at most `threads`."""
    return default_threads(operations, WORTH_A_THREAD) if threads is None else threads


def for_sums(
    rows: Floats,
    kernel: str,
    resamples: int,
    seed: int,
    threads: int | None,
    use: Callable[[], Use],
) -> None:
    """Call a function with the sums of each row over every resample, block by block.

    kernel: what fills the weights of a block, `flip_signs` or `draw_with_replacement`. use: makes,
    for one thread, the function that gets the sums of a block, its first resample, and their
    number.
    """
    m, n = rows.shape
    values = np.ascontiguousarray(rows).reshape(-1)
    fill = getattr(kernels, kernel)
    length = max(FEWEST, min(MOST, WEIGHTS // max(1, n)))
    blocks = -(-resamples // length)
    count = min(blocks, thread_count(m * n * resamples, threads))

    def work(thread: int) -> None:
        weights, sums, consume = np.empty(n * length), np.empty(m * length), use()
        for block in range(thread, blocks, count):
            first = block * length
            size = min(length, resamples - first)
            fill(seed, first, size, weights[: n * size])
            kernels.weighted_sums(values, weights[: n * size], size, sums[: m * size])
            consume(sums[: m * size], first, size)

    in_threads(work, count)


def resampled_sums(
    rows: Floats, kernel: str, resamples: int, seed: int, threads: int | None
) -> Floats:
    """The sums of each row over every resample, float64[rows, resamples]."""
    found = np.empty((len(rows), resamples))

    def use() -> Use:
        def store(sums: Any, first: int, size: int) -> None:
            found[:, first : first + size] = sums.reshape(len(rows), size)

        return store

    for_sums(rows, kernel, resamples, seed, threads, use)
    return found
