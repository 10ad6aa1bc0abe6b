"""`fastrank.check` of files that are not TREC's: the findings that make sense there, and where."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.analysis.checking.findings import Finding, Report
from fastrank.errors import FastrankError
from tests.helpers.checks import check, unescaped
from tests.helpers.commands import fastrank, write
from tests.helpers.strategies import examples
from tests.helpers.tables import cases


def told(report: Report) -> list[tuple[str, int | None, str]]:
    """Kind, line and message of what is found beside the format itself."""
    return [(f.kind, f.line, f.message) for f in report if f.kind != "other-format"]


BEIR = b"query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t0.5\n"


def test_files_without_a_flaw():
    """But that trec_eval does not read them."""
    report = check(BEIR, b'{"q1": {"d1": 0.5, "d2": 0.25}, "q2": {"d2": 1, "d3": 0.5}}')

    assert told(report) == [
        (
            "no-relevant",
            3,
            "query 'q2' has no relevant document among 1 judgment; it counts as 0 in the means",
        )
    ]
    assert [(f.kind, f.file) for f in report if f.severity == "note"] == [
        ("other-format", "qrels"),
        ("other-format", "run"),
    ]
    assert [tuple(file) for file in report.files] == [
        ("qrels", "qrels", 3, 2, 2, 2),
        ("run", "run", 0, 4, 2, 3),
    ]


# Runs; the line (- for none), kind and message of all that is found.
RUNS = cases(r"""
qid,docno,score\nq,d,high\nq,e,-0.5\nq,d,-1\nq,f,nan\n
  2 bad-score: score 'high' of document 'd' is not a number
  4 duplicate: duplicate document 'd' in query 'q': score -1, but high on line 2; trec_eval stops at
    this query
  5 nan-score: score 'nan' of document 'f' is NaN, by which documents cannot be ranked
qid\tdocno\tscore\nq\td\t \n => 2 bad-score: score of document 'd' is missing
qid,docno,score,rank\nq,d,1,1\nq,e,3,2\nq,f,2,3\n
  3 unsorted: the score is higher than that of the result before; the results of 1 query are not
    sorted by score
  2 rank-order: rank 1 has score 1, but rank 2 has score 3 on line 3 (1 such pair in query 'q');
    trec_eval ranks by score
q\td\t1\nq\te\t2\nq\td\t3\n
  3 duplicate: duplicate document 'd' in query 'q': score -3, but -1 on line 1; trec_eval stops at
    this query
qid,docno,rank\nq,d,1\nq,e,x\n => 3 malformed: column 'rank': expected a rank, found 'x'
  3 bad-rank: rank 'x' is not an integer
{"qid": "q", "docid": "d", "score": "0.5"}\n{"qid": "p", "docid": "-1", "score": null}\n
  1 bad-score: score "'0.5'" of document 'd' is not a number
  2 bad-score: score of document '-1' is missing
  2 padding: document -1, with which faiss pads results if it finds too few
[{"qid": "q", "docid": "d", "score": 2}, {"qid": "q", "docid": "d", "score": 1}]
  - duplicate: record 2: duplicate document 'd' in query 'q': score 1, but 2 on record 1;
    trec_eval stops at this query
{"q": {"q": Infinity, "e": "x"}} => - bad-score: item 1: score "'x'" of document 'e' is not a number
  - infinite-score: item 0: score 'inf' of document 'q' is infinite; all such scores tie
  - self-match: item 0: document 'q' has the id of its query; BEIR removes such results,
    trec_eval does not
{"q": {"d": 1}, } => 1 malformed: Expecting property name enclosed in double quotes at column 17
{"q": {"d": 1, "e} => 1 malformed: Unterminated string starting at column 16
qid,docno\nq,d\n
  - malformed: no score column: found 'qid', 'docno', expected one of score, similarity, _score,
    retrieval_score, relevance_score, prediction; or use read_run(..., columns={'score': NAME})
qid,docno,score\nq,d,1\nq,e\n => 3 malformed: expected 3 cells, as in the first line, found 2
[{"qid": "q", "docno": "d", "score": 1}, 5] => - malformed: record 2, expected an object, found int
query_id,doc_id,score\nq,,1\n => 2 malformed: column 'doc_id': expected an id, found a missing value
{"query_id": "q", "doc_id": "", "score": 1}\n
  1 malformed: column 'doc_id': expected an id, found an empty text
qid,docno,score\n => - no-results: the file has no results
qid,docno,score,tag\nq,d,2,a\nq,e,1,b\n
  - malformed: column 'tag': expected one run, found 2 systems, such as 'a' and 'b'; select the rows
    of one, or give all rows one new tag: fr.read_run(..., tag=NAME)
  3 several-tags: tag 'b', but 'a' on line 2 (2 tags in total); does the file contain several runs?
""")


@pytest.mark.parametrize("case", RUNS, ids=lambda case: case[0])
def test_what_is_wrong_with_a_run_is_said_with_its_place(case):
    text, *expected = case

    found = [
        f"{line or '-'} {kind}: {message}"
        for kind, line, message in told(check(None, unescaped(text)))
    ]

    assert sorted(found) == sorted(expected)


# Judgments, likewise.
JUDGMENTS = cases(r"""
query-id\tcorpus-id\tscore\nq\td\tyes\n
  2 bad-grade: grade 'yes' of document 'd' is not a number;
    write 1 for yes and 0 for no
query-id\tcorpus-id\tscore\nq\td\t1\nq\td\t2\n
  3 conflicting-grades: duplicate document 'd' in query 'q': grade 2, but 1 on line 2; trec_eval
    stops at this query
{"q": {"d": -1}, "p": {"d": 1}}
  - all-negative: item 0: all judgments of query 'q' are negative; trec_eval stops with status 4 if
    this is the first query evaluated, and may crash otherwise
query_id,doc_id,grade\nq,a,1\np,a,1\nq,b,1\n
  4 scattered: query 'q' continues after other queries; it starts on line 2, and its lines are in 2
    separate blocks
query_id,doc_id,grade\nq\xff,a,1\n => 2 invalid-utf8: bytes that are not UTF-8
""")


@pytest.mark.parametrize(("text", "expected"), JUDGMENTS)
def test_what_is_wrong_with_judgments_is_said_with_its_place(text, expected):
    found = [f"{f.line or '-'} {f.kind}: {f.message}" for f in check(unescaped(text))]
    kind = expected.split()[1]

    assert [own for own in found if own.split()[1] == kind] == [expected]


def test_a_parquet_file(tmp_path):
    """Its rows are counted from 0."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = {"qid": [1, 1, 1], "docno": ["a", "b", "a"], "score": [0.5, float("nan"), 0.25]}
    parquet.write_table(pyarrow.table(table), tmp_path / "run.parquet")

    assert [finding[1:] for finding in told(fr.check(None, str(tmp_path / "run.parquet")))] == [
        (None, "row 1: score 'nan' of document 'b' is NaN, by which documents cannot be ranked"),
        (
            None,
            "row 2: duplicate document 'a' in query '1': score 0.25, but 0.5 on row 0;"
            " trec_eval stops at this query",
        ),
    ]


def test_decimal_numbers_of_a_parquet_file_are_numbers(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    numbers = pyarrow.array([2, 1], pyarrow.decimal128(5, 2))
    table = pyarrow.table({"qid": ["q", "q"], "docno": ["a", "b"], "score": numbers})
    parquet.write_table(table, tmp_path / "run.parquet")

    assert told(fr.check(None, str(tmp_path / "run.parquet"))) == []


def test_the_error_of_the_reader_is_told_beside_those_of_the_match():
    run, qrels = b"query_id,doc_id,score\nq1,,3\n", b"q1 0 d1 1\n"

    kinds = [finding.kind for finding in fr.check(io.BytesIO(qrels), io.BytesIO(run))]

    assert kinds[:2] == ["malformed", "no-judged-document"]


def test_a_run_beside_judgments_of_another_format():
    report = check(BEIR, b'{"q1": {"D1": 1}, "Q2": {"d2": 1}}')
    assert {(f.kind, f.message.partition("item ")[2][3:]) for f in report if f.file == "run"} >= {
        ("similar-query", "query 'Q2' has no judgments; did you mean 'q2' (qrels:3)?")
    }
    report = check(b'{"q": {"a": 1, "b": 0}}', b"q Q0 A 1 1 t\nq Q0 b 2 0.5 t\n")
    assert [f.message for f in report if f.kind == "similar-document"] == [
        "document 'A' of query 'q' is not judged; did you mean 'a' (qrels, item 0)?"
    ]


@pytest.mark.parametrize(
    "run",
    [
        b'{"q": {}, "p": {"a": 1.0}}',
        b'[{"hits": {"hits": []}, "query_id": "q"},'
        b' {"hits": {"hits": [{"_id": "a", "_score": 1}]}, "query_id": "p"}]',
        b'{"q": {}, "x": {"a": 1.0}}',
    ],
)
def test_a_query_without_results_is_not_missing(run):
    report = check(b"q 0 a 1\np 0 a 1\n", run)

    assert {f.message for f in report if f.query == "q"} == {
        "judged query 'q' (qrels:1) has no results in the run; it counts as 0"
    }
    assert "no-common-query" not in {f.kind for f in report}


# --- the same rows in every format ---

IDS = st.sampled_from(["q", "p", "Q", "d1", "D1", "-1", "é"])
SCORES = st.sampled_from([1.0, 0.5, 0.5 + 1e-9, 2.0, float("inf"), float("nan")])


def _csv(rows: list[tuple[str, str, int, float]]) -> bytes:
    lines = ["qid,docno,rank,score,tag"]
    return "\n".join(lines + [f"{q},{d},{r},{s!r},t" for q, d, r, s in rows]).encode() + b"\n"


def _jsonl(rows: list[tuple[str, str, int, float]]) -> bytes:
    return b"".join(
        json.dumps({"qid": q, "docno": d, "rank": r, "score": s, "tag": "t"}).encode() + b"\n"
        for q, d, r, s in rows
    )


@pytest.mark.parametrize(("write", "header"), [(_csv, 1), (_jsonl, 0)])
@given(
    rows=st.lists(st.tuples(IDS, IDS, st.integers(1, 4), SCORES), min_size=1, max_size=12),
    judged=st.lists(st.tuples(IDS, IDS, st.integers(-1, 2)), min_size=1, max_size=6),
)
@examples(100)
def test_the_findings_are_those_of_the_same_rows_in_a_trec_file(write, header, rows, judged):
    def findings(qrels: bytes, run: bytes, skip: int) -> list[Any]:
        def shown(finding: Finding) -> tuple[str, int | None, str | None, str | None]:
            line = finding.line
            return finding.kind, line and line - skip, finding.query, finding.document

        report = check(qrels, run, max_per_kind=100)
        return sorted(
            (shown(f) for f in report if f.file == "run" and f.kind != "other-format"), key=str
        )

    qrels = "".join(f"{q} 0 {d} {grade}\n" for q, d, grade in judged).encode()
    trec = "".join(f"{q} Q0 {d} {rank} {score!r} t\n" for q, d, rank, score in rows).encode()

    assert findings(qrels, write(rows), header) == findings(qrels, trec, 0)


@given(
    rows=st.lists(
        st.tuples(IDS, IDS, st.sampled_from(["1", "x", "", "1_0", "0x1", "1e5", "nan", "1,5"])),
        min_size=1,
        max_size=5,
    )
)
@examples(200)
def test_what_the_reader_refuses_is_an_error(rows):
    content = b"qid\tdocno\tscore\n" + "".join("\t".join(row) + "\n" for row in rows).encode()
    try:
        fr.read_run(io.BytesIO(content))
    except FastrankError:
        assert check(None, content).total("error")


def test_the_format_can_be_given():
    assert [f.kind for f in check(b"q\td\t1\n", input_format="trec")] == ["malformed", "no-results"]
    assert "other-format" in {f.kind for f in check(b"q\td\t1\n")}
    with pytest.raises(FastrankError, match=r"format: expected one of trec, .*, found 'xml'"):
        check(b"", input_format="xml")


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write({"qrels.tsv": BEIR, "run.json": '{"q1": {"d1": 1}, "q2": {"d2": "x"}}'})

    found = fastrank("check --ignore other-format,no-relevant qrels.tsv run.json")

    assert found.status == 1
    assert found.out.splitlines() == [
        "run.json: error: item 1: score \"'x'\" of document 'd2' is not a number [bad-score]",
        "",
        "qrels.tsv: 3 lines, 2 judgments, 2 queries, 2 documents",
        "run.json: 2 results, 2 queries, 2 documents",
        "  error    bad-score: 1",
        "1 error, 0 warnings, 0 notes",
    ]
    found = fastrank("check --input-format trec --no-qrels qrels.tsv")
    assert (found.status, "[malformed]" in found.out) == (1, True)


def test_a_lone_surrogate_without_results_is_an_error():
    (found,) = told(check(None, b'{"\\ud800": {}, "q": {"d": 1.0}}'))
    assert "expected an id, found a lone surrogate" in found[2]
