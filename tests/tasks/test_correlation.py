"""Correlations are those of scipy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from scipy import stats

import fastrank as fr

NAMES = {"pearson": "pearsonr", "spearman": "spearmanr", "kendall": "kendalltau"}


@pytest.mark.parametrize("name", NAMES)
def test_many_numbers_with_ties_equal_scipy(name: str) -> None:
    rng = numpy.random.default_rng(0)
    x, y = rng.integers(0, 500, 5000), rng.standard_normal(5000).round(2)

    expected = getattr(stats, NAMES[name])(x, y).statistic
    assert getattr(fr.tasks, name)(x, y) == expected


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_has_no_correlation(name: str) -> None:
    assert numpy.isnan(getattr(fr.tasks, name)([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]))


@pytest.mark.parametrize("name", NAMES)
def test_numbers_that_are_nearly_constant_cause_no_warning(name: str) -> None:
    assert 0.5 < getattr(fr.tasks, name)([1.0, 1.0, 1.0 + 3e-16], [1.0, 2.0, 3.0]) < 1.0


def test_pearson_of_large_numbers_does_not_overflow() -> None:
    assert fr.tasks.pearson([-5e210, 5e210, 3e200], [1.0, 2.0, 1.5]) == pytest.approx(1.0)


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
        fr.tasks.spearman(x, y)
