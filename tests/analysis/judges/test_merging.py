"""Judgments are merged and compared, and what runs find unjudged is listed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.tables import refusing

A = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}
B = {"q1": {"d1": 1, "d3": 1}, "q3": {"d4": 2}}
C = {"q1": {"d1": 1}}


@pytest.mark.parametrize(
    ("prefer", "grade"), [("first", 2), ("max", 2), ("min", 1), ("mean", 4 / 3), ("majority", 1)]
)
def test_a_pair_that_several_judged_gets_the_preferred_grade(prefer, grade):
    found = fr.merge_qrels([A, B, C], prefer).to_dict()
    assert found == {"q1": {"d1": grade, "d2": 0, "d3": 1}, "q2": {"d1": 1}, "q3": {"d4": 2}}


@pytest.mark.parametrize("prefer", ["first", "max", "min", "mean", "majority"])
def test_a_negative_grade_counts_only_where_no_judge_gave_another(prefer):
    unsampled, judged = {"q1": {"d1": -1, "d2": -1}}, {"q1": {"d1": 1, "d3": 0}}
    expected = {"q1": {"d1": 1, "d2": -1, "d3": 0}}
    assert fr.merge_qrels([unsampled, judged], prefer, conflicts="error").to_dict() == expected


def test_judgments_with_repeated_pairs_are_merged_with_themselves(tmp_path):
    path = tmp_path / "x.qrels"
    path.write_text("q 0 d 1\nq 0 e 1\nq 0 d 3\nq 0 d 3\n")
    for prefer, grade in {"first": 1, "max": 3, "min": 1, "majority": 3}.items():
        assert fr.merge_qrels([path], prefer).to_dict() == {"q": {"d": grade, "e": 1}}


def test_of_equally_frequent_grades_the_first_judges_is_the_majority():
    assert fr.merge_qrels([A, B], "majority")["q1"]["d1"] == 2


qrels = st.dictionaries(
    st.sampled_from(["q1", "q2"]),
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(0, 2), min_size=1),
)


@given(qrels, qrels)
def test_the_differences_turn_one_version_into_the_other(old, new):
    made = {(query, doc): grade for query, docs in old.items() for doc, grade in docs.items()}
    for change, query, document, before, after in fr.diff_qrels(old, new).rows():
        assert made.get((query, document)) == before
        assert change == ("added" if before is None else "removed" if after is None else "changed")
        made[query, document] = after
    expected = {(query, doc): grade for query, docs in new.items() for doc, grade in docs.items()}
    assert {pair: grade for pair, grade in made.items() if grade is not None} == expected


def test_a_pair_with_a_negative_grade_is_added_when_it_is_judged():
    rows = fr.diff_qrels({"q1": {"d1": -1, "d2": 1, "d3": -1}}, {"q1": {"d1": 0, "d2": -2}}).rows()
    assert list(rows) == [("added", "q1", "d1", None, 0), ("removed", "q1", "d2", 1, None)]


RUN = {"q1": {"d1": 3.0, "d9": 2.0, "d8": 2.0}, "q2": {"d1": 1.0}, "q7": {"d1": 1.0}}


def test_holes_are_the_unjudged_documents_in_trec_evals_order():
    rows = list(fr.unjudged(A, {"x": RUN}, 3, by="pair").rows())
    assert rows == [("x", "q1", 2, "d9"), ("x", "q1", 3, "d8")]
    assert list(fr.unjudged(A, [RUN], 2, by="query").rows()) == [
        ("run 1", "q1", 0.5, 1),
        ("run 1", "q2", 1.0, 0),
    ]


@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_judged_at_k_is_that_of_ir_measures(k):
    ir_measures = pytest.importorskip("ir_measures")
    ((_, queries, share, _),) = fr.unjudged(A, {"x": RUN}, k).rows()
    found = ir_measures.calc_aggregate([ir_measures.Judged @ k], A, {q: RUN[q] for q in A})
    assert (queries, share) == (2, pytest.approx(found[ir_measures.Judged @ k]))


def test_a_query_that_found_nothing_has_no_holes():
    run = {"q1": {"d1": 1.0}, "q2": {}}
    assert list(fr.unjudged(A, {"x": run}, by="run").rows()) == [("x", 1, 1.0, 0)]


def test_a_negative_grade_is_unjudged():
    assert len(fr.unjudged({"q2": {"d1": -1}}, {"x": RUN}, by="pair")) == 1


test_errors_name_what_is_wrong = refusing("""
merge_qrels(A) => TypeError: ...expected a list...
merge_qrels([A], "last") => OptionError: prefer: expected one of 'first'...
merge_qrels([A, B], conflicts="error") =>
  GroupError: 1 pair has different grades: query 'q1', document 'd1': 2 and 1
unjudged(A, [RUN], 0) => OptionError: k: expected 1 or more...
unjudged(A, [RUN], by="all") => OptionError: by: expected one of 'pair'...
""")
