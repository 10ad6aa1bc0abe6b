"""The provider for ir_measures beside the providers that ir_measures has."""

import gc
import random
import weakref

import pytest

import fastrank as fr
from fastrank.errors import MeasureError

irm = pytest.importorskip("ir_measures")
provider = pytest.importorskip("fastrank.compat.ir_measures").provider

BY_PYTREC_EVAL = """
AP AP(rel=2) AP@10 AP(rel=2,judged_only=True)@5 nDCG nDCG@10 nDCG(judged_only=True)@10 P@5
P(rel=3)@10 P(judged_only=True)@10 R@7 R(rel=2)@7 RR RR(rel=2) RR(judged_only=True) Rprec
Rprec(rel=2) Bpref Bpref(rel=2) infAP infAP(rel=2) IPrec@0.1 IPrec(rel=2)@0.5 NumQ NumRet
NumRet(rel=1) NumRet(rel=2) NumRel SetP SetP(relative=True) SetP(judged_only=True) SetR SetR(rel=2)
SetF SetF(beta=0.5) SetF(beta=2.0) SetAP SetAP(rel=2) Success@3 Success(rel=2)@3
nDCG(gains={1:0,3:9}) nDCG(gains={2:5})@5
"""
BY_PYTREC_EVAL = list(map(irm.parse_measure, BY_PYTREC_EVAL.split()))


with_ties = pytest.mark.filterwarnings("ignore:the run has equal scores")


def _inputs(seed, *, ties):
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(50)]
    qrels = {
        f"q{q}": {doc: rng.choice([-1, 0, 0, 1, 2, 3]) for doc in rng.sample(docs, 20)}
        for q in range(12)
    }
    run = {}
    for q in range(2, 14):
        found = rng.sample(docs, rng.randrange(1, 40))
        levels = [rng.randrange(9) for _ in found] if ties else rng.sample(range(99), len(found))
        run[f"q{q}"] = {doc: level / 8 for doc, level in zip(found, levels, strict=True)}
    return qrels, run


def _values(some_provider, measure, qrels, run):
    found = some_provider.iter_calc([measure], qrels, run)
    return {metric.query_id: metric.value for metric in found}


@pytest.mark.parametrize("measure", BY_PYTREC_EVAL, ids=str)
def test_values_are_those_of_the_provider_pytrec_eval(measure):
    assert provider.supports(measure)
    for seed in range(3):
        given = _inputs(seed, ties=True)
        assert _values(provider, measure, *given) == _values(irm.pytrec_eval, measure, *given)
        found, expected = (
            own.calc_aggregate([measure], *given)[measure] for own in (provider, irm.pytrec_eval)
        )
        assert found == pytest.approx(expected, abs=1e-15)


RR, JUDGED, ACCURACY, COMPAT = irm.RR, irm.Judged, irm.Accuracy, irm.Compat
WITHOUT_TIES = {
    "msmarco": [RR @ 1, RR @ 3, RR @ 10, RR(rel=2) @ 10],
    "judged": [JUDGED @ 1, JUDGED @ 10, JUDGED @ 1000, JUDGED],
    "compat": [COMPAT, COMPAT(p=0.8), COMPAT(normalize=False)],
    "accuracy": [ACCURACY, ACCURACY @ 5, ACCURACY(rel=2)],
}


@pytest.mark.parametrize(
    ("other", "measure"),
    [(name, measure) for name, measures in WITHOUT_TIES.items() for measure in measures],
    ids=str,
)
def test_values_without_ties_are_those_of_the_other_provider(other, measure):
    """With ties the order of ids differs, as the docstring says; not all queries have a value."""
    for seed in range(5):
        given = _inputs(seed, ties=False)
        expected = _values(getattr(irm, other), measure, *given)
        assert _values(provider, measure, *given) == expected
        if other == "accuracy":
            mean = provider.calc_aggregate([measure], *given)[measure]
            assert mean == pytest.approx(sum(expected.values()) / len(expected))


TIED = [
    (irm.RR @ 10, "by ascending id"),
    (irm.Judged @ 1, "by ascending id"),
    (irm.Compat(p=0.8), "by ascending id"),
    (irm.StRecall @ 1, "by ascending id"),
    (irm.alpha_nDCG @ 2, "by ascending id"),
    (irm.Accuracy, "in the order of the run"),
    (irm.RBP(rel=1), "in the order of the run"),
    (irm.BPM(max_rel=1) @ 1, "in the order of the run"),
]


@pytest.mark.parametrize(("measure", "order"), TIED, ids=str)
def test_a_warning_says_that_another_provider_orders_ties_otherwise(measure, order):
    """The orders are those of ir_measures' providers for runs with equal scores."""
    qrels = [irm.Qrel("q", "b", 1, "1"), irm.Qrel("q", "z", 0, "1")]
    run = {"q": {"a": 1.0, "b": 1.0}}
    evaluator = provider.evaluator([irm.AP, measure, irm.P @ 1], qrels)
    with pytest.warns(UserWarning, match="the run has equal scores that change values") as warned:
        evaluator.calc_aggregate(run)
    (one,) = warned
    assert str(one.message).endswith(f"other providers rank them {order} for {measure}")
    with pytest.warns(UserWarning, match="rank them"):
        assert _values(provider, irm.RR @ 10, qrels, run) == {"q": 1.0}, "ours rank b before a"
    assert evaluator.calc_aggregate(run)[irm.P @ 1] == 1.0, "the second run causes no warning"


@pytest.mark.parametrize("measure", [one for one, _ in TIED], ids=str)
def test_ties_that_change_nothing_cause_no_warning(measure):
    """None of these documents is judged, or all are alike, or no provider has another order."""
    qrels = [irm.Qrel("q", "b", 1, "1"), irm.Qrel("q", "z", 0, "1")]
    run = {"q": {"b": 3.0, "z": 2.0, "x": 1.0, "y": 1.0}, "r": {"b": 1.0, "a": 1.0}}
    provider.evaluator([measure], qrels).calc_aggregate(run)
    provider.evaluator([irm.AP, irm.RR, irm.nDCG @ 10], qrels).calc_aggregate({"q": run["r"]})


@with_ties
def test_many_measures_are_computed_at_once():
    qrels, run = _inputs(7, ties=True)
    measures = [*BY_PYTREC_EVAL, irm.RR @ 3, irm.Judged @ 5, irm.NumRel(rel=2)]
    found = {(m.measure, m.query_id): m.value for m in irm.iter_calc(measures, qrels, run)}
    for measure in measures:
        for query, value in _values(provider, measure, qrels, run).items():
            assert found[measure, query] == value


@with_ties
def test_ir_measures_asks_this_provider_first():
    """For what it supports; the rest is left to the others."""
    assert irm.DefaultPipeline.providers[0] is provider
    assert irm.providers.registry["fastrank"] is provider
    qrels, run = _inputs(0, ties=True)
    assert type(irm.evaluator([irm.AP], qrels)).__module__ == "fastrank.compat.ir_measures"
    assert not provider.supports(irm.P(rel=0) @ 10)
    assert not provider.supports(irm.nDCG(gains={-1: 1}))
    assert not provider.supports(irm.nDCG(gains={1: -1}))
    pytest.importorskip("pandas")
    defined = irm.define_byquery(lambda judged, found: float(len(found)), name="defined")
    mixed = [irm.nDCG, defined, irm.Accuracy, irm.AP, irm.P @ 5]
    assert list(irm.calc_aggregate(mixed, qrels, run)) == mixed


def test_values_come_in_the_order_asked():
    measures = [irm.R @ 7, irm.AP, irm.nDCG @ 10, irm.AP(rel=2), irm.RR, irm.NumQ]
    qrels, run = _inputs(2, ties=True)
    found = list(irm.iter_calc(measures, qrels, run))
    judged = [query for query in run if query in qrels] + ["q0", "q1"]
    assert [(m.query_id, m.measure) for m in found] == [(q, m) for q in judged for m in measures]
    assert list(irm.calc_aggregate(measures, qrels, run)) == measures


@with_ties
def test_measures_of_cwl_eval_are_supported():
    """Their values are compared in tests/core/measures; here grades have another scale."""
    names = (
        "SDCG({})@10 BPM(T=2.0,{})@10 INST(T=2.0,{}) INSQ({}) NERR8({})@5 NERR9({})@5"
        " NERR10(p=0.5,{}) NERR11({})"
    )
    names = names.format(*["min_rel=1,max_rel=4"] * 8).split()
    measures = list(map(irm.parse_measure, names))
    qrels, run = _inputs(0, ties=True)

    found = provider.calc_aggregate(measures, qrels, run)

    assert all(map(provider.supports, measures))
    expected = fr.evaluate(qrels, run, names, missing="zero").mean
    assert list(found.values()) == pytest.approx([expected[name] for name in names], rel=1e-14)
    assert not provider.supports(irm.INST(T=0.0, max_rel=3))


@pytest.mark.skipif(not irm.gdeval.is_available(), reason="gdeval needs perl")
@pytest.mark.parametrize("measure", [irm.ERR @ 5, irm.ERR @ 20, irm.nDCG(dcg="exp-log2") @ 10])
def test_values_are_those_of_gdeval(measure):
    """To its five decimals; its ids of queries are numbers."""
    for seed in range(3):
        qrels, run = (
            {q[1:]: own for q, own in given.items()} for given in _inputs(seed, ties=False)
        )
        found, expected = (_values(own, measure, qrels, run) for own in (provider, irm.gdeval))
        assert {query: round(value, 5) for query, value in found.items()} == pytest.approx(expected)


def test_rbp_without_rel_counts_grades_as_gains():
    """Its documentation calls that graded; with rel it is binary."""
    qrels, run = {"q": {"a": 3, "b": 1, "c": -1}}, {"q": {"a": 3.0, "c": 2.5, "b": 2.0, "d": 1.0}}
    found = irm.calc_aggregate([irm.RBP, irm.RBP @ 1, irm.RBP(p=0.5, rel=2)], qrels, run)
    assert list(found.values()) == pytest.approx([0.2 * (3 + 0.8**2), 0.2 * 3, 0.5])


@with_ties
def test_an_evaluator_may_be_used_again():
    """For as many queries or others; the memory of the last run serves again."""
    measures = [*BY_PYTREC_EVAL, irm.ERR @ 10, irm.nDCG(dcg="exp-log2"), irm.RBP, irm.Judged @ 5]
    qrels, _ = _inputs(1, ties=True)
    evaluator = irm.evaluator(measures, qrels)
    for seed in range(4):
        _, run = _inputs(seed, ties=True)
        one = dict(list(run.items())[seed : seed + 1])
        for some in (run, one, one, one, run, run, run):
            expected = irm.evaluator(measures, qrels).calc(some)
            assert evaluator.calc(some) == expected


def test_an_evaluator_is_freed_without_the_garbage_collector():
    qrels, run = _inputs(4, ties=False)
    evaluator = provider.evaluator([irm.AP], qrels)
    evaluator.calc_aggregate(run)
    alive = weakref.ref(evaluator)

    gc.disable()
    try:
        del evaluator
        assert alive() is None
    finally:
        gc.enable()


def test_a_run_without_judged_queries_has_default_values():
    for qrels, run in (({"q": {"a": 1}}, {}), ({"q": {"a": 1}, "r": {}}, {"z": {"a": 1.0}})):
        assert irm.calc_aggregate([irm.AP, irm.NumQ], qrels, run) == {irm.AP: 0.0, irm.NumQ: 0}


def _rows(qrels, run):
    """Named tuples of ir_measures."""
    return (
        [irm.Qrel(query, doc, grade) for query, row in qrels.items() for doc, grade in row.items()],
        [
            irm.ScoredDoc(query, doc, score)
            for query, row in run.items()
            for doc, score in row.items()
        ],
    )


def _calculated(measures, qrels, run):
    evaluator = provider.evaluator(measures, qrels)
    return list(evaluator.iter_calc(run)), evaluator.calc_aggregate(run)


def test_inputs_of_ir_measures_are_taken():
    qrels, run = _inputs(3, ties=True)
    rows = _rows(qrels, run)
    expected = _values(provider, irm.AP, qrels, run)
    assert _values(provider, irm.AP, *map(iter, rows)) == expected


@with_ties
@pytest.mark.parametrize("dtype", ["str", "object", "category"])
@pytest.mark.parametrize("ties", [False, True])
def test_frames_have_the_values_of_their_rows(dtype, ties):
    """Beside other forms too, with columns that ir_measures does not read, in any order of rows."""
    pandas = pytest.importorskip("pandas")
    measures = [*BY_PYTREC_EVAL, irm.RR @ 10, irm.Judged @ 5, irm.Accuracy]
    qrels, run = _rows(*_inputs(3, ties=ties))
    random.Random(1).shuffle(run)
    judged, ranked = (
        pandas.DataFrame(rows).astype({"query_id": dtype, "doc_id": dtype}) for rows in (qrels, run)
    )
    ranked = ranked.assign(tag=[f"t{row % 3}" for row in range(len(run))], rank=1)
    expected = _calculated(measures, qrels, run)
    for forms in ((judged, ranked), (judged, run), (qrels, ranked)):
        assert _calculated(measures, *forms) == expected


@pytest.mark.parametrize("measures", [[irm.AP, irm.nDCG], [irm.P @ 1, irm.StRecall @ 2]], ids=str)
def test_of_repeated_rows_of_frames_the_last_counts(measures):
    """As ir_measures' own providers have it, which make dicts of the rows."""
    pandas = pytest.importorskip("pandas")
    qrels = [irm.Qrel("q", "a", 1, "1"), irm.Qrel("q", "b", 1, "2"), irm.Qrel("q", "a", 0, "3")]
    run = [irm.ScoredDoc("q", doc, score) for doc, score in (("a", 3.0), ("b", 2.0), ("a", 1.0))]
    found = _calculated(measures, pandas.DataFrame(qrels), pandas.DataFrame(run))
    assert found == _calculated(measures, qrels, run)
    assert found[1][measures[0]] == 1.0


def test_integers_as_ids_are_refused_in_frames_as_in_dicts():
    """pytrec_eval refuses them, too."""
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame(rows) for rows in _rows({1: {"a": 1}}, {1: {"a": 1.0}})]
    with pytest.raises(fr.errors.InputError, match="expected ids of type str"):
        provider.calc_aggregate([irm.AP], *frames)


# Rows of query, subtopic, document and grade.
SUBTOPICS = """
1 1 a 1
1 1 b 1
1 1 c 0
1 2 b 2
1 2 d 1
1 3 e 1
1 4 f 0
2 1 a 1
2 2 a 1
2 2 c 0
3 1 a 0
"""
# tests/core/measures compares them with the provider pyndeval.
OF_SUBTOPICS = """
alpha_nDCG@5 alpha_nDCG(rel=1)@10 alpha_DCG@5 ERR_IA@5 nERR_IA@5 NRBP nNRBP(beta=0.5) AP_IA P_IA@5
StRecall@2
"""


def _subtopics():
    rows = map(str.split, SUBTOPICS.strip().splitlines())
    return [irm.Qrel(query, doc, int(grade), subtopic) for query, subtopic, doc, grade in rows]


DIVERSE = {
    query: {doc: 9.0 - rank for rank, doc in enumerate(docs)}
    for query, docs in (("1", "bxaecd"), ("2", "ca"))
}


@pytest.mark.parametrize("name", OF_SUBTOPICS.split())
def test_measures_of_subtopics_are_supported(name):
    """From named tuples and frames; queries without results are 0."""
    pandas = pytest.importorskip("pandas")
    measure, (queries, docs, grades, topics) = (
        irm.parse_measure(name),
        zip(*_subtopics(), strict=True),
    )
    judgments = fr.Qrels.from_arrays(queries, docs, grades, subtopics=topics)
    expected = fr.evaluate(judgments, DIVERSE, name, missing="zero")
    for qrels in (_subtopics(), pandas.DataFrame(_subtopics())):
        found = _values(provider, measure, qrels, DIVERSE)
        assert provider.supports(measure)
        assert found == dict(zip("123", [*expected[name].tolist()[:2], 0.0], strict=True))
        assert provider.calc_aggregate([measure], qrels, DIVERSE) == {measure: expected.mean[name]}


def test_measures_with_and_without_subtopics_are_computed_at_once():
    measures = [irm.NRBP, irm.NumQ, irm.P @ 1, irm.StRecall @ 2]
    found = list(irm.iter_calc(measures, iter(_subtopics()), DIVERSE))[:4]
    assert {(m.query_id, m.measure): m.value for m in found} == {
        ("1", measure): value
        for measure, value in zip(measures, (0.56640625, 1.0, 1.0, 0.6666666666666666), strict=True)
    }
    assert [m.measure for m in found] == measures


def test_judgments_without_subtopics_are_an_error():
    with pytest.raises(MeasureError, match="needs judgments with subtopics"):
        irm.calc_aggregate([irm.NRBP], {"q": {"a": 1}}, {"q": {"a": 1.0}})


def test_ir_measures_has_no_measure_that_is_missing_here():
    needed = {"cutoff": 10, "recall": 0.1, "max_rel": 3}
    for measure in set(irm.measures.registry.values()):
        required = [name for name, own in measure.SUPPORTED_PARAMS.items() if own.required]
        assert provider.supports(measure(**{name: needed[name] for name in required})), measure
