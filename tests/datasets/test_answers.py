"""Passages judged by answers, and the files of DPR."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.datasets import answer_qrels, has_answer
from tests.helpers.paths import REPOSITORY

PASSAGES = b"""id\ttext\ttitle
1\t"Aaron, called ""the prophet"", was a priest."\tAaron
2\tParis is large.\tParis
"""
QUESTIONS = b"""who was a priest?\t['Aaron "the prophet"', "Aaron"]
"what ""large"" city?"\t['Paris']
"""
RUN = {"0": {"1": 2.0, "2": 1.0}, "1": {"1": 2.0, "2": 1.0}}


def recorded(match: str) -> list[tuple[list[str], str, bool]]:
    """Answers, a text, and the flag that DPR's own code returned for them."""
    rows = json.loads((REPOSITORY / "tests" / "recorded" / "answers.json").read_text())
    return [(answers, text, flag) for kind, answers, text, flag in rows if kind == match]


def test_answers_are_found_as_by_dpr() -> None:
    rows = recorded("string")

    assert [has_answer(answers, text) for answers, text, _ in rows] == [row[2] for row in rows]


def test_patterns_are_found_as_by_dpr() -> None:
    pytest.importorskip("regex")
    rows = recorded("regex")

    found = [has_answer(answers, text, match="regex") for answers, text, _ in rows]

    assert found == [row[2] for row in rows]


def test_an_answer_without_tokens_is_in_every_text() -> None:
    assert has_answer([" \n"], "")
    assert not has_answer([], "text")


def test_a_text_that_is_none_is_an_error() -> None:
    not_a_text: Any = ["x"]

    with pytest.raises(fr.InputError, match=r"^text: expected a str, found list: \['x'\]$"):
        has_answer(["x"], not_a_text)


@pytest.mark.parametrize("lacking", [{}, {"1": {}}])
def test_questions_without_results_count_as_in_dpr(lacking: dict[str, Any], tmp_path: Path) -> None:
    """Its accuracy is divided by the number of all questions."""
    data = fr.Dataset.from_files(io.BytesIO(PASSAGES), io.BytesIO(QUESTIONS))
    run = {"0": {"2": 2.0, "1": 1.0}, **lacking}

    judged = answer_qrels(data, run)

    # The second question is judged by the first document, in truth.
    assert judged.to_dict() == {"0": {"2": 0, "1": 1}, "1": {"2": 1}}
    fr.write_qrels(judged, tmp_path / "judged.qrels")
    for qrels in (judged, tmp_path / "judged.qrels"):
        found = fr.evaluate(qrels, run, "Success@1 Success@20", missing="zero")
        assert found.mean == {"Success@1": 0.0, "Success@20": 0.5}
    assert fr.evaluate(judged, run, "Success@20").counts["missing_queries"] == 1 - len(lacking)


def test_runs_are_judged_by_the_text_without_the_title() -> None:
    data = fr.Dataset.from_files(io.BytesIO(PASSAGES), io.BytesIO(QUESTIONS))
    wanted = {"0": {"1": 1, "2": 0}, "1": {"1": 0, "2": 1}}
    untitled = {"1": {"title": "Paris", "text": "Aaron"}, "2": "In Paris"}

    for corpus in (None, data, io.BytesIO(PASSAGES), untitled):
        assert answer_qrels(data, RUN, corpus).to_dict() == wanted
    assert fr.evaluate(answer_qrels(data, RUN), RUN, "Success@1").mean == {"Success@1": 0.5}


@pytest.mark.parametrize(
    ("answers", "corpus", "error", "reason"),
    [
        ({"0": "Aaron"}, {}, fr.InputError, "answers: query '0': expected a list of str"),
        ({"9": ["a"]}, {}, fr.InputError, "expected answers to queries with results, found none"),
        ({"0": ["a"]}, None, fr.InputError, "corpus: expected the texts of the documents"),
        ({"0": ["a"]}, {"1": "b"}, fr.InputError, "corpus: no text for '2'"),
        ([], {}, TypeError, "answers: expected a mapping .* found list"),
    ],
)
def test_what_judges_no_run(answers: Any, corpus: Any, error: Any, reason: str) -> None:
    with pytest.raises(error, match=reason):
        answer_qrels(answers, RUN, corpus)


# Questions


def test_questions_of_dpr_are_numbered_and_keep_their_answers(tmp_path: Path) -> None:
    file = tmp_path / "nq-dev.qa.csv.gz"
    file.write_bytes(gzip.compress(QUESTIONS))

    data = fr.Dataset.from_files(io.BytesIO(PASSAGES), file, {"1": {"2": 1}})

    assert dict(zip(data.query_ids, data.queries, strict=True)) == {"1": 'what "large" city?'}
    assert data.answers == {"0": ['Aaron "the prophet"', "Aaron"], "1": ["Paris"]}
    assert data.unjudged == ["0"]


def test_answers_in_json_lines_are_kept() -> None:
    lines = b'{"question": "who?", "answers": ["a"]}\n{"question": "what?", "answers": []}\n'

    data = fr.Dataset.from_files(io.BytesIO(PASSAGES), io.BytesIO(lines))

    assert (data.query_ids, data.answers) == (["0", "1"], {"0": ["a"], "1": []})


@pytest.mark.parametrize(
    ("queries", "reason"),
    [
        (QUESTIONS + b"who?\tAaron\n", r":3: expected a question, a tab and .* found 'Aaron'"),
        (QUESTIONS + b"who?\t['a', 1]\n", r":3: expected a question, .* found \"\['a', 1\]\""),
        (QUESTIONS + b"who?\n", r":3: expected a question, a tab and .* found 'who\?'"),
        (b"q1\twho?\nq2\t['a']\n", r":2: expected an id and a text, as in the first line"),
        (b"who is?\t['a', 1]\n", r":1: expected a question, .* found \"\['a', 1\]\""),
        (b"who is?\t[a]\n" + QUESTIONS, r":1: expected a question, .* found '\[a\]'"),
        (b'who?\t"[""a"", \n', r":1: expected a question, a tab and .* found '\[\"a\", "),
        (b"q1\twho?\n", r"expected qrels, which only queries with answers can do without"),
    ],
)
def test_questions_that_are_none(queries: bytes, reason: str) -> None:
    with pytest.raises(fr.FastrankError, match=reason):
        fr.Dataset.from_files(io.BytesIO(PASSAGES), io.BytesIO(queries))


def test_questions_are_no_corpus() -> None:
    with pytest.raises(fr.FormatError, match=r":1: expected an id .* found question, answers"):
        fr.Dataset.from_files(io.BytesIO(QUESTIONS), io.BytesIO(QUESTIONS))


def test_a_model_cannot_be_evaluated_by_answers_alone() -> None:
    data = fr.Dataset.from_files(io.BytesIO(PASSAGES), io.BytesIO(QUESTIONS))

    with pytest.raises(fr.InputError, match=r"has answers, but no judgments; .*answer_qrels"):
        fr.evaluate_model(lambda texts: [[1.0]] * len(texts), data)


# Results and training data


def results(**changes: Any) -> io.BytesIO:
    """Two questions as DPR's dense_retriever.py saves them."""
    ctxs = [
        {"id": "p1", "title": "", "text": "", "score": "2.5", "has_answer": True},
        {"id": "p2", "title": "", "text": "", "score": "1.5", "has_answer": False},
    ]
    second = [{**ctxs[1], **changes}, ctxs[0]]
    questions = [{"question": "?", "answers": [], "ctxs": own} for own in (ctxs, second)]
    return io.BytesIO(json.dumps(questions, indent=4).encode())


def test_results_of_dpr_are_a_run_and_judgments() -> None:
    assert fr.read_run(results()).to_dict() == {
        "0": {"p1": 2.5, "p2": 1.5}, "1": {"p2": 1.5, "p1": 2.5},
    }  # fmt: skip
    assert fr.read_qrels(results()).to_dict() == {
        "0": {"p1": 1, "p2": 0}, "1": {"p2": 0, "p1": 1},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("read", "changes", "reason"),
    [
        (fr.read_run, {"score": "x"}, r"record 2, ctxs\[0\]: expected a score, found 'x'"),
        (fr.read_run, {"score": None}, r"record 2, column 'score': "),
        (fr.read_qrels, {"has_answer": 1}, r"record 2, ctxs\[0\]: expected true or false, found 1"),
        (fr.read_qrels, {"id": None}, r"record 2, column 'doc_id': expected an id"),
    ],
)
def test_results_that_are_wrong(read: Any, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(fr.InputError, match=reason):
        read(results(**changes))


def test_a_passage_that_is_twice_is_named_by_its_record() -> None:
    """The place is not that among all passages of the file."""
    lists = ([{"id": 1, "score": 2}, {"id": 2, "score": 1}], [{"id": 3, "score": 1}] * 2)
    run = fr.read_run(io.BytesIO(json.dumps([{"ctxs": own} for own in lists]).encode()))

    with pytest.raises(fr.InputError, match="duplicate document '3' in record 2"):
        run.to_dict()


def test_a_question_without_results_is_no_judgment() -> None:
    """Which would be missing from the mean in silence."""
    file = b'[{"ctxs": [{"id": 1, "score": 2, "has_answer": true}]}, {"ctxs": []}]'

    assert fr.read_run(io.BytesIO(file)).to_dict() == {"0": {"1": 2.0}}
    reason = r"record 2, ctxs: expected passages to judge, found none; .*answer_qrels judges a run"
    with pytest.raises(fr.InputError, match=reason):
        fr.read_qrels(io.BytesIO(file))


def test_results_without_flags_name_what_judges_them() -> None:
    file = io.BytesIO(b'[{"question": "?", "answers": [], "ctxs": [{"id": 1, "score": 2}]}]')

    with pytest.raises(fr.InputError, match=r"expected 'has_answer', .*answer_qrels judges a run"):
        fr.read_qrels(file)


def test_training_data_that_was_mined_is_read(tmp_path: Path) -> None:
    mined = fr.hard_negatives({"q1": {"d2": 1}}, {"q1": {"d1": 0.9, "d2": 0.8}}, 1)
    texts = {"d1": "A lake.", "d2": {"title": "Rivers", "text": "A river."}}
    mined.write(
        tmp_path / "train.json", corpus=texts, queries={"q1": "What flows?"},
        answers={"q1": ["river"]},
    )  # fmt: skip

    data = fr.Dataset.from_pairs(tmp_path / "train.json")

    assert (data.corpus, data.queries) == (["A lake.", "Rivers A river."], ["What flows?"])
    assert (data.qrels.to_dict(), data.answers) == ({"0": {"0": 0, "1": 1}}, {"0": ["river"]})
    assert data.name == str(tmp_path / "train.json")


def test_training_data_has_several_kinds_of_negatives() -> None:
    row = {
        "question": "?", "answers": [], "positive_ctxs": [{"title": "A", "text": "a"}],
        "negative_ctxs": [{"title": "", "text": "b"}], "hard_negative_ctxs": [{"text": "c"}],
    }  # fmt: skip

    assert fr.Dataset.from_pairs([row]).qrels.to_dict() == {"0": {"0": 0, "1": 0, "2": 1}}
