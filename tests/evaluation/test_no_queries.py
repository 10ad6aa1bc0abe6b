"""What the error says where judgments and run have no query in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fastrank as fr


def message(qrels: Any, run: Any, **options: Any) -> str:
    with pytest.raises(fr.NoQueriesError) as caught:
        fr.evaluate(qrels, run, "map", **options)
    return str(caught.value)


def test_ids_of_both_sides_are_shown() -> None:
    assert message({"a": {"d": 1}, "b": {"d": 1}}, {f"q{i}": {"d": 1.0} for i in range(4)}) == (
        "the run and the qrels share no query ids (run: 'q0', 'q1', 'q2', ...; qrels: 'a', 'b')"
    )


def test_runs_in_a_dict_are_recognisable() -> None:
    assert "(run: 'bm25'; qrels: 'q1')" in message({"q1": {"d": 1}}, {"bm25": {"q1": 1.0}})


@pytest.mark.parametrize(
    ("judged", "found", "question"),
    [
        ("q1", "Q1", "do the ids differ only in case?"),
        ("1", "1.0", "do the ids differ only as 1 and 1.0 do?"),
        ("7", "007", "do the ids differ only in leading zeros?"),
        ("q1", "q1 ", "do the ids differ only in blanks or newlines around them?"),
        ("q1", "q1\n", "do the ids differ only in blanks or newlines around them?"),
    ],
)
def test_what_the_ids_may_differ_by_is_asked(judged: str, found: str, question: str) -> None:
    assert message({judged: {"d": 1}}, {found: {"d": 1.0}}).endswith(f"; {question}")


@pytest.mark.parametrize("found", ["Q2", "q1.0", "Q1 ", "01.0"])
def test_nothing_is_asked_where_one_difference_does_not_explain_it(found: str) -> None:
    assert message({"q1": {"d": 1}, "1": {"d": 1}}, {found: {"d": 1.0}}).endswith("'q1', '1')")


@pytest.mark.parametrize("form", ["trec", "csv"])
def test_a_file_is_looked_into(form: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    line = "query_id,doc_id,score\nQ1,d,1\n" if form == "csv" else "Q1 Q0 d 1 1 t\n"
    path.write_text(line)

    said = message({"q1": {"d": 1}}, str(path) if form == "csv" else path)

    assert "(run: 'Q1'; qrels: 'q1'); do the ids differ only in case?" in said


def test_what_has_no_queries_is_named() -> None:
    assert message({"q1": {"d": 1}}, {}) == "the run has no queries"
    assert message({}, {"q1": {"d": 1.0}}) == "there are no judged queries"


def test_rows_of_arrays_are_named_by_their_queries() -> None:
    with pytest.raises(fr.NoQueriesError, match="the run has no queries"):
        fr.evaluate_arrays([{1: 1}, {1: 1}], [[-1], [-1]], None, "map")
    with pytest.raises(fr.NoQueriesError, match="run: 'a', 'b'; qrels: 'c'"):
        fr.evaluate_arrays({"c": {1: 1}}, [[1], [1]], None, "map", queries=["a", "b"])


def test_queries_that_were_left_out_are_counted() -> None:
    qrels = {"q1": {"d": 0}, "q2": {"d": 1}}

    said = message(qrels, {"q1": {"d": 1.0}}, no_relevant="skip")

    assert said.endswith("; skipped 1 judged query without a relevant document")


def test_a_likelihood_needs_common_queries_too() -> None:
    with pytest.raises(fr.NoQueriesError, match=r"run: 'q1'; qrels: 'Q1'.*case"):
        fr.negative_log_likelihood({"Q1": {"d": 1.0}}, {"q1": {"d": 1}})


def test_scores_ask_whether_document_ids_match_where_none_is_judged() -> None:
    question = "no retrieved document is judged: do the document ids of run and qrels match?"
    qrels = {"q1": {"d1": 1}}

    assert question in str(fr.evaluate(qrels, {"q1": {"D1": 1.0}}, "map"))
    assert question not in str(fr.evaluate(qrels, {"q1": {"D1": 1.0, "d1": 0.5}}, "map"))
