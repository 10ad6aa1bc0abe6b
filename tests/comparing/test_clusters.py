"""Queries that belong together are flipped and drawn together."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from tests.helpers.comparisons import random_rows, scores_of
from tests.helpers.strategies import slow_in_python

pytestmark = slow_in_python

CLUSTERS = {f"q{q:03d}": q // 3 for q in range(30)}
OPTIONS: dict[str, Any] = {"test": "randomization", "interval": "percentile", "clusters": CLUSTERS}


def test_a_cluster_has_one_sign() -> None:
    rows = random_rows(2, 30)
    sums = (rows[0] - rows[1]).reshape(10, 3).sum(axis=1)
    signs = np.array(list(product((1, -1), repeat=10)))
    expected = (np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9).mean()

    pair = fr.compare_scores(scores_of(rows), **OPTIONS).pair("value", "a", "b")

    assert (pair.p, pair.exact) == (expected, True)


def test_random_signs_of_clusters_are_near_the_exact_test() -> None:
    scores = scores_of(random_rows(2, 30))
    exact = fr.compare_scores(scores, **OPTIONS).pair("value", "a", "b").p

    found = fr.compare_scores(scores, **OPTIONS, exact_up_to=0).pair("value", "a", "b")

    assert found.p == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 100_000))


def test_clusters_of_one_query_are_the_queries() -> None:
    scores = scores_of(random_rows(2, 30))
    alone = {**OPTIONS, "clusters": {query: query for query in CLUSTERS}}

    found = fr.compare_scores(scores, **alone).pair("value", "a", "b")

    plain = fr.compare_scores(scores, test="randomization", interval="percentile")
    expected = plain.pair("value", "a", "b")
    assert found.p == expected.p
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_clusters_that_are_alike_inside_widen_the_interval() -> None:
    rows = np.repeat(random_rows(2, 10), 3, axis=1)

    wide = fr.compare_scores(scores_of(rows), **OPTIONS).pair("value", "a", "b")
    narrow = fr.compare_scores(scores_of(rows), interval="percentile").pair("value", "a", "b")

    assert wide.high - wide.low > 1.4 * (narrow.high - narrow.low)


def test_queries_without_a_cluster_are_named() -> None:
    clusters = dict.fromkeys(list(CLUSTERS)[1:], 0)

    with pytest.raises(fr.GroupError, match="clusters: no cluster for 1 of 30 queries: q000"):
        fr.compare_scores(scores_of(random_rows(2, 30)), **{**OPTIONS, "clusters": clusters})


def test_few_clusters_are_noted() -> None:
    clusters = {query: number // 10 for number, query in enumerate(CLUSTERS)}

    found = fr.compare_scores(scores_of(random_rows(2, 30)), **{**OPTIONS, "clusters": clusters})

    assert "few clusters (3): intervals are too narrow" in found.notes


def test_one_cluster_has_no_interval() -> None:
    options = {**OPTIONS, "clusters": dict.fromkeys(CLUSTERS, "all")}

    found = fr.compare_scores(scores_of(random_rows(2, 30)), **options)

    pair = found.pair("value", "a", "b")
    assert pair.low != pair.low
    assert pair.high != pair.high
    assert "one cluster: a test and intervals need several" in found.notes


def test_few_clusters_that_differ_limit_p() -> None:
    first, clusters = random_rows(1, 20)[0], {f"q{q:03d}": q // 7 for q in range(20)}
    options = {**OPTIONS, "clusters": clusters}

    pair = fr.compare_scores(scores_of([first, first - 0.25]), **options).pair("value", "a", "b")

    assert pair.p == pair.smallest_p == 0.25
    assert pair.note == "cannot be significant: only 3 of 3 clusters differ"


def test_a_relative_interval_is_about_the_queries_with_values_of_both() -> None:
    rows = random_rows(2, 30)
    kept = np.arange(30) != 4
    gaps = np.where(kept, rows, np.nan)
    gaps[0, 4] = 0.5

    found, expected = (
        fr.compare_scores(scores, **OPTIONS).relative_interval("value", "a", "b")
        for scores in (
            scores_of(gaps),
            {name: {q: v for q, v in own.items() if q != "q004"} for name, own in
             scores_of(rows).items()},
        )
    )  # fmt: skip

    assert found == pytest.approx(expected, rel=1e-12)
