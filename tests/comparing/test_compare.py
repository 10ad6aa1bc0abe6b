"""Which values are compared, under which names, on which queries; what a comparison answers."""

from __future__ import annotations

import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.comparing.letters import alike, letter_display
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

QRELS = {f"q{i:02d}": {"a": 1, "b": 0} for i in range(12)}
GOOD = {query: {"a": 2.0, "b": 1.0} for query in QRELS}
BAD = {query: {"b": 2.0, "a": 1.0} for query in QRELS}
OTHER = {f"x{query}": docs for query, docs in GOOD.items()}
FOUND = {query: {"a": 1.0} for query in QRELS}
TESTS = ["t", "randomization", "wilcoxon", "sign", "tukey", "tukey-anova", "bootstrap"]
INTERVALS = ["t", "percentile", "bca", "studentized"]


def without(run: dict[str, Any], *queries: str) -> dict[str, Any]:
    return {query: docs for query, docs in run.items() if query not in queries}


def test_runs_are_evaluated_on_the_same_queries() -> None:
    runs = [DATA / f"{name}.run" for name in NAMES]

    found = fr.compare(DATA / "digits.qrels", runs, "map P.10")

    assert (found.names, found.measures) == (list(NAMES), ["map", "P_10"])
    assert found.queries == sorted(found.queries, key=str.encode)
    scores = fr.evaluate(DATA / "digits.qrels", DATA / "pca.run", "map P.10")
    assert found.mean["map"]["pca"] == scores.mean["map"]
    assert found.values("P_10")[1].tolist() == scores["P_10"].tolist()


def test_runs_can_be_evaluated_by_an_executor() -> None:
    with ThreadPoolExecutor(2) as executor:
        found = fr.compare(QRELS, {"x": GOOD, "y": BAD}, "map", executor=executor)

    assert found.mean["map"] == {"x": 1.0, "y": 0.5}


def test_missing_queries_can_count_as_zero() -> None:
    runs = {"x": GOOD, "y": without(GOOD, "q01", "q03")}

    found = fr.compare(QRELS, runs, "map", missing="zero")

    assert found.pair("map", "x", "y").n == 12
    assert found.mean["map"]["y"] == pytest.approx(10 / 12)
    assert found.notes == ["y lacks 2 of 12 judged queries (q01, q03); they count as 0"]


def test_missing_queries_are_left_out_for_all_runs_and_named() -> None:
    runs = {"x": without(GOOD, "q05"), "y": without(BAD, "q01", "q03")}

    found = fr.compare(QRELS, runs, "map")

    assert found.queries == [query for query in QRELS if query not in ("q01", "q03", "q05")]
    assert found.notes[:2] == [
        'x lacks 1 of 12 judged queries (q05); it is left out (missing="zero" counts it as 0)',
        "y lacks 2 of 12 judged queries (q01, q03); they are left out"
        ' (missing="zero" counts them as 0)',
    ]


@pytest.mark.parametrize(
    ("runs", "measures", "note"),
    [
        (
            {"x": GOOD, "y": without(GOOD, "q02")},
            "FirstRank map",
            "y lacks 1 of 12 judged queries (q02); it counts as 0, except in FirstRank, which has"
            " no value",
        ),
        (
            {"x": BAD, "y": without(BAD, "q01")},
            "Hole@5 FirstRank",
            "Hole@5: lower values are better, and missing queries are 0",
        ),
        (
            {"x": GOOD, "y": OTHER},
            "map",
            f"y lacks 12 of 12 judged queries ({', '.join(list(QRELS)[:5])}, ...); they count as 0",
        ),
        (
            [GOOD, BAD],
            "MedianRank num_rel_ret",
            "MedianRank: the mean shown is over queries; `evaluate` gives the median",
        ),
        (
            [GOOD, BAD],
            "MedianRank num_rel_ret",
            "num_rel_ret: the mean shown is over queries; `evaluate` gives the sum",
        ),
    ],
)
def test_a_note_says_how_values_came_about(runs: Any, measures: str, note: str) -> None:
    assert note in fr.compare(QRELS, runs, measures, missing="zero").notes


def test_of_a_missing_query_a_measure_may_have_no_value() -> None:
    runs = {"x": BAD, "y": without(BAD, "q01")}

    assert fr.compare(QRELS, runs, "FirstRank", missing="zero").pair("FirstRank", "x", "y").n == 11


def test_common_queries_can_be_compared() -> None:
    scores = [fr.evaluate(QRELS, run, "map") for run in (GOOD, without(GOOD, "q01"))]

    assert len(fr.compare_scores(scores, queries="common").queries) == 11


def test_queries_are_aligned_by_their_ids() -> None:
    forward = {"q1": 0.1, "q2": 0.2, "q3": 0.3}
    backward = dict(reversed(forward.items()))

    assert fr.compare_scores({"a": forward, "b": backward}).pair("value", "a", "b").ties == 3


def test_equal_names_are_numbered_and_noted() -> None:
    found = fr.compare(QRELS, [GOOD, GOOD, BAD], "map", names=["x", "x", "y"])

    assert found.names == ["x", "x (2)", "y"]
    assert found.notes[0] == "systems with equal names are numbered: x (2)"


@pytest.mark.parametrize("baseline", ["pca", 1, -2, ["pca"]])
def test_with_a_baseline_the_others_are_compared_with_it(baseline: Any) -> None:
    found = compare_data(baseline=baseline)

    assert found.baseline == ["pca"]
    columns = found.pairs("map").columns
    assert (columns["a"], columns["b"]) == (["pixels", "profile"], ["pca", "pca"])


def test_two_baselines_are_compared_with_each_other_once() -> None:
    table = compare_data(baseline=["pca", "pixels"]).pairs("map")

    pairs = list(zip(table.columns["a"], table.columns["b"], strict=True))
    assert pairs == [("pixels", "pca"), ("profile", "pca"), ("profile", "pixels")]


def test_a_set_of_measures_leaves_out_those_without_values_per_query() -> None:
    measures = fr.compare(QRELS, [GOOD, BAD], "official").measures

    assert "map" in measures
    assert not {"gm_map", "num_q", "runid"} & set(measures)


def test_of_ranks_lower_values_are_better() -> None:
    found = fr.compare(QRELS, {"good": GOOD, "bad": BAD}, "FirstRank")

    assert (found.better("FirstRank"), found.best("FirstRank")) == ("lower", "good")
    pair = found.pair("FirstRank", "good", "bad")
    assert (pair.difference, pair.wins, pair.losses) == (-1.0, 12, 0)
    assert found.beaten("FirstRank", "good") == ["bad"]


def test_of_counts_neither_value_is_better() -> None:
    found = fr.compare(QRELS, {"x": GOOD, "y": FOUND}, "num_ret")

    pair = found.pair("num_ret", "x", "y")
    assert (pair.difference, pair.wins, pair.losses) == (1.0, None, None)
    assert found.beaten("num_ret", "x") == []


def test_user_defined_measures_say_what_is_better() -> None:
    def first_hit(ranking: fr.types.Ranking) -> float:
        return float(ranking.ranks[ranking.grades >= ranking.level][0])

    fr.measure(first_hit, better="lower")

    assert fr.compare(QRELS, [GOOD, BAD], "first_hit").better("first_hit") == "lower"


def test_one_system_has_means_only() -> None:
    found = fr.compare(QRELS, [GOOD], "map", names=["x"])

    assert (found.mean["map"]["x"], len(found.pairs())) == (1.0, 0)
    assert found.notes == ["one system: there is nothing to compare it with"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("long", [True, False])
def test_frames_can_be_compared(library: str, long: bool) -> None:
    frames = pytest.importorskip(library)
    columns: dict[str, list[Any]] = {"system": [*"aabb"], "qid": [*"1221"]}
    values = [0.2, 0.4, 0.6, 0.8]
    columns |= {"measure": ["P_5"] * 4, "value": values} if long else {"P_5": values}

    found = fr.compare_scores(frames.DataFrame(columns))

    assert found.values("P_5").tolist() == [[0.2, 0.4], [0.8, 0.6]]


def test_what_pytrec_eval_returns_can_be_compared() -> None:
    runs = {"x": GOOD, "y": BAD}
    scores = {name: fr.evaluate(QRELS, run, "map P.5").to_dict() for name, run in runs.items()}

    found = fr.compare_scores(scores)

    assert found.measures == ["map", "P_5"]
    assert found.pair("map", "x", "y").difference == 0.5


def test_a_comparison_can_be_pickled() -> None:
    found = compare_data(interval="percentile", resamples=100)

    again = pickle.loads(pickle.dumps(found))

    assert str(again) == str(found)
    assert again.pairs().to_csv() == found.pairs().to_csv()


def test_of_a_turned_pair_the_signs_are_turned() -> None:
    found = compare_data()

    one, other = found.pair("map", "pixels", "pca"), found.pair("map", "pca", "pixels")

    assert (other.difference, other.low, other.high) == (-one.difference, -one.high, -one.low)
    assert (other.wins, other.losses) == (one.losses, one.wins)
    assert (other.statistic, other.effect) == (-one.statistic, -one.effect)
    assert (other.p, other.p_adjusted) == (one.p, one.p_adjusted)
    assert other.relative == pytest.approx(other.mean_a / other.mean_b - 1)


def test_queries_are_listed_by_their_difference() -> None:
    columns = compare_data().queries_of("map", "pixels", "pca").columns

    assert columns["difference"] == sorted(columns["difference"], reverse=True)
    assert columns["query"][0] == "q0819"


@pytest.mark.parametrize("pair", [("pixels", "pca"), ("profile", "pca")])
def test_the_queries_that_differ_most_are_those_of_the_scores(pair: tuple[str, str]) -> None:
    scores = data_scores()

    found = compare_data().largest("map", 7, pair=pair)

    assert found.columns == (scores[pair[0]] - scores[pair[1]]).largest("map", 7).columns


def test_the_largest_differences_are_those_of_the_best_two_or_from_the_baseline() -> None:
    plain, based = compare_data(), compare_data(baseline="profile")

    expected = plain.largest("map", pair=["pixels", "pca"]).columns
    assert plain.largest("map").columns == expected
    assert based.largest("map", 1).names == ["query", "pixels", "profile", "difference"]
    assert based.largest("map", 1, pair=("pixels", "pca")).names[1:3] == ["pixels", "pca"]


def test_letters_group_systems_that_do_not_differ() -> None:
    found = compare_data()

    assert found.letters("map") == {"pixels": "a", "pca": "b", "profile": "b"}
    assert found.tied_with_best("recip_rank") == ["pixels", "profile"]
    assert found.letters("recip_rank") == {"pixels": "a", "pca": "b", "profile": "a"}


def test_systems_between_two_groups_have_the_letters_of_both() -> None:
    assert letter_display([0, 1, 2], [(0, 2)]) == {0: "a", 1: "ab", 2: "b"}
    assert letter_display([2, 0, 1], [(0, 1), (2, 1), (0, 2)]) == {2: "a", 0: "b", 1: "c"}


def test_more_than_26_groups_have_letters_with_commas() -> None:
    apart = [(i, j) for i in range(29) for j in range(i + 2, 29)]

    found = letter_display(range(29), apart)

    assert (found[0], found[1], found[26], found[28]) == ("a", "a,b", "z,aa", "ab")


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda own: own[0] < own[1])))
@examples(60)
def test_groups_are_the_largest_sets_without_a_pair_that_differs(
    different: set[tuple[int, int]],
) -> None:
    fitting = [
        set(own)
        for size in range(1, 8)
        for own in combinations(range(7), size)
        if not different & set(combinations(own, 2))
    ]
    largest = [own for own in fitting if not any(own < other for other in fitting)]

    assert alike(range(7), different) == sorted(map(sorted, largest))


def test_letters_of_too_many_groups_are_an_error() -> None:
    """Of 20 pairs of systems that differ, each group has one of both: there are 2**20."""
    with pytest.raises(fr.OptionError, match="40 systems form more than 10,000 overlapping groups"):
        alike(range(40), [(place, place + 1) for place in range(0, 40, 2)])


# Queries for which some systems have no value (NaN).


def on_the_hard_query_only_a_has_a_value() -> Any:
    """a is better than b on all queries that both have; its mean over all is lower."""
    rows = np.repeat([[0.53], [0.5], [0.3]], 12, axis=1) + 0.01 * random_rows(3, 12)
    rows[0, 0], rows[1, 0] = 0.0, math.nan
    assert rows[0].mean() < np.nanmean(rows[1])
    return scores_of(rows)


def test_queries_without_a_value_are_dropped_pair_by_pair() -> None:
    rows = [[0.5, math.nan, 0.4, 0.2], [0.1, 0.1, 0.1, 0.1], [0.1, 0.3, 0.2, 0.2]]

    found, tukey = compared(rows), compared(rows, test="tukey")

    assert [found.pair("value", *pair).n for pair in ("ab", "ac", "bc")] == [3, 3, 4]
    assert [tukey.pair("value", *pair).n for pair in ("ab", "ac", "bc")] == [3, 3, 3]


def test_values_that_are_nan_are_counted_and_named() -> None:
    scores: dict[str, dict[str, Any]] = scores_of(random_rows(3, 12))
    scores["b"]["q003"], scores["c"]["q007"] = math.nan, None

    assert fr.compare_scores(scores).notes == [
        "value: b has no value for 1 of 12 queries (q003), c for 1 (q007); a pair is compared on"
        " the queries with values of both; means are over the 10 queries with values of all systems"
    ]


def test_the_best_system_is_that_of_the_queries_with_values_of_all() -> None:
    found = fr.compare_scores(on_the_hard_query_only_a_has_a_value())

    assert found.best("value") == "a"
    assert found.ranked("value") == ["a", "b", "c"]
    assert found.tied_with_best("value") == ["a"]
    assert found.letters("value") == {"a": "a", "b": "b", "c": "c"}
    assert found.ranks("value").columns["system"] == ["a", "b", "c"]
    means = {name: f"{mean:.4f}" for name, mean in found.mean["value"].items()}
    assert f"**{means['a']}**" in found.to_markdown(underline=True)
    assert f"<u>{means['b']}</u>" in found.to_markdown(underline=True)
    assert found.table().bold == {(0, 1)}


@pytest.mark.parametrize("interval", INTERVALS)
def test_means_and_intervals_are_those_of_the_queries_with_values_of_all(interval: str) -> None:
    scores = on_the_hard_query_only_a_has_a_value()
    kept = {name: without(own, "q000") for name, own in scores.items()}

    found, expected = (fr.compare_scores(own, interval=interval) for own in (scores, kept))

    assert found.mean == expected.mean
    for name in "abc":
        bounds = found.interval_of("value", name)
        assert bounds == pytest.approx(expected.interval_of("value", name), rel=1e-12)
    assert found.values("value").shape == (3, 12)


@pytest.mark.parametrize(("test", "names"), [("t", "ab"), ("tukey", "abc"), ("tukey-anova", "abc")])
def test_two_systems_and_tests_of_all_use_the_queries_of_all(test: str, names: str) -> None:
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


@pytest.mark.parametrize("test", ["t", "tukey", "tukey-anova"])
def test_without_a_query_with_values_of_all_no_system_is_the_best(test: str) -> None:
    rows = random_rows(3, 12)
    rows[1, :6], rows[2, 6:] = math.nan, math.nan

    found = compared(rows, test=test)

    said = "no query has values of all systems, so the means cannot be compared"
    assert found.notes[0].endswith(said)
    assert found.ranked("value") == ["a", "b", "c"]
    assert "**" not in found.to_markdown()
    assert not found.table().bold
    for method in (found.best, found.tied_with_best, found.ranks, found.anova):
        with pytest.raises(fr.MeasureError, match="'value': no query has values of all systems"):
            method("value")


def test_a_run_that_finds_nothing_is_not_the_best_in_first_rank() -> None:
    """Without a relevant document, FirstRank has no value: its mean is of the easy queries."""
    runs = {name: fr.read_run(DATA / f"{name}.run").to_dict() for name in ("pixels", "pca")}
    short = {query: {max(own, key=own.get): 1.0} for query, own in runs["pca"].items()}

    found = fr.compare(
        DATA / "digits.qrels", {"pixels": runs["pixels"], "short": short}, "FirstRank"
    )

    pair, mean = found.pair("FirstRank", "pixels", "short"), found.mean["FirstRank"]
    assert pair.n < 200
    assert mean == {"pixels": pytest.approx(pair.mean_a), "short": 1.0}
    assert f"only the {pair.n} queries with values of all systems are used" in found.notes[0]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("interval", ["t", "percentile", "studentized"])
def test_a_pair_without_a_query_with_values_of_both_has_no_p(test: str, interval: str) -> None:
    nan = math.nan

    pair = pair_of([1, 2, nan], [nan, nan, 4], test=test, interval=interval)

    assert pair.n == 0
    assert all(map(math.isnan, (pair.p, pair.p_adjusted, pair.low, pair.high)))
    assert pair.note == "no query has values of both: no test is possible"


# Values of any size, and queries of any number.


@pytest.mark.parametrize("interval", INTERVALS)
def test_one_query_has_no_interval(interval: str) -> None:
    found = compared([[0.25], [0.5]], interval=interval)

    assert found.notes == ["one query: a test needs several"]
    pair = found.pair("value", "a", "b")
    assert all(map(math.isnan, (pair.low, pair.high, *found.interval_of("value", "a"))))
    assert pair.note == "one query: no test is possible"


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("largest", [1e100, 1e-12, 1e-200, 5e-324])
def test_results_of_values_of_any_size_are_finite(test: str, interval: str, largest: float) -> None:
    found = compared(largest * random_rows(2, 12), test=test, interval=interval, resamples=100)

    pair = found.pair("value", "a", "b")
    assert all(map(math.isfinite, (pair.difference, pair.low, pair.high, pair.p, pair.p_adjusted)))
    assert all(map(math.isfinite, found.interval_of("value", "a")))


def test_differences_below_the_last_decimal_are_none() -> None:
    pair = pair_of(*1e-14 * random_rows(2, 12))

    assert (pair.p, pair.ties) == (1.0, 12)
    assert pair.note == "identical on every query, up to 12 decimals"


def test_the_note_on_a_single_difference_is_singular() -> None:
    for others, found in ((0, "1 of 1 query differs"), (4, "1 of 5 queries differs")):
        pair = compared([[1] + [0.5] * others, [2] + [0.5] * others], test="sign").pair(
            "value", "a", "b"
        )

        assert pair.note == f"cannot be significant: only {found}"


def test_resamples_without_variance_give_no_studentized_interval() -> None:
    pair = pair_of([0, 1], [0, 0], interval="studentized", resamples=1)

    assert math.isnan(pair.low)
    assert math.isnan(pair.high)
    assert pair.note.startswith("no resample has variance: there is no interval")
