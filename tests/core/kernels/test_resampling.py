"""Resamples, exact distributions and discounts, against slow and obvious twins."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from math import inf, nextafter

import numpy as np
import numpy.typing as npt
import pytest

from fastrank.core.kernels.measures.gains import DISCOUNTS
from fastrank.core.native import kernels

MASK, GOLDEN = 2**64 - 1, 0x9E3779B97F4A7C15


def mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & MASK
    return word ^ (word >> 31)


def word_of(seed: int, purpose: int, number: int) -> int:
    start = mix(mix(seed + GOLDEN & MASK) + purpose * GOLDEN & MASK)
    return mix(start + (number + 1) * GOLDEN & MASK)


def test_the_finalizer_is_that_of_splitmix64() -> None:
    """The first outputs of the reference implementation with seed 1234567."""
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]

    assert [mix(1234567 + i * GOLDEN & MASK) for i in (1, 2, 3)] == expected


@pytest.mark.parametrize("seed", [0, 7, 2**63 - 1])
def test_words_depend_on_seed_purpose_and_number(seed: int) -> None:
    halves = np.empty(8, np.int64)

    kernels.random_words(seed, 2, 5, halves)

    words = [(int(high) << 32) | int(low) for high, low in halves.reshape(-1, 2)]
    assert words == [word_of(seed, 2, number) for number in (5, 6, 7, 8)]


@pytest.mark.parametrize("queries", [1, 64, 65, 130])
def test_signs_are_bits_of_words(queries: int) -> None:
    weights, words = np.empty(queries * 3), -(-queries // 64)

    kernels.flip_signs(1, 10, 3, weights)

    for resample in range(3):
        for query in range(queries):
            word = word_of(1, 1, (10 + resample) * words + query // 64)
            sign = -1.0 if word >> query % 64 & 1 else 1.0
            assert weights[query * 3 + resample] == sign


def test_draws_with_replacement_count_queries() -> None:
    weights = np.full(7 * 4, 9.0)

    kernels.draw_with_replacement(0, 2, 4, weights)

    for resample in range(4):
        drawn = [(word_of(0, 3, (2 + resample) * 7 + i) >> 32) * 7 >> 32 for i in range(7)]
        expected = [drawn.count(query) for query in range(7)]
        assert weights.reshape(7, 4)[:, resample].tolist() == expected


def test_shuffles_are_those_of_fisher_and_yates() -> None:
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


def test_weighted_sums_and_extreme_differences() -> None:
    rng = np.random.default_rng(0)
    values, weights = rng.integers(-9, 9, (3, 6)).astype(float), rng.integers(0, 3, (6, 5)) * 1.0
    sums, counts = np.empty(15), np.array([10, 20])

    kernels.weighted_sums(values.reshape(-1), weights.reshape(-1), 5, sums)
    firsts, seconds = np.array([0, 1]), np.array([2, 0])
    kernels.count_extreme(sums, 5, firsts, seconds, np.array([4.0, 0.0]), counts)

    expected = values @ weights
    assert sums.reshape(3, 5).tolist() == expected.tolist()
    assert counts[0] == 10 + (np.abs(expected[0] - expected[2]) >= 4).sum()
    assert counts[1] == 20 + 5


def all_sums(magnitudes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    signs = np.array(list(product((1, -1), repeat=len(magnitudes))))
    return np.asarray(signs @ magnitudes)


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_signed_sums_are_counted_by_halves(size: int) -> None:
    magnitudes = np.random.default_rng(size).integers(1, 6, size)
    left, right = np.empty(2 ** (size // 2), np.int64), np.empty(2 ** (size - size // 2), np.int64)

    for threshold in range(-3, int(magnitudes.sum()) + 2):
        room = np.empty(max(1, len(right) // 2), np.int64)
        found = kernels.count_signed_sums(magnitudes, threshold, left, right, room)
        assert found == (all_sums(magnitudes) >= threshold).sum()


def test_rank_sums_are_counted_by_convolution() -> None:
    ranks = np.array([1, 3, 3, 5])
    counts = np.empty(7)

    kernels.count_rank_sums(ranks, counts, np.empty(7))

    sums = np.array(list(product((0, 1), repeat=4))) @ ranks
    assert counts.tolist() == [(sums <= limit).sum() for limit in range(7)]


def test_listed_discounts_are_the_doubles_next_to_the_logarithms() -> None:
    for rank, found in enumerate(DISCOUNTS.tolist()):
        exact = Decimal(rank + 1).ln() / Decimal(2).ln()
        error = abs(Decimal(found) - exact)
        for other in (nextafter(found, -inf), nextafter(found, inf)):
            assert error <= abs(Decimal(other) - exact)
