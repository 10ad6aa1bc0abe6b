"""How well a reproduced run has the effectiveness of the original.

For the runs in data/, the values also agree with those of repro_eval 0.5.0 (RMSE, nRMSE, ER, DRI),
within 1e-14.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastrank as fr
from tests.helpers.call_rows import check_value, giving

RUNS = ["data/pixels.run", "data/pca.run", "data/profile.run", "data/pixels.run"]


def _scores(measures: str, **options: object) -> list[fr.Scores]:
    found = fr.evaluate("data/digits.qrels", RUNS, measures, **options)
    assert isinstance(found, list)
    return found


def _few(**values: float) -> fr.Scores:
    """Scores of P_2 for some queries: 0, 0.5 or 1."""
    qrels = {
        query: {"a": int(value >= 0.5), "b": int(value == 1)} for query, value in values.items()
    }
    return fr.evaluate(qrels, {query: {"a": 2, "b": 1} for query in values}, "P_2")


def test_the_errors_are_those_of_the_formulas() -> None:
    """Original 1, 0.5, 0 and reproduced 0.5, 0.5, 0.5, where errors of 1, 0.5, 1 are possible."""
    table = fr.reproduce(_few(q1=1, q2=0.5, q3=0), _few(q1=0.5, q2=0.5, q3=0.5))

    (row,) = table.rows()
    assert row == pytest.approx(
        ("P_2", 0.5, 0.5, math.sqrt(0.5 / 3), math.sqrt(0.5 / 2.25), 1), abs=1e-15
    )


def test_values_of_many_queries_are_those_of_numpy() -> None:
    original, reproduced, baseline, other = _scores("map P_10")
    table = fr.reproduce(
        original, reproduced, original_baseline=baseline, reproduced_baseline=other
    )

    for measure, *values in table.rows():
        a, b, c, d = (scores[measure] for scores in (original, reproduced, baseline, other))
        rmse = np.sqrt(np.mean((a - b) ** 2))
        expected = [
            a.mean(),
            b.mean(),
            rmse,
            rmse / np.sqrt(np.mean(np.maximum(a, 1 - a) ** 2)),
            np.mean(b - d) / np.mean(a - c),
            (a.mean() - c.mean()) / c.mean() - (b.mean() - d.mean()) / d.mean(),
            stats.ttest_rel(a, b).pvalue,
        ]
        assert values == pytest.approx(expected, rel=1e-12)


IMPROVED = {
    "original_baseline": _few(q1=0, q2=0.5),
    "reproduced_baseline": _few(q1=0.5, q2=0.5),
}
OTHERS = {"original_baseline": _few(q1=0.5), "reproduced_baseline": _few(q2=0.5, q3=0.5)}
NOTHING = {"original_baseline": _few(q1=0), "reproduced_baseline": _few(q1=0)}
TWO = _few(q1=1, q2=0.5)


def row(original: Any, reproduced: Any, **options: Any) -> tuple[Any, ...]:
    """The only row of the table."""
    return tuple(*fr.reproduce(original, reproduced, **options).rows())


@giving("""
row(TWO, TWO, **IMPROVED) -> approx(("P_2", 0.75, 0.75, 0, 0, 0.5, 1.5, 1))
row(_few(q1=0), _few(q1=1), **NOTHING)[5:7] -> approx((math.nan, math.nan), nan_ok=True)
row(_few(q1=1), _few(q2=0.5, q3=1), queries="different", **OTHERS)
    -> approx(("P_2", 1.0, 0.75, 0.5, 0.5, math.nan), nan_ok=True)
row(_few(q1=1, q2=1), _few(q3=1, q4=1), queries="different")[-1] -> approx(math.nan, nan_ok=True)
""")
def test_effects_are_ratios_of_improvements_over_the_baselines(call: str, value: str) -> None:
    """An improvement of 0.5 over a mean of 0.25, then of 0.25 over 0.5; a ratio to nothing."""
    check_value(call, value, globals())


def test_a_perfect_reproduction_has_no_error() -> None:
    original, baseline, _, same = _scores("map")

    table = fr.reproduce(original, same, original_baseline=baseline, reproduced_baseline=baseline)

    _, mean, other_mean, *values = next(table.rows())
    assert mean == other_mean
    assert values == [0, 0, 1, 0, 1]


def test_measures_beyond_1_have_no_normalized_error() -> None:
    columns = fr.reproduce(*_scores("num_rel_ret")[:2]).columns

    assert columns["rmse"][0] > 1
    assert math.isnan(columns["nrmse"][0])


def test_p_of_a_replication_is_that_of_welch() -> None:
    original, reproduced, *_ = _scores("map")
    few = reproduced.by_group({query: int(query[1:]) % 3 for query in reproduced.queries})[0]

    columns = fr.reproduce(original, few, queries="different").columns

    expected = stats.ttest_ind(original["map"], few["map"], equal_var=False)
    assert columns["p"] == pytest.approx([expected.pvalue], rel=1e-12)
