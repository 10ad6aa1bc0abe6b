"""Systems compared over data sets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import fastrank as fr
from tests.helpers.comparisons import DATA, random_rows, scores_of

SETS = {f"set{size}": scores_of(random_rows(3, size, seed=size)) for size in range(5, 17)}


def test_each_data_set_counts_the_same() -> None:
    found = fr.compare_datasets(SETS)

    means = [[np.mean(list(own[name].values())) for own in SETS.values()] for name in "abc"]
    assert found.queries == list(SETS)
    assert found.values("value") == pytest.approx(np.array(means), abs=1e-15)
    expected = stats.ttest_rel(means[0], means[1])
    assert found.pair("value", "a", "b").p == pytest.approx(expected.pvalue, rel=1e-10)
    assert found.notes == ["each data set counts as one query, with the mean of its queries"]


def test_the_mean_is_that_of_mean_over_datasets() -> None:
    scores = fr.evaluate(DATA / "digits.qrels", DATA / "pca.run", "map FirstRank")
    groups = scores.by_group({query: int(query[1:]) % 3 for query in scores.queries})

    found = fr.compare_datasets({str(name): {"pca": own} for name, own in groups.items()})

    expected = fr.mean_over_datasets(groups)
    assert {name: own["pca"] for name, own in found.mean.items()} == pytest.approx(expected)
    assert found.better("FirstRank") == "lower"


def test_the_order_of_systems_may_differ() -> None:
    turned = {name: dict(reversed(own.items())) for name, own in SETS.items()}
    mixed = {name: (turned if i % 2 else SETS)[name] for i, name in enumerate(SETS)}

    assert fr.compare_datasets(mixed).mean == fr.compare_datasets(SETS).mean


def test_ranks_are_resampled_over_data_sets() -> None:
    table = fr.compare_datasets(SETS).ranks("value", resamples=500)

    assert sum(table.columns["p_best"]) == pytest.approx(1.0)


def test_notes_name_the_data_set() -> None:
    one, other = {"a": {"q1": 1.0, "q2": 0.5}, "b": {"q1": 0.5}}, {"a": {"q": 1}, "b": {"q": 0}}

    found = fr.compare_datasets({"x": one, "y": other}, queries="common")

    assert found.notes[1] == "x: compared on 1 of 2 queries: b lacks 1 (q2)"
    with pytest.raises(fr.GroupError, match="data set 'x': 'a' and 'b' have different queries"):
        fr.compare_datasets({"x": one, "y": other})


def test_data_sets_that_do_not_match_are_errors() -> None:
    one, other = {"a": {"q1": 1.0}}, {"b": {"q1": 1.0}}

    with pytest.raises(fr.GroupError, match="'x' and 'y' have different systems: only one has 'a'"):
        fr.compare_datasets({"x": one, "y": other})
    with pytest.raises(fr.MeasureError, match="different measures: only one has m"):
        fr.compare_datasets({"x": one, "y": {"a": {"q1": {"m": 1.0}}}})
    with pytest.raises(fr.GroupError, match="expected at least one data set"):
        fr.compare_datasets({})
    with pytest.raises(TypeError, match="data set: scores of systems}, found list"):
        fr.compare_datasets([one])  # type: ignore[arg-type]
