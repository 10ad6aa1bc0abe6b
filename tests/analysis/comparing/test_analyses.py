"""Power, effect sizes, ranks, mean ranks, and the intervals of one system.

What was recorded is of statsmodels 0.15.0, autorank 1.3.0 and scikit-posthocs 0.17.1.
"""

from __future__ import annotations

import math
import re
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fastrank as fr
from fastrank.analysis.comparing.groups import mean_ranks
from fastrank.analysis.comparing.paired import Paired
from fastrank.analysis.comparing.power import (
    detectable,  # noqa: F401 (in a table)
    power_of_t,
    queries_for,  # noqa: F401 (in a table)
)
from tests.helpers.comparisons import DATA, compare_data, compared, data_scores, random_rows
from tests.helpers.strategies import examples
from tests.helpers.tables import giving, refusing

SHIFTS = (0.1, 0.17, 0.21, 0.33, 0.5, 1.1)

# TTestPower().power and .solve_power, rounded up; pingouin 0.7.0: power_ttest. For several
# systems, FTestAnovaPower().solve_power(effect_size=sqrt(D**2 / (2 m variance)), k_groups=m) / m.
test_power_and_queries_are_those_of_statsmodels_and_pingouin = giving("""
power_of_t(0.3, 50) => approx(0.5476570389705147, rel=1e-12)
power_of_t(-0.3, 50) => power_of_t(0.3, 50)
power_of_t(3.0, 10_000_000) => 1.0
queries_for(0.3, 0.05, 0.8) => 90
queries_for(0.02 / 0.159, 0.05, 0.8) => 498
queries_for(0.05 / 0.42, 0.01, 0.9) => 1054
queries_for(1.5, 0.05, 0.8) => 6
[power_of_t(own, queries_for(own)) >= 0.8 for own in SHIFTS] => [True] * 6
[power_of_t(own, queries_for(own) - 1) < 0.8 for own in SHIFTS] => [True] * 6
queries_for(0.0) => None
queries_for(1e-9) => None
topics_needed(0.1, systems=10, variance=0.05, power=0.8) => 158
topics_needed(0.05, systems=3, variance=0.02, power=0.9) => 204
detectable(300) => approx(0.16227, abs=1e-5)
[power_of_t(detectable(n), n) for n in (2, 10, 50, 6980)] => approx([0.8] * 4, abs=1e-9)
math.isnan(detectable(1)) => True
compare_data().power("map", differences=[0.02]).columns["queries_0.02"][0]
    => queries_for(0.02 / compare_data().pair("map", "pixels", "pca").sd)
compare_data().power("map").columns["detectable"][0]
    => approx(detectable(200) * compare_data().pair("map", "pixels", "pca").sd)
compare_data().power("map", power=0.9).columns["queries"][2]
    => queries_for(compare_data().pair("map", "pca", "profile").effect, power=0.9)
compared([[0.5], [0.25]]).power("value").columns["queries"] => [None]
""")


def test_power_rises_with_the_effect_where_scipy_gives_nan():
    """scipy's noncentral t distribution is NaN for n = 300 and d_z = 0.5, among others."""
    for n in (5, 10, 50, 300, 352, 2000, 50_000):
        powers = [power_of_t(shift / n**0.5, n) for shift in np.linspace(0.1, 14, 200)]
        assert powers == sorted(powers), n
        assert powers[-1] == pytest.approx(1.0, abs=1e-3)


def test_topics_for_an_interval_have_its_expected_width():
    n = fr.topics_needed(width=0.05, sd=0.159)

    def width(topics: int) -> float:
        t = stats.t.ppf(0.975, topics - 1)
        return 2 * t * 0.159 * stats.chi.mean(topics - 1) / math.sqrt(topics - 1) / topics**0.5

    assert width(n) <= 0.05 < width(n - 1)


SMALL = compared([[0.1, 0.2, 0.3, 0.4], [0.1, 0.1, 0.4, 0.1]])
# Equal in decimals.
TIED = compared([[0.1 + 0.2, 0.5], [0.3, 0.5]])
ONE_QUERY, OF_DATA = compared([[0.5], [0.25]]), compare_data()
LOWER = fr.compare_scores(
    {
        name: {f"q{i}": {"FirstRank": i + more} for i in range(3)}
        for name, more in (("bad", 1), ("good", 0))
    }
)
# Every difference is 0.1, but as doubles they differ.
SHIFTED = compared([[0.6, 0.5, 0.4], [0.5, 0.4, 0.3]])

# The last two differ on one query, but neither can be the best.
BELOW = compared([[0.9] * 8, [0.4] * 7 + [0.3], [0.4] * 8])


def bounds(comparison: fr.Comparison) -> list[tuple[int, int]]:
    """The bounds of the ranks; 2**(1 - n) is at most 0.05 from 6 queries on."""
    columns = comparison.ranks("value", resamples=50).columns
    return list(zip(columns["low"], columns["high"], strict=True))


test_effect_sizes_and_ranks = giving("""
OF_DATA.effects("map").columns["cliff_unpaired"][0] => approx(0.230600, abs=1e-6)
OF_DATA.effects("recip_rank").columns["cliff_unpaired"][2] => approx(-0.084675, abs=1e-6)
SMALL.effects("value").columns["superiority"] => [2.5 / 4]
TIED.effects("value").columns["superiority"] => [0.5]
TIED.effects("value").columns["cliff_unpaired"] => [0.0]
SMALL.effects("value").columns["hedges"] => approx([8 / 11 * SMALL.pair("value", "a", "b").effect])
math.isnan(ONE_QUERY.effects("value").columns["hedges"][0]) => True
compared([[0.5, 0.9], [0.25, 0.5]]).effects("value").columns["hedges"] => [0.0]
LOWER.ranks("FirstRank", resamples=50).columns["system"] => ["good", "bad"]
LOWER.ranks("FirstRank", resamples=50).columns["p_best"] => [None, None]
SHIFTED.effects("value").columns["sd"] => [0.0]
SHIFTED.effects("value").columns["d_z"] => [math.inf]
SHIFTED.power("value").columns["detectable"] => [None]
SHIFTED.power("value").columns["queries"] => [None]
SHIFTED.standings("value").columns["needed"] => [None, None]
bounds(SHIFTED) => [(1, 2), (1, 2)]
bounds(compared([[0.5] * 10, [0.5] * 10])) => [(1, 2), (1, 2)]
bounds(compared([[1.0] * 5, [0.5] * 5])) => [(1, 2), (1, 2)]
bounds(compared([[1.0, 0.9], [0.5, 0.3]])) => [(1, 2), (1, 2)]
compared([[1.0, 0.9], [0.5, 0.3]]).ranks("value").columns["p_best"] => [None, None]
BELOW.ranks("value").columns["p_best"] => [1.0, 0.0, 0.0]
bounds(compared([[1.0] * 6, [0.5] * 6])) => [(1, 1), (2, 2)]
bounds(ONE_QUERY) => [(1, 2), (1, 2)]
[*compared([[0.5]]).effects("value").columns][:3] => ["a", "b", "d_z"]
""")


def test_ranks_resample_whole_clusters():
    """Of 8 clusters of 3 queries; the chance of being best is that of a bootstrap in numpy."""
    by_cluster = np.array([0.3, 0.2, -0.1, 0.1, -0.2, 0.2, 0.1, -0.1])
    clusters = {f"q{i}": i // 3 for i in range(24)}
    values = {
        name: {query: 0.5 + more * by_cluster[cluster] for query, cluster in clusters.items()}
        for name, more in (("a", 1), ("b", 0))
    }
    found = fr.compare_scores(
        values, clusters=clusters, test="randomization", interval="percentile"
    )

    table = found.ranks("value")
    drawn = np.random.default_rng(0).choice(by_cluster, (100_000, 8)).sum(axis=1).round(9)
    chance = (drawn > 0).mean() + (drawn == 0).mean() / 2
    assert table.columns["p_best"] == pytest.approx([chance, 1 - chance], abs=0.01)
    assert (table.columns["low"], table.columns["high"]) == ([1, 1], [2, 2])
    assert found.standings("value").columns["needed"] == [None, None]
    assert found.power("value").columns["detectable"] == [None]


def test_ranks_and_the_chance_of_being_best_sum_up():
    rows = random_rows(6, 40)
    rows[5] = rows[0]

    table = compared(rows).ranks("value", resamples=2000)

    found = {name: row for name, *row in table.rows()}
    assert found["a"] == found["f"]
    assert sum(table.columns["p_best"]) == pytest.approx(1.0)
    for low, rank, high in zip(*(table.columns[c] for c in ("low", "rank", "high")), strict=True):
        assert 1 <= low <= rank <= high <= 6


# Mean ranks, Friedman's test, and Nemenyi's critical difference.


def _mean_ranks(values: npt.NDArray[np.float64], better: str = "higher") -> Any:
    firsts, seconds = np.triu_indices(len(values), 1)
    return mean_ranks(Paired(values, firsts, seconds), better, 0.05)


@given(st.integers(3, 6), st.integers(2, 30), st.integers(0, 10_000), st.integers(0, 4))
@examples(50)
def test_friedmans_test_is_that_of_scipy(k, n, seed, decimals):
    values = np.round(random_rows(k, n, seed), decimals)
    values[0, 0] += 2

    found = _mean_ranks(values, "lower")

    assert found.p == pytest.approx(stats.friedmanchisquare(*values).pvalue, rel=1e-9)
    assert np.allclose(found.ranks, stats.rankdata(values, axis=0).mean(axis=1))


@given(st.integers(2, 6), st.integers(2, 30), st.integers(0, 10_000))
@examples(25)
def test_bars_are_those_of_nemenyis_test(k, n, seed):
    """As `posthoc_nemenyi_friedman` of scikit-posthocs: p from the studentized range."""
    found = _mean_ranks(random_rows(k, n, seed) + 0.1 * np.arange(k)[:, None])

    joined = {frozenset(pair) for group in found.groups() for pair in combinations(group, 2)}

    for one, other in combinations(range(k), 2):
        q = abs(found.ranks[one] - found.ranks[other]) / math.sqrt(k * (k + 1) / (6 * n))
        p = stats.studentized_range.sf(q * math.sqrt(2), k, np.inf)
        assert (frozenset((one, other)) in joined) == (p > 0.05)


# Of systems that get better step by step: the seed, their number, that of queries, and the step;
# then `pvalue`, `cd` and the mean ranks of autorank, and which pairs `posthoc_nemenyi_friedman` of
# scikit-posthocs has above 0.05.
DIAGRAMS = """
1 5 40 0.06 | 2.0886518172223404e-09 0.9644055736856979 | 4 3.4125 3.25 2.2625 2.075 | ab ac bc de
2 8 30 0.05 | 1.2893417750242016e-09 1.9168845030035278
  | 5.866666666666666 6.2 5.166666666666667 4.7 4.416666666666667 3.6 2.9833333333333334
    3.066666666666667 | ab ac ad ae bc bd be cd ce cf de df dg dh ef eg eh fg fh gh
3 3 12 0.1 | 0.0848672789700174 0.9568131471380431
  | 2.4583333333333335 1.9583333333333333 1.5833333333333333 | ab ac bc
"""


@pytest.mark.parametrize("row", re.sub(r"\n +", " ", DIAGRAMS.strip()).split("\n"))
def test_diagrams_are_those_of_autorank_and_scikit_posthocs(row):
    case, statistics, ranks, alike = (part.split() for part in row.split(" | "))
    seed, systems, queries, step = int(case[0]), int(case[1]), int(case[2]), float(case[3])
    values = random_rows(systems, queries, seed) + step * np.arange(systems)[:, None]

    found = _mean_ranks(np.round(values, 1))

    joined = {pair for group in found.groups() for pair in combinations(sorted(group), 2)}
    assert found.p == pytest.approx(float(statistics[0]), rel=1e-9)
    # autorank has a table of the studentized range, of six digits.
    assert found.critical == pytest.approx(float(statistics[1]), rel=2e-5)
    assert found.ranks == pytest.approx([*map(float, ranks)], rel=1e-12)
    assert joined == {tuple(ord(own) - ord("a") for own in pair) for pair in alike}


# The interval of one system's mean: `Scores.interval`.


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_t_interval_of_a_mean_is_scipys(level):
    scores = data_scores()["pixels"]
    values = scores["map"]

    expected = stats.t.interval(level, len(values) - 1, values.mean(), stats.sem(values))

    assert scores.interval("map", level) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("method", ["t", "percentile", "bca", "studentized"])
def test_the_interval_of_a_mean_is_that_of_a_comparison(method):
    options = {"seed": 3, "resamples": 500, "level": 0.8}
    alone = fr.compare_scores({"pixels": data_scores()["pixels"]}, interval=method, **options)

    for measure in ("map", "P_10"):
        found = data_scores()["pixels"].interval(measure, method=method, **options)
        assert found == alone.interval_of(measure, "pixels")


@pytest.mark.parametrize(("method", "name"), [("percentile", "percentile"), ("bca", "BCa")])
def test_bootstrap_intervals_of_a_mean_are_scipys_up_to_the_resamples(method, name):
    scores = data_scores()["pixels"]
    expected = stats.bootstrap(
        (scores["map"],), np.mean, method=name, n_resamples=10_000, rng=np.random.default_rng(1)
    ).confidence_interval

    assert scores.interval("map", method=method) == pytest.approx(tuple(expected), abs=1e-3)


ONLY = fr.evaluate(DATA / "digits.qrels", DATA / "pixels.run", "map")
WITH_SUMS = fr.evaluate(DATA / "digits.qrels", DATA / "pixels.run", "map gm_map num_ret")

test_only_means_have_intervals_and_one_of_several_is_named = refusing("""
WITH_SUMS.interval("gm_map") => MeasureError: ...gm_map...
WITH_SUMS.interval("num_ret") => MeasureError: ...num_ret...
WITH_SUMS.interval("ndcg") => MeasureError: 'ndcg' was not evaluated...
data_scores()["pixels"].interval() => MeasureError: found 4 measures; name one: map, P_10...
""")


def test_the_only_measure_need_not_be_named():
    assert ONLY.interval() == ONLY.interval("map")
