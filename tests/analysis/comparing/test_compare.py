"""Which values are compared, under which names, on which queries; what a comparison answers."""

from __future__ import annotations

import math
import pickle
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.analysis.comparing import groups
from fastrank.errors import MeasureError
from tests.helpers.comparisons import (
    DATA,
    NAMES,
    compare_data,
    compared,
    data_scores,
    pair_of,
    random_rows,
    scores_of,
)
from tests.helpers.strategies import examples
from tests.helpers.tables import giving

QRELS = {f"q{i:02d}": {"a": 1, "b": 0} for i in range(12)}
GOOD = {query: {"a": 2.0, "b": 1.0} for query in QRELS}
BAD = {query: {"b": 2.0, "a": 1.0} for query in QRELS}
OTHER = {f"x{query}": docs for query, docs in GOOD.items()}
FOUND = {query: {"a": 1.0} for query in QRELS}
TESTS = ["t", "randomization", "wilcoxon", "sign", "tukey", "bootstrap"]
INTERVALS = ["t", "percentile", "bca", "studentized"]


def without(run: dict[str, Any], *queries: str) -> dict[str, Any]:
    return {query: docs for query, docs in run.items() if query not in queries}


def test_runs_are_evaluated_on_the_same_queries():
    runs = [DATA / f"{name}.run" for name in NAMES]

    found = fr.compare(DATA / "digits.qrels", runs, "map P.10")

    assert (found.names, found.measures) == (list(NAMES), ["map", "P_10"])
    assert found.queries == sorted(found.queries, key=str.encode)
    scores = fr.evaluate(DATA / "digits.qrels", DATA / "pca.run", "map P.10")
    assert found.mean["map"]["pca"] == scores.mean["map"]
    assert found.values("P_10")[1].tolist() == scores["P_10"].tolist()


SHORT = {"x": without(GOOD, "q05"), "y": without(BAD, "q01", "q03")}
ONE_SHORT = {"x": BAD, "y": without(BAD, "q01")}
COUNTED = "(missing='zero' counts it as 0)", "(missing='zero' counts them as 0)"


def compare(runs: Any, measures: str = "map", **options: Any) -> fr.types.Comparison:
    return fr.compare(QRELS, runs, measures, **options)


test_missing_queries_are_left_out_or_count_as_zero_and_are_named = giving("""
compare(SHORT).queries => [query for query in QRELS if query not in ("q01", "q03", "q05")]
compare(SHORT).notes[0]
    => f"x lacks 1 of 12 judged queries (q05); it is left out {COUNTED[0]}"
compare(SHORT).notes[1]
    => f"y lacks 2 of 12 judged queries (q01, q03); they are left out {COUNTED[1]}"
compare({"x": GOOD, "y": SHORT["y"]}, missing="zero").pair("map", "x", "y").n => 12
compare({"x": GOOD, "y": SHORT["y"]}, missing="zero").mean["map"]["y"] => approx(5 / 12)
compare({"x": GOOD, "y": SHORT["y"]}, missing="zero").notes[0]
    => "y lacks 2 of 12 judged queries (q01, q03); they count as 0"
compare(ONE_SHORT, "FirstRank", missing="zero").pair("FirstRank", "x", "y").n => 11
compare(ONE_SHORT, "FirstRank map", missing="zero").notes[2] => "y lacks 1 of 12 judged queries
    (q01); it counts as 0, except in FirstRank, which has no value"
"Hole@5: lower values are better, and missing queries are 0" in
    compare(ONE_SHORT, "Hole@5 FirstRank", missing="zero").notes => True
compare({"x": GOOD, "y": OTHER}, missing="zero").notes[0]
    => "y lacks 12 of 12 judged queries (q00, q01, q02, q03, q04, ...); they count as 0"
len(fr.compare_scores(fr.evaluate(QRELS, [GOOD, SHORT["x"]], "map"), queries="common").queries)
    => 11
""")

FORWARD, BACKWARD = {"q1": 0.1, "q2": 0.2, "q3": 0.3}, {"q3": 0.3, "q2": 0.2, "q1": 0.1}
RANKED = compare({"good": GOOD, "bad": BAD}, "FirstRank")
COUNTS = compare({"x": GOOD, "y": FOUND}, "num_ret")
THRICE = compare([GOOD, GOOD, BAD], names=["x", "x", "y"])
ALONE = compare([GOOD], names=["x"])
DROPPED = [[0.5, math.nan, 0.4, 0.2], [0.1, 0.1, 0.1, 0.1], [0.1, 0.3, 0.2, 0.2]]
OF_PYTREC_EVAL = fr.compare_scores(
    {
        "x": fr.evaluate(QRELS, GOOD, "map P.5").to_dict(),
        "y": fr.evaluate(QRELS, BAD, "map P.5").to_dict(),
    }
)
POOLED = "the mean shown is over queries; `evaluate` gives the"

test_systems_and_queries_are_aligned_and_measures_say_what_is_better = giving("""
compare_scores({"a": FORWARD, "b": BACKWARD}).pair("value", "a", "b").ties => 3
THRICE.names => ["x", "x (2)", "y"]
THRICE.notes[0] => "systems with equal names are numbered: x (2)"
OF_PYTREC_EVAL.measures => ["map", "P_5"]
OF_PYTREC_EVAL.pair("map", "x", "y").difference => 0.5
"map" in compare([GOOD, BAD], "official").measures => True
{"gm_map", "num_q", "runid"} & {*compare([GOOD, BAD], "official").measures} => set()
f"MedianRank: {POOLED} median" in compare([GOOD, BAD], "MedianRank").notes => True
f"num_rel_ret: {POOLED} sum" in compare([GOOD, BAD], "num_rel_ret").notes => True
RANKED.better("FirstRank") => "lower"
RANKED.best("FirstRank") => "good"
RANKED.pair("FirstRank", "good", "bad").difference => -1.0
RANKED.pair("FirstRank", "good", "bad").wins => 12
RANKED.pair("FirstRank", "good", "bad").losses => 0
RANKED.beaten("FirstRank", "good") => ["bad"]
COUNTS.pair("num_ret", "x", "y").difference => 1.0
COUNTS.pair("num_ret", "x", "y").wins => None
COUNTS.pair("num_ret", "x", "y").losses => None
COUNTS.beaten("num_ret", "x") => []
ALONE.mean => {"map": {"x": 1.0}}
len(ALONE.pairs()) => 0
ALONE.notes => ["one system: there is nothing to compare it with"]
[compared(DROPPED).pair("value", *pair).n for pair in ("ab", "ac", "bc")] => [3, 3, 4]
[compared(DROPPED, test="tukey").pair("value", *pair).n for pair in ("ab", "ac", "bc")] => [3, 3, 3]
""")


def test_user_defined_measures_say_what_is_better():
    def first_hit(ranking: fr.types.Ranking) -> float:
        return float(ranking.ranks[ranking.grades >= ranking.level][0])

    fr.measure(first_hit, better="lower")

    assert compare([GOOD, BAD], "first_hit").better("first_hit") == "lower"


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("long", [True, False])
def test_frames_can_be_compared(library, long):
    frames = pytest.importorskip(library)
    columns: dict[str, list[Any]] = {"system": [*"aabb"], "qid": [*"1221"]}
    values = [0.2, 0.4, 0.6, 0.8]
    columns |= {"measure": ["P_5"] * 4, "value": values} if long else {"P_5": values}

    found = fr.compare_scores(frames.DataFrame(columns))

    assert found.values("P_5").tolist() == [[0.2, 0.4], [0.8, 0.6]]


def test_values_in_a_file_or_in_rows_can_be_compared(tmp_path):
    """The file is what `fastrank eval -q --format csv` writes."""
    rows = [("a", "1", 0.2), ("a", "2", 0.4), ("b", "2", 0.6), ("b", "1", 0.8)]
    lines = [f"{system},{query},P_5,{value}\n" for system, query, value in rows]
    (tmp_path / "values.csv").write_text("run,query,measure,value\n" + "".join(lines))
    records = [{"run": system, "query": query, "P_5": value} for system, query, value in rows]
    columns = {name: [row[name] for row in records] for name in records[0]}

    for scores in (tmp_path / "values.csv", records, columns):
        assert fr.compare_scores(scores).values("P_5").tolist() == [[0.2, 0.4], [0.8, 0.6]]


def test_a_comparison_can_be_pickled():
    found = compare_data(interval="percentile", resamples=100)

    again = pickle.loads(pickle.dumps(found))

    assert str(again) == str(found)
    assert again.pairs().to_csv() == found.pairs().to_csv()


def test_of_a_turned_pair_the_signs_are_turned():
    found = compare_data()

    one, other = found.pair("map", "pixels", "pca"), found.pair("map", "pca", "pixels")

    assert (other.difference, other.low, other.high) == (-one.difference, -one.high, -one.low)
    assert (other.wins, other.losses) == (one.losses, one.wins)
    assert (other.statistic, other.effect) == (-one.statistic, -one.effect)
    assert (other.p, other.p_adjusted) == (one.p, one.p_adjusted)
    assert other.relative == pytest.approx(other.mean_a / other.mean_b - 1)


DATA_COMPARED, ON_PCA, ON_PROFILE = (
    compare_data(**options) for options in ({}, {"baseline": "pca"}, {"baseline": "profile"})
)
PIXELS, PCA, PROFILE = data_scores().values()
ON_TWO = compare_data(baseline=["pca", "pixels"]).pairs("map").columns
APART = [(i, j) for j in range(29) for i in range(j - 1)]

test_baselines_largest_differences_and_letters = giving("""
compare_data(baseline=1).baseline => ["pca"]
compare_data(baseline=-2).baseline => ["pca"]
compare_data(baseline=["pca"]).baseline => ["pca"]
ON_PCA.baseline => ["pca"]
ON_PCA.pairs("map").columns["a"] => ["pixels", "profile"]
ON_PCA.pairs("map").columns["b"] => ["pca", "pca"]
list(zip(ON_TWO["a"], ON_TWO["b"]))
    => [("pixels", "pca"), ("profile", "pca"), ("profile", "pixels")]
DATA_COMPARED.queries_of("map", "pixels", "pca").columns["query"][0] => "q0819"
DATA_COMPARED.queries_of("map", "pixels", "pca").columns["difference"]
    => sorted(DATA_COMPARED.queries_of("map", "pixels", "pca").columns["difference"])[::-1]
DATA_COMPARED.largest("map").columns
    => DATA_COMPARED.largest("map", pair=["pixels", "pca"]).columns
ON_PROFILE.largest("map", 1).names => ["query", "pixels", "profile", "difference"]
ON_PROFILE.largest("map", 1, pair=("pixels", "pca")).names[1:3] => ["pixels", "pca"]
DATA_COMPARED.largest("map", 7, pair=("pixels", "pca")).columns
    => (PIXELS - PCA).largest("map", 7).columns
DATA_COMPARED.largest("map", 7, pair=("profile", "pca")).columns
    => (PROFILE - PCA).largest("map", 7).columns
DATA_COMPARED.letters("map") => {"pixels": "a", "pca": "b", "profile": "b"}
DATA_COMPARED.letters("recip_rank") => {"pixels": "a", "pca": "b", "profile": "a"}
DATA_COMPARED.tied_with_best("recip_rank") => ["pixels", "profile"]
groups.letter_display(groups.alike([0, 1, 2], [(0, 2)])) => {0: "a", 1: "ab", 2: "b"}
groups.letter_display(groups.alike([2, 0, 1], [(0, 1), (2, 1), (0, 2)])) => {2: "a", 0: "b", 1: "c"}
groups.letter_display(groups.alike(range(27), APART[:-53]))[25] => "yz"
[groups.letter_display(groups.alike(range(29), APART))[i] for i in (0, 1, 26, 28)]
    => ["a", "a,b", "z,aa", "ab"]
""")


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda own: own[0] < own[1])))
@examples(60)
def test_groups_are_the_largest_sets_without_a_pair_that_differs(different):
    fitting = [
        set(own)
        for size in range(1, 8)
        for own in combinations(range(7), size)
        if not different & set(combinations(own, 2))
    ]
    largest = [own for own in fitting if not any(own < other for other in fitting)]

    assert groups.alike(range(7), different) == sorted(map(sorted, largest))


# Queries for which some systems have no value (NaN).


def on_the_hard_query_only_a_has_a_value() -> Any:
    """a is better than b on all queries that both have; its mean over all is lower."""
    rows = np.repeat([[0.53], [0.5], [0.3]], 12, axis=1) + 0.01 * random_rows(3, 12)
    rows[0, 0], rows[1, 0] = 0.0, math.nan
    assert rows[0].mean() < np.nanmean(rows[1])
    return scores_of(rows)


GAPS: dict[str, dict[str, Any]] = scores_of(random_rows(3, 12))
GAPS["b"]["q003"], GAPS["c"]["q007"] = math.nan, None
HARD = fr.compare_scores(on_the_hard_query_only_a_has_a_value())
MEANS = {name: f"{mean:.4f}" for name, mean in HARD.mean["value"].items()}

test_the_best_system_is_that_of_the_queries_with_values_of_all = giving("""
compare_scores(GAPS).notes => ["value: b has no value for 1 of 12 queries (q003), c for 1 (q007); a
    pair is compared on the queries with values of both; means are over the 10 queries with values
    of all systems"]
HARD.best("value") => "a"
HARD.ranked("value") => ["a", "b", "c"]
HARD.tied_with_best("value") => ["a"]
HARD.letters("value") => {"a": "a", "b": "b", "c": "c"}
HARD.ranks("value").columns["system"] => ["a", "b", "c"]
f"**{MEANS['a']}**" in HARD.to_markdown(underline=True) => True
f"<u>{MEANS['b']}</u>" in HARD.to_markdown(underline=True) => True
HARD.table().bold => {(0, 1)}
""")


@pytest.mark.parametrize("interval", INTERVALS)
def test_means_and_intervals_are_those_of_the_queries_with_values_of_all(interval):
    scores = on_the_hard_query_only_a_has_a_value()
    kept = {name: without(own, "q000") for name, own in scores.items()}

    found, expected = (fr.compare_scores(own, interval=interval) for own in (scores, kept))

    assert found.mean == expected.mean
    for name in "abc":
        bounds = found.interval_of("value", name)
        assert bounds == pytest.approx(expected.interval_of("value", name), rel=1e-12)
    assert found.values("value").shape == (3, 12)


@pytest.mark.parametrize(("test", "names"), [("t", "ab"), ("tukey", "abc")])
def test_two_systems_and_tests_of_all_use_the_queries_of_all(test, names):
    scores = on_the_hard_query_only_a_has_a_value()

    found = fr.compare_scores({name: scores[name] for name in names}, test=test)

    mean = found.mean["value"]
    for a, b in combinations(names, 2):
        pair = found.pair("value", a, b)
        assert pair.n == 11
        assert pair.difference == pytest.approx(mean[a] - mean[b])
    assert found.notes[0] == (
        "value: b has no value for 1 of 12 queries (q000); only the 11 queries with values of all"
        " systems are used"
    )


@pytest.mark.parametrize("test", ["t", "tukey"])
def test_without_a_query_with_values_of_all_no_system_is_the_best(test):
    rows = random_rows(3, 12)
    rows[1, :6], rows[2, 6:] = math.nan, math.nan

    found = compared(rows, test=test)

    said = "no query has values of all systems, so the means cannot be compared"
    assert found.notes[0].endswith(said)
    assert found.ranked("value") == ["a", "b", "c"]
    assert "**" not in found.to_markdown()
    assert not found.table().bold
    for method in (found.best, found.tied_with_best, found.ranks):
        with pytest.raises(MeasureError, match="'value': no query has values of all systems"):
            method("value")


def test_a_run_that_finds_nothing_is_not_the_best_in_first_rank():
    """Without a relevant document, FirstRank has no value: its mean is of the easy queries."""
    runs = {name: fr.read_run(DATA / f"{name}.run").to_dict() for name in ("pixels", "pca")}
    short = {query: {max(own, key=own.get): 1.0} for query, own in runs["pca"].items()}

    found = fr.compare(
        DATA / "digits.qrels", {"pixels": runs["pixels"], "short": short}, "FirstRank"
    )

    pair, mean = found.pair("FirstRank", "pixels", "short"), found.mean["FirstRank"]
    assert pair.n < 200
    assert mean == {"pixels": pytest.approx(pair.mean_a), "short": 1.0}
    assert f"only the {pair.n} queries with values of all systems are used" in found.notes[1]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("interval", ["t", "percentile", "studentized"])
def test_a_pair_without_a_query_with_values_of_both_has_no_p(test, interval):
    nan = math.nan

    pair = pair_of([1, 2, nan], [nan, nan, 4], test=test, interval=interval)

    assert pair.n == 0
    assert all(map(math.isnan, (pair.p, pair.p_adjusted, pair.low, pair.high)))
    assert pair.note == "no query has values of both: no test is possible"


# Values of any size, and queries of any number.


@pytest.mark.parametrize("interval", INTERVALS)
def test_one_query_has_no_interval(interval):
    found = compared([[0.25], [0.5]], interval=interval)

    reason = "there is one query; a p of 0.05 for 1 pair needs at least 2 queries"
    assert found.notes == [f"nothing can be significant: {reason}"]
    pair = found.pair("value", "a", "b")
    assert all(map(math.isnan, (pair.low, pair.high, *found.interval_of("value", "a"))))
    assert pair.note == "one query: no test is possible"


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("largest", [1e100, 1e-12, 1e-200, 5e-324])
def test_results_of_values_of_any_size_are_finite(test, interval, largest):
    found = compared(largest * random_rows(2, 12), test=test, interval=interval, resamples=100)

    pair = found.pair("value", "a", "b")
    assert all(map(math.isfinite, (pair.difference, pair.low, pair.high, pair.p, pair.p_adjusted)))
    assert all(map(math.isfinite, found.interval_of("value", "a")))


test_differences_that_are_no_or_one_difference_are_noted = giving("""
pair_of(*1e-14 * random_rows(2, 12)).p => 1.0
pair_of(*1e-14 * random_rows(2, 12)).ties => 12
pair_of(*1e-14 * random_rows(2, 12)).note => "identical on every query, up to 12 decimals"
pair_of([1], [2], test="sign").note => "cannot be significant: only 1 of 1 query differs"
pair_of([1, 5, 5, 5, 5], [2, 5, 5, 5, 5], test="sign").note
    => "cannot be significant: only 1 of 5 queries differs"
math.isnan(pair_of([0, 1], [0, 0], interval="studentized", resamples=1).low) => True
math.isnan(pair_of([0, 1], [0, 0], interval="studentized", resamples=1).high) => True
pair_of([0, 1], [0, 0], interval="studentized", resamples=1).note.partition(";")[0].partition(":")
    => ("no resample has variance", ":", " there is no interval")
""")


def test_queries_of_clusters_may_be_integers():
    values = {name: {str(q): q + gain for q in range(12)} for name, gain in (("a", 1), ("b", 0))}
    compared = fr.compare_scores(
        values,
        test="randomization",
        interval="percentile",
        clusters={query: query // 3 for query in range(12)},
    )

    # Of the signs of four clusters, two choices are as extreme.
    assert compared.pair("value", "a", "b").p == 2 / 2**4
