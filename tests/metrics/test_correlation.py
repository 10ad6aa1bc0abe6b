"""Correlations are those of scipy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.strategies import examples

NAMES = {"pearson": "pearsonr", "spearman": "spearmanr", "kendall": "kendalltau"}

few = st.tuples(st.integers(0, 5), st.integers(0, 5))
many_values = st.tuples(*[st.floats(-1e6, 1e6, width=32)] * 2)
pairs = st.lists(few, min_size=2) | st.lists(many_values, min_size=2)


def _scipy(name: str, x: Any, y: Any) -> float:
    stats = pytest.importorskip("scipy.stats")
    with warnings.catch_warnings():
        # Constant and nearly constant input.
        warnings.simplefilter("ignore")
        return float(getattr(stats, NAMES[name])(x, y).statistic)


@pytest.mark.parametrize("name", ["spearman", "kendall"])
@given(pairs=pairs)
@examples(200)
def test_rank_correlations_equal_scipy(name: str, pairs: list[tuple[float, float]]) -> None:
    x, y = zip(*pairs, strict=True)

    found = getattr(fr.metrics, name)(x, y)

    assert found == pytest.approx(_scipy(name, x, y), rel=1e-15, abs=1e-16, nan_ok=True)


@given(st.lists(few, min_size=2))
@examples(200)
def test_pearson_equals_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = zip(*pairs, strict=True)

    expected = _scipy("pearson", x, y)
    assert fr.metrics.pearson(x, y) == pytest.approx(expected, rel=1e-15, abs=1e-16, nan_ok=True)


@pytest.mark.parametrize("name", NAMES)
def test_many_numbers_with_ties_equal_scipy(name: str) -> None:
    rng = numpy.random.default_rng(0)
    x, y = rng.integers(0, 500, 5000), rng.standard_normal(5000).round(2)

    expected = _scipy(name, x, y)
    assert getattr(fr.metrics, name)(x, y) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_has_no_correlation(name: str) -> None:
    assert numpy.isnan(getattr(fr.metrics, name)([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]))


def test_pearson_of_large_numbers_does_not_overflow() -> None:
    assert fr.metrics.pearson([-5e210, 5e210, 3e200], [1.0, 2.0, 1.5]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1.0], [1.0], "x: expected at least two values, found one"),
        ([1.0, 2.0], [1.0], "y: expected 2 values, as in x, found 1"),
        ([1.0, numpy.nan], [1.0, 2.0], r"x\[1\]: expected a finite number, found nan"),
        ([1.0, 2.0], [1.0, numpy.inf], r"y\[1\]: expected a finite number, found inf"),
        ([1.0, "a"], [1.0, 2.0], r"x\[1\]: expected a number, found str: 'a'$"),
        ([1.0, None], [1.0, 2.0], "x: expected numbers, found object"),
        (1.0, [1.0, 2.0], "x: expected numbers"),
        ([[1.0], [2.0]], [1.0, 2.0], "x: expected one dimension, found 2"),
    ],
)
def test_invalid_numbers_are_an_error(x: Any, y: Any, message: str) -> None:
    with pytest.raises(fr.ArrayError, match=f"^{message}"):
        fr.metrics.spearman(x, y)
