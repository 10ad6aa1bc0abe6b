"""Corrections for several comparisons, and families of comparisons."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank.analysis.comparing.pair_tests import adjust
from tests.helpers.comparisons import compare_data, compared, random_rows
from tests.helpers.strategies import examples

P = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.01, 0.02, 1.0])), min_size=1)
KNOWN = [0.01, 0.04, 0.03, 0.005, 0.04, 0.2, 1.0, 0.011, 0.7, 0.0, 0.2, 0.0004]
# What `multipletests` of statsmodels 0.15.0 makes of these.
RECORDED = {
    "none": KNOWN,
    "bonferroni": [0.12, 0.48, 0.36, 0.06, 0.48, 1, 1, 0.132, 1, 0, 1, 0.0048],
    "holm": [0.09, 0.24, 0.21, 0.05, 0.24, 0.8, 1, 0.09, 1, 0, 0.8, 0.0044],
    "hochberg": [0.088, 0.2, 0.2, 0.05, 0.2, 0.6, 1, 0.088, 1, 0, 0.6, 0.0044],
    "bh": [0.0264, 0.06, 0.06, 0.02, 0.06, 0.24, 1, 0.0264, 8.4 / 11, 0, 0.24, 0.0024],
    "by": [own * 86021 / 27720 for own in (0.0264, 0.06, 0.06, 0.02, 0.06, 0.24)]
    + [1, 0.0264 * 86021 / 27720, 1, 0, 0.24 * 86021 / 27720, 0.0024 * 86021 / 27720],
}


def _slowly(p: list[float], correction: str) -> list[float]:
    """The formulas: Holm has the largest product up to each p-value, the others the least."""
    m, ascending = len(p), sorted(p)
    harmonic = sum(1 / (place + 1) for place in range(m)) if correction == "by" else 1.0
    factors = {
        "none": [1.0] * m,
        "bonferroni": [m] * m,
        "holm": [m - place for place in range(m)],
        "hochberg": [m - place for place in range(m)],
    }.get(correction, [m / (place + 1) * harmonic for place in range(m)])
    products = [factor * own for factor, own in zip(factors, ascending, strict=True)]
    if correction == "holm":
        found = [max(products[: place + 1]) for place in range(m)]
    else:
        found = [min(products[place:]) for place in range(m)]
    places = sorted(range(m), key=p.__getitem__)
    return [min(1.0, found[places.index(place)]) for place in range(m)]


@pytest.mark.parametrize("correction", RECORDED)
def test_corrections_are_those_of_statsmodels(correction):
    found = adjust(np.array(KNOWN), correction)

    assert found == pytest.approx(RECORDED[correction], rel=1e-12)
    assert found == pytest.approx(_slowly(KNOWN, correction), rel=1e-12)


@pytest.mark.parametrize("correction", RECORDED)
@given(p=P)
@examples(40)
def test_corrections_follow_their_formulas(correction, p):
    adjusted = adjust(np.array(p), correction)

    assert adjusted == pytest.approx(_slowly(p, correction), rel=1e-13, abs=1e-300)
    assert (adjusted >= np.array(p)).all()


def test_nan_is_no_comparison():
    found = adjust(np.array([0.01, np.nan, 0.02]), "bonferroni")

    assert found == pytest.approx([0.02, np.nan, 0.04], abs=0, nan_ok=True)


def test_a_family_of_all_measures_is_corrected_together():
    own, all_, based = (
        compare_data(correction="bonferroni", **options).pair("P_10", "profile", "pca")
        for options in ({}, {"family": "all"}, {"baseline": "pca"})
    )

    assert own.p_adjusted == pytest.approx(3 * own.p)
    assert all_.p_adjusted == pytest.approx(12 * own.p)
    assert based.p_adjusted == pytest.approx(2 * own.p)
    assert "for the 12 pairs of all measures" in str(compare_data(family="all"))


def test_max_t_is_the_step_down_of_all_sign_flips():
    """Against every sign vector; random flips come near."""
    rows = random_rows(4, 10, seed=2)
    differences = rows[1:] - rows[0]
    signs = np.array(list(product((1, -1), repeat=10)))
    flipped = signs[:, None, :] * differences
    t = np.abs(flipped.mean(axis=2) / flipped.std(axis=2, ddof=1))
    observed = t[0]
    order = np.argsort(-observed)
    expected, worst = np.empty(3), 0.0
    for place, own in enumerate(order):
        p = (t[:, order[place:]].max(axis=1) >= observed[own] - 1e-12).mean()
        worst = max(worst, p)
        expected[own] = worst

    found = compared(rows, correction="max-t", baseline="a", resamples=40_000)

    assert found.pairs().columns["p_adjusted"] == pytest.approx(expected, abs=0.012)
    assert any("from 40,000 random sign flips (seed 0)" in note for note in found.notes)


@pytest.mark.parametrize("test", ["t", "randomization"])
@pytest.mark.parametrize("queries", [6, 8, 30])
def test_max_t_makes_no_p_smaller(test, queries):
    rows = random_rows(6, queries, seed=queries)

    found = compared(rows, correction="max-t", baseline="a", test=test, resamples=2000)

    pairs = found.pairs().columns
    assert all(p <= adjusted for p, adjusted in zip(pairs["p"], pairs["p_adjusted"], strict=True))
    assert "at least the p-values before the correction" in found.notes[-1]


@pytest.mark.parametrize(("correction", "cannot"), [("holm", False), ("bonferroni", True)])
def test_a_pair_that_can_be_significant_is_not_noted_as_one_that_cannot(correction, cannot):
    """Six differences have p = 0.03125: enough for Holm, if the other pair is significant."""
    base = random_rows(1, 20)[0]
    rows = [base, base + 0.1, base + 0.1 * (np.arange(20) < 6)]
    options = {"correction": correction, "baseline": "a", "test": "randomization"}

    pair = compared(rows, **options).pair("value", "c", "a")

    assert (pair.p_adjusted <= 0.05) is not cannot
    assert ("cannot be significant: only 6 of 20 queries differ" in pair.note) is cannot
