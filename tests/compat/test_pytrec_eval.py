"""fastrank.compat.pytrec_eval beside pytrec_eval itself."""

from __future__ import annotations

import gc
import random
import struct
import subprocess
import sys
import weakref
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
import pytrec_eval as original

from fastrank.compat import pytrec_eval as ours
from fastrank.errors import FastrankError
from tests.helpers.strategies import many

SEEDS = range(many(200))
QRELS: Any = {"q": {"a": 1}}
RUN: Any = {"q": {"a": 1.0}}


def _inputs(seed: int) -> tuple[Any, Any]:
    """Ties, C floats that collide, ids of several lengths, empty dicts, queries on one side."""
    rng = random.Random(seed)
    # pytrec_eval itself does not come back from judgments that are all negative.
    grades = [[0, 1], [0, 1, 2, 3], [-1, 0, 1, 2], [0], [-5, -2, -1, 0, 7, 9]][seed % 5]
    docs = [f"d{i}" for i in range(60)] + ["é", "\uffff", "\U00010000", "-", "1", "01"]
    scores: list[Any] = [
        lambda: rng.randrange(6),
        lambda: rng.random(),
        lambda: 1.0 + rng.randrange(8) * 2e-8,
        lambda: rng.choice([0.1, -0.1, 1e-30, 1e30, 0.0, -0.0, 1e300, float("inf"), True]),
    ]
    qrels: Any = {}
    run: Any = {"unjudged": {"d1": 1.0}}
    for number in range(rng.randrange(1, 9)):
        judged = rng.sample(docs, rng.randrange(0, 40))
        qrels[f"q{number}"] = {doc: rng.choice(grades) for doc in judged}
        if rng.random() < 0.85:
            score = rng.choice(scores)
            rows = [(doc, score()) for doc in rng.sample(docs, rng.randrange(0, 60))]
            if rng.random() < 0.5:
                rows.sort(key=lambda row: -row[1])
            run[f"q{number}"] = dict(rows)
    shuffled = list(run.items())
    rng.shuffle(shuffled)
    return qrels, dict(shuffled)


def _exactly(results: Any) -> list[Any]:
    """Queries and measures in their order, values by their bits."""
    return [
        (query, [(name, struct.pack("<d", value)) for name, value in values.items()])
        for query, values in results.items()
    ]


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_bit_and_the_order_are_the_same(seed: int, level: int, judged_only: bool) -> None:
    """All measures, those without values per query included."""
    qrels, run = _inputs(seed)

    found, expected = (
        module.RelevanceEvaluator(qrels, module.supported_measures, level, judged_only).evaluate(
            run
        )
        for module in (ours, original)
    )

    assert _exactly(found) == _exactly(expected)


@pytest.mark.parametrize(
    "measures",
    [
        [], ["map"], {"map": 1}, ["P"], ["P_7"], ["P", "P_7"], ["P_5", "P.10", "P_15,20"],
        ["ndcg_cut.10,20", "recall.5", "iprec_at_recall.0.1"], ["P_5.5"], ["P_5foo"],
        ["iprec_at_recall_0.1", "iprec_at_recall_0.101"], ["recip_rank_10"], ["map_10"],
        ["set_F_0.5"], ["set_F_0.5", "set_F_2"], ["utility_1,2,3,4"], ["relstring_3"],
        ["11pt_avg_0.5"], ["Rprec_mult.0.5,1"], ["success"], ["P_99999999999999999999"],
        ["official"], ["set"], ["all_trec"], ["official", "ndcg_cut_3"],
        ["runid", "num_q", "gm_map", "gm_bpref"],
    ],
    ids=str,
)  # fmt: skip
def test_measures_are_asked_for_in_the_same_ways(measures: Any) -> None:
    """Points, underscores, several parameters, nicknames."""
    found, expected = (
        module.RelevanceEvaluator(QRELS, measures).evaluate(RUN) for module in (ours, original)
    )

    assert _exactly(found) == _exactly(expected)


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (QRELS, {}), (QRELS, None), (QRELS, {"other": {"a": 1.0}}), ({}, RUN), ({"q": {}}, RUN),
        (QRELS, {"q": {}}), (QRELS, {"z": {"a": 1.0}, "q": {"a": 1}, "b": {}}),
        (OrderedDict(q=OrderedDict(a=1)), OrderedDict(q=OrderedDict(a=1.0))),
        ({"q": {"": True}}, {"q": {"": np.float64(1)}}),
        ({"q": {"a": -1}, "r": {"b": 1}}, {"r": {"b": 1.0}, "q": {"a": 1.0}}),
        ({"q": {"é": 1}}, {"q": {"é": 1.0, "\uffff": 1.0, "\U00010000": 1.0}}),
    ],
    ids=str,
)  # fmt: skip
def test_unusual_inputs_give_the_same(qrels: Any, run: Any) -> None:
    """Empty dicts, queries on one side only, all judgments negative."""
    found, expected = (
        module.RelevanceEvaluator(qrels, ["map", "num_ret", "ndcg"]).evaluate(run)
        for module in (ours, original)
    )

    assert _exactly(found) == _exactly(expected)


@pytest.mark.parametrize(
    ("arguments", "run"),
    [
        ((QRELS, ["map"]), {"q": {"a": None}}), ((QRELS, ["map"]), {"q": {"a": "1"}}),
        ((QRELS, ["map"]), {"q": {"a": 1j}}), ((QRELS, ["map"]), {"q": {1: 1.0}}),
        ((QRELS, ["map"]), {1: {"a": 1.0}}), ((QRELS, ["map"]), {"q": ["a"]}),
        ((QRELS, ["map"]), {"q": None}), ((QRELS, ["map"]), [1]),
        (({"q": {"a": 1.0}}, ["map"]), RUN), (({"q": {"a": "1"}}, ["map"]), RUN),
        (({"q": {1: 1}}, ["map"]), RUN), (({1: {"a": 1}}, ["map"]), RUN),
        (({"q": ["a"]}, ["map"]), RUN), (({b"q": {b"a": 1}}, ["map"]), RUN),
        ((QRELS, [1]), RUN), ((QRELS, None), RUN), ((QRELS, ["map"], 0), RUN),
        ((QRELS, ["map"], 1.5), RUN), ((QRELS, ["map"], "1"), RUN), ((QRELS, ["map"], 1, "x"), RUN),
        ((QRELS, ["nonsense"]), RUN), ((QRELS, "map"), RUN), ((QRELS, ["ndcg@10"]), RUN),
        ((QRELS, ["prefs_simp"]), RUN), ((QRELS, ["prefs"]), RUN), ((QRELS, ["yaap"]), RUN),
    ],
    ids=str,
)  # fmt: skip
def test_what_it_refuses_is_refused_with_the_same_kind_of_error(arguments: Any, run: Any) -> None:
    """TypeError or ValueError; ours say where."""
    with pytest.raises((TypeError, ValueError)) as expected:
        original.RelevanceEvaluator(*arguments).evaluate(run)

    with pytest.raises(expected.type):
        ours.RelevanceEvaluator(*arguments).evaluate(run)


def test_an_error_names_query_and_document() -> None:
    """Where pytrec_eval says that it is unable."""
    evaluator = ours.RelevanceEvaluator(QRELS, ["map"])

    with pytest.raises(TypeError, match=r"query 'q', document 'b': .* found None"):
        evaluator.evaluate({"q": {"a": 1.0, "b": None}})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("arguments", "run"),
    [
        ((QRELS, ["P_0"]), RUN), ((QRELS, ["P_05", "P_5"]), RUN), ((QRELS, ["ndcg_10"]), RUN),
        ((QRELS, ["ndcg.1=5"]), RUN), ((QRELS, ["G_5"]), RUN), ((QRELS, ["utility_1"]), RUN),
        ((QRELS, ["iprec_at_recall_0.1", "iprec_at_recall_0.10"]), RUN),
        (({"q": {"a": 2**62}}, ["map"]), RUN), (({"q": {"a": 2**70}}, ["map"]), RUN),
        ((QRELS, ["map"], -1), RUN), ((QRELS, ["map"]), {"q": {"a": 10**400}}),
        ((QRELS, ["map"]), {"q": {"a": float("nan"), "b": 1.0}}),
    ],
    ids=lambda value: str(value)[:60],
)  # fmt: skip
def test_nothing_ends_the_interpreter_or_is_guessed(arguments: Any, run: Any) -> None:
    """pytrec_eval aborts at most of these, and gives numbers that look right for the others."""
    with pytest.raises(FastrankError):
        ours.RelevanceEvaluator(*arguments).evaluate(run)


def test_stray_surrogates_are_ids_too() -> None:
    """They crash pytrec_eval."""
    qrels: Any = {"\udc80": {"\udcff": 1}}

    found = ours.RelevanceEvaluator(qrels, ["map"]).evaluate({"\udc80": {"\udcff": 1.0, "a": 1.0}})

    assert found == {"\udc80": {"map": 1.0}}


def test_judgments_that_are_all_negative_are_evaluated() -> None:
    """Zero relevant documents."""
    qrels: Any = {"q": {"a": -1, "b": -2}}

    assert ours.RelevanceEvaluator(qrels, ["map", "num_rel"], 1, True).evaluate(RUN) == {
        "q": {"num_rel": 0.0, "map": 0.0}
    }


def test_an_evaluator_is_freed_without_the_garbage_collector() -> None:
    evaluator = ours.RelevanceEvaluator({"q": {"d": 1}}, {"map"})
    evaluator.evaluate({"q": {"d": 1.0}})
    alive = weakref.ref(evaluator)

    gc.disable()
    try:
        del evaluator
        assert alive() is None
    finally:
        gc.enable()


def test_names_of_measures_are_the_same() -> None:
    assert ours.supported_measures == original.supported_measures
    assert ours.supported_nicknames == original.supported_nicknames
    assert set(ours.__all__) == set(original.__all__)


def test_lines_are_parsed_the_same() -> None:
    """Into dicts; a document that comes twice and a short line are refused with the same errors."""
    run = ["q1 Q0 d1 1 2.5 t\n", " q1 Q0 d2 2 1e3 t", "q2 Q0 d1 1 nan t\n"]
    qrels = ["q1 0 d1 1\n", "q1 0 d2 -1", "q2 0 d1 03\n"]

    assert repr(ours.parse_run(run)) == repr(original.parse_run(run))
    assert ours.parse_qrel(iter(qrels)) == original.parse_qrel(iter(qrels))
    for parse, wrong, error in (
        ("parse_run", [run[0], run[0]], AssertionError),
        ("parse_qrel", [qrels[0], qrels[0]], AssertionError),
        ("parse_run", ["q1 Q0 d1 1 2.5"], ValueError),
        ("parse_run", ["q1 Q0 d1 1 x t"], ValueError),
        ("parse_qrel", ["q1 0 d1 1.5"], ValueError),
    ):
        for module in (ours, original):
            with pytest.raises(error):
                getattr(module, parse)(wrong)


@pytest.mark.parametrize("measure", ["map", "num_ret", "gm_map", "P_10"])
def test_values_are_averaged_the_same(measure: str) -> None:
    """Sums, means and geometric means, to the last bit."""
    values = [random.Random(i).random() for i in range(1001)]

    found = ours.compute_aggregated_measure(measure, values)

    assert found == original.compute_aggregated_measure(measure, values)


def test_ir_measures_computes_the_same_with_ours_in_its_place() -> None:
    """Its own provider, unmodified, in a process where `import pytrec_eval` finds ours."""
    pytest.importorskip("ir_measures")
    code = """
import random, sys
if sys.argv[1] == "ours":
    from fastrank.compat import pytrec_eval
    sys.modules["pytrec_eval"] = pytrec_eval
import ir_measures
from ir_measures import *
rng = random.Random(5)
docs = [f"d{i}" for i in range(50)]
qrels = {f"q{q}": {d: rng.randrange(4) for d in rng.sample(docs, 20)} for q in range(30)}
run = {f"q{q}": {d: rng.randrange(9) / 8 for d in rng.sample(docs, 40)} for q in range(25)}
measures = [AP, AP(rel=2), AP@10, nDCG, nDCG@10, nDCG(gains={1: 0, 3: 9})@5, P@5, P(rel=3)@10, R@7,
    RR, RR(rel=2), Rprec, Bpref, Bpref(rel=2), infAP, IPrec@0.1, IPrec@0.5, NumQ, NumRet,
    NumRet(rel=1), NumRel, SetP, SetP(relative=True), SetR, SetF, SetF(beta=0.5), SetAP, Success@3,
    P(judged_only=True)@10, nDCG(judged_only=True)@10]
evaluator = ir_measures.pytrec_eval.evaluator(measures, qrels)
values = {(str(m.measure), m.query_id): m.value for m in evaluator.iter_calc(run)}
print(type(evaluator.invokers[0].evaluator).__module__)
print(sorted(values.items()))
"""
    printed = [
        subprocess.run(
            [sys.executable, "-c", code, which], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for which in ("ours", "original")
    ]

    assert [lines[0] for lines in printed] == ["fastrank.compat.pytrec_eval", "pytrec_eval"]
    assert printed[0][1:] == printed[1][1:]


def test_beir_computes_the_same_with_ours_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """`EvaluateRetrieval.evaluate`, unmodified."""
    evaluation = pytest.importorskip("beir.retrieval.evaluation")
    qrels, run = _inputs(1)
    run = {query: {d: float(s) for d, s in row.items()} for query, row in run.items()}
    cutoffs = [1, 3, 10]
    expected = evaluation.EvaluateRetrieval.evaluate(qrels, run, cutoffs)

    monkeypatch.setattr(evaluation, "pytrec_eval", ours)

    assert evaluation.EvaluateRetrieval.evaluate(qrels, run, cutoffs) == expected


def test_which_ids_are_looked_at() -> None:
    """All of a judged query, not only the first; none of a query without judgments."""
    evaluator = ours.RelevanceEvaluator({"q": {"a": 1}}, {"map"})

    with pytest.raises(TypeError, match="expected ids of type str"):
        evaluator.evaluate({"q": {"a": 0.5, 5: 0.25}})
    assert evaluator.evaluate({"q": {"a": 0.5}, "p": {5: 0.5}}) == {"q": {"map": 1.0}}
