"""Explaining the values of other tools: they compute, and the setting is found."""

from __future__ import annotations

import io
import json
from typing import Any

import ir_measures
import pytest
import pytrec_eval

import fastrank as fr
from fastrank.errors import FormatError
from tests.helpers.paths import DATA
from tests.helpers.tables import giving, refusing

QRELS, PROFILE, PCA = (str(DATA / name) for name in ("digits.qrels", "profile.run", "pca.run"))
Dicts = tuple[dict[str, dict[str, Any]], dict[str, dict[str, float]]]


@pytest.fixture(scope="module")
def digits() -> Dicts:
    """Judgments and a run with few ties, which lacks two queries."""
    run = fr.read_run(PCA).to_dict()
    for query in ("q0001", "q0005"):
        del run[query]
    return fr.read_qrels(QRELS).to_dict(), run


def explained_against(
    qrels: Any, run: Any, reference: Any, measures: Any = None, **options: Any
) -> fr.types.OptionsExplanation:
    return fr.explain(qrels, run, measures, against=reference, **options)


def _found(qrels: Any, run: Any, reference: Any, *measures: str) -> list[tuple[str, ...]]:
    """The settings that reproduce the only measure."""
    explained = explained_against(qrels, run, reference, measures or None)
    ((_, only),) = explained.measures.items()
    return [match.settings for match in only.matches]


def test_pytrec_eval_needs_no_setting(digits):
    values = pytrec_eval.RelevanceEvaluator(digits[0], {"map", "ndcg_cut_10"}).evaluate(digits[1])

    explained = explained_against(*digits, values)

    assert all(one.matches[0].settings == () for one in explained.measures.values())
    assert all(one.differing == 0 for one in explained.measures.values())
    assert "Reproduced exactly by the given options." in str(explained)


def test_ir_measures_counts_missing_queries_as_0(digits):
    measures = [ir_measures.parse_measure("nDCG@10"), ir_measures.parse_measure("RR@10")]
    means = ir_measures.calc_aggregate(measures, *digits)
    per_query = ir_measures.iter_calc(measures[:1], *digits)

    explained = explained_against(*digits, {str(name): own for name, own in means.items()})

    for one in explained.measures.values():
        assert ("missing='zero'",) in [match.settings for match in one.matches]
    assert explained_against(*digits, per_query).measures["nDCG@10"].compared == 198


def _of_scikit_learn(digits: Dicts, measure: str) -> tuple[Dicts, dict[str, dict[str, float]]]:
    """The values of queries without ties, for lists of the retrieved documents."""
    metrics = pytest.importorskip("sklearn.metrics")
    qrels, run = digits
    few = {query: own for query, own in run.items() if len({*own.values()}) == len(own)}
    assert len(few) > 20
    values = {}
    for query, results in few.items():
        grades = [qrels[query].get(doc, 0) for doc in results]
        scores = list(results.values())
        values[query] = {
            "ndcg@10": metrics.ndcg_score([grades], [scores], k=10),
            "map": metrics.average_precision_score([grade > 0 for grade in grades], scores),
        }[measure]
    return (qrels, few), {query: {measure: value} for query, value in values.items()}


@pytest.mark.parametrize(
    ("measure", "setting"),
    [("ndcg@10", "ideal of the retrieved documents"), ("map", "divided by the relevant retrieved")],
)
def test_what_scikit_learn_does_is_found(measure, setting, digits):
    given, values = _of_scikit_learn(digits, measure)

    assert (setting,) in _found(*given, values)


# The means of ranx 0.3.21 (make_comparable=True) and BEIR 2.2.0 on the fixture `digits`.
RECORDED = {
    "ndcg@10": (0.50368141495134, "ndcg@10", ("missing='zero'",)),
    "map": (0.3471686753868011, "map", ("missing='zero'",)),
    "mrr": (0.9084459776334777, "mrr", ("missing='zero'",)),
    "ndcg_burges@10": (0.4005958992162357, "ndcg@10", ("missing='zero'", "gain 2^grade - 1")),
    "rbp.95": (0.8734162857499385, "RBP(p=0.95)", ("missing='zero'", "the grades as gains")),
    "hit_rate@5": (0.945, "hit_rate@5", ("missing='zero'",)),
    "MRR@10": (0.90802, "MRR@10", ("missing='zero'",)),
    "R_cap@10": (0.8, "R_cap@10", ("missing='zero'",)),
    "Accuracy@10": (0.98, "Success@10", ("missing='zero'",)),
    "NDCG@10": (0.50877, "NDCG@10", ()),
    "MAP@10": (0.04738, "MAP@10", ()),
}


@pytest.fixture(scope="module")
def explained(digits: Dicts) -> Any:
    """All recorded values explained."""
    values = {name: value for name, (value, *_) in RECORDED.items()}
    measures = {name: measure for name, (_, measure, _) in RECORDED.items()}
    return explained_against(*digits, values, measures)


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_values_of_ranx_and_beir(name, explained):
    found = [match.settings for match in explained.measures[name].matches]

    assert RECORDED[name][-1] in found


def test_a_measure_may_be_given_in_any_spelling(digits):
    theirs = {"P_10": fr.evaluate(*digits, "P.10").mean["P_10"]}

    assert _found(*digits, theirs, "P.10") == [()]
    assert _found(*digits, {"Accuracy": theirs["P_10"]}, "Accuracy=P@10") == [()]


def test_the_tools_that_do_all_of_the_settings_are_named(digits):
    # RBP of trectools 0.0.50 (binary_topical_relevance=False).
    theirs = fr.evaluate(*digits, "RBP(gain='raw')", ties="average").mean["RBP(gain='raw')"]

    (match,) = explained_against(*digits, {"RBP": theirs}).measures["RBP"].matches

    assert str(match) == "ties='average' and the grades as gains (trectools' RBP)"


SETTINGS: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("map", {"ties": "docno_asc"}, ("ties='docno_asc'",)),
    ("map", {"ties": "given"}, ("ties='given'",)),
    ("map", {"ties": "average"}, ("ties='average'",)),
    ("P_10", {"relevance_level": 2}, ("relevance_level=2.0",)),
    ("map", {"judged_only": True}, ("judged_only=True",)),
    ("map", {"depth": 10}, ("depth=10",)),
    ("map", {"depth": 10, "ties": "worst"}, ("ties='worst'", "depth=10")),
    ("AP(denominator='min_k')@10", {}, ("divided by min(k, R)",)),
    ("nDCG(dcg='exp-log2')@10", {}, ("gain 2^grade - 1",)),
    ("nDCG(dcg='exp-log2')@10", {"ties": "given"}, ("ties='given'", "gain 2^grade - 1")),
    ("RCap@10", {}, ("divided by min(k, R)",)),
    ("nDCG(gains={1:0})@10", {}, ("gain 0 below grade 2",)),
    ("PercentileRank(denominator='index')", {}, ("(rank - 1) / retrieved",)),
    ("Judged(average='macro',denominator='k')@500", {}, ("divided by k",)),
]
ASKED = {
    "Judged": "Judged@500",
    "PercentileRank": "PercentileRank",
    "AP": "AP@10",
    "nDCG": "ndcg_cut_10",
    "RCap": "R@10",
}


@pytest.mark.parametrize(("measure", "options", "settings"), SETTINGS)
def test_a_setting_is_found_from_the_values_of_each_query(measure, options, settings):
    # In the order of ids, so that the order of the lines is not that of the scores.
    qrels, profile = fr.read_qrels(QRELS), fr.read_run(PROFILE)
    run = {query: dict(sorted(profile[query].items())) for query in profile.query_ids[:15]}
    values = fr.evaluate(qrels, run, measure, **options)
    asked = ASKED.get(measure.partition("(")[0].partition("@")[0], measure)
    pairs = zip(values.queries, values[measure].tolist(), strict=True)

    assert settings in _found(qrels, run, {query: {asked: value} for query, value in pairs})


def test_how_another_tool_treats_duplicates_is_found():
    run = fr.read_run(io.BytesIO(b"q Q0 b 1 2 t\nq Q0 a 2 1 t\nq Q0 a 3 3 t\n"))

    found = explained_against({"q": {"a": 1, "b": 0}}, run, {"map": 1.0}, duplicates="first")

    assert [match.options for match in found.measures["map"].matches] == [{"duplicates": "max"}]


def test_an_ideal_of_the_highest_grade_is_found():
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    theirs = fr.evaluate(qrels, run, "nDCG(ideal='max')@2").mean["nDCG(ideal='max')@2"]

    assert _found(qrels, run, {"nDCG@2": theirs}) == [("ideal of documents of the highest grade",)]


def test_an_order_of_ties_that_no_option_gives_is_named():
    """In the middle of the range over all orders of ties."""
    run = {query: own for query, own in fr.read_run(PROFILE).to_dict().items() if query < "q0300"}
    worst, best = (fr.evaluate(QRELS, run, "map", ties=own) for own in ("worst", "best"))
    middle = {
        query: {"map": 0.3 * float(low) + 0.7 * float(high)}
        for query, low, high in zip(worst.queries, worst["map"], best["map"], strict=True)
    }

    one = explained_against(QRELS, run, middle).measures["map"]

    assert one.matches == []
    assert one.tie_range is not None
    assert one.tie_range[1:] == (worst.mean["map"], best.mean["map"])
    assert "the tool may have an order that no option gives" in str(one)


def test_what_nothing_reproduces_is_said_so_with_the_first_query_that_differs():
    reference = {"q1": {"map": 0.5}, "q2": {"map": 0.123456789}}
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"b": 2, "a": 1}, "q2": {"a": 1}}

    (text,) = map(str, explained_against(qrels, run, reference).measures.values())

    assert text == (
        "map: theirs 0.3117, ours 0.7500. Not reproduced by any one or two of the known settings."
        " Queries that differ: 1 of 2, first q2: 0.1235 against 1.0000."
    )


def test_queries_of_one_side_are_named():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    reference = {"q1": {"map": 1.0}, "q4": {"map": 0.0}}

    one = explained_against(qrels, run, reference).measures["map"]

    assert (one.only_theirs, one.only_ours) == (["q4"], ["q2"])
    assert "Only in theirs: 1 query (q4). Only in ours: 1 query (q2)." in str(one)


TWO = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
OF_QUERIES = {"q1": 1.0, "q2": 0.0}
PLAIN = {"q": {"a": 1}}, {"q": {"a": 1.0}}
OF_MTEB = {"ndcg_at_10": 1.0, "main_score": 1.0, "hf_subset": "default", "languages": ["eng"]}


def compared(qrels: Any, run: Any, reference: Any, *measures: Any) -> dict[str, tuple[int, int]]:
    """How many queries of each measure were compared, and how many differ."""
    found = explained_against(qrels, run, reference, *measures).measures
    return {name: (one.compared, one.differing) for name, one in found.items()}


# q1 is also Q@1; the scores of MTEB have texts.
test_queries_are_recognized_and_texts_are_skipped = giving("""
compared(*TWO, {"map": OF_QUERIES}) => {"map": (2, 0)}
compared(*TWO, {"q1": {"Hits": 1.0}, "q2": {"Hits": 0.0}}, {"Hits": "map"}) => {"Hits": (2, 0)}
compared(*PLAIN, OF_MTEB, "ndcg_at_10") => {"ndcg_at_10": (0, 0)}
""")


def test_the_output_of_trec_eval_and_json_are_read(tmp_path):
    text, values = tmp_path / "trec_eval.txt", tmp_path / "values.json"
    scores = fr.evaluate(QRELS, PROFILE, "map P.10 runid", depth=10)
    text.write_text(scores.to_trec(per_query=True))
    values.write_text(json.dumps(scores.mean))

    found = explained_against(QRELS, PROFILE, text).measures
    of_json = explained_against(QRELS, PROFILE, values).measures["map"]

    assert set(found) == {"map", "P_10"}
    assert (found["map"].digits, found["map"].compared) == (4, 200)
    assert [match.settings for match in found["map"].matches] == [("depth=10",)]
    assert [match.settings for match in of_json.matches] == [("depth=10",)]


test_an_invalid_reference_is_an_error = refusing("""
explained_against(*PLAIN, {}) => InputError: against: expected values of measures, found none
explained_against(*PLAIN, {"map": 10**400}) =>
  InputError: against: 'map': expected a number, found 1000...
explained_against(*PLAIN, {"map": "x"}) => InputError: against: 'map': expected a number, found 'x'
explained_against(*PLAIN, {"mapp": 0.5}) =>
  MeasureError: unknown measure 'mapp'; did you mean map...
explained_against(*PLAIN, {"Accuracy@5": 0.5}) =>
  MeasureError: ...did you mean Success@5 or PairAccuracy@5? Omit it, or give Accuracy@5=MEASURE
explained_against(*PLAIN, {"P": 0.5}) =>
  MeasureError: 'P' has several values, P_5, P_10, P_15, ...; name...
explained_against(*PLAIN, {"map": 0.5}, "P_5") =>
  MeasureError: the reference has no 'P_5'; it has map
explained_against(*PLAIN, {"p": {"map": 0.5}}) =>
  GroupError: ...share no query: they have 'p', ... and 'q'...
explained_against(*PLAIN, {"map": 0.5}, []) =>
  MeasureError: expected a measure of the reference, found none
explained_against(*PLAIN, 5) => TypeError: against: expected a dict or a path, found int
explained_against(*PLAIN, [1]) =>
  TypeError: ...or tuples with query_id, measure and value, found an item of type...
fr.explain(*PLAIN, query="q", against={"map": 1.0}) => OptionError: query: no effect with against
fr.explain(*PLAIN, other=PCA, against={"map": 1.0}) => OptionError: other: no effect with against
fr.explain(*PLAIN, texts={}, against={"map": 1.0}) =>
  OptionError: texts: no effect with against
""")


def test_a_line_that_trec_eval_does_not_print_is_an_error(tmp_path):
    path = tmp_path / "values.txt"
    path.write_text("map all 0.5\nP_10 0.2\n")

    with pytest.raises(FormatError, match=r"values\.txt:2: expected measure, query and value"):
        explained_against(*PLAIN, path)
