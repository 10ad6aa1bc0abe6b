"""Estimates from people and judges: against ppi-python's values, coverage, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastrank as fr
from fastrank.analysis.comparing.options import settings_of
from fastrank.analysis.judges.prediction_powered import combined, estimated
from tests.helpers.tables import calls, check_error

SETTINGS = settings_of()
# human, predicted, others
PPI = [
    ([0.2, 0.5, 0.9, 0.4], [0.3, 0.4, 0.8, 0.6], [0.1, 0.7, 0.5, 0.9, 0.3]),
    ([1.0, 0.0, 0.0, 1.0, 1.0], [0.9, 0.2, 0.1, 0.4, 0.8], [0.5, 0.5, 0.2]),
    ([0.1, 0.2, 0.3], [0.9, 0.1, 0.5], [0.4, 0.6, 0.8, 0.9]),
]


def population(draw: np.random.Generator, size: int) -> tuple[Any, Any, Any]:
    human = draw.beta(0.7, 1.2, size)
    judges = [share * human + (1 - share) * draw.beta(1, 2, size) for share in (0.5, 0.3)]
    return human, *judges


@pytest.mark.parametrize(("human", "predicted", "others"), PPI)
def test_an_estimate_is_that_of_ppi_python_at_the_same_weight(human, predicted, others):
    ppi_py = pytest.importorskip("ppi_py", reason="needs ppi-python")
    f, g, rest = map(np.array, (human, predicted, others))
    found = estimated(f, g, rest, SETTINGS, finite=False)
    assert found.value == pytest.approx(
        ppi_py.ppi_mean_pointestimate(f, g, rest, lam=found.weight).item(), abs=1e-12
    )
    ((low,), (high,)) = ppi_py.ppi_mean_ci(f, g, rest, alpha=0.05, lam=found.weight)
    # ppi-python divides by n instead of n - 1, and takes the normal quantile.
    residual = f - found.weight * g
    biased = np.sqrt(residual.var() / len(f) + found.weight**2 * rest.var() / len(rest))
    assert (high - low) / 2 == pytest.approx(stats.norm.ppf(0.975) * biased, abs=1e-12)
    error = np.sqrt(residual.var(ddof=1) / len(f) + found.weight**2 * rest.var(ddof=1) / len(rest))
    half = stats.t.ppf(0.975, len(f) - 1) * error
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half))


@pytest.mark.parametrize("kind", ["all", "queries", "linear", "percentile"])
def test_intervals_cover_the_truth_as_often_as_they_say(kind):
    draw = np.random.default_rng(5)
    truth = population(draw, 500_000)[0].mean()
    chosen = SETTINGS.changed(interval="percentile", resamples=500)
    chosen = chosen if kind == "percentile" else SETTINGS
    hits, repetitions = 0, 800
    for _ in range(repetitions):
        human, *judges = population(draw, 300)
        order = draw.permutation(300)
        known, rest = order[:50], order[50:]
        own, beside = judges[0][known], judges[0][rest]
        if kind == "linear":
            both = np.stack(judges)
            own, beside = combined(human[known], both[:, known], both[:, rest])
        found = estimated(human[known], own, beside, chosen, finite=kind == "queries")
        expected = human.mean() if kind == "queries" else truth
        hits += found.low <= expected <= found.high
    # 95 %, less or more by four standard errors.
    assert 0.919 < hits / repetitions < 0.981


def qrels_of(draw: np.random.Generator, queries: int, noise: float) -> tuple[Any, Any]:
    human = {
        f"q{q:03}": {f"d{d}": int(draw.random() < 0.35) for d in range(20)} for q in range(queries)
    }
    judge = {
        query: {doc: grade if draw.random() > noise else 1 - grade for doc, grade in docs.items()}
        for query, docs in human.items()
    }
    return human, judge


def runs_of(human: Any, draw: np.random.Generator) -> dict[str, Any]:
    return {
        name: {
            query: {doc: grade + draw.normal(0, spread) for doc, grade in docs.items()}
            for query, docs in human.items()
        }
        for name, spread in (("good", 0.7), ("bad", 2.0))
    }


@pytest.fixture(scope="module")
def data() -> Any:
    draw = np.random.default_rng(8)
    human, judge = qrels_of(draw, 120, 0.1)
    sample = sorted(human)
    draw.shuffle(sample)
    return {query: human[query] for query in sample[:40]}, judge, runs_of(human, draw), human


def test_the_parts_of_an_estimate_are_those_of_evaluate(data):
    people, judge, runs, _ = data
    found = fr.estimate(people, judge, runs, "map P@5")
    for measure in ("map", "P@5"):
        mean = fr.evaluate(people, runs["good"], measure).mean[measure]
        assert found.human(measure, "good") == pytest.approx(mean, abs=1e-12)
        mean = fr.evaluate(judge, runs["good"], measure).mean[measure]
        assert found.judge(measure, "good") == pytest.approx(mean, abs=1e-12)
        low, high = found.interval(measure, "good")
        assert low < found.value(measure, "good") < high
        assert 0.3 < found.weight(measure, "good") <= 1.0
    row = dict(zip(found.table().names, next(found.table().rows()), strict=True))
    assert row["width"] < 1
    assert row["effective"] == pytest.approx(40 / row["width"] ** 2)


def test_a_pair_is_the_estimated_difference_with_corrected_p_values(data):
    people, judge, runs, _ = data
    found = fr.estimate(people, judge, runs | {"other": runs["bad"]}, "map")
    pair, turned = found.pair("map", "good", "bad"), found.pair("map", "bad", "good")
    assert pair.low < pair.difference < pair.high
    assert (turned.difference, turned.low, turned.high) == (-pair.difference, -pair.high, -pair.low)
    table = found.pairs().columns
    known = [p for p in table["p"] if p == p]
    assert table["p_adjusted"][0] == pytest.approx(min(1.0, len(known) * min(known)))


@pytest.mark.filterwarnings("ignore:.*map them with scale:UserWarning")
def test_with_a_useless_judge_the_estimate_is_that_of_people(data):
    people, judge, runs, _ = data
    same = {query: dict.fromkeys(docs, 1) for query, docs in judge.items()}
    found = fr.estimate(people, same, runs["good"], "P@5")
    (name,) = found.names
    assert found.weight("P@5", name) == 0.0
    assert found.value("P@5", name) == found.human("P@5", name)


def test_people_who_judged_every_query_leave_nothing_uncertain(data):
    _, judge, runs, human = data
    found = fr.estimate(human, judge, runs, "map", population="queries")
    low, high = found.interval("map", "good")
    expected = fr.evaluate(human, runs["good"], "map").mean["map"]
    assert low == high == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("judges", ["linear", "mean", "majority"])
def test_several_judges_narrow_the_interval_of_one(data, judges):
    people, judge, runs, human = data
    draw = np.random.default_rng(4)
    others = [
        {
            query: {doc: grade if draw.random() > 0.1 else 1 - grade for doc, grade in docs.items()}
            for query, docs in human.items()
        }
        for _ in range(2)
    ]
    alone = fr.estimate(people, judge, runs, "nDCG@10").table().columns["width"][0]
    found = fr.estimate(people, [judge, *others], runs, "nDCG@10", judges=judges)
    assert found.table().columns["width"][0] < alone


def test_pairs_that_the_judge_lacks_are_unjudged_on_both_sides(data):
    people, judge, runs, _ = data
    query = next(iter(people))
    fewer = judge | {query: {doc: g for doc, g in judge[query].items() if doc != "d3"}}
    found = fr.estimate(people, fewer, runs, "P@5")
    assert any(note.startswith("1 pair that people judged and the judge") for note in found.notes)


def test_negative_grades_of_either_side_are_unjudged(data):
    people, judge, runs, _ = data
    query, unjudged = next(iter(people)), {"q999": {"d0": -1}}
    without = people | {query: {doc: g for doc, g in people[query].items() if doc != "d3"}}
    with_negative = unjudged | without | {query: without[query] | {"d3": -1}}
    estimates = [
        fr.estimate(qrels, by_judge, runs, "map P@5")
        for qrels, by_judge in ((without, judge), (with_negative, judge | unjudged))
    ]
    assert str(estimates[0]) == str(estimates[1])


def test_a_plot_has_three_intervals_of_each_system(data):
    pytest.importorskip("matplotlib")
    people, judge, runs, _ = data
    found = fr.estimate(people, judge, runs, "map nDCG@10")
    axes = found.plot("nDCG@10")
    bars = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2]
    assert len(bars) == 3 * len(found.names)
    assert tuple(bars[1]) == found.interval("nDCG@10", found.names[0])


def test_values_that_are_mostly_the_same_are_noted(data):
    people, judge, runs, _ = data
    found = fr.estimate(people, judge, runs, "success_1000", interval="percentile")
    assert any("half or more of the human values are the same" in note for note in found.notes)


@pytest.mark.parametrize("interval", ["t", "percentile"])
@pytest.mark.parametrize("measure", ["P@5", "success_1000"])
def test_equal_values_leave_the_mean_uncertain(measure, interval):
    docs = dict.fromkeys(map("d{}".format, range(9)), 1) | {"d7": 0}
    judge = {f"q{q:03}": docs for q in range(60)}
    people = {query: docs | {"d8": 0} for query, docs in [*judge.items()][:20]}
    run = {query: {doc: -float(doc[1:]) for doc in docs} for query, docs in judge.items()}
    low, high = fr.estimate(people, judge, {"a": run}, measure, interval=interval).interval(
        measure, "a"
    )
    # Clopper and Pearson, for 20 of 20.
    assert (low, high) == pytest.approx((0.025 ** (1 / 20), 1.0))
    known = fr.estimate(people, judge, {"a": run}, measure, population="queries")
    low, high = known.interval(measure, "a")
    # Of 60 queries, at most 8 are others: the chance to draw 20 without one of 9 is below 0.025.
    assert stats.hypergeom.pmf(0, 60, 8, 20) >= 0.025 > stats.hypergeom.pmf(0, 60, 9, 20)
    assert (low, high) == pytest.approx((1 - 8 / 60, 1.0))


@pytest.mark.parametrize("n", [3, 4, 6, 8, 9, 10, 12, 20])
def test_equal_differences_are_significant_if_their_interval_excludes_0(n):
    values = estimated(
        np.full(n, 0.5), np.zeros(n), np.zeros(9), SETTINGS, finite=False, limits=(-1, 1)
    )

    same = 0.025 ** (1 / n)
    assert values.low == pytest.approx(0.5 * same - (1 - same))
    assert (values.p > 0.05) == (values.low < 0)


def test_equal_values_of_a_measure_without_limits_have_no_interval():
    known, others = np.ones(5), np.ones(20)
    estimate = estimated(known, known, others, SETTINGS, finite=False)
    assert np.isnan([estimate.low, estimate.high, estimate.human_error]).all()


def test_a_human_sample_that_is_not_random_is_a_warning(data):
    _, judge, runs, human = data
    by_value = sorted(judge, key=lambda query: sum(judge[query].values()))
    easiest = {query: human[query] for query in by_value[-30:]}
    with pytest.warns(UserWarning, match="do not look like a random sample"):
        fr.estimate(easiest, judge, runs, "P@5")


def estimated_with(data: Any, **changes: Any) -> Any:
    people, judge, runs, _ = data
    given = {"human": people, "judge": judge, "runs": runs, "measures": "map"} | changes
    return fr.estimate(**given)


@calls("""
estimated_with(data, human={"q000": {"d1": 1}}) => GroupError: expected 3 or more queries...
estimated_with(data, human={"q9": {"d1": 1}}) =>
  GroupError: the judge lacks 1 query that people judged, such as 'q9'...
estimated_with(data, judge=data[0]) => GroupError: ...of people and of the judge are the same...
estimated_with(data, interval="bca") => OptionError: interval: expected one of 't', 'percentile'...
estimated_with(data, correction="max-t") => OptionError: correction: 'max-t' is not for estimates...
estimated_with(data, population="some") => OptionError: population: expected...
estimated_with(data, scale={0: 0}) => OptionError: scale: no grade for 1...
estimated_with(data, measures="gm_map") => MeasureError: ...gm_map...
estimated_with(data).value("P@5", "good") => MeasureError: 'P@5' was not estimated; expected map
estimated_with(data).value("map", "worst") =>
  OptionError: run: 'worst' is not one of the systems: 'good', 'bad'
estimated_with(data).pair("map", "bad", "bad") =>
  OptionError: ...expected two systems, found 'bad' twice
""")
def test_errors_name_what_is_wrong(data, call, expected):
    check_error(call, expected, globals() | {"data": data})
