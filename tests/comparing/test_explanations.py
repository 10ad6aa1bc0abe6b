"""Notes on what a comparison shows: which p-values are exact, and what contradicts the means."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from tests.helpers.comparisons import compare_data, random_rows, scores_of

SIGNS = ["sign", "wilcoxon"]


def mostly_higher_but_with_a_lower_mean() -> np.ndarray:
    """a is higher than b on 20 of 22 queries by a little, and lower on two by much."""
    rows = np.full((2, 22), 0.5)
    rows[1] -= 0.01
    rows[1, :2] += 0.4
    return rows


def better_but_for_the_queries_of_all() -> np.ndarray:
    """b is better than a on all but the two queries that c has values for."""
    rows = np.repeat([[0.5], [0.6], [0.2]], 40, axis=1) + 0.02 * random_rows(3, 40)
    rows[1, :2], rows[2, 2:] = 0.3, math.nan
    return rows


@pytest.mark.parametrize("test", SIGNS)
def test_no_system_is_better_if_the_test_and_the_mean_favor_different_ones(test: str) -> None:
    scores = scores_of(mostly_higher_but_with_a_lower_mean())
    compared = fr.compare_scores(scores, test=test)

    assert compared.significant("value", "a", "b")
    assert compared.beaten("value", "a") == compared.beaten("value", "b") == []
    assert (
        "value: the test favors a, but the mean favors b; neither counts as significantly better"
        in compared.notes
    )
    table = fr.compare_scores(scores, test=test, baseline="a").to_text(ascii=False)
    assert "▲" not in table.split("\n\n")[0]


def test_where_lower_is_better_the_test_favors_the_lower_ranks() -> None:
    rows = mostly_higher_but_with_a_lower_mean()
    scores = {
        name: {query: {"FirstRank": value} for query, value in own.items()}
        for name, own in scores_of(rows).items()
    }

    notes = fr.compare_scores(scores, test="sign").notes

    assert any("the test favors b, but the mean favors a;" in note for note in notes)


def test_other_pairs_of_a_contradiction_are_counted() -> None:
    rows = mostly_higher_but_with_a_lower_mean()
    compared = fr.compare_scores(scores_of([*rows, rows[1]]), test="sign")

    assert any("favors b (also in 1 more pair); neither" in note for note in compared.notes)


def test_a_mean_that_contradicts_a_test_on_more_queries_is_noted() -> None:
    compared = fr.compare_scores(scores_of(better_but_for_the_queries_of_all()))

    assert compared.best("value") == "a"
    assert "a" in compared.beaten("value", "b")
    assert (
        "value: b is significantly better than a on the queries with values of both, but its mean"
        " over those with values of all systems is worse" in compared.notes
    )


def test_a_report_does_not_call_the_best_mean_as_good_as_a_better_system() -> None:
    pytest.importorskip("matplotlib")
    compared = fr.compare_scores(scores_of(better_but_for_the_queries_of_all()))

    compared.report(page := io.BytesIO())

    assert "it is not significantly better than <bdi>b</bdi>" in page.getvalue().decode()


def test_the_note_on_random_signs_names_the_measures_whose_p_values_are_not_exact() -> None:
    compared = compare_data(test="randomization")

    estimated = [
        measure
        for measure in compared.measures
        if not compared.pair(measure, "pixels", "pca").exact
    ]
    note = "p-values are estimated from 100,000 random sign flips (seed 0)"
    assert compared.notes == [f"{', '.join(estimated)}: {note}"]
    assert 0 < len(estimated) < len(compared.measures)


def test_the_legend_says_that_a_randomization_test_is_exact() -> None:
    compared = fr.compare_scores(scores_of(random_rows(2, 12)), test="randomization")

    assert compared.description() == "p <= 0.05, exact randomization test"
    assert compared.resamples == 0


@pytest.mark.parametrize(
    ("options", "described"),
    [
        ({"correction": "none"}, "paired t-test, not corrected for the 3 pairs of a measure"),
        ({"correction": "none", "baseline": ["a", "b"]}, "not corrected for the 3 pairs of"),
        ({"correction": "none", "family": "all"}, "not corrected for the 3 pairs of all measures"),
    ],
)
def test_the_legend_says_that_p_values_are_not_corrected(
    options: dict[str, Any], described: str
) -> None:
    compared = fr.compare_scores(scores_of(random_rows(3, 20)), **options)

    assert described in compared.description()


@pytest.mark.parametrize("test", ["tukey", "tukey-anova"])
def test_tukeys_tests_need_no_correction(test: str) -> None:
    compared = fr.compare_scores(scores_of(random_rows(3, 20)), test=test)

    assert "corrected" not in compared.description()
