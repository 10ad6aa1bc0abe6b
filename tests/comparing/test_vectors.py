"""The runs in data/, against values that scipy 1.17.1 and statsmodels 0.15.0 gave for them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import fastrank as fr
from fastrank.native import kernels
from tests.helpers.comparisons import compare_data, data_scores
from tests.helpers.strategies import slow_in_python

pytestmark = slow_in_python

# measure, a, b, difference, t, p, low, high, wins, ties, losses, p of the sign test, d_z
VECTORS = [
    ("map", "pixels", "pca", 0.0854319275, 10.5088601048, 7.86955e-21, 0.06940088, 0.10146298,
     157, 7, 36, 3.23042e-19, 0.743089),
    ("map", "pixels", "profile", 0.0900524269, 11.7351582395, 1.64605e-24, 0.07492017, 0.10518469,
     166, 6, 28, 4.62616e-25, 0.829801),
    ("map", "pca", "profile", 0.0046204994, 0.5426190082, 0.587999, -0.01217107, 0.02141207,
     102, 4, 94, 0.617188, 0.038369),
    ("P_10", "pixels", "pca", 0.1460000000, 8.6052348217, 2.28809e-15, 0.11254296, 0.17945704,
     88, 105, 7, 6.04859e-19, 0.608482),
    ("P_10", "pixels", "profile", 0.0525000000, 4.8947145942, 2.03045e-06, 0.03134908, 0.07365092,
     57, 131, 12, 3.74225e-08, 0.346109),
    ("P_10", "pca", "profile", -0.0935, -5.9459519499, 1.21558e-08, -0.12450899, -0.06249101,
     25, 97, 78, 1.60993e-07, -0.420442),
    ("recip_rank", "pixels", "pca", 0.0716581890, 4.2233219591, 3.66139e-05, 0.0381995, 0.10511688,
     24, 173, 3, 4.92334e-05, 0.298634),
    ("recip_rank", "pixels", "profile", 0.0132314560, 1.3767871116, 0.170125, -0.00571981,
     0.03218272, 8, 190, 2, 0.109375, 0.097354),
    ("recip_rank", "pca", "profile", -0.0584267330, -3.4398774262, 0.00070896, -0.09192065,
     -0.02493281, 5, 173, 22, 0.00151372, -0.243236),
    ("ndcg_cut_10", "pixels", "profile", 0.0560336673, 5.8228854451, 2.2906e-08, 0.03705752,
     0.07500982, 132, 12, 56, 2.94878e-08, 0.411740),
]  # fmt: skip


@pytest.mark.parametrize("row", VECTORS, ids=lambda row: "-".join(row[:3]))
def test_t_test_interval_counts_and_effect(row: tuple) -> None:
    measure, a, b, difference, t, p, low, high, wins, ties, losses, _, effect = row

    pair = compare_data().pair(measure, a, b)

    assert pair.difference == pytest.approx(difference, abs=1e-10)
    assert pair.statistic == pytest.approx(t, abs=1e-9)
    assert (pair.df, pair.n) == (199, 200)
    assert pair.p == pytest.approx(p, rel=1e-5)
    assert (pair.low, pair.high) == pytest.approx((low, high), abs=1e-8)
    assert (pair.wins, pair.ties, pair.losses) == (wins, ties, losses)
    assert pair.effect == pytest.approx(effect, abs=1e-6)


@pytest.mark.parametrize("row", VECTORS, ids=lambda row: "-".join(row[:3]))
def test_sign_test(row: tuple) -> None:
    measure, a, b, *_, p, _ = row

    assert compare_data(test="sign").pair(measure, a, b).p == pytest.approx(p, rel=1e-5)


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        ("pixels", "pca", 1.3947486877441406e-05),
        ("pixels", "profile", 0.158203125),
        ("pca", "profile", 0.00045774877071380615),
    ],
)
def test_exact_randomization(a: str, b: str, p: float) -> None:
    pair = compare_data(test="randomization").pair("recip_rank", a, b)

    assert (pair.p, pair.exact) == (p, True)


@pytest.mark.parametrize(
    ("measure", "a", "b", "count"),
    [
        ("recip_rank", "pixels", "profile", 15840),
        ("recip_rank", "pca", "profile", 40),
        ("map", "pca", "profile", 58907),
    ],
)
def test_random_sign_flips(measure: str, a: str, b: str, count: int) -> None:
    pair = compare_data(test="randomization", exact_up_to=0).pair(measure, a, b)

    assert (pair.p, pair.exact) == ((count + 1) / 100_001, False)


@pytest.mark.parametrize(
    ("measure", "a", "b", "p"),
    [
        ("map", 1, 2, 0.877312),
        ("P_10", 0, 2, 0.00489951),
        ("recip_rank", 0, 2, 0.672933),
        ("recip_rank", 1, 2, 0.00039996),
    ],
)
def test_permutations_of_systems_in_this_order(measure: str, a: int, b: int, p: float) -> None:
    rows = np.stack([scores[measure] for scores in data_scores().values()])
    ranges = np.empty(10_000)

    kernels.permuted_ranges(rows.T.reshape(-1).copy(), 0, 0, np.empty(3), np.empty(3), ranges)

    observed = abs(rows[a].sum() - rows[b].sum())
    found = ((ranges >= observed - 1e-9).sum() + 1) / 10_001
    assert found == pytest.approx(p, abs=1e-6)


@pytest.mark.parametrize(
    ("measure", "a", "b", "q", "p"),
    [
        ("P_10", "pixels", "profile", 5.043345, 0.00117999),
        ("recip_rank", "pixels", "profile", None, 0.649327),
        ("recip_rank", "pca", "profile", None, 0.000314749),
    ],
)
def test_classic_tukey(measure: str, a: str, b: str, q: float | None, p: float) -> None:
    pair = compare_data(test="tukey-anova").pair(measure, a, b)

    assert pair.p == pytest.approx(p, rel=1e-5)
    assert q is None or pair.statistic == pytest.approx(q, abs=1e-6)


@pytest.mark.parametrize(("systems", "queries"), [(2, 2), (3, 3), (5, 40), (20, 8), (30, 20)])
def test_classic_tukey_of_scipy(systems: int, queries: int) -> None:
    """Also of the hundreds of pairs whose p-values are interpolated."""
    values = np.random.default_rng(0).normal(size=(systems, queries))
    values += np.linspace(0, 2, systems)[:, None] / np.sqrt(queries)
    named = {f"s{i}": dict(enumerate(own)) for i, own in enumerate(values.tolist())}

    pairs = fr.compare_scores(named, test="tukey-anova").pairs().columns

    some = slice(None, None, 1 + len(pairs["p"]) // 20)
    q, df = np.abs(pairs["statistic"][some]), (systems - 1) * (queries - 1)
    expected = scipy.stats.studentized_range.sf(q, systems, df)
    assert pairs["p"][some] == pytest.approx(np.maximum(expected, 1e-12), abs=1e-9)


@pytest.mark.parametrize(
    ("measure", "b", "low", "high"),
    [("map", "pca", 0.06983356, 0.10170569), ("recip_rank", "profile", -0.00510417, 0.03270058)],
)
def test_percentile_intervals(measure: str, b: str, low: float, high: float) -> None:
    pair = compare_data(interval="percentile").pair(measure, "pixels", b)

    assert (pair.low, pair.high) == pytest.approx((low, high), abs=1e-8)


@pytest.mark.parametrize(
    ("a", "b", "pratt", "wilcox"),
    [
        ("pixels", "pca", 1.19209e-05, 1.00285e-05),
        ("pixels", "profile", 0.0839844, 0.158203),
        ("pca", "profile", 0.000693321, 0.0012006),
    ],
)
def test_exact_wilcoxon(a: str, b: str, pratt: float, wilcox: float) -> None:
    for zeros, p in (("pratt", pratt), ("wilcox", wilcox)):
        pair = compare_data(test="wilcoxon", zeros=zeros).pair("recip_rank", a, b)
        assert pair.p == pytest.approx(p, rel=1e-5)


def test_random_words_are_those_of_splitmix64() -> None:
    halves = np.empty(6, np.int64)

    kernels.random_words(0, 1, 0, halves)

    words = [(int(high) << 32) | int(low) for high, low in halves.reshape(-1, 2)]
    assert words == [0x238275BC38FCBE91, 0xF89A2566B5822C54, 0x47200E1D9780FA44]
