"""Metrics of clusters are those of scikit-learn."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.strategies import examples

rows = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 4)), min_size=1, max_size=60)


@given(rows)
@examples(200)
def test_v_measure_equals_scikit_learn(rows: list[tuple[str, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    given = tuple(zip(*rows, strict=True))

    expected = metrics.homogeneity_completeness_v_measure(*given)

    found = (fr.tasks.homogeneity, fr.tasks.completeness, fr.tasks.v_measure)
    values = [one(*given) for one in found]
    assert values == pytest.approx(expected, rel=1e-15)


@given(rows)
@examples(200)
def test_adjusted_mutual_info_equals_scikit_learn(rows: list[tuple[str, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    given = tuple(zip(*rows, strict=True))

    expected = metrics.adjusted_mutual_info_score(*given)

    assert fr.tasks.adjusted_mutual_info(*given) == pytest.approx(expected, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("size", [100, 5000])
def test_many_clusters_equal_scikit_learn(size: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = numpy.random.default_rng(size)
    labels = rng.integers(0, 30, size)
    clusters = (labels + rng.integers(0, 9, size)) % 25

    found = fr.tasks.adjusted_mutual_info(labels, clusters)

    expected = metrics.adjusted_mutual_info_score(labels, clusters)
    assert found == pytest.approx(expected, rel=1e-10)
    expected = metrics.v_measure_score(labels, clusters, beta=0.5)
    assert fr.tasks.v_measure(labels, clusters, beta=0.5) == pytest.approx(expected, rel=1e-15)


def test_different_lengths_are_an_error() -> None:
    with pytest.raises(fr.ArrayError, match="clusters: expected 2 values, as in labels, found 1"):
        fr.tasks.v_measure([0, 1], [0])
