"""Similarities of rows are those of numpy in double precision, rounded once."""

from __future__ import annotations

import numpy
import pytest

from fastrank.vectors.tasks import pairs as pair_scores
from fastrank.vectors.tasks.inputs import SIMILARITIES
from fastrank.vectors.tasks.pairs import similarities_of


def _vectors(rows: int, width: int) -> list[numpy.ndarray]:
    rng = numpy.random.default_rng(width)
    return [rng.standard_normal((rows, width), dtype=numpy.float32) for _ in range(2)]


@pytest.mark.parametrize("width", [1, 7, 8, 9, 16, 50])
def test_similarities_are_those_of_numpy(width):
    one, other = _vectors(40, width)
    x, y = one.astype(float), other.astype(float)
    lengths = [numpy.sqrt((part * part).sum(axis=1)) for part in (x, y)]
    expected = {
        "cosine": (x * y).sum(axis=1) / lengths[0] / lengths[1],
        "dot": (x * y).sum(axis=1),
        "euclidean": -numpy.sqrt(((x - y) ** 2).sum(axis=1)),
        "manhattan": -numpy.abs(x - y).sum(axis=1),
    }

    found = similarities_of(one, other, SIMILARITIES)

    assert list(found) == list(SIMILARITIES)
    for name, values in found.items():
        # One unit in the last place, where the sums of doubles differ.
        numpy.testing.assert_array_max_ulp(values, expected[name].astype(numpy.float32), 1)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_do_not_change_a_bit(threads, monkeypatch):
    one, other = _vectors(101, 13)
    monkeypatch.setattr(pair_scores, "default_threads", lambda *_: 1)
    expected = similarities_of(one, other, SIMILARITIES)
    monkeypatch.setattr(pair_scores, "default_threads", lambda *_: threads)

    found = similarities_of(one, other, SIMILARITIES)

    for name in SIMILARITIES:
        numpy.testing.assert_array_equal(found[name], expected[name])


def test_equal_vectors_have_cosine_1_and_distance_0():
    one, _ = _vectors(100, 37)

    found = similarities_of(one, one.copy(), SIMILARITIES)

    assert set(found["cosine"].tolist()) == {1.0}
    assert set(found["euclidean"].tolist()) == {0.0}


def test_the_cosine_with_a_zero_vector_is_0():
    one, other = _vectors(2, 9)
    one[0] = 0.0

    assert similarities_of(one, other, ("cosine",))["cosine"][0] == 0.0


def test_lengths_do_not_overflow_or_underflow():
    one = numpy.array([[1e18, 1e18], [1e-38, 2e-38]], numpy.float32)

    assert similarities_of(one, one, ("cosine",))["cosine"].tolist() == [1.0, 1.0]
