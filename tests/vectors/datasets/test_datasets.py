"""Data sets of texts, from dicts, lists, folders, files, tables and articles."""

import csv
import gzip
import io
import json
from html import escape

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fastrank as fr
from fastrank import Dataset
from fastrank.core.formats.texts.lookup import read_texts
from fastrank.errors import ArrayError, FormatError, InputError, OptionError, ReadError
from tests.helpers.collections import COLLECTIONS, beir_folder, needs_collections
from tests.helpers.huggingface import Table
from tests.helpers.strategies import examples

CORPUS = {"d1": "red apples", "d2": "blue plums"}
QUERIES = {"q1": "apples", "q2": "plums"}
QRELS = {"q1": {"d1": 1}, "q2": {"d2": 2}}


def corpus_of(data):
    return dict(zip(data.corpus_ids, data.corpus, strict=True))


def queries_of(data):
    return dict(zip(data.query_ids, data.queries, strict=True))


def topics(text, **options):
    """Ids and texts of queries in a file."""
    corpus, qrels = io.BytesIO(b"d1\ttext"), {str(i): {"d1": 1} for i in range(400)}
    return queries_of(Dataset.from_files(corpus, io.BytesIO(text.encode()), qrels, **options))


def documents(text, **options):
    """Ids and texts of documents in a file."""
    qrels = {"q1": {f"d{i}": 1 for i in range(9)}}
    return corpus_of(Dataset.from_files(io.BytesIO(text), io.BytesIO(b"q1\tt"), qrels, **options))


# Dicts and lists


TITLED = {"d1": {"title": "Red", "text": "apples"}, "d2": {"title": "", "text": " plums"}}
NUMBERED = (["a", "b"], ["c"], {7: {1: 1}})


@pytest.mark.parametrize(
    ("given", "options", "corpus", "queries", "unjudged"),
    [
        ((CORPUS, QUERIES, QRELS), {}, CORPUS, QUERIES, []),
        ((CORPUS, {**QUERIES, "q3": "pears"}, QRELS), {}, CORPUS, QUERIES, ["q3"]),
        (NUMBERED, {"query_ids": [7]}, {"0": "a", "1": "b"}, {"7": "c"}, []),
        # Title and text are joined by a blank, as by BEIR, MTEB and sentence-transformers.
        ((TITLED, QUERIES, QRELS), {}, {"d1": "Red apples", "d2": " plums"}, QUERIES, []),
    ],
)
def test_dicts_have_their_keys_as_ids_and_lists_their_row_numbers(
    given, options, corpus, queries, unjudged
):
    """Unless ids stand beside them. Queries without judgments are left out."""
    data = Dataset.from_texts(*given, **options)
    assert (corpus_of(data), queries_of(data), data.unjudged) == (corpus, queries, unjudged)
    assert data.qrels.to_dict() == fr.Qrels.from_dict(given[2]).to_dict()
    assert not data.ignore_identical_ids


def test_judged_documents_outside_the_corpus_are_named():
    data = Dataset.from_texts(CORPUS, QUERIES, {"q1": {"d1": 1, "d9": 1}})
    assert data.outside == ["d9"]
    assert repr(data) == (
        "<Dataset texts: 2 documents, 1 query, 2 judgments, 1 judged document outside the corpus>"
    )


NONE_JUDGED = r"no judged document is in the corpus \(judged: 'd1', 'd2'; corpus: '1'\)$"
# Ids of another kind would give 0 for every measure.
NONE_ASKED = r"no query has judgments \(judged: '1'; queries: 'q1', 'q2'\)$"


@pytest.mark.parametrize(
    ("corpus", "options", "reason"),
    [
        (["a", "b"], {"corpus_ids": ["d1"]}, r"corpus: expected 2 ids, one per text, found 1"),
        (["a", "b"], {"corpus_ids": ["d1", "d1"]}, r"corpus: id 1: duplicate 'd1', also at 0"),
        (["a", "b"], {"corpus_ids": ["d1", 1.5]}, r"corpus: id 1: .* found the float 1.5"),
        (["a", "b"], {"corpus_ids": {"d1", "d2"}}, r"corpus: expected .* found set"),
        ({"d1": "a", "d2": None}, {}, r"corpus: 'd2': expected a str, found NoneType: None"),
        ({"d1": {"title": "a"}}, {}, r"corpus: 'd1': expected a str, found dict"),
        (CORPUS, {"corpus_ids": ["d1"]}, r"corpus: expected no ids for a dict"),
        ({}, {}, r"texts: the corpus is empty"),
        ("text", {}, r"corpus: expected a dict or a list of texts, found a str"),
        ({"a", "b"}, {}, r"corpus: expected a dict or a list, found set, which has no order"),
        ({"1": "a"}, {}, NONE_JUDGED),
        (CORPUS, {"qrels": {1: {"d1": 1}}}, NONE_ASKED),
        (["a", "b"], {"qrels": {"q1": {1: 1, 2: 1}}}, r"documents up to 2 .* count from 1; give"),
        (["a", "b"], {"qrels": {"q1": {0: 1, 7: 1}}}, r"documents up to 7 .* row numbers, 0 to 1"),
    ],
)
def test_texts_that_are_no_data_set(corpus, options, reason):
    with pytest.raises(InputError, match=reason):
        Dataset.from_texts(corpus, QUERIES, **{"qrels": QRELS, **options})


@pytest.mark.parametrize("judged", [{1: {0: 1}, 2: {0: 1}}, {2: {0: 1}, 1: {0: 1}, 3: {0: 1}}])
def test_judgments_that_count_lists_of_queries_from_1_are_an_error(judged):
    with pytest.raises(InputError, match=r"queries up to . are judged, .* seem to count from 1"):
        Dataset.from_texts(CORPUS, ["x", "y"], {q: {"d1": 1} for q in judged})


def test_ids_that_were_given_may_be_any_numbers():
    data = Dataset.from_texts({"0": "a", "1": "b"}, ["x"], {0: {1: 1, 2: 1}}, query_ids=["0"])

    assert (data.outside, data.row_numbers) == (["2"], {})


def test_documents_with_a_negative_grade_are_not_judged():
    numbered = Dataset.from_texts(["a", "b"], ["x"], {0: {0: 1, 2: -1, 7: -1}})
    assert numbered.outside == []
    data = Dataset.from_texts(CORPUS, QUERIES, {"q1": {"d1": 1, "x": 0, "y": -1}})

    assert data.outside == ["x"]


# BEIR


@pytest.mark.parametrize(("pack", "ending"), [(bytes, ""), (gzip.compress, ".gz")])
def test_folder_of_beir(pack, ending, tmp_path):
    data = Dataset.from_beir(beir_folder(tmp_path, pack, ending))
    assert (data.corpus, data.query_ids) == (["Red apples", "blue plums"], ["q1"])
    assert (data.qrels.to_dict(), data.name) == ({"q1": {"d1": 1}}, tmp_path.name)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_package_beir_reads_the_same(tmp_path):
    loader = pytest.importorskip("beir.datasets.data_loader")
    folder = beir_folder(tmp_path)
    corpus, queries, qrels = loader.GenericDataLoader(str(folder)).load("test")
    from_memory = Dataset.from_texts(corpus, queries, qrels)
    data = Dataset.from_beir(folder)
    assert corpus_of(data) == corpus_of(from_memory)
    assert queries_of(data) == queries_of(from_memory)
    assert data.qrels.to_dict() == qrels


def test_split_that_is_not_there(tmp_path):
    with pytest.raises(ReadError, match=r"qrels/dev\.tsv: no such .*; available splits: test"):
        Dataset.from_beir(beir_folder(tmp_path), "dev")


@pytest.mark.parametrize(
    ("file", "line", "reason"),
    [
        ("corpus", b'{"_id": "d3"}', r"expected a text \(text, .*\), found _id"),
        ("corpus", b'{"text": "a"}', r"expected an id \(_id, id, .*\), found text"),
        ("corpus", b'{"_id": "d3", "text": 5}', r"text: expected a str, found int: 5"),
        ("corpus", b'{"_id": null, "text": "a"}', "_id: expected an id, found None"),
        ("corpus", b'{"_id": "d1", "text": "a"}', r"duplicate document 'd1'"),
        ("corpus", b'{"_id": "d3", "text": "a"', r"Expecting ',' delimiter at column 26"),
        ("corpus", b'["d3", "a"]', r"expected an object with an id and a text, found list"),
        ("queries", b'{"_id": "q3", "text": "\xe9"}', r"the byte 0xe9 at column 24 is not"),
    ],
)
def test_line_of_a_folder_of_beir_that_is_none(tmp_path, file, line, reason):
    folder = beir_folder(tmp_path)
    with (folder / f"{file}.jsonl").open("ab") as opened:
        opened.write(b"\n" + line + b"\n")
    with pytest.raises(FormatError, match=rf"{file}\.jsonl:4: {reason}"):
        Dataset.from_beir(folder)


@pytest.mark.parametrize("length", [1 << 20, (1 << 20) - 1, 3 << 20])
def test_lines_longer_than_what_is_read_at_once(length):
    assert documents(b"d1\t" + b"a" * length + b"\nd2\tb") == {"d1": "a" * length, "d2": "b"}


# TREC and other files


def test_all_text_of_trec_but_the_ids_with_a_blank_where_tags_were():
    found = documents(
        b"<!DOCTYPE x>\n<doc>\n<DOCNO> d1 </DOCNO>\n<HEADLINE>Red <i>apples</i></HEADLINE>\n"
        b"<TEXT>\n<P>1 < 2 &amp; 3<P>AT&T\n</TEXT>\n</doc><DOC><DOCNO>d2</DOCNO>one line</DOC>"
    )
    found = {own: " ".join(text.split()) for own, text in found.items()}
    assert found == {"d1": "Red apples 1 < 2 & 3 AT&T", "d2": "one line"}


# An element ends what was opened in it and never closed.
FIELDS = b"<DOC><DOCNO>d1</DOCNO><HEAD>a</HEAD><TEXT><P>b<P>c</TEXT><NOTE>d</NOTE></DOC>"
UNTITLED = b'{"id": "d1", "title": "", "text": "a"}'
SPACED = b"<DOC><DOCNO>d1</DOCNO>\n a  b\nc\n</DOC>"


@pytest.mark.parametrize(
    ("file", "options", "text"),
    [
        pytest.param(FIELDS, {"fields": ["TEXT"]}, "b c", id="a field"),
        pytest.param(FIELDS, {"fields": ["head", "note"]}, "a d", id="two fields"),
        pytest.param(b'{"id": "d1", "title": " a "}', {}, "a", id="a title alone"),
        pytest.param(UNTITLED, {"fields": ["title", "text"]}, "a", id="an empty field"),
        pytest.param(SPACED, {}, "\n a  b\nc\n", id="text without tags as it stands"),
        pytest.param(b"id\ttext\ttitle\r\nd1\tapples\tRed\r\n", {}, "Red apples", id="DPR"),
        pytest.param(b"d1\tcaf\xe9", {"encoding": "latin-1"}, "café", id="another encoding"),
    ],
)
def test_forms_of_documents(file, options, text):
    assert documents(file, **options) == {"d1": text}


@pytest.mark.parametrize(
    ("file", "title"),
    [
        (b"<DOC><DOCNO>d1</DOCNO>\n red\n</DOC>", ""),
        (b'{"id": "d1", "text": " red "}', ""),
        (b'{"id": "d1", "title": " red "}', ""),
        (b"id\ttitle\ttext\nd1\tA \t red \n", "A "),
    ],
)
def test_texts_to_look_up_have_no_blanks_around_them(file, title):
    """A title without a text is the text."""
    assert read_texts(io.BytesIO(file), {"d1"}) == {"d1": {"title": title, "text": "red"}}


words = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=8)


@examples(100)
@given(st.lists(st.lists(words, max_size=3).map("\n".join), min_size=1, max_size=9))
def test_any_text_comes_back(texts):
    """From SGML, where what would be markup is written as references; from JSON; from tables, whose
    cells are quoted by csv where they have a header, as DPR's passages."""
    expected = {f"d{i}": text for i, text in enumerate(texts)}
    escaped = [f"<DOC><DOCNO>{own}</DOCNO>{escape(text)}</DOC>" for own, text in expected.items()]
    lines = [json.dumps({"id": own, "text": text}) for own, text in expected.items()]
    cells = {own: text.replace("\t", " ").replace("\n", " ") for own, text in expected.items()}
    # Lines that begin like a list of answers are DPR's questions.
    assume(not any(text.lstrip().startswith(("['", '["')) for text in cells.values()))
    found = documents("\n".join(escaped).encode())
    assert [text.strip() for text in found.values()] == [text.strip() for text in texts]
    assert documents("\n".join(lines).encode()) == expected
    assert documents("".join(f"{o}\t{t}\n" for o, t in cells.items()).encode()) == cells
    file = io.StringIO()
    writer = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows((own, text, "") for own, text in cells.items())
    assert documents(f"id\ttext\ttitle\n{file.getvalue()}".encode()) == cells


TOPIC = """
<top>
<num> Number: 7
<title> Topic: Red apples
<desc> Description:
Which apples are red?
<narr> Narrative:
Any.
</top>
"""
TOPIC_OF_XML = (
    '<topics task="x"><topic number="7"><query>red</query><question>why?</question></topic>\n'
    "</topics>"
)


@pytest.mark.parametrize(
    ("file", "fields", "text"),
    [
        (TOPIC, None, "Red apples"),
        (TOPIC, ["desc"], "Which apples are red?"),
        (TOPIC, ["title", "narr"], "Red apples Any."),
        ("<top>\n<num>7</num><title>\nred\n</title>\n</top>", None, "red"),
        ("<DOC>\n<DOCNO> 7 </DOCNO>\nred</DOC>", None, "red"),
        (TOPIC_OF_XML, None, "red"),
        ("7\tred", None, "red"),
        ("\ufeffqid\tquery\n7\tred\n", None, "red"),
        ('{"qid": 7, "query": "red"}', None, "red"),
        ('{"_id": "7", "text": "red"}', None, "red"),
    ],
)
def test_forms_of_queries(file, fields, text):
    assert topics(file, query_fields=fields) == {"7": text}


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ('"He said ""hi"" there"', 'He said "hi" there'),
        ('""', ""),
        ('"Red" and "blue"', '"Red" and "blue"'),
        ('a "red" one', 'a "red" one'),
        ('"', '"'),
    ],
)
def test_cells_below_a_header_may_be_quoted(cell, text):
    """As csv, with which DPR reads and writes its passages; MS MARCO has neither."""
    assert documents(f"id\ttext\nd1\t{cell}\n".encode()) == {"d1": text}
    assert documents(f"d1\t{cell}\n".encode()) == {"d1": cell}


def test_corpus_in_a_folder(tmp_path):
    (tmp_path / "part" / "deep").mkdir(parents=True)
    (tmp_path / "b.trec").write_bytes(b"<DOC><DOCNO>d2</DOCNO>b</DOC>")
    (tmp_path / "part" / "deep" / "c.gz").write_bytes(gzip.compress(b"d3\tc"))
    (tmp_path / ".hidden").write_bytes(b"x")
    data = Dataset.from_files(tmp_path, io.BytesIO(b"q1\tq"), {"q1": {"d3": 1}})
    assert corpus_of(data) == {"d2": "b", "d3": "c"}


def test_corpus_in_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"_id": ["d1", "d2"], "title": ["Red", ""], "text": ["apples", "plums"]})
    path = tmp_path / "corpus.parquet"
    pytest.importorskip("pyarrow.parquet").write_table(table, path)
    data = Dataset.from_files(path, io.BytesIO(b"q1\tq"), {"q1": {"d1": 1}})
    assert data.corpus == ["Red apples", "plums"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"<DOC>\n<DOCNO>d1</DOCNO>", r":1: <doc> is not closed"),
        (b"\n<DOC>\n<TEXT>a</TEXT></DOC>", r":2: expected <DOCNO> with an id in <doc>, found none"),
        (b"<DOC><DOCNO>d1</DOCNO></DOC>\nand", r":2: expected <DOC> or <top>, found 'and'"),
        (b"d1\ta\nd2", r":2: expected 2 cells \(id, text\), found 1"),
        (b"d1\ta\nd1\tb", r":2: duplicate document 'd1'"),
        (b"words only", r":1: expected <DOC> or <top>, JSON, or an id, a tab and a text"),
        (b" \n", r":1: expected documents or queries, found only blanks"),
        (b'{"id": "d1", "body": 1}', r":1: body: expected a str, found int: 1"),
    ],
)
def test_files_that_hold_no_texts(text, reason):
    with pytest.raises(FormatError, match=reason):
        documents(text)


@pytest.mark.parametrize(
    ("error", "options", "reason"),
    [
        (OptionError, {"encoding": "latin-99"}, "encoding: unknown encoding: latin-99"),
        (OptionError, {"fields": "text"}, "fields: expected a list of names, found the str 'text'"),
        (FormatError, {"fields": ["abstract"]}, r":1: expected 'abstract' .*, found id, text"),
    ],
)
def test_options_of_files_that_are_wrong(error, options, reason):
    with pytest.raises(error, match=reason):
        documents(b'{"id": "d1", "text": "a"}', **options)


@needs_collections
def test_vaswani():
    files = [COLLECTIONS / "vaswani" / name for name in ("corpus.trec", "queries.trec")]
    data = Dataset.from_files(*files, COLLECTIONS / "vaswani" / "qrels.txt", name="vaswani")
    assert repr(data) == "<Dataset vaswani: 11,429 documents, 93 queries, 2,083 judgments>"
    assert data.queries[3] == "SYSTEMS OF DATA CODING FOR INFORMATION TRANSFER"


@needs_collections
def test_cacm():
    """Twelve topics have no judgments, and 46 judged ids are not written as in the corpus."""
    names = ("corpus.jsonl", "topics.cacm.txt", "qrels.cacm.txt")
    data = Dataset.from_files(*(COLLECTIONS / "cacm" / name for name in names))
    assert (len(data.corpus), len(data.queries), len(data.unjudged)) == (3204, 52, 12)
    assert len(data.outside) == 46
    assert "CACM-756" in data.outside


# Hugging Face


def tables():
    corpus = {"_id": ["d1", "d2"], "title": ["Red", None], "text": ["apples", "plums"], "x": [1, 2]}
    queries = Table({"_id": ["q1", "q2"], "text": ["apples", "plums"]})
    qrels = Table({"query-id": ["q1"], "corpus-id": ["d1"], "score": [1]})
    return Table(corpus), queries, qrels


def test_tables_of_hugging_face():
    data = Dataset.from_huggingface(*tables())
    assert (data.corpus_ids, data.corpus[:]) == (["d1", "d2"], ["Red apples", "plums"])
    assert list(data.corpus) == data.corpus[:]
    assert (data.query_ids, data.queries[:], data.unjudged) == (["q1"], ["apples"], ["q2"])
    assert data.qrels.to_dict() == {"q1": {"d1": 1}}


def test_the_package_datasets():
    """With its own tables: chosen rows, a dict of splits, rows as arrays."""
    datasets = pytest.importorskip("datasets")
    corpus, queries, qrels = (datasets.Dataset.from_dict(table[:]) for table in tables())
    data = Dataset.from_huggingface(
        datasets.DatasetDict({"corpus": corpus.select([1, 0])}),
        queries.with_format("numpy"),
        datasets.DatasetDict({"train": qrels.select([]), "test": qrels}),
        split="test",
    )
    assert (data.corpus_ids, data.corpus[:]) == (["d2", "d1"], ["plums", "Red apples"])
    assert (data.corpus[1], data.query_ids) == ("Red apples", ["q1"])


def test_tables_with_other_names_of_columns():
    corpus = Table({"number": [7, 8], "passage": ["red", "blue"], "text": ["x", "y"]})
    qrels = Table({"asked": [0], "found": [8], "how": [2]})
    columns = {
        "corpus": {"id": "number", "text": "passage"},
        "queries": {"id": None, "text": "words"},
        "qrels": {"query": "asked", "doc": "found", "grade": "how"},
    }
    queries = Table({"words": ["azure"]})
    data = Dataset.from_huggingface(corpus, queries, {"test": qrels}, columns=columns)
    assert (data.corpus_ids, data.corpus[:]) == (["7", "8"], ["red", "blue"])
    assert (data.query_ids, data.queries[:]) == (["0"], ["azure"])
    assert data.qrels.to_dict() == {"0": {"8": 2}}


C, Q, R = tables()
TWO_SPLITS = {"a": C, "b": C}
ROLES = r"columns: expected the roles corpus, queries, qrels.*, found 'texts'"
ROLES_OF_CORPUS = r"corpus: columns: expected the roles id, title, text.*, found 'body'"


@pytest.mark.parametrize(
    ("given", "columns", "split", "reason"),
    [
        ((C, Q, R), {"texts": {}}, None, ROLES),
        ((C, Q, R), {"corpus": {"body": "x"}}, None, ROLES_OF_CORPUS),
        (
            (C, Q, R),
            {"corpus": {"text": "y"}},
            None,
            "corpus: .*no column 'y' for the text",
        ),
        ((C, Q, R), {"qrels": {"doc": "y"}}, None, "qrels: columns: no column 'y' for the doc"),
        (([1], Q, R), None, None, "corpus: expected a Hugging Face Dataset .* list"),
        ((TWO_SPLITS, Q, R), None, None, "corpus: expected split=, one of a, b"),
        ((TWO_SPLITS, Q, R), None, "test", "corpus: no split 'test'; expected one of a, b"),
        (
            (C.select_columns(["_id", "x"]), Q, R),
            None,
            None,
            "corpus: no text column: found",
        ),
        ((C, Q.select_columns(["text"]), R), None, None, "queries: no id column: found 'text'"),
        ((C, Q, R.select_columns(["query-id", "corpus-id"])), None, None, "no grade column"),
    ],
)
def test_tables_that_lack_something(given, columns, split, reason):
    with pytest.raises(InputError, match=reason):
        Dataset.from_huggingface(*given, columns=columns, split=split)


# Queries with positives


def test_lists_of_positives_and_negatives_are_judged_1_and_0():
    """The rows of FlagEmbedding."""
    rows = [
        {"query": "apples", "pos": ["red apples", "green apples"], "neg": ["blue plums"]},
        {"query": "plums", "pos": ["blue plums"], "neg": []},
    ]
    data = Dataset.from_pairs(rows)
    assert data.corpus == ["blue plums", "red apples", "green apples"]
    assert data.queries == ["apples", "plums"]
    assert data.qrels.to_dict() == {"0": {"0": 0, "1": 1, "2": 1}, "1": {"0": 1}}


def test_rows_with_one_anchor_are_one_query():
    """The rows of sentence-transformers: a positive each."""
    rows = {"anchor": ["a", "a", "b"], "positive": ["x", "y", "z"], "negative_1": ["y", "z", "x"]}
    data = Dataset.from_pairs(Table(rows))
    assert (queries_of(data), data.corpus) == ({"0": "a", "2": "b"}, ["y", "x", "z"])
    assert data.qrels.to_dict() == {"0": {"0": 1, "1": 1, "2": 0}, "2": {"1": 0, "2": 1}}


def test_positives_in_a_corpus_that_is_given():
    """The tutorial of FlagEmbedding searches the positives of more queries than it asks."""
    rows = [{"query": "a", "positive": ["x", "y"]}]
    data = Dataset.from_pairs(rows, corpus=["w", "x", "w", "v"])
    assert corpus_of(data) == {"0": "w", "1": "x", "2": "v"}
    assert (data.qrels.to_dict(), data.outside) == ({"0": {"1": 1, "3": 1}}, ["3"])


def test_duplicates_that_are_kept_are_documents_of_their_own():
    rows = [{"query": "a", "pos": ["x", "y"]}, {"query": "a", "pos": ["y"], "neg": ["x"]}]
    data = Dataset.from_pairs(rows, duplicates="keep")
    assert (data.corpus, data.queries) == (["x", "y", "x", "y"], ["a", "a"])
    first, second = {"0": 1, "1": 1, "2": 1, "3": 1}, {"0": 0, "1": 1, "2": 0, "3": 1}
    assert data.qrels.to_dict() == {"0": first, "1": second}


def test_duplicates_that_are_kept_give_the_numbers_of_flag_embeddings_tutorial():
    """Its code compares texts, of which a corpus made of the positives has several copies."""
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(7)
    texts = [f"text {i}" for i in range(12)]
    positives = [random.choice(texts, 2, replace=False).tolist() for _ in range(9)]
    rows = [{"query": f"query {i}", "pos": own} for i, own in enumerate(positives)]
    data = Dataset.from_pairs(rows, duplicates="keep")
    assert data.corpus == [text for own in positives for text in own]
    vectors = {text: random.normal(size=4) for text in (*data.queries, *texts)}
    queries = np.array([vectors[text] for text in data.queries], "float32")
    corpus = np.array([vectors[text] for text in data.corpus], "float32")
    run = fr.search(queries, corpus, 5, query_ids=data.query_ids)
    reciprocal, flags, scores = 0.0, [], []
    for i, own in enumerate(positives):
        ranked = sorted(run[str(i)].items(), key=lambda result: -result[1])
        found = [data.corpus[int(doc)] for doc, _ in ranked]
        reciprocal += next((1 / j for j, text in enumerate(found, 1) if text in own), 0.0)
        flags.append(np.isin(found, own).astype(int))
        scores.append([score for _, score in ranked])

    mean = fr.evaluate(data.qrels, run, "RR@5 nDCG(ideal='retrieved')@5").mean

    assert mean["RR@5"] == pytest.approx(reciprocal / len(rows), rel=1e-15)
    ndcg = metrics.ndcg_score(flags, scores, k=5)
    assert mean["nDCG(ideal='retrieved')@5"] == pytest.approx(ndcg, rel=1e-13)


@pytest.mark.parametrize("kind", [Table, lambda columns: [{"passage": "w"}, {"passage": "x"}]])
def test_corpus_of_positives_in_a_table(kind):
    rows = [{"asked": "a", "told": "x"}]
    columns = {"query": "asked", "positive": "told", "text": "passage"}
    data = Dataset.from_pairs(rows, corpus=kind({"passage": ["w", "x"]}), columns=columns)
    assert (data.corpus, data.qrels.to_dict()) == (["w", "x"], {"0": {"1": 1}})


PAIR = {"query": "a", "pos": "x"}
NO_POSITIVE = "no positive column: found 'query', expected one of positive, pos, .*; or set columns"


@pytest.mark.parametrize(
    ("rows", "options", "reason"),
    [
        ([], {}, "expected records, found none"),
        ([{"query": "a"}], {}, NO_POSITIVE),
        ([{"query": None, "pos": "x"}], {}, "row 0, query.: expected a str, found NoneType"),
        ([{"query": "a", "pos": [5]}], {}, "row 0, pos.: expected a str, found int: 5"),
        ([PAIR], {"columns": {"pos": "x"}}, "expected the roles query.*, found 'pos'"),
        ([PAIR], {"corpus": [{"id": 1}]}, "corpus: no text column: found 'id'"),
        ([{"query": "a", "pos": []}], {}, "the corpus is empty"),
        ([PAIR], {"duplicates": "drop"}, "duplicates: expected one of 'merge', 'keep', found"),
    ],
)
def test_rows_that_are_no_pairs(rows, options, reason):
    with pytest.raises(OptionError if "duplicates" in options else InputError, match=reason):
        Dataset.from_pairs(rows, **options)


# Articles


ARTICLES = [
    {"id": 1, "text": "a", "similar": [3, 2]},
    {"id": 2, "text": "b"},
    {"id": 3, "text": "c", "similar": [3, 1]},
    {"id": 4, "text": "d", "similar": []},
]
COLUMNS = {key: [article.get(key) for article in ARTICLES] for key in ("id", "text", "similar")}


def test_labelled_articles_are_queries():
    """Each against all others: none is a result of itself, though it may name itself."""
    data = Dataset.from_articles(ARTICLES)
    assert (data.corpus_ids, queries_of(data)) == (["1", "2", "3", "4"], {"1": "a", "3": "c"})
    assert data.query_rows.tolist() == [0, 2]
    assert data.qrels.to_dict() == {"1": {"3": 1, "2": 1}, "3": {"1": 1}}
    assert data.ignore_identical_ids
    assert data.vectors is None


def test_articles_with_embeddings():
    first = {"key": "a", "vector": np.array([1, 2], np.float16), "like": ["b"]}
    columns = {"id": "key", "embedding": "vector", "similar": "like"}
    given = [first, {"key": "b", "vector": [0.5, 0.25]}]
    data = Dataset.from_articles(given, columns=columns)
    assert (data.vectors.dtype, data.vectors.tolist()) == (np.float32, [[1, 2], [0.5, 0.25]])


def json_lines(tmp_path):
    return io.BytesIO("".join(json.dumps(article) + "\n" for article in ARTICLES).encode())


def parquet_file(tmp_path):
    table = pytest.importorskip("pyarrow").table(COLUMNS)
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "articles.parquet")
    return tmp_path / "articles.parquet"


@pytest.mark.parametrize(
    ("make", "options"),
    [
        pytest.param(json_lines, {}, id="JSON lines"),
        pytest.param(parquet_file, {}, id="Parquet"),
        pytest.param(lambda _: pytest.importorskip("pyarrow").table(COLUMNS), {}, id="pyarrow"),
        pytest.param(lambda _: pytest.importorskip("pandas").DataFrame(COLUMNS), {}, id="pandas"),
        pytest.param(lambda _: pytest.importorskip("polars").DataFrame(COLUMNS), {}, id="polars"),
        pytest.param(lambda _: Table(COLUMNS, kind="torch"), {}, id="datasets"),
        pytest.param(lambda _: {"test": Table(COLUMNS)}, {}, id="the only split"),
        pytest.param(
            lambda _: dict.fromkeys("ab", Table(COLUMNS)), {"split": "b"}, id="one of two splits"
        ),
    ],
)
def test_articles_may_come_as(make, options, tmp_path):
    data = Dataset.from_articles(make(tmp_path), **options)
    assert data.qrels.to_dict() == {"1": {"3": 1, "2": 1}, "3": {"1": 1}}


BOTH = [{"id": 2, "text": "b"}, {"id": 3, "text": "b"}]


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        # The format of a thesis on document embeddings: similar articles with their texts.
        pytest.param([BOTH[1], BOTH[0]], {"3": 1, "2": 1}, id="articles"),
        pytest.param({"id": [2], "text": ["b"]}, {"2": 1}, id="a sequence of Hugging Face"),
        pytest.param(np.array([2]), {"2": 1}, id="an array"),
    ],
)
def test_labels_of_articles_may_be(labels, found):
    # Ids are arrays of one value in the rows of the formats of numpy and torch.
    given = [{"id": np.array(1), "text": "a", "labels": labels}, *BOTH]
    assert Dataset.from_articles(given).qrels.to_dict() == {"1": found}


def test_labels_under_two_names_must_be_chosen_from():
    given = [{**ARTICLES[0], "labels": [2]}, *ARTICLES[1:]]
    named = r"fields? of similar articles: 'labels' and 'similar'; set columns=\{'similar': NAME\}"
    with pytest.raises(InputError, match=named):
        Dataset.from_articles(given)
    chosen = Dataset.from_articles(given, columns={"similar": "labels"})
    assert chosen.qrels.to_dict() == {"1": {"2": 1}}


def changed(**change):
    return [{**ARTICLES[0], **change}, *ARTICLES[1:]]


ROWS = [[1.0, 2.0], [1.0, float("nan")], [1.0]]
EMBEDDED = [{"id": "abc"[i], "embedding": row, "similar": ["a"]} for i, row in enumerate(ROWS)]
NO_LABELS = r"expected articles with ids in 'labels' or 'similar' or 'label', found none"
NO_ID = "article '1': 'similar': expected an article with 'id'"
NOT_A_LIST = "'1': 'similar': expected a list of ids or of articles, found '2'"


@pytest.mark.parametrize(
    ("articles", "reason"),
    [
        (changed(similar=[{"key": 2}]), NO_ID),
        (changed(similar=[9]), "'1': 'similar': no article has the id '9'; use unknown='keep'"),
        (changed(similar="2"), NOT_A_LIST),
        (changed(similar=[1.5]), "article '1': 'similar': expected an id, found the float 1.5"),
        (changed(id=2), "id 1: duplicate '2', also at 0"),
        (changed(text=None), "article '1' has no 'text', unlike others"),
        (changed(text=5), "'1': expected a str, found int: 5"),
        (changed(embedding=[1.0]), "article '2' has no 'embedding', unlike others"),
        ([{"id": 1, "text": "a"}], NO_LABELS),
        ([{"id": 1}], r"expected articles with 'text' or 'embedding'"),
        ([{"text": "a"}], "no id column: found 'text'"),
        (["a"], "a list of dicts, found a list of str"),
        (dict.fromkeys("ab", Table(COLUMNS)), "articles: expected split=, one of a, b"),
        (EMBEDDED, r"articles\[2\]: 'c': expected shape \(2,\), as"),
        (EMBEDDED[:2], r"articles\[1, 1\]: 'b': expected a finite .* nan"),
    ],
)
def test_what_are_no_articles(articles, reason):
    error = ArrayError if r"\[" in reason else TypeError if "list of str" in reason else InputError
    with pytest.raises(error, match=reason):
        Dataset.from_articles(articles)


def test_similar_articles_that_are_not_there():
    given = [{"id": "a", "text": "a", "similar": ["b", "z"]}, {"id": "b", "text": "b"}]
    assert Dataset.from_articles(given, unknown="drop").qrels.to_dict() == {"a": {"b": 1}}
    assert Dataset.from_articles(given, unknown="keep").outside == ["z"]
