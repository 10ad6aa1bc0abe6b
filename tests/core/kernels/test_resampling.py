"""Random words, resamples and discounts, against slow and obvious twins."""

from __future__ import annotations

from decimal import Decimal
from math import inf, nextafter

import numpy as np
import pytest

from fastrank.core.kernels.measures.gains import DISCOUNTS
from fastrank.core.native import kernels

MASK, GOLDEN = 2**64 - 1, 0x9E3779B97F4A7C15


def mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & MASK
    return word ^ (word >> 31)


def word_of(seed: int, purpose: int, number: int) -> int:
    """A random word, as the reference implementation of splitmix64 makes it."""
    start = mix(mix(seed + GOLDEN & MASK) + purpose * GOLDEN & MASK)
    return mix(start + (number + 1) * GOLDEN & MASK)


@pytest.mark.parametrize("seed", [0, 7, 2**63 - 1])
def test_words_depend_on_seed_purpose_and_number(seed):
    halves = np.empty(8, np.int64)

    kernels.random_words(seed, 2, 5, halves)

    words = [(int(high) << 32) | int(low) for high, low in halves.reshape(-1, 2)]
    assert words == [word_of(seed, 2, number) for number in (5, 6, 7, 8)]


@pytest.mark.parametrize("queries", [1, 64, 65, 130])
def test_signs_are_bits_of_words(queries):
    weights, words = np.empty(queries * 3), -(-queries // 64)

    kernels.flip_signs(1, 10, 3, weights)

    for resample in range(3):
        for query in range(queries):
            word = word_of(1, 1, (10 + resample) * words + query // 64)
            sign = -1.0 if word >> query % 64 & 1 else 1.0
            assert weights[query * 3 + resample] == sign


def test_shuffles_are_those_of_fisher_and_yates():
    values = np.random.default_rng(0).integers(0, 100, (5, 4)).astype(float)
    ranges = np.empty(3)

    kernels.permuted_ranges(values.reshape(-1), 0, 6, np.empty(4), np.empty(4), ranges)

    for resample in range(3):
        sums = np.zeros(4)
        for query, given in enumerate(values):
            row = given.copy()
            for i in (3, 2, 1):
                word = word_of(0, 2, ((6 + resample) * 5 + query) * 4 + i)
                j = (word >> 32) * (i + 1) >> 32
                row[i], row[j] = row[j], row[i]
            sums += row
        assert ranges[resample] == sums.max() - sums.min()


def test_listed_discounts_are_the_doubles_next_to_the_logarithms():
    for rank, found in enumerate(DISCOUNTS.tolist()):
        exact = Decimal(rank + 1).ln() / Decimal(2).ln()
        error = abs(Decimal(found) - exact)
        for other in (nextafter(found, -inf), nextafter(found, inf)):
            assert error <= abs(Decimal(other) - exact)
