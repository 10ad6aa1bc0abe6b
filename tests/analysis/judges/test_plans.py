"""Pools, plans of judgments, and estimates from the pairs that a plan drew."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastrank as fr
from fastrank.errors import FormatError, GroupError
from tests.helpers.commands import assert_refused, printed
from tests.helpers.tables import refusing

DRAW = np.random.default_rng(2)
HUMAN = {f"q{q:02}": {f"d{d}": int(DRAW.integers(0, 3)) for d in range(30)} for q in range(25)}
JUDGE = {
    query: {doc: grade if DRAW.random() < 0.8 else 2 - grade for doc, grade in docs.items()}
    for query, docs in HUMAN.items()
}
RUNS = {
    name: {
        query: {doc: grade + float(DRAW.normal(0, spread)) for doc, grade in docs.items()}
        for query, docs in HUMAN.items()
    }
    for name, spread in (("a", 1.0), ("b", 3.0))
}


def graded(plan: Any, share: float = 1.0) -> dict[str, dict[str, int]]:
    """The grades of people of a share of the sheet."""
    rows = [row[:2] for row in plan.sheet().rows()]
    found: dict[str, dict[str, int]] = {}
    for query, document in rows[: int(share * len(rows))]:
        found.setdefault(query, {})[document] = HUMAN[query][document]
    return found


@pytest.mark.parametrize("depth", [1, 5, 40])
def test_a_pool_is_the_union_of_the_first_results(depth):
    expected = {
        (query, doc)
        for run in RUNS.values()
        for query, docs in run.items()
        for doc in sorted(docs, key=docs.__getitem__, reverse=True)[:depth]
    }
    columns = fr.pool(RUNS, depth).columns
    assert set(zip(columns["query"], columns["document"], strict=True)) == expected
    assert len(columns["query"]) == len(expected)


@pytest.mark.parametrize("allocation", ["neyman", "proportional"])
@pytest.mark.parametrize("budget", [7, 60, 301])
def test_a_plan_meets_its_budget_and_draws_from_every_stratum(allocation, budget):
    plan = fr.plan_judgments(RUNS, budget, judge=JUDGE, depth=10, allocation=allocation)
    drawn = Counter(stratum for *_, stratum, _, sampled in plan.pairs.rows() if sampled)
    assert sum(drawn.values()) == budget
    for name, own in plan.strata.items():
        assert drawn[name] == own.sampled <= own.size
        if budget > 2 * len(plan.strata):
            assert own.sampled >= min(2, own.size)


@pytest.mark.parametrize("allocation", ["neyman", "proportional"])
def test_the_budget_is_shared_by_the_deviations_that_are_expected(allocation):
    """By sizes alone, or times the discounts of ranks and the deviation of a share of relevant."""
    plan = fr.plan_judgments(RUNS, 150, judge=JUDGE, depth=20, allocation=allocation)
    rows, weights = list(plan.pairs.rows()), {}
    for name in plan.strata:
        ranks = [row[2] for row in rows if row[3] == name]
        weights[name] = float(len(ranks))
        if allocation == "neyman":
            relevant = (int(name.partition(":")[2]) + 0.5) / 3
            discount = np.mean([1 / math.log2(rank + 1) ** 2 for rank in ranks])
            weights[name] *= math.sqrt(discount * relevant * (1 - relevant))

    left = 150 - 2 * len(plan.strata)
    for name, own in plan.strata.items():
        assert own.sampled < own.size
        # Rounding moves a few pairs to the strata with the largest weights.
        assert abs(own.sampled - 2 - left * weights[name] / sum(weights.values())) < 3


def test_pairs_of_a_stratum_are_equally_likely():
    counts: Counter[Any] = Counter()
    for seed in range(300):
        plan = fr.plan_judgments({"a": RUNS["a"]}, 50, depth=4, seed=seed)
        counts.update(row[:2] for row in plan.pairs.rows() if row[-1])
    shares = np.array(list(counts.values())) / 300
    assert len(counts) == 100
    assert abs(shares.mean() - 0.5) < 1e-9
    # Half of 300, less or more by five standard deviations.
    assert np.abs(shares - 0.5).max() < 5 * np.sqrt(0.25 / 300)


def test_assessors_see_neither_ranks_nor_grades_and_no_order():
    sheet = fr.plan_judgments(RUNS, 60, judge=JUDGE, depth=10).sheet()
    assert sheet.names == ["query", "document", "grade"]
    assert set(sheet.columns["grade"]) == {""}
    assert sheet.columns["query"] != sorted(sheet.columns["query"])


def test_sheets_have_ids_that_spreadsheets_would_run_as_they_are(tmp_path):
    """What results have before a formula, an apostrophe, would make them other ids."""
    run = {"q1": {"=1+1": 2.0, "-x": 1.0, "@a": 0.5}}
    plan = fr.plan_judgments([run], 3)
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(plan.sheet().to_csv().replace(",\n", ",1\n"))
    assert plan.qrels(sheet).to_dict() == {"q1": dict.fromkeys(run["q1"], 1)}
    assert "\nq1,-x,2,1\n" in fr.pool([run]).to_csv()


def test_a_plan_is_read_back_with_its_pairs_and_strata(tmp_path):
    plan = fr.plan_judgments(RUNS, 60, judge=JUDGE, depth=10)
    plan.write(tmp_path / "plan.json.gz")
    found = fr.read_plan(tmp_path / "plan.json.gz")
    assert found.pairs.columns == plan.pairs.columns
    assert (found.strata, found.seed, found.depth) == (plan.strata, 0, 10)


def test_the_judgments_of_a_whole_pool_have_the_ndcg_of_all_judgments():
    plan = fr.plan_judgments(RUNS, 750, judge=JUDGE, depth=30)
    inferred = fr.evaluate(plan.qrels(graded(plan)), RUNS["a"], "infNDCG").mean["infNDCG"]
    assert inferred == pytest.approx(fr.evaluate(HUMAN, RUNS["a"], "nDCG").mean["nDCG"], rel=0.02)


@pytest.mark.parametrize("measure", ["P@5", "DCG@10", "RBP(p=0.5)@10"])
def test_estimates_from_sampled_pairs_are_unbiased_and_cover_the_truth(measure):
    truth = fr.evaluate(HUMAN, RUNS["a"], measure).mean[measure]
    values, hits = [], 0
    for seed in range(80):
        plan = fr.plan_judgments(RUNS, 150, judge=JUDGE, depth=10, seed=seed)
        found = fr.estimate(graded(plan), JUDGE, {"a": RUNS["a"]}, measure, plan=plan)
        low, high = found.interval(measure, "a")
        values.append(found.value(measure, "a"))
        hits += low <= truth <= high
    error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - truth) < 4 * error
    assert hits / len(values) > 0.9


def one_stratum(relevant: int, sampled: int) -> Any:
    """The estimate with a judge who is right, from ten pairs of two queries in one stratum."""
    judge = {q: {f"d{i}": int(i < relevant) for i in range(5)} for q in ("q1", "q2")}
    run = {query: {doc: -float(doc[1:]) for doc in docs} for query, docs in judge.items()}
    plan = fr.plan_judgments({"a": run}, sampled, depth=5)
    grades: dict[str, dict[str, int]] = {}
    for query, doc, _ in plan.sheet().rows():
        grades.setdefault(query, {})[doc] = judge[query][doc]
    return fr.estimate(grades, judge, {"a": run}, "P@5", plan=plan)


def test_pairs_on_which_people_and_the_judge_agree_leave_the_others_uncertain():
    estimate = one_stratum(relevant=5, sampled=4)
    # With four grades of 1, and four of which half are 1, the share of grades that are 1 is
    # (4 + 16 * 6 / 8) / (4 + 16), and the deviation of a pair is 0.2 * sqrt(0.8 * 0.2).
    error = np.sqrt(10 * 6 / 4) * 0.2 * np.sqrt(0.8 * 0.2) / 2
    half = stats.t.ppf(0.975, 3) * error
    assert estimate.value("P@5", "a") == 1.0
    assert estimate.interval("P@5", "a") == pytest.approx((1 - half, 1 + half))


@pytest.mark.parametrize("sampled", [2, 5, 9])
def test_intervals_have_a_width_until_every_pair_is_judged(sampled):
    for relevant in (0, 5):
        low, high = one_stratum(relevant, sampled).interval("P@5", "a")
        assert high - low > 0.01
    low, high = one_stratum(5, 10).interval("P@5", "a")
    assert low == high == 1.0


def test_a_measure_in_which_no_grade_counts_yet_has_no_interval():
    plan = fr.plan_judgments(RUNS, 150, judge=JUDGE, depth=10)
    estimate = fr.estimate(graded(plan), JUDGE, RUNS, "P(rel=3)@5", plan=plan)
    assert all(map(math.isnan, estimate.interval("P(rel=3)@5", "a")))


def test_a_sample_of_all_pairs_leaves_nothing_uncertain():
    plan = fr.plan_judgments(RUNS, 750, judge=JUDGE, depth=30)
    found = fr.estimate(graded(plan), JUDGE, RUNS, "DCG@10", plan=plan)
    truth = fr.evaluate(HUMAN, RUNS["b"], "DCG@10").mean["DCG@10"]
    assert found.interval("DCG@10", "b") == pytest.approx((truth, truth))


def test_missing_grades_are_allowed_on_request_and_said():
    plan = fr.plan_judgments(RUNS, 150, judge=JUDGE, depth=10)
    some = graded(plan, share=0.9)
    found = fr.estimate(some, JUDGE, RUNS, "P@5", plan=plan, partial=True)
    rest = "no grade: the probabilities are corrected as if"
    assert f"15 sampled pairs have {rest} they were missing at random" in found.notes
    fewer = graded(plan, share=149.5 / 150)
    found = fr.estimate(fewer, JUDGE, RUNS, "P@5", plan=plan, partial=True)
    assert f"1 sampled pair has {rest} it was missing at random" in found.notes
    with pytest.raises(GroupError, match="15 pairs without a grade: query"):
        fr.estimate(some, JUDGE, RUNS, "P@5", plan=plan)


def test_a_negative_grade_of_a_pair_is_none():
    judge = {query: docs | {"d0": -1} for query, docs in JUDGE.items()}
    plan = fr.plan_judgments(RUNS, 150, judge=judge, depth=10)
    assert not any(name.endswith(":-1") for name in plan.strata)
    judged = plan.qrels(graded(plan))
    assert plan.grades_of(judged) == plan.grades_of(graded(plan))
    agreement = fr.judge_agreement(graded(plan), HUMAN)
    assert fr.judge_agreement(judged, HUMAN).pairs == agreement.pairs == 150
    estimates = [
        fr.estimate(qrels, JUDGE, RUNS, "P@5", plan=plan) for qrels in (graded(plan), judged)
    ]
    assert str(estimates[0]) == str(estimates[1])
    refused = {query: dict.fromkeys(docs, -1) for query, docs in graded(plan).items()}
    with pytest.raises(GroupError, match="150 pairs without a grade"):
        plan.grades_of(refused)


def test_a_sheet_has_one_grade_of_each_pair_or_on_request_none(tmp_path):
    plan, sheet = fr.plan_judgments(RUNS, 150, judge=JUDGE, depth=10), tmp_path / "sheet.tsv"
    filled = [f"{query}\t{doc}\t{HUMAN[query][doc]}" for query, doc, _ in plan.sheet().rows()]

    def write(*rows: str) -> None:
        sheet.write_text("\n".join(["query\tdocument\tgrade", *rows]) + "\n")

    write(*filled[:140], *(row[:-1] for row in filled[140:]))
    assert len(plan.grades_of(sheet, partial=True)) == 140
    with pytest.raises(GroupError, match="10 pairs without a grade"):
        plan.grades_of(sheet)
    write(*(f"{row[:-1]} " for row in filled))
    with pytest.raises(GroupError, match="no sampled pair has a grade"):
        plan.grades_of(sheet, partial=True)
    write(filled[0], filled[1][:-1], f"{filled[2]}x")
    with pytest.raises(FormatError, match=r"sheet\.tsv:4: column 'grade': expected a grade"):
        plan.grades_of(sheet)
    write(*filled, *filled[1:3])
    with pytest.raises(GroupError, match="2 pairs with several grades: query 'q"):
        plan.grades_of(sheet)


def test_a_plan_of_queries_counts_those_that_are_judged_as_a_whole():
    plan = fr.plan_judgments(RUNS, 9, by="queries", depth=5)
    whole = graded(plan)
    del whole[lacking := sorted(whole)[0]][next(iter(whole[lacking]))]
    assert fr.estimate(whole, JUDGE, RUNS, "map", plan=plan, partial=True).n == 8


@pytest.mark.parametrize("budget", [3, 5, 12])
def test_a_small_budget_has_fewer_strata_each_of_which_is_sampled(budget):
    plan = fr.plan_judgments(RUNS, budget, judge=JUDGE, depth=10)
    probabilities = plan.pairs.columns["probability"]
    assert all(0 < own.sampled <= own.size for own in plan.strata.values())
    assert min(probabilities) > 0
    assert sum(probabilities) == pytest.approx(budget)


def test_queries_are_drawn_for_a_difference_that_shall_be_found():
    plan = fr.plan_judgments(
        RUNS, by="queries", judge=JUDGE, difference=0.2, measure="nDCG@10", depth=10
    )
    spread = fr.compare(JUDGE, RUNS, "nDCG@10").pair("nDCG@10", "a", "b").sd
    assert plan.budget == fr.topics_needed(0.2, sd=spread)
    chosen = {query for query, *_, sampled in plan.pairs.rows() if sampled}
    assert len(chosen) == plan.budget
    found = fr.estimate(graded(plan), JUDGE, RUNS, "map", plan=plan)
    assert (found.by, found.n) == ("queries", plan.budget)


def planned(budget: int | None = 50, **options: Any) -> Any:
    return fr.plan_judgments(RUNS, budget, **options)


def estimated(measure: str, **options: Any) -> Any:
    plan = planned(**options)
    return fr.estimate(graded(plan), JUDGE, RUNS, measure, plan=plan)


test_errors_name_what_is_wrong = refusing("""
planned(None) => OptionError: budget: expected a number...
planned(9999) => OptionError: budget: expected at most 750...
planned(None, difference=0.1) => OptionError: ...needs by='queries'...
planned(None, by="queries", judge=JUDGE, difference=1e-4) =>
  OptionError: ...25 queries are too few to find 0.0001
planned(None, by="queries", judge=JUDGE, difference=0.2, correlation=1) =>
  OptionError: correlation: expected a number between -1 and 1, found 1
planned(9).grades_of({"q00": {"x": 1}}) =>
  GroupError: 1 pair not in the sample: query 'q00', document 'x'
estimated("P@10", depth=5) =>
  MeasureError: 'P@10' counts results below rank 5, the depth of the plan...
estimated("map") => MeasureError: 'map' does not add over documents, as P@k, CG@k, DCG@k and RBP...
fr.plan_judgments(RUNS, 20, depth=5).write("plan.csv") =>
  OptionError: path: plan.csv cannot be written in the format of .csv files; use a name that...
read_plan("nowhere.json") => ReadError: nowhere.json: no such file...
""")


def test_an_edited_plan_is_refused(tmp_path):
    path = tmp_path / "plan.json"
    fr.plan_judgments(RUNS, 20, depth=5).write(path)
    content = json.loads(path.read_text())
    content["pairs"][0][-1] = not content["pairs"][0][-1]
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=r"plan.json:1: the plan was changed"):
        fr.read_plan(path)


def test_the_commands_go_from_runs_to_an_estimate(tmp_path):
    judge, plan, sheet, people = (
        tmp_path / name for name in ("judge.qrels", "plan.json", "s.tsv", "people.tsv")
    )
    fr.write_qrels(fr.Qrels.from_dict(JUDGE), judge)
    runs = [str(tmp_path / f"{name}.run") for name in RUNS]
    for path, run in zip(runs, RUNS.values(), strict=True):
        fr.write_run(fr.Run.from_dict(run), path)
    printed(f"plan -n 100 --judge {judge} --depth 10 --plan {plan} -o {sheet}", *runs)
    header, *rows = [line.split("\t") for line in sheet.read_text().splitlines()]
    assert header == ["query", "document", "grade"]
    filled = [[query, doc, str(HUMAN[query][doc])] for query, doc, _ in rows]
    people.write_text("\n".join("\t".join(row) for row in [header, *filled]) + "\n")
    command = f"estimate --plan {plan} --judge {judge} -m P@5 {' '.join(runs)} --human"
    found = json.loads(printed(f"{command} {people} --format json"))
    assert (found["by"], found["n"]) == ("pairs", 100)
    low, high = found["estimates"][0]["low"], found["estimates"][0]["high"]
    assert low < fr.evaluate(HUMAN, RUNS["a"], "P@5").mean["P@5"] < high
    assert_refused(f"{command} {sheet}", "1 100 pairs without a grade: query...")
