"""Metrics over all thresholds of a score, against scikit-learn and slow, obvious programs."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.strategies import examples

Rows = list[tuple[int, float]]

tied = st.sampled_from([-1.5, -0.25, -0.0, 0.0, 0.125, 0.1, 0.75])
rows = st.lists(st.tuples(st.integers(0, 1), tied | st.floats(-10, 10, width=32)), min_size=1)


def _columns(rows: Rows, kind: str) -> tuple[Any, Any]:
    assume(any(label for label, _ in rows))
    labels, scores = zip(*rows, strict=True)
    return numpy.array(labels), numpy.array(scores, kind)


def _cuts(labels: Any, scores: Any) -> list[tuple[Any, Any]]:
    """A threshold between each two adjacent scores, descending, and its predictions."""
    values = numpy.unique(scores)[::-1]
    cuts = []
    for value, below in zip(values, [*values[1:], None], strict=True):
        middle = value if below is None else (value + below) / 2
        cuts.append((value if middle == below else middle, (scores >= value).astype(int)))
    return cuts


@pytest.mark.parametrize("kind", ["float32", "float64"])
@given(rows=rows)
@examples(200)
def test_average_precision_equals_scikit_learn(kind: str, rows: Rows) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    labels, scores = _columns(rows, kind)

    found = fr.tasks.average_precision(labels, scores)

    assert found == metrics.average_precision_score(labels, scores)


@pytest.mark.parametrize("extremes", [True, False])
@pytest.mark.parametrize("kind", ["float32", "float64"])
@given(rows=rows)
@examples(100)
def test_best_f1_is_that_of_the_best_threshold(kind: str, extremes: bool, rows: Rows) -> None:
    labels, scores = _columns(rows, kind)
    cuts = _cuts(labels, scores)[: None if extremes else -1]
    values = [fr.tasks.f1(labels, predicted) for _, predicted in cuts]

    found = fr.tasks.best_f1(labels, scores, extremes=extremes)

    if not cuts:
        assert numpy.isnan(found.threshold)
        assert found[1:] == (0.0,) * 5
        return
    assert found.f1 == pytest.approx(max(values), rel=1e-15)
    predicted = (scores >= numpy.array(found.threshold, kind)).astype(int)
    assert found.f1 == pytest.approx(fr.tasks.f1(labels, predicted), rel=1e-15)
    assert found.precision == fr.tasks.precision(labels, predicted)
    assert found.recall == fr.tasks.recall(labels, predicted)
    assert found.accuracy == fr.tasks.accuracy(labels, predicted)
    assert found.matthews == fr.tasks.matthews(labels, predicted)


@pytest.mark.parametrize("extremes", [True, False])
@pytest.mark.parametrize("kind", ["float32", "float64"])
@given(rows=rows)
@examples(100)
def test_best_accuracy_is_that_of_the_highest_best_threshold(
    kind: str, extremes: bool, rows: Rows
) -> None:
    labels, scores = _columns(rows, kind)
    above = numpy.nextafter(scores.max(), scores.dtype.type(numpy.inf))
    none = [(above, numpy.zeros_like(labels))]
    cuts = none + _cuts(labels, scores) if extremes else _cuts(labels, scores)[:-1]
    values = [fr.tasks.accuracy(labels, predicted) for _, predicted in cuts]

    found = fr.tasks.best_accuracy(labels, scores, extremes=extremes)

    if not cuts:
        assert numpy.isnan(found.threshold)
        return
    assert found.accuracy == max(values)
    assert found.threshold == cuts[values.index(max(values))][0]


def test_a_rounded_middle_does_not_include_the_next_score() -> None:
    scores = numpy.array([numpy.nextafter(1.0, 2.0), 1.0])

    assert fr.tasks.best_f1([1, 0], scores).threshold == scores[0]


@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([1, 2], [0.1, 0.2], r"labels\[1\]: expected labels 0 and 1, found 2"),
        (["1", "yes"], [0.1, 0.2], r"labels\[1\]: expected labels 0 and 1, found yes"),
        ([0, 0], [0.1, 0.2], "labels: expected at least one label 1, found none"),
        ([1, 0], [0.1], "scores: expected 2 values, as in labels, found 1"),
        ([1, 0], [0.1, numpy.nan], r"scores\[1\]: expected a finite number, found nan"),
    ],
)
def test_invalid_input_is_an_error(labels: Any, scores: Any, message: str) -> None:
    with pytest.raises(fr.ArrayError, match=f"^{message}$"):
        fr.tasks.average_precision(labels, scores)
