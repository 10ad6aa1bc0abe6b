"""Corrections for several comparisons, and families of comparisons."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.comparing.corrections import adjust
from tests.helpers.comparisons import compare_data, random_rows, scores_of
from tests.helpers.strategies import examples

P = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.01, 0.02, 1.0])), min_size=1)
# The names of statsmodels.
NAMES = {
    "holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh", "by": "fdr_by",
    "hochberg": "simes-hochberg",
}  # fmt: skip


@pytest.mark.parametrize("correction", NAMES)
@given(p=P)
@examples(50)
def test_corrections_are_those_of_statsmodels(correction: str, p: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")

    expected = multitest.multipletests(p, method=NAMES[correction])[1]

    assert adjust(np.array(p), correction) == pytest.approx(expected, rel=1e-13, abs=1e-300)


@pytest.mark.parametrize(
    ("correction", "expected"),
    [
        ("none", [0.01, 0.04, 0.03, 0.005]),
        ("bonferroni", [0.04, 0.16, 0.12, 0.02]),
        ("holm", [0.03, 0.06, 0.06, 0.02]),
        ("hochberg", [0.03, 0.04, 0.04, 0.02]),
        ("bh", [0.02, 0.04, 0.04, 0.02]),
        ("by", [0.02 * 25 / 12, 0.04 * 25 / 12, 0.04 * 25 / 12, 0.02 * 25 / 12]),
    ],
)
def test_corrections_by_hand(correction: str, expected: list[float]) -> None:
    found = adjust(np.array([0.01, 0.04, 0.03, 0.005]), correction)

    assert found == pytest.approx(expected, rel=1e-12)


@given(P, st.sampled_from(list(NAMES)))
@examples(50)
def test_corrected_p_are_larger_and_in_the_same_order(p: list[float], correction: str) -> None:
    adjusted = adjust(np.array(p), correction)

    assert (adjusted >= np.array(p)).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()
    assert (adjusted <= 1).all()


def test_nan_is_no_comparison() -> None:
    found = adjust(np.array([0.01, np.nan, 0.02]), "bonferroni")

    assert found[[0, 2]].tolist() == [0.02, 0.04]
    assert np.isnan(found[1])


def test_a_family_of_all_measures_is_corrected_together() -> None:
    own = compare_data(correction="bonferroni").pair("P_10", "pixels", "profile")
    all_ = compare_data(correction="bonferroni", family="all").pair("P_10", "pixels", "profile")

    assert all_.p_adjusted == pytest.approx(4 * own.p_adjusted)
    assert "for the 12 pairs of all measures" in str(compare_data(family="all"))


def test_with_a_baseline_the_family_is_smaller() -> None:
    pair = compare_data(correction="bonferroni", baseline="pca").pair("P_10", "profile", "pca")

    assert pair.p_adjusted == pytest.approx(2 * pair.p)


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

    found = fr.compare_scores(scores_of(rows), correction="max-t", baseline="a", resamples=40_000)

    p = found.pairs().columns["p_adjusted"]
    assert p == pytest.approx(expected, abs=0.012)
    assert any("from 40,000 random sign flips (seed 0)" in note for note in found.notes)


@pytest.mark.parametrize("test", ["t", "randomization"])
@pytest.mark.parametrize("queries", [6, 8, 30])
def test_max_t_makes_no_p_smaller(test: str, queries: int) -> None:
    rows = random_rows(6, queries, seed=queries)

    compared = fr.compare_scores(
        scores_of(rows), correction="max-t", baseline="a", test=test, resamples=2000
    )

    pairs = compared.pairs().columns
    assert all(p <= adjusted for p, adjusted in zip(pairs["p"], pairs["p_adjusted"], strict=True))
    assert "at least the p-values before the correction" in compared.notes[-1]


@pytest.mark.parametrize(("correction", "cannot"), [("holm", False), ("bonferroni", True)])
def test_a_pair_that_can_be_significant_is_not_noted_as_one_that_cannot(
    correction: str, cannot: bool
) -> None:
    """Six differences have p = 0.03125: enough for Holm, if the other pair is significant."""
    base = random_rows(1, 20)[0]
    rows = [base, base + 0.1, base + 0.1 * (np.arange(20) < 6)]

    pair = fr.compare_scores(
        scores_of(rows), correction=correction, baseline="a", test="randomization"
    ).pair("value", "c", "a")

    assert (pair.p_adjusted <= 0.05) is not cannot
    assert ("cannot be significant: only 6 of 20 queries differ" in pair.note) is cannot
