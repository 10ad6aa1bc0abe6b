"""The note on ties that decide a mean."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import fastrank as fr
from fastrank.cli.main import main
from tests.helpers.strategies import examples
from tests.helpers.tie_orders import GRADES, RESULTS, Grades, Results, every_order, nouns, values

QRELS = {"q1": {"d1": 1}}
TIED = {"q1": {"d1": 1.0, "d2": 1.0}}
NOTE = (
    "ties decide map{}: map is 0.5000 to 1.0000 by the order of tied documents, here 0.5000;"
    " --ties average gives the expected value"
)


def noted(scores: fr.Scores) -> list[str]:
    return [line for line in str(scores).splitlines() if line.startswith("ties decide")]


@given(RESULTS, GRADES)
@examples(100)
def test_the_note_has_the_range_over_all_orders_if_one_moves_the_mean_by_a_tenth(
    results: Results, grades: Grades
) -> None:
    qrels, run = nouns(grades, results)
    orders = [one["map"] for one in values(every_order(results), grades, "map")]

    for form in (run, run.to_dict()):
        scores = fr.evaluate(qrels, form, "map")

        value, worst, best = scores.mean["map"], min(orders), max(orders)
        decides = max(best - value, value - worst) > 0.1 * value + 1e-12
        start = f"ties decide map: map is {worst:.4f} to {best:.4f} by"
        assert [note.startswith(start) for note in noted(scores)] == [True] * decides


def test_the_range_is_that_of_tie_report_for_all_measures() -> None:
    measures = "official ERR@10 iprec_at_recall AP(rel=2) SetP(judged_only=True)"
    scores = fr.evaluate("data/digits.qrels", "data/profile.run", measures)
    names = [name for name in scores.mean if name not in ("num_q", "runid")]

    report = fr.tie_report(
        "data/digits.qrels", "data/profile.run", "map P.5,10 ERR@10 SetP(judged_only=True)"
    )

    ranges = scores.ties.ranges()
    assert set(ranges) <= set(names)
    for name, own in report.measures.items():
        assert ranges[name] == (own.worst, own.best, own.expected is not None)


def test_without_tied_documents_that_are_judged_there_is_no_note() -> None:
    assert fr.evaluate(QRELS, {"q1": {"d1": 2.0, "d2": 1.0, "d3": 1.0}}, "map").ties is None


@pytest.mark.parametrize(
    "options", [{"ties": "average"}, {"ties": "best"}, {"ties": "worst"}, {"rank_by": "given"}]
)
def test_an_option_that_removes_the_question_removes_the_note(options: Any) -> None:
    assert noted(fr.evaluate(QRELS, TIED, "map", **options)) == []


def test_a_measure_without_a_known_range_has_no_note() -> None:
    assert noted(fr.evaluate(QRELS, TIED, "infAP")) == []


def test_a_measure_without_an_expected_value_is_told_its_ends() -> None:
    (note,) = noted(fr.evaluate(QRELS, TIED, "ERR@10"))

    assert note.endswith("; --ties worst and --ties best give the ends of this range")


def test_pickled_scores_keep_the_note() -> None:
    scores = fr.evaluate(QRELS, TIED, "map P.1")

    assert noted(pickle.loads(pickle.dumps(scores))) == noted(scores)


def test_compare_and_gate_have_the_note(tmp_path: Path) -> None:
    found = fr.compare(QRELS, {"a": TIED, "b": TIED, "c": {"q1": {"d1": 1.0}}}, "map")
    path = tmp_path / "baseline.json"
    fr.save_baseline(path, QRELS, TIED, "map")

    assert [note for note in found.notes if note.startswith("ties decide map")] == [
        NOTE.format(" of a"),
        NOTE.format(" of b"),
    ]
    gated = NOTE.format("").replace("--ties", "a baseline saved with --ties")
    assert gated in fr.gate(path, QRELS, TIED).notes


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_eval_says_it_on_standard_error(jobs: str, tmp_path: Path, capfd: Any) -> None:
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "run").write_text("q1 Q0 d1 1 1 t\nq1 Q0 d2 2 1 t\n")
    runs = [str(tmp_path / "run")] * int(jobs)

    main(["eval", "--jobs", jobs, "-m", "map", str(tmp_path / "qrels"), *runs])

    line = f"fastrank eval: {tmp_path / 'run'}: {NOTE.format('')}"
    assert capfd.readouterr().err.splitlines() == [line] * int(jobs)
