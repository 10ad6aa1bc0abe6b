"""The statistics and policies of a gate, against scipy and by hand."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastrank as fr
from tests.helpers.tables import calls, cases, check_error, giving


def rank(value: float) -> dict[str, float]:
    """A ranking whose reciprocal rank is the value, 1 / n."""
    return {("d" if place == round(1 / value) else f"x{place}"): -place for place in range(1, 21)}


def gated(
    qrels: Any,
    before: Any,
    now: Any,
    measure: str,
    options: Any,
    saved: Any = None,
    judged: Any = None,
) -> Any:
    """The verdict on a run, the baseline being another; judged: the judgments of the baseline."""
    file = io.BytesIO()
    fr.save_baseline(file, judged or qrels, before, measure, **(saved or {}))
    return fr.gate(io.BytesIO(file.getvalue()), qrels, now, **options)


def judged(
    before: list[float], now: list[float], measure: str = "RR", **options: Any
) -> fr.types.Verdict:
    """The verdict on reciprocal ranks."""
    queries = [f"q{place:03}" for place in range(len(before))]
    runs = [dict(zip(queries, map(rank, values), strict=True)) for values in (before, now)]
    return gated({query: {"d": 1} for query in queries}, *runs, measure, options)


def drawn(seed: int, n: int = 40) -> tuple[list[float], list[float]]:
    values = 1.0 / np.random.default_rng(seed).integers(1, 8, (2, n))
    return values[0].tolist(), values[1].tolist()


@pytest.mark.parametrize("seed", range(4))
def test_p_is_that_of_scipys_one_sided_paired_t_test(seed):
    before, now = drawn(seed)

    drop = judged(before, now).results[0]
    inferior = judged(before, now, policy="non-inferior", max_drop=0.1).results[0]

    expected = stats.ttest_rel(now, before, alternative="less")
    assert drop.p == pytest.approx(expected.pvalue, rel=1e-12)
    shifted = stats.ttest_rel(np.add(now, 0.1), before, alternative="greater")
    assert inferior.p == pytest.approx(shifted.pvalue, rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_non_inferior_passes_exactly_if_its_p_is_at_most_alpha(seed, alpha):
    verdict = judged(*drawn(seed), policy="non-inferior", max_drop=0.05, alpha=alpha)

    found = verdict.results[0]
    assert (found.result == "pass") == (found.p is not None and found.p <= alpha)


def test_the_interval_has_one_sided_bounds_of_level_1_minus_alpha():
    before, now = drawn(1)

    found = judged(before, now, alpha=0.1).results[0]

    interval = stats.ttest_rel(now, before).confidence_interval(0.8)
    assert (found.low, found.high) == pytest.approx(tuple(interval), rel=1e-9)


def test_p_of_the_randomization_test_is_that_of_all_sign_flips():
    before, now = [1, 1, 1, 0.5, 1, 0.25], [0.5, 0.25, 1, 1, 0.2, 0.2]

    found = judged(before, now, test="randomization").results[0]

    exact = stats.permutation_test(
        (np.subtract(now, before),),
        np.mean,
        permutation_type="samples",
        n_resamples=np.inf,
        alternative="less",
    )
    assert found.p == pytest.approx(exact.pvalue, rel=1e-12)


@pytest.mark.parametrize("policy", ["drop", "significant", "non-inferior"])
def test_a_run_equal_to_the_baseline_passes_every_policy(policy):
    verdict = judged([1, 0.5], [1, 0.5], policy=policy, max_drop=0)

    assert verdict.passed
    found = verdict.results[0]
    assert (found.wins, found.ties, found.losses) == (0, 2, 0)


# What is judged, then the status, whether it passes, and the reasons.
VERDICTS = cases("""
# drop fails whatever the significance; a drop of exactly what is allowed passes.
judged([1.0] * 30, [1.0] * 29 + [0.2], policy='drop', max_drop=0.02)
  fail: RR fell by 0.0267 to 0.9733; at most 0.02 is allowed
judged([1.0] * 30, [1.0] * 29 + [0.2], policy='drop', max_drop=0.03) => pass:
judged([1.0] * 10, [1.0] * 9 + [0.5], policy='drop', max_drop=0.05) => pass:
# With two of eight, no sign flips could give p <= 0.05.
judged([1.0] * 8, [1, 1, 1, 1, 0.5, 0.05, 1, 1])
  undecided: RR fell by 0.1812 to 0.8187; at most 0.02 is allowed, but only 2 of 8 queries differ,
    too few to tell chance from a regression
judged([1.0] * 8, [1, 1, 1, 1, 1, 0.05, 1, 1])
  undecided: RR fell by 0.1187 to 0.8812; at most 0.02 is allowed, but only 1 of 8 queries differs,
    too few to tell chance from a regression
# With alpha = 0.25, two could.
judged([1.0] * 8, [1, 1, 1, 1, 0.5, 0.05, 1, 1], alpha=0.25)
  fail: RR fell by 0.1812 to 0.8187; at most 0.02 is allowed (p = 0.0968)
judged([1.0, 0.5], [0.5, 0.25], policy='non-inferior')
  fail: RR may be worse by up to 1.1642 (95% confidence); at most 0.02 is allowed
judged([1.0], [0.5], policy='non-inferior') => undecided: RR: 1 query is too few for an interval
# A mean below its minimum fails even if it did not fall.
judged([0.5] * 4, [0.5] * 4, min={'RR': 0.6}) => fail: RR is 0.5000; at least 0.6 is required
judged([0.5] * 4, [0.5] * 4, min={'RR': 0.5}) => pass:
judged([1.0] * 4, [1.0] * 4, max_unjudged=0.9)
  fail: 95.0% of the retrieved documents are unjudged; at most 90% are allowed
judged([1.0] * 4, [1.0] * 4, max_unjudged=0.95) => pass:
# Where lower values are better, a rise is a regression.
judged([1, 0.5] * 10, [0.25, 0.2] * 10, 'FirstRank', max_drop=1.0)
  fail: FirstRank rose by 3.0000 to 4.5000; at most 1 is allowed (p = 9.5e-07)
judged([0.25, 0.2] * 10, [1, 0.5] * 10, 'FirstRank') => pass:
""")


@pytest.mark.parametrize(("call", "expected"), VERDICTS)
def test_the_verdict_has_a_status_and_reasons(call, expected):
    verdict = eval(call)

    assert f"{verdict.status}: {'; '.join(verdict.reasons)}".strip() == expected
    assert verdict.passed == (verdict.status == "pass")


CHANCE = judged([1, 1, 1, 0.5, 0.5, 0.2] * 2, [0.5, 0.2, 0.5, 1, 1, 0.5] * 2)
FEW, CONSTANT = judged([1] * 3, [1, 1, 0.5], on_few="warn"), judged([1.0] * 6, [0.5] * 6)
WORSE = judged([1, 0.5] * 10, [0.25, 0.2] * 10, "FirstRank", max_drop=1.0)
LIMITS = judged([1.0] * 9, [1.0] * 9, "RR P@5 P@10", max_drop={"p@5": 0.1, None: 0.3})
BETTER = judged([0.5] * 9, [1.0] * 9)
MIXED = judged([0.5, 0.5, 0.1] * 9, [1.0, 0.2, 0.1] * 9, "RR P@2 P@3", policy="drop", max_drop=1)
ONE, TWO = {"q": {"a": 1}}, {"q": {"a": 1}, "r": {"a": 1}}
ON_OTHERS = gated(TWO, {"q": {"b": 2, "a": 1}}, ONE, "RR", {"allow_other_qrels": True}, judged=ONE)

# Values on other judgments, or while another mean is worse, are no improvement.
test_chance_limits_and_improvements = giving("""
CHANCE.status => "pass"
CHANCE.results[0].message.startswith("RR fell by 0.0833 to 0.6167; at most 0.02 is") => True
"not significant (p = " in str(CHANCE) => True
(FEW.status, FEW.passed) => ("undecided", True)
(CONSTANT.results[0].p, CONSTANT.results[0].result) => (0.5**6, "fail")
next(WORSE.regressed("FirstRank", 1).rows()) => ("q000", 1.0, 4.0, 3.0)
[one.allowed for one in LIMITS.results] => [0.3, 0.1, 0.3]
(BETTER.status, BETTER.is_improvement) => ("pass", True)
BETTER.notes[-1]
    => "the baseline is old: RR is 0.5000 above it; save a new one (`fastrank gate save`)"
(ON_OTHERS.passed, ON_OTHERS.is_improvement) => (True, False)
(MIXED.passed, MIXED.is_improvement) => (True, False)
""")


@calls("""
fails(policy="point") => OptionError: policy: expected one of...
fails(alpha=0.5) => OptionError: alpha: expected a number between 0 and 0.5, found 0.5
fails(max_drop=-1) => OptionError: max_drop: expected 0 or more, found -1
fails(max_drop={"map": 0.1}) => OptionError: max_drop: 'map' is not in the baseline, which has RR
fails(min={"P@5": 0.1}) => OptionError: min: 'P@5' is not in the baseline, which has RR
fails(max_unjudged=2) => OptionError: max_unjudged: expected a share from 0 to 1, found 2
fails(policy="non-inferior", test="randomization") =>
  OptionError: test: policy='non-inferior' uses the interval...
fails(measure="FirstRank", min={"FirstRank": 1}) =>
  OptionError: min: 'FirstRank': lower values are better...
""")
def test_invalid_limits_are_errors(call, expected):
    check_error(call, expected, globals() | {"fails": partial(judged, [1.0] * 4, [1.0] * 4)})


def tied(
    policy: str, scores: dict[str, float], measure: str = "RR", saved: Any = None
) -> fr.types.Verdict:
    """The verdict on a run of 20 queries of which every second one ranks `d` so."""
    queries = [f"q{place:02}" for place in range(20)]
    first = {"d": 2.0, "x": 1.0}
    run = {query: scores if place % 2 else first for place, query in enumerate(queries)}
    qrels, before = {query: {"d": 1} for query in queries}, dict.fromkeys(queries, first)
    return gated(qrels, before, run, measure, {"policy": policy}, saved)


TIES = {"d": 1.0, "x": 1.0}


@pytest.mark.parametrize("policy", ["significant", "drop", "non-inferior"])
def test_a_verdict_that_the_order_of_tied_documents_decides_is_noted(policy):
    worst, best = (tied(policy, {"d": score, "x": 1.0}).status for score in (0.5, 1.5))

    assert (worst, best) == ("fail", "pass")
    assert tied(policy, TIES).notes[-1] == (
        "the verdict depends on tied scores: fail with tied documents in the worst order, pass in"
        " the best; a baseline saved with --ties average averages over all orders"
    )


AVERAGED = tied("drop", TIES, saved={"ties": "average"})

# Without expected values, the remedy is other scores.
test_ties_that_decide_nothing_are_not_noted_and_the_remedy_works = giving("""
[own for own in tied("drop", {"y": 9.0, "z": 8.0, **TIES}).notes if "the verdict" in own] => []
AVERAGED.results[0].now => (1.0 + 0.75) / 2
[note for note in AVERAGED.notes if "tied scores" in note] => []
tied("drop", TIES, "ERR@10").notes[-1].endswith(
    "give these documents different scores") => True
""")
