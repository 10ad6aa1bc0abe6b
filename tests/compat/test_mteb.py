"""fastrank.compat.mteb beside MTEB's own functions, or what was recorded of them."""

import json
import math
import struct
import sys

import numpy as np
import pytest

from fastrank.compat import mteb as ours
from fastrank.errors import InputError
from tests.helpers.paths import REPOSITORY
from tests.helpers.retrieval_results import RECORDED, values_of
from tests.helpers.strategies import many
from tests.helpers.tables import giving, refusing

VALUES = json.loads((REPOSITORY / "tests/recorded/mteb/values.json").read_text("utf-8"))
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUN = {"q1": {"a": 0.5, "b": 0.5, "x": 0.5}, "q2": {"b": 0.9, "c": 0.4}}


def _exactly(values):
    """Names in their order, numbers by their bits."""
    if isinstance(values, dict):
        return [(name, _exactly(value)) for name, value in values.items()]
    if isinstance(values, list):
        return list(map(_exactly, values))
    if values is None or math.isnan(values):
        return values and "nan"
    return struct.pack("<d", values)


@pytest.mark.parametrize("seed", RECORDED)
def test_recorded_values(seed):
    found, expected = values_of(ours, seed), VALUES[str(seed)]
    del found["all_scores"]
    if sys.version_info >= (3, 12):
        # Where Python's sum adds in another way.
        for name in ("mrr", "robustness_at_10()"):
            assert found.pop(name) == pytest.approx(expected.pop(name), rel=1e-15)
    assert _exactly(found) == _exactly(expected)


def test_values_of_mteb():
    theirs = pytest.importorskip("mteb._evaluators.retrieval_metrics")
    for seed in range(many(100)):
        most = 300 if seed % 10 == 0 else 12
        assert _exactly(values_of(ours, seed, most)) == _exactly(values_of(theirs, seed, most)), (
            seed
        )


test_by_hand = giving("""
# a document with the larger id comes first among equal scores
ours.mrr(QRELS, RUN, [1, 3]) => {"MRR@1": [0.0, 0.0], "MRR@3": [1 / 3, 0.5]}
ours.recall_cap(QRELS, RUN, [2]) => {"R_cap_at_2": [0.0, 1.0]}
ours.recall_cap({"q1": {"a": 0}}, {"q1": {"a": 1.0}}, [2]) => {"R_cap_at_2": [None]}
# b is judged for another query, x for none
ours.hole(QRELS, RUN, [1, 4]) => {"Hole_at_1": [1.0, 0.0], "Hole_at_4": [0.25, 0.0]}
ours.hole(QRELS, {"q3": {"x": 1.0, "a": 0.5}}, [2]) => {"Hole_at_2": [0.5]}
ours.top_k_accuracy(QRELS, RUN, [1, 2, 3]) => {"Accuracy@2": [1.0], "Accuracy@3": [1.0, 1.0]}
# cutoffs in an array, fractional and very large grades
ours.mrr({"q": {"a": 0.25, "b": -2**70}}, {"q": {"b": 2, "a": 1}}, np.arange(2, 3)) =>
  {"MRR@2": [0.5]}
# from rank 4 to rank 1, and back
ours.calculate_pmrr({"q-og": LAST}, {"q-changed": FIRST}, {"q": ["a"]}) => -0.75
ours.calculate_pmrr({"q-og": FIRST}, {"q-changed": LAST}, {"q": ["a"], "p": ["a"]}) => 0.75
ours.calculate_pmrr({"q-og": FIRST}, {"q-changed": LAST}, {"q": iter("a")}) => 0.75
ours.robustness_at_10({"1_a": {}, "1_b": {}, "2_a": {}}, {}, NDCG) => 0.375
ours.confidence_scores([0.25, 0.75]) => {"max": 0.75, "std": 0.25, "diff1": 0.5}
ours.confidence_scores([0.5]) => {"max": 0.5, "std": 0.0, "diff1": 0.0}
ours.confidence_scores([]) => {"max": 0.0, "std": 0.0, "diff1": 0.0}
# integers that are one double
ours.evaluate_abstention(BIG, {"m": [0, 1]})["nAUC_m_diff1"] => 1.0
# NaN is sorted as Python sorts it
ours.confidence_scores([math.nan, 1.0, 2.0])["max"] => 2.0
ours.evaluate_abstention(ONE_NAN, {"m": [0, 1]})["nAUC_m_max"] => 1.0
str(ours.confidence_scores([0.0, -0.0])["max"]) => "-0.0"
# the best possible order, and one that is of no use
ours.nauc(np.arange(4.0), np.arange(4.0)) => 1.0
ours.nauc(np.zeros(4), np.arange(4.0)) => 0.0
""")
FIRST = {"a": 4, "b": 3, "c": 2, "d": 1}
LAST = {"a": 1, "b": 3, "c": 2, "d": 4}
BIG = {"q1": {"a": 2**53, "b": 2**53}, "q2": {"a": 2**53 + 1, "b": 2**53}}
ONE_NAN = {"q1": {"a": 1.0}, "q2": {"a": math.nan, "b": 1.0, "c": 2.0}}
NDCG = {"1_a": {"ndcg_cut_10": 0.25}, "1_b": {"ndcg_cut_10": 0.75}, "2_a": {"ndcg_cut_10": 0.5}}


def test_no_area_where_all_values_are_equal():
    assert math.isnan(ours.nauc(np.arange(4.0), np.full(4, 0.5)))


def test_only_mrr_compares_doubles():
    """The scores are the same as 32-bit floats, so that the larger id comes first."""
    scores = ours.calculate_retrieval_scores({"q1": {"a": 1 + 1e-9, "b": 1.0}}, QRELS, [1])
    assert (scores.mrr, scores.precision) == ({"MRR@1": 1.0}, {"P@1": 0.0})


def test_first_result_is_skipped():
    scores = ours.calculate_retrieval_scores(RUN, QRELS, [1], skip_first_result=True)
    assert list(scores.all_scores["q1"].values()) == [0.0] * 5
    assert scores.precision == {"P@1": 0.5}


def test_cutoff_given_twice_counts_once():
    twice = ours.calculate_retrieval_scores(RUN, QRELS, [1, 3, 3])
    assert _exactly(twice._asdict()) == _exactly(
        ours.calculate_retrieval_scores(RUN, QRELS, [1, 3])._asdict()
    )


@pytest.mark.parametrize("kind", [int, np.float32, np.float64])
def test_scores_of_other_types(kind):
    results = {"q1": {"a": kind(3), "b": kind(1), "x": kind(1)}, "q2": {"c": kind(2)}}
    plain = {query: {doc: float(v) for doc, v in docs.items()} for query, docs in results.items()}
    found, expected = (ours.calculate_retrieval_scores(run, QRELS, [1]) for run in (results, plain))
    assert found[:5] == expected[:5]
    assert found.naucs == pytest.approx(expected.naucs, rel=1e-6, nan_ok=True)


test_refused = refusing("""InputError
ours.calculate_retrieval_scores({}, QRELS, [1]) =>
  results: expected {query: ... str, found no query
ours.evaluate_abstention({}, {}) => results: expected {query: ...found no query
ours.calculate_retrieval_scores({"q1": {"a": math.nan}}, QRELS, [1]) => ...found NaN
ours.calculate_retrieval_scores(RUN, QRELS, [0]) => OptionError: k_values: ...
ours.calculate_retrieval_scores(RUN, QRELS, []) =>
  OptionError: k_values: expected cutoffs such as [1, 10], found none
ours.hole(QRELS, list(RUN), [1]) => TypeError: results: expected {query: ...found list
ours.mrr(None, RUN, [1]) => TypeError: qrels: expected {query: ...found NoneType
ours.mrr(QRELS, {1: {"a": 1.0}}, [1]) => TypeError: results: ...found {1: {'a': 1.0}}
ours.hole(QRELS, {"q1": {1: 1.0}}, [1]) => TypeError: results: ...found {'q1': {1: 1.0}}
ours.mrr(QRELS, RUN, [2**31]) =>
  MeasureError: 'RR@2147483648': ...whole number of at least 1 and at most 2147483647
ours.evaluate_abstention(RUN, {"RR": [1.0]}) =>
  metric_scores, RR: expected 2 values, one per query, found 1
ours.nauc(np.arange(4.0), np.arange(3.0)) => metrics: expected 4 values, one per query, found 3
ours.nauc(np.arange(4.0), np.arange(4.0), [0.5, 0.25]) =>
  OptionError: abstention_rates: expected two or more ascending shares, found [0.5, 0.25]
ours.nauc(np.arange(4.0), np.arange(4.0), [0.5]) => OptionError: abstention_rates: ...
ours.calculate_pmrr({}, {}, {"q": ["a"]}) =>
  changed_qrels: expected {query: documents} for queries of both runs, found none
""")


@pytest.mark.parametrize("qrels", [QRELS, {"p": {}}])
def test_unjudged_query_is_a_key_error_as_in_mteb(qrels):
    match = "^results, query 'p': expected judgments of each query, found none; leave such"
    with pytest.raises(KeyError, match=match) as caught:
        ours.calculate_retrieval_scores({"p": {"a": 1.0}}, qrels, [1])
    assert isinstance(caught.value, InputError)
