"""Files of every format: what is read, what is written, and what is refused."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
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
from fastrank.cli.main import main
from fastrank.errors import EvaluationError, FormatError, InputError
from tests.helpers.commands import Command, Result
from tests.helpers.compression import zstd_library
from tests.helpers.parsing import read_trec_qrels, read_trec_run, write_trec_qrels
from tests.helpers.paths import DATA
from tests.helpers.strategies import contents, exactly, many

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


@pytest.fixture
def fastrank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """Run `fastrank ARGUMENTS` in this process, in an empty folder."""

    def run(*arguments: object, stdin: bytes = b"") -> Result:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stopped:
            status = int(str(stopped.code))
        found = capfd.readouterr()
        return Result(status, found.out.encode(), found.err)

    return run


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
@settings(max_examples=many(60), deadline=None, suppress_health_check=UNUSED)
def test_what_is_written_comes_back_as_it_was(
    form: str, kind: str, data: Any, tmp_path: Path
) -> None:
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
@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_formats_are_told_from_names_and_contents(form: str, ending: str, tmp_path: Path) -> None:
    """The second file has no name that says anything."""
    path, unnamed = tmp_path / f"file.{form}{ending}", tmp_path / "unnamed"
    for kind, (make, save, load, _, _) in NOUNS.items():
        grades = {f"d{doc}": doc % 2 + (0.25 if kind == "run" else 0) for doc in range(3000)}
        noun = make({"2": grades, "1": grades})
        save(noun, path)
        unnamed.write_bytes(path.read_bytes())
        for file in (path, unnamed, io.BytesIO(path.read_bytes())):
            assert contents(load(file)) == contents(noun)


def test_files_are_compressed_by_their_names_and_keep_iterations(tmp_path: Path) -> None:
    unpackers = {
        "gz": gzip.decompress,
        "bz2": bz2.decompress,
        "xz": lzma.decompress,
        "zst": zstd_library().decompress,
    }
    for ending, unpack in unpackers.items():
        path = tmp_path / f"q.csv.{ending}"
        fr.write_qrels(Qrels.from_dict({"q": {"d": 1}}), path)
        assert unpack(path.read_bytes()) == b"query_id,doc_id,relevance\nq,d,1\n"
    qrels = read_trec_qrels(io.BytesIO(b"q g1 d 1\nq g2 e 0\n"))
    for form in ("trec", "csv", "tsv", "jsonl", "parquet"):
        fr.write_qrels(qrels, tmp_path / f"out.{form}")
        assert contents(fr.read_qrels(tmp_path / f"out.{form}")) == contents(qrels)


# What others write


@pytest.mark.parametrize(
    "content",
    [
        "q1 0 d1 1\nq1 0 d2 0\n",
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n",
        "q1\td1\t1\nq1\td2\t0\n",
        "q1\t0\td1\t1\nq1\t0\td2\t0\n",
        "q1,d1,1\nq1,d2,0\n",
        "\ufeffqid,docno,label\r\nq1,d1,1\r\nq1,d2,0\r\n",
        '"query_id","doc_id","relevance"\n"q1","d1","1"\n"q1","d2","0"\n',
        "query,q0,docid,rel\nq1,0,d1,1.0\nq1,0,d2,0\n",
        '{"q1": {"d1": 1, "d2": 0}}',
        '{\n "q1": {\n  "d1": 1,\n  "d2": 0\n }\n}\n',
        # As many fields in a line as TREC's formats have.
        '{"q1": {"d1": 1 , "d2": 0}}',
        '{"q1": \n{"d1" : 1 , "d2" :\n 0}}',
        '{"q1": { "d1" : 1 ,\n "d2": 0 } }',
        '{"query_id": "q1", "doc_id": "d1", "relevance": 1}\n'
        '{"query_id": "q1", "doc_id": "d2", "relevance": 0}\n',
        '[{"qid": "q1", "docno": "d1", "label": 1}, {"qid": "q1", "docno": "d2", "label": 0}]',
    ],
)
def test_judgments_of_others_are_read(content: str, write: Write) -> None:
    assert fr.read_qrels(write(content)).to_dict() == {"q1": {"d1": 1, "d2": 0}}


@pytest.mark.parametrize(
    "content",
    [
        "7 Q0 b 1 2.5 t\n7 Q0 a 2 0.5 t\n",
        "7\tb\t2.5\n7\ta\t0.5\n",
        "7,b,2.5\n7,a,0.5\n",
        "q_id,doc_id,score\n7,b,2.5\n7,a,0.5\n",
        "qid\tdocno\trank\tscore\n7\tb\t1\t2.5\n7\ta\t2\t5e-1\n",
        '{"7": {"b": 2.5, "a": 0.5}}',
        '{"7": {"b": 2.5 , "a": 0.5}}',
        '{"7": \n{"b" : 2.5 , "a" : \n0.5}}',
        '{"7": { "b" : 2.5 ,\n "a": 0.5 } }',
        '{"qid": 7, "docno": "b", "score": 2.5}\n{"qid": 7, "docno": "a", "score": 0.5}\n',
    ],
)
def test_runs_of_others_are_read(content: str, write: Write) -> None:
    assert fr.read_run(write(content)).to_dict() == {"7": {"b": 2.5, "a": 0.5}}


def test_a_run_of_ms_marco_has_ranks(write: Write) -> None:
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


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (QUESTIONS, ("question", "candidate", "label", "score")),
        (QUESTIONS.replace("\t", ","), ("question", "candidate", "label", "score")),
        (SEVEN, (0, 2, 6, 4)),
    ],
)
def test_a_file_with_columns_is_a_table(content: str, names: tuple[Any, ...], write: Write) -> None:
    """Even if a line has as many fields as one of TREC's."""
    query, doc, grade, score = names
    path = write(content)
    qrels = fr.read_qrels(path, columns={"query": query, "doc": doc, "grade": grade})
    run = fr.read_run(path, columns={"query": query, "doc": doc, "score": score})
    assert qrels.to_dict() == {"q1": {"d1": 0, "d2": 1}}
    assert run.to_dict() == {"q1": {"d1": 0.5, "d2": 0.4}}
    with pytest.raises(InputError, match="columns: the fields of TREC's format"):
        fr.read_qrels(path, "trec", columns={"query": query})
    with pytest.raises(InputError, match=r"file: columns: expected {role: name}, found list"):
        fr.read_run(path, columns=list(names))  # type: ignore[arg-type]


def test_ids_of_files_stay_exact(tmp_path: Path, write: Write) -> None:
    """Large integers of parquet and JSONL, and leading zeros."""
    grades = {str(2**53 + 1): 1, str(2**53): 2, str(2**63 - 1): 3}
    columns = {"qid": [1] * 3, "docno": list(map(int, grades)), "label": list(grades.values())}
    pq.write_table(pa.table(columns), tmp_path / "q.parquet")
    lines = [f'{{"qid": 1, "docno": {doc}, "label": {own}}}\n' for doc, own in grades.items()]
    for path in (tmp_path / "q.parquet", write("".join(lines), "q.jsonl")):
        assert fr.read_qrels(path).to_dict() == {"1": grades}
    assert fr.read_qrels(write("007,0010,1\n", "q.csv")).to_dict() == {"007": {"0010": 1}}


@pytest.mark.parametrize("query", ['{"q"', "[}q", '{"q":1', '["a",', '{"q":"d",', "{}"])
def test_trec_files_whose_queries_begin_like_json_read_back(query: str, tmp_path: Path) -> None:
    run, qrels = {query: {"d1": 1.5, "d2": 1.0}}, {query: {"d1": 1, "d2": 0}}
    fr.write_run(Run.from_dict(run), tmp_path / "x.run")
    fr.write_qrels(Qrels.from_dict(qrels), tmp_path / "x.qrels")
    assert fr.read_run(tmp_path / "x.run").to_dict() == run
    assert fr.read_qrels(tmp_path / "x.qrels").to_dict() == qrels
    assert fr.evaluate(tmp_path / "x.qrels", tmp_path / "x.run", "map").mean == {"map": 1.0}


# What is refused


HEADER = "qid,docno,label\nq,d,1\n"
RECORD = '{"qid": "q", "docno": "d", "label": 1}'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (HEADER + "q,e,x\n", ":3: column 'label': expected a number, found 'x'"),
        (HEADER + "q,e,\n", ":3: column 'label': the cell is empty"),
        (HEADER + "q,e,nan\n", ":3: column 'label': expected a grade, found nan"),
        (HEADER + "q,e,1_0\n", ":3: column 'label': expected a number"),
        (HEADER + "q,e\n", ":3: expected 3 cells, as in the first line, found 2"),
        ('qid,docno,label\nq,"a\nb",1\n\nq,e,x\n', ":5: column 'label'"),
        ('qid,docno,label\nq,"d,1\n', ":2: "),
        ("qid,docno,wrong\nq,d,1\n", "no grade column: found 'qid', 'docno', 'wrong'"),
        ('{"q": {"d": 1, "d": 2}}', ":1: duplicate key 'd'"),
        ('{"q": {"d": 1},\n"q": {"e": 2}}', "duplicate key 'q'"),
        ('{"q": {"d": Infinity}}', "query 'q', document 'd': expected a grade, found inf"),
        ('{"q": {"d": null}}', "query 'q', document 'd'"),
        ('{"q":\n {"d": }}', ":2: "),
        ('{"q": ["d"]}\n', "query 'q': expected a dict|no query column"),
        (RECORD + '\n{"qid": "q", "docno": "e"}\n', ":2: expected the keys qid"),
        (RECORD + "\n[1]\n", ":2: expected an object"),
        (RECORD + '\n{"qid": 1.5, "docno": "d", "label": 1}', ":2: .*1.5"),
        ("q 0 d\n", ":1: malformed line: expected 4 fields"),
        (b"PAR1 no", ": cannot be read as parquet"),
        ('{"q": {"d": ' + "1" * 5000 + "}}", ":1: an integer is too long"),
        ("[" + RECORD.replace("1", '"x"') + "]", ": record 1, column 'label': expected a"),
        (f"[{RECORD}, {{}}]", ": record 2, expected the keys qid"),
        (f"[{RECORD}, 5]", ": record 2, expected an object"),
        ("", "the file is empty"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_wrong_is_told_with_its_line(
    content: str | bytes, reason: str, write: Write
) -> None:
    path = write(content)
    with pytest.raises(fr.FastrankError, match=reason) as error:
        fr.read_qrels(path)
    assert str(error.value).startswith(str(path))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("q.csv", "a,b,c,d,e\n", r"q\.csv:1: expected a header .* or 3 or 4 cells, found 'a'"),
        ("q.json", "[" * 100_000, "nested too deeply"),
        ("q.json", '{"q": ' * 100_000, "nested too deeply"),
    ],
    ids=["columns", "lists", "dicts"],
)
def test_what_is_wrong_in_a_file_whose_name_says_its_format(
    name: str, content: str, reason: str, write: Write
) -> None:
    """And the file is closed."""
    for read in (fr.read_qrels, lambda path: fr.evaluate(path, {"q": {"d": 1}}, "map")):
        with pytest.raises(FormatError, match=reason):
            read(write(content, name))


@pytest.mark.parametrize("broken", ["a page", "a name"])
def test_a_parquet_file_that_is_broken_inside_is_an_input_error(broken: str, write: Write) -> None:
    sink = pa.BufferOutputStream()
    table = {"query_id": ["q"], "doc_id": ["d"], "relevance": [1]}
    pq.write_table(pa.table(table), sink, compression="none", store_schema=False)
    content = sink.getvalue().to_pybytes()
    if broken == "a page":
        content = content[:4] + b"\xff" * 30 + content[34:]
    else:
        content = content.replace(b"doc_id", b"doc\xffid")
    with pytest.raises(InputError, match="cannot be read as parquet"):
        fr.read_qrels(write(content))


def test_a_repeated_document_of_a_csv_file_is_named_with_its_lines(write: Write) -> None:
    path = write('qid,docno,score\nq,"d\ne",1\nq,d,2\np,d,1\nq,d,3\n')
    with pytest.raises(EvaluationError, match="duplicate docs d, lines 4 and 6 of /"):
        fr.evaluate({"q": {"d": 1}}, path, "map")


def test_a_repeated_document_is_found_at_once_in_a_long_ranking(write: Write) -> None:
    """In JSON, and on the way to it; not by looking through all before it, for each."""
    names = [f"d{number}" for number in [*range(50_000), 49_999]]
    path = write(json.dumps({"q": dict.fromkeys(names, 1)})[:-2] + ', "d49999": 1}}')
    run = Run.from_arrays(["q"] * len(names), names, [1.0] * len(names))
    with pytest.raises(FormatError, match="duplicate key 'd49999'"):
        fr.read_run(path)
    with pytest.raises(InputError, match="duplicate document 'd49999'"):
        run.to_dict()


@pytest.mark.parametrize("word", ["a b", "", "a\nb", "a\tb", "a\0"])
def test_an_id_that_is_no_field_is_not_written_to_trec(word: str, tmp_path: Path) -> None:
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


def test_what_a_format_cannot_hold_leaves_the_file_as_it_was(write: Write) -> None:
    path = write("before", "out.json")
    twice = Run.from_arrays(["q", "q"], ["d", "d"], [1.0, 2.0])
    with pytest.raises(InputError, match="duplicate document 'd'"):
        fr.write_run(twice, path)
    assert path.read_text() == "before"
    assert [file.name for file in path.parent.iterdir()] == ["out.json"]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_an_empty_id_is_neither_written_nor_read(form: str, write: Write) -> None:
    """Where it could not be told from a missing one; the error has its line."""
    for run in ({"": {"d": 1.0}}, {"q": {"": 1.0}}):
        expected = f"has an empty id: expected some text for a {form} file"
        with pytest.raises(InputError, match=expected):
            fr.write_run(Run.from_dict(run), write("", f"run.{form}"))
    content = {
        "csv": "query_id,doc_id,score\nq,d,1\nq,,2\n",
        "tsv": "query_id\tdoc_id\tscore\nq\td\t1\n\td\t2\n",
        "jsonl": '{"query_id": "q", "doc_id": "d", "score": 1}\n\n'
        '{"query_id": "q", "doc_id": "", "score": 2}\n',
    }[form]
    with pytest.raises(FormatError, match="_id': expected an id, found an empty text") as raised:
        fr.read_run(write(content, f"run.{form}"))
    assert raised.value.line == 3


def test_formats_that_are_unknown_are_refused(tmp_path: Path) -> None:
    qrels = Qrels.from_dict({"q": {"d": 1}})
    with pytest.raises(fr.FastrankError, match=r"format: expected one of trec, csv.*, found 'xml'"):
        fr.write_qrels(qrels, tmp_path / "a", "xml")
    with pytest.raises(InputError, match="unknown format; set format="):
        fr.write_qrels(qrels, tmp_path / "a")
    with pytest.raises(TypeError, match="expected Run, found Qrels"):
        fr.write_run(qrels, tmp_path / "a.csv")  # type: ignore[arg-type]


# Evaluation and conversion


@pytest.mark.parametrize("form", FORMATS)
def test_files_of_every_format_give_the_same_scores(form: str, tmp_path: Path) -> None:
    """TREC's files are what the numbers are proved by."""
    qrels, run = tmp_path / f"q.{form}", tmp_path / f"r.{form}"
    fr.write_qrels(fr.read_qrels(DATA / "digits.qrels"), qrels)
    fr.write_run(fr.read_run(DATA / "pixels.run"), run)
    expected = fr.evaluate(read_trec_qrels(DATA / "digits.qrels"), DATA / "pixels.run", "official")
    # JSON has no place for the run's name.
    found = fr.evaluate(qrels, run, "official").mean
    assert {**found, "runid": ""} == {**expected.mean, "runid": ""}


def test_the_command_takes_files_of_every_format_and_a_pipe(
    fastrank: Command, tmp_path: Path
) -> None:
    """What shows the format of standard input is still there to be read."""
    qrels, run = DATA / "digits.qrels", DATA / "pca.run"
    fr.write_qrels(read_trec_qrels(qrels), tmp_path / "q.jsonl")
    fr.write_run(read_trec_run(run), tmp_path / "r.parquet")
    expected = fastrank("eval", "-m", "map", qrels, run)
    for found in (
        fastrank("eval", "-m", "map", "q.jsonl", "r.parquet"),
        fastrank("eval", "-m", "map", "-", run, stdin=qrels.read_bytes()),
    ):
        assert (found.status, found.stderr) == (0, "")
        assert found.stdout.splitlines()[1:] == expected.stdout.splitlines()[1:] != []


def test_convert_takes_a_file_through_every_format_and_back(
    fastrank: Command, tmp_path: Path
) -> None:
    lines = (DATA / "pca.run").read_bytes().splitlines(keepends=True)[::50]
    (tmp_path / "first.run").write_bytes(b"".join(lines))
    between = [f"a.{form}.gz" for form in FORMATS if form != "json"]
    files = ["first.run", *between, "last.run"]
    for source, target in pairwise(files):
        assert fastrank("convert", source, target) == (0, b"", "")
    first, last = (read_trec_run(tmp_path / f"{name}.run") for name in ("first", "last"))
    assert (contents(last), last.tag) == (contents(first), first.tag)
    assert b"".join(lines) == (tmp_path / "first.run").read_bytes()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"q 0 d 1\n", "qrels"),
        (b"q Q0 d 1 0.5 t\n", "run"),
        (b"qid,docno,label\nq,d,1\n", "qrels"),
        (b"qid,docno,rank,score\nq,d,1,1\n", "run"),
        (b'{"qid": "q", "docno": "d", "relevance": 1}\n', "qrels"),
        (b"qid,docno,score\nq,d,1\n", None),
        (b'{"q": {"d": 1}}', None),
        (b'{"q": {"hits": {"hits": [{"_id": "d", "_score": 1}]}}}', "run"),
        (b'{"queries": [{"query_text": "q", "ratings": {"d": 1}}]}', "qrels"),
        (b'{"queries": [{"query_id": 1, "query_text": "q", "ratings": {}}], "docs": {}}', None),
        (b'{"id": "1", "gold_ids": ["d"]}\n{"id": "2", "gold_ids": ["d"]}\n', "qrels"),
        (b'[{"id": "1", "output": [{"provenance": [{"wikipedia_id": "d"}]}]}]', None),
        (b"q\td\t1\n", None),
    ],
)
def test_convert_tells_the_kind_only_where_it_is_certain(
    content: bytes, kind: str | None, fastrank: Command
) -> None:
    found = fastrank("convert", "--format", "csv", "-", "-", stdin=content)
    if kind is None:
        assert found.status == 2
        assert "could be qrels or a run; use --kind qrels or --kind run" in found.stderr
    else:
        assert found.status == 0
        assert (b"relevance" in found.stdout) == (kind == "qrels")


@pytest.mark.parametrize(
    ("arguments", "stdin", "status", "message"),
    [
        ("in.run out", b"", 2, "out: unknown format; use --format"),
        ("--format parquet in.run -", b"", 2, "parquet cannot be written to standard output"),
        ("--format xml in.run -", b"", 2, "invalid choice: 'xml'"),
        ("no.run out.csv", b"", 1, "no.run: no such file or directory"),
        ("bad.csv out.csv", b"", 1, "bad.csv:2: column 'label': expected a number"),
        (
            "--kind qrels --format csv - -",
            b"q 0 b high\n",
            1,
            "-:1: expected a grade, found 'high'",
        ),
        (
            "--kind run --format csv - -",
            b"q Q0 b 2 0,5 t\n",
            1,
            "-:1: expected a score, found '0,5'",
        ),
    ],
)
def test_convert_says_what_is_wrong(
    arguments: str, stdin: bytes, status: int, message: str, write: Write, fastrank: Command
) -> None:
    write("q Q0 d 1 0.5 t\n", "in.run")
    path = write("qid,docno,label\nq,d,x\n", "bad.csv")
    found = fastrank("convert", *arguments.split(), stdin=stdin)
    assert (found.status, found.stdout) == (status, b"")
    assert message in found.stderr
    assert not (path.parent / "out.csv").exists()


DROPPED = "1 query without results dropped, such as 'q'"


@pytest.mark.parametrize(
    ("kind", "form", "content", "out", "message"),
    [
        ("qrels", "trec", b'{"q": {"d": 2}}', b"q 0 d 2\n", ""),
        ("run", "json", b'{"q": {}, "r": {"d": 1.5}}', b'"q": {}', ""),
        ("run", "trec", b'{"q": {}, "r": {"d": 1.5}}', b"r Q0 d 1 1.5 -\n", DROPPED),
    ],
)
def test_convert_tells_which_queries_a_format_cannot_hold(
    kind: str, form: str, content: bytes, out: bytes, message: str, fastrank: Command
) -> None:
    """Those without results are gone with the last of their lines; JSON keeps them."""
    found = fastrank("convert", "--kind", kind, "--format", form, "-", "-", stdin=content)
    assert found.status == 0
    assert out in found.stdout
    assert message in found.stderr
    assert bool(message) == bool(found.stderr)
