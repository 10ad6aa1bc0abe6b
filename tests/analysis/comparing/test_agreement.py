"""Agreement of two rankings of systems, and of two runs, query by query."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, weightedtau

import fastrank as fr
from fastrank.errors import InputError
from tests.helpers.comparisons import DATA
from tests.helpers.tables import giving

QRELS, RUNS = DATA / "digits.qrels", [DATA / f"{name}.run" for name in ("pixels", "pca", "profile")]
PLAIN, OTHER = {"q": {"x": 1, "y": 2}, "r": {"x": 1}}, {"q": {"y": 1, "z": 2}}
# Equal as 32-bit floats, which trec_eval 9 compares.
CLOSE, APART = {"q": {"x": 0.1, "y": 0.1 + 1e-12}}, {"q": {"x": 1, "y": 2}}

# The example of the R package ircor.
TRUTH = [0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]
ESTIMATE = [0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84]

# Few different scores, so that there are ties.
PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=4)
MANY = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=80)


def _agreement(pairs: list[tuple[int, int]]) -> fr.types.Agreement:
    first, second = zip(*pairs, strict=True)
    return fr.agreement(first, second)


def _orders(scores: list[int]) -> list[tuple[int, ...]]:
    """All orders of the places that are descending by score."""
    found = permutations(range(len(scores)))
    return [order for order in found if all(scores[a] >= scores[b] for a, b in pairwise(order))]


def _tau_ap(truth: tuple[int, ...], estimate: tuple[int, ...]) -> float:
    """The definition for rankings without ties, as orders of the places."""
    total = sum(
        sum(truth.index(above) < truth.index(item) for above in estimate[:rank]) / rank
        for rank, item in enumerate(estimate)
        if rank
    )
    return 2 * total / (len(truth) - 1) - 1


def _tau_ap_b(truth: list[int], estimate: list[int]) -> float:
    """The formula of Urbano and Marrero in one direction, system by system."""
    shares = []
    for i, score in enumerate(estimate):
        above = [j for j, other in enumerate(estimate) if other > score]
        if above:
            shares.append(sum(truth[j] > truth[i] for j in above) / len(above))
    return 2 * math.fsum(shares) / len(shares) - 1 if shares else math.nan


def test_the_example_of_ircor_has_its_values():
    found = fr.agreement(TRUTH, ESTIMATE)

    assert found.tau_ap == pytest.approx(0.392857142857143, abs=1e-14)
    assert found.tau_ap_symmetric == pytest.approx(0.3270723104056438, abs=1e-15)
    assert found.tau_ap_b == pytest.approx(0.3270723104056438, abs=1e-15)
    assert found.tau_b == pytest.approx(0.2, abs=1e-15)
    assert found.tau_a == 0.2


@settings(deadline=None)
@given(MANY)
def test_tau_and_weighted_tau_are_the_doubles_of_scipy(pairs):
    first, second = zip(*pairs, strict=True)

    found = fr.agreement(first, second)

    signs = [np.sign(a - c) * np.sign(b - d) for (a, b), (c, d) in combinations(pairs, 2)]
    assert found.tau_a == sum(signs) / len(signs)
    tau_b = kendalltau(first, second).statistic
    assert found.tau_b == pytest.approx(tau_b, abs=0, rel=0, nan_ok=True)
    weighted = weightedtau(first, second).statistic
    assert found.weighted_tau == pytest.approx(weighted, abs=0, rel=0, nan_ok=True)


@settings(deadline=None)
@given(PAIRS)
def test_tau_ap_is_the_average_over_the_orders_of_ties(pairs):
    first, second = (list(scores) for scores in zip(*pairs, strict=True))
    values = [_tau_ap(a, b) for a in _orders(first) for b in _orders(second)]

    found = _agreement(pairs).tau_ap
    assert found == pytest.approx(math.fsum(values) / len(values), abs=1e-12)


@settings(deadline=None)
@given(MANY)
def test_tau_ap_b_follows_its_formula(pairs):
    first, second = (list(scores) for scores in zip(*pairs, strict=True))
    expected = (_tau_ap_b(first, second) + _tau_ap_b(second, first)) / 2

    assert _agreement(pairs).tau_ap_b == pytest.approx(expected, abs=1e-12, nan_ok=True)


def coefficients(first: Any, second: Any) -> list[float]:
    names = ("tau_a", "tau_b", "tau_ap", "tau_ap_b", "tau_ap_symmetric", "weighted_tau")
    return [getattr(fr.agreement(first, second), name) for name in names]


test_systems_documents_and_queries_are_matched_by_name = giving("""
agreement({"x": 3, "y": 2, "z": 1}, {"z": 0.3, "y": 0.2, "x": 0.1}).systems => ["x", "y", "z"]
coefficients({"x": 3, "y": 2, "z": 1}, {"z": 0.3, "y": 0.2, "x": 0.1}) => approx([-1.0] * 6)
agreement({"x": 1, "y": 2, "v": 3}, {"y": 1, "z": 2, "v": 3}, items="common").systems => ["y", "v"]
agreement({"x": 1, "y": 2, "v": 3}, {"y": 1, "z": 2, "v": 3}, items="common").tau_b => 1.0
coefficients({"x": 1}, {"x": 2}) => approx([math.nan] * 6, nan_ok=True)
agreement(PLAIN, OTHER, items="common").columns["documents"] => [1, 1]
agreement(PLAIN, {"q": {"x": 1}}, items="common").columns["query"] => ["q", "all"]
agreement(CLOSE, APART).columns["tau_b"] => approx([math.nan] * 2, nan_ok=True)
agreement(CLOSE, APART, trec_eval_version="10.0").columns["tau_b"][0] => 1.0
""")


def evaluated(measure: str) -> list[fr.Scores]:
    return fr.evaluate(QRELS, RUNS, measure)


def by_tag(measure: str) -> dict[str | None, fr.Scores]:
    return {one.tag: one for one in evaluated(measure)}


def of_runs(measure: str) -> fr.types.Comparison:
    return fr.compare(QRELS, RUNS, measure)


def means(measure: str) -> list[float]:
    return [one.mean[measure] for one in evaluated(measure)]


test_scores_are_named_after_their_runs_and_ranked_by_what_is_better = giving("""
agreement(evaluated("map"), evaluated("P_10")).systems => ["pixels", "pca", "profile"]
agreement(evaluated("map"), evaluated("P_10")).first.tolist() => means("map")
agreement(by_tag("map"), by_tag("P_10")).systems => ["pixels", "pca", "profile"]
agreement(by_tag("map"), by_tag("P_10")).first.tolist() => means("map")
agreement(of_runs("map"), of_runs("P_10")).systems => ["pixels", "pca", "profile"]
agreement(of_runs("map"), of_runs("P_10")).second.tolist() => approx(means("P_10"))
agreement(of_runs("map"), of_runs("P_10").mean["P_10"]).tau_ap
    => agreement(evaluated("map"), evaluated("P_10")).tau_ap
agreement(evaluated("FirstRank"), evaluated("RR")).first.tolist()
    => [-own for own in means("FirstRank")]
agreement(of_runs("FirstRank"), of_runs("RR")).tau_b
    => -kendalltau(*([*of_runs(own).mean[own].values()] for own in ("FirstRank", "RR"))).statistic
""")


def test_a_series_is_scores_by_its_index():
    pd = pytest.importorskip("pandas")
    first, second = {"x": 0.2, "y": 0.3, "z": 0.4}, {"z": 0.5, "y": 0.4, "x": 0.3}

    assert fr.agreement(pd.Series(first), pd.Series(second)).tau_b == 1.0
    assert fr.agreement(first, pd.Series(second)).systems == ["x", "y", "z"]
    with pytest.raises(InputError, match="'x' appears twice in the index"):
        fr.agreement(first, pd.Series([1, 2], index=["x", "x"]))


def test_the_coefficients_of_runs_are_those_of_the_scores_of_each_query():
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 6, (2, 4, 9)) / 8
    runs = [
        {f"q{q}": {f"d{d}": value for d, value in enumerate(row)} for q, row in enumerate(own)}
        for own in scores.tolist()
    ]

    columns = fr.agreement(*runs).columns

    assert columns["query"] == ["q0", "q1", "q2", "q3", "all"]
    assert columns["documents"] == [9] * 5
    for name, of_scipy in (("tau_b", kendalltau), ("weighted_tau", weightedtau)):
        values = [of_scipy(*both).statistic for both in zip(*scores, strict=True)]
        assert columns[name] == pytest.approx([*values, np.mean(values)], abs=1e-15)
    by_query = [fr.agreement(*(own[f"q{q}"] for own in runs)).tau_ap for q in range(4)]
    assert columns["tau_ap"][:4] == by_query


def test_tau_of_the_common_documents_is_that_of_overlap():
    runs = [fr.read_run(run).to_dict() for run in RUNS[:2]]
    few = [{query: run[query] for query in list(run)[:40]} for run in runs]

    columns = fr.agreement(*few, items="common").columns

    expected = fr.overlap(*few).columns
    assert columns["query"] == expected["query"]
    assert columns["tau_b"] == pytest.approx(expected["tau"], abs=1e-15, nan_ok=True)
