"""Metrics of predicted labels are those of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.strategies import examples

Pairs = list[tuple[Any, Any]]

numbers = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1)
words = st.lists(st.tuples(*[st.sampled_from(["a", "b", "ä", "10", "9"])] * 2), min_size=1)
labeled = numbers | words


def _columns(pairs: Pairs) -> tuple[list[Any], list[Any]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


@pytest.mark.filterwarnings("ignore:A single label was found")
@given(labeled)
@examples(200)
def test_accuracy_and_matthews_equal_scikit_learn(pairs: Pairs) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    truth, predicted = _columns(pairs)

    assert fr.tasks.accuracy(truth, predicted) == metrics.accuracy_score(truth, predicted)
    assert fr.tasks.matthews(truth, predicted) == metrics.matthews_corrcoef(truth, predicted)


@pytest.mark.parametrize("average", ["macro", "weighted"])
@given(pairs=labeled)
@examples(200)
def test_averages_over_classes_equal_scikit_learn(average: str, pairs: Pairs) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    given = _columns(pairs)

    for name in ("precision", "recall", "f1"):
        expected = getattr(metrics, f"{name}_score")(*given, average=average, zero_division=0)
        assert getattr(fr.tasks, name)(*given, average=average) == expected


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
@examples(100)
def test_the_positive_class_alone_equals_scikit_learn(pairs: Pairs) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    given = _columns([(int(a), int(b)) for a, b in pairs])

    for name in ("precision", "recall", "f1"):
        expected = getattr(metrics, f"{name}_score")(*given, zero_division=0)
        assert getattr(fr.tasks, name)(*given) == expected


@given(numbers)
@examples(100)
def test_absent_classes_count_as_in_scikit_learn_on_request(pairs: Pairs) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    given, classes = _columns(pairs), [6, *range(5)]

    expected = metrics.f1_score(*given, labels=classes, average="macro", zero_division=0)
    found = fr.tasks.f1(*given, average="macro", classes=classes, count_absent=True)
    assert found == pytest.approx(expected, rel=1e-15)


@given(numbers)
@examples(100)
def test_absent_classes_are_skipped_by_default(pairs: Pairs) -> None:
    given = _columns(pairs)

    found = fr.tasks.f1(*given, average="macro", classes=range(9))
    assert found == pytest.approx(fr.tasks.f1(*given, average="macro"), rel=1e-15)


def test_matthews_does_not_overflow() -> None:
    truth = numpy.arange(400_000) % 2
    predicted = numpy.where(numpy.arange(400_000) % 8 == 0, 1 - truth, truth)

    assert fr.tasks.matthews(truth, predicted) == pytest.approx(0.7745966692414834, rel=1e-12)


def test_adjusted_f1_is_0_at_chance_and_1_at_best() -> None:
    assert fr.tasks.adjusted_f1([0, 1, 2, 3], [0, 0, 0, 0]) == 0.0
    assert fr.tasks.adjusted_f1([0, 1, 2, 3], [0, 1, 2, 3]) == 1.0


def test_adjusted_f1_counts_absent_classes_as_classes() -> None:
    found = fr.tasks.adjusted_f1([0, 1], [0, 1], classes=[0, 1, 2])

    assert found == 1.0
    half = fr.tasks.adjusted_f1([0, 0, 1, 1], [0, 1, 0, 1], classes=[0, 1, 2])
    assert half == pytest.approx((0.5 - 1 / 3) / (2 / 3))


@pytest.mark.parametrize(
    ("labels", "predictions", "message"),
    [
        ([0, 1], [0], "predictions: expected 2 values, as in labels, found 1"),
        ([], [], "labels: expected at least one value, found none"),
        ([0, "a"], [0, 1], "labels: expected labels of one type, found int, str"),
        (["0", "1"], [0, 1], "predictions: expected labels of the same type as in labels"),
        ([0.0, numpy.nan], [0, 1], r"labels\[1\]: the label is NaN"),
        ([0, None], [0, 1], "labels: expected labels that are numbers or str"),
        ([[0], [1]], [0, 1], "labels: expected one dimension, found 2"),
    ],
)
def test_invalid_labels_are_an_error(labels: Any, predictions: Any, message: str) -> None:
    with pytest.raises(fr.ArrayError, match=f"^{message}$"):
        fr.tasks.accuracy(labels, predictions)


def test_an_unknown_average_is_an_error() -> None:
    with pytest.raises(fr.OptionError, match="average: expected one of"):
        fr.tasks.f1([0, 1], [0, 1], average="micro")


def test_classes_need_the_macro_average() -> None:
    with pytest.raises(fr.OptionError, match="classes: only for average='macro'"):
        fr.tasks.f1([0, 1], [0, 1], classes=[0, 1])


def test_a_positive_class_that_does_not_appear_is_an_error() -> None:
    with pytest.raises(fr.ArrayError, match="the positive class 1 does not appear"):
        fr.tasks.f1(["a", "b"], ["a", "b"])


@pytest.mark.parametrize(
    ("classes", "message"),
    [([0, 2], "the class 1 .* is missing"), ([0, 1, 1], "expected distinct classes")],
)
def test_invalid_classes_are_an_error(classes: list[int], message: str) -> None:
    with pytest.raises(fr.ArrayError, match=message):
        fr.tasks.f1([0, 1], [0, 1], average="macro", classes=classes)


def test_adjusted_f1_of_one_class_is_an_error() -> None:
    with pytest.raises(fr.ArrayError, match="expected at least two classes, found one"):
        fr.tasks.adjusted_f1([1, 1], [1, 1])
