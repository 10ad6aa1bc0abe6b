"""Input that cannot be compared, or only in part: each has one clear error or note."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from tests.helpers.comparisons import random_rows, scores_of

QRELS = {f"q{i:02d}": {"a": 1, "b": 0} for i in range(12)}
RUN = {query: {"a": 2.0, "b": 1.0} for query in QRELS}
OTHER = {f"x{query}": docs for query, docs in RUN.items()}
TESTS = ["t", "randomization", "wilcoxon", "sign", "tukey", "tukey-anova", "bootstrap"]


def test_runs_without_any_judged_query_are_an_error() -> None:
    with pytest.raises(fr.GroupError, match="no run has results for any judged query"):
        fr.compare(QRELS, [OTHER, OTHER], "map", missing="zero")


def test_a_run_over_other_queries_is_named() -> None:
    compared = fr.compare(QRELS, {"x": RUN, "y": OTHER}, "map", missing="zero")

    assert compared.notes[0].startswith("y lacks 12 of 12 judged queries (q00, q01, q02, q03, q04")
    with pytest.raises(fr.RunError, match="y: the run and the qrels share no query ids"):
        fr.compare(QRELS, {"x": RUN, "y": OTHER}, "map")


def test_an_error_names_a_run_without_a_name_by_its_number() -> None:
    with pytest.raises(fr.RunError, match="run 2: 11 of 12 judged queries are missing"):
        fr.compare(QRELS, [RUN, {"q00": {"a": 1.0}}], "map", missing="error")


def test_systems_without_a_common_query_are_shown_with_theirs() -> None:
    with pytest.raises(
        fr.GroupError, match=r"in common: 'a' has 1 query \(q1\), 'b' has 2 queries \(q2, q3\)"
    ):
        fr.compare_scores({"a": {"q1": 1.0}, "b": {"q2": 1, "q3": 1}}, queries="common")


def test_scores_without_queries_are_an_error() -> None:
    with pytest.raises(fr.GroupError, match="no system has a query"):
        fr.compare_scores({"a": {}, "b": {}})


def test_the_only_system_cannot_be_the_baseline() -> None:
    with pytest.raises(fr.OptionError, match="'x' is the only system; compare it with another"):
        fr.compare(QRELS, {"x": RUN}, "map", baseline="x")


def test_equal_names_are_noted() -> None:
    compared = fr.compare(QRELS, [RUN, RUN, RUN], "map", names=["x", "x", "y"])

    assert compared.names == ["x", "x#2", "y"]
    assert compared.notes == ["systems with equal names are numbered: x#2"]


def test_a_string_is_no_list_of_names() -> None:
    with pytest.raises(fr.OptionError, match="expected a list of names, found 'xy'"):
        fr.compare(QRELS, [RUN, RUN], "map", names="xy")


def test_values_that_are_nan_are_counted_and_named() -> None:
    scores: dict[str, dict[str, Any]] = scores_of(random_rows(3, 12))
    scores["b"]["q003"], scores["c"]["q007"] = math.nan, None

    assert fr.compare_scores(scores).notes == [
        "value: b has no value for 1 of 12 queries (q003), c for 1 (q007); a pair is compared on"
        " the queries with values of both; means are over the 10 queries with values of all systems"
    ]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("interval", ["t", "percentile", "studentized"])
def test_a_pair_without_a_query_with_values_of_both_has_no_p(test: str, interval: str) -> None:
    scores = {"a": {"q1": 1, "q2": 2, "q3": None}, "b": {"q1": None, "q2": None, "q3": 4}}

    pair = fr.compare_scores(scores, test=test, interval=interval).pair("value", "a", "b")

    assert pair.n == 0
    assert all(map(math.isnan, (pair.p, pair.p_adjusted, pair.low, pair.high)))
    assert pair.note == "no query has values of both: no test is possible"


@pytest.mark.parametrize("interval", ["t", "percentile", "bca", "studentized"])
def test_one_query_has_no_interval(interval: str) -> None:
    compared = fr.compare_scores({"a": {"q": 0.25}, "b": {"q": 0.5}}, interval=interval)

    assert compared.notes == ["one query: a test needs several"]
    pair = compared.pair("value", "a", "b")
    assert all(map(math.isnan, (pair.low, pair.high, *compared.interval_of("value", "a"))))
    assert pair.note == "one query: no test is possible"


@pytest.mark.parametrize("baseline", [True, [False], np.True_])
def test_a_truth_value_is_no_baseline(baseline: Any) -> None:
    with pytest.raises(fr.OptionError, match="baseline: expected a name or an index, found"):
        fr.compare_scores(scores_of(random_rows(2, 12)), baseline=baseline)


@pytest.mark.parametrize("value", [1e308, -1e308, 1.1e100])
def test_values_whose_squares_overflow_are_an_error(value: float) -> None:
    with pytest.raises(
        fr.GroupError, match=r"'b' for query 'q2' is -?1.*; values above 1e.100 can"
    ):
        fr.compare_scores({"a": {"q1": 1, "q2": 2}, "b": {"q1": 1, "q2": value}})


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("interval", ["t", "percentile", "bca", "studentized"])
@pytest.mark.parametrize("largest", [1e100, 1e-12, 1e-200, 5e-324])
def test_results_of_values_of_any_size_are_finite(test: str, interval: str, largest: float) -> None:
    rows = largest * random_rows(2, 12)

    compared = fr.compare_scores(scores_of(rows), test=test, interval=interval, resamples=100)

    pair = compared.pair("value", "a", "b")
    assert all(map(math.isfinite, (pair.difference, pair.low, pair.high, pair.p, pair.p_adjusted)))
    assert all(map(math.isfinite, compared.interval_of("value", "a")))


def test_differences_below_the_last_decimal_are_none() -> None:
    compared = fr.compare_scores(scores_of(1e-14 * random_rows(2, 12)))

    pair = compared.pair("value", "a", "b")
    assert (pair.p, pair.note) == (1.0, "identical on every query, up to 12 decimals")


@pytest.mark.parametrize(
    ("others", "found"), [(0, "1 of 1 query differs"), (4, "1 of 5 queries differs")]
)
def test_the_note_on_a_single_difference_is_singular(others: int, found: str) -> None:
    same = {f"q{i}": 0.5 for i in range(others)}

    compared = fr.compare_scores({"a": {"q": 1, **same}, "b": {"q": 2, **same}}, test="sign")

    assert compared.pair("value", "a", "b").note == f"cannot be significant: only {found}"


def test_a_geometric_mean_names_the_measure_with_values_per_query() -> None:
    with pytest.raises(fr.MeasureError, match=r"'gm_map': has no values per query .* \(map has\)"):
        fr.compare(QRELS, [RUN, RUN], "gm_map")


def test_a_difference_that_is_no_number_is_an_error() -> None:
    compared = fr.compare_scores(scores_of(random_rows(2, 12)))
    with pytest.raises(TypeError, match="differences: expected a number, found str"):
        compared.power("value", differences=["0.1"])  # type: ignore[list-item]


def test_scores_without_a_common_query_get_no_advice_to_compare_those() -> None:
    with pytest.raises(fr.GroupError, match=r"1 only in 'b' \(q2\)$"):
        fr.compare_scores({"a": {"q1": 1.0}, "b": {"q2": 1.0}})


def test_resamples_without_variance_give_no_studentized_interval() -> None:
    compared = fr.compare_scores(
        scores_of([[0.0, 1.0], [0.0, 0.0]]), interval="studentized", resamples=1
    )

    pair = compared.pair("value", "a", "b")
    assert math.isnan(pair.low)
    assert math.isnan(pair.high)
    assert pair.note.startswith("no resample has variance: there is no interval")


def test_a_query_with_keys_of_two_types_is_an_error() -> None:
    scores = {"a": {1: 0.1, "1": 0.2}, "b": {"1": 0.3}}

    with pytest.raises(fr.InputError, match="scores of 'a': query '1' appears twice"):
        fr.compare_scores(scores)
