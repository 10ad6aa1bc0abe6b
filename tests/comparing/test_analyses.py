"""Power, equivalence, Bayes, variance, ranks and effect sizes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastrank as fr
from fastrank.comparing.power import detectable, power_of_t, queries_for
from tests.helpers.comparisons import compare_data, random_rows, scores_of


def compared(rows: Any, **options: Any) -> fr.types.Comparison:
    return fr.compare_scores(scores_of(rows), **options)


def test_power_is_that_of_statsmodels_and_pingouin() -> None:
    """statsmodels 0.15.0: TTestPower().power; pingouin 0.7.0: power_ttest."""
    assert power_of_t(0.3, 50) == pytest.approx(0.5476570389705147, rel=1e-12)
    assert power_of_t(-0.3, 50) == power_of_t(0.3, 50)
    assert power_of_t(3.0, 10_000_000) == 1.0


@pytest.mark.parametrize(
    ("effect", "alpha", "power", "n"),
    [(0.3, 0.05, 0.8, 90), (0.02 / 0.159, 0.05, 0.8, 498), (0.05 / 0.42, 0.01, 0.9, 1054),
     (1.5, 0.05, 0.8, 6)],
)  # fmt: skip
def test_queries_needed_are_those_of_statsmodels(
    effect: float, alpha: float, power: float, n: int
) -> None:
    """statsmodels 0.15.0: TTestPower().solve_power, rounded up."""
    assert queries_for(effect, alpha, power) == n


def test_power_rises_with_the_effect_where_scipy_gives_nan() -> None:
    """scipy's noncentral t distribution is NaN for n = 300 and d_z = 0.5, among others."""
    for n in (5, 10, 50, 300, 352, 2000, 50_000):
        powers = [power_of_t(shift / n**0.5, n) for shift in np.linspace(0.1, 14, 200)]
        assert powers == sorted(powers), n
        assert powers[-1] == pytest.approx(1.0, abs=1e-3)
    assert detectable(300) == pytest.approx(0.16227, abs=1e-5)


def test_the_detectable_effect_has_the_power() -> None:
    for n in (2, 10, 50, 6980):
        assert power_of_t(detectable(n), n) == pytest.approx(0.8, abs=1e-9)


def test_no_number_of_queries_finds_a_difference_of_zero() -> None:
    assert queries_for(0.0) is None
    assert queries_for(1e-9) is None
    with pytest.raises(fr.OptionError, match="more than 1,000,000,000 topics are needed"):
        fr.topics_needed(1e-9, sd=1)


@pytest.mark.parametrize(
    ("systems", "difference", "variance", "power", "n"),
    [(10, 0.1, 0.05, 0.8, 158), (3, 0.05, 0.02, 0.9, 204)],
)
def test_topics_of_an_analysis_of_variance_are_those_of_statsmodels(
    systems: int, difference: float, variance: float, power: float, n: int
) -> None:
    """statsmodels 0.15.0: FTestAnovaPower().solve_power(effect_size=sqrt(D**2 / (2 m variance)),
    k_groups=m) / m, rounded up.
    """
    found = fr.topics_needed(difference, systems=systems, variance=variance, power=power)

    assert found == n


def test_topics_for_an_interval_have_its_expected_width() -> None:
    n = fr.topics_needed(width=0.05, sd=0.159)

    def width(topics: int) -> float:
        t = stats.t.ppf(0.975, topics - 1)
        return 2 * t * 0.159 * stats.chi.mean(topics - 1) / math.sqrt(topics - 1) / topics**0.5

    assert width(n) <= 0.05 < width(n - 1)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sd": 0},
        {"sd": 0.1, "alpha": 1},
        {"systems": 3},
        {"systems": 3, "variance": 1, "sd": 1},
    ],
)
def test_invalid_designs_are_errors(options: dict[str, Any]) -> None:
    with pytest.raises(fr.OptionError):
        fr.topics_needed(0.05, **options)


def test_the_table_of_power_is_about_the_differences() -> None:
    table = compare_data().power("map", differences=[0.02])

    sd = compare_data().pair("map", "pixels", "pca").sd
    assert table.columns["queries_0.02"][0] == queries_for(0.02 / sd)
    assert table.columns["detectable"][0] == pytest.approx(detectable(200) * sd)


def test_equivalence_is_that_of_statsmodels() -> None:
    """statsmodels 0.15.0: weightstats.ttost_paired(first, second, -0.1, 0.1)."""
    table = compared(random_rows(2, 25)).equivalent("value", 0.1)

    assert table.columns["p"] == pytest.approx([0.1608418830875865], rel=1e-10)
    assert table.columns["equivalent"] == [False]


def test_systems_are_equivalent_if_the_interval_is_within_the_margin() -> None:
    own = compare_data(level=0.9).pair("map", "pca", "profile")
    widest = max(-own.low, own.high)

    def equivalent(margin: float) -> bool:
        return bool(compare_data().equivalent("map", margin).columns["equivalent"][2])

    assert equivalent(widest * 1.0001)
    assert not equivalent(widest * 0.9999)
    with pytest.raises(fr.OptionError, match="margin: expected a number above 0"):
        compare_data().equivalent("map", 0)


def test_posterior_probabilities_are_those_of_the_t_distribution() -> None:
    rows = random_rows(2, 25)
    differences = rows[0] - rows[1]
    posterior = stats.t(24, differences.mean(), stats.sem(differences))

    table = compared(rows).bayes("value", 0.02)

    expected = posterior.cdf(-0.02), posterior.cdf(0.02) - posterior.cdf(-0.02), posterior.sf(0.02)
    found = [table.columns[name][0] for name in ("p_b_better", "p_rope", "p_a_better")]
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_analysis_of_variance_is_that_of_statsmodels() -> None:
    """statsmodels 0.15.0: AnovaRM of random_rows(4, 12); the sums of `data/` by ols."""
    table = compared(random_rows(4, 12)).anova("value")

    assert table.columns["df"] == [3, 11, 33]
    assert table.columns["F"][0] == pytest.approx(1.389871, abs=1e-6)
    assert table.columns["p"][0] == pytest.approx(0.263128, abs=1e-6)


@pytest.mark.parametrize(
    ("measure", "f", "p"),
    [
        ("map", 78.13010990794575, 2.3861795e-29),
        ("P_10", 50.46999470574382, None),
        ("recip_rank", 13.04487392511889, 3.2556249e-06),
    ],
)
def test_the_analysis_of_variance_of_data(measure: str, f: float, p: float | None) -> None:
    table = compare_data().anova(measure)

    assert table.columns["F"][0] == pytest.approx(f, rel=1e-10)
    assert p is None or table.columns["p"][0] == pytest.approx(p, rel=1e-6)
    if measure == "map":
        assert table.columns["mean_square"][2] == pytest.approx(0.006582781320443939, rel=1e-10)


def test_cliffs_delta_counts_all_combinations() -> None:
    table = compare_data().effects("map")
    assert table.columns["cliff_unpaired"][0] == pytest.approx(0.230600, abs=1e-6)
    table = compare_data().effects("recip_rank")
    assert table.columns["cliff_unpaired"][2] == pytest.approx(-0.084675, abs=1e-6)


def test_values_that_are_equal_in_decimals_are_ties_in_effect_sizes() -> None:
    table = compared([[0.1 + 0.2, 0.5], [0.3, 0.5]]).effects("value")

    assert table.columns["superiority"] == [0.5]
    assert table.columns["cliff_unpaired"] == [0.0]


def test_superiority_is_the_share_of_wins_and_half_of_the_ties() -> None:
    table = compared([[0.1, 0.2, 0.3, 0.4], [0.1, 0.1, 0.4, 0.1]]).effects("value")

    assert table.columns["superiority"] == [2.5 / 4]


def test_discriminative_power_is_the_share_of_significant_pairs() -> None:
    assert compare_data(correction="none").discriminative_power() == {
        "map": 2 / 3, "P_10": 1.0, "recip_rank": 2 / 3, "ndcg_cut_10": 1.0,
    }  # fmt: skip


def test_ranks_and_the_chance_of_being_best_sum_up() -> None:
    rows = random_rows(6, 40)
    rows[5] = rows[0]

    table = compared(rows).ranks("value", resamples=2000)

    assert sum(table.columns["p_best"]) == pytest.approx(1.0)
    chances = dict(zip(table.columns["system"], table.columns["p_best"], strict=True))
    assert chances["a"] == chances["f"]
    places = dict(zip(table.columns["system"], table.columns["rank"], strict=True))
    assert places["a"] == places["f"]
    for low, rank, high in zip(*(table.columns[c] for c in ("low", "rank", "high")), strict=True):
        assert 1 <= low <= rank <= high <= 6


def test_of_lower_is_better_the_lowest_has_rank_1() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    runs = {"bad": {q: {"b": 2.0, "a": 1.0} for q in qrels}, "good": {q: {"a": 1.0} for q in qrels}}

    table = fr.compare(qrels, runs, "FirstRank").ranks("FirstRank", resamples=50)

    assert table.columns["system"] == ["good", "bad"]
    assert table.columns["p_best"] == [1.0, 0.0]


@pytest.mark.parametrize("form", ["std", "cdf", "sakai", "ecdf"])
def test_standardized_values_of_a_query(form: str) -> None:
    rows = random_rows(5, 6)
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    expected = {
        "std": z,
        "cdf": stats.norm.cdf(z),
        "sakai": np.clip(0.15 * z + 0.5, 0, 1),
        "ecdf": (rows[:, None, :] >= rows[None, :, :]).mean(axis=1),
    }[form]

    found = fr.compare_scores(fr.standardize(scores_of(rows), form=form))

    assert found.values("value") == pytest.approx(expected, rel=1e-12)


def test_a_query_with_the_same_values_has_no_weight() -> None:
    rows = [[0.5, 0.1], [0.5, 0.3]]

    found = {form: fr.standardize(scores_of(rows), form=form) for form in ("std", "cdf", "sakai")}

    assert [own["a"]["q000"]["value"] for own in found.values()] == [0.0, 0.5, 0.5]


@pytest.mark.parametrize("form", ["std", "ecdf"])
def test_queries_with_the_same_values_are_counted(form: str) -> None:
    rows = random_rows(3, 12)
    rows[:, :2] = 0.1 + 0.2

    found = fr.standardize(scores_of(rows), form=form)

    assert found.notes == ["value: all reference systems have the same value on 2 of 12 queries"]
    assert found.notes == fr.compare_scores(found).notes
    assert fr.standardize(scores_of(rows[:, 2:]), form=form).notes == []


def test_values_are_standardized_by_a_file_of_means_and_deviations() -> None:
    import io

    zscores = fr.read_zscores(io.BytesIO(b"q1 value 0.25 0.1\n"))

    assert fr.standardize({"a": {"q1": 0.45}}, zscores)["a"]["q1"]["value"] == pytest.approx(2.0)
    with pytest.raises(fr.GroupError, match="the reference has no value of value for query 'q2'"):
        fr.standardize({"a": {"q2": 0.45}}, zscores)
    with pytest.raises(fr.OptionError, match="form: expected one of 'std', 'cdf', 'sakai'"):
        fr.standardize({"a": {"q1": 0.45}}, zscores, form="ecdf")
