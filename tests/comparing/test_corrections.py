"""Corrections for several comparisons, and families of comparisons."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank.comparing.pair_tests import adjust
from tests.helpers.comparisons import compare_data, compared, random_rows
from tests.helpers.strategies import examples

P = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.01, 0.02, 1.0])), min_size=1)
# The names of statsmodels, and what becomes of 0.01, 0.04, 0.03 and 0.005.
EXPECTED = {
    "none": (None, [0.01, 0.04, 0.03, 0.005]),
    "bonferroni": ("bonferroni", [0.04, 0.16, 0.12, 0.02]),
    "holm": ("holm", [0.03, 0.06, 0.06, 0.02]),
    "hochberg": ("simes-hochberg", [0.03, 0.04, 0.04, 0.02]),
    "bh": ("fdr_bh", [0.02, 0.04, 0.04, 0.02]),
    "by": ("fdr_by", [0.02 * 25 / 12, 0.04 * 25 / 12, 0.04 * 25 / 12, 0.02 * 25 / 12]),
}


@pytest.mark.parametrize("correction", EXPECTED)
@given(p=P)
@examples(40)
def test_corrections_are_those_of_statsmodels(correction: str, p: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    name, _ = EXPECTED[correction]

    adjusted = adjust(np.array(p), correction)

    expected = multitest.multipletests(p, method=name)[1] if name else p
    assert adjusted == pytest.approx(expected, rel=1e-13, abs=1e-300)
    assert (adjusted >= np.array(p)).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()
    assert (adjusted <= 1).all()


@pytest.mark.parametrize("correction", EXPECTED)
def test_corrections_by_hand(correction: str) -> None:
    found = adjust(np.array([0.01, 0.04, 0.03, 0.005]), correction)

    assert found == pytest.approx(EXPECTED[correction][1], rel=1e-12)


def test_nan_is_no_comparison() -> None:
    found = adjust(np.array([0.01, np.nan, 0.02]), "bonferroni")

    assert found == pytest.approx([0.02, np.nan, 0.04], abs=0, nan_ok=True)


def test_a_family_of_all_measures_is_corrected_together() -> None:
    own, all_, based = (
        compare_data(correction="bonferroni", **options).pair("P_10", "profile", "pca")
        for options in ({}, {"family": "all"}, {"baseline": "pca"})
    )

    assert own.p_adjusted == pytest.approx(3 * own.p)
    assert all_.p_adjusted == pytest.approx(12 * own.p)
    assert based.p_adjusted == pytest.approx(2 * own.p)
    assert "for the 12 pairs of all measures" in str(compare_data(family="all"))


def test_max_t_is_the_step_down_of_all_sign_flips() -> None:
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
def test_max_t_makes_no_p_smaller(test: str, queries: int) -> None:
    rows = random_rows(6, queries, seed=queries)

    found = compared(rows, correction="max-t", baseline="a", test=test, resamples=2000)

    pairs = found.pairs().columns
    assert all(p <= adjusted for p, adjusted in zip(pairs["p"], pairs["p_adjusted"], strict=True))
    assert "at least the p-values before the correction" in found.notes[-1]


@pytest.mark.parametrize(("correction", "cannot"), [("holm", False), ("bonferroni", True)])
def test_a_pair_that_can_be_significant_is_not_noted_as_one_that_cannot(
    correction: str, cannot: bool
) -> None:
    """Six differences have p = 0.03125: enough for Holm, if the other pair is significant."""
    base = random_rows(1, 20)[0]
    rows = [base, base + 0.1, base + 0.1 * (np.arange(20) < 6)]
    options = {"correction": correction, "baseline": "a", "test": "randomization"}

    pair = compared(rows, **options).pair("value", "c", "a")

    assert (pair.p_adjusted <= 0.05) is not cannot
    assert ("cannot be significant: only 6 of 20 queries differ" in pair.note) is cannot
