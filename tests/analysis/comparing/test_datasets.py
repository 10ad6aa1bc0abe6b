"""Systems compared over data sets."""

import numpy as np
import pytest
from scipy import stats

import fastrank as fr
from tests.helpers.comparisons import DATA, random_rows, scores_of

SETS = {f"set{size}": scores_of(random_rows(3, size, seed=size)) for size in range(5, 17)}


def test_each_data_set_counts_the_same_and_is_named_in_notes():
    found = fr.compare_datasets(SETS)

    means = [[np.mean(list(own[name].values())) for own in SETS.values()] for name in "abc"]
    assert found.queries == list(SETS)
    assert found.values("value") == pytest.approx(np.array(means), abs=1e-15)
    expected = stats.ttest_rel(means[0], means[1])
    assert found.pair("value", "a", "b").p == pytest.approx(expected.pvalue, rel=1e-10)
    assert found.notes == ["each data set counts as one query, with the mean of its queries"]
    sets = {
        "x": {"a": {"q1": 1.0, "q2": 0.5}, "b": {"q1": 0.5}},
        "y": {"a": {"q": 1}, "b": {"q": 0}},
    }
    notes = fr.compare_datasets(sets, queries="common").notes
    assert notes[1] == "x: compared on 1 of 2 queries: b lacks 1 (q2)"


def test_the_mean_is_that_of_mean_over_datasets():
    scores = fr.evaluate(DATA / "digits.qrels", DATA / "pca.run", "map FirstRank")
    groups = scores.by_group({query: int(query[1:]) % 3 for query in scores.queries})

    found = fr.compare_datasets({str(name): {"pca": own} for name, own in groups.items()})

    expected = fr.mean_over_datasets(groups)
    assert {name: own["pca"] for name, own in found.mean.items()} == pytest.approx(expected)
    assert found.better("FirstRank") == "lower"


def test_queries_are_resampled_within_the_data_sets_that_are_drawn():
    """Against numpy's generator; with both levels, intervals are wider."""
    rng, draws = np.random.default_rng(1), 20_000
    sizes = list(range(5, 17))
    differences = [
        np.array(list(own["a"].values())) - np.array(list(own["b"].values()))
        for own in SETS.values()
    ]
    drawn = rng.integers(0, len(sizes), (draws, len(sizes)))
    means = [
        np.mean([rng.choice(differences[place], sizes[place]).mean() for place in row])
        for row in drawn[:4000].tolist()
    ]

    found = fr.compare_datasets(SETS, resample_queries=True, interval="percentile", resamples=draws)

    pair = found.pair("value", "a", "b")
    assert (pair.low, pair.high) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.006)
    outer = fr.compare_datasets(SETS, interval="percentile", resamples=draws)
    assert pair.high - pair.low > 1.1 * (
        outer.pair("value", "a", "b").high - outer.pair("value", "a", "b").low
    )
    assert "intervals and ranks resample data sets, and the queries of each" in found.notes


def test_queries_that_are_all_alike_leave_the_intervals_of_data_sets():
    rows = random_rows(3, 9)
    sets = {f"set{d}": scores_of(np.repeat(rows[:, [d]], 3 + d, axis=1)) for d in range(9)}

    both, outer = (
        fr.compare_datasets(sets, interval="percentile", resample_queries=choice)
        for choice in (True, False)
    )

    for a, b in (("a", "b"), ("a", "c"), ("c", "b")):
        one, other = (own.pair("value", a, b) for own in (both, outer))
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-12)
        ratios = (own.relative_interval("value", a, b) for own in (both, outer))
        assert next(ratios) == pytest.approx(next(ratios), abs=1e-12)
    assert both.ranks("value").to_csv() == outer.ranks("value").to_csv()


def test_resampled_queries_do_not_depend_on_threads_or_the_order_of_systems():
    turned = {name: dict(reversed(own.items())) for name, own in SETS.items()}
    options = {"interval": "percentile", "resample_queries": True, "resamples": 500}

    mixed = {name: (turned if i % 2 else SETS)[name] for i, name in enumerate(SETS)}

    found = [
        fr.compare_datasets(given, threads=threads, **options)
        for given, threads in ((SETS, 1), (SETS, 8), (turned, 2), (mixed, 2))
    ]

    assert len({repr(own.pair("value", "a", "c")) for own in found}) == 1
    assert len({own.interval_of("value", "b") for own in found}) == 1
    assert all(own.mean == found[0].mean for own in found)
    assert sum(found[0].ranks("value").columns["p_best"]) == pytest.approx(1.0)


def test_a_data_set_without_a_query_of_all_systems_is_not_used():
    bad = {"a": {"q1": 0.5, "q2": None}, "b": {"q1": None, "q2": 0.5}, "c": {"q1": 1, "q2": 1}}

    for choice in (True, False):
        found, expected = (
            fr.compare_datasets(given, interval="percentile", resample_queries=choice)
            for given in ({**SETS, "bad": bad}, SETS)
        )
        assert found.mean == expected.mean
        one, other = (own.pair("value", "a", "b") for own in (found, expected))
        assert one[3:-1] == pytest.approx(other[3:-1], rel=1e-12)
        assert found.notes[-1].startswith("bad: value: a has no value for 1 of 2 queries (q2)")
