"""fastrank.compat.pytrec_eval beside pytrec_eval itself."""

import copy
import gc
import pickle
import random
import struct
import sys
import weakref
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import pytrec_eval as original

from fastrank.common.messages import brief
from fastrank.compat import pytrec_eval as ours
from fastrank.errors import FastrankError
from tests.helpers.strategies import many

SEEDS = range(many(200))
QRELS = {"q": {"a": 1}}
RUN = {"q": {"a": 1.0}}


def _inputs(seed):
    """Ties, C floats that collide, ids of several lengths, empty dicts, queries on one side."""
    rng = random.Random(seed)
    # pytrec_eval itself does not come back from judgments that are all negative.
    grades = [[0, 1], [0, 1, 2, 3], [-1, 0, 1, 2], [0], [-5, -2, -1, 0, 7, 9]][seed % 5]
    docs = [f"d{i}" for i in range(60)] + ["é", "\uffff", "\U00010000", "-", "1", "01"]
    scores = [
        lambda: rng.randrange(6),
        lambda: rng.random(),
        lambda: 1.0 + rng.randrange(8) * 2e-8,
        lambda: rng.choice([0.1, -0.1, 1e-30, 1e30, 0.0, -0.0, 1e300, float("inf"), True]),
    ]
    qrels = {}
    run = {"unjudged": {"d1": 1.0}}
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


def _exactly(results):
    """Queries and measures in their order, values by their bits."""
    return [
        (query, [(name, struct.pack("<d", value)) for name, value in values.items()])
        for query, values in results.items()
    ]


def assert_same(run, *arguments):
    found, expected = (
        module.RelevanceEvaluator(*arguments).evaluate(run) for module in (ours, original)
    )
    assert _exactly(found) == _exactly(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_bit_and_the_order_are_the_same(seed):
    """All measures, those without values per query included."""
    qrels, run = _inputs(seed)
    for level in (1, 2):
        for judged_only in (False, True):
            assert_same(run, qrels, original.supported_measures, level, judged_only)


@pytest.mark.parametrize("seed", SEEDS[:60])
def test_evaluators_of_one_query_leave_nothing_to_the_next_one(seed):
    """Memory serves again for other judgments and rankings, whatever is longer than before."""
    qrels, run = _inputs(seed)
    measures = [["official"], ["all_trec"], ["ndcg_cut_5", "P", "bpref"]][seed % 3]
    for query in [query for query in qrels if query in run] * 2:
        single = {query: qrels[query]}
        evaluator = ours.RelevanceEvaluator(single, measures, 1 + seed % 2)
        expected = original.RelevanceEvaluator(single, measures, 1 + seed % 2)
        for ranking in (run[query], {}, {**run[query], "more": 0.5, "d3": 2}, run[query]):
            found = evaluator.evaluate({query: ranking})
            assert _exactly(found) == _exactly(expected.evaluate({query: ranking}))


def test_an_evaluator_takes_single_queries_one_after_the_other():
    qrels, run = _inputs(3)
    evaluator = ours.RelevanceEvaluator(qrels, ["official"])
    expected = original.RelevanceEvaluator(qrels, ["official"])
    for query in [*run] * 3:
        single = {query: run[query]}
        assert _exactly(evaluator.evaluate(single)) == _exactly(expected.evaluate(single))


def test_threads_share_an_evaluator_of_one_query():
    """Each gets the values of its own ranking."""
    evaluator = ours.RelevanceEvaluator(QRELS, ["recip_rank"])

    def evaluate(rank):
        ranking = {str(i): 10.0 for i in range(rank - 1)} | {"a": 1.0}
        return {evaluator.evaluate({"q": ranking})["q"]["recip_rank"] for _ in range(300)}

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(evaluate, range(1, 9))) == [{1 / rank} for rank in range(1, 9)]


def test_dicts_that_change_later_do_not_change_the_judgments():
    judged = {"a": 1, "b": 0}
    for _ in range(3):
        evaluator = ours.RelevanceEvaluator({"q": judged}, ["num_rel"])
        judged["b"] = 1
        assert evaluator.evaluate(RUN)["q"]["num_rel"] == 1.0
        judged["b"] = 0


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda evaluator: pickle.loads(pickle.dumps(evaluator))]
)
def test_copies_of_an_evaluator_that_was_used_compute_the_same(copied):
    for _ in range(3):
        evaluator = ours.RelevanceEvaluator(QRELS, ["map"])
        assert evaluator.evaluate(RUN) == copied(evaluator).evaluate(RUN) == {"q": {"map": 1.0}}


def test_discounts_of_deep_ranks():
    """The logarithms of the first 1,023 ranks are kept in a table."""
    run = {"q": {f"d{rank}": -float(rank) for rank in range(1, 1031)}}
    assert_same(run, {"q": {f"d{rank}": 1 for rank in range(1020, 1031)}}, {"ndcg"})


# Points, underscores, several parameters, nicknames.
NAMES = """
P | P_7 | P; P_7 | P_5; P.10; P_15,20 | ndcg_cut.10,20; recall.5; iprec_at_recall.0.1 | P_5.5
| P_5foo | iprec_at_recall_0.1; iprec_at_recall_0.101 | recip_rank_10 | map_10 | set_F_0.5 | map
| set_F_0.5; set_F_2 | utility_1,2,3,4 | relstring_3 | 11pt_avg_0.5 | Rprec_mult.0.5,1 | success
| P_99999999999999999999 | official | set | all_trec | official; ndcg_cut_3
| runid; num_q; gm_map; gm_bpref
"""
MEASURES = [names.strip().split("; ") for names in NAMES.split("|")]


@pytest.mark.parametrize("measures", [[], {"map": 1}, *MEASURES], ids=str)
def test_measures_are_asked_for_in_the_same_ways(measures):
    assert_same(RUN, QRELS, measures)


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (QRELS, {}),
        (QRELS, None),
        (QRELS, {"other": {"a": 1.0}}),
        ({}, RUN),
        ({"q": {}}, RUN),
        (QRELS, {"q": {}}),
        (QRELS, {"z": {"a": 1.0}, "q": {"a": 1}, "b": {}}),
        (OrderedDict(q=OrderedDict(a=1)), OrderedDict(q=OrderedDict(a=1.0))),
        ({"q": {"": True}}, {"q": {"": np.float64(1)}}),
        ({"q": {"a": -1}, "r": {"b": 1}}, {"r": {"b": 1.0}, "q": {"a": 1.0}}),
        ({"q": {"é": 1}}, {"q": {"é": 1.0, "\uffff": 1.0, "\U00010000": 1.0}}),
    ],
    ids=str,
)
def test_unusual_inputs_give_the_same(qrels, run):
    assert_same(run, qrels, ["map", "num_ret", "ndcg"])


@pytest.mark.parametrize(
    ("arguments", "run"),
    [
        *(((QRELS, ["map"]), {"q": {"a": score}}) for score in (None, "1", 1j)),
        *(((QRELS, ["map"]), run) for run in ({"q": {1: 1.0}}, {1: {"a": 1.0}}, {"q": ["a"]}, [1])),
        ((QRELS, ["map"]), {"q": None}),
        *((({"q": own}, ["map"]), RUN) for own in ({"a": 1.0}, {"a": "1"}, {1: 1}, ["a"])),
        (({1: {"a": 1}}, ["map"]), RUN),
        (({b"q": {b"a": 1}}, ["map"]), RUN),
        *(((QRELS, ["map"], *own), RUN) for own in ([0], [1.5], ["1"], [1, "x"])),
        *(((QRELS, own), RUN) for own in ("map", None, [1], ["nonsense"], ["ndcg@10"])),
        *(((QRELS, own), RUN) for own in (["prefs_simp"], ["prefs"], ["yaap"])),
    ],
    ids=str,
)
def test_what_it_refuses_is_refused_with_the_same_kind_of_error(arguments, run):
    """TypeError or ValueError; ours say where."""
    with pytest.raises((TypeError, ValueError)) as expected:
        original.RelevanceEvaluator(*arguments).evaluate(run)
    with pytest.raises(expected.type):
        ours.RelevanceEvaluator(*arguments).evaluate(run)


@pytest.mark.parametrize("grade", [2**44 - 1, 2**62, 2**70, 10**5000], ids=brief)
def test_errors_name_query_and_document(grade):
    """Where pytrec_eval says that it is unable, or aborts."""
    with pytest.raises(ValueError, match=f"'q', document 'a': the relevance {brief(grade)} is too"):
        ours.RelevanceEvaluator({"q": {"a": grade}}, ["map"])
    evaluator = ours.RelevanceEvaluator({"q": {"a": 2**44 - 2}}, ["map"])
    with pytest.raises(TypeError, match=r"query 'q', document 'b': .* found a missing value"):
        evaluator.evaluate({"q": {"a": 1.0, "b": None}})


@pytest.mark.parametrize(
    ("arguments", "run"),
    [
        *(((QRELS, own), RUN) for own in (["P_0"], ["P_05", "P_5"], ["ndcg_10"], ["ndcg.1=5"])),
        *(((QRELS, own), RUN) for own in (["G_5"], ["utility_1"])),
        ((QRELS, ["iprec_at_recall_0.1", "iprec_at_recall_0.10"]), RUN),
        ((QRELS, ["map"], -1), RUN),
        ((QRELS, ["map"]), {"q": {"a": 10**400}}),
        ((QRELS, ["map"]), {"q": {"a": float("nan"), "b": 1.0}}),
    ],
    ids=lambda value: str(value)[:60],
)
def test_nothing_ends_the_interpreter_or_is_guessed(arguments, run):
    """pytrec_eval aborts at most of these, and gives numbers that look right for the others."""
    with pytest.raises(FastrankError):
        ours.RelevanceEvaluator(*arguments).evaluate(run)


@pytest.mark.parametrize(
    ("arguments", "run", "expected"),
    [
        # Stray surrogates crash it, and from judgments that are all negative it does not return.
        (({"\udc80": {"\udcff": 1}},), {"\udc80": {"\udcff": 1.0, "a": 1.0}}, [1.0, 1.0]),
        (({"q": {"a": -1, "b": -2}}, 1, True), RUN, [0.0, 0.0]),
    ],
)
def test_what_crashes_pytrec_eval_is_evaluated(arguments, run, expected):
    qrels, *options = arguments
    found = ours.RelevanceEvaluator(qrels, ["map", "num_rel"], *options).evaluate(run)
    assert found == {query: dict(zip(("num_rel", "map"), expected, strict=True)) for query in qrels}


def test_an_evaluator_is_freed_without_the_garbage_collector():
    evaluator = ours.RelevanceEvaluator({"q": {"d": 1}}, {"map"})
    evaluator.evaluate({"q": {"d": 1.0}})
    alive = weakref.ref(evaluator)
    gc.disable()
    try:
        del evaluator
        assert alive() is None
    finally:
        gc.enable()


def test_names_of_measures_are_the_same():
    assert ours.supported_measures == original.supported_measures
    assert ours.supported_nicknames == original.supported_nicknames
    assert set(ours.__all__) == set(original.__all__)


def test_lines_are_parsed_the_same():
    run = ["q1 Q0 d1 1 2.5 t\n", " q1 Q0 d2 2 1e3 t", "q2 Q0 d1 1 nan t\n"]
    qrels = ["q1 0 d1 1\n", "q1 0 d2 -1", "q2 0 d1 03\n"]
    assert repr(ours.parse_run(run)) == repr(original.parse_run(run))
    assert ours.parse_qrel(iter(qrels)) == original.parse_qrel(iter(qrels))


@pytest.mark.parametrize(
    ("parse", "lines", "error"),
    [
        ("parse_run", ["q Q0 d 1 2.5 t\n"] * 2, AssertionError),
        ("parse_qrel", ["q 0 d 1\n"] * 2, AssertionError),
        ("parse_run", ["q Q0 d 1 2.5"], ValueError),
        ("parse_run", ["q Q0 d 1 x t"], ValueError),
        ("parse_qrel", ["q 0 d 1.5"], ValueError),
    ],
)
def test_lines_are_refused_with_the_same_errors(parse, lines, error):
    for module in (ours, original):
        with pytest.raises(error):
            getattr(module, parse)(lines)


@pytest.mark.parametrize("measure", ["map", "num_ret", "gm_map", "P_10"])
def test_values_are_averaged_the_same(measure):
    values = [random.Random(i).random() for i in range(1001)]
    found = ours.compute_aggregated_measure(measure, values)
    assert found == original.compute_aggregated_measure(measure, values)


OF_IR_MEASURES = """
AP AP(rel=2) AP@10 nDCG nDCG@10 nDCG(gains={1:0,3:9})@5 P@5 P(rel=3)@10 R@7 RR RR(rel=2) Rprec
Bpref Bpref(rel=2) infAP IPrec@0.1 IPrec@0.5 NumQ NumRet NumRet(rel=1) NumRel SetP SetR SetF SetAP
SetP(relative=True) SetF(beta=0.5) Success@3 P(judged_only=True)@10 nDCG(judged_only=True)@10
"""


def test_ir_measures_computes_the_same_with_ours_in_its_place(monkeypatch):
    """Its own provider, unmodified, whose `import pytrec_eval` finds ours."""
    irm = pytest.importorskip("ir_measures")
    measures = list(map(irm.parse_measure, OF_IR_MEASURES.split()))
    qrels, run = _inputs(1)
    found = []
    for module in (ours, original):
        monkeypatch.setitem(sys.modules, "pytrec_eval", module)
        evaluator = type(irm.pytrec_eval)().evaluator(measures, qrels)
        assert type(evaluator.invokers[0].evaluator).__module__ == module.__name__
        found.append({(m.measure, m.query_id): m.value for m in evaluator.iter_calc(run)})
    assert found[0] == found[1]


def test_beir_computes_the_same_with_ours_in_its_place(monkeypatch):
    evaluation = pytest.importorskip("beir.retrieval.evaluation")
    qrels, run = _inputs(1)
    run = {query: {d: float(s) for d, s in row.items()} for query, row in run.items()}
    cutoffs = [1, 3, 10]
    expected = evaluation.EvaluateRetrieval.evaluate(qrels, run, cutoffs)
    monkeypatch.setattr(evaluation, "pytrec_eval", ours)
    assert evaluation.EvaluateRetrieval.evaluate(qrels, run, cutoffs) == expected


def test_which_ids_are_looked_at():
    """All of a judged query, not only the first; none of a query without judgments."""
    evaluator = ours.RelevanceEvaluator({"q": {"a": 1}}, {"map"})
    with pytest.raises(TypeError, match="expected ids of type str"):
        evaluator.evaluate({"q": {"a": 0.5, 5: 0.25}})
    assert evaluator.evaluate({"q": {"a": 0.5}, "p": {5: 0.5}}) == {"q": {"map": 1.0}}
