"""Hinge losses against scikit-learn and the example of MatchZoo; average recall of SemEval."""

from __future__ import annotations

import numpy
import pytest
from sklearn.metrics import hinge_loss

import fastrank as fr


def test_the_hinge_loss_is_that_of_scikit_learn() -> None:
    random = numpy.random.default_rng(0)
    labels, scores = random.integers(0, 2, 50), random.normal(size=50) * 2
    assert fr.tasks.hinge_loss(labels, scores) == pytest.approx(
        hinge_loss(labels, scores), rel=1e-15
    )


def test_the_rank_hinge_loss_is_that_of_matchzoo() -> None:
    # The example in its docstring; with two negatives, their mean counts.
    assert fr.tasks.rank_hinge_loss([1.0, 0.8], [1.2, 1.4]) == pytest.approx(1.4, rel=1e-15)
    assert fr.tasks.rank_hinge_loss([1.0, 5.0], [[1.0, 2.0], [0.0, 8.0]]) == (1.5 + 0.0) / 2
    assert fr.tasks.rank_hinge_loss([1.0], [0.5], margin=0.25) == 0.0


@pytest.mark.parametrize(
    "negatives",
    [[0.5], [[0.5]], [[0.5], [numpy.nan]], [[1.0], [2.0, 3.0]], 0.5, [[[1.0]], [[1.0]]]],
)
def test_invalid_negatives_are_an_error(negatives: object) -> None:
    with pytest.raises(fr.ArrayError, match=r"negatives"):
        fr.tasks.rank_hinge_loss([1.0, 2.0], negatives)


@pytest.mark.parametrize(
    ("rankings", "depth", "recorded"),
    [
        (["0101100100", "1100000001", "0000"], 10, 0.7178571428571427),
        (["01", "001"], 10, 0.85),
        (["000000000011", "111111111111"], 10, 0.696024531024531),
        (["10100", "01"], 3, 0.7222222222222222),
    ],
)
def test_average_recall_is_that_of_the_official_scorer(
    rankings: list[str], depth: int, recorded: float
) -> None:
    labels = [[int(label) for label in ranking] for ranking in rankings]
    assert fr.tasks.average_recall(labels, depth=depth) == pytest.approx(recorded, rel=1e-15)


def test_average_recall_needs_a_relevant_result() -> None:
    with pytest.raises(fr.ArrayError, match="rankings: expected at least one label 1, found none"):
        fr.tasks.average_recall([[0, 0], []])
