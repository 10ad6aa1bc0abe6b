"""Agreement of two runs, query by query, and of Comparisons."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, weightedtau

import fastrank as fr
from tests.helpers.comparisons import DATA

RUNS = [DATA / "pixels.run", DATA / "pca.run", DATA / "profile.run"]
QRELS = DATA / "digits.qrels"


def compared(measures: str, **options: Any) -> fr.types.Comparison:
    return fr.compare(QRELS, RUNS, measures, **options)


def test_comparisons_are_ranked_by_their_means() -> None:
    one, other = compared("map"), compared("P.10")

    found = fr.agreement(one, other)

    assert found.systems == ["pixels", "pca", "profile"]
    assert found.first.tolist() == list(one.mean["map"].values())
    assert found.tau_ap == fr.agreement(one.mean["map"], other.mean["P_10"]).tau_ap
    assert fr.agreement(one, other.mean["P_10"]).tau_ap == found.tau_ap


def test_a_comparison_of_several_measures_is_an_error() -> None:
    with pytest.raises(fr.MeasureError, match="b: expected a Comparison of one measure, found 2"):
        fr.agreement(compared("map"), compared("map P.10"))


def test_a_measure_of_which_lower_values_are_better_ranks_the_lowest_first() -> None:
    by_rank = fr.evaluate(QRELS, RUNS, "FirstRank")
    best = fr.evaluate(QRELS, RUNS, "RR")

    assert fr.agreement(by_rank, best).first.tolist() == [-own.mean["FirstRank"] for own in by_rank]
    comparisons = (compared("FirstRank"), compared("RR"))
    expected = kendalltau(
        [-value for value in comparisons[0].mean["FirstRank"].values()],
        list(comparisons[1].mean["RR"].values()),
    )
    assert fr.agreement(*comparisons).tau_b == expected.statistic


def test_the_coefficients_of_runs_are_those_of_the_scores_of_each_query() -> None:
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 6, (2, 4, 9)) / 8
    runs = [
        {f"q{q}": {f"d{d}": value for d, value in enumerate(row)} for q, row in enumerate(own)}
        for own in scores.tolist()
    ]

    table = fr.agreement(*runs)

    columns = table.columns
    assert columns["query"] == ["q0", "q1", "q2", "q3", "all"]
    assert columns["documents"] == [9] * 5
    taus = [kendalltau(*both).statistic for both in zip(*scores, strict=True)]
    assert columns["tau_b"] == pytest.approx([*taus, np.mean(taus)], abs=1e-15)
    weighted = [weightedtau(*both).statistic for both in zip(*scores, strict=True)]
    assert columns["weighted_tau"] == pytest.approx([*weighted, np.mean(weighted)], abs=1e-15)
    by_query = [fr.agreement(*(own[f"q{q}"] for own in runs)).tau_ap for q in range(4)]
    assert columns["tau_ap"][:4] == by_query


def test_tau_of_the_common_documents_is_that_of_overlap() -> None:
    table = fr.agreement(RUNS[0], fr.read_run(RUNS[1]), items="common")

    expected = fr.overlap(RUNS[0], RUNS[1])
    assert table.columns["query"] == expected.columns["query"]
    assert table.columns["tau_b"] == pytest.approx(expected.columns["tau"], abs=1e-15, nan_ok=True)


def test_scores_that_are_equal_as_32_bit_floats_tie_as_in_trec_eval_9() -> None:
    a, b = {"q": {"x": 0.1, "y": 0.1 + 1e-12}}, {"q": {"x": 1, "y": 2}}

    assert math.isnan(fr.agreement(a, b).columns["tau_b"][0])
    assert fr.agreement(a, b, trec_eval_version="10.0").columns["tau_b"][0] == 1.0


def test_documents_that_only_one_run_has_are_named() -> None:
    a, b = {"q": {"x": 1, "y": 2}}, {"q": {"y": 1, "z": 2}}
    with pytest.raises(fr.GroupError, match="query 'q': only a has 'x' and only b has 'z'; items="):
        fr.agreement(a, b)

    assert fr.agreement(a, b, items="common").columns["documents"] == [1, 1]


def test_queries_that_only_one_run_has_are_named() -> None:
    a, b = {"q": {"x": 1}, "r": {"x": 1}}, {"q": {"x": 1}}
    with pytest.raises(fr.GroupError, match="only a has 'r'; items='common'"):
        fr.agreement(a, b)
    with pytest.raises(fr.GroupError, match="a and b have no query in common"):
        fr.agreement({"r": {"x": 1}}, b, items="common")

    assert fr.agreement(a, b, items="common").columns["query"] == ["q", "all"]


def test_a_document_that_appears_twice_is_an_error() -> None:
    run = fr.Run.from_arrays(["q", "q"], ["x", "x"], [1, 2])
    with pytest.raises(fr.InputError, match="query 'q': duplicate document 'x' in row 1"):
        fr.agreement(run, {"q": {"x": 1}})


def test_a_run_is_not_compared_with_scores_of_systems() -> None:
    with pytest.raises(TypeError, match="b: expected scores of systems, as the other has, found a"):
        fr.agreement({"x": 1.0}, RUNS[0])
