"""`tune_fusion`: folds, grids, and values on held-out queries."""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import fastrank as fr
from fastrank.analysis.fusion.grids import compositions, grid_points
from fastrank.analysis.fusion.tuning import folds_of
from tests.analysis.fusion.cases import tuning_case
from tests.core.kernels.test_resampling import word_of
from tests.helpers.paths import DATA

QRELS, PCA, PROFILE = (str(DATA / name) for name in ("digits.qrels", "pca.run", "profile.run"))


@pytest.mark.parametrize(("runs", "steps", "count"), [(3, 10, 66), (4, 10, 286), (3, 100, 5151)])
def test_no_weights_are_left_out(runs, steps, count):
    """As many as there are; a test for a sum of 1.0 in floats misses some."""
    points = grid_points("convex", {"weights": steps}, runs)

    weights = {tuple(point["weights"]) for point in points}
    assert len(points) == len(weights) == count
    assert all(round(sum(one) * steps, 6) == steps for one in weights)
    assert {math.fsum(one) for one in weights} <= {1.0, 1 - 2**-53, 1 + 2**-52}


def test_compositions_are_in_ascending_order():
    found = list(compositions(4, 3))

    assert found == sorted(found)
    assert list(compositions(3, 1)) == [[3]]


@pytest.mark.parametrize(("count", "folds", "seed"), [(10, 5, 0), (7, 3, 42)])
def test_folds_are_a_shuffle_by_the_words_of_the_seed(count, folds, seed):
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = (word_of(seed, 4, i) >> 32) * (i + 1) >> 32
        order[i], order[j] = order[j], order[i]

    assert folds_of(count, folds, seed) == [order.index(query) % folds for query in range(count)]


def test_folds_differ_in_size_by_one_at_most():
    found = folds_of(23, 5, 7)

    assert sorted(found.count(fold) for fold in range(5)) == [4, 4, 5, 5, 5]


@pytest.mark.parametrize("method", ["convex", "rrf"])
def test_each_query_is_fused_with_the_best_options_on_the_other_folds(method):
    qrels, runs = tuning_case()
    grid = {"weights": 2} if method == "convex" else {"rrf_k": [0, 5, 50]}

    tuning = fr.tune_fusion(qrels, runs, "ndcg", method, grid=grid, folds=3, seed=5)

    points = grid_points(method, grid, 3)
    scores = [fr.evaluate(qrels, fr.fuse(runs, method, **point), "ndcg") for point in points]
    queries = scores[0].queries
    fold_of = folds_of(len(queries), 3, 5)
    held_out = []
    for i in range(len(queries)):
        others = [j for j in range(len(queries)) if fold_of[j] != fold_of[i]]
        means = [round(sum(own["ndcg"][j] for j in others), 9) for own in scores]
        best = means.index(max(means))
        held_out.append(scores[best]["ndcg"][i])
        expected = fr.fuse(runs, method, **points[best])
        assert tuning.run[queries[i]] == expected[queries[i]]
    assert tuning.held_out_mean == pytest.approx(sum(held_out) / len(held_out), rel=1e-12)
    means = [own.mean["ndcg"] for own in scores]
    assert tuning.params == points[means.index(max(means))]
    assert tuning.tuned_mean == max(means)
    assert tuning.grid.columns["ndcg"] == means


def test_options_fuse_other_queries_in_the_same_way():
    qrels, runs = tuning_case()
    options = {"normalization": "z", "keep": 5, "tag": "tuned"}

    tuning = fr.tune_fusion(qrels, runs, "map", grid={"weights": 2}, folds=4, **options)

    fused = fr.fuse(runs, **tuning.options)
    assert tuning.options.keys() == {"method", "normalization", "keep", "tag", "weights"}
    assert fr.evaluate(qrels, fused, "map").mean["map"] == tuning.tuned_mean
    assert fused.tag == tuning.run.tag == "tuned"
    assert tuning.held_out_mean == fr.evaluate(qrels, tuning.run, "map").mean["map"]
    assert list(tuning.run) == sorted(qrels)
    assert tuning.per_fold.columns["queries"] == [3, 3, 3, 3]


RUN = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(4)}
TURNED = {query: {"b": 2.0, "a": 1.0} for query in RUN}
RELEVANT = {query: {"a": 1} for query in RUN}


def test_the_first_of_equal_points_is_the_best():
    grid = {"rrf_k": [30, 10, 20]}

    tuning = fr.tune_fusion(RELEVANT, [RUN, RUN], "map", "rrf", grid=grid, folds=2)

    assert tuning.params == {"rrf_k": 30}
    assert tuning.per_fold.columns["rrf_k"] == [30, 30]


def test_lower_values_are_better_for_measures_of_effort():
    grid = {"weights": 1}

    tuning = fr.tune_fusion(RELEVANT, [RUN, TURNED], "FirstRank", grid=grid, folds=2)

    assert tuning.params == {"weights": [1.0, 0.0]}


@pytest.mark.parametrize("measure", ["FirstRank", "PairAccuracy"])
def test_options_without_a_value_are_not_the_best(measure):
    """Of the fused runs, the first has no relevant document."""
    tuning = fr.tune_fusion(
        RELEVANT, [TURNED, TURNED], measure, "rrf", grid={"keep": [1, 2]}, folds=2
    )

    assert math.isnan(tuning.grid.columns[measure][0])
    assert tuning.params == {"keep": 2}


def test_a_grid_may_have_any_options_or_list_its_points():
    qrels, runs = tuning_case()
    grid = {"normalization": ["min-max", "z"], "unretrieved": ["zero", "min"]}
    points = [{"rrf_k": 5}, {"rrf_k": 5, "weights": [1, 2, 3]}]

    tuning = fr.tune_fusion(qrels, runs, "map", "combsum", grid=grid, folds=2)
    listed = fr.tune_fusion(qrels, runs, "map", "rrf", grid=points, folds=2)

    assert tuning.grid.columns["normalization"] == ["min-max", "min-max", "z", "z"]
    assert tuning.grid.columns["unretrieved"] == ["zero", "min", "zero", "min"]
    assert listed.grid.columns["weights"] == ["", "1 2 3"]


@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_makes_no_difference(make):
    qrels, runs = tuning_case()
    alone = fr.tune_fusion(qrels, runs, "map", grid={"weights": 3}, folds=3)

    with make(2) as executor:
        found = fr.tune_fusion(qrels, runs, "map", grid={"weights": 3}, folds=3, executor=executor)

    assert found.grid.columns == alone.grid.columns
    assert found.run.to_dict() == alone.run.to_dict()
    assert found.held_out_mean == alone.held_out_mean


def test_judged_queries_that_all_runs_lack_are_left_out():
    qrels, runs = tuning_case(6)
    for run in runs:
        del run["q3"]
    runs[0]["unjudged"] = {"d1": 1.0}
    notes: list[str] = []

    tuning = fr.tune_fusion(qrels, runs, "map", grid={"weights": 1}, folds=2, warn=notes.append)

    found = fr.evaluate(qrels, tuning.run, "map")
    assert notes == ["the fused run lacks 1 of 6 judged queries (q3); it is left out"]
    assert sorted(tuning.run) == ["q0", "q1", "q2", "q4", "q5"]
    assert sum(tuning.per_fold.columns["queries"]) == 5
    assert tuning.held_out_mean == found.mean["map"]


def test_files_are_tuned_and_the_repr_says_how_well():
    tuning = fr.tune_fusion(QRELS, {"pca": PCA, "profile": PROFILE}, "P_10", "rrf", folds=2)

    assert repr(tuning).startswith("<FusionTuning of rrf: P_10 0.9")
    assert tuning.measure == "P_10"
    assert tuning.grid.columns["rrf_k"] == [*range(10, 101, 10)]
