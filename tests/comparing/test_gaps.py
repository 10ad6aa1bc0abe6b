"""Queries for which some systems have no value (NaN): what means and tests are about."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from tests.helpers.comparisons import random_rows, scores_of
from tests.helpers.paths import REPOSITORY


def on_the_hard_query_only_a_has_a_value() -> Any:
    """a is better than b on all queries that both have; its mean over all is lower."""
    rows = np.repeat([[0.53], [0.5], [0.3]], 12, axis=1) + 0.01 * random_rows(3, 12)
    rows[0, 0], rows[1, 0] = 0.0, math.nan
    assert rows[0].mean() < np.nanmean(rows[1])
    return scores_of(rows)


def test_the_best_system_is_that_of_the_queries_with_values_of_all() -> None:
    compared = fr.compare_scores(on_the_hard_query_only_a_has_a_value())

    assert compared.best("value") == "a"
    assert compared.ranked("value") == ["a", "b", "c"]
    assert compared.tied_with_best("value") == ["a"]
    assert compared.letters("value") == {"a": "a", "b": "b", "c": "c"}
    assert compared.ranks("value").columns["system"] == ["a", "b", "c"]


@pytest.mark.parametrize("interval", ["t", "percentile", "bca", "studentized"])
def test_means_and_intervals_are_those_of_the_queries_with_values_of_all(interval: str) -> None:
    scores = on_the_hard_query_only_a_has_a_value()
    kept = {name: {q: v for q, v in own.items() if q != "q000"} for name, own in scores.items()}

    compared, expected = (fr.compare_scores(own, interval=interval) for own in (scores, kept))

    assert compared.mean == expected.mean
    for name in "abc":
        bounds = compared.interval_of("value", name)
        assert bounds == pytest.approx(expected.interval_of("value", name), rel=1e-12)
    assert compared.values("value").shape == (3, 12)


def test_the_best_mean_is_the_one_in_bold() -> None:
    compared = fr.compare_scores(on_the_hard_query_only_a_has_a_value())

    means = {name: f"{mean:.4f}" for name, mean in compared.mean["value"].items()}
    assert f"**{means['a']}**" in compared.to_markdown(underline=True)
    assert f"<u>{means['b']}</u>" in compared.to_markdown(underline=True)
    assert compared.table().bold == {(0, 1)}


def test_the_difference_of_two_systems_is_that_of_their_means() -> None:
    scores = on_the_hard_query_only_a_has_a_value()
    del scores["c"]

    compared = fr.compare_scores(scores)

    mean = compared.mean["value"]
    assert compared.pair("value", "a", "b").difference == pytest.approx(mean["a"] - mean["b"])
    assert compared.notes == [
        "value: b has no value for 1 of 12 queries (q000); only the 11 queries with values of all"
        " systems are used"
    ]


@pytest.mark.parametrize("test", ["tukey", "tukey-anova"])
def test_tests_of_all_systems_use_the_same_queries_for_all_pairs(test: str) -> None:
    compared = fr.compare_scores(on_the_hard_query_only_a_has_a_value(), test=test)

    mean = compared.mean["value"]
    for pair in compared._pairs_of("value"):
        assert pair.n == 11
        assert pair.difference == pytest.approx(mean[pair.a] - mean[pair.b])
    assert "only the 11 queries with values of all systems are used" in compared.notes[0]


@pytest.mark.parametrize("test", ["t", "tukey", "tukey-anova"])
def test_without_a_query_with_values_of_all_no_system_is_the_best(test: str) -> None:
    rows = random_rows(3, 12)
    rows[1, :6], rows[2, 6:] = math.nan, math.nan

    compared = fr.compare_scores(scores_of(rows), test=test)

    assert compared.notes[0].endswith(
        "no query has values of all systems, so the means cannot be compared"
    )
    assert compared.ranked("value") == ["a", "b", "c"]
    assert "**" not in compared.to_markdown()
    assert not compared.table().bold
    for method in (compared.best, compared.tied_with_best, compared.ranks, compared.anova):
        with pytest.raises(fr.MeasureError, match="'value': no query has values of all systems"):
            method("value")


def test_a_run_that_finds_nothing_is_not_the_best_in_first_rank() -> None:
    """Without a relevant document, FirstRank has no value: its mean is of the easy queries."""
    data = REPOSITORY / "data"
    runs = {name: fr.read_run(data / f"{name}.run").to_dict() for name in ("pixels", "pca")}
    short = {
        query: dict(sorted(documents.items(), key=lambda item: -item[1])[:1])
        for query, documents in runs["pca"].items()
    }

    compared = fr.compare(
        data / "digits.qrels", {"pixels": runs["pixels"], "short": short}, "FirstRank"
    )

    n = compared.pair("FirstRank", "pixels", "short").n
    assert n < 200
    mean = compared.mean["FirstRank"]
    assert mean["short"] == 1.0
    assert mean["pixels"] == pytest.approx(compared.pair("FirstRank", "pixels", "short").mean_a)
    assert f"only the {n} queries with values of all systems are used" in compared.notes[0]
