"""Tests and intervals against scipy, all outcomes where they can be enumerated, and other programs.

What was recorded is of scipy 1.17.1, statsmodels 0.15.0 and arch 8.0.0.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastrank.core.native import kernels
from tests.core.kernels.test_resampling import word_of
from tests.helpers.comparisons import compare_data, compared, data_scores, pair_of, random_rows
from tests.helpers.strategies import examples, slow_in_python
from tests.helpers.tables import giving

pytestmark = slow_in_python

# Values with many ties, as of P@10, and their differences with many zeros.
TENTHS = st.lists(st.tuples(*[st.integers(0, 10)] * 2), min_size=2, max_size=12)
RR = "recip_rank"
EXACT = {"test": "randomization"}
FLIPS = {"test": "randomization", "exact_up_to": 0}
PRATT = {"test": "wilcoxon"}
WILCOX = {"test": "wilcoxon", "zeros": "wilcox"}

Array = npt.NDArray[np.float64]


def _t(first: Array, second: Array) -> float:
    return float(stats.ttest_rel(first, second).pvalue)


def _signs(first: Array, second: Array) -> float:
    wins, losses = int((first > second).sum()), int((first < second).sum())
    return float(stats.binomtest(wins, wins + losses).pvalue)


def _wilcoxon(first: Array, second: Array) -> float:
    differences = np.round(first - second, 12)
    method = "exact" if len(first) <= 500 else "approx"
    return float(stats.wilcoxon(differences, method=method, correction=False).pvalue)


OF_SCIPY: dict[str, tuple[Array, dict[str, Any], Callable[[Array, Array], float]]] = {
    "t": (random_rows(2, 37), {}, _t),
    "a function": (random_rows(2, 20), {"test": stats.ttest_rel}, _t),
    "a function that gives p": (random_rows(2, 20), {"test": _t}, _t),
    "sign": (random_rows(2, 50).round(1), {"test": "sign"}, _signs),
    "wilcoxon": (np.random.default_rng(0).random((2, 60)), PRATT, _wilcoxon),
    "wilcoxon of 500": (np.random.default_rng(0).random((2, 500)), PRATT, _wilcoxon),
    "wilcoxon of many": (random_rows(2, 700).round(2), WILCOX, _wilcoxon),
}


@pytest.mark.parametrize("name", OF_SCIPY)
def test_p_is_that_of_scipy(name):
    rows, options, of_scipy = OF_SCIPY[name]

    pair = pair_of(*rows, **options)

    assert pair.p == pytest.approx(of_scipy(*rows), rel=1e-11)
    assert pair.exact is (name != "wilcoxon of many")
    assert pair.note == ("" if pair.exact else "p is approximate")


@given(TENTHS)
@examples(40)
def test_exact_randomization_counts_all_signs(tenths):
    first, second = np.array(tenths).T

    found = pair_of(first / 10, second / 10, test="randomization")

    assert found.p == _share_of_signs(first - second)


def _share_of_signs(differences: npt.NDArray[Any]) -> float:
    """Of all signs, those whose sum is at least as far from zero."""
    signs = np.array(list(product((1, -1), repeat=len(differences))))
    return float((np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9).mean())


# As doubles, 0.3 - 0.1 and 0.4 - 0.2 differ.
DECIMALS = ([0.3, 0.1, 0.2, 0.4, 0.1, 0.5, 0.2, 0.3], [0.1, 0.2, 0.1, 0.1, 0.3, 0.2, 0.4, 0.1])
SMALL = [0.5] * 8, [0.495, 0.49, 0.2, 0.1, 0.3, 0.6, 0.4, 0.3]
BOUNDS = stats.ttest_rel(*random_rows(2, 37)).confidence_interval(0.9)

test_small_differences_levels_and_statistics = giving("""
pair_of(*DECIMALS, **EXACT).p => 0.421875
pair_of(*DECIMALS, **FLIPS).p => approx(0.421875, abs=0.01)
pair_of(*SMALL, test="sign", min_difference=0.01).p => approx(stats.binomtest(5, 6).pvalue)
pair_of(*random_rows(2, 37), level=0.9).low => approx(BOUNDS.low, rel=1e-10)
pair_of(*random_rows(2, 37), level=0.9).high => approx(BOUNDS.high, rel=1e-10)
""")


@given(TENTHS)
@examples(30)
def test_wilcoxon_is_exact_with_ties(tenths):
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


@pytest.mark.parametrize("options", [FLIPS, {"test": "tukey"}], ids=str)
def test_random_resamples_are_near_the_exact_test(options):
    rows = random_rows(2, 30, seed=3)
    exact = pair_of(*rows, test="randomization").p

    found = pair_of(*rows, **options, resamples=50_000).p

    assert abs(found - exact) < 5 * np.sqrt(exact * (1 - exact) / 50_000)


# Resamples.


def draws(n: int, resamples: int) -> npt.NDArray[np.int64]:
    """The queries that are drawn."""
    words = [word_of(0, 3, i) for i in range(n * resamples)]
    return np.array([(word >> 32) * n >> 32 for word in words]).reshape(resamples, n)


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_bootstrap_intervals_are_scipys_with_the_same_draws(interval, monkeypatch):
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


def test_studentized_interval_is_that_of_arch():
    """An IIDBootstrap whose `update_indices` returns the draws above, and
    `conf_int(mean, reps=300, method="studentized", std_err_func=standard error of the mean)`.
    It multiplies the quantiles by the deviation of the resampled means, not by the standard error.
    """
    first, second = random_rows(2, 25)
    sample, recorded = first - second, np.array([-0.02028253559354163, 0.16083370923851792])
    scale = sample.std(ddof=1) / 5 / sample[draws(25, 300)].mean(axis=1).std()

    pair = pair_of(first, second, interval="studentized", resamples=300)

    expected = sample.mean() + (recorded - sample.mean()) * scale
    assert (pair.low, pair.high) == pytest.approx(expected, rel=1e-9)


def test_bootstrap_test_counts_resampled_t_statistics():
    first, second = random_rows(2, 20)
    sample, chosen = first - second, draws(20, 400)
    drawn = sample[chosen] - sample.mean()
    t = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / np.sqrt(20))
    observed = sample.mean() / (sample.std(ddof=1) / np.sqrt(20))

    pair = pair_of(first, second, test="bootstrap", resamples=400)

    assert pair.p == ((np.abs(t) >= abs(observed)).sum() + 1) / 401


def test_ratio_intervals_resample_both_means():
    rows = random_rows(2, 25)
    first, second = (row[draws(25, 300)].mean(axis=1) for row in rows)
    expected = np.quantile(first / second - 1, [0.025, 0.975])

    found = compared(rows, interval="percentile", resamples=300)

    assert found.relative_interval("value", "a", "b") == pytest.approx(expected, rel=1e-9)


def test_bca_intervals_of_ratios_are_accelerated_by_the_jackknife():
    rows = random_rows(2, 15) ** 6
    first, second = (row[draws(15, 300)].mean(axis=1) for row in rows)
    ratios, ratio = first / second - 1, rows[0].mean() / rows[1].mean() - 1
    left_out = [np.delete(rows, query, axis=1).mean(axis=1) for query in range(15)]
    skewness = -stats.skew([one / other for one, other in left_out]) / (6 * np.sqrt(15))
    bias = stats.norm.ppf((ratios < ratio).mean())
    z = bias + stats.norm.ppf([0.025, 0.975])
    expected = np.quantile(ratios, stats.norm.cdf(bias + z / (1 - skewness * z)))

    found = compared(rows, interval="bca", resamples=300)

    assert found.relative_interval("value", "a", "b") == pytest.approx(expected, rel=1e-9)
    assert abs(skewness) > 0.02


# The runs in data/.

VECTORS = """
measure a b difference t p low high wins ties losses p_of_signs d_z
map pixels pca 0.0854319275 10.5088601048 7.86955e-21 0.06940088 0.10146298 157 7 36 3.23042e-19
    0.743089
map pixels profile 0.0900524269 11.7351582395 1.64605e-24 0.07492017 0.10518469 166 6 28
    4.62616e-25 0.829801
map pca profile 0.0046204994 0.5426190082 0.587999 -0.01217107 0.02141207 102 4 94 0.617188 0.038369
P_10 pixels pca 0.146 8.6052348217 2.28809e-15 0.11254296 0.17945704 88 105 7 6.04859e-19 0.608482
P_10 pixels profile 0.0525 4.8947145942 2.03045e-06 0.03134908 0.07365092 57 131 12 3.74225e-08
    0.346109
P_10 pca profile -0.0935 -5.9459519499 1.21558e-08 -0.12450899 -0.06249101 25 97 78 1.60993e-07
    -0.420442
recip_rank pixels pca 0.0716581890 4.2233219591 3.66139e-05 0.0381995 0.10511688 24 173 3
    4.92334e-05 0.298634
recip_rank pixels profile 0.0132314560 1.3767871116 0.170125 -0.00571981 0.03218272 8 190 2 0.109375
    0.097354
recip_rank pca profile -0.0584267330 -3.4398774262 0.00070896 -0.09192065 -0.02493281 5 173 22
    0.00151372 -0.243236
ndcg_cut_10 pixels profile 0.0560336673 5.8228854451 2.2906e-08 0.03705752 0.07500982 132 12 56
    2.94878e-08 0.411740
"""
FIELDS, *ROWS = (row.split() for row in VECTORS.strip().replace("\n    ", " ").split("\n"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(row[:3]))
def test_pairs_of_data_are_those_of_scipy_and_statsmodels(row):
    own = dict(zip(FIELDS[3:], map(float, row[3:]), strict=True))

    pair = compare_data().pair(*row[:3])

    assert pair.difference == pytest.approx(own["difference"], abs=1e-10)
    assert pair.statistic == pytest.approx(own["t"], abs=1e-9)
    assert (pair.df, pair.n) == (199, 200)
    assert pair.p == pytest.approx(own["p"], rel=1e-5)
    assert (pair.low, pair.high) == pytest.approx((own["low"], own["high"]), abs=1e-8)
    assert (pair.wins, pair.ties, pair.losses) == (own["wins"], own["ties"], own["losses"])
    assert pair.effect == pytest.approx(own["d_z"], abs=1e-6)
    signs = compare_data(test="sign").pair(*row[:3])
    assert signs.p == pytest.approx(own["p_of_signs"], rel=1e-5)


@pytest.mark.parametrize(
    ("options", "measure", "a", "b", "p"),
    [
        (EXACT, RR, "pixels", "pca", 1.3947486877441406e-05),
        (EXACT, RR, "pixels", "profile", 0.158203125),
        (EXACT, RR, "pca", "profile", 0.00045774877071380615),
        (FLIPS, RR, "pixels", "profile", 15841 / 100_001),
        (FLIPS, RR, "pca", "profile", 41 / 100_001),
        (FLIPS, "map", "pca", "profile", 58908 / 100_001),
        (PRATT, RR, "pixels", "pca", 1.19209e-05),
        (PRATT, RR, "pixels", "profile", 0.0839844),
        (PRATT, RR, "pca", "profile", 0.000693321),
        (WILCOX, RR, "pixels", "pca", 1.00285e-05),
        (WILCOX, RR, "pixels", "profile", 0.158203),
        (WILCOX, RR, "pca", "profile", 0.0012006),
    ],
)
def test_p_values_of_data_are_the_recorded_ones(options, measure, a, b, p):
    pair = compare_data(**options).pair(measure, a, b)

    assert pair.p == (p if "randomization" in options.values() else pytest.approx(p, rel=1e-5))
    assert pair.exact is (options != FLIPS)


@pytest.mark.parametrize(
    ("measure", "a", "b", "p"),
    [
        ("map", 1, 2, 0.877312),
        ("P_10", 0, 2, 0.00489951),
        ("recip_rank", 0, 2, 0.672933),
        ("recip_rank", 1, 2, 0.00039996),
    ],
)
def test_permutations_of_systems_in_this_order(measure, a, b, p):
    rows = np.stack([scores[measure] for scores in data_scores().values()])
    ranges = np.empty(10_000)

    kernels.permuted_ranges(rows.T.reshape(-1).copy(), 0, 0, np.empty(3), np.empty(3), ranges)

    observed = abs(rows[a].sum() - rows[b].sum())
    found = ((ranges >= observed - 1e-9).sum() + 1) / 10_001
    assert found == pytest.approx(p, abs=1e-6)


# Queries that belong together are flipped and drawn together.

CLUSTERS = {f"q{q:03d}": q // 3 for q in range(30)}
CLUSTERED: dict[str, Any] = {
    "test": "randomization",
    "interval": "percentile",
    "clusters": CLUSTERS,
}


def test_a_cluster_has_one_sign():
    rows = random_rows(2, 30)
    expected = _share_of_signs((rows[0] - rows[1]).reshape(10, 3).sum(axis=1))

    pair = pair_of(*rows, **CLUSTERED)

    assert (pair.p, pair.exact) == (expected, True)
    random = pair_of(*rows, **CLUSTERED, exact_up_to=0)
    assert random.p == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / 100_000))


def test_clusters_of_one_query_are_the_queries():
    rows = random_rows(2, 30)

    found = pair_of(*rows, **CLUSTERED | {"clusters": {query: query for query in CLUSTERS}})

    expected = pair_of(*rows, test="randomization", interval="percentile")
    assert found.p == expected.p
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)


WIDE = np.repeat(random_rows(2, 10), 3, axis=1)
THIRTY = random_rows(2, 30)
APART = [random_rows(1, 20)[0], random_rows(1, 20)[0] - 0.25]


def by(clusters: Callable[[int], Any], queries: int = 30) -> dict[str, Any]:
    """Options with these clusters of the numbers of queries."""
    return CLUSTERED | {"clusters": {f"q{q:03d}": clusters(q) for q in range(queries)}}


def width(**options: Any) -> float:
    pair = pair_of(*WIDE, **options)
    return pair.high - pair.low


test_clusters_that_are_alike_or_few_limit_p_and_widen_intervals = giving("""
width(**CLUSTERED) > 1.4 * width(interval="percentile") => True
"few clusters (3): intervals are too narrow" in compared(THIRTY, **by(lambda q: q // 10)).notes
    => True
"one cluster: a test and intervals need several" in compared(THIRTY, **by(lambda q: 0)).notes
    => True
math.isnan(pair_of(*THIRTY, **by(lambda q: 0)).low) => True
math.isnan(pair_of(*THIRTY, **by(lambda q: 0)).high) => True
pair_of(*APART, **by(lambda q: q // 7, 20)).p => 0.25
pair_of(*APART, **by(lambda q: q // 7, 20)).smallest_p => 0.25
pair_of(*APART, **by(lambda q: q // 7, 20)).note
    => "all differences are equal: no interval; cannot be significant: only 3 of 3 clusters differ"
""")


def test_intervals_with_clusters_are_about_the_queries_with_values_of_both():
    rows = random_rows(3, 30)
    gaps = rows.copy()
    gaps[2, 4] = np.nan
    other = by(lambda q: (q + (q > 3)) // 3, 29)

    found = compared(gaps, **CLUSTERED)

    expected = compared(np.delete(rows, 4, axis=1), **other)
    pairs = (one.pair("value", "a", "c") for one in (found, expected))
    bounds, expected_bounds = ((pair.low, pair.high) for pair in pairs)
    assert bounds == pytest.approx(expected_bounds, rel=1e-12)
    ratio = found.relative_interval("value", "a", "c")
    assert ratio == pytest.approx(expected.relative_interval("value", "a", "c"), rel=1e-12)
