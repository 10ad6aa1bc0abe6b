"""Files of every format: what is read, what is written, and what is refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fastrank as fr
from fastrank import FormatError, InputError, Qrels, Run
from tests.helpers.parsing import read_trec_qrels, read_trec_run, write_trec_qrels
from tests.helpers.paths import DATA
from tests.helpers.strategies import contents, exactly, many

pa = pytest.importorskip("pyarrow")

QRELS = (DATA / "digits.qrels").read_bytes()
FORMATS = ["trec", "csv", "tsv", "json", "jsonl", "parquet"]

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file; its path."""

    def make(content: str | bytes, name: str = "file") -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return make


# Round trips

words = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=5
)
texts = st.one_of(
    words,
    st.sampled_from(['"', ",", '","', "a\tb", "a b", "a\nb", "a\r\nb", "", "'", "é", "#", "\\"]),
)
some = many(60)
any_file = settings(
    max_examples=some, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip


def per_query(names: Any, numbers: Any) -> Any:
    docs = st.dictionaries(names, numbers, min_size=1, max_size=4)
    return st.dictionaries(names, docs, min_size=1, max_size=3)


def ids_of(form: str) -> Any:
    if form in ("csv", "tsv", "jsonl"):
        return texts.filter(bool)
    # A byte order mark at the start of a TREC file is no part of its first id.
    return words.filter(lambda text: text[0] != "\ufeff") if form == "trec" else texts


@pytest.mark.parametrize("form", FORMATS)
@given(data=st.data())
@any_file
def test_a_run_comes_back_as_it_was(form: str, data: Any, tmp_path: Path) -> None:
    run = Run.from_dict(data.draw(per_query(ids_of(form), st.floats(allow_nan=False))), tag="a,b")
    path = tmp_path / f"run.{form}"

    fr.write_run(run, path, form)
    back = fr.read_run(path, form)

    assert exactly(contents(back)) == exactly(contents(run))
    assert back.tag == ("" if form == "json" else "a,b")


@pytest.mark.parametrize("form", FORMATS)
@given(data=st.data())
@any_file
def test_judgments_come_back_as_they_were(form: str, data: Any, tmp_path: Path) -> None:
    grades = st.integers(-(2**63), 2**63 - 1)
    qrels = Qrels.from_dict(data.draw(per_query(ids_of(form), grades)))
    path = tmp_path / f"qrels.{form}"

    fr.write_qrels(qrels, path, form)

    assert contents(fr.read_qrels(path, form)) == contents(qrels)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_formats_are_told_from_names_and_contents(form: str, ending: str, tmp_path: Path) -> None:
    """The second file has no name that says anything."""
    qrels = Qrels.from_arrays([2, 1] * 3000, range(6000), [1, 0] * 3000)
    run = Run.from_arrays([2, 1] * 3000, range(6000), [0.5, 1.25] * 3000, tag="-")
    path = tmp_path / f"file.{form}{ending}"
    unnamed = tmp_path / "unnamed"

    for noun, save, load in (
        (qrels, fr.write_qrels, fr.read_qrels),
        (run, fr.write_run, fr.read_run),
    ):
        save(noun, path)  # type: ignore[operator]
        unnamed.write_bytes(path.read_bytes())
        for file in (path, unnamed, io.BytesIO(path.read_bytes())):
            assert contents(load(file)) == contents(noun)


@pytest.mark.parametrize(
    ("ending", "unpack"),
    [(".gz", gzip.decompress), (".bz2", bz2.decompress), (".xz", lzma.decompress)],
)
def test_files_are_compressed_by_their_names(ending: str, unpack: Any, tmp_path: Path) -> None:
    path = tmp_path / f"q.csv{ending}"
    fr.write_qrels(Qrels.from_dict({"q": {"d": 1}}), path)

    assert unpack(path.read_bytes()) == b"query_id,doc_id,relevance\nq,d,1\n"


@pytest.mark.parametrize("form", ["trec", "csv", "tsv", "jsonl", "parquet"])
def test_iterations_are_kept(form: str, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"q g1 d 1\nq g2 e 0\n")
    qrels = read_trec_qrels(tmp_path / "in")

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
        '{"qid": 7, "docno": "b", "score": 2.5}\n{"qid": 7, "docno": "a", "score": 0.5}\n',
    ],
)
def test_runs_of_others_are_read(content: str, write: Write) -> None:
    assert fr.read_run(write(content)).to_dict() == {"7": {"b": 2.5, "a": 0.5}}


def test_a_run_of_ms_marco_has_ranks(write: Write) -> None:
    """Query, passage and rank: a lower rank is the better score."""
    path = write("7\t70\t1\n7\t71\t2\n9\t70\t1\n")

    assert fr.read_run(path).to_dict() == {"7": {"70": -1.0, "71": -2.0}, "9": {"70": -1.0}}
    assert fr.evaluate({7: {71: 1}}, path, "recip_rank").mean == {"recip_rank": 0.5}


def test_whole_scores_are_not_taken_for_ranks(write: Write) -> None:
    path = write("7\t70\t3\n7\t71\t2\n")

    with pytest.raises(FormatError, match=r"file:1: .*ranks or scores.*columns="):
        fr.read_run(path)
    run = fr.read_run(path, columns={"query": 0, "doc": 1, "score": 2})
    assert run.to_dict() == {"7": {"70": 3.0, "71": 2.0}}


def test_columns_of_a_file_can_be_named(write: Write) -> None:
    path = write("topic,document,bm25\n1,d,0.5\n")

    run = fr.read_run(path, columns={"query": "topic", "doc": "document", "score": "bm25"})

    assert run.to_dict() == {"1": {"d": 0.5}}


def test_integer_ids_of_parquet_and_jsonl_stay_exact(tmp_path: Path) -> None:
    ids = [2**53 + 1, 2**53, 2**63 - 1]
    table = pa.table({"qid": [1, 1, 1], "docno": ids, "label": [1, 2, 3]})
    from pyarrow import parquet

    parquet.write_table(table, tmp_path / "q.parquet")
    lines = [f'{{"qid": 1, "docno": {own}, "label": {i}}}\n' for i, own in enumerate(ids, 1)]
    (tmp_path / "q.jsonl").write_text("".join(lines))

    for name in ("q.parquet", "q.jsonl"):
        found = fr.read_qrels(tmp_path / name).to_dict()
        assert found == {"1": {str(own): i for i, own in enumerate(ids, 1)}}


def test_leading_zeros_of_ids_are_kept(write: Write) -> None:
    assert fr.read_qrels(write("007,0010,1\n", "q.csv")).to_dict() == {"007": {"0010": 1}}


# What is refused


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("qid,docno,label\nq,d,1\nq,e,x\n", ":3: column 'label': expected a number, found 'x'"),
        ("qid,docno,label\nq,d,1\nq,e,\n", ":3: column 'label': the cell is empty"),
        ("qid,docno,label\nq,d,1\nq,e,nan\n", ":3: column 'label': expected a grade, found nan"),
        ("qid,docno,label\nq,d,1\nq,e,1_0\n", ":3: column 'label': expected a number"),
        ("qid,docno,label\nq,d,1\nq,e\n", ":3: expected 3 cells, as in the first line, found 2"),
        ('qid,docno,label\nq,"a\nb",1\n\nq,e,x\n', ":5: column 'label'"),
        ('qid,docno,label\nq,"d,1\n', ":2: "),
        ("qid,docno,wrong\nq,d,1\n", "no grade column: found 'qid', 'docno', 'wrong'"),
        ('{"q": {"d": 1, "d": 2}}', ":1: duplicate key 'd'"),
        ('{"q": {"d": 1},\n"q": {"e": 2}}', "duplicate key 'q'"),
        ('{"q": {"d": Infinity}}', "query 'q', document 'd': expected a grade, found inf"),
        ('{"q": {"d": null}}', "query 'q', document 'd'"),
        ('{"q":\n {"d": }}', ":2: "),
        ('{"q": ["d"]}\n', "query 'q': expected a dict|no query column"),
        (
            '{"qid": "q", "docno": "d", "label": 1}\n{"qid": "q", "docno": "e"}\n',
            ":2: expected the keys qid",
        ),
        ('{"qid": "q", "docno": "d", "label": 1}\n[1]\n', ":2: expected an object"),
        (
            '{"qid": "q", "docno": "d", "label": 1}\n{"qid": 1.5, "docno": "d", "label": 1}',
            ":2: .*1.5",
        ),
        ("q 0 d\n", ":1: malformed line: expected 4 fields"),
        (b"PAR1 no", ": cannot be read as parquet"),
        ('{"q": {"d": ' + "1" * 5000 + "}}", ":1: an integer is too long"),
        ('[{"qid": "q", "docno": "d", "label": "x"}]', ": record 1, column 'label': expected a"),
        ('[{"qid": "q", "docno": "d", "label": 1}, {}]', ": record 2, expected the keys qid"),
        ('[{"qid": "q", "docno": "d", "label": 1}, 5]', ": record 2, expected an object"),
        ("", "the file is empty"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    content: str | bytes, reason: str, write: Write
) -> None:
    path = write(content)

    with pytest.raises(fr.FastrankError, match=reason) as error:
        fr.read_qrels(path)
    assert str(error.value).startswith(path)


@pytest.mark.parametrize("broken", ["a page", "a name"])
def test_a_parquet_file_that_is_broken_inside_is_an_input_error(broken: str, write: Write) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    sink = pyarrow.BufferOutputStream()
    table = {"query_id": ["q"], "doc_id": ["d"], "relevance": [1]}
    parquet.write_table(pyarrow.table(table), sink, compression="none", store_schema=False)
    content = sink.getvalue().to_pybytes()
    if broken == "a page":
        content = content[:4] + b"\xff" * 30 + content[34:]
    else:
        content = content.replace(b"doc_id", b"doc\xffid")

    with pytest.raises(fr.InputError, match="cannot be read as parquet"):
        fr.read_qrels(write(content))


def test_columns_without_names_need_a_known_number(write: Write) -> None:
    path = write("a,b,c,d,e\n", "q.csv")

    with pytest.raises(
        FormatError, match=r"q\.csv:1: expected a header .* or 3 or 4 cells, found 'a'"
    ):
        fr.read_qrels(path)


def test_a_repeated_document_of_a_csv_file_is_named_with_its_lines(write: Write) -> None:
    path = write('qid,docno,score\nq,"d\ne",1\nq,d,2\np,d,1\nq,d,3\n')

    with pytest.raises(fr.EvaluationError, match="duplicate docs d, lines 4 and 6 of /"):
        fr.evaluate({"q": {"d": 1}}, path, "map")


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


def test_a_run_without_a_name_is_written_with_a_dash(tmp_path: Path) -> None:
    fr.write_run(Run.from_dict({"q": {"d": 1}}), tmp_path / "a.run")

    assert (tmp_path / "a.run").read_bytes() == b"q Q0 d 1 1.0 -\n"


def test_what_a_format_cannot_hold_leaves_the_file_as_it_was(write: Write) -> None:
    path = write("before", "out.json")
    twice = Run.from_arrays(["q", "q"], ["d", "d"], [1.0, 2.0])

    with pytest.raises(InputError, match="duplicate document 'd'"):
        fr.write_run(twice, path)
    assert Path(path).read_text() == "before"
    assert [file.name for file in Path(path).parent.iterdir()] == ["out.json"]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("ids", [("", "d"), ("q", "")])
def test_an_empty_id_is_not_written_where_it_could_not_be_read(
    form: str, ids: tuple[str, str], tmp_path: Path
) -> None:
    run = Run.from_dict({ids[0]: {ids[1]: 1.0}})

    with pytest.raises(InputError, match=f"has an empty id: expected some text for a {form} file"):
        fr.write_run(run, tmp_path / f"run.{form}")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run.csv", "query_id,doc_id,score\nq,d,1\nq,,2\n"),
        ("run.tsv", "query_id\tdoc_id\tscore\nq\td\t1\n\td\t2\n"),
        ("run.jsonl", '{"query_id": "q", "doc_id": "d", "score": 1}\n\n'
         '{"query_id": "q", "doc_id": "", "score": 2}\n'),
    ],
)  # fmt: skip
def test_an_empty_id_in_a_text_file_is_an_error_with_its_line(
    name: str, content: str, write: Write
) -> None:
    with pytest.raises(FormatError, match="_id': expected an id, found an empty text") as raised:
        fr.read_run(write(content, name))

    assert raised.value.line == 3


def test_formats_that_are_unknown_are_refused(tmp_path: Path) -> None:
    qrels = Qrels.from_dict({"q": {"d": 1}})

    with pytest.raises(fr.FastrankError, match=r"format: expected one of trec, csv.*, found 'xml'"):
        fr.write_qrels(qrels, tmp_path / "a", "xml")
    with pytest.raises(InputError, match="unknown format; set format="):
        fr.write_qrels(qrels, tmp_path / "a")
    with pytest.raises(TypeError, match="expected Run, found Qrels"):
        fr.write_run(qrels, tmp_path / "a.csv")  # type: ignore[arg-type]


# Evaluation


@pytest.mark.parametrize("form", FORMATS)
def test_files_of_every_format_give_the_same_scores(form: str, tmp_path: Path) -> None:
    """TREC's files are what the numbers are proved by."""
    qrels, run = DATA / "digits.qrels", DATA / "pixels.run"
    expected = fr.evaluate(read_trec_qrels(qrels), run, "official")
    for source, load, save, name in (
        (qrels, fr.read_qrels, fr.write_qrels, "q"),
        (run, fr.read_run, fr.write_run, "r"),
    ):
        save(load(source), tmp_path / f"{name}.{form}")  # type: ignore[operator]

    found = fr.evaluate(tmp_path / f"q.{form}", tmp_path / f"r.{form}", "official")

    # JSON has no place for the run's name.
    assert {**found.mean, "runid": ""} == {**expected.mean, "runid": ""}


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    """What shows the format of standard input is still there to be read."""
    found = fastrank("eval", "-m", "map", "-", str(DATA / "pca.run"), stdin=QRELS)

    assert (found.returncode, found.stderr) == (0, b"")
    assert b"map" in found.stdout


def fastrank(*arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "fastrank", *arguments], capture_output=True, check=False,
        input=stdin,
    )  # fmt: skip


def test_fastrank_eval_takes_files_of_every_format(tmp_path: Path) -> None:
    fr.write_qrels(read_trec_qrels(DATA / "digits.qrels"), tmp_path / "q.jsonl")
    fr.write_run(read_trec_run(DATA / "pca.run"), tmp_path / "r.parquet")
    own = fastrank("eval", "-m", "map", str(tmp_path / "q.jsonl"), str(tmp_path / "r.parquet"))
    trec = fastrank("eval", "-m", "map", str(DATA / "digits.qrels"), str(DATA / "pca.run"))

    assert (own.returncode, own.stderr) == (0, b"")
    assert own.stdout.splitlines()[1:] == trec.stdout.splitlines()[1:]


# fastrank convert


def test_convert_takes_a_file_through_every_format_and_back(tmp_path: Path) -> None:
    lines = (DATA / "pca.run").read_bytes().splitlines(keepends=True)[::50]
    (tmp_path / "first.run").write_bytes(b"".join(lines))
    files = [
        tmp_path / "first.run",
        *(tmp_path / f"a.{form}.gz" for form in FORMATS if form != "json"),
    ]

    for source, target in zip(files, [*files[1:], tmp_path / "last.run"], strict=True):
        found = fastrank("convert", str(source), str(target))
        assert (found.returncode, found.stdout, found.stderr) == (0, b"", b"")

    first, last = (read_trec_run(tmp_path / f"{name}.run") for name in ("first", "last"))
    assert contents(last) == contents(first)
    assert last.tag == first.tag
    assert b"".join(lines) == (tmp_path / "first.run").read_bytes()


def test_convert_reads_and_writes_the_standard_streams() -> None:
    found = fastrank(
        "convert", "--kind", "qrels", "--format", "trec", "-", "-", stdin=b'{"q": {"d": 2}}'
    )

    assert (found.returncode, found.stdout, found.stderr) == (0, b"q 0 d 2\n", b"")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"q 0 d 1\n", b"qrels"), (b"q Q0 d 1 0.5 t\n", b"run"),
        (b"qid,docno,label\nq,d,1\n", b"qrels"),
        (b"qid,docno,rank,score\nq,d,1,1\n", b"run"), (b"qid,docno,score\nq,d,1\n", None),
        (b'{"q": {"d": 1}}', None), (b"q\td\t1\n", None),
        (b'{"qid": "q", "docno": "d", "relevance": 1}\n', b"qrels"),
    ],
)  # fmt: skip
def test_convert_tells_the_kind_only_where_it_is_certain(
    content: bytes, kind: bytes | None
) -> None:
    found = fastrank("convert", "--format", "csv", "-", "-", stdin=content)

    if kind is None:
        assert found.returncode == 2
        assert b"could be qrels or a run; use --kind qrels or --kind run" in found.stderr
    else:
        assert found.returncode == 0
        assert (b"relevance" in found.stdout) == (kind == b"qrels")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["in.run", "out"], 2, "out: unknown format; use --format"),
        (["--format", "parquet", "in.run", "-"], 2, "parquet cannot be written to standard output"),
        (["--format", "xml", "in.run", "-"], 2, "invalid choice: 'xml'"),
        (["no.run", "out.csv"], 1, "no.run: no such file or directory"),
        (["bad.csv", "out.csv"], 1, "bad.csv:2: column 'label': expected a number"),
    ],
)
def test_convert_says_what_is_wrong(
    arguments: list[str], status: int, message: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(write("q Q0 d 1 0.5 t\n", "in.run")).parent
    write("qid,docno,label\nq,d,x\n", "bad.csv")
    found = subprocess.run(
        [sys.executable, "-m", "fastrank", "convert", *arguments],
        capture_output=True, text=True, check=False, cwd=folder,
        env={"PYTHONPATH": str(Path(fr.__file__).parent.parent)},
    )  # fmt: skip

    assert found.returncode == status
    assert message in found.stderr
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize("query", ['{"q"', "[}q", '{"q":1', '["a",', '{"q":"d",', "{}"])
def test_trec_files_whose_queries_begin_like_json_read_back(query: str, tmp_path: Path) -> None:
    run, qrels = {query: {"d1": 1.5, "d2": 1.0}}, {query: {"d1": 1, "d2": 0}}
    fr.write_run(fr.Run.from_dict(run), tmp_path / "x.run")
    fr.write_qrels(fr.Qrels.from_dict(qrels), tmp_path / "x.qrels")

    assert fr.read_run(tmp_path / "x.run").to_dict() == run
    assert fr.read_qrels(tmp_path / "x.qrels").to_dict() == qrels
    assert fr.evaluate(tmp_path / "x.qrels", tmp_path / "x.run", "map").mean == {"map": 1.0}


@pytest.mark.parametrize(
    "content",
    [
        '{"q1": {"d1": 0.5 , "d2": 2 , "d3": 1}}',
        '{"q1": \n{"d1" : 0.5 , "d2" : 2 ,\n "d3": 1}}',
        '{"q1": { "d1" : 0.5 ,\n "d2": 2, "d3": 1 } }',
    ],
)
def test_json_whose_lines_have_as_many_fields_as_those_of_trec_is_json(
    content: str, tmp_path: Path
) -> None:
    (tmp_path / "run").write_text(content)

    assert fr.read_run(tmp_path / "run").to_dict() == {"q1": {"d1": 0.5, "d2": 2.0, "d3": 1.0}}


@pytest.mark.parametrize("content", ["[" * 100_000, '{"q": ' * 100_000])
def test_json_nested_too_deeply_is_refused(tmp_path: Path, content: str) -> None:
    """And the file is closed."""
    (tmp_path / "run.json").write_text(content)

    with pytest.raises(fr.FormatError, match="nested too deeply"):
        fr.evaluate({"q": {"d": 1}}, tmp_path / "run.json", "map")


def test_a_repeated_document_is_found_at_once_in_a_long_ranking(tmp_path: Path) -> None:
    """In JSON, and on the way to it; not by looking through all before it, for each."""
    count = 200_000
    docs = ", ".join(f'"d{i}": 1' for i in [*range(count), count - 1])
    (tmp_path / "run.json").write_text(f'{{"q": {{{docs}}}}}')
    names = [f"d{i}" for i in [*range(count), count - 1]]
    run = fr.Run.from_arrays(["q"] * len(names), names, [1.0] * len(names))

    with pytest.raises(fr.FormatError, match=f"duplicate key 'd{count - 1}'"):
        fr.read_run(tmp_path / "run.json")
    with pytest.raises(fr.InputError, match=f"duplicate document 'd{count - 1}'"):
        run.to_dict()


@pytest.mark.parametrize("name", ["run.csv", "run.tsv"])
def test_a_carriage_return_in_an_id_is_no_end_of_line(tmp_path: Path, name: str) -> None:
    run = {"q\r": {"\r": 3.0, "a\rb": 2.0, "c": 1.0}}
    fr.write_run(fr.Run.from_dict(run), tmp_path / name)

    assert fr.read_run(tmp_path / name).to_dict() == run


def test_convert_tells_which_queries_a_format_cannot_hold() -> None:
    """Those without results are gone with the last of their lines; JSON keeps them."""
    content = b'{"q": {}, "r": {"d": 1.5}}'
    for wanted, words in (("trec", b"1 query without results dropped, such as 'q'"), ("json", b"")):
        arguments = ["convert", "--kind", "run", "--format", wanted, "-", "-"]
        found = subprocess.run(
            [sys.executable, "-m", "fastrank", *arguments],
            input=content, capture_output=True, check=True,
        )  # fmt: skip
        assert words in found.stderr
        assert bool(words) == bool(found.stderr)
        assert (b'"q": {}' in found.stdout) == (wanted == "json")


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("qrels", b"q 0 a 1\nq 0 b high\n", "-:2: expected a grade, found 'high'"),
        ("run", b"q Q0 a 1 1 t\nq Q0 b 2 0,5 t\n", "-:2: expected a score, found '0,5'"),
    ],
)
def test_convert_refuses_what_is_no_number(kind: str, content: bytes, message: str) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "fastrank", "convert", "--kind", kind, "--format", "csv", "-", "-"],
        input=content, capture_output=True, check=False,
    )  # fmt: skip

    assert (found.returncode, found.stdout) == (1, b"")
    assert message.encode() in found.stderr


def test_columns_of_a_file_are_named_by_role(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("q,d,1\n")

    with pytest.raises(
        fr.InputError, match=r"run\.csv: columns: expected {role: name}, found list"
    ):
        fr.read_run(tmp_path / "run.csv", columns=["query", "doc", "score"])  # type: ignore[arg-type]


TABLE = b"question\tcandidate\tlabel\tscore\nq1\td1\t0\t0.5\nq1\td2\t1\t0.4\n"
SEVEN = b"q1\tQ0\td1\t0\t0.5\tmodel\t0\nq1\tQ0\td2\t1\t0.4\tmodel\t1\n"


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (TABLE, ("question", "candidate", "label", "score")),
        (TABLE.replace(b"\t", b","), ("question", "candidate", "label", "score")),
        (SEVEN, (0, 2, 6, 4)),
    ],
)
def test_a_file_with_columns_is_a_table(content: bytes, names: tuple[Any, ...]) -> None:
    """Even if a line has as many fields as one of TREC's."""
    query, doc, grade, score = names

    qrels = fr.read_qrels(io.BytesIO(content), columns={"query": query, "doc": doc, "grade": grade})
    run = fr.read_run(io.BytesIO(content), columns={"query": query, "doc": doc, "score": score})

    assert qrels.to_dict() == {"q1": {"d1": 0, "d2": 1}}
    assert run.to_dict() == {"q1": {"d1": 0.5, "d2": 0.4}}
    with pytest.raises(fr.InputError, match="columns: the fields of TREC's format"):
        fr.read_qrels(io.BytesIO(content), "trec", columns={"query": query})
