"""Queries divided into folds for cross-validation."""

from __future__ import annotations

from fastrank.native import kernels
from fastrank.native.buffers import zeros

# Which words of a seed decide; others are for resampling (kernels/comparing/resampling.py).
PURPOSE = 4


def folds_of(count: int, folds: int, seed: int) -> list[int]:
    """The fold of each of `count` queries: a shuffle, then every `folds`-th query.

    The shuffle is that of Fisher and Yates, from the last query down.
    """
    halves = zeros("q", 2 * count)
    kernels.random_words(seed, PURPOSE, 0, halves)
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = halves[2 * i] * (i + 1) >> 32
        order[i], order[j] = order[j], order[i]
    found = [0] * count
    for place, query in enumerate(order):
        found[query] = place % folds
    return found
