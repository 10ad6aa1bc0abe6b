"""Tests and intervals against scipy, and against all outcomes where they can be enumerated."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.helpers.comparisons import pair_of, random_rows
from tests.helpers.strategies import examples, slow_in_python

pytestmark = slow_in_python

# Values with many ties, as of P@10, and their differences with many zeros.
TENTHS = st.lists(st.tuples(*[st.integers(0, 10)] * 2), min_size=2, max_size=12)


@given(TENTHS)
@examples(40)
def test_exact_randomization_counts_all_signs(tenths: list[tuple[int, int]]) -> None:
    first, second = np.array(tenths).T
    differences = first - second
    observed = abs(differences.sum())
    signs = np.array(list(product((1, -1), repeat=len(differences))))
    expected = (np.abs(signs @ differences) >= observed).mean()

    assert pair_of(first / 10, second / 10, test="randomization").p == expected


def test_exact_randomization_is_scipys() -> None:
    first, second = random_rows(2, 14)

    expected = stats.permutation_test(
        (first - second,), np.mean, permutation_type="samples", n_resamples=np.inf
    )

    assert pair_of(first, second, test="randomization").p == pytest.approx(
        expected.pvalue, rel=1e-12
    )


def test_random_flips_are_near_the_exact_test() -> None:
    first, second = random_rows(2, 30, seed=3)
    exact = pair_of(first, second, test="randomization").p

    found = pair_of(first, second, test="randomization", exact_up_to=0).p

    assert abs(found - exact) < 5 * np.sqrt(exact * (1 - exact) / 100_000)


def test_sums_that_are_equal_in_decimals_count_as_equal() -> None:
    """As doubles, 0.3 - 0.1 and 0.4 - 0.2 differ."""
    first = [0.3, 0.1, 0.2, 0.4, 0.1, 0.5, 0.2, 0.3]
    second = [0.1, 0.2, 0.1, 0.1, 0.3, 0.2, 0.4, 0.1]

    assert pair_of(first, second, test="randomization").p == 0.421875
    random = pair_of(first, second, test="randomization", exact_up_to=0)
    assert random.p == pytest.approx(0.421875, abs=0.01)


def test_t_test_and_interval_are_scipys() -> None:
    first, second = random_rows(2, 37)
    expected = stats.ttest_rel(first, second)

    pair = pair_of(first, second, level=0.9)

    assert pair.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert pair.p == pytest.approx(expected.pvalue, rel=1e-12)
    bounds = expected.confidence_interval(0.9)
    assert (pair.low, pair.high) == pytest.approx((bounds.low, bounds.high), rel=1e-10)


@given(TENTHS)
@examples(30)
def test_wilcoxon_is_exact_with_ties(tenths: list[tuple[int, int]]) -> None:
    first, second = np.array(tenths).T / 10
    rounded = np.round(first - second, 12)
    if not rounded.any():
        return
    for zeros, dropped in (("wilcox", rounded[rounded != 0]), ("pratt", rounded)):
        ranks = stats.rankdata(np.abs(dropped))[dropped != 0]
        positive = dropped[dropped != 0] > 0
        sums = np.array(list(product((0, 1), repeat=len(ranks)))) @ ranks
        above = ranks[positive].sum()
        limit = min(above, ranks.sum() - above)
        expected = min(1.0, 2 * (sums <= limit + 1e-9).mean())

        found = pair_of(first, second, test="wilcoxon", zeros=zeros)

        assert found.p == pytest.approx(expected, rel=1e-12)


def test_wilcoxon_without_ties_is_scipys() -> None:
    first, second = np.random.default_rng(0).random((2, 60))

    expected = stats.wilcoxon(first, second, method="exact")

    assert pair_of(first, second, test="wilcoxon").p == pytest.approx(expected.pvalue, rel=1e-12)


def test_wilcoxon_of_many_queries_is_scipys_approximation() -> None:
    first, second = np.round(random_rows(2, 700), 2)
    expected = stats.wilcoxon(
        np.round(first - second, 2), method="approx", zero_method="wilcox", correction=False
    )

    pair = pair_of(first, second, test="wilcoxon", zeros="wilcox")

    assert pair.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert (pair.exact, pair.note) == (False, "p is approximate")


def test_sign_test_is_the_binomial_test() -> None:
    first, second = np.round(random_rows(2, 50), 1)
    wins, losses = (first > second).sum(), (first < second).sum()

    expected = stats.binomtest(int(wins), int(wins + losses)).pvalue

    assert pair_of(first, second, test="sign").p == pytest.approx(expected, rel=1e-12)


def test_sign_test_ignores_small_differences() -> None:
    first, second = np.array([0.5] * 8), np.array([0.495, 0.49, 0.2, 0.1, 0.3, 0.6, 0.4, 0.3])

    pair = pair_of(first, second, test="sign", min_difference=0.01)

    assert pair.p == pytest.approx(stats.binomtest(5, 6).pvalue, rel=1e-12)


def test_randomized_tukey_of_two_systems_is_randomization() -> None:
    first, second = random_rows(2, 40, seed=5)
    expected = pair_of(first, second, test="randomization").p

    found = pair_of(first, second, test="tukey", resamples=50_000).p

    assert abs(found - expected) < 5 * np.sqrt(expected * (1 - expected) / 50_000)


def draws(n: int, resamples: int) -> npt.NDArray[np.int64]:
    """The queries that are drawn, from words of the reference implementation of splitmix64."""
    mask, golden = 2**64 - 1, 0x9E3779B97F4A7C15

    def mix(word: int) -> int:
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & mask
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB & mask
        return word ^ (word >> 31)

    base = mix(mix(golden) + 3 * golden & mask)
    words = [mix(base + (i + 1) * golden & mask) for i in range(n * resamples)]
    return np.array([(word >> 32) * n >> 32 for word in words]).reshape(resamples, n)


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_bootstrap_intervals_are_scipys_with_the_same_draws(
    interval: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = random_rows(2, 25)
    sample, chosen = first - second, draws(25, 300)
    from scipy.stats import _resampling

    monkeypatch.setattr(
        _resampling, "_bootstrap_resample", lambda data, *_args, **_how: data[..., chosen]
    )
    expected = stats.bootstrap(
        (sample,), np.mean, n_resamples=300, method=interval, vectorized=True
    ).confidence_interval

    pair = pair_of(first, second, interval=interval, resamples=300)

    assert (pair.low, pair.high) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_studentized_interval_is_that_of_arch() -> None:
    """Recorded with arch 8.0.0: an IIDBootstrap whose `update_indices` returns the draws above, and
    `conf_int(mean, reps=300, method="studentized", std_err_func=standard error of the mean)`.
    It multiplies the quantiles by the deviation of the resampled means, not by the standard error.
    """
    first, second = random_rows(2, 25)
    sample, recorded = first - second, np.array([-0.02028253559354163, 0.16083370923851792])
    scale = sample.std(ddof=1) / 5 / sample[draws(25, 300)].mean(axis=1).std()

    pair = pair_of(first, second, interval="studentized", resamples=300)

    expected = sample.mean() + (recorded - sample.mean()) * scale
    assert (pair.low, pair.high) == pytest.approx(expected, rel=1e-9)


def test_bootstrap_test_counts_resampled_t_statistics() -> None:
    first, second = random_rows(2, 20)
    sample, chosen = first - second, draws(20, 400)
    drawn = sample[chosen] - sample.mean()
    t = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / np.sqrt(20))
    observed = sample.mean() / (sample.std(ddof=1) / np.sqrt(20))

    pair = pair_of(first, second, test="bootstrap", resamples=400)

    assert pair.p == ((np.abs(t) >= abs(observed)).sum() + 1) / 401


@pytest.mark.parametrize("test", [stats.ttest_rel, lambda x, y: stats.ttest_rel(x, y)[1]])
def test_a_function_can_be_the_test(test: Any) -> None:
    first, second = random_rows(2, 20)

    pair = pair_of(first, second, test=test)

    assert pair.p == pytest.approx(stats.ttest_rel(first, second).pvalue, rel=1e-12)


def test_ratio_intervals_resample_both_means() -> None:
    import fastrank as fr
    from tests.helpers.comparisons import scores_of

    rows = random_rows(2, 25)
    compared = fr.compare_scores(scores_of(rows), interval="percentile", resamples=300)
    first, second = (row[draws(25, 300)].mean(axis=1) for row in rows)

    expected = np.quantile(first / second - 1, [0.025, 0.975])

    assert compared.relative_interval("value", "a", "b") == pytest.approx(expected, rel=1e-9)
