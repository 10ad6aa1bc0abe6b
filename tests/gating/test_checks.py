"""The statistics and policies of a gate, against scipy and by hand."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastrank as fr

MEASURE = "RR"


def _rank(value: float) -> dict[str, float]:
    """A ranking whose reciprocal rank is the value, 1 / n."""
    return {("d" if place == round(1 / value) else f"x{place}"): -place for place in range(1, 21)}


def _judged(
    before: list[float], now: list[float], measure: str = MEASURE, **options: Any
) -> fr.types.Verdict:
    """The verdict on reciprocal ranks."""
    queries = [f"q{place:03}" for place in range(len(before))]
    qrels = {query: {"d": 1} for query in queries}
    runs = [
        {query: _rank(value) for query, value in zip(queries, values, strict=True)}
        for values in (before, now)
    ]
    file = io.BytesIO()
    fr.save_baseline(file, qrels, runs[0], measure)
    return fr.gate(io.BytesIO(file.getvalue()), qrels, runs[1], **options)


def _drawn(seed: int, n: int = 40) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    values = 1.0 / rng.integers(1, 8, (2, n))
    return values[0].tolist(), values[1].tolist()


@pytest.mark.parametrize("seed", range(4))
def test_p_of_a_drop_is_that_of_scipys_one_sided_paired_t_test(seed: int) -> None:
    before, now = _drawn(seed)

    found = _judged(before, now).results[0]
    assert found.p == pytest.approx(
        stats.ttest_rel(now, before, alternative="less").pvalue, rel=1e-12
    )


@pytest.mark.parametrize("seed", range(4))
def test_p_of_non_inferiority_is_that_of_scipy_with_the_margin_added(seed: int) -> None:
    before, now = _drawn(seed)

    found = _judged(before, now, policy="non-inferior", max_drop=0.1).results[0]
    shifted = stats.ttest_rel(np.add(now, 0.1), before, alternative="greater")
    assert found.p == pytest.approx(shifted.pvalue, rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_non_inferior_passes_exactly_if_its_p_is_at_most_alpha(seed: int, alpha: float) -> None:
    before, now = _drawn(seed)

    found = _judged(before, now, policy="non-inferior", max_drop=0.05, alpha=alpha).results[0]
    assert (found.result == "pass") == (found.p is not None and found.p <= alpha)


def test_the_interval_has_one_sided_bounds_of_level_1_minus_alpha() -> None:
    before, now = _drawn(1)

    found = _judged(before, now, alpha=0.1).results[0]
    interval = stats.ttest_rel(now, before).confidence_interval(0.8)
    assert (found.low, found.high) == pytest.approx(tuple(interval), rel=1e-9)


def test_p_of_the_randomization_test_is_that_of_all_sign_flips() -> None:
    before, now = [1, 1, 1, 0.5, 1, 0.25], [0.5, 0.25, 1, 1, 0.2, 0.2]
    exact = stats.permutation_test(
        (np.subtract(now, before),), np.mean, permutation_type="samples", n_resamples=np.inf,
        alternative="less",
    )  # fmt: skip

    found = _judged(before, now, test="randomization").results[0]
    assert found.p == pytest.approx(exact.pvalue, rel=1e-12)


def test_a_run_equal_to_the_baseline_passes_every_policy() -> None:
    for policy in ("drop", "significant", "non-inferior"):
        verdict = _judged([1, 0.5], [1, 0.5], policy=policy, max_drop=0)
        assert verdict.passed
        found = verdict.results[0]
        assert (found.wins, found.ties, found.losses) == (0, 2, 0)


def test_drop_fails_whatever_the_significance() -> None:
    before, now = [1.0] * 30, [1.0] * 29 + [0.2]

    assert _judged(before, now, policy="drop", max_drop=0.02).status == "fail"
    assert _judged(before, now, policy="drop", max_drop=0.03).status == "pass"


def test_significant_passes_a_drop_that_may_be_chance_and_notes_it() -> None:
    before, now = [1, 1, 1, 0.5, 0.5, 0.2] * 2, [0.5, 0.2, 0.5, 1, 1, 0.5] * 2

    verdict = _judged(before, now)
    assert verdict.status == "pass"
    assert verdict.results[0].message.startswith("RR fell by 0.0833 to 0.6167; at most 0.02 is")
    assert "not significant (p = " in str(verdict)


def test_a_drop_of_exactly_what_is_allowed_passes() -> None:
    verdict = _judged([1.0] * 10, [1.0] * 9 + [0.5], policy="drop", max_drop=0.05)

    assert verdict.status == "pass"


def test_significant_is_undecided_if_too_few_queries_differ() -> None:
    """With two of eight, no sign flips could give p <= 0.05."""
    verdict = _judged([1.0] * 8, [1, 1, 1, 1, 0.5, 0.05, 1, 1])

    assert (verdict.status, verdict.passed) == ("undecided", False)
    assert verdict.reasons == [
        "RR fell by 0.1812 to 0.8187; at most 0.02 is allowed, but only 2 of 8 queries differ, too"
        " few to tell chance from a regression"
    ]


def test_the_reason_of_a_single_difference_is_singular() -> None:
    verdict = _judged([1.0] * 8, [1, 1, 1, 1, 1, 0.05, 1, 1])

    assert "but only 1 of 8 queries differs, too few" in verdict.reasons[0]


def test_undecided_passes_if_few_queries_only_warn() -> None:
    verdict = _judged([1, 1, 1], [1, 1, 0.5], on_few="warn")

    assert (verdict.status, verdict.passed) == ("undecided", True)


def test_one_query_is_undecided_for_non_inferior() -> None:
    verdict = _judged([1.0], [0.5], policy="non-inferior")

    assert verdict.status == "undecided"
    assert verdict.reasons == ["RR: 1 query is too few for an interval"]


def test_a_constant_drop_is_judged_by_randomization() -> None:
    found = _judged([1.0] * 6, [0.5] * 6).results[0]

    assert (found.p, found.result) == (0.5**6, "fail")


def test_a_rise_is_a_regression_where_lower_values_are_better() -> None:
    before, now = [1, 0.5] * 10, [0.25, 0.2] * 10

    verdict = _judged(before, now, "FirstRank", max_drop=1.0)
    assert verdict.status == "fail"
    assert verdict.reasons[0].startswith("FirstRank rose by 3.0000 to 4.5000; at most 1 is allowed")
    assert _judged(now, before, "FirstRank").passed
    worst = next(verdict.regressed("FirstRank", 1).rows())
    assert worst == ("q000", 1.0, 4.0, 3.0)


def test_a_mean_below_its_minimum_fails_even_if_it_did_not_fall() -> None:
    verdict = _judged([0.5] * 4, [0.5] * 4, min={"RR": 0.6})

    assert verdict.reasons == ["RR is 0.5000; at least 0.6 is required"]
    assert _judged([0.5] * 4, [0.5] * 4, min={"RR": 0.5}).passed


def test_a_share_of_unjudged_documents_above_its_limit_fails() -> None:
    verdict = _judged([1.0] * 4, [1.0] * 4, max_unjudged=0.9)

    assert verdict.reasons == [
        "95.0% of the retrieved documents are unjudged; at most 90% are allowed"
    ]
    assert _judged([1.0] * 4, [1.0] * 4, max_unjudged=0.95).passed


def test_limits_are_by_measure_and_none_is_for_the_others() -> None:
    verdict = _judged([1.0] * 9, [1.0] * 9, "RR P@5 P@10", max_drop={"p@5": 0.1, None: 0.3})

    assert [one.allowed for one in verdict.results] == [0.3, 0.1, 0.3]


def test_an_improvement_beyond_the_limit_asks_for_a_new_baseline() -> None:
    verdict = _judged([0.5] * 9, [1.0] * 9)

    assert verdict.status == "pass"
    assert verdict.notes[-1] == (
        "the baseline is old: RR is 0.5000 above it; save a new one (`fastrank gate save`)"
    )
    assert verdict.is_improvement


def test_values_on_other_judgments_are_no_improvement() -> None:
    file = io.BytesIO()
    fr.save_baseline(file, {"q": {"a": 1}}, {"q": {"b": 2, "a": 1}}, "RR")

    verdict = fr.gate(
        io.BytesIO(file.getvalue()), {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1}},
        allow_other_qrels=True,
    )  # fmt: skip

    assert verdict.passed
    assert not verdict.is_improvement


def test_a_better_mean_is_no_improvement_while_another_is_worse() -> None:
    verdict = _judged(
        [0.5, 0.5, 0.1] * 9, [1.0, 0.2, 0.1] * 9, "RR P@2 P@3", policy="drop", max_drop=1
    )

    assert verdict.passed
    assert not verdict.is_improvement


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "point"}, "policy: expected one of"),
        ({"alpha": 0.5}, "alpha: expected a number between 0 and 0.5, found 0.5"),
        ({"max_drop": -1}, "max_drop: expected 0 or more, found -1"),
        ({"max_drop": {"map": 0.1}}, "max_drop: 'map' is not in the baseline, which has RR"),
        ({"min": {"P@5": 0.1}}, "min: 'P@5' is not in the baseline, which has RR"),
        ({"max_unjudged": 2}, "max_unjudged: expected a share from 0 to 1, found 2"),
        ({"policy": "non-inferior", "test": "randomization"}, "test: policy='non-inferior' uses"),
    ],
)
def test_invalid_limits_are_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(fr.OptionError) as error:
        _judged([1.0] * 4, [1.0] * 4, **options)

    assert str(error.value).startswith(message)


def test_a_minimum_for_a_measure_where_lower_is_better_is_an_error() -> None:
    with pytest.raises(fr.OptionError, match="lower values are better"):
        _judged([1.0] * 4, [1.0] * 4, "FirstRank", min={"FirstRank": 1})


def _of_ties(
    policy: Any, tied: dict[str, float], measure: str = MEASURE, saved: Any = None
) -> fr.types.Verdict:
    """The verdict on a run of 20 queries of which every second one ranks `d` so."""
    queries = [f"q{place:02}" for place in range(20)]
    first = {"d": 2.0, "x": 1.0}
    run = {query: tied if place % 2 else first for place, query in enumerate(queries)}
    qrels, file = {query: {"d": 1} for query in queries}, io.BytesIO()
    fr.save_baseline(file, qrels, dict.fromkeys(queries, first), measure, **(saved or {}))
    return fr.gate(io.BytesIO(file.getvalue()), qrels, run, policy=policy)


@pytest.mark.parametrize("policy", ["significant", "drop", "non-inferior"])
def test_a_verdict_that_the_order_of_tied_documents_decides_is_noted(policy: str) -> None:
    worst, best = (_of_ties(policy, {"d": score, "x": 1.0}).status for score in (0.5, 1.5))

    assert (worst, best) == ("fail", "pass")
    assert _of_ties(policy, {"d": 1.0, "x": 1.0}).notes[-1] == (
        "ties decide this verdict: fail with tied documents in the worst order, pass in the best;"
        " a baseline saved with --ties average removes the question"
    )


def test_a_verdict_of_all_orders_of_tied_documents_is_not_noted() -> None:
    tied = {"y": 9.0, "z": 8.0, "d": 1.0, "x": 1.0}

    assert not [note for note in _of_ties("drop", tied).notes if "this verdict" in note]


def test_the_remedy_for_tied_documents_works() -> None:
    found = _of_ties("drop", {"d": 1.0, "x": 1.0}, saved={"ties": "average"})

    assert found.results[0].now == (1.0 + 0.75) / 2
    assert not any("ties decide" in note for note in found.notes)


def test_without_expected_values_the_remedy_is_other_scores() -> None:
    note = _of_ties("drop", {"d": 1.0, "x": 1.0}, "ERR@10").notes[-1]

    assert note.endswith("different scores of these documents remove the question")
