"""Mean ranks, Friedman's test, and Nemenyi's critical difference."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastrank.comparing.mean_ranks import mean_ranks
from fastrank.comparing.paired import Paired
from tests.helpers.comparisons import random_rows
from tests.helpers.strategies import examples


@given(st.integers(3, 6), st.integers(2, 30), st.integers(0, 10_000), st.integers(0, 4))
@examples(50)
def test_friedmans_test_is_that_of_scipy(k: int, n: int, seed: int, decimals: int) -> None:
    values = np.round(random_rows(k, n, seed), decimals)
    values[0, 0] += 2

    found = mean_ranks(_paired(values), "lower", 0.05)

    assert found.p == pytest.approx(stats.friedmanchisquare(*values).pvalue, rel=1e-9)
    assert np.allclose(found.ranks, stats.rankdata(values, axis=0).mean(axis=1))


@given(st.integers(2, 6), st.integers(2, 30), st.integers(0, 10_000))
@examples(50)
def test_bars_are_those_of_nemenyis_test(k: int, n: int, seed: int) -> None:
    """As `posthoc_nemenyi_friedman` of scikit-posthocs: p from the studentized range."""
    values = random_rows(k, n, seed) + 0.1 * np.arange(k)[:, None]
    found = mean_ranks(_paired(values), "higher", 0.05)

    joined = {frozenset(pair) for group in found.groups() for pair in combinations(group, 2)}

    for one, other in combinations(range(k), 2):
        q = abs(found.ranks[one] - found.ranks[other]) / math.sqrt(k * (k + 1) / (6 * n))
        p = stats.studentized_range.sf(q * math.sqrt(2), k, np.inf)
        assert (frozenset((one, other)) in joined) == (p > 0.05)


def test_critical_differences_are_those_of_demsars_table() -> None:
    """q of 0.05 for 2 to 10 classifiers (JMLR 7, table 5a)."""
    q = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]

    found = [mean_ranks(_paired(random_rows(k, 10)), "higher", 0.05).critical for k in range(2, 11)]

    expected = [own * math.sqrt(k * (k + 1) / 60) for k, own in enumerate(q, 2)]
    assert found == pytest.approx(expected, rel=3e-4)


def _paired(values: npt.NDArray[np.float64]) -> Paired:
    firsts, seconds = np.triu_indices(len(values), 1)
    return Paired(values, firsts, seconds)
