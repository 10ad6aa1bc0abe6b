"""Explaining the values of a query: what documents add makes up the value of trec_eval."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

import fastrank as fr
from fastrank.core.matching.keywords import TIES
from fastrank.errors import FormatError
from tests.core.measures.test_best_values import name_of
from tests.helpers.parsing import read_prefs
from tests.helpers.paths import DATA
from tests.helpers.tables import giving, refusing

QRELS, PROFILE, PCA = (str(DATA / name) for name in ("digits.qrels", "profile.run", "pca.run"))
# Every family that is explained, in all of its forms.
FORMS = """
map map_cut.1,3,1000 AP(denominator='min_k')@3 AP(rel=2) AP(denominator='relevant_retrieved')@5
P.1,3,20 P(judged_only=True)@3 SetP SetR set_relative_P recall.1,4 relative_P.2,7 success.1,3
RR@2 recip_rank Rprec bpref infAP dcg DCG@3 ndcg ndcg_cut.1,3,9 nDCG(dcg='exp-log2')@4
nDCG(ideal='retrieved')@3 nDCG(ideal='max')@3 nDCG(gains={1:5,2:0.5})@4 nDCG@3
nDCG(judged_only=True)@2 rbp RBP RBP(gain='raw')@4 RBP(p=0.5)@3 ERR@3 ERR
"""
MEASURES = [*FORMS.split(), *(name_of(measure) for measure in fr.MEASURES if measure.adds)]

grades = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 3), min_size=1)
scores = st.dictionaries(
    st.sampled_from("abcdefghxyz"), st.sampled_from([0.0, 0.5, 1.0, 1.0 + 2**-40, 3.0]), min_size=1
)
options = st.fixed_dictionaries(
    {},
    optional={
        "relevance_level": st.integers(1, 2),
        "ties": st.sampled_from([own for own in TIES if own != "average"]),
        "depth": st.integers(1, 6),
        "judged_only": st.booleans(),
        "trec_eval_version": st.sampled_from(["9.0.8", "10.0"]),
        "no_relevant": st.sampled_from(["zero", "one"]),
    },
)


def _total(table: fr.Table) -> float:
    total = 0.0
    for added in table.columns["adds"]:
        total += added
    return total


def test_ties_of_a_query_with_negative_grades_alone_decide_nothing():
    explained = fr.explain({"q": {"a": -1}}, {"q": {"a": 0.0, "b": 0.0}}, "map", query="q")

    assert explained.values == {"map": 0.0}
    assert not any("could be" in note for note in explained.notes)


@settings(max_examples=25, deadline=None)
@given(qrels=grades, run=scores, chosen=options)
def test_the_sum_of_what_documents_add_is_the_value_to_the_last_bit(qrels, run, chosen):
    value = fr.evaluate({"q": qrels}, {"q": run}, MEASURES, **chosen).mean

    explained = fr.explain({"q": qrels}, {"q": run}, MEASURES, query="q", **chosen)

    assert explained.values == value
    for name in value:
        parts = explained.part(name).parts
        if parts.divisor:
            total = _total(explained.table(name))
            assert parts.factor * total / parts.divisor == value[name]
        else:
            assert value[name] in (0.0, 1.0)


def test_values_are_those_of_pytrec_eval():
    names = {"map", "ndcg", "bpref", "Rprec", "infAP", "recip_rank"}
    qrels, run = fr.read_qrels(QRELS).to_dict(), fr.read_run(PCA).to_dict()
    few = {query: run[query] for query in list(run)[:20]}

    for query, values in pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(few).items():
        explained = fr.explain(qrels, few, sorted(names), query=query)

        assert explained.values == values
        for name in names:
            divisor = explained.part(name).parts.divisor
            assert not divisor or _total(explained.table(name)) / divisor == values[name]


@settings(max_examples=15, deadline=None)
@given(qrels=grades, first=scores, second=scores)
def test_the_differences_of_documents_add_up_to_that_of_two_runs(qrels, first, second):
    explained = fr.explain({"q": qrels}, {"q": first}, MEASURES, query="q", other={"q": second})

    assert explained.other is not None
    for name, value in explained.values.items():
        differences = explained.difference(name).columns["difference"]
        difference = value - explained.other.values[name]
        assert math.fsum(differences) == pytest.approx(difference, abs=1e-12)
        assert [*map(abs, differences)] == sorted(map(abs, differences), reverse=True)


def test_a_table_shows_what_ndcg_is_computed_from():
    explained = fr.explain(QRELS, PROFILE, "ndcg_cut.5", query="q0004")

    table = explained.table("ndcg_cut_5")

    assert table.names == [
        *("rank", "document", "score", "grade", "gain", "discount", "adds", "ideal")
    ]
    assert table.columns["document"] == ["d0297", "d1691", "d0100", "d1777", "d1244"]
    assert table.columns["grade"] == [1, 1, 2, 1, 1]
    assert table.columns["ideal"][:2] == [2.0, 2.0 / math.log2(3)]


def test_notes_give_the_range_over_the_orders_of_ties():
    """As tie_report computes it."""
    (ties, *_) = fr.explain(QRELS, PROFILE, "ndcg_cut.5", query="q0004").notes

    qrels, run = fr.read_qrels(QRELS), fr.read_run(PROFILE)
    one = {"q0004": qrels["q0004"]}, {"q0004": run["q0004"]}
    found = fr.tie_report(*one, "ndcg_cut.5").measures["ndcg_cut_5"]
    assert ties == (
        "ties: 89 of 100 results have the score of another one and are ordered by document id,"
        f" larger first: ndcg_cut_5 could be {found.worst:.4f} to {found.best:.4f},"
        f" {found.expected:.4f} on average"
    )


def notes(
    qrels: dict[str, int], run: dict[str, float], measures: str = "map", **options: Any
) -> list[str]:
    """The notes on one query."""
    return fr.explain({"q": qrels}, {"q": run}, measures, query="q", **options).notes


DUPLICATES = fr.read_run(io.BytesIO(b"q Q0 a 1 2 t\nq Q0 a 2 1 t\n"))
NOT_RELEVANT = "relevant: no judged document has a grade of at least 1"
LARGER_FIRST = "ties: 2 of 2 results have the score of another one and are ordered by document id,"
LARGER_FIRST += " larger first"

test_a_note_says_what_else_matters = giving("""
notes({"a": 1, "b": 0}, {"a": 2, "b": 1}) => []
notes({"a": 1, "b": 2}, {"a": 2, "x": 1})[0]
    => "unjudged: 1 of 2 results: map would be 0.5000 if it is not relevant, 0.6667 if it has grade
    2"
notes({"a": 1, "x": -1}, {"a": 2, "x": 1})[0].partition(":")[2][:18] => " 1 of 2 results"
notes({"a": 1, "b": 2}, {"a": 2})[-1] => "not retrieved: 1 relevant document: b (grade 2)"
notes({"a": 1, "b": 2}, {"b": 2}, relevance_level=2)
    => ["level: 1 judged document with a grade above 0 is below level 2 and not relevant"]
notes({"a": 0}, {"a": 2}) => [NOT_RELEVANT]
notes({"a": 0}, {"a": 2}, no_relevant="skip")
    => [NOT_RELEVANT + "; means skip the query, as no_relevant='skip' says"]
notes({"a": 1}, {"a": 2, "b": 1}, depth=1) => ["depth: 1 result below rank 1 ignored"]
notes({"a": 1}, {"a": 2, "q": 1}, ignore_identical_ids=True)
    => ["excluded: 1 result removed from the ranking"]
notes({"a": 1, "b": 0}, {"a": 1.0 + 2**-40, "b": 1.0})[-1]
    => "32-bit ties: scores that differ only beyond 32 bits tie, at ranks 1-2, as in trec_eval
    9.0.8; 10.0 compares doubles"
notes({"a": 1}, {"b": 2, "a": 1}, judged_only=True)
    => ["judged only: 1 unjudged result removed from the ranking"]
fr.explain({"q": {"a": 1}}, DUPLICATES, "map", query="q", duplicates="first").notes
    => ["duplicates: 1 repeated result dropped"]
notes({"b": 1}, {"a": 3, "b": 2, "c": 2, "d": 2, "e": 1}, "P.1,3")[0].partition("; ")[2][:51]
    => "ranks 2-4 tie across the cutoff 3: P_3 could be 0.0"
notes({"a": 1}, {"a": 1.0, "b": 1.0, "c": 0.5}, "P.1", depth=1)[0]
    => "ties: 2 of 3 results have the score of another one and are ordered by document id, larger
    first; ranks 1-2 tie across the depth 1: P_1 could be 0.0000 to 1.0000, 0.5000 on average"
notes({"a": 1, "b": 0}, {"a": 1, "b": 1}, "ERR")
    => [LARGER_FIRST + ": ERR could be 0.2500 to 0.5000"]
notes({"a": 1, "b": 0}, {"a": 1, "b": 1}, "infAP")
    => [LARGER_FIRST + ": the range of infAP is unknown"]
notes({"a": 1, "b": 1}, {"a": 1, "b": 1}, "infAP") => []
notes({"a": 1}, {"a": 2}, "official")
    => ["not explained: 17 other values of the set: runid, num_q, num_ret, num_rel, num_rel_ret,
    ..."]
fr.explain({"q": {"a": 1}, "p": {"a": 1}}, {"p": {"a": 1}}, "map P.5", query="q").notes
    => ["the run lacks this query, so that every value is 0; in means, it is left out
    (missing='zero' counts it as 0)"]
""")


def test_the_range_of_err_is_for_the_highest_grade_of_all_queries():
    qrels, run = {"q": {"a": 1}, "p": {"a": 3}}, {"q": {"x": 2.0, "a": 1.0}}

    (note,) = fr.explain(qrels, run, "ERR", query="q").notes

    absent, present = (
        fr.evaluate({**qrels, "q": {"a": 1, "x": grade}}, run, "ERR").mean["ERR"]
        for grade in (0, 1)
    )
    values = f"{absent:.4f} if it is not relevant, {present:.4f} if it has grade 1"
    assert note == f"unjudged: 1 of 2 results: ERR would be {values}"


def test_values_of_unjudged_documents_are_no_range():
    grades = {"a": 1, "b": 2}
    run = {"q": {"a": 6.0, "s": 5.0, "t": 4.0, "u": 3.0, "v": 2.0, "b": 1.0}}

    (note,) = fr.explain({"q": grades}, run, "map", query="q").notes

    none, every, last = (
        fr.evaluate({"q": grades | judged}, run, "map").mean["map"]
        for judged in ({}, dict.fromkeys("stuv", 2), {"v": 2})
    )
    assert last < none < every
    assert note == (
        f"unjudged: 4 of 6 results: map would be {none:.4f} if none is relevant, {every:.4f} if all"
        " have grade 2"
    )


GIVEN = fr.explain({"q": {"a": 1}}, {"q": {"b": 1, "a": 2}}, "map", query="q", rank_by="given")
GAINS = "nDCG(gains={1:5,2:0.5})@2"
OF_GAINS = fr.explain({"q": {"a": 1, "b": 2}}, {"q": {"a": 2, "b": 1}}, GAINS, query="q")
OFFICIAL = fr.explain({"q": {"a": 1}}, {"q": {"a": 2}}, "official", query="q")
# A query without results is not counted as 1, as in evaluate.
ONE = fr.explain(
    {"q": {"a": 0}, "p": {"a": 1}},
    {"q": {"a": 1}},
    "P.2",
    query="q",
    other={"p": {"a": 1}},
    no_relevant="one",
)
MISSING = fr.explain({"q": {"a": 1}, "p": {"a": 1}}, {"p": {"a": 1}}, "map P.5", query="q")
# Gains of unjudged documents do not count without a relevant one.
UNJUDGED: Any = ({"q": {"a": 0}}, {"q": {"x": 1.0}}, "ndcg.-1=0.2,1=1")
OF_UNJUDGED = fr.explain(*UNJUDGED, query="q", no_relevant="one")

test_what_a_value_is_made_of = giving("""
OF_GAINS.table(GAINS).columns["gain"] => [5.0, 0.5]
OF_GAINS.part(GAINS).parts.total => 5.0 + 0.5 / math.log2(3)
list(OFFICIAL.values)[:4] => ["map", "Rprec", "bpref", "recip_rank"]
GIVEN.table("map").names => ["rank", "document", "grade", "found", "adds"]
GIVEN.document("b") => "b: not judged\\n  map: rank 1, adds nothing"
explain({"q": {"a": 1}}, {"q": {"x": 2, "a": 1}}, "P.1", query="q").document("x")
    => "x: not judged, score 2\\n  P_1: rank 1, adds nothing"
explain({1: {7: 1}}, {1: {7: 2}}, "P.1", query=1).document(7) == (
    explain({1: {7: 1}}, {1: {7: 2}}, "P.1", query="1").document("7")) => True
ONE.values => {"P_2": 1.0}
ONE.other.values => {"P_2": 0.0}
"P_2 = 1.0000, because R is 0" in str(ONE) => True
"b: P_2 = 0.0000, because the number of results is 0" in str(ONE) => True
MISSING.values => {"map": 0.0, "P_5": 0.0}
len(MISSING.table("map")) => 0
OF_UNJUDGED.values => evaluate(*UNJUDGED, no_relevant="one").mean
OF_UNJUDGED.table("ndcg_-1=0.2,1=1").columns["adds"] => [0.0]
""")


def test_titles_are_shown_and_shortened_in_text(tmp_path):
    """A document without a title has its text."""
    path, passage = tmp_path / "corpus.jsonl", "seven " * 100
    lines = [{"_id": "a", "title": "Apples", "text": "..."}, {"_id": "b", "text": passage}]
    path.write_text("\n".join(map(json.dumps, lines)))
    run = {"q": {"a": 3, "b": 2, "c": 1}}

    explained = fr.explain({"q": {"a": 1}}, run, "map", query="q", texts=path)

    assert explained.table("map").columns["title"] == ["Apples", passage, ""]
    assert "Apples" in str(explained)
    assert max(map(len, str(explained).splitlines())) < 120
    assert f"  {passage[:57]}...  " in str(explained)


def test_titles_can_be_a_data_set_but_no_lines_without_ids(tmp_path):
    qrels, run, wrong = {"q": {"a": 1}}, {"q": {"a": 1.0}}, tmp_path / "wrong.jsonl"
    data = fr.Dataset.from_texts({"a": "Apples"}, {"q": "fruit"}, qrels)
    wrong.write_text('{"_id": "a", "text": "Apples"}\n["b"]\n')

    explained = fr.explain(qrels, run, "map", query="q", texts=data)

    assert explained.table("map").columns["title"] == ["Apples"]
    with pytest.raises(FormatError, match=r"wrong\.jsonl.*2.*expected an object with an id"):
        fr.explain(qrels, run, "map", query="q", texts=wrong)


def test_the_difference_has_the_titles_of_both_runs():
    runs, titles = ({"q": {"a": 1.0}}, {"q": {"b": 1.0}}), {"a": "Apples", "b": "Plums"}

    explained = fr.explain(
        {"q": {"a": 1, "b": 1}}, runs[0], "P.1", query="q", other=runs[1], texts=titles
    )

    assert sorted(explained.difference("P_1").columns["title"]) == ["Apples", "Plums"]


def test_a_document_is_explained_by_itself():
    explained = fr.explain(QRELS, PROFILE, "ndcg_cut.5 map", query="q0004")

    assert explained.document("d0097").splitlines() == [
        "d0097: grade 2, score -118",
        "  ndcg_cut_5: rank 12, below the cutoff 5",
        "  map: rank 12, adds 1.0000",
    ]
    assert explained.document("d0014").splitlines() == [
        "d0014: grade 2",
        "  ndcg_cut_5: not retrieved",
        "  map: not retrieved",
    ]


def explained(measures: str = "map", query: Any = "q0004", **options: Any) -> fr.Explanation:
    return fr.explain(QRELS, PROFILE, measures, query=query, **options)


SUBTOPICS = fr.read_qrels(io.BytesIO(b"q 1 a 1\nq 2 a 1\n"))
PREFERENCES = read_prefs(io.BytesIO(b"1 A ABC d1 1\n1 A ABC d2 2\n"))

test_bad_input_is_an_error = refusing("""
explained(query="q004") =>
  GroupError: query 'q004' is neither in the qrels nor in the run; did you mean 'q0004'?
explained("F1") => MeasureError: explain supports map,...
explained("num_q") => MeasureError: explain supports map,...
explained("map_avgjg") => MeasureError: explain supports map,...
explained("iP@5") => MeasureError: explain supports map,...
explained("all_prefs") => MeasureError: explain supports map,...
explained(query=4.0) => TypeError: query: expected a str or an int, found float
explained(ties="average") => OptionError: ties: 'average' is over all orders...
explained(relevance_level=-1) =>
  OptionError: relevance_level: explain expects a level of at least 0, found -1
explained("P(rel=-1)@5") =>
  MeasureError: 'P(rel=-1)@5': explain expects a level of at least 0, found rel=-1
explained(rows=0) => OptionError: rows: expected 1 or more, found 0
explained(texts=5) => TypeError: texts: expected a file, files, a folder, a table, a mapping...
explained().document("d00") => OptionError: ...'d00' is neither retrieved nor judged for query...
explained().difference("map") => GroupError: only one run was explained...
explain(SUBTOPICS, {"q": {"a": 1.0}}, "map", query="q") =>
  EvaluationError: ...are for measures of subtopics...
explain({"q": {"a": 1}}, {"p": {"a": 1}}, "map", query="p") =>
  GroupError: query 'p' is in the run, but has no judgments
explain(PREFERENCES, {"1": {"d1": 1.0}}, "map", query="1") =>
  TypeError: ...expected Qrels, found Preferences...
explain(QRELS, PCA, "map", other=PCA) =>
  GroupError: ...do not differ in map on 200 common queries; name a...
explain(QRELS, PCA, "map") => OptionError: query: name a query, or a second run...
""")


@pytest.mark.parametrize("measures", ["map", "P.10 map", "official"])
def test_without_a_query_the_one_that_differs_most_is_explained(measures):
    found = explained(measures, None, other=PCA)

    first = "P_10" if measures.startswith("P") else "map"
    one, other = fr.evaluate(QRELS, [PROFILE, PCA], first.replace("_", "."))
    ((query, a, b, _),) = (one - other).largest(first, 1).rows()
    assert found.query == query
    assert (
        found.chosen
        == f"query {query} differs most in {first}, of 200: {a:.4f} (a) and {b:.4f} (b)"
    )
    assert str(found).startswith(found.chosen)
    named = explained(measures, query, other=PCA)
    assert str(found).partition("\n")[2] == str(named)
