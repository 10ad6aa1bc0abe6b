"""Files of every format: what is read, what is written, and what is refused."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fastrank as fr
from fastrank import Qrels, Run
from fastrank.errors import EvaluationError, FormatError, InputError
from tests.helpers.commands import fastrank, printed
from tests.helpers.compression import PACKERS, UNPACKERS, Standard
from tests.helpers.parsing import read_trec_qrels, read_trec_run, write_trec_qrels
from tests.helpers.paths import DATA
from tests.helpers.strategies import contents, exactly, many
from tests.helpers.tables import cases

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FORMATS = ["trec", "csv", "tsv", "json", "jsonl", "parquet"]
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file; its path."""

    def make(content: str | bytes, name: str = "file") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def text_of(escaped: str) -> str:
    """A text of a table, in which line ends and tabs are escaped."""
    return escaped.replace(r"\n", "\n").replace(r"\r", "\r").replace(r"\t", "\t")


def read_qrels(content: str | bytes, **options: Any) -> fr.Qrels:
    content = content if isinstance(content, bytes) else content.encode()
    return fr.read_qrels(io.BytesIO(content), **options)


def read_run(content: str | bytes, **options: Any) -> fr.Run:
    content = content if isinstance(content, bytes) else content.encode()
    return fr.read_run(io.BytesIO(content), **options)


# Round trips


class Noun(NamedTuple):
    """Judgments or runs: how they are made, written and read, and the numbers in them."""

    make: Callable[..., Any]
    write: Callable[..., None]
    read: Callable[..., Any]
    numbers: st.SearchStrategy[Any]
    options: dict[str, str]


NOUNS = {
    "qrels": Noun(
        Qrels.from_dict, fr.write_qrels, fr.read_qrels, st.integers(-(2**63), 2**63 - 1), {}
    ),
    "run": Noun(
        Run.from_dict, fr.write_run, fr.read_run, st.floats(allow_nan=False), {"tag": "a,b"}
    ),
}
BLANKS = ["Cs", "Cc", "Zs", "Zl", "Zp"]
words = st.text(st.characters(exclude_categories=BLANKS), min_size=1, max_size=5)
texts = words | st.sampled_from(
    ['"', ",", '","', "a\tb", "a b", "a\nb", "a\r\nb", "a\rb", "\r", "", "'", "é", "#", "\\"]
)
# A byte order mark at the start of a TREC file is no part of its first id.
IDS = {
    "trec": words.filter(lambda text: text[0] != "\ufeff"),
    **dict.fromkeys(("csv", "tsv", "jsonl"), texts.filter(bool)),
    **dict.fromkeys(("json", "parquet"), texts),
}
UNUSED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", NOUNS)
@given(data=st.data())
@settings(max_examples=many(25), deadline=None, suppress_health_check=UNUSED)
def test_what_is_written_comes_back_as_it_was(form, kind, data, tmp_path):
    make, save, load, numbers, options = NOUNS[kind]
    docs = st.dictionaries(IDS[form], numbers, min_size=1, max_size=4)
    given = data.draw(st.dictionaries(IDS[form], docs, min_size=1, max_size=3))
    noun = make(given, **options)
    path = tmp_path / f"file.{form}"
    save(noun, path, form)
    back = load(path, form)
    assert exactly(contents(back)) == exactly(contents(noun))
    if kind == "run":
        assert back.tag == ("" if form == "json" else "a,b")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", NOUNS)
def test_formats_and_compressions_are_told_from_names_and_contents(form, kind, tmp_path):
    """Each by each. The second file has no name that says anything. Iterations are kept."""
    make, save, load, _, options = NOUNS[kind]
    grades = {f"d{doc}": doc % 2 + (0.25 if kind == "run" else 0) for doc in range(300)}
    nouns = [make({"2": grades, "1": grades}, **options)]
    if kind == "qrels" and form != "json":
        nouns.append(read_qrels(b"q g1 d 1\nq g2 e 0\n"))
    for noun in nouns:
        save(noun, tmp_path / f"plain.{form}")
        plain = (tmp_path / f"plain.{form}").read_bytes()
        for ending in PACKERS:
            path = tmp_path / f"file.{form}{ending}"
            save(noun, path)
            packed = path.read_bytes()
            if ending:
                assert UNPACKERS[ending](packed) == plain != packed
            (tmp_path / "unnamed").write_bytes(packed)
            for file in (path, tmp_path / "unnamed", io.BytesIO(packed)):
                assert contents(load(file)) == contents(noun)


def test_tables_have_a_column_of_iterations_or_tags_only_if_there_are_any(tmp_path):
    path = tmp_path / "x.csv"
    for lines, text in (
        (b"q 0 d 1\n", b"query_id,doc_id,relevance\nq,d,1\n"),
        (b"q g d 1\n", b"query_id,doc_id,relevance,iteration\nq,d,1,g\n"),
    ):
        fr.write_qrels(read_qrels(lines), path)
        assert path.read_bytes() == text
    for tag, text in (("", b"query_id,doc_id,score\n"), ("t", b"query_id,doc_id,score,tag\n")):
        fr.write_run(Run.from_dict({"q": {"d": 1}}, tag=tag), path)
        assert path.read_bytes().startswith(text)


@pytest.mark.parametrize("query", ['{"q"', "[}q", '{"q":1', '["a",', '{"q":"d",', "{}"])
def test_trec_files_whose_queries_begin_like_json_read_back(query, tmp_path):
    run, qrels = {query: {"d1": 1.5, "d2": 1.0}}, {query: {"d1": 1, "d2": 0}}
    fr.write_run(Run.from_dict(run), tmp_path / "x.run")
    fr.write_qrels(Qrels.from_dict(qrels), tmp_path / "x.qrels")
    assert fr.read_run(tmp_path / "x.run").to_dict() == run
    assert fr.read_qrels(tmp_path / "x.qrels").to_dict() == qrels
    assert fr.evaluate(tmp_path / "x.qrels", tmp_path / "x.run", "map").mean == {"map": 1.0}


def test_ids_of_files_stay_exact(tmp_path, write):
    """Large integers of parquet and JSONL, and leading zeros."""
    grades = {str(2**53 + 1): 1, str(2**53): 2, str(2**63 - 1): 3}
    columns = {"qid": [1] * 3, "docno": list(map(int, grades)), "label": list(grades.values())}
    pq.write_table(pa.table(columns), tmp_path / "q.parquet")
    lines = [f'{{"qid": 1, "docno": {doc}, "label": {own}}}\n' for doc, own in grades.items()]
    for path in (tmp_path / "q.parquet", write("".join(lines), "q.jsonl")):
        assert fr.read_qrels(path).to_dict() == {"1": grades}
    assert fr.read_qrels(write("007,0010,1\n", "q.csv")).to_dict() == {"007": {"0010": 1}}


# What others write; some lines of JSON have as many fields as TREC's formats


JUDGED = r"""
q1 0 d1 1\nq1 0 d2 0\n
query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n
q1\td1\t1\nq1\td2\t0\n
q1\t0\td1\t1\nq1\t0\td2\t0\n
q1,d1,1\nq1,d2,0\n
BOMqid,docno,label\r\nq1,d1,1\r\nq1,d2,0\r\n
"query_id","doc_id","relevance"\n"q1","d1","1"\n"q1","d2","0"\n
query,q0,docid,rel\nq1,0,d1,1.0\nq1,0,d2,0\n
{"q1": {"d1": 1, "d2": 0}}
{\n "q1": {\n  "d1": 1,\n  "d2": 0\n }\n}\n
{"q1": {"d1": 1 , "d2": 0}}
{"q1": \n{"d1" : 1 , "d2" :\n 0}}
{"q1": { "d1" : 1 ,\n "d2": 0 } }
{"qid": "q1", "docno": "d1", "label": 1}\n{"qid": "q1", "docno": "d2", "label": 0}\n
[{"qid": "q1", "docno": "d1", "label": 1}, {"qid": "q1", "docno": "d2", "label": 0}]
"""
RETRIEVED = r"""
7 Q0 b 1 2.5 t\n7 Q0 a 2 0.5 t\n
7\tb\t2.5\n7\ta\t0.5\n
7,b,2.5\n7,a,0.5\n
q_id,doc_id,score\n7,b,2.5\n7,a,0.5\n
qid\tdocno\trank\tscore\n7\tb\t1\t2.5\n7\ta\t2\t5e-1\n
{"7": {"b": 2.5, "a": 0.5}}
{"7": {"b": 2.5 , "a": 0.5}}
{"7": \n{"b" : 2.5 , "a" : \n0.5}}
{"7": { "b" : 2.5 ,\n "a": 0.5 } }
{"qid": 7, "docno": "b", "score": 2.5}\n{"qid": 7, "docno": "a", "score": 0.5}\n
"""


@pytest.mark.parametrize("content", JUDGED.strip().splitlines())
def test_judgments_of_others_are_read(content):
    content = text_of(content).replace("BOM", "\ufeff")
    assert read_qrels(content).to_dict() == {"q1": {"d1": 1, "d2": 0}}


@pytest.mark.parametrize("content", RETRIEVED.strip().splitlines())
def test_runs_of_others_are_read(content):
    assert read_run(text_of(content)).to_dict() == {"7": {"b": 2.5, "a": 0.5}}


def test_a_run_of_ms_marco_has_ranks(write):
    """Query, passage and rank: a lower rank is the better score; other numbers are ambiguous."""
    path = write("7\t70\t1\n7\t71\t2\n9\t70\t1\n")
    assert fr.read_run(path).to_dict() == {"7": {"70": -1.0, "71": -2.0}, "9": {"70": -1.0}}
    assert fr.evaluate({7: {71: 1}}, path, "recip_rank").mean == {"recip_rank": 0.5}
    path = write("7\t70\t3\n7\t71\t2\n")
    with pytest.raises(FormatError, match=r"file:1: .*ranks or scores.*columns="):
        fr.read_run(path)
    run = fr.read_run(path, columns={"query": 0, "doc": 1, "score": 2})
    assert run.to_dict() == {"7": {"70": 3.0, "71": 2.0}}


QUESTIONS = "question\tcandidate\tlabel\tscore\nq1\td1\t0\t0.5\nq1\td2\t1\t0.4\n"
SEVEN = "q1\tQ0\td1\t0\t0.5\tmodel\t0\nq1\tQ0\td2\t1\t0.4\tmodel\t1\n"
NAMES = ("question", "candidate", "label", "score")


@pytest.mark.parametrize(
    ("content", "names"),
    [(QUESTIONS, NAMES), (QUESTIONS.replace("\t", ","), NAMES), (SEVEN, (0, 2, 6, 4))],
)
def test_a_file_with_columns_is_a_table(content, names):
    """Even if a line has as many fields as one of TREC's."""
    query, doc, grade, score = names
    qrels = read_qrels(content, columns={"query": query, "doc": doc, "grade": grade})
    run = read_run(content, columns={"query": query, "doc": doc, "score": score})
    assert qrels.to_dict() == {"q1": {"d1": 0, "d2": 1}}
    assert run.to_dict() == {"q1": {"d1": 0.5, "d2": 0.4}}
    with pytest.raises(InputError, match="columns: the fields of TREC's format"):
        read_qrels(content, format="trec", columns={"query": query})
    with pytest.raises(InputError, match=r"columns: expected {role: name}, found list"):
        read_run(content, columns=list(names))


# What is refused

# The content of a file of judgments, and what its error says behind the file's name. HEADER,
# RECORD: a header and a row, a record of judgments.
REFUSED = r"""
HEADERq,e,x\n => :3: column 'label': expected a grade, found 'x'
HEADERq,e,NA\n => :3: column 'label': expected a grade, found 'NA': leave out what nobody has judged
HEADERq,e,#N/A\n => :3: column 'label': expected a grade, found '#N/A': leave out what nobody
HEADERq,e,1_0\n => :3: column 'label': expected a grade
HEADERq,e,0,9\n => :3: expected 3 cells, as in the first line, found 4
HEADERq,e\n => :3: expected 3 cells, as in the first line, found 2
qid\tdocno\tlabel\nq\td\t0,9\n => :2: column 'label': expected a grade, found '0,9': use a point
qid,docno,label\nq,"a\nb",1\n\nq,e,x\n => :5: column 'label'
qid,docno,label\nq,"d,1\n => :2:
qid,docno,wrong\nq,d,1\n => : no grade column: found 'qid', 'docno', 'wrong'
{"q": {"d": 1, "d": 2}} => :1: duplicate key 'd'
{"q": {"d": 1},\n"q": {"e": 2}} => :1: duplicate key 'q'
{"q": {"d": Infinity}} => : query 'q', document 'd': expected a grade, found inf
{"q":\n {"d": }} => :2:
RECORD\n{"qid": "q", "docno": "e"}\n => :2: expected the keys qid
RECORD\n[1]\n => :2: expected an object
RECORD\n{"qid": 1.5, "docno": "d", "label": 1} => :2: column 'qid': expected an id, found the f
q 0 d\n => :1: malformed line: expected 4 fields
PAR1 no => : cannot be read as parquet
{"q": {"d": DIGITS}} => :1: an integer is too long
[{"qid": "q", "docno": "d", "label": "x"}] => : record 1, column 'label': expected a
[RECORD, {}] => : record 2, expected the keys qid
[RECORD, 5] => : record 2, expected an object
 => : the file is empty
"""


@pytest.mark.parametrize("row", REFUSED.strip("\n").splitlines())
def test_what_is_wrong_is_told_with_its_line(row, write):
    content, _, reason = row.partition(" => ")
    record = '{"qid": "q", "docno": "d", "label": 1}'
    for name, own in {"HEADER": r"qid,docno,label\nq,d,1\n", "RECORD": record}.items():
        content = content.replace(name, own)
    path = write(text_of(content.replace("DIGITS", "1" * 5000)))
    with pytest.raises(fr.FastrankError) as error:
        fr.read_qrels(path)
    assert str(error.value).startswith(f"{path}{reason}")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("q.csv", "a,b,c,d,e\n", r"q\.csv:1: expected a header .* or 3 or 4 cells, found 'a'"),
        ("q.json", "[" * 100_000, "nested too deeply"),
        ("q.json", '{"q": ' * 100_000, "nested too deeply"),
    ],
    ids=["columns", "lists", "dicts"],
)
def test_what_is_wrong_in_a_file_whose_name_says_its_format(name, content, reason, write):
    """And the file is closed."""
    for read in (fr.read_qrels, lambda path: fr.evaluate(path, {"q": {"d": 1}}, "map")):
        with pytest.raises(FormatError, match=reason):
            read(write(content, name))


@pytest.mark.parametrize("broken", ["a page", "a name"])
def test_a_parquet_file_that_is_broken_inside_is_an_input_error(broken):
    sink = pa.BufferOutputStream()
    table = {"query_id": ["q"], "doc_id": ["d"], "relevance": [1]}
    pq.write_table(pa.table(table), sink, compression="none", store_schema=False)
    content = sink.getvalue().to_pybytes()
    if broken == "a page":
        content = content[:4] + b"\xff" * 30 + content[34:]
    else:
        content = content.replace(b"doc_id", b"doc\xffid")
    with pytest.raises(InputError, match="cannot be read as parquet"):
        read_qrels(content)


def test_a_repeated_document_of_a_csv_file_is_named_with_its_lines(write):
    path = write('qid,docno,score\nq,"d\ne",1\nq,d,2\np,d,1\nq,d,3\n')
    with pytest.raises(EvaluationError, match="duplicate docs d, lines 4 and 6 of /"):
        fr.evaluate({"q": {"d": 1}}, path, "map")


def test_a_repeated_document_is_found_at_once_in_a_long_ranking():
    """In JSON, and on the way to it; not by looking through all before it, for each."""
    names = [f"d{number}" for number in [*range(50_000), 49_999]]
    run = Run.from_arrays(["q"] * len(names), names, [1.0] * len(names))
    with pytest.raises(FormatError, match="duplicate key 'd49999'"):
        read_run(json.dumps({"q": dict.fromkeys(names, 1)})[:-2] + ', "d49999": 1}}')
    with pytest.raises(InputError, match="duplicate document 'd49999'"):
        run.to_dict()


@pytest.mark.parametrize("word", ["a b", "", "a\nb", "a\tb", "a\0"])
def test_an_id_that_is_no_field_is_not_written_to_trec(word, tmp_path):
    for odd in ({word: {"d": 1}}, {"q": {word: 1}}):
        with pytest.raises(InputError, match="without blanks and NUL"):
            fr.write_run(Run.from_dict(odd), tmp_path / "run.trec")
        with pytest.raises(InputError, match="without blanks and NUL"):
            write_trec_qrels(Qrels.from_dict(odd), tmp_path / "qrels.trec")
    with pytest.raises(InputError, match="tag 'a b'"):
        fr.write_run(Run.from_dict({"q": {"d": 1}}, tag="a b"), tmp_path / "run.trec")
    assert list(tmp_path.iterdir()) == []
    # A run without a name is written with a dash.
    fr.write_run(Run.from_dict({"q": {"d": 1}}), tmp_path / "run.trec")
    assert (tmp_path / "run.trec").read_bytes() == b"q Q0 d 1 1.0 -\n"


def test_what_a_format_cannot_hold_leaves_the_file_as_it_was(write):
    path = write("before", "out.json")
    twice = Run.from_arrays(["q", "q"], ["d", "d"], [1.0, 2.0])
    with pytest.raises(InputError, match="duplicate document 'd'"):
        fr.write_run(twice, path)
    assert path.read_text() == "before"
    assert [file.name for file in path.parent.iterdir()] == ["out.json"]


EMPTY_IDS = {
    "csv": "query_id,doc_id,score\nq,d,1\nq,,2\n",
    "tsv": "query_id\tdoc_id\tscore\nq\td\t1\n\td\t2\n",
    "jsonl": '{"query_id": "q", "doc_id": "d", "score": 1}\n\n'
    '{"query_id": "q", "doc_id": "", "score": 2}\n',
}


@pytest.mark.parametrize("form", EMPTY_IDS)
def test_an_empty_id_is_neither_written_nor_read(form, write):
    """Where it could not be told from a missing one; the error has its line."""
    for run in ({"": {"d": 1.0}}, {"q": {"": 1.0}}):
        expected = f"has an empty id: expected some text for a {form} file"
        with pytest.raises(InputError, match=expected):
            fr.write_run(Run.from_dict(run), write("", f"run.{form}"))
    with pytest.raises(FormatError, match="_id': expected an id, found") as raised:
        fr.read_run(write(EMPTY_IDS[form], f"run.{form}"))
    assert raised.value.line == 3


def test_formats_that_are_unknown_are_refused(tmp_path):
    qrels = Qrels.from_dict({"q": {"d": 1}})
    with pytest.raises(fr.FastrankError, match=r"format: expected one of trec, .*, found 'xml'"):
        fr.write_qrels(qrels, tmp_path / "a", "xml")
    with pytest.raises(InputError, match="unknown format; set format="):
        fr.write_qrels(qrels, tmp_path / "a")
    with pytest.raises(TypeError, match="expected Run, found Qrels"):
        fr.write_run(qrels, tmp_path / "a.csv")  # type: ignore[arg-type]


# Evaluation and conversion


def a_part(name: str) -> io.BytesIO:
    """Every tenth line of a file of the repository."""
    return io.BytesIO(b"".join((DATA / name).read_bytes().splitlines(keepends=True)[::10]))


def test_the_command_takes_files_of_every_format_and_a_pipe(tmp_path, monkeypatch):
    """As of those of TREC. What shows the format of standard input is still there to be read."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(a_part("digits.qrels").read())
    run.write_bytes(a_part("pca.run").read())
    for form in FORMATS:
        fr.write_qrels(read_trec_qrels(qrels), tmp_path / f"q.{form}")
        fr.write_run(read_trec_run(run), tmp_path / f"r.{form}")
    monkeypatch.setattr(sys, "stdin", Standard(qrels.read_bytes()))
    expected = printed("eval -m map", qrels, run).splitlines()[1:]
    written = [(tmp_path / f"q.{form}", tmp_path / f"r.{form}") for form in FORMATS]
    for files in (*written, ("-", run)):
        assert printed("eval -m map", *files).splitlines()[1:] == expected != []


def test_convert_takes_a_file_through_every_format_and_back(tmp_path):
    (tmp_path / "first.run").write_bytes(a_part("pca.run").read())
    between = [f"a.{form}.gz" for form in FORMATS if form != "json"]
    for source, target in pairwise(["first.run", *between, "last.run"]):
        assert printed("convert", tmp_path / source, tmp_path / target) == ""
    first, last = (read_trec_run(tmp_path / f"{name}.run") for name in ("first", "last"))
    assert (contents(last), last.tag) == (contents(first), first.tag)


# What `convert --format csv` is given, and which kind it takes it for.
KINDS = r"""
q 0 d 1\n => qrels
q Q0 d 1 0.5 t\n => run
qid,docno,label\nq,d,1\n => qrels
qid,docno,rank,score\nq,d,1,1\n => run
{"qid": "q", "docno": "d", "relevance": 1}\n => qrels
qid,docno,score\nq,d,1\n => none
{"q": {"d": 1}} => none
{"q": {"hits": {"hits": [{"_id": "d", "_score": 1}]}}} => run
{"queries": [{"query_text": "q", "ratings": {"d": 1}}]} => qrels
{"queries": [{"query_id": 1, "query_text": "q", "ratings": {}}], "docs": {}} => none
{"id": "1", "gold_ids": ["d"]}\n{"id": "2", "gold_ids": ["d"]}\n => qrels
[{"id": "1", "output": [{"provenance": [{"wikipedia_id": "d"}]}]}] => none
q\td\t1\n => none
"""


@pytest.mark.parametrize(("content", "kind"), cases(KINDS))
def test_convert_tells_the_kind_only_where_it_is_certain(content, kind, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Standard(text_of(content).encode()))
    found = fastrank("convert --format csv - -")
    if kind == "none":
        assert found.status == 2
        assert "could be qrels or a run; use --kind qrels or --kind run" in found.err
    else:
        assert found.status == 0
        assert ("relevance" in found.out) == (kind == "qrels")


def test_convert_tells_which_queries_a_format_cannot_hold(write):
    """Those without results are gone with the last of their lines; JSON keeps them."""
    judged, run = write('{"q": {"d": 2}}', "q"), write('{"q": {}, "r": {"d": 1.5}}', "r")
    assert printed(f"convert --kind qrels --format trec {judged} -") == "q 0 d 2\n"
    assert '"q": {}' in printed(f"convert --kind run --format json {run} -")
    found = fastrank(f"convert --kind run --format trec {run} -")
    assert (found.status, found.out) == (0, "r Q0 d 1 1.5 -\n")
    assert "1 query without results dropped, such as 'q'" in found.err


@pytest.mark.parametrize("indent", [None, 1])
def test_json_with_judgments_or_a_run_inside(indent):
    """The results of FlagEmbedding, and the data sets of LlamaIndex."""
    run = {"eval_name": "e", "split": "dev", "search_results": {"q": {"d": 1.5}}}
    qrels = {"queries": {"q": "who?"}, "relevant_docs": {"q": ["d"]}, "mode": "text"}
    run_file, qrels_file = (
        io.BytesIO(json.dumps(content, indent=indent).encode()) for content in (run, qrels)
    )
    assert fr.read_run(run_file).to_dict() == {"q": {"d": 1.5}}
    assert fr.read_qrels(qrels_file).to_dict() == {"q": {"d": 1}}
