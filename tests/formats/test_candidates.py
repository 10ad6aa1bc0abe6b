"""Answer selection: tables of questions, candidates and labels."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from tests.helpers.huggingface import Table
from tests.helpers.parsing import write_trec_qrels, write_trec_run

WIKIQA = b"""\
QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel
Q1\thow are "caves" formed?\tD1\tCave\tD1-0\tA "cave" is a hole .\t0
Q1\thow are "caves" formed?\tD1\tCave\tD1-1\tWater makes it, 5" a year .\t1
Q8\tHow fast is light?\tD8\tLight\tD8-0\tIt is bright .\t0
"""
ROWS = [("What flows?", "A river.", 1), ("What flows?", "A rock.", 0), ("Who sings?", "A bird.", 2)]
COLUMNS = {
    "question": [row[0] for row in ROWS],
    "answer": [row[1] for row in ROWS],
    "label": [row[2] for row in ROWS],
}
JUDGED = {"Q1": {"Q1-0": 1, "Q1-1": 0}, "Q2": {"Q2-0": 2}}


def load(content: bytes | str, *given: Any, **how: Any) -> fr.Candidates:
    content = content if isinstance(content, bytes) else content.encode()
    return fr.read_candidates(io.BytesIO(content), *given, **how)


def test_wikiqa_is_read_as_it_is_published() -> None:
    """Its quotes have no meaning: a sentence may hold one."""
    found = load(WIKIQA)

    assert found.qrels.to_dict() == {"Q1": {"D1-0": 0, "D1-1": 1}, "Q8": {"D8-0": 0}}
    assert found.pairs[1] == ('how are "caves" formed?', 'Water makes it, 5" a year .')
    assert found.labels.tolist() == [0, 1, 0]
    assert found.unanswered == ["Q8"]


def test_a_table_of_texts_gets_ids_in_its_order() -> None:
    found = fr.read_candidates(COLUMNS)

    assert found.qrels.to_dict() == JUDGED
    assert found.pairs == [row[:2] for row in ROWS]


def test_every_kind_of_table_gives_the_same(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(COLUMNS)
    frame.to_parquet(tmp_path / "table.parquet")
    frame.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "table.tsv.gz").write_bytes(
        gzip.compress(frame.to_csv(index=False, sep="\t").encode())
    )
    frame.to_json(tmp_path / "table.jsonl", orient="records", lines=True)
    frame.to_json(tmp_path / "records.json", orient="records")

    frames = [frame, polars.DataFrame(COLUMNS), pyarrow.table(COLUMNS)]
    for source in [*frames, *tmp_path.iterdir()]:
        found = fr.read_candidates(source)

        assert found.qrels.to_dict() == JUDGED
        assert found.pairs == [row[:2] for row in ROWS]


def test_a_dataset_of_hugging_face() -> None:
    """The columns of microsoft/wiki_qa."""
    pytest.importorskip("pyarrow")
    columns = {
        "question_id": ["Q1", "Q1", "Q2"],
        "question": COLUMNS["question"],
        "document_title": ["Rivers", "Rivers", "Birds"],
        "answer": COLUMNS["answer"],
        "label": COLUMNS["label"],
    }

    for given in (Table(columns), {"test": Table(columns)}):
        found = fr.read_candidates(given)

        assert found.qrels.to_dict() == JUDGED
        assert found.pairs == [row[:2] for row in ROWS]


def test_three_columns_without_a_header_are_question_candidate_and_label() -> None:
    for separator in "\t,":
        text = "".join(f"{separator.join(map(str, row))}\n" for row in ROWS)

        assert load(text).qrels.to_dict() == JUDGED


def test_columns_can_be_named() -> None:
    table = {"frage": ["Q"], "satz": ["S"], "score": [1]}
    names = {"question": "frage", "candidate": "satz", "label": "score"}

    assert fr.read_candidates(table, columns=names).pairs == [("Q", "S")]
    numbered = load("1\tS\tQ\n", columns={"question": 2, "candidate": 1, "label": 0})
    assert numbered.pairs == [("Q", "S")]


def test_rows_of_a_question_may_stand_apart() -> None:
    table = {"qid": [1, 2, 1], "answer": ["a", "b", "c"], "label": [0, 1, 1]}

    found = fr.read_candidates(table)

    assert found.docs == ["1-0", "2-0", "1-1"]
    assert found.labels.tolist() == [0, 1, 1]
    assert found.run([3.0, 2.0, 1.0]).to_dict() == {"1": {"1-0": 3.0, "1-1": 1.0}, "2": {"2-0": 2}}


TREC_QA = """\
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


def test_tagged_pairs_of_trec_qa_are_read() -> None:
    found = load(TREC_QA)

    assert found.pairs == [
        ("Who wrote it ?", "Ann wrote it ."), ("Who wrote it ?", "It rain 3 < 5 ."),
        ("Where ?", "Here ."),
    ]  # fmt: skip
    assert found.qrels.to_dict() == {"1.1": {"1.1-0": 1, "1.1-1": 0}, "2.1": {"2.1-0": 0}}


def test_a_line_of_tagged_pairs_may_begin_with_a_token_in_brackets() -> None:
    """TREC-QA is also passed on with <num> for every number."""
    text = TREC_QA.replace("Ann\t", "<num>\t").replace("Here\t.", "<num>")

    assert [candidate for _, candidate in load(text).pairs] == [
        "<num> wrote it .", "It rain 3 < 5 .", "<num>",
    ]  # fmt: skip


def test_the_folder_of_parallel_files_is_read(tmp_path: Path) -> None:
    """Candidates are numbered through, as the scripts that go with these files do."""
    (tmp_path / "id.txt").write_text("1.1\n1.1\n2.1\n")
    (tmp_path / "a.toks").write_text("who wrote it\nwho wrote it\nwhere\n")
    (tmp_path / "b.toks").write_text("ann did\nit rained\nhere\n")
    (tmp_path / "sim.txt").write_text("1\n0\n0\n")

    found = fr.read_candidates(tmp_path)

    assert found.qrels.to_dict() == {"1.1": {"0": 1, "1": 0}, "2.1": {"2": 0}}
    assert found.pairs[2] == ("where", "here")
    (tmp_path / "b.toks").write_text("ann did\n")
    with pytest.raises(fr.FormatError, match=r"b.toks:1: expected 3 lines, as in id.txt, found 1"):
        fr.read_candidates(tmp_path)


def test_scores_of_a_model_become_a_run_and_files_of_trec(tmp_path: Path) -> None:
    found = load(WIKIQA)
    run = found.run([0.5, 0.25, 1.0], tag="overlap")

    write_trec_qrels(found.qrels, tmp_path / "qrels.txt")
    write_trec_run(run, tmp_path / "run.txt")

    assert (tmp_path / "qrels.txt").read_text() == "Q1 0 D1-0 0\nQ1 0 D1-1 1\nQ8 0 D8-0 0\n"
    mean = fr.evaluate(tmp_path / "qrels.txt", tmp_path / "run.txt", "map").mean
    assert mean == fr.evaluate(found.qrels, run, "map").mean == {"map": 0.25}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("a,b\n1,2\n", "expected a header or three cells (question, candidate, label)"),
        ("question,answer,label\nq,a\n", "2: expected 3 cells, as in the first line, found 2"),
        ("question,answer,label\nq,a,x\n", "2: column 'label': expected a number, found 'x'"),
        ("question,answer,score\n", "1: column 'label': expected a number, found 'score'"),
        ('{"q": {"a": 1}}', "1: expected a list of records, found one object"),
        ('[{"question": "q", "label": 1}]', "no candidate column: found 'question'"),
        ("qid,question,answer,label\n1,a,x,1\n1,b,y,0\n", "3: expected one text for question '1'"),
        ("qid,docno,label\n1,a,1\n1,a,0\n", "3: question '1': duplicate candidate 'a'"),
        (
            "question,query,answer,label\n",
            "more than one question column: 'question' and 'query'",
        ),
        ("<QApairs id=''>\n", "1: expected <QApairs id='...'>"),
        ("<QApairs id='1'>\n<positive>\na\n", "3: expected a question before its candidates"),
        ("<QApairs id='1'>\n", "with candidates, found none"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(content: str, message: str) -> None:
    with pytest.raises(fr.FastrankError) as error:
        load(content)

    assert message in str(error.value)


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_scores_may_be_a_tensor(kind: str) -> None:
    torch = pytest.importorskip("torch")
    scores = torch.tensor([0.5, 0.25, 1.0], dtype=getattr(torch, kind), requires_grad=True)

    assert load(WIKIQA).run(scores).to_dict() == load(WIKIQA).run([0.5, 0.25, 1.0]).to_dict()


def test_labels_may_have_fractions() -> None:
    found = fr.read_candidates({"qid": [1, 1, 2], "docno": ["a", "b", "c"], "label": [0.5, 0, 0.0]})

    assert found.labels.tolist() == [0.5, 0.0, 0.0]
    assert found.unanswered == ["2"]


def test_numbers_as_text_are_read_from_text_files_only() -> None:
    """In all readers: of runs, of judgments, and of tables with labels."""
    names, row = ["qid", "docno", "label"], ["q", "d", "0.5"]
    cells = "\n".join([",".join(names), ",".join(row)]).encode()
    record = json.dumps(dict(zip(names, row, strict=True))).encode()
    as_run = record.replace(b"label", b"score")

    assert load(cells).labels.tolist() == [0.5]
    assert fr.read_run(io.BytesIO(cells.replace(b"label", b"score")))["q"] == {"d": 0.5}
    for read, found in (
        (fr.read_candidates, io.BytesIO(record)),
        (fr.read_candidates, {name: [cell] for name, cell in zip(names, row, strict=True)}),
        (fr.read_qrels, io.BytesIO(record)),
        (fr.read_run, io.BytesIO(as_run)),
    ):
        with pytest.raises(
            fr.FastrankError, match=r"column '.*': expected a .*, found str: '0.5'$"
        ):
            read(found)


def test_other_objects_and_options_are_refused() -> None:
    with pytest.raises(
        TypeError, match="expected a file, a data frame, an Arrow table, a Hugging Face Dataset"
    ):
        fr.read_candidates(7)
    with pytest.raises(fr.InputError, match="format: expected one of csv"):
        load(WIKIQA, "xml")
    with pytest.raises(fr.InputError, match="expected columns of equal length"):
        fr.read_candidates({"question": ["q"], "answer": [], "label": [1]})
    with pytest.raises(fr.InputError, match="'question': expected a column of values, found str"):
        fr.read_candidates({"question": "q", "answer": ["a"], "label": [1]})
    with pytest.raises(fr.InputError, match="expected 3 scores, one per candidate, found 2"):
        load(WIKIQA).run([1.0, 2.0])
    with pytest.raises(fr.InputError, match=r"row 1 .*expected a score, found NaN"):
        load(WIKIQA).run([1.0, float("nan"), 2.0])
    with pytest.raises(fr.InputError, match="no column contains the text of the question"):
        _ = fr.read_candidates({"qid": [1], "answer": ["a"], "label": [1]}).pairs
