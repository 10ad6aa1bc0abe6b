"""What ties do to a run: the report, and the note on ties that decide a mean."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.cli.main import main
from fastrank.errors import EvaluationError, MeasureError
from tests.helpers.parsing import parse_prefs, parse_qrels, parse_run
from tests.helpers.strategies import examples
from tests.helpers.tables import refusing
from tests.helpers.tie_orders import (
    BOUNDED,
    GRADES,
    RESULTS,
    every_order,
    nouns,
    values,
)

RUN = (
    b"q2 Q0 a 1 1 t\nq2 Q0 b 1 1 t\nq2 Q0 c 1 1 t\nq2 Q0 d 1 2 t\nq2 Q0 e 1 2.00000001 t\n"
    b"q1 Q0 a 1 1 t\nq1 Q0 b 1 2 t\nq3 Q0 a 1 inf t\nq3 Q0 b 1 inf t\n"
)


def test_ties_are_counted_by_query(tmp_path):
    """Lines that tie with another one; scores that are one 32-bit float do at 9.0.8 only."""
    path = tmp_path / "run"
    path.write_bytes(RUN)
    report = fr.tie_report(None, parse_run(RUN))
    exact = fr.tie_report(None, parse_run(RUN), trec_eval_version="10.0")

    assert (report.lines, report.tied, report.largest, report.evaluated) == (9, 7, 3, 3)
    assert report.queries == {"q2": 5, "q3": 2}
    assert (exact.tied, exact.queries) == (5, {"q2": 3, "q3": 2})
    assert report.measures == {}
    assert fr.tie_report(None, path).tied == fr.tie_report(None, str(path)).tied == 7


@given(RESULTS, GRADES, st.sampled_from([None, 1, 3]))
@examples(100)
def test_the_range_holds_every_order(results, grades, depth):
    qrels, run = nouns(grades, results)
    orders = values(every_order(results, depth), grades, BOUNDED)

    report = fr.tie_report(qrels, run, BOUNDED, depth=depth)

    for name, found in report.measures.items():
        assert found.worst - 1e-12 <= found.value <= found.best + 1e-12
        for order in orders:
            assert found.worst - 1e-12 <= order[name] <= found.best + 1e-12, name
        if found.expected is not None:
            mean = sum(order[name] for order in orders) / len(orders)
            assert found.expected == pytest.approx(mean, abs=1e-12), name


# Every measure with a range, of all documents and of the judged ones.
PLAIN = (
    "SetP SetR SetF SetAP F1 F1@2 AP AP@2 RR@2 P@2 R@2 RCap@2 Success@2 HitRatio@2 Rprec RBP RBP@2"
    " IPrec@0.2 IPrec@0.6 NumRelRet"
)
RANGED = [
    f"{name}({level}judged_only=True){at}{cutoff}"
    for level in ("", "rel=2,")
    for name, at, cutoff in (own.partition("@") for own in PLAIN.split())
] + [
    "SetP(relative=True,judged_only=True) SetP(relative=True,rel=2,judged_only=True)"
    " SetF(beta=3,judged_only=True) SetP SetF nDCG(judged_only=True)@2 nDCG(judged_only=True)"
    " DCG(judged_only=True)@2 DCG(judged_only=True) NumRet(judged_only=True) ERR ERR@2"
    " RBP(gain='raw') RBP(gain='graded',p=0.5)@2"
]


@given(RESULTS, GRADES, st.sampled_from([None, 1, 2, 3, 4]))
@examples(100)
def test_the_range_of_judged_documents_is_exact(results, grades, depth):
    qrels, run = nouns(grades, results)
    # All orders at once, each as a query of a run without ties.
    everyone = {
        str(i): {doc: float(len(order) - rank) for rank, doc in enumerate(order)}
        for i, order in enumerate(every_order(results, depth))
    }
    found = fr.evaluate(dict.fromkeys(everyone, grades), everyone, RANGED)

    report = fr.tie_report(qrels, run, RANGED, depth=depth)

    for name, its in report.measures.items():
        # Interpolated precision of no documents at all is 0 / 0, as in trec_eval.
        if name.startswith("IPrec") and np.isnan(found[name]).any():
            continue
        assert its.worst == pytest.approx(min(found[name]), abs=1e-12), name
        assert its.best == pytest.approx(max(found[name]), abs=1e-12), name
        assert its.worst - 1e-12 <= its.value <= its.best + 1e-12, name


def test_print_says_how_many_and_how_far():
    qrels = parse_qrels(b"q2 0 a 1\nq2 0 e 1\nq1 0 a 1\n")

    assert str(fr.tie_report(qrels, parse_run(RUN), "bpref recip_rank")) == (
        "7 of 9 lines are tied, in 2 of 3 queries; the largest group of ties has 3 documents\n"
        "\n"
        "query      tied\n"
        "-------  ------\n"
        "q2            5\n"
        "q3            2\n"
        "\n"
        "measure       value    worst    best    expected\n"
        "----------  -------  -------  ------  ----------\n"
        "bpref        1.0000   1.0000  1.0000      1.0000\n"
        "recip_rank   0.7500   0.5000  0.7500      0.6250"
    )
    assert str(fr.tie_report(None, parse_run(b"q Q0 a 1 1 t\n"))) == "no ties in 1 line"


@pytest.mark.parametrize("measure", ["G", "infAP", "Rndcg", "ndcg_rel", "utility", "rbp", "unj"])
def test_no_range_is_given_that_need_not_hold(measure):
    with pytest.raises(MeasureError, match=f"tie_report does not support '{measure}'"):
        report(A1, measures=measure)


A1, PREFERENCES = parse_qrels(b"q1 0 a 1\n"), parse_prefs(b"q g s a 2\n")
NAN = parse_run(b"q1 Q0 a 1 1 t\nq2 Q0 b 1 nan t\n", strict=False)


def report(qrels: Any = None, run: Any = None, **options: Any) -> Any:
    return fr.tie_report(qrels, parse_run(RUN) if run is None else run, **options)


test_what_has_no_report_is_refused = refusing(r"""
# gains have the order of grades
report(A1, measures="ndcg.0=3,1=1") =>
  MeasureError: tie_report does not support 'ndcg_0=3,1=1': the range over the orders of tied
  documents is known only if each grade is its own gain
# measures need judgments
report(measures="map") => OptionError: measures: measures need judgments, but qrels is None
# the level is a number, and not negative
report(A1, relevance_level=-1) => OptionError: relevance_level: expected 0 or more, found -1
report(relevance_level="1") => TypeError: relevance_level: expected a number, found str
# a depth is above 0
report(A1, depth=-1) => OptionError: depth: expected 1 or more, found -1
# a score is a number
report(run=NAN) => EvaluationError: <bytes>: query 'q2': a score is NaN
# preferences have no grades
report(PREFERENCES) => TypeError: qrels: expected Qrels, found Preferences, which have no grades
""")


def test_the_error_of_a_score_carries_its_query():
    with pytest.raises(EvaluationError) as caught:
        report(run=NAN)
    assert caught.value.query == b"q2"


# The note on a mean that depends on ties

QRELS = {"q1": {"d1": 1}}
TIED = {"q1": {"d1": 1.0, "d2": 1.0}}
NOTE = "map{} depends on tied scores: 0.5000 to 1.0000, here 0.5000; {} gives the expected value"


def noted(scores: fr.Scores) -> list[str]:
    return [line for line in str(scores).splitlines() if "depends on tied scores" in line]


@given(RESULTS, GRADES)
@examples(100)
def test_the_note_has_the_range_over_all_orders_if_one_moves_the_mean_by_a_tenth(results, grades):
    qrels, run = nouns(grades, results)
    orders = [one["map"] for one in values(every_order(results), grades, "map")]

    for form in (run, run.to_dict()):
        scores = fr.evaluate(qrels, form, "map")

        value, worst, best = scores.mean["map"], min(orders), max(orders)
        decides = max(best - value, value - worst) > 0.1 * value + 1e-12
        start = f"map depends on tied scores: {worst:.4f} to {best:.4f}, here"
        assert [note.startswith(start) for note in noted(scores)] == [True] * decides


def test_the_range_is_that_of_tie_report_for_all_measures():
    data = "data/digits.qrels", "data/profile.run"
    measures = "official ERR@10 iprec_at_recall AP(rel=2) SetP(judged_only=True)"
    scores = fr.evaluate(*data, measures)
    names = [name for name in scores.mean if name not in ("num_q", "runid")]

    report = fr.tie_report(*data, "map P.5,10 ERR@10 SetP(judged_only=True)")

    ranges = scores.ties.ranges()
    assert set(ranges) <= set(names)
    for name, own in report.measures.items():
        assert ranges[name] == (own.worst, own.best, own.expected is not None)


def test_without_tied_documents_that_are_judged_there_is_no_note():
    assert fr.evaluate(QRELS, {"q1": {"d1": 2.0, "d2": 1.0, "d3": 1.0}}, "map").ties is None


@pytest.mark.parametrize(
    "options",
    [
        {"ties": "average"},
        {"ties": "best"},
        {"ties": "worst"},
        {"rank_by": "given"},
        # A measure without a known range.
        {"measures": "infAP"},
    ],
)
def test_where_there_is_no_question_there_is_no_note(options):
    assert noted(fr.evaluate(QRELS, TIED, **{"measures": "map", **options})) == []


def test_a_measure_without_an_expected_value_is_told_its_ends():
    (note,) = noted(fr.evaluate(QRELS, TIED, "ERR@10"))

    assert note.endswith("; ties='worst' and ties='best' give the ends of this range")


def test_pickled_scores_keep_the_note():
    scores = fr.evaluate(QRELS, TIED, "map P.1")

    assert noted(pickle.loads(pickle.dumps(scores))) == noted(scores) != []


def test_compare_and_gate_have_the_note(tmp_path):
    found = fr.compare(QRELS, {"a": TIED, "b": TIED, "c": {"q1": {"d1": 1.0}}}, "map")
    path = tmp_path / "baseline.json"
    fr.save_baseline(path, QRELS, TIED, "map")

    notes = [note for note in found.notes if note.startswith("map of")]
    assert notes == [NOTE.format(f" of {run}", "ties='average'") for run in "ab"]
    gated = NOTE.format("", "a baseline saved with --ties average")
    assert gated in fr.gate(path, QRELS, TIED).notes


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_eval_says_it_on_standard_error(jobs, tmp_path, capfd):
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "run").write_text("q1 Q0 d1 1 1 t\nq1 Q0 d2 2 1 t\n")
    runs = [str(tmp_path / "run")] * int(jobs)

    main(["eval", "--jobs", jobs, "-m", "map", str(tmp_path / "qrels"), *runs])

    line = f"fastrank eval: {tmp_path / 'run'}: {NOTE.format('', '--ties average')}"
    assert capfd.readouterr().err.splitlines() == [line] * int(jobs)
