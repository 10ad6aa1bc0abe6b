"""Every form of judgments and of a run: what the readers make of it, and that `check` agrees."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastrank as fr
from fastrank import FastrankError
from fastrank.analysis.gating.baseline import read_baseline
from fastrank.core.formats.inputs import as_qrels, as_run
from fastrank.core.formats.tables.roles import names_of
from fastrank.core.formats.trec.line_files import read_clusters, read_exclusions
from tests.helpers.commands import fastrank, printed
from tests.helpers.tables import cases

QRELS = {"q1": {"d1": 1, "d2": 1}, "q2": {"d3": 1}}
RUN = {"q1": {"d2": -1.0, "d1": -2.0}, "q2": {"d3": -1.0}}
COLUMNS: dict[str, list[Any]] = {"query": ["q1", "q1", "q2"], "doc": ["d1", "d2", "d3"]}
JUDGED = COLUMNS | {"grade": [1, 1, 1]}
RANKED = COLUMNS | {"doc": ["d2", "d1", "d3"], "score": [-1.0, -2.0, -1.0]}


def records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def saved(path: Path, columns: dict[str, list[Any]], *, folder: bool) -> str:
    """A file of a stream in Arrow's format, or the folder that save_to_disk writes."""
    table = pa.table(columns)
    with pa.ipc.new_stream(str(path / "data-00000-of-00001.arrow"), table.schema) as stream:
        stream.write_table(table)
    files = [{"filename": "data-00000-of-00001.arrow"}]
    (path / "state.json").write_text(json.dumps({"_data_files": files}))
    return str(path if folder else path / "data-00000-of-00001.arrow")


IN_MEMORY: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "list of dicts": records,
    "tuple of dicts": lambda columns: tuple(records(columns)),
    "generator of dicts": lambda columns: (row for row in records(columns)),
    "dict of lists": lambda columns: columns,
    "dict of arrays": lambda columns: {name: np.array(own) for name, own in columns.items()},
    "tuple of columns": lambda columns: tuple(map(np.array, columns.values())),
    "pandas": pd.DataFrame,
    "pandas, odd index": lambda columns: pd.DataFrame(columns, index=[7, 7, "x"]),
    "polars": pl.DataFrame,
    "LazyFrame": pl.LazyFrame,
    "Arrow table": pa.table,
    "record batch": pa.RecordBatch.from_pydict,
}
WRITERS: dict[str, Callable[[Path, dict[str, list[Any]]], Any]] = {
    "JSONL": lambda path, own: path.write_text("\n".join(map(json.dumps, records(own)))),
    "JSON": lambda path, own: path.write_text(json.dumps(records(own))),
    "data in JSON": lambda path, own: path.write_text(json.dumps({"data": records(own)})),
    "columns in JSON": lambda path, own: path.write_text(json.dumps(own)),
    "to_json": lambda path, own: pd.DataFrame(own).to_json(path),
    "to_json, split": lambda path, own: pd.DataFrame(own).to_json(path, orient="split"),
    "parquet": lambda path, own: pq.write_table(pa.table(own), path),
    "feather": lambda path, own: pd.DataFrame(own).to_feather(path),
    "CSV": lambda path, own: pd.DataFrame(own).to_csv(path, index=False),
    "CSV with an index": lambda path, own: pd.DataFrame(own).to_csv(path),
    "TSV": lambda path, own: pd.DataFrame(own).to_csv(path, index=False, sep="\t"),
}


@pytest.mark.parametrize("form", IN_MEMORY)
def test_forms_in_memory_are_judgments_and_runs(form):
    make = IN_MEMORY[form]

    assert as_qrels(make(JUDGED)).to_dict() == QRELS
    assert as_run(make(RANKED)).to_dict() == RUN
    assert fr.evaluate(make(JUDGED), make(RANKED), "map").mean == {"map": 1.0}


@pytest.mark.parametrize("form", WRITERS)
def test_files_of_every_form_are_read_and_checked(form, tmp_path):
    for name, columns in (("qrels", JUDGED), ("run", RANKED)):
        WRITERS[form](tmp_path / name, columns)

    assert fr.read_qrels(tmp_path / "qrels").to_dict() == QRELS
    assert fr.read_run(tmp_path / "run").to_dict() == RUN
    assert fr.check(tmp_path / "qrels", tmp_path / "run").total("error") == 0


@pytest.mark.parametrize("folder", [True, False])
def test_what_hugging_face_saves_is_read(folder, tmp_path):
    assert fr.read_qrels(saved(tmp_path, JUDGED, folder=folder)).to_dict() == QRELS


# Lists of documents: judgments of grade 1, or a ranking as given


LISTED = r"""
{"q1": ["d1", "d2"], "q2": ["d3"]}
{\n"q1": ["d1", "d2"],\n"q2": ["d3"]\n}\n
{"q1": ["d1", "d2"], "q2": {"d3": 1}}
{"query": "q1", "relevant": ["d1", "d2"]}\n{"query": "q2", "relevant": ["d3"]}\n
{"query": "q1", "doc": ["d1", "d2"]}\n{"query": "q2", "doc": ["d3"]}\n
{"query": "q1", "relevant": {"d1": 1, "d2": 1}}\n{"query": "q2", "relevant": {"d3": 1}}\n
{"qid": "q1", "query": "?", "positives": ["d1", "d2"]}\n{"qid": "q2", "query": "?", "positives": ["d3"]}
{"id": "q1", "query": "?", "gold": [{"id": "d1"}, {"id": "d2"}]}\n{"id": "q2", "query": "?", "gold": [{"id": "d3"}]}
{"query": ["q1", "q2"], "relevant": [["d1", "d2"], ["d3"]]}
{"q1": [{"node": {"id_": "d1"}, "score": 1}, {"node": {"id_": "d2"}, "score": 1}], "q2": ["d3"]}
{"user_input": "q1", "reference_context_ids": ["d1", "d2"]}\n{"user_input": "q2", "reference_context_ids": ["d3"]}\n
{"queries": {"q1": "?"}, "corpus": {}, "relevant_docs": {"q1": ["d1", "d2"], "q2": ["d3"]}}
query-id,corpus-id\nq1,d1\nq1,d2\nq2,d3\n
query_id,title,doc_id\nq1,A,d1\nq1,B,d2\nq2,C,d3\n
1 qid:q1 1:0.5 # d1\n1 qid:q1 1:0.1 #docid = d2 inc = 1\n1 qid:q2 # d3\n
query_id    doc_id  rating  ignore\nq1\td1\t1\t-\nq1\td2\t1\t-\nq2\td3\t1\t-\n
Query Text,Doc ID,Rating\nq1,d1,1\nq1,d2,1\nq2,d3,1\n
search_term,product_id,judgment\nq1,d1,1\nq1,d2,1\nq2,d3,1\n
user_id,item_id,rating\nq1,d1,1\nq1,d2,1\nq2,d3,1\n
query_number,doc_number,is_relevant\nq1,d1,1\nq1,d2,1\nq2,d3,1\n
"""  # noqa: E501
RANKINGS = r"""
{"q1": ["d2", "d1"], "q2": ["d3"]}
{"query": "q1", "retrieved": ["d2", "d1"]}\n{"query": "q2", "retrieved": ["d3"]}\n
{"query": "q1", "results": {"d2": -1, "d1": -2}}\n{"query": "q2", "results": {"d3": -1}}\n
{"q": "q1", "hits": [{"_id": "d2", "score": -1}, {"_id": "d1", "score": -2}]}\n{"q": "q2", "hits": [{"_id": "d3", "score": -1}]}
[{"query": "q1", "results": [["d2", -1], ["d1", -2]]}, {"query": "q2", "results": [["d3", -1]]}]
{"q1": [{"id": "d1", "score": -2}, {"document": {"id": "d2", "score": 7}, "score": -1, "id": "h1"}], "q2": [["d3", -1]]}
{"q1": [[{"id": "d2"}, -1], [{"id": "d1"}, -2]], "q2": ["d3"]}
{"query": "q1", "response": {"hits": {"hits": [{"_id": "d2", "_score": -1}, {"_id": "d1", "_score": -2}]}}}\n{"query": "q2", "response": {"hits": {"hits": [{"_id": "d3", "_score": -1}]}}}
sep=,\nquery,docs,score\nq1,d2,-1\nq1,d1,-2\nq2,d3,-1\n
{"user_input": "q1", "retrieved_context_ids": ["d2", "d1"]}\n{"user_input": "q2", "retrieved_context_ids": ["d3"]}
{"qid": "q1", "docs": ["d2", "d1"], "scores": [-1, -2]}\n{"qid": "q2", "docs": ["d3"], "scores": [-1]}
Snapshot Name,Case ID,Query Text,Doc ID,Doc Position\nS,1,q1,d2,1\nS,1,q1,d1,2\nS,1,q2,d3,1\n
user_id,item_id,prediction\nq1,d2,-1\nq1,d1,-2\nq2,d3,-1\n
"""  # noqa: E501


def source_of(text: str) -> io.BytesIO:
    return io.BytesIO(text.replace(r"\n", "\n").replace(r"\t", "\t").encode())


@pytest.mark.parametrize("text", LISTED.strip().splitlines())
def test_judgments_without_grades_and_by_other_names(text):
    assert fr.read_qrels(source_of(text)).to_dict() == QRELS
    assert fr.check(source_of(text)).total("error") == 0


@pytest.mark.parametrize("text", RANKINGS.strip().splitlines())
def test_runs_as_lists_and_by_other_names(text):
    assert fr.read_run(source_of(text)).to_dict() == RUN
    assert fr.check(None, source_of(text)).total("error") == 0


def test_parquet_and_frames_with_lists(tmp_path):
    judged = {"query_id": ["q1", "q2"], "relevant_docs": [["d1", "d2"], ["d3"]]}
    ranked = {"query_id": ["q1", "q2"], "retrieved": [["d2", "d1"], ["d3"]]}
    graded = judged | {"relevant_docs": list(QRELS.values())}
    pq.write_table(pa.table(judged), tmp_path / "lists.parquet")
    pq.write_table(pa.table(graded), tmp_path / "objects.parquet")

    for name in ("lists", "objects"):
        assert fr.read_qrels(tmp_path / f"{name}.parquet").to_dict() == QRELS
    for make in (pa.table, pd.DataFrame, lambda columns: pl.from_arrow(pa.table(columns))):
        assert as_qrels(make(judged)).to_dict() == as_qrels(make(graded)).to_dict() == QRELS
        assert as_run(make(ranked)).to_dict() == RUN
        assert as_run(make(ranked | {"retrieved": list(RUN.values())})).to_dict() == RUN


def test_named_levels_of_an_index_are_columns():
    """What groupby and set_index make of them."""
    frame = pd.DataFrame(RANKED)

    for levels in ("query", ["query", "doc"]):
        assert as_run(frame.set_index(levels)).to_dict() == RUN
    assert as_run(frame.groupby("query").agg(list)).to_dict() == RUN
    assert as_run(frame.rename_axis("q")).to_dict() == RUN


def test_a_part_of_an_object_is_judgments_but_no_run():
    whole = {"queries": {"q": "?"}, "corpus": {}, "relevant_docs": {"q1": ["d1"]}}

    assert fr.evaluate(whole, RUN, "map").mean == {"map": 0.5}
    with pytest.raises(FastrankError, match="'relevant_docs' is a part of the files of some tools"):
        fr.evaluate(QRELS, whole, "map")


NUMBERS = [*names_of("score"), "scores", "similarities", "relevance_scores", "predictions"]


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_beside_lists_have_the_names_of_columns(name):
    ranked = {"query_id": ["q"], "retrieved": [["x", "a"]], name: [[0.1, 0.9]]}
    judged = {"query_id": ["q"], "relevant_docs": [["a", "x"]], "scores": [[1, 0]]}

    for make in (pa.table, pd.DataFrame, pl.DataFrame, dict, records):
        assert as_run(make(ranked)).to_dict() == {"q": {"x": 0.1, "a": 0.9}}
        assert as_qrels(make(judged)).to_dict() == {"q": {"a": 1, "x": 0}}


@pytest.mark.parametrize("name", ["score", "scores", "relevance_score", "relevance_scores"])
def test_scores_beside_a_ranking_are_not_those_of_the_judgments(name):
    row = {"query": "q", "expected_ids": ["a", "b"], "retrieved_ids": ["x", "a"], name: [0.1, 0.9]}

    for rows in ([row], pd.DataFrame([row])):
        assert as_qrels(rows).to_dict() == {"q": {"a": 1, "b": 1}}
        assert as_run(rows).to_dict() == {"q": {"x": 0.1, "a": 0.9}}


def test_documents_without_a_list_of_grades_are_not_judged():
    judged = {"query_id": "q", "relevant_docs": ["a"], "grades": [2]}
    unjudged = {"query_id": "r", "relevant_docs": ["a", "b"], "grades": None}

    with pytest.warns(UserWarning, match="left out") as notes:
        assert as_qrels([judged, unjudged]).to_dict() == {"q": {"a": 2}}

    assert "2 documents without a rating left out" in str(notes[0].message)


OBJECTS = [{"id": "x", "rank": 2, "score": 9}, {"id": "a", "rank": 1, "score": 8}]


@pytest.mark.parametrize("name", ["rank", "ranks", "position", "positions"])
def test_ranks_in_lists_order_the_documents(name):
    """By default if there are no scores."""
    row = {"query_id": "q", "retrieved": ["x", "a"], name: [2, 1]}
    scored = {"query_id": "q", "results": OBJECTS}
    best = {"rank": "a", "score": "x", "given": "x"}

    for rank_by, first in best.items():
        for run, top in (([row], "x" if rank_by == "given" else "a"), ([scored], first)):
            values = fr.evaluate({"q": [top]}, run, "RR", rank_by=rank_by)
            assert values.mean == {"RR": 1.0}
    listed: Any = {"q": OBJECTS}
    assert fr.evaluate({"q": ["a"]}, listed, "RR", rank_by="rank").mean == {"RR": 1.0}
    assert fr.evaluate({"q": ["x"]}, listed, "RR").mean == {"RR": 1.0}


# Grades that are missing


@pytest.mark.parametrize("form", [*IN_MEMORY, *WRITERS])
@pytest.mark.parametrize("name", ["rating", "grade", "judgment"])
def test_what_has_no_grade_is_left_out_with_a_count(name, form, tmp_path):
    missing = float("nan") if form in ("dict of arrays", "tuple of columns") else None
    columns = {"query": ["q", "q", "q"], "doc": ["a", "b", "c"], name: [1, missing, 0]}
    given = str(tmp_path / "qrels")
    if form in WRITERS:
        WRITERS[form](Path(given), columns)

    with pytest.warns(UserWarning, match="1 row without a rating left out, the first is .* [1-3]"):
        qrels = as_qrels(given if form in WRITERS else IN_MEMORY[form](columns))
    assert qrels.to_dict() == {"q": {"a": 1, "c": 0}}


UNRATED = r"""
{"q": {"a": 1, "b": null}} => 1 document without a rating left out, such as 'b' of query 'q'
{"q": {"a": 1}, "r": {}} => 1 query without a rating left out, such as 'r'
{"q": ["a"], "r": []} => 1 query without a rating left out, such as 'r'
[{"q": "q", "gold": [{"id": "a", "grade": 1}, {"id": "b", "grade": null}]}] => 1 document without
[{"q": "q", "gold": ["a", "b"], "grades": [1, null]}] => 1 document without a rating left out
[{"q": "q", "gold": ["a"], "grade": 1}, {"q": "q", "gold": ["b"], "grade": null}] => 'b' of query
query,docid,rating\nr\nq,a,1\n => 1 row without a rating left out, the first is line 2
"""


@pytest.mark.parametrize(("text", "warning"), cases(UNRATED))
def test_what_nobody_judged_is_no_judgment(text, warning):
    with pytest.warns(UserWarning, match=warning):
        assert fr.read_qrels(source_of(text)).to_dict() == {"q": {"a": 1}}
    with pytest.warns(UserWarning, match=warning):
        assert fr.check(source_of(text)).total("error") == 0


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), pd.NA])
def test_a_missing_grade_in_a_dict_or_a_tuple_is_no_judgment(missing):
    forms: list[Any] = [{"q": {"a": 1, "b": missing}}, {"q": [("a", 1), ("b", missing)]}]
    for judged in (*forms, [("q", "a", 1), ("q", "b", missing)]):
        with pytest.warns(UserWarning, match="1 (document|row) without a rating left out"):
            assert as_qrels(judged).to_dict() == {"q": {"a": 1}}


def test_rows_without_any_cell_are_skipped():
    qrels = fr.read_qrels(source_of(r"qid,docno,label\nq,a,1\n,,\n , ,\n"))

    assert qrels.to_dict() == {"q": {"a": 1}}


def test_a_query_with_an_empty_list_has_no_results():
    run = {"q1": ["d1"], "q2": []}
    text = source_of(json.dumps([{"query": q, "retrieved": docs} for q, docs in run.items()]))

    for ranked in (run, fr.read_run(text)):
        assert fr.evaluate(QRELS, ranked, "recip_rank").mean == {"recip_rank": 0.5}


def test_a_ranking_as_given_is_best_first_whatever_scores_mean():
    for higher_is_better in (True, False):
        run = fr.Run.from_dict({"q": ["b", "a"]}, higher_is_better=higher_is_better)
        assert fr.evaluate({"q": {"b": 1}}, run, "recip_rank").mean == {"recip_rank": 1.0}


def test_queries_may_be_called_like_columns() -> None:
    for run in ({"hits": {"a": 1.0}, "id": {"a": 2.0}}, {"query": {"a": 1.0}, "doc": {"a": 2.0}}):
        assert fr.read_run(io.BytesIO(json.dumps(run).encode())).to_dict() == run
        several: Any = fr.evaluate({"id": {"a": 1}, "doc": {"a": 1}}, [run, run], "num_rel_ret")
        assert [scores.mean for scores in several] == [{"num_rel_ret": 1}] * 2


# What is wrong


WRONG = r"""
{"query": "q", "docs": ["a", "b"], "scores": [1]} => expected as many scores as documents, found 1
[{"q": "r", "docs": ["a"]}, {"q": "r", "docs": ["b"]}] => record 2, column 'docs': expected one list
[{"q": "r", "docs": ["a"]}, {"q": null, "docs": ["b"]}] => record 2, column 'q': expected an id
[{"q": "r", "docs": ["a"]}, {"q": "s", "docs": 5}] => record 2, column 'docs': expected a list
[{"q": "r", "docs": [{"text": "a"}]}] => 'docs': expected the id of a document, found text; call it
[{"q": "r", "docs": [["a", 1], "b"]}] => 'docs': document 'b' has no score, unlike others
q\td\t1.0\nq\te\t2.0\n => could be ranks or scores: found 1.0, and each is one more
q\td\t0.0\nq\te\t1.0\n => could be ranks or scores: found 0.0, and each is one more
q\td\t1.00\nq\te\t2.00\n => could be ranks or scores: found 1.00, and each is one more
q\td\t1e0\nq\te\t+2\n => could be ranks or scores: found 1e0, and each is one more
q\td\t0\nq\te\t1\n => the third column could be ranks or scores: expected rank 1
qid,docno,score,model\nq,a,2,x\nq,b,1,x\nq,a,2,y\nq,b,1,y\n => found 2 systems, such as 'x' and 'y'
qid,docno,score,retriever\nq,a,2,x\nq,a,1,y\n => column 'retriever': expected one run
qid,docno,score,tag,variant\nq,a,2,t,x\nq,a,1,t,y\n => column 'variant': expected one run, found 2
[{"q": 1, "hits": ["a"]}, {"q": 1, "hits": ["a"]}] => found a second; if they
query_id,results\nq,"{'a': 1}"\n => 'results': expected an id or a list, found an object that is
qid,docno,score,run_id\nq,a,2,x\nr,b,1,y\n => found 2 systems, such as 'x' and 'y'; select the rows
3 => :1: expected records or an object, found 3
NaN => :1: expected records or an object, found nan
[{"q": "r", "docs": [{"id": "a", "rank": 1}, {"id": "b", "rank": 1}]}] => 'a' and 'b' both have rank
[{"q": "r", "docs": [{"id": "a", "rank": "x"}]}] => document 'a': expected a rank, found 'x'
[{"q": "r", "docs": ["a", null]}] => 'docs': expected a document, found None
query_id,docs\nq,"['a', 'b']"\n => :2: column 'docs': expected an id or a list, found a list that is
query_id,doc_id,score\nq,"['a', 'b']",1\n => 'doc_id': expected an id or a list, found a list that
qid,docno,score\nq,a,"1,200"\n => expected a score, found '1,200': 1.200 or 1200? Write it without
qid,docno,score\nq,a,"1,200,300"\n => found '1,200,300': 1200300? Write it without commas
qid;docno;score\nq;d;1\n => the cells are separated by semicolons
qid;docno;score\nq;d;0,9\n => :2: the cells are separated by semicolons
q;d;0,9\n => :1: the cells are separated by semicolons
Snapshot Name,Query Text,Doc ID,Doc Position\nS,q,a,1\nT,q,a,1\n => 2 systems, such as 'S' and 'T'
qid,docno\nq,d\n => no score column
Runs of May,,\nqid,docno,score\nq,a,1\n => :2: this is the header; remove the lines above it
Runs of May\nqid,docno,score\nq,a,1\n => :2: this is the header; remove the lines above it
need,url,mark\nq,a,1\n => no columns for query, document, score: found 'need', 'url', 'mark'
{"query_id": ["q"], "url": ["d"], "score": [1]} => no document column: found 'query_id', 'url'
{"corpus": {}, "relevant_docs": {"q": ["d"]}} => expected run, found qrels in 'relevant_docs'
query,url,score\nq,a,1\n => no document column: found 'query', 'url', 'score'
"""


@pytest.mark.parametrize(("text", "reason"), cases(WRONG))
def test_what_is_wrong_with_a_run_is_told_with_its_place(text, reason):
    form = {"3": "json", "NaN": "json", "qid;": "csv", "q;d;": "csv"}.get(text[:4].strip())
    with pytest.raises(FastrankError) as caught:
        fr.read_run(source_of(text), form)
    assert reason in str(caught.value)
    report = fr.check(None, source_of(text), input_format=form)
    assert report.total("error") > 0


TABLE = "qid,docno,label\nq,d,1\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (TABLE.encode("utf-16"), "expected UTF-8, found UTF-16; "),
        (TABLE.encode("utf-16-le"), "expected UTF-8, found UTF-16LE; "),
        (TABLE.encode("utf-16-be"), "expected UTF-8, found UTF-16BE; "),
        (b"PK\x03\x04...", "this is a zip archive; unpack it first"),
        (b"7z\xbc\xaf\x27\x1c\0\4", "this is a 7z archive; unpack it first"),
        (b"Rar!\x1a\x07\1\0", "this is a RAR archive; unpack it first"),
        (b"a.run".ljust(257, b"\0") + b"ustar\0", "this is a tar archive; unpack it first"),
        (b"\x04\x22\x4d\x18d@", "this is compressed with lz4; unpack it first"),
        (b"\xff\x06\0\0sNaPpY", "this is compressed with snappy; unpack it first"),
        (b"\x1f\x9d\x90q", "this is compressed with compress (.Z); unpack it first"),
        (b"PK\x03\x04..[Content_Types].xml", "this is an Excel workbook: save it as CSV UTF-8"),
        (b"PK\x03\x04..docProps/app.xml", "this is an Excel workbook: save it as CSV UTF-8"),
        (b"\xd0\xcf\x11\xe0....", "this is an Excel workbook: save it as CSV UTF-8"),
        (b"PK\x03\x04..oasis.opendocument.spreadsheet", "this is a spreadsheet: save it as CSV"),
    ],
)
def test_other_encodings_and_archives_are_refused_by_every_reader(content, reason):
    readers = [fr.read_qrels, fr.read_run]
    readers += [partial(read, format=form) for read in readers for form in ("trec", "csv", "json")]
    of_lines = [read_clusters, read_exclusions, read_baseline, fr.read_plan, fr.read_candidates]
    for read in (*readers, *of_lines):
        with pytest.raises(FastrankError, match=re.escape(reason)):
            read(io.BytesIO(content))
    for form in (None, "trec", "csv", "json"):
        (finding,) = fr.check(io.BytesIO(content), input_format=form)
        assert (finding.line, finding.kind) == (1, "encoding")
        assert reason in finding.message


def test_scores_that_are_whole_floats_are_scores():
    assert fr.read_run(source_of(r"q\td\t9.0\nq\te\t7.0\n")).to_dict() == {"q": {"d": 9, "e": 7}}


@pytest.mark.parametrize("form", [*IN_MEMORY, *WRITERS])
def test_a_column_that_may_name_systems_is_noted(form, tmp_path):
    columns = RANKED | {"doc": ["a", "b", "a"], "model": ["x", "x", "y"]}
    given = str(tmp_path / "run")
    if form == "tuple of columns":
        pytest.skip("without names")
    if form in WRITERS:
        WRITERS[form](Path(given), columns)
    with pytest.warns(
        UserWarning, match="'x' and 'y'; does the table contain several runs"
    ) as notes:
        assert as_run(given if form in WRITERS else IN_MEMORY[form](columns)).tag == ""
    assert len(notes) == 1


def test_a_name_of_documents_is_no_system():
    frame = pd.DataFrame(RANKED | {"name": ["Shoe", "Boot", "Hat"], "model": ["A", "B", None]})

    assert as_run(frame).to_dict() == RUN


def test_a_missing_cell_is_named_alike_in_every_form():
    columns = {"qid": ["q", None], "docno": ["a", "b"], "score": [1.0, 2.0]}
    for form in ("list of dicts", "dict of lists", "polars", "Arrow table"):
        with pytest.raises(FastrankError, match=r"row 1 .*column 'qid': .*a missing value"):
            as_run(IN_MEMORY[form](columns))
    with pytest.raises(FastrankError, match=r"row 1 .*'doc_id': .*a missing value"):
        as_run([("q", "a", 2.0), ("q", None, 1.0)])


# The command line


def test_columns_are_named_on_the_command_line(tmp_path):
    qrels, run = tmp_path / "qrels.csv", tmp_path / "run.csv"
    qrels.write_text("search_term,sku_number,judge\nq,a,1\nq,b,0\n")
    run.write_text("search_term,sku_number,distance\nq,a,2\nq,b,1\n")
    files = (str(qrels), str(run))
    columns = ("--columns", "query=search_term,doc=sku_number,grade=judge,score=distance")

    for command in (("eval", *files, "-m", "map"), ("check", *files)):
        assert fastrank(*command, *columns).status == 0
    assert "map                   \tall\t1.0000" in printed("eval", *files, "-m", "map", *columns)
    of_runs = ("--columns", "query=search_term,doc=sku_number", "--columns", "score=distance")
    lines = printed("convert --kind run --format trec", *of_runs, files[1], "-").splitlines()
    assert [line.split() for line in lines] == [
        ["q", "Q0", "a", "1", "2.0", "-"],
        ["q", "Q0", "b", "2", "1.0", "-"],
    ]


def test_one_list_is_not_both_judgments_and_run(tmp_path):
    """One name of --columns counts for all files; two have roles of their own."""
    path = tmp_path / "both.jsonl"
    path.write_text('{"q": "q1", "found": ["x", "a"], "right": ["a"]}\n')
    files = ("-m", "RR", str(path), str(path))

    for name in ("found", "right"):
        assert "would be both" in fastrank("eval --columns", f"doc={name}", *files).err
    assert "1.0000" not in printed("eval --columns relevant=right,retrieved=found", *files)
    assert "0.5000" in printed("eval --columns relevant=right,retrieved=found", *files)


def test_columns_that_are_not_there_are_named(tmp_path):
    (path := tmp_path / "x.csv").write_text('query,"Doc, no",stars\nq,a,2\n')

    err = fastrank("convert --kind qrels --columns doc=doc", path, tmp_path / "y.csv").err
    assert "or 'doc', as in --columns doc=doc" in err
    assert "a role such as query, doc, grade" in fastrank("check --columns foo=x", path).err
    printed("convert --columns", "doc=Doc, no,grade=stars", path, tmp_path / "y.csv")
    assert fr.read_qrels(tmp_path / "y.csv").to_dict() == {"q": {"a": 2}}


def test_judgments_of_learning_to_rank_are_converted(tmp_path):
    (path := tmp_path / "x.txt").write_text("3 qid:1 # 11 star wars\n")

    printed("convert", path, tmp_path / "y.csv")
    assert fr.read_qrels(tmp_path / "y.csv").to_dict() == {"1": {"11": 3}}


def test_errors_on_the_command_line_name_its_options(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("query,url,grade\nq,a,1\n")

    refused = fastrank("eval", path, path)

    assert refused.status == 2
    assert refused.err.endswith("or set --columns doc=NAME\n")
    refused = fastrank("eval -m map --columns document=url,tag=x", str(path), str(path))
    assert (refused.out, "no table has the columns 'x'" in refused.err) == ("", True)
    assert "one column for doc" in fastrank("eval --columns doc=url,doc=x", path, path).err


def test_queries_with_blanks_are_named_by_numbers(tmp_path):
    """The same ones in judgments and runs."""
    qrels, run, ids = tmp_path / "qrels.csv", tmp_path / "run.csv", tmp_path / "ids.tsv"
    qrels.write_text("Query Text,Doc ID,Rating\nred shoes,p1,2\nblue hat,p2,1\n")
    run.write_text("Query Text,Doc ID,Doc Position\nblue hat,p2,1\nnew one,p2,1\n")
    target = tmp_path / "target"

    refused = fastrank("convert --format trec", qrels, target)
    assert "query 'red shoes': " in refused.err
    assert "`fastrank convert --number-queries` names" in refused.err
    printed("convert --format trec --number-queries", ids, qrels, target)
    assert target.read_text() == "1 0 p1 2\n2 0 p2 1\n"
    printed("convert --format trec --number-queries", ids, run, target)
    assert fr.read_run(target).to_dict() == {"2": {"p2": -1.0}, "3": {"p2": -1.0}}
    assert ids.read_text() == "number\tquery\n1\tred shoes\n2\tblue hat\n3\tnew one\n"


def test_numbers_of_queries_go_on_after_the_largest(tmp_path):
    run, ids = tmp_path / "run.json", tmp_path / "ids.tsv"
    run.write_text('{"b b": {"x": 1}, "c c": {"x": 1}, "d d": {"y": 1}}')
    ids.write_text("number\tquery\n2\tb b\n3\tc c\n")

    printed("convert --kind run --format trec --number-queries", ids, run, tmp_path / "target")
    assert [*fr.read_run(tmp_path / "target")] == ["2", "3", "4"]

    for wrong in ("3", "x"):
        ids.write_text(f"number\tquery\n{wrong}\tb b\n3\tc c\n")
        refused = fastrank("convert --kind run --format trec --number-queries", ids, run, "target")
        assert "expected a number for each query, no two of which are equal" in refused.err


def test_a_handful_of_documents_is_a_sign_of_exchanged_columns(tmp_path):
    """A file of query, document, type and grade has as many fields as one of TREC's."""
    path, target = tmp_path / "x.qrels", tmp_path / "y.csv"
    lines = [f"q{n // 5}\td{n}\t{'ABC'[n % 3]}\t1\n" for n in range(40)]
    path.write_text("".join(lines))

    assert "looks like `query doc type grade`" in fastrank("convert", path, target).err
    assert "exchanged-columns" in {finding.kind for finding in fr.check(path)}
    path.write_text("".join(lines[:20]))
    assert fastrank("convert", path, target).err == ""
