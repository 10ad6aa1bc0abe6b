"""Answer selection: tables of questions, candidates and labels, and files as published."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import pytest

import fastrank as fr
from fastrank.datasets import read_insurance_qa
from fastrank.errors import FormatError
from tests.helpers.huggingface import Table
from tests.helpers.parsing import write_trec_qrels, write_trec_run
from tests.helpers.tables import calls, check_error

WIKIQA = b"""\
QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel
Q1\thow are "caves" formed?\tD1\tCave\tD1-0\tA "cave" is a hole .\t0
Q1\thow are "caves" formed?\tD1\tCave\tD1-1\tWater makes it, 5" a year .\t1
Q8\tHow fast is light?\tD8\tLight\tD8-0\tIt is bright .\t0
"""
ROWS = [("What flows?", "A river.", 1), ("What flows?", "A rock.", 0), ("Who sings?", "A bird.", 2)]
COLUMNS = dict(
    zip(("question", "answer", "label"), map(list, zip(*ROWS, strict=True)), strict=True)
)


def load(content: bytes | str, *given: Any, **how: Any) -> fr.Candidates:
    content = content if isinstance(content, bytes) else content.encode()
    return fr.read_candidates(io.BytesIO(content), *given, **how)


def said(content: bytes | str, *given: Any) -> str:
    with pytest.raises(fr.FastrankError) as error:
        load(content, *given)
    return str(error.value)


def assert_are_the_rows(found: fr.Candidates) -> None:
    assert found.qrels.to_dict() == {"Q1": {"Q1-0": 1, "Q1-1": 0}, "Q2": {"Q2-0": 2}}
    assert found.pairs == [row[:2] for row in ROWS]


# Tables


def test_wikiqa_is_read_as_it_is_published():
    """Its quotes have no meaning: a sentence may hold one."""
    found = load(WIKIQA)
    assert found.qrels.to_dict() == {"Q1": {"D1-0": 0, "D1-1": 1}, "Q8": {"D8-0": 0}}
    assert found.pairs[1] == ('how are "caves" formed?', 'Water makes it, 5" a year .')
    assert found.labels.tolist() == [0, 1, 0]
    assert found.unanswered == ["Q8"]


def test_every_kind_of_table_of_texts_gets_ids_in_its_order(tmp_path):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(COLUMNS)
    frame.to_parquet(tmp_path / "table.parquet")
    frame.to_csv(tmp_path / "table.csv", index=False)
    tabs = frame.to_csv(index=False, sep="\t").encode()
    (tmp_path / "table.tsv.gz").write_bytes(gzip.compress(tabs))
    frame.to_json(tmp_path / "table.jsonl", orient="records", lines=True)
    frame.to_json(tmp_path / "records.json", orient="records")
    # The columns of microsoft/wiki_qa.
    titles = {"document_title": ["Rivers", "Rivers", "Birds"]}
    huggingface = Table({"question_id": ["Q1", "Q1", "Q2"], **titles, **COLUMNS})
    for source in [
        *tmp_path.iterdir(),
        *(COLUMNS, frame, polars.DataFrame(COLUMNS), pyarrow.table(COLUMNS)),
        *(huggingface, {"test": huggingface}),
    ]:
        assert_are_the_rows(fr.read_candidates(source))
    for separator in "\t,":
        text = "".join(f"{separator.join(map(str, row))}\n" for row in ROWS)
        assert_are_the_rows(load(text))


def test_columns_can_be_named():
    table = {"frage": ["Q"], "satz": ["S"], "score": [1]}
    names = {"question": "frage", "candidate": "satz", "label": "score"}
    assert fr.read_candidates(table, columns=names).pairs == [("Q", "S")]
    numbered = load("1\tS\tQ\n", columns={"question": 2, "candidate": 1, "label": 0})
    assert numbered.pairs == [("Q", "S")]


def test_rows_of_a_question_may_stand_apart_and_labels_have_fractions():
    answers = ["a", "b", "c"]
    found = fr.read_candidates({"qid": [1, 2, 1], "answer": answers, "label": [0, 1, 1]})
    assert found.docs == ["1-0", "2-0", "1-1"]
    assert found.labels.tolist() == [0, 1, 1]
    assert found.run([3.0, 2.0, 1.0]).to_dict() == {"1": {"1-0": 3.0, "1-1": 1.0}, "2": {"2-0": 2}}
    found = fr.read_candidates({"qid": [1, 1, 2], "docno": answers, "label": [0.5, 0, 0.0]})
    assert found.labels.tolist() == [0.5, 0.0, 0.0]
    assert found.unanswered == ["2"]


def test_scores_of_a_model_become_a_run_and_files_of_trec(tmp_path):
    found = load(WIKIQA)
    run = found.run([0.5, 0.25, 1.0], tag="overlap")
    qrels, path = tmp_path / "qrels.txt", tmp_path / "run.txt"
    write_trec_qrels(found.qrels, qrels)
    write_trec_run(run, path)
    assert qrels.read_text() == "Q1 0 D1-0 0\nQ1 0 D1-1 1\nQ8 0 D8-0 0\n"
    for own in ((qrels, path), (found.qrels, run)):
        assert fr.evaluate(*own, "map").mean == {"map": 0.25}


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_scores_may_be_a_tensor(kind):
    torch = pytest.importorskip("torch")
    scores = torch.tensor([0.5, 0.25, 1.0], dtype=getattr(torch, kind), requires_grad=True)
    assert load(WIKIQA).run(scores).to_dict() == load(WIKIQA).run([0.5, 0.25, 1.0]).to_dict()


RECORD = b'{"qid": "q", "docno": "d", "label": "0.5"}'
SCORED = RECORD.replace(b"label", b"score")


def test_numbers_are_read_from_text_files():
    """In all readers: of runs, of judgments, and of tables with labels."""
    assert load("qid,docno,label\nq,d,0.5").labels.tolist() == [0.5]
    assert fr.read_run(io.BytesIO(b"qid,docno,score\nq,d,0.5"))["q"] == {"d": 0.5}


# Files as they are published

PAIRS = """\
<QApairs id='1.1'>
<question>
Who\twrote\tit\t?
WP\tVBD\tPRP\t.
</question>
<positive>
Ann\twrote\tit\t.
NNP\tVBD\tPRP\t.
</positive>
<negative>
It\train\t3\t<\t5\t.
PRP\tVBD\tCD\tSYM\tCD\t.
</negative>
</QApairs>
<QApairs id='2.1'>
<question>
Where\t?
</question>
<negative>
Here\t.
</negative>
</QApairs>
"""


def test_tagged_pairs_of_trec_qa_are_read():
    """A line may begin with a token in brackets: there is a version with <num> for numbers."""
    found = load(PAIRS)
    candidates = ["Ann wrote it .", "It rain 3 < 5 .", "Here ."]
    questions = ["Who wrote it ?", "Who wrote it ?", "Where ?"]
    assert found.pairs == list(zip(questions, candidates, strict=True))
    assert found.qrels.to_dict() == {"1.1": {"1.1-0": 1, "1.1-1": 0}, "2.1": {"2.1-0": 0}}
    found = load(PAIRS.replace("Ann\t", "<num>\t").replace("Here\t.", "<num>"))
    expected = ["<num> wrote it .", "It rain 3 < 5 .", "<num>"]
    assert [candidate for _, candidate in found.pairs] == expected


def test_the_folder_of_parallel_files_is_read(tmp_path):
    """Candidates are numbered through, as the scripts that go with these files do."""
    (tmp_path / "id.txt").write_text("1.1\n1.1\n2.1\n")
    (tmp_path / "a.toks").write_text("who wrote it\nwho wrote it\nwhere\n")
    (tmp_path / "b.toks").write_text("ann did\nit rained\nhere\n")
    (tmp_path / "sim.txt").write_text("1\n0\n0\n")
    found = fr.read_candidates(tmp_path)
    assert found.qrels.to_dict() == {"1.1": {"0": 1, "1": 0}, "2.1": {"2": 0}}
    assert found.pairs[2] == ("where", "here")
    (tmp_path / "b.toks").write_text("ann did\n")
    with pytest.raises(FormatError, match=r"b.toks:1: expected 3 lines, as in id.txt, found 1"):
        fr.read_candidates(tmp_path)


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
OIL, MASSAGE, MALL = "Oil What?", "Massage Where & when?", "At the mall."


@pytest.mark.parametrize(
    ("subtask", "qrels", "pair"),
    [
        ("semeval-a", {"Q1_R4": {"Q1_R4_C1": 1, "Q1_R4_C2": 0}}, (MASSAGE, MALL)),
        ("semeval-b", {"Q1": {"Q1_R4": 1}}, (OIL, MASSAGE)),
        ("semeval-c", {"Q1": {"Q1_R4_C1": 0, "Q1_R4_C2": 1}}, (OIL, MALL)),
    ],
)
def test_subtasks_of_semeval(subtask, qrels, pair):
    """Threads alone are subtask a."""
    found = load(WHOLE, subtask)
    assert (found.qrels.to_dict(), found.pairs[0]) == (qrels, pair)
    if subtask == "semeval-a":
        assert load(f"<xml>{THREAD}</xml>").qrels.to_dict() == qrels


def insurance(questions: bytes) -> fr.Candidates:
    words = io.BytesIO(b"idx_1\twhat\nidx_2\tinsurance\nidx_3\tthis\n")
    answers = io.BytesIO(b"1\tidx_3\n2\tidx_3 idx_2\n3\tidx_2\n")
    return read_insurance_qa(io.BytesIO(questions), answers, words)


@pytest.mark.parametrize(
    ("line", "labels"),
    [
        (b"2 3\tidx_1 idx_2\t1 2 3\n", {"1": 0, "2": 1, "3": 1}),
        (b"medicare-insurance\tidx_1 idx_2\t2\t2 1\n", {"2": 1, "1": 0}),
        (b"idx_1 idx_2\t2 3\n", {"2": 1, "3": 1}),
        (b"life-insurance\tidx_1 idx_2\t3\n", {"3": 1}),
    ],
)
def test_questions_of_insurance_qa(line, labels):
    found = insurance(line)
    assert found.qrels.to_dict() == {"Q1": labels}
    assert {question for question, _ in found.pairs} == {"what insurance"}


def movieqa(**changes: Any) -> str:
    record = {"qid": "train:0", "question": "Who sings?", "answers": ["Ann", "", "Bo"]}
    more = {"correct_index": 2, "imdb_key": "tt1", "plot_alignment": [3]}
    return json.dumps([{**record, **more, **changes}])


def test_the_choices_of_movieqa_are_candidates():
    found = load(movieqa())
    assert found.pairs == [("Who sings?", "Ann"), ("Who sings?", ""), ("Who sings?", "Bo")]
    assert found.qrels.to_dict() == {"train:0": {"train:0-0": 0, "train:0-1": 0, "train:0-2": 1}}


# What is wrong

TRAIN_0 = "record 1, question 'train:0': expected a"
SUBTASKS = "of several subtasks; set format to 'semeval-a', 'semeval-b', 'semeval-c'"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("a,b\n1,2\n", "1: expected a header with names for question or question_id and cand"),
        ("question,answer,label\nq,a\n", "2: expected 3 cells, as in the first line, found 2"),
        ("question,answer,label\nq,a,x\n", "2: column 'label': expected a grade, found 'x'"),
        ("question,answer,score\n", "no label column: found 'question', 'answer', 'score'"),
        ('{"q": {"a": 1}}', "1: expected a list of records, found one object"),
        ('[{"question": "q", "label": 1}]', "no candidate column: found 'question'"),
        ("qid,question,answer,label\n1,a,x,1\n1,b,y,0\n", "3: expected one text for question '1'"),
        ("qid,docno,label\n1,a,1\n1,a,0\n", "3: question '1': duplicate candidate 'a'"),
        ("question,query,answer,label\n", "more than one question column: 'question' and 'query'"),
        ("<QApairs id=''>\n", "1: expected <QApairs id='...'>"),
        ("<QApairs id='1'>\n<positive>\na\n", "3: expected a question before its candidates"),
        ("<QApairs id='1'>\n", "with candidates, found none"),
        (WHOLE, SUBTASKS),
        ("<root></root>", "expected <RelQuestion> with <RelComment>, found none"),
        (movieqa(correct_index=None), f"{TRAIN_0} correct_index from 0 to 2, found None"),
        (movieqa(correct_index=3), f"{TRAIN_0} correct_index from 0 to 2, found 3"),
        (movieqa(answers="Ann"), f"{TRAIN_0} list of answers, found 'Ann'"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_wrong_is_said_with_its_place(content, message):
    assert message in said(content)


@calls(r"""
load(WHOLE.replace("</root>", ""), "semeval-a") => FormatError: ...:9: invalid XML...
load(WHOLE.replace("_C2", "_C1"), "semeval-c") => InputError: ...Q1_R4_C1: duplicate in Q1...
load(WHOLE.replace('RELQ="Good"', 'RELQ="N/A"'), "semeval-a") =>
  InputError: ...Q1_R4_C1: RELC_...found 'N/A'...
insurance(b"1\tidx_1\t1 9\n") => FormatError: ...:1: no answer has the number '9'...
insurance(b"1\tidx_9\t1\n") => FormatError: ...:1: no word in the vocabulary for 'idx_9'...
insurance(b"idx_1\tx\n") => FormatError: ...:1: expected right answers, ... found 'x' as numbers...
insurance(b"idx_1\n") => FormatError: ...:1: expected right answers, ... found 1 cells...
insurance(b"\tidx_1 idx_2\t1 2\n") =>
  FormatError: ...:1: expected right answers, ... found '' as numbers...
insurance(b"\n") => InputError: ...expected questions with candidates, found none...
load(WIKIQA, "xml") => InputError: ...format: expected one of csv...
of(question=["q"], answer=[], label=[1]) => InputError: ...expected columns of equal length...
of(question="q", answer=["a"], label=[1]) =>
  InputError: ...'question': expected a list or an array, found str...
of(qid=[1], answer=["a"], label=[1]).pairs =>
  InputError: ...no column contains the text of the question...
load(WIKIQA).run([1.0, 2.0]) => InputError: ...expected 3 scores, one per candidate, found 2...
load(WIKIQA).run([1.0, math.nan, 2.0]) => InputError: ...row 1 ...expected a score, found NaN...
fr.read_candidates(7) =>
  TypeError: ...expected a file, a data frame, an Arrow table, a Hugging Face Dataset...
of(qid=["q"], docno=["d"], label=["0.5"]) =>
  InputError: ...column ...: ...found '0.5'...quotes
load(RECORD) => FormatError: ...column ...: ...found '0.5'...quotes
fr.read_qrels(io.BytesIO(RECORD)) => FormatError: ...column ...: ...found '0.5'...quotes
fr.read_run(io.BytesIO(SCORED)) => FormatError: ...column ...: ...found '0.5'...quotes
""")
def test_what_is_wrong_elsewhere_is_said(call, expected):
    """Numbers as text are read from text files only."""
    names = {"of": lambda **columns: fr.read_candidates(columns)}
    check_error(call, expected, globals() | names)
