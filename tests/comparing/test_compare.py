"""Which values are compared, and under which names; invalid input."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.comparisons import (
    DATA,
    NAMES,
    compare_data,
    data_scores,
    random_rows,
    scores_of,
)
from tests.helpers.strategies import examples

QRELS = {f"q{i:02d}": {"a": 1, "b": 0} for i in range(12)}
GOOD = {query: {"a": 2.0, "b": 1.0} for query in QRELS}
BAD = {query: {"b": 2.0, "a": 1.0} for query in QRELS}


def without(run: dict[str, Any], *queries: str) -> dict[str, Any]:
    return {query: docs for query, docs in run.items() if query not in queries}


def test_runs_are_evaluated_on_the_same_queries() -> None:
    runs = [DATA / f"{name}.run" for name in NAMES]

    compared = fr.compare(DATA / "digits.qrels", runs, "map P.10")

    assert (compared.names, compared.measures) == (list(NAMES), ["map", "P_10"])
    assert compared.queries == sorted(compared.queries, key=str.encode)
    scores = fr.evaluate(DATA / "digits.qrels", DATA / "pca.run", "map P.10")
    assert compared.mean["map"]["pca"] == scores.mean["map"]
    assert compared.values("P_10")[1].tolist() == scores["P_10"].tolist()


def test_missing_queries_can_count_as_zero_and_are_named() -> None:
    runs = {"x": GOOD, "y": without(GOOD, "q01", "q03")}

    compared = fr.compare(QRELS, runs, "map", missing="zero")

    assert compared.pair("map", "x", "y").n == 12
    assert compared.mean["map"]["y"] == pytest.approx(10 / 12)
    assert compared.notes == ["y lacks 2 of 12 judged queries (q01, q03); they count as 0"]


def test_missing_queries_have_no_value_of_measures_that_are_undefined_for_them() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    runs = {"x": {"q1": {"a": 1.0}, "q2": {"a": 1.0}}, "y": {"q1": {"a": 1.0}}}

    compared = fr.compare(qrels, runs, "FirstRank map", missing="zero")

    note = "y lacks 1 of 2 judged queries (q2); it counts as 0, except in FirstRank, which has no"
    note += " value"
    assert note in compared.notes


def test_a_missing_query_that_counts_as_the_best_value_is_noted() -> None:
    runs = {"x": BAD, "y": without(BAD, "q01")}

    compared = fr.compare(QRELS, runs, "Hole@5 FirstRank", missing="zero")

    assert compared.pair("FirstRank", "x", "y").n == 11
    assert "Hole@5: lower values are better, and missing queries are 0" in compared.notes


def test_missing_queries_are_left_out_for_all_runs_and_named() -> None:
    runs = {"x": without(GOOD, "q05"), "y": without(BAD, "q01", "q03")}

    compared = fr.compare(QRELS, runs, "map")

    assert compared.queries == [query for query in QRELS if query not in ("q01", "q03", "q05")]
    assert compared.notes[:2] == [
        'x lacks 1 of 12 judged queries (q05); it is left out (missing="zero" counts it as 0)',
        "y lacks 2 of 12 judged queries (q01, q03); they are left out"
        ' (missing="zero" counts them as 0)',
    ]


def test_missing_queries_can_be_an_error() -> None:
    with pytest.raises(fr.RunError, match="y: 1 of 12 judged queries is missing"):
        fr.compare(QRELS, {"x": GOOD, "y": without(GOOD, "q01")}, "map", missing="error")


def test_scores_of_different_queries_are_an_error() -> None:
    scores = [fr.evaluate(QRELS, run, "map") for run in (GOOD, without(GOOD, "q01"))]

    with pytest.raises(
        fr.GroupError,
        match=r"'run' and 'run \(2\)' have different queries: 1 only in 'run' \(q01\), 0 only in"
        r" 'run \(2\)' \(queries='common' compares on the 11 in common\)",
    ):
        fr.compare_scores(scores)
    assert len(fr.compare_scores(scores, queries="common").queries) == 11


def test_scores_without_a_common_query_are_an_error() -> None:
    with pytest.raises(fr.GroupError, match="no query in common"):
        fr.compare_scores({"a": {"q1": 1.0}, "b": {"q2": 1.0}}, queries="common")


def test_queries_are_aligned_by_their_ids() -> None:
    forward = {"q1": 0.1, "q2": 0.2, "q3": 0.3}
    backward = dict(reversed(forward.items()))

    compared = fr.compare_scores({"a": forward, "b": backward})

    assert compared.pair("value", "a", "b").ties == 3


def test_scores_of_different_measures_are_an_error() -> None:
    scores = [fr.evaluate(QRELS, GOOD, measure) for measure in ("map", "P.5")]

    with pytest.raises(fr.MeasureError, match=r"'run' and 'run \(2\)' have different measures"):
        fr.compare_scores(scores)


def test_equal_names_are_numbered() -> None:
    compared = fr.compare(QRELS, [GOOD, BAD, GOOD], "map", names=["x", "y", "x"])

    assert compared.names == ["x", "y", "x (2)"]


def test_names_must_be_as_many_as_systems() -> None:
    with pytest.raises(fr.OptionError, match="names: expected 2"):
        fr.compare(QRELS, [GOOD, BAD], "map", names=["x"])


@pytest.mark.parametrize("baseline", ["pca", 1, -2, ["pca"]])
def test_with_a_baseline_the_others_are_compared_with_it(baseline: Any) -> None:
    compared = compare_data(baseline=baseline)

    assert compared.baseline == ["pca"]
    table = compared.pairs("map")
    assert table.columns["a"] == ["pixels", "profile"]
    assert table.columns["b"] == ["pca", "pca"]


def test_two_baselines_are_compared_with_each_other_once() -> None:
    table = compare_data(baseline=["pca", "pixels"]).pairs("map")

    pairs = list(zip(table.columns["a"], table.columns["b"], strict=True))
    assert pairs == [("pixels", "pca"), ("profile", "pca"), ("profile", "pixels")]


def test_an_unknown_baseline_names_the_closest() -> None:
    with pytest.raises(fr.OptionError, match=r"baseline: 'pixel' is not .* did you mean 'pixels'"):
        compare_data(baseline="pixel")
    with pytest.raises(fr.OptionError, match="baseline: expected a name or an index below 3"):
        compare_data(baseline=3)


def test_pairs_without_a_baseline_are_not_compared() -> None:
    with pytest.raises(fr.OptionError, match="'pixels' and 'profile' were not compared: neither"):
        compare_data(baseline="pca").pair("map", "pixels", "profile")
    with pytest.raises(fr.OptionError, match="letters needs all pairs"):
        compare_data(baseline="pca").letters("map")


def test_a_set_of_measures_leaves_out_those_without_values_per_query() -> None:
    compared = fr.compare(QRELS, [GOOD, BAD], "official")

    assert "map" in compared.measures
    assert not {"gm_map", "num_q", "runid"} & set(compared.measures)


@pytest.mark.parametrize("measure", ["gm_map", "num_q", "relstring"])
def test_a_measure_without_values_per_query_is_an_error(measure: str) -> None:
    with pytest.raises(fr.MeasureError, match="no values per query"):
        fr.compare_scores([fr.evaluate(QRELS, run, [measure, "map"]) for run in (GOOD, BAD)])


def test_a_pooled_mean_is_noted() -> None:
    compared = fr.compare(QRELS, [GOOD, BAD], "MedianRank num_rel_ret")

    assert "MedianRank: the mean shown is over queries; `evaluate` gives the median" in (
        compared.notes
    )
    assert "num_rel_ret: the mean shown is over queries; `evaluate` gives the sum" in compared.notes


def test_of_ranks_lower_values_are_better() -> None:
    compared = fr.compare(QRELS, {"good": GOOD, "bad": BAD}, "FirstRank")

    assert (compared.better("FirstRank"), compared.best("FirstRank")) == ("lower", "good")
    pair = compared.pair("FirstRank", "good", "bad")
    assert (pair.difference, pair.wins, pair.losses) == (-1.0, 12, 0)
    assert compared.beaten("FirstRank", "good") == ["bad"]


def test_of_counts_neither_value_is_better() -> None:
    compared = fr.compare(QRELS, {"x": GOOD, "y": {q: {"a": 1.0} for q in QRELS}}, "num_ret")

    pair = compared.pair("num_ret", "x", "y")
    assert (pair.difference, pair.wins, pair.losses) == (1.0, None, None)
    assert compared.beaten("num_ret", "x") == []
    with pytest.raises(fr.MeasureError, match="neither higher nor lower"):
        compared.best("num_ret")


def test_user_defined_measures_say_what_is_better() -> None:
    def first_hit(ranking: fr.types.Ranking) -> float:
        return float(ranking.ranks[ranking.grades >= ranking.level][0])

    fr.measure(first_hit, better="lower")

    assert fr.compare(QRELS, [GOOD, BAD], "first_hit").better("first_hit") == "lower"
    with pytest.raises(fr.OptionError, match="better: expected one of 'higher', 'lower', ''"):
        fr.measure(first_hit, better="best")


def test_queries_without_a_value_are_dropped_pair_by_pair() -> None:
    rows: dict[str, dict[str, float | None]] = {
        "a": {"q1": 0.5, "q2": None, "q3": 0.4, "q4": 0.2},
        "b": {"q1": 0.1, "q2": 0.1, "q3": 0.1, "q4": 0.1},
        "c": {"q1": 0.1, "q2": 0.3, "q3": 0.2, "q4": 0.2},
    }

    compared = fr.compare_scores(rows)

    assert [compared.pair("value", *pair).n for pair in ("ab", "ac", "bc")] == [3, 3, 4]
    tukey = fr.compare_scores(rows, test="tukey")
    assert [tukey.pair("value", *pair).n for pair in ("ab", "ac", "bc")] == [3, 3, 3]


def test_infinite_values_are_an_error() -> None:
    with pytest.raises(fr.GroupError, match="value: the value of 'b' for query 'q1' is infinite"):
        fr.compare_scores({"a": {"q1": 1.0}, "b": {"q1": float("inf")}})


def test_a_system_without_values_is_an_error() -> None:
    with pytest.raises(fr.GroupError, match="value: 'b' has no value for any query"):
        fr.compare_scores({"a": {"q1": 1.0}, "b": {"q1": None}})


def test_one_system_has_means_and_intervals_only() -> None:
    compared = fr.compare(QRELS, [GOOD], "map", names=["x"])

    assert (compared.mean["map"]["x"], len(compared.pairs())) == (1.0, 0)
    assert compared.notes == ["one system: there is nothing to compare it with"]


def test_no_system_is_an_error() -> None:
    with pytest.raises(fr.GroupError, match="expected at least one system"):
        fr.compare_scores([])


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("long", [True, False])
def test_frames_can_be_compared(library: str, long: bool) -> None:
    frames = pytest.importorskip(library)
    columns: dict[str, list[Any]] = {"system": ["a", "a", "b", "b"], "qid": ["1", "2", "2", "1"]}
    if long:
        columns |= {"measure": ["P_5"] * 4, "value": [0.2, 0.4, 0.6, 0.8]}
    else:
        columns |= {"P_5": [0.2, 0.4, 0.6, 0.8]}

    compared = fr.compare_scores(frames.DataFrame(columns))

    assert compared.values("P_5").tolist() == [[0.2, 0.4], [0.8, 0.6]]


def test_a_frame_without_systems_is_an_error() -> None:
    pandas = pytest.importorskip("pandas")

    with pytest.raises(fr.InputError, match="expected a column 'system' or 'run' or 'name'"):
        fr.compare_scores(pandas.DataFrame({"query": ["1"], "P_5": [1.0]}))


def test_what_pytrec_eval_returns_can_be_compared() -> None:
    scores = {name: fr.evaluate(QRELS, run, "map P.5") for name, run in
              (("x", GOOD), ("y", BAD))}  # fmt: skip

    compared = fr.compare_scores({name: own.to_dict() for name, own in scores.items()})

    assert compared.measures == ["map", "P_5"]
    assert compared.pair("map", "x", "y").difference == 0.5


def test_other_objects_are_a_type_error() -> None:
    with pytest.raises(TypeError, match="expected a list of Scores"):
        fr.compare_scores(7)
    with pytest.raises(fr.InputError, match="scores of 'a': query 'q': expected a number, found"):
        fr.compare_scores({"a": {"q": "x"}})


def test_runs_can_be_evaluated_by_an_executor() -> None:
    with ThreadPoolExecutor(2) as executor:
        compared = fr.compare(QRELS, {"x": GOOD, "y": BAD}, "map", executor=executor)

    assert compared.mean["map"] == {"x": 1.0, "y": 0.5}


def test_a_comparison_can_be_pickled() -> None:
    compared = compare_data(interval="percentile", resamples=100)

    again = pickle.loads(pickle.dumps(compared))

    assert str(again) == str(compared)
    assert again.pairs().to_csv() == compared.pairs().to_csv()


def test_of_a_turned_pair_the_signs_are_turned() -> None:
    compared = compare_data()

    one, other = compared.pair("map", "pixels", "pca"), compared.pair("map", "pca", "pixels")

    assert (other.difference, other.low, other.high) == (-one.difference, -one.high, -one.low)
    assert (other.wins, other.losses) == (one.losses, one.wins)
    assert (other.statistic, other.effect) == (-one.statistic, -one.effect)
    assert (other.p, other.p_adjusted) == (one.p, one.p_adjusted)
    assert other.relative == pytest.approx(other.mean_a / other.mean_b - 1)


def test_queries_are_listed_by_their_difference() -> None:
    table = compare_data().queries_of("map", "pixels", "pca")

    differences = table.columns["difference"]
    assert differences == sorted(differences, reverse=True)
    assert table.columns["query"][0] == "q0819"


def test_the_queries_that_differ_most_are_those_of_the_scores() -> None:
    compared, scores = compare_data(), data_scores()
    for a, b in (("pixels", "pca"), ("profile", "pca")):
        expected = (scores[a] - scores[b]).largest("map", 7)

        assert compared.largest("map", 7, pair=(a, b)).columns == expected.columns
    assert (
        compared.largest("map").columns == compared.largest("map", pair=["pixels", "pca"]).columns
    )


def test_the_largest_differences_are_those_from_the_baseline() -> None:
    compared = compare_data(baseline="profile")

    assert compared.largest("map", 1).names == ["query", "pixels", "profile", "difference"]
    assert compared.largest("map", 1, pair=("pixels", "pca")).names[1:3] == ["pixels", "pca"]


def test_the_pair_of_the_largest_differences_is_checked() -> None:
    for pair, message in (
        (("pixels", "pcaa"), "'pcaa' is not one of the systems; did you mean 'pca'"),
        ("pca", "pair: expected the names of two systems, found 'pca'"),
        (["pca"], "pair: expected the names of two systems, found"),
    ):
        with pytest.raises(fr.OptionError, match=message):
            compare_data().largest("map", pair=pair)
    with pytest.raises(fr.OptionError, match="needs two systems, found 1"):
        fr.compare_scores({"a": {"q": 1.0}}).largest("value")


def test_letters_group_systems_that_do_not_differ() -> None:
    compared = compare_data()

    assert compared.letters("map") == {"pixels": "a", "pca": "b", "profile": "b"}
    assert compared.tied_with_best("recip_rank") == ["pixels", "profile"]
    assert compared.letters("recip_rank") == {"pixels": "a", "pca": "b", "profile": "a"}


def test_systems_between_two_groups_have_the_letters_of_both() -> None:
    from fastrank.comparing.letters import letter_display

    assert letter_display([0, 1, 2], [(0, 2)]) == {0: "a", 1: "ab", 2: "b"}


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda own: own[0] < own[1])))
@examples(60)
def test_groups_are_the_largest_sets_without_a_pair_that_differs(
    different: set[tuple[int, int]],
) -> None:
    from fastrank.comparing.letters import alike

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
    from fastrank.comparing.letters import alike

    with pytest.raises(fr.OptionError, match="40 systems form more than 10,000 overlapping groups"):
        alike(range(40), [(place, place + 1) for place in range(0, 40, 2)])


def test_more_than_26_groups_have_letters_with_commas() -> None:
    from fastrank.comparing.letters import letter_display

    order = range(29)
    apart = [(i, j) for i in order for j in order if j > i + 1]

    found = letter_display(order, apart)

    assert (found[0], found[1], found[26], found[28]) == ("a", "a,b", "z,aa", "ab")
    assert letter_display([2, 0, 1], [(0, 1), (2, 1), (0, 2)]) == {2: "a", 0: "b", 1: "c"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "u"}, "test: expected one of"),
        ({"correction": "sidak"}, "correction: expected one of"),
        ({"test": "tukey", "correction": "holm"}, "correction: test='tukey' already corrects"),
        ({"correction": "max-t"}, "correction: 'max-t' needs a baseline"),
        ({"correction": "max-t", "test": "sign", "baseline": 0}, "'max-t' needs test='t'"),
        ({"alpha": 0}, "alpha: expected a number between 0 and 1"),
        ({"level": 95}, "level: expected a number between 0 and 1"),
        ({"resamples": 0}, "resamples: expected 1 or more"),
        ({"seed": -1}, "seed: expected 0 or more"),
        ({"exact_up_to": 60}, "exact_up_to: expected a number from 0 to 52"),
        ({"min_difference": -1}, "min_difference: expected 0 or more"),
        ({"interval": "normal"}, "interval: expected one of"),
        ({"clusters": {}}, "clusters: the test 't' treats queries as independent"),
        ({"clusters": {}, "test": "randomization"}, "clusters: the interval 't' treats"),
    ],
)
def test_invalid_options_are_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(fr.OptionError, match=message):
        compare_data(**options)


def test_more_decimals_than_doubles_have_are_not_compared() -> None:
    rows = random_rows(2, 20)

    compared = fr.compare_scores(scores_of([rows[0], rows[0] + 1e-15]))

    assert compared.pair("value", "a", "b").ties == 20
