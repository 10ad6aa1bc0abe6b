"""Candidates in the files of SemEval's task 3, InsuranceQA, and MovieQA, as these are published."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import fastrank as fr
from fastrank.datasets import read_insurance_qa

THREAD = """<Thread THREAD_SEQUENCE="Q1_R4">
<RelQuestion RELQ_ID="Q1_R4" RELQ_RANKING_ORDER="4" RELQ_RELEVANCE2ORGQ="PerfectMatch">
<RelQSubject>Massage</RelQSubject><RelQBody>Where &amp; when?</RelQBody></RelQuestion>
<RelComment RELC_ID="Q1_R4_C1" RELC_RELEVANCE2ORGQ="Bad" RELC_RELEVANCE2RELQ="Good">
<RelCText>At the mall.</RelCText></RelComment>
<RelComment RELC_ID="Q1_R4_C2" RELC_RELEVANCE2ORGQ="Good"
 RELC_RELEVANCE2RELQ="PotentiallyUseful"><RelCText>Yes.</RelCText></RelComment></Thread>"""
WHOLE = f"""<?xml version="1.0" encoding="UTF-8"?>
<root><OrgQuestion ORGQ_ID="Q1"><OrgQSubject>Oil</OrgQSubject><OrgQBody>What?</OrgQBody>
{THREAD}</OrgQuestion></root>"""


def read(text: str, format: str | None = None) -> fr.Candidates:
    return fr.read_candidates(io.BytesIO(text.encode()), format)


@pytest.mark.parametrize(
    ("subtask", "qrels", "pair"),
    [
        (
            "semeval-a",
            {"Q1_R4": {"Q1_R4_C1": 1, "Q1_R4_C2": 0}},
            ("Massage Where & when?", "At the mall."),
        ),
        ("semeval-b", {"Q1": {"Q1_R4": 1}}, ("Oil What?", "Massage Where & when?")),
        ("semeval-c", {"Q1": {"Q1_R4_C1": 0, "Q1_R4_C2": 1}}, ("Oil What?", "At the mall.")),
    ],
)
def test_subtasks_of_semeval(subtask: str, qrels: Any, pair: tuple[str, str]) -> None:
    found = read(WHOLE, subtask)

    assert (found.qrels.to_dict(), found.pairs[0]) == (qrels, pair)


def test_threads_alone_are_subtask_a() -> None:
    assert list(read(f"<xml>{THREAD}</xml>").qrels.to_dict()) == ["Q1_R4"]


@pytest.mark.parametrize(
    ("text", "format", "reason"),
    [
        (WHOLE, None, "of several subtasks; set format to 'semeval-a', 'semeval-b', 'semeval-c'"),
        (WHOLE.replace('RELQ="Good"', 'RELQ="N/A"'), "semeval-a", "Q1_R4_C1: RELC_.*found 'N/A'"),
        (WHOLE.replace("</root>", ""), "semeval-a", r":9: invalid XML"),
        ("<root></root>", None, "expected <RelQuestion> with <RelComment>, found none"),
        (WHOLE.replace("_C2", "_C1"), "semeval-c", "Q1_R4_C1: duplicate in Q1"),
    ],
)
def test_files_that_are_not_of_semeval(text: str, format: str | None, reason: str) -> None:
    with pytest.raises(fr.FastrankError, match=reason):
        read(text, format)


WORDS = b"idx_1\twhat\nidx_2\tinsurance\nidx_3\tthis\n"
ANSWERS = b"1\tidx_3\n2\tidx_3 idx_2\n3\tidx_2\n"


def insurance(questions: bytes) -> fr.Candidates:
    return read_insurance_qa(io.BytesIO(questions), io.BytesIO(ANSWERS), io.BytesIO(WORDS))


@pytest.mark.parametrize(
    ("line", "labels"),
    [
        (b"2 3\tidx_1 idx_2\t1 2 3\n", {"1": 0, "2": 1, "3": 1}),
        (b"medicare-insurance\tidx_1 idx_2\t2\t2 1\n", {"2": 1, "1": 0}),
        (b"idx_1 idx_2\t2 3\n", {"2": 1, "3": 1}),
        (b"life-insurance\tidx_1 idx_2\t3\n", {"3": 1}),
    ],
)
def test_questions_of_insurance_qa(line: bytes, labels: dict[str, int]) -> None:
    found = insurance(line)

    assert found.qrels.to_dict() == {"Q1": labels}
    assert {question for question, _ in found.pairs} == {"what insurance"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"1\tidx_1\t1 9\n", "1: no answer has the number '9'"),
        (b"1\tidx_9\t1\n", "1: no word in the vocabulary for 'idx_9'"),
        (b"idx_1\tx\n", "1: expected right answers, .* found 'x' as numbers"),
        (b"idx_1\n", "1: expected right answers, .* found 1 cells"),
        (b"\tidx_1 idx_2\t1 2\n", "1: expected right answers, .* found '' as numbers"),
        (b"\n", "expected questions with candidates, found none"),
    ],
)
def test_lines_that_are_not_of_insurance_qa(line: bytes, reason: str) -> None:
    with pytest.raises(fr.FastrankError, match=reason):
        insurance(line)


def movieqa(**changes: Any) -> bytes:
    record = {
        "qid": "train:0", "question": "Who sings?", "answers": ["Ann", "", "Bo"],
        "correct_index": 2, "imdb_key": "tt1", "plot_alignment": [3],
    }  # fmt: skip
    return json.dumps([record | changes]).encode()


def test_the_choices_of_movieqa_are_candidates() -> None:
    found = fr.read_candidates(io.BytesIO(movieqa()))

    assert found.pairs == [("Who sings?", "Ann"), ("Who sings?", ""), ("Who sings?", "Bo")]
    assert found.qrels.to_dict() == {"train:0": {"train:0-0": 0, "train:0-1": 0, "train:0-2": 1}}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"correct_index": None}, "expected a correct_index from 0 to 2, found None"),
        ({"correct_index": 3}, "expected a correct_index from 0 to 2, found 3"),
        ({"answers": "Ann"}, "expected a list of answers, found 'Ann'"),
    ],
)
def test_records_that_are_not_of_movieqa(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(fr.InputError, match=f"record 1, question 'train:0': {reason}"):
        fr.read_candidates(io.BytesIO(movieqa(**changes)))
