"""Comparisons of systems, with those of scipy and ranx: `pytest bench/test_comparing.py`.

Randomization tests with 100,000 flips: all pairs of 100 systems on 250 queries, and one pair by
scipy and ranx, which is skipped where it is not installed. Targets: all pairs in at most 5 s on two
cores; 10 systems, 200 queries and 4 measures in less than 1 s; standings of a table of 181 systems
on 41 data sets, and of 20 on 8 with 300 items each, in a few seconds.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastrank as fr

FLIPS, SEED = 100_000, 11


class Case:
    """Values of systems that differ little, as {name: {query: {measure: value}}}."""

    def __init__(self, systems: int, queries: int, measures: int) -> None:
        rng = np.random.default_rng(SEED)
        means = rng.random((1, queries, measures)) + 0.05 * rng.random((systems, 1, measures))
        self.values = means + 0.2 * rng.standard_normal((systems, queries, measures))
        self.scores = {
            f"s{system}": {
                f"q{query}": {f"m{i}": value for i, value in enumerate(row)}
                for query, row in enumerate(rows)
            }
            for system, rows in enumerate(self.values.tolist())
        }
        self.first, self.second = (
            np.ascontiguousarray(self.values[system, :, 0]) for system in (0, 1)
        )

    def compare(self, flips: int) -> fr.types.Comparison:
        """The randomization tests of all pairs."""
        return fr.compare_scores(
            self.scores, test="randomization", resamples=flips, interval="none", exact_up_to=0
        )

    def scipy(self, flips: int) -> float:
        """The p-value of the first two systems by scipy."""
        found = stats.permutation_test(
            (self.first - self.second,),
            lambda x, axis: x.mean(axis=axis),
            vectorized=True,
            permutation_type="samples",
            n_resamples=flips,
            rng=np.random.default_rng(SEED),
        )
        return float(found.pvalue)

    def ranx(self, flips: int) -> float:
        """The p-value of the first two systems by ranx."""
        module = pytest.importorskip("ranx.statistical_tests.fisher_randomization_test")
        p, _ = module.fisher_randomization_test(
            self.first, self.second, n_permutations=flips, random_seed=SEED
        )
        return float(p)


@pytest.fixture(scope="module")
def flips(request: pytest.FixtureRequest) -> int:
    return 2_000 if request.config.getoption("benchmark_disable") else FLIPS


@pytest.fixture(scope="module")
def large() -> Case:
    return Case(100, 250, 1)


def _check(benchmark: Any, case: Case, found: float, flips: int) -> None:
    """The p-value is that of the t-test, as both tests agree here, up to chance."""
    expected = float(stats.ttest_rel(case.first, case.second).pvalue)
    error = np.sqrt(expected * (1 - expected) / flips)
    benchmark.extra_info["correct"] = bool(abs(found - expected) < 5 * error + 0.002)
    assert benchmark.extra_info["correct"]


@pytest.mark.benchmark(group="randomization")
def test_all_pairs_of_100_systems(benchmark: Any, large: Case, flips: int) -> None:
    found = benchmark.pedantic(large.compare, (flips,), rounds=3)

    assert len(found.pairs().columns["p"]) == 4950
    _check(benchmark, large, found.pair("m0", "s0", "s1").p, flips)


@pytest.mark.benchmark(group="randomization")
def test_one_pair(benchmark: Any, large: Case, flips: int) -> None:
    pair = Case(2, 250, 1)
    pair.scores = {name: large.scores[name] for name in ("s0", "s1")}

    found = benchmark.pedantic(pair.compare, (flips,), rounds=3)

    _check(benchmark, large, found.pair("m0", "s0", "s1").p, flips)


@pytest.mark.benchmark(group="randomization")
def test_one_pair_by_scipy(benchmark: Any, large: Case, flips: int) -> None:
    found = benchmark.pedantic(large.scipy, (flips,), rounds=3)

    _check(benchmark, large, found, flips)


@pytest.mark.benchmark(group="randomization")
def test_one_pair_by_ranx(benchmark: Any, large: Case, flips: int) -> None:
    found = benchmark.pedantic(large.ranx, (flips,), rounds=3, warmup_rounds=1)

    _check(benchmark, large, found, flips)


@pytest.mark.benchmark(group="ten systems")
def test_ten_systems_and_four_measures(benchmark: Any, flips: int) -> None:
    case = Case(10, 200, 4)

    found = benchmark.pedantic(case.compare, (flips,), rounds=5)

    assert len(found.pairs().columns["p"]) == 4 * 45
    _check(benchmark, case, found.pair("m0", "s0", "s1").p, flips)


class Tables:
    """Values of systems on data sets as CSV files: the means of many, and the items of some."""

    def __init__(self, systems: int, datasets: int, items: int) -> None:
        rng = np.random.default_rng(SEED)
        shape = (systems, datasets, max(1, items))
        values = 0.5 + 0.002 * np.arange(systems)[:, None, None] + 0.1 * rng.standard_normal(shape)
        header = "system,dataset,item,value\n" if items else "system,dataset,value\n"
        cells = (
            f"s{s},d{d},{f'{i},' if items else ''}{value:.6f}\n"
            for (s, d, i), value in np.ndenumerate(values)
        )
        self.content, self.means = (header + "".join(cells)).encode(), values.mean(axis=2)

    def standings(self) -> fr.Table:
        """Who is first, by resampled data sets and the items of each, if there are any."""
        options: Any = {}
        if b"item" in self.content:
            options = {"interval": "percentile", "resample_queries": True}
        return fr.compare_datasets(io.BytesIO(self.content), **options).standings("value")


@pytest.mark.benchmark(group="tables of values")
@pytest.mark.parametrize(("systems", "datasets", "items"), [(181, 41, 0), (20, 8, 300)])
def test_standings_of_tables(benchmark: Any, systems: int, datasets: int, items: int) -> None:
    case = Tables(systems, datasets, items)

    found = benchmark.pedantic(case.standings, rounds=3)

    assert found.columns["mean"] == pytest.approx(sorted(case.means.mean(axis=1))[::-1], abs=1e-6)
