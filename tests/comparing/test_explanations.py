"""Notes on what a comparison shows: which p-values are exact, and what contradicts the means."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest

import fastrank as fr
from tests.helpers.call_rows import check_value, giving
from tests.helpers.comparisons import compare_data, compared, random_rows, scores_of


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


@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
def test_no_system_is_better_if_the_test_and_the_mean_favor_different_ones(test: str) -> None:
    rows = mostly_higher_but_with_a_lower_mean()

    found = compared(rows, test=test)

    assert found.significant("value", "a", "b")
    assert found.beaten("value", "a") == found.beaten("value", "b") == []
    assert (
        "value: the test favors a, but the mean favors b; neither counts as significantly better"
        in found.notes
    )
    table = compared(rows, test=test, baseline="a").to_text(ascii=False)
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
    pytest.importorskip("matplotlib")
    found = compared(better_but_for_the_queries_of_all())

    found.report(page := io.BytesIO())

    assert found.best("value") == "a"
    assert "a" in found.beaten("value", "b")
    assert (
        "value: b is significantly better than a on the queries with values of both, but its mean"
        " over those with values of all systems is worse" in found.notes
    )
    assert "it is not significantly better than <bdi>b</bdi>" in page.getvalue().decode()


def test_the_note_on_random_signs_names_the_measures_whose_p_values_are_not_exact() -> None:
    found = compare_data(test="randomization")

    exact = {name: found.pair(name, "pixels", "pca").exact for name in found.measures}
    note = "p-values are estimated from 100,000 random sign flips (seed 0)"
    assert found.notes == [f"{', '.join(name for name in exact if not exact[name])}: {note}"]
    assert set(exact.values()) == {True, False}


TWO, THREE = random_rows(2, 12), random_rows(3, 20)


@giving("""
compared(TWO, test="randomization").description() -> "p <= 0.05, exact randomization test"
compared(TWO, test="randomization").resamples -> 0
compared(THREE, correction="none").description()
    -> "p <= 0.05, paired t-test, not corrected for the 3 pairs of a measure"
compared(THREE, correction="none", baseline=["a", "b"]).description()
    -> "p <= 0.05, paired t-test, not corrected for the 3 pairs of a measure"
compared(THREE, correction="none", family="all").description()
    -> "p <= 0.05, paired t-test, not corrected for the 3 pairs of all measures"
"corrected" in compared(THREE, test="tukey").description() -> False
"corrected" in compared(THREE, test="tukey-anova").description() -> False
""")
def test_the_legend_says_whether_p_values_are_exact_and_corrected(call: str, value: str) -> None:
    check_value(call, value, globals())
