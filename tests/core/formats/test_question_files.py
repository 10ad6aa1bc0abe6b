"""KILT, HotpotQA and BRIGHT as judgments and runs, in files written to their documentation."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import fastrank as fr
from fastrank.datasets import hotpot_spans, squad_spans
from tests.helpers.tables import calls, check_error, check_value


def _json(value: Any) -> io.BytesIO:
    return io.BytesIO(json.dumps(value, indent=1).encode())


def _jsonl(records: list[Any]) -> io.BytesIO:
    return io.BytesIO(b"\n".join(json.dumps(record).encode() for record in records))


def _kilt(*outputs: list[Any], **more: Any) -> dict[str, Any]:
    """A question of KILT whose answers are on these pages."""
    pages = [[{"wikipedia_id": page, "title": "T"} for page in own] for own in outputs]
    found = [{"answer": "x", "provenance": own} for own in pages]
    return {"id": "k1", "input": "?", "output": found, "meta": {}, **more}


TITLES, LYON, OSLO = ["Lyon", "Oslo"], ["Lyon is a city.", " It is in France."], ["Cold."]
CONTEXT = [["Lyon", LYON], ["Oslo", OSLO]]
FACTS = [["Lyon", 0], ["Oslo", 0], ["Lyon", 1]]
ASKED = {"question": "?", "answer": "x"}
HOTPOT = {"_id": "h1", **ASKED, "type": "bridge", "supporting_facts": FACTS, "context": CONTEXT}
ON_THE_HUB = {
    "id": "h1",
    **ASKED,
    "supporting_facts": {"title": ["Lyon", "Oslo", "Lyon"], "sent_id": [0, 0, 1]},
    "context": {"title": TITLES, "sentences": [LYON, OSLO]},
}
GOLD = {"gold_ids": ["a_1.txt", "b_2.txt"], "gold_ids_long": ["a.txt"]}
BRIGHT = {"query": "why?", "id": "0", "excluded_ids": ["N/A"], **GOLD}
TWO_ANSWERS = [{"text": "France", "answer_start": 11}, {"text": "in France", "answer_start": 8}]


def _squad(answers: Any) -> io.BytesIO:
    asked = {"id": "q1", "question": "Where?", "answers": answers}
    paragraph = {"context": "Lyon is in France.", "qas": [asked]}
    return _json({"version": "1.1", "data": [{"title": "Lyon", "paragraphs": [paragraph]}]})


@calls("""
_jsonl([_kilt(["7", "9"], ["7"]), _kilt(["3"], id="k2")])
    => {"k1": {"7": 1, "9": 1}, "k2": {"3": 1}}
_json([_kilt([" 7"])]) => {"k1": {"7": 1}}
_json([HOTPOT]) => {"h1": {"Lyon": 1, "Oslo": 1}}
_jsonl([ON_THE_HUB]) => {"h1": {"Lyon": 1, "Oslo": 1}}
_jsonl([BRIGHT]) => {"0": {"a_1.txt": 1, "b_2.txt": 1}}
""")
def test_relevant_documents_of_questions_are_judgments(call, expected):
    """Each with grade 1, once."""
    check_value(f"fr.read_qrels({call}).to_dict()", expected, globals())


def test_files_of_questions_are_checked(tmp_path):
    path = tmp_path / "hotpot.json"
    path.write_bytes(_json([HOTPOT]).read())

    assert [finding.kind for finding in fr.check(path)] == ["other-format"]


def test_tables_of_the_hub_are_judgments_as_files_are():
    pyarrow = pytest.importorskip("pyarrow")

    for record in (BRIGHT, ON_THE_HUB, _kilt(["7"])):
        table = pyarrow.Table.from_pylist([{k: v for k, v in record.items() if v != {}}])
        assert fr.Qrels.from_arrow(table).to_dict() == fr.read_qrels(_jsonl([record])).to_dict()


def test_documents_of_the_long_version_of_bright_are_chosen_by_column():
    columns = {"doc": "gold_ids_long"}

    assert fr.read_qrels(_jsonl([BRIGHT]), columns=columns).to_dict() == {"0": {"a.txt": 1}}


def test_excluded_documents_of_bright_are_not_in_the_ranking():
    """As its script asserts. N/A stands for none, and is the name of no document."""
    record = {**BRIGHT, "excluded_ids": ["c_3.txt"]}
    exclude = {own["id"]: own["excluded_ids"] for own in (record, {**BRIGHT, "id": "1"})}
    run = {"0": {"c_3.txt": 3.0, "a_1.txt": 2.0}}

    assert fr.evaluate(_jsonl([record]), run, "RR", exclude=exclude).mean == {"RR": 1.0}


def test_predictions_of_kilt_are_a_run_in_their_order():
    """A page counts once, as in KILT's script: R-precision of a question with one set of pages."""
    qrels = fr.read_qrels(_jsonl([_kilt(["7", "9"])]))
    run = fr.read_run(_jsonl([_kilt(["4", "7", "7", "9"])]))

    assert fr.evaluate(qrels, run, "Rprec RR", duplicates="first").mean == {"Rprec": 0.5, "RR": 0.5}


def test_facts_of_hotpotqa_are_places_of_sentences():
    """In their paragraph, which is its sentences joined as they are; without blanks around."""
    for record in (HOTPOT, ON_THE_HUB):
        spans = hotpot_spans(_json([record]))
        places = zip(spans["document"], spans["start"], spans["end"], strict=True)
        texts = {title: "".join(sentences) for title, sentences in CONTEXT}
        found = [texts[title][start:end] for title, start, end in places]
        assert found == ["Lyon is a city.", "Cold.", "It is in France."]
        assert spans["query"] == ["h1"] * 3


def test_a_fact_of_a_sentence_that_does_not_exist_is_left_out_with_a_warning():
    """The published files have some."""
    facts = [["Lyon", 2], ["Oslo", 0], ["Oslo", 1]]
    record = {
        **HOTPOT,
        "supporting_facts": facts,
        "context": [CONTEXT[0], ["Oslo", ["Cold.", " "]]],
    }

    with pytest.warns(UserWarning, match="2 facts are left out, .* sentence 2 of 'Lyon'$"):
        assert hotpot_spans([record])["document"] == ["Oslo"]


def test_answers_of_squad_are_places_of_one_piece_of_evidence():
    """In the paragraphs of the data set of the same file; the same place counts once."""
    spans = squad_spans(_squad([*TWO_ANSWERS, TWO_ANSWERS[0]]))
    data = fr.Dataset.from_squad(_squad(TWO_ANSWERS))

    (text,) = data.corpus
    assert spans["document"] == data.corpus_ids * 2
    places = zip(spans["start"], spans["end"], strict=True)
    assert [text[start:end] for start, end in places] == ["France", "in France"]
    assert spans["query"] == spans["evidence"] == ["q1", "q1"]


@calls(r"""
qrels(_jsonl([_kilt(["7"]), _kilt([])])) => 2...output: expected passages to judge, found none
qrels(_json([_kilt(["7"]), _kilt(output="x")])) => record 2, output: expected a list, found 'x'
qrels(_json([_kilt(["7"]), _kilt(output=[{"provenance": [7]}])]))
    => record 2, output[0].provenance[0]: expected 'wikipedia_id', found
run(_json([_kilt(["7"], ["8"])]))
    => record 1, output: expected one output with the pages of a run, found 2
qrels(_json([hotpot(supporting_facts=[["Lyon"]])]))
    => record 1, supporting_facts[0]: expected title and sent_id, found ['Lyon']
qrels(_json([{**BRIGHT, "gold_ids": [None]}]))
    => record 1, gold_ids[0]: expected the id of a document, found None
qrels(_json([_kilt([None])])) => expected the id of a document, found No
qrels(_json([_kilt([" "])])) => expected an id, found an empty text
qrels(_json([hotpot(supporting_facts={"title": TITLES, "sent_id": [0]})]))
    => supporting_facts: expected as many values of title as of sent_id, found 2 and 1
qrels(_json([hotpot(supporting_facts={"title": None, "sent_id": []})]))
    => supporting_facts.title: expected a list, found None
run(_json([{"ctxs": [{"id": "a", "score": "1_0"}]}]))
    => record 1, ctxs[0]: expected a score, found '1_0'
hotpot_spans([HOTPOT, HOTPOT]) => record 2: duplicate id 'h1'
hotpot_spans([hotpot(context=[["Lyon", "text"]])])
    => record 1, context and supporting_facts of 'Lyon': expected a list of sentences
hotpot_spans([hotpot(context=[*CONTEXT, ["Lyon", ["x"]]])])
    => supporting_facts: two paragraphs have the title 'Lyon'
squad_spans(_squad([{"text": "L", "answer_start": False}])) => a number, found bo
hotpot_spans([hotpot(context=CONTEXT[:1])]) => record 1: no paragraph of the context is 'Oslo'
hotpot_spans([hotpot(supporting_facts=[["Lyon", "0"]])])
    => record 1: expected the number of a sentence of 'Lyon', found '0'
hotpot_spans([hotpot(context=None)])
    => record 1, context and supporting_facts: expected a list, found None
squad_spans(_squad([{"text": "Paris", "answer_start": 11}]))
    => qas[0].answers[0]: expected 'Paris' at character 11, found 'Franc'
""")
def test_errors_name_the_record(call, expected):
    known = {"qrels": fr.read_qrels, "run": fr.read_run}
    names = {**globals(), **known, "hotpot": lambda **own: {**HOTPOT, **own}}
    check_error(call, f"...{expected}...", names, "...Error")
