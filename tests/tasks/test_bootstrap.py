"""Intervals of means, against recorded ones of scipy."""

from __future__ import annotations

import math

import pytest

from fastrank.tasks.ulysses_protocol import MeanIntervals
from tests.helpers.probe_inputs import recorded_values, samples


@pytest.mark.parametrize("place", range(len(samples())))
def test_intervals_equal_those_of_scipy(place):
    values, seed = samples()[place]
    expected = recorded_values()["intervals"][place]
    assert MeanIntervals(seed).interval(values) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_equal_values_have_no_interval():
    assert all(map(math.isnan, MeanIntervals(1).interval(samples()[-1][0])))
