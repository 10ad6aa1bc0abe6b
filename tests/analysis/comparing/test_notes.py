"""Notes on what a comparison shows: which p-values are exact, what contradicts the means, and which
verdicts the order of tied documents decides."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastrank as fr
from fastrank.analysis.comparing.report.sections import summary
from fastrank.cli.main import main
from tests.helpers.comparisons import compare_data, compared, random_rows, scores_of
from tests.helpers.tables import giving


def mostly_higher_but_with_a_lower_mean() -> np.ndarray:
    """a is higher than b on 20 of 22 queries by a little, and lower on two by much."""
    rows = np.full((2, 22), 0.5)
    rows[1] -= 0.01
    rows[1, :2] += 0.4
    return rows


def better_but_for_the_queries_of_all() -> np.ndarray:
    """b is better than a on all but the two queries that c has values for."""
    rows = np.repeat([[0.5], [0.6], [0.2]], 40, axis=1) + 0.02 * random_rows(3, 40)
    rows[1, :2], rows[2, 2:] = 0.3, math.nan
    return rows


OPPOSED = mostly_higher_but_with_a_lower_mean()
BY_SIGNS, BY_RANKS = (compared(OPPOSED, test=test) for test in ("sign", "wilcoxon"))
BASED = [compared(OPPOSED, test=test, baseline="a") for test in ("sign", "wilcoxon")]
LEGEND = "22 queries. diff"
NEITHER = "value: the test favors a, but the mean favors b; neither counts as significantly better"
LOWER = {
    name: {query: {"FirstRank": value} for query, value in own.items()}
    for name, own in scores_of(OPPOSED).items()
}

test_no_system_is_better_if_the_test_and_the_mean_favor_different_ones = giving("""
[found.significant("value", "a", "b") for found in (BY_SIGNS, BY_RANKS)] => [True, True]
[found.beaten("value", "a") + found.beaten("value", "b") for found in (BY_SIGNS, BY_RANKS)]
    => [[], []]
[NEITHER in found.notes for found in (BY_SIGNS, BY_RANKS)] => [True, True]
["▲" in found.to_text(ascii=False).split(LEGEND)[0] for found in BASED] => [False, False]
any("the test favors b, but the mean favors a;" in note
    for note in compare_scores(LOWER, test="sign").notes) => True
any("favors b (also in 1 more pair); neither" in note
    for note in compared([*OPPOSED, OPPOSED[1]], test="sign").notes) => True
""")


def test_a_mean_that_contradicts_a_test_on_more_queries_is_noted():
    found = compared(better_but_for_the_queries_of_all())

    assert found.best("value") == "a"
    assert "a" in found.beaten("value", "b")
    assert (
        "value: b is significantly better than a on the queries with values of both, but its mean"
        " over those with values of all systems is worse" in found.notes
    )
    assert "it is not significantly better than <bdi>b</bdi>" in summary(found)


def test_the_note_on_random_signs_names_the_measures_whose_p_values_are_not_exact():
    found = compare_data(test="randomization")

    exact = {name: found.pair(name, "pixels", "pca").exact for name in found.measures}
    note = "p-values are estimated from 100,000 random sign flips (seed 0)"
    assert found.notes == [f"{', '.join(name for name in exact if not exact[name])}: {note}"]
    assert set(exact.values()) == {True, False}


TWO, THREE = random_rows(2, 12), random_rows(3, 20)


def its_interval(rows: Any, **options: Any) -> str:
    """What the legend of a comparison with a baseline says of the intervals."""
    text = " ".join(compared(rows, baseline="a", **options).to_text().split())
    return text.split("with its ")[1].split(" ▲")[0]


test_the_legend_says_whether_p_values_are_exact_and_corrected = giving("""
compared(TWO, test="randomization").description() => "p ≤ 0.05, exact randomization test"
compared(TWO, test="randomization").resamples => 0
compared(THREE, correction="none").description()
    => "p ≤ 0.05, paired t-test, not corrected for the 3 pairs of a measure"
compared(THREE, correction="none", baseline=["a", "b"]).description()
    => "p ≤ 0.05, paired t-test, not corrected for the 3 pairs of a measure"
compared(THREE, correction="none", family="all").description()
    => "p ≤ 0.05, paired t-test, not corrected for the 3 pairs of all measures"
"corrected" in compared(THREE, test="tukey").description() => False
its_interval(TWO) => "95% interval."
its_interval(TWO, test="randomization") => "95% interval (Student's t)."
its_interval(TWO, interval="bca") => "95% interval (BCa bootstrap)."
its_interval(TWO, test="bootstrap", interval="studentized") => "95% interval."
its_interval(THREE, test="sign") => "95% interval (Student's t, not corrected)."
[note[:71] for note in compared([[1.0] * 12, [0.5] * 12]).notes]
    => ["all differences of a pair are equal: its p is that of the randomization"]
""")

# Pairs of which the order of tied documents decides the verdict.

DOCUMENTS = [f"d{i}" for i in range(6)]
QUERIES = [f"q{i}" for i in range(8)]
QRELS = {query: {"d0": 1, "d1": 0, "d2": 1} for query in QUERIES}
# AP is 0.58 if d3 is before d0, else 0.83. The default order is that of the larger id first.
TIED = {query: {"d3": 2.0, "d0": 2.0, "d2": 1.0} for query in QUERIES}
REMEDY = "ties='average' averages over all orders"


def untied(better: int) -> Any:
    """A run whose AP is 0.83 for so many queries, 0.58 for the others."""
    return {
        query: {"d3": 2.0, "d0": 3.0 if place < better else 1.5, "d2": 1.0}
        for place, query in enumerate(QUERIES)
    }


def random_run(seed: int, levels: int) -> Any:
    scores = np.random.default_rng(seed).integers(0, levels, (len(QUERIES), len(DOCUMENTS)))
    return {
        query: dict(zip(DOCUMENTS, row, strict=True))
        for query, row in zip(QUERIES, scores.astype(float).tolist(), strict=True)
    }


def verdict(one: Any, other: Any) -> tuple[float, bool]:
    """The sign of the difference, and whether it is significant with Bonferroni's correction."""
    difference = round(float(one.mean() - other.mean()), 15)
    return float(np.sign(difference)), bool(stats.ttest_rel(one, other).pvalue * 3 <= 0.05)


@pytest.mark.parametrize("seed", range(15))
def test_pairs_are_counted_whose_extremes_have_another_verdict(seed):
    runs = {f"s{i}": random_run(3 * seed + i, levels) for i, levels in enumerate((8, 16, 60))}
    given, worst, best = (
        {name: fr.evaluate(QRELS, run, "map", ties=ties)["map"] for name, run in runs.items()}
        for ties in ("docno_desc", "worst", "best")
    )

    notes = fr.compare(QRELS, runs, "map", correction="bonferroni").notes

    tied = [note for note in notes if "depends on tied" in note]
    noted = {name for name in runs if any(note.startswith(f"map of {name} ") for note in tied)}
    decided = []
    for a, b in combinations(sorted(runs), 2):
        ends = {verdict(worst[a], best[b]), verdict(best[a], worst[b])}
        if noted & {a, b} and ends != {verdict(given[a], given[b])}:
            decided.append((a, b))
    found = [note for note in notes if note.startswith("wh")]
    assert len(found) == bool(decided)
    also = f"(also in {len(decided) - 1} more pair"
    assert all((also in note) == (len(decided) > 1) for note in found)


def test_the_note_has_the_p_value_of_the_order_that_decides():
    found = fr.compare(QRELS, {"tied": TIED, "untied": untied(6)}, "map")

    best = fr.evaluate(QRELS, TIED, "map", ties="best")["map"]
    others = fr.evaluate(QRELS, untied(6), "map")["map"]
    other = stats.ttest_rel(best, others).pvalue
    p = found.pair("map", "tied", "untied").p
    assert found.notes[-1] == (
        f"whether tied and untied differ in map depends on tied scores: p is {p:.4f}, but"
        f" {other:.4f} with tied documents in the worst order for untied and the best"
        f" for tied; {REMEDY}"
    )


def notes(measure: str = "map", better: int = 4, **options: Any) -> list[str]:
    return fr.compare(QRELS, {"tied": TIED, "untied": untied(better)}, measure, **options).notes


# Not for expected values and tests of all systems.
test_the_note_has_the_differences_and_a_remedy = giving("""
notes()[-1] => "which of tied and untied is better in map depends on tied scores: the difference is
    -0.1250 to +0.1250; " + REMEDY
[note for note in notes(better=6, ties="average") if note.startswith("wh")] => []
[note for note in notes(better=6, test="tukey") if note.startswith("wh")] => []
notes("ERR@2")[-1].partition("; ")[2] => "give these documents different scores"
""")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_command_and_its_report_say_it(jobs, tmp_path, capfd):
    fr.write_qrels(fr.Qrels.from_dict(QRELS), tmp_path / "qrels.txt")
    for name, run in (("tied", TIED), ("untied", untied(4))):
        fr.write_run(fr.Run.from_dict(run), tmp_path / f"{name}.txt")
    report = tmp_path / "report.html"

    files = [str(tmp_path / f"{name}.txt") for name in ("qrels", "tied", "untied")]
    main(["compare", "--jobs", jobs, "-m", "map", "--report", str(report), *files])

    said = "which of tied and untied is better in map depends on tied scores"
    assert said in " ".join(capfd.readouterr().out.split())
    assert said in report.read_text()


@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.35, 0.5, 0.65, 0.8])
def test_p_values_near_the_level_are_said_to_be_estimates(alpha):
    """Near is within two standard errors of the share of 1,000 sign flips."""
    rows = np.random.default_rng(5).random((2, 40))
    options = {"test": "randomization", "resamples": 1000, "exact_up_to": 0}
    pairs = compared(rows, alpha=alpha, **options).pairs("value").columns
    (p,), (note,) = pairs["p"], pairs["note"]

    is_near = abs(p - alpha) <= 2 * math.sqrt(p * (1 - p) / 1000)
    assert ("more resamples would decide" in note) == is_near
