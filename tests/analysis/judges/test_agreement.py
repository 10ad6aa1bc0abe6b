"""What the agreement of judges counts, its intervals, tables and formats, and its errors."""

from __future__ import annotations

import copy
import json
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap
from sklearn.metrics import cohen_kappa_score

import fastrank as fr
from tests.helpers.tables import refusing

HUMAN = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": 1, "d4": 0, "d5": 2}}
JUDGE = {"q1": {"d1": 2, "d2": 1, "d3": 1}, "q2": {"d1": 1, "d4": 0}, "q3": {"d9": 1}}


def random_judges(queries: int, seed: int = 3) -> list[dict[str, dict[str, int]]]:
    draw = np.random.default_rng(seed)
    made: list[dict[str, dict[str, int]]] = [{}, {}]
    for query in range(queries):
        for doc in range(int(draw.integers(2, 9))):
            grade = int(draw.integers(0, 3))
            other = grade if draw.random() < 0.6 else int(draw.integers(0, 3))
            for own, value in zip(made, (grade, other), strict=True):
                own.setdefault(f"q{query:03}", {})[f"d{doc}"] = value
    return made


def test_pairs_that_only_one_judged_are_counted_and_nothing_else():
    found = fr.judge_agreement(HUMAN, JUDGE)
    assert (found.pairs, found.only_a, found.only_b) == (5, 1, 1)
    assert found.grades == [0, 1, 2]
    assert found.confusion.dtype == np.int64
    assert found.confusion.tolist() == [[1, 1, 0], [0, 2, 0], [0, 0, 1]]


@pytest.mark.parametrize("swapped", [False, True])
def test_a_negative_grade_is_no_label(swapped):
    equal = {"d1": 1, "d2": 0, "d4": 1, "d5": 0, "d6": 2}
    judges = [{"q1": equal | {"d3": grade}, "q2": {"d1": -1}} for grade in (-1, 1)]
    agreement = fr.judge_agreement(*(judges[::-1] if swapped else judges))
    assert (agreement.pairs, agreement.kappa, agreement.grades) == (5, 1.0, [0, 1, 2])
    assert (agreement.only_a, agreement.only_b) == ((1, 0) if swapped else (0, 1))


def test_a_scale_gives_negative_grades_a_meaning_or_takes_it_away():
    a = {"q1": {"d1": 0, "d2": 1}}
    b = {"q1": {"d1": -2, "d2": 1, "d3": 0}}
    assert fr.judge_agreement(a, b, scale={-2: 0, 0: 0, 1: 1}).pairs == 2
    assert fr.judge_agreement(a, b, scale={1: -1, -2: 0, 0: 1}).pairs == 1


STATISTICS: dict[str, Any] = {
    "agreement": lambda first, second: np.mean(first == second),
    "kappa_quadratic": partial(cohen_kappa_score, weights="quadratic"),
    "bias": lambda first, second: np.mean(second - first),
}


@pytest.mark.parametrize(("ours", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
@pytest.mark.parametrize("name", STATISTICS)
def test_intervals_are_those_of_scipys_bootstrap_over_queries(ours, theirs, name):
    human, judge = random_judges(60)
    found = fr.judge_agreement(human, judge, interval=ours, resamples=20_000)
    pairs = [
        np.array([(grade, judge[query][doc]) for doc, grade in own.items()])
        for query, own in human.items()
    ]

    def statistic(drawn: Any) -> float:
        first, second = np.concatenate([pairs[query] for query in drawn]).T
        return float(STATISTICS[name](first, second))

    expected = bootstrap(
        (np.arange(60),),
        statistic,
        n_resamples=700,
        method=theirs,
        vectorized=False,
        random_state=1,
    ).confidence_interval
    low, high = found.interval(name)
    width = expected.high - expected.low
    assert low == pytest.approx(expected.low, abs=width / 8)
    assert high == pytest.approx(expected.high, abs=width / 8)


def test_intervals_are_the_same_bits_in_each_run_and_others_with_another_seed():
    judges = random_judges(30)
    first = fr.judge_agreement(*judges).interval("kappa")
    assert fr.judge_agreement(*judges).interval("kappa") == first
    assert fr.judge_agreement(*judges, seed=1).interval("kappa") != first


def test_queries_that_only_one_judged_are_not_drawn():
    human, judge = random_judges(30)
    more = judge | {f"r{query}": {"d": 1} for query in range(300)}
    found, expected = fr.judge_agreement(human, more), fr.judge_agreement(human, judge)
    assert found.queries == expected.queries
    assert found.interval("kappa") == expected.interval("kappa")


def test_judges_that_never_differ_have_no_interval():
    judge = {f"q{query}": {"d1": query % 2, "d2": 1} for query in range(9)}
    agreement = fr.judge_agreement(judge, judge | {"q9": {"d1": 0}})
    assert agreement.agreement == 1.0
    assert all(map(np.isnan, agreement.interval("agreement")))


def test_one_query_has_no_interval():
    found = fr.judge_agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 0, "b": 1}})
    assert np.isnan(found.interval("agreement")).all()


def test_several_judges_have_alpha_over_all_and_the_rest_by_pair():
    third = {"q1": {"d1": 0, "d2": 1}, "q9": {"d9": 2}}
    found = fr.judge_agreement(HUMAN, JUDGE, third, names=["h", "j", "t"])
    own = found.pair("h", "j")
    assert own.kappa == fr.judge_agreement(HUMAN, JUDGE).kappa
    assert own.interval("ac1") == fr.judge_agreement(HUMAN, JUDGE).interval("ac1")
    assert found.table().columns["pairs"] == [5, 2, 2]


def test_queries_and_grades_have_their_own_tables():
    found = fr.judge_agreement(HUMAN, JUDGE)
    assert dict(zip(*list(found.by_query().columns.values())[:2], strict=True)) == {
        "q1": 3,
        "q2": 2,
    }
    assert found.by_grade().columns["bias"] == [0.5, 0.0, 0.0]
    assert found.by_grade().columns["higher"] == [0.5, 0.0, 0.0]


def test_a_scale_maps_grades_of_the_other_judges():
    binary = {"q1": {"d1": 1, "d2": 0, "d3": 0}}
    found = fr.judge_agreement(binary, HUMAN, scale={0: 0, 1: 0, 2: 1}, names=["b", "h"])
    assert found.agreement == 1.0
    assert copy.copy(found) is found
    assert pickle.loads(pickle.dumps(found)).kappa == found.kappa


def test_different_scales_are_a_warning_and_equal_judgments_are_noted():
    with pytest.warns(UserWarning, match="judge 1 has the grades 0, 3 and judge 2 0, 1, 2"):
        fr.judge_agreement({"q": {"a": 3, "b": 0}}, HUMAN | {"q": {"a": 1}})
    assert fr.judge_agreement(HUMAN, dict(HUMAN)).notes == [
        "judge 1 and judge 2 are the same judgments"
    ]


def test_the_plot_has_the_number_of_pairs_in_each_cell(tmp_path):
    pytest.importorskip("matplotlib")
    found = fr.judge_agreement(HUMAN, JUDGE)
    axes = found.plot(path=tmp_path / "matrix.svg")
    cells = np.array([text.get_text() for text in axes.texts[:9]]).reshape(3, 3)
    assert cells.astype(int).tolist() == found.confusion.tolist()
    assert "judge 1 0, judge 2 1: 1" in (tmp_path / "matrix.svg").read_text()


def agreement(judge: Any = JUDGE, **options: Any) -> Any:
    return fr.judge_agreement(HUMAN, judge, **options)


test_errors_name_what_is_wrong = refusing("""
agreement({"q9": {"d": 1}}) => GroupError: judge 1 and judge 2 have no judged pair...
agreement(names=["a"]) => OptionError: ...expected 2, one per judge, found 1
agreement(interval="t") => OptionError: interval: expected one of 'bca', 'percentile'...
agreement(scale={0: 0}) => OptionError: ...no grade for 2 of judge 2 (query 'q1', doc...
agreement(scale={"x": {0: 0}}) => OptionError: ...'x' is not a judge; expected judge 1...
agreement().pair("judge 1", "judge 3") => OptionError: ...'judge 3' is not one of the judges...
agreement().value("kapa") => OptionError: ...did you mean kappa...
judge_agreement(HUMAN, JUDGE, JUDGE).value("kappa") =>
  OptionError: ...kappa is of two judges; take two with `pair`
""")


def test_json_has_the_coefficients_and_the_confusion_of_grades():
    found = fr.judge_agreement(HUMAN, JUDGE)
    record = json.loads(found.to_json())
    assert record["confusion"] == found.confusion.tolist()
    assert {row["coefficient"]: row["value"] for row in record["coefficients"]}["pi"] == found.pi
