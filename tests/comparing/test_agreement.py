"""Agreement of two rankings of systems."""

from __future__ import annotations

import math
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, weightedtau

import fastrank as fr

# The example of the R package ircor.
TRUTH = [0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]
ESTIMATE = [0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84]

# Few different scores, so that there are ties.
PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=4)
MANY = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=80)


def _agreement(pairs: list[tuple[int, int]]) -> fr.types.Agreement:
    first, second = zip(*pairs, strict=True)
    return fr.agreement(first, second)


def _orders(scores: list[int]) -> list[tuple[int, ...]]:
    """All orders of the places that are descending by score."""
    found = permutations(range(len(scores)))
    return [order for order in found if all(scores[a] >= scores[b] for a, b in pairwise(order))]


def _tau_ap(truth: tuple[int, ...], estimate: tuple[int, ...]) -> float:
    """The definition for rankings without ties, as orders of the places."""
    total = sum(
        sum(truth.index(above) < truth.index(item) for above in estimate[:rank]) / rank
        for rank, item in enumerate(estimate)
        if rank
    )
    return 2 * total / (len(truth) - 1) - 1


def _tau_ap_b(truth: list[int], estimate: list[int]) -> float:
    """The formula of Urbano and Marrero in one direction, system by system."""
    shares = []
    for i, score in enumerate(estimate):
        above = [j for j, other in enumerate(estimate) if other > score]
        if above:
            shares.append(sum(truth[j] > truth[i] for j in above) / len(above))
    return 2 * math.fsum(shares) / len(shares) - 1 if shares else math.nan


def test_the_example_of_ircor_has_its_values() -> None:
    found = fr.agreement(TRUTH, ESTIMATE)

    assert found.tau_ap == pytest.approx(0.392857142857143, abs=1e-14)
    assert found.tau_ap_symmetric == pytest.approx(0.3270723104056438, abs=1e-15)
    assert found.tau_ap_b == pytest.approx(0.3270723104056438, abs=1e-15)
    assert found.tau_b == pytest.approx(0.2, abs=1e-15)
    assert found.tau_a == 0.2


@settings(deadline=None)
@given(MANY)
def test_tau_b_is_the_double_of_scipy(pairs: list[tuple[int, int]]) -> None:
    expected = kendalltau(*zip(*pairs, strict=True)).statistic

    assert _agreement(pairs).tau_b == pytest.approx(expected, abs=0, rel=0, nan_ok=True)


@settings(deadline=None)
@given(MANY)
def test_tau_a_divides_by_all_pairs(pairs: list[tuple[int, int]]) -> None:
    count = len(pairs)
    signs = [
        np.sign(pairs[i][0] - pairs[j][0]) * np.sign(pairs[i][1] - pairs[j][1])
        for i in range(count)
        for j in range(i)
    ]

    assert _agreement(pairs).tau_a == sum(signs) / len(signs)


@settings(deadline=None)
@given(PAIRS)
def test_tau_ap_is_the_average_over_the_orders_of_ties(pairs: list[tuple[int, int]]) -> None:
    first, second = (list(scores) for scores in zip(*pairs, strict=True))
    values = [_tau_ap(a, b) for a in _orders(first) for b in _orders(second)]

    found = _agreement(pairs).tau_ap
    assert found == pytest.approx(math.fsum(values) / len(values), abs=1e-12)


@settings(deadline=None)
@given(MANY)
def test_tau_ap_b_follows_its_formula(pairs: list[tuple[int, int]]) -> None:
    first, second = (list(scores) for scores in zip(*pairs, strict=True))
    expected = (_tau_ap_b(first, second) + _tau_ap_b(second, first)) / 2

    assert _agreement(pairs).tau_ap_b == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(deadline=None)
@given(MANY)
def test_weighted_tau_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    expected = weightedtau(*zip(*pairs, strict=True)).statistic

    assert _agreement(pairs).weighted_tau == pytest.approx(expected, abs=0, rel=0, nan_ok=True)


def test_systems_are_matched_by_name() -> None:
    found = fr.agreement({"x": 3, "y": 2, "z": 1}, {"z": 0.3, "y": 0.2, "x": 0.1})

    assert found.systems == ["x", "y", "z"]
    assert (found.tau_b, found.tau_ap, found.tau_a) == (-1.0, -1.0, -1.0)


def test_scores_are_named_after_their_runs() -> None:
    qrels, runs = "data/digits.qrels", ["data/pixels.run", "data/pca.run", "data/profile.run"]
    scores = [fr.evaluate(qrels, runs, measure) for measure in ("map", "P_10")]

    found = fr.agreement(*scores)
    assert found.systems == ["pixels", "pca", "profile"]
    assert found.first.tolist() == [one.mean["map"] for one in scores[0]]
    by_name = [{one.tag: one for one in group} for group in scores]
    assert fr.agreement(*by_name).tau_ap == found.tau_ap


def test_a_system_that_only_one_has_is_named() -> None:
    message = "only a has 'x' and only b has 'z', 'w'; items='common' compares those that both have"
    with pytest.raises(fr.GroupError, match=message):
        fr.agreement({"x": 1, "y": 2}, {"y": 1, "z": 2, "w": 3})


def test_common_systems_can_be_compared() -> None:
    found = fr.agreement({"x": 1, "y": 2, "v": 3}, {"y": 1, "z": 2, "v": 3}, items="common")

    assert found.systems == ["y", "v"]
    assert found.tau_b == 1.0


def test_lists_of_different_lengths_are_an_error() -> None:
    for items in ("same", "common"):
        with pytest.raises(fr.GroupError, match="a has 2 and b 3 numbers: expected one per system"):
            fr.agreement([1, 2], [1, 2, 3], items=items)


def test_a_series_is_scores_by_its_index() -> None:
    pd = pytest.importorskip("pandas")
    first, second = {"x": 0.2, "y": 0.3, "z": 0.4}, {"z": 0.5, "y": 0.4, "x": 0.3}

    assert fr.agreement(pd.Series(first), pd.Series(second)).tau_b == 1.0
    assert fr.agreement(first, pd.Series(second)).systems == ["x", "y", "z"]
    with pytest.raises(fr.InputError, match="'x' appears twice in the index"):
        fr.agreement(first, pd.Series([1, 2], index=["x", "x"]))


@pytest.mark.parametrize("items", ["same", "common"])
def test_no_common_system_is_an_error(items: str) -> None:
    with pytest.raises(fr.GroupError):
        fr.agreement({"x": 1}, {"y": 1}, items=items)


def test_no_system_at_all_is_an_error() -> None:
    with pytest.raises(fr.GroupError, match="a and b have no system in common"):
        fr.agreement({}, {})


def test_one_system_has_no_agreement() -> None:
    found = fr.agreement({"x": 1}, {"x": 2})

    coefficients = ("tau_a", "tau_b", "tau_ap", "tau_ap_b", "tau_ap_symmetric", "weighted_tau")
    assert all(math.isnan(getattr(found, name)) for name in coefficients)


def test_scores_of_several_measures_are_an_error() -> None:
    scores = fr.evaluate("data/digits.qrels", ["data/pixels.run", "data/pca.run"], "map P_10")
    with pytest.raises(fr.MeasureError, match="a: expected Scores of one measure, found 2: map, P"):
        fr.agreement(scores, scores)


def test_two_runs_of_one_name_are_an_error() -> None:
    scores = fr.evaluate("data/digits.qrels", ["data/pixels.run", "data/pixels.run"], "map")
    with pytest.raises(fr.GroupError, match="a: two Scores have the name 'pixels'"):
        fr.agreement(scores, scores)


def test_a_score_that_is_nan_is_named() -> None:
    with pytest.raises(fr.InputError, match="b: the score of 'x' is NaN and cannot be ranked"):
        fr.agreement({"x": 1}, {"x": math.nan})


@pytest.mark.parametrize(
    "given",
    [3, "map", {"x": "0.5"}, {"x": None}, fr.evaluate({"q": {"d": 1}}, {"q": {"d": 1}}, "map")],
)
def test_what_is_no_score_is_an_error(given: Any) -> None:
    with pytest.raises(TypeError, match="a: "):
        fr.agreement(given, {"x": 1})


def test_an_unknown_rule_for_items_is_an_error() -> None:
    with pytest.raises(fr.OptionError, match="items: expected one of 'same', 'common'"):
        fr.agreement([1], [1], items="all")
