"""Mistakes of other tools: irreproducible, zero and NaN p-values, constant values, few queries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fastrank as fr
from tests.helpers.comparisons import compared, pair_of, random_rows, scores_of
from tests.helpers.strategies import examples, slow_in_python
from tests.helpers.tables import giving

pytestmark = slow_in_python

FLIPS: dict[str, Any] = {"test": "randomization", "exact_up_to": 0}
RANDOM = [
    {**FLIPS, "resamples": 3000},
    {"test": "tukey", "resamples": 1000},
    {"test": "bootstrap", "resamples": 1000},
    {"interval": "percentile", "resamples": 1000},
    {"interval": "bca", "resamples": 1000},
    {"interval": "studentized", "resamples": 1000},
    {"correction": "max-t", "baseline": "a", "resamples": 1000},
]
TESTS = ["t", "randomization", "wilcoxon", "sign", "tukey", "bootstrap"]
# One success in each query, or none.
SHARE_OF_ALL, SHARE_OF_NONE = (0.6915028921812392, 1.0), (0.0, 0.3084971078187608)


@pytest.mark.parametrize("options", RANDOM, ids=lambda own: "-".join(map(str, own.values())))
@pytest.mark.parametrize("gaps", [False, True])
def test_results_depend_on_no_threads_and_no_order_of_systems(options, gaps):
    rows = random_rows(5, 70)
    if gaps:
        rows[1, 3] = rows[4, 7:9] = math.nan
    scores = scores_of(rows)
    forward = fr.compare_scores(scores, **options)
    backward = fr.compare_scores(dict(reversed(scores.items())), **options)

    table = forward.pairs()
    for threads in (1, 1, 2, 8):
        again = fr.compare_scores(scores, **options, threads=threads)
        assert again.pairs().to_csv() == table.to_csv()
    for a, b in zip(table.columns["a"], table.columns["b"], strict=True):
        one, other = (repr(each.pair("value", a, b)) for each in (forward, backward))
        assert one == other
    for name in scores:
        assert forward.interval_of("value", name) == backward.interval_of("value", name)


HALVED = np.linspace(0.5, 1.0, 60), np.linspace(0.25, 0.5, 60)
SEVENTY = random_rows(2, 70)
UNDERFLOW = np.stack([1.0 + 1e-5 * np.arange(400), 1e-7 * np.arange(400)])
FEW_DIFFER = np.linspace(0, 1, 10), np.linspace(0, 1, 10) + 0.1 * (np.arange(10) < 3)
THREE_WINS = [0.5, 0.6, 0.9], [0.4, 0.1, 0.2]
SKEWED = [0.1, 0.2, 0.15, 0.12, 0.95, 0.11]
ONE_QUERY = compared([[0.1], [0.2], [0.4]])
CONSTANT = compared([[1.0] * 10, [0.0] * 10, [1.0] * 5 + [0.0] * 5])
# In hundreds, which are compared exactly too.
HUNDREDS = np.round(random_rows(2, 60), 2) * 1000
FLIPPED: dict[str, Any] = {**FLIPS, "resamples": 20_000}

# Of ten successes in ten, the interval is that of Clopper and Pearson.
test_p_is_never_zero_and_notes_say_what_it_cannot_find = giving("""
pair_of(*HALVED, test="randomization", resamples=999).p => 1 / 1000
pair_of(*HALVED, test="tukey", resamples=999).p => 1 / 1000
pair_of(*HALVED, test="bootstrap", resamples=999).p => 1 / 1000
len({pair_of(*SEVENTY, **FLIPS, resamples=3000, seed=seed).p for seed in range(5)}) > 1 => True
"<1e-300" in str(compared(UNDERFLOW, baseline="b")) => True
pair_of(*THREE_WINS, test="randomization").p => 0.25
pair_of(*THREE_WINS, test="randomization").smallest_p => 0.25
pair_of(*THREE_WINS, test="randomization").note
    => "cannot be significant: only 3 of 3 queries differ"
pair_of(*FEW_DIFFER).note => "only 3 of 10 queries differ: no test by signs could find this"
pair_of(SEVENTY[0], SEVENTY[0], test=lambda *_: math.nan).p => 1.0
ONE_QUERY.pair("value", "a", "b").p => approx(math.nan, nan_ok=True)
ONE_QUERY.pair("value", "a", "b").p_adjusted => approx(math.nan, nan_ok=True)
ONE_QUERY.significant("value", "a", "b") => False
compared(random_rows(2, 9)).notes => ["few queries (9): tests can find only large differences"]
compared(random_rows(2, 1001)).notes
    => ["with 1,001 queries nearly any difference is significant; look at its size"]
"is about the median of the differences" in compared(SEVENTY, test="wilcoxon").notes[0] => True
"is about the median of the differences" in compared(SEVENTY, test="sign").notes[0] => True
CONSTANT.interval_of("value", "a") => approx(SHARE_OF_ALL)
compared([[1.0] * 9 + [0.0]], interval="studentized").interval_of("value", "a") => (0.0, 1.0)
compared([SKEWED], interval="studentized").interval_of("value", "a")[1] => 1.0
compared([[5.0] * 9 + [7.0], [5.0] * 10], interval="studentized").notes[-1]
    => "2 means have no interval: all values are equal, or those of too many resamples are"
pair_of([5.0] * 9 + [7.0], [5.0] * 10, interval="studentized").note.split("; ")[1]
    => "too many resamples have no variance: no interval"
CONSTANT.interval_of("value", "b") => approx(SHARE_OF_NONE)
CONSTANT.interval_of("value", "c")[1] < 1.0 => True
pair_of(*HUNDREDS, **FLIPPED).p => pair_of(*HUNDREDS / 1000, **FLIPPED).p
pair_of(*HUNDREDS[:, :40], test="randomization").p
    => pair_of(*HUNDREDS[:, :40] / 1000, test="randomization").p
""")


@pytest.mark.parametrize("method", ["t", "percentile", "bca", "studentized"])
def test_intervals_of_ten_successes_or_failures_hold(method):
    """The exact coverage: over the binomial probabilities of all outcomes."""
    rows = [[1.0] * k + [0.0] * (10 - k) for k in range(11)]
    alone = [compared([row], interval=method, resamples=2000) for row in rows]
    bounds = [own.interval_of("value", "a") for own in alone]
    for share in (0.5, 0.7, 0.8, 0.9):
        holds = [low <= share <= high for low, high in bounds]
        assert stats.binom.pmf(np.arange(11), 10, share) @ holds > 0.85


@pytest.mark.parametrize("test", TESTS)
def test_identical_systems_have_p_1_and_change_nothing_but_the_correction(test):
    rows = random_rows(3, 40)
    options: dict[str, Any] = {"test": test, "resamples": 500}
    if test != "tukey":
        options["correction"] = "bonferroni"

    without, found = compared(rows, **options), compared([*rows, rows[0]], **options)

    same = found.pair("value", "a", "d")
    assert (same.p, same.p_adjusted, same.effect) == (1.0, 1.0, 0.0)
    assert same.note == "identical on every query"
    assert not any(map(math.isnan, found.pairs().columns["p_adjusted"]))
    if test != "tukey":
        one, other = (each.pair("value", "a", "b") for each in (without, found))
        assert one.p == other.p
        assert other.p_adjusted == pytest.approx(min(1.0, 6 * one.p))


@pytest.mark.parametrize("interval", ["t", "percentile", "bca", "studentized"])
def test_a_constant_difference_is_judged_by_randomization(interval):
    first = np.linspace(0.1, 0.8, 8)

    pair = pair_of(first + 0.1, first, interval=interval, resamples=100)

    assert (pair.p, pair.statistic) == (2.0**-7, math.inf)
    # A share of 1 - 0.025 ** (1 / 8) of other queries may differ by -1 or 1.
    rest = 1 - 0.025 ** (1 / 8)
    assert (pair.low, pair.high) == pytest.approx((0.1 - 1.1 * rest, 0.1 + 0.9 * rest))
    assert "every query differs by the same amount: judged by randomization" in pair.note


SHARES = dict.fromkeys(["P@1", "RR", "ERR", "ours"], SHARE_OF_ALL)
COUNTS = dict.fromkeys(["DCG@1", "FirstRank", "num_rel_ret", "nERR_IA@1"], (math.nan, math.nan))


@pytest.mark.parametrize(("measure", "expected"), (SHARES | COUNTS).items())
def test_only_measures_between_0_and_1_have_the_interval_of_shares(measure, expected):
    values = {f"q{i}": {measure: 1.0} for i in range(10)}

    found = fr.compare_scores({"a": values, "b": values})

    assert found.interval_of(measure, "a") == pytest.approx(expected, nan_ok=True)
    # Clopper and Pearson, for a share from -1 to 1.
    of_pair = (-SHARE_OF_NONE[1], SHARE_OF_NONE[1]) if measure in SHARES else expected
    pair = found.pair(measure, "a", "b")
    assert (pair.low, pair.high) == pytest.approx(of_pair, nan_ok=True)


@pytest.mark.parametrize("interval", ["t", "percentile", "bca", "studentized"])
def test_equal_values_of_one_system_leave_its_mean_uncertain(interval):
    rows = [[0.5] * 10, np.linspace(0.1, 0.9, 10)]
    comparison = compared(rows, interval=interval, resamples=500)
    rest = 1 - 0.025 ** (1 / 10)
    bounds = (0.5 - 0.5 * rest, 0.5 + 0.5 * rest)
    assert comparison.interval_of("value", "a") == pytest.approx(bounds)
    above_one = compared(np.array(rows) * 4, interval=interval, resamples=500)
    assert all(map(math.isnan, above_one.interval_of("value", "a")))


def test_equal_clusters_count_as_one_value_each():
    clusters = {f"q{query:03d}": query // 4 for query in range(20)}
    options: Any = {"interval": "percentile", "test": "randomization"}
    pair = pair_of([0.5] * 20, [0.5] * 20, clusters=clusters, **options)
    assert (pair.low, pair.high) == pytest.approx((-(1 - 0.025 ** (1 / 5)), 1 - 0.025 ** (1 / 5)))


@given(st.lists(st.tuples(*[st.integers(0, 10)] * 2), min_size=2, max_size=14), st.randoms())
@examples(30)
def test_p_is_a_probability_that_depends_on_no_order(tenths, random):
    first, second = np.array(tenths).T / 10
    order = random.sample(range(len(first)), len(first))

    for test in ("t", "randomization", "wilcoxon", "sign"):
        pair = pair_of(first, second, test=test)
        assert 0 < pair.p <= 1
        assert pair.low <= pair.difference <= pair.high
        assert pair.wins + pair.ties + pair.losses == len(first)
        assert pair_of(second, first, test=test).p == pair.p
        assert pair_of(first[order], second[order], test=test).p == pytest.approx(pair.p, rel=1e-9)
