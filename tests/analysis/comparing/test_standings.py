"""Who is first, and how surely: the standings of systems on one data set, and on several."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import fastrank as fr
from fastrank.errors import MeasureError, OptionError

Values = dict[str, dict[str, dict[str, float]]]


def per_query(systems: int = 6, datasets: int = 4, queries: int = 30) -> Values:
    """Values of systems, each 0.01 better than the one before it, with noise."""
    rng = np.random.default_rng(0)
    found: Values = {}
    for dataset in range(datasets):
        hard = rng.normal(0.5, 0.1, queries)
        found[f"d{dataset}"] = {
            f"s{system}": {
                f"q{query}": value
                for query, value in enumerate(
                    (hard + 0.01 * system + rng.normal(0, 0.05, queries)).tolist()
                )
            }
            for system in range(systems)
        }
    return found


def arrays_of(values: Values) -> list[dict[str, np.ndarray]]:
    return [
        {name: np.array(list(own.values())) for name, own in dataset.items()}
        for dataset in values.values()
    ]


def test_ranks_and_groups_are_those_of_other_programs():
    """Ranks and means of numpy; systems share a letter as scipy's t-test has it."""
    values = per_query()

    found = fr.compare_datasets(values, test="t", correction="none").standings("value")

    means = {
        name: np.array([own[name].mean() for own in arrays_of(values)]) for name in values["d0"]
    }
    ranked = sorted(means, key=lambda name: -means[name].mean())
    assert found.columns["system"] == ranked
    assert found.columns["rank"] == [1, 2, 3, 4, 5, 6]
    assert found.columns["mean"] == pytest.approx([means[name].mean() for name in ranked])
    groups = dict(zip(ranked, found.columns["group"], strict=True))
    for one in ranked:
        for other in ranked:
            is_alike = one == other or scipy.stats.ttest_rel(means[one], means[other]).pvalue > 0.05
            assert bool({*groups[one]} & {*groups[other]}) == is_alike


@pytest.mark.parametrize(("test", "p", "last"), [("randomization", 14 / 128, 2), ("t", 0.04837, 1)])
def test_a_rank_is_certain_only_if_p_says_so(test, p, last):
    """Six queries favor a, one b: of 128 flips, 14 are as extreme; scipy has p of t."""
    systems = {"a": [0.62, 0.6, 0.6, 0.6, 0.6, 0.58, 0.4], "b": [0.5] * 7, "c": [0.1] * 7}
    values = {name: {f"q{i}": value for i, value in enumerate(systems[name])} for name in systems}

    found = fr.compare_scores(values, test=test)

    assert found.pair("value", "a", "b").p == pytest.approx(p, rel=1e-4)
    assert found.ranks("value").columns["low"] == [1, 3 - last, 3]
    assert found.ranks("value").columns["high"] == [last, 2, 3]


def test_bounds_of_ranks_resample_queries_within_data_sets():
    """A plain bootstrap in numpy gives nearly the same bounds."""
    values = per_query(systems=5, datasets=6)
    compared = fr.compare_datasets(values, resample_queries=True, interval="percentile")
    found = compared.standings("value")
    rng, names = np.random.default_rng(1), found.columns["system"]
    arrays = [np.array([own[name] for name in names]) for own in arrays_of(values)]
    ranks = []
    for _ in range(2000):
        drawn = [arrays[i] for i in rng.integers(len(arrays), size=len(arrays))]
        means = sum(own[:, rng.integers(own.shape[1], size=own.shape[1])].mean(1) for own in drawn)
        ranks.append(scipy.stats.rankdata(-means, method="min"))

    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="nearest")

    assert np.abs(low - found.columns["low"]).max() <= 1
    assert np.abs(high - found.columns["high"]).max() <= 1
    assert (low != high).any()


def test_what_is_needed_is_what_the_table_of_power_says():
    compared = fr.compare_datasets(per_query())

    found = compared.standings("value", power=0.9).columns

    power = compared.power("value", power=0.9).columns
    queries = {
        frozenset(pair): count
        for *pair, count in zip(power["a"], power["b"], power["queries"], strict=True)
    }
    first, *others = found["system"]
    assert found["needed"] == [None, *(queries[frozenset((first, own))] for own in others)]
    with pytest.raises(OptionError, match="power"):
        compared.standings("value", power=1)


def test_what_cannot_be_known_is_none():
    """Of a single data set there is only one resample; equal differences have no variance."""
    found = fr.compare_datasets({"x": {"a": {"": 1.0}, "b": {"": 0.5}, "c": {"": 0.5}}})

    assert list(found.standings("value").rows()) == [
        ("a", 1.0, 1, None, None, None, None),
        ("b", 0.5, 2, None, None, None, None),
        ("c", 0.5, 2, None, None, None, None),
    ]
    shifted = {name: {f"q{i}": i + add for i in range(5)} for name, add in (("a", 1), ("b", 0))}
    assert fr.compare_scores(shifted).standings("value").columns["needed"] == [None, None]


def test_many_groups_are_left_out():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 1, (40, 200))
    rows = {
        f"s{i}": {f"q{j}": 0.25 * i + noise[i, j] for j in range(200)} for i in range(len(noise))
    }

    found = fr.compare_scores(rows, correction="none").standings("value", resamples=100)

    assert found.columns["group"] == [None] * 40
    assert found.columns["low"][0] == 1


def test_a_baseline_is_an_error():
    with pytest.raises(OptionError, match="standings needs all pairs"):
        fr.compare_datasets(per_query(), baseline="s0").standings("value")
    with pytest.raises(MeasureError, match="not compared"):
        fr.compare_datasets(per_query()).standings("map")
