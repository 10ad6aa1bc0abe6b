"""What ties do to a run, reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.parsing import parse_prefs, parse_qrels, parse_run
from tests.helpers.strategies import examples
from tests.helpers.tie_orders import (
    BOUNDED,
    GRADES,
    RESULTS,
    Grades,
    Results,
    every_order,
    nouns,
    values,
)

RUN = (
    b"q2 Q0 a 1 1 t\nq2 Q0 b 1 1 t\nq2 Q0 c 1 1 t\nq2 Q0 d 1 2 t\nq2 Q0 e 1 2.00000001 t\n"
    b"q1 Q0 a 1 1 t\nq1 Q0 b 1 2 t\nq3 Q0 a 1 inf t\nq3 Q0 b 1 inf t\n"
)


def test_ties_are_counted_by_query() -> None:
    """Lines that tie with another one; scores that are one 32-bit float do at 9.0.8 only."""
    report = fr.tie_report(None, parse_run(RUN))
    exact = fr.tie_report(None, parse_run(RUN), trec_eval_version="10.0")

    assert (report.lines, report.tied, report.largest, report.evaluated) == (9, 7, 3, 3)
    assert report.queries == {"q2": 5, "q3": 2}
    assert (exact.tied, exact.queries) == (5, {"q2": 3, "q3": 2})
    assert report.measures == {}


def test_a_file_does_as_well(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(RUN)

    assert fr.tie_report(None, path).tied == fr.tie_report(None, str(path)).tied == 7


@given(RESULTS, GRADES, st.sampled_from([None, 1, 3]))
@examples(100)
def test_the_range_holds_every_order(results: Results, grades: Grades, depth: int | None) -> None:
    """And the expected value is the mean over them."""
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
RANGED = " ".join(
    f"{name}({options}judged_only=True){cutoff}"
    for options in ("", "rel=2,")
    for name, cutoff in (
        ("SetP", ""), ("SetR", ""), ("SetF", ""), ("SetAP", ""), ("F1", ""), ("F1", "@2"),
        ("AP", ""), ("AP", "@2"), ("RR", "@2"), ("P", "@2"), ("R", "@2"), ("RCap", "@2"),
        ("Success", "@2"), ("HitRatio", "@2"), ("Rprec", ""), ("RBP", ""), ("RBP", "@2"),
        ("IPrec", "@0.2"), ("IPrec", "@0.6"), ("NumRelRet", ""),
    )
) + (
    " SetP(relative=True,judged_only=True) SetP(relative=True,rel=2,judged_only=True)"
    " SetF(beta=3,judged_only=True) SetP SetF nDCG(judged_only=True)@2 nDCG(judged_only=True)"
    " DCG(judged_only=True)@2 DCG(judged_only=True) NumRet(judged_only=True)"
)  # fmt: skip


@given(RESULTS, GRADES, st.sampled_from([None, 1, 2, 3, 4]))
@examples(100)
def test_the_range_of_judged_documents_is_exact(
    results: Results, grades: Grades, depth: int | None
) -> None:
    """The lowest and the highest value that an order of the tied documents gives."""
    qrels, run = nouns(grades, results)
    # All orders at once, each as a query of a run without ties.
    orders = every_order(results, depth)
    everyone = {
        str(i): {doc: float(len(order) - rank) for rank, doc in enumerate(order)}
        for i, order in enumerate(orders)
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


def test_print_says_how_many_and_how_far() -> None:
    qrels = parse_qrels(b"q2 0 a 1\nq2 0 e 1\nq1 0 a 1\n")

    assert str(fr.tie_report(qrels, parse_run(RUN), "bpref recip_rank")) == (
        "7 of 9 lines are tied, in 2 of 3 queries; the largest group of ties has 3 documents\n"
        "  q2  5 tied\n"
        "  q3  2 tied\n"
        "             value   worst    best  expected\n"
        "bpref       1.0000  1.0000  1.0000    1.0000\n"
        "recip_rank  0.7500  0.5000  0.7500    0.6250"
    )
    assert str(fr.tie_report(None, parse_run(b"q Q0 a 1 1 t\n"))) == "no ties in 1 line"


@pytest.mark.parametrize("measure", ["G", "infAP", "Rndcg", "ndcg_rel", "utility", "rbp", "unj"])
def test_no_range_is_given_that_need_not_hold(measure: str) -> None:
    with pytest.raises(fr.MeasureError, match=f"tie_report does not support '{measure}'"):
        fr.tie_report(parse_qrels(b"q1 0 a 1\n"), parse_run(RUN), measure)
    with pytest.raises(fr.MeasureError, match="only if each grade is its own gain"):
        fr.tie_report(parse_qrels(b"q1 0 a 1\n"), parse_run(RUN), "ndcg.0=3,1=1")


@pytest.mark.parametrize(
    ("given_", "options", "message"),
    [
        (None, {"measures": "map"}, "measures: measures need judgments"),
        (b"q1 0 a 1\n", {"relevance_level": -1}, "relevance_level: expected 0 or more, found -1"),
        (b"q1 0 a 1\n", {"depth": -1}, "depth: expected 1 or more, found -1"),
    ],
)
def test_impossible_options_are_errors(
    given_: bytes | None, options: dict[str, Any], message: str
) -> None:
    qrels = None if given_ is None else parse_qrels(given_)

    with pytest.raises(fr.OptionError, match=message):
        fr.tie_report(qrels, parse_run(RUN), **options)


def test_the_level_is_a_number() -> None:
    with pytest.raises(TypeError, match="relevance_level: expected a number, found str"):
        fr.tie_report(None, parse_run(RUN), relevance_level="1")  # type: ignore[arg-type]


def test_a_score_that_is_no_number_is_an_error() -> None:
    with pytest.raises(fr.EvaluationError, match="query 'q2': a score is NaN") as caught:
        fr.tie_report(None, parse_run(b"q1 Q0 a 1 1 t\nq2 Q0 b 1 nan t\n", strict=False))
    assert caught.value.query == b"q2"


def test_preferences_have_no_grades() -> None:
    with pytest.raises(TypeError, match="expected Qrels, found Preferences"):
        fr.tie_report(parse_prefs(b"q g s a 2\n"), parse_run(RUN))  # type: ignore[arg-type]
