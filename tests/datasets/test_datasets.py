"""Data sets of texts, from dicts, lists, folders, files, tables and articles."""

from __future__ import annotations

import csv
import gzip
import io
import json
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank import Dataset, FormatError, InputError, OptionError, ReadError
from tests.helpers.collections import COLLECTIONS, beir_folder, needs_collections
from tests.helpers.huggingface import Table
from tests.helpers.strategies import examples

CORPUS = {"d1": "red apples", "d2": "blue plums"}
QUERIES = {"q1": "apples", "q2": "plums"}
QRELS = {"q1": {"d1": 1}, "q2": {"d2": 2}}


def topics(text: str, **options: Any) -> dict[str, str]:
    """Ids and texts of queries in a file."""
    corpus, qrels = io.BytesIO(b"d1\ttext"), {str(i): {"d1": 1} for i in range(400)}
    data = Dataset.from_files(corpus, io.BytesIO(text.encode()), qrels, **options)
    return dict(zip(data.query_ids, data.queries, strict=True))


def documents(text: bytes, **options: Any) -> dict[str, str]:
    """Ids and texts of documents in a file."""
    qrels = {"q1": {f"d{i}": 1 for i in range(9)}}
    data = Dataset.from_files(io.BytesIO(text), io.BytesIO(b"q1\ttext"), qrels, **options)
    return dict(zip(data.corpus_ids, data.corpus, strict=True))


# Dicts and lists


def test_dicts_have_their_keys_as_ids() -> None:
    data = Dataset.from_texts(CORPUS, QUERIES, QRELS)

    assert (data.corpus_ids, list(data.corpus)) == (["d1", "d2"], ["red apples", "blue plums"])
    assert (data.query_ids, list(data.queries)) == (["q1", "q2"], ["apples", "plums"])
    assert data.qrels.to_dict() == QRELS
    assert not data.ignore_identical_ids


def test_lists_have_their_ids_beside_them_or_row_numbers() -> None:
    data = Dataset.from_texts(["a", "b"], ["c"], {7: {1: 1}}, query_ids=[7])

    assert (data.corpus_ids, data.query_ids) == (["0", "1"], ["7"])


def test_title_and_text_are_joined_by_a_blank() -> None:
    """As BEIR, MTEB and sentence-transformers do; a document without title is its text."""
    corpus = {"d1": {"title": "Red", "text": "apples"}, "d2": {"title": "", "text": " plums"}}

    assert Dataset.from_texts(corpus, QUERIES, QRELS).corpus == ["Red apples", " plums"]


def test_queries_without_judgments_are_left_out() -> None:
    data = Dataset.from_texts(CORPUS, {**QUERIES, "q3": "pears"}, QRELS)

    assert data.query_ids == ["q1", "q2"]
    assert data.unjudged == ["q3"]


def test_judged_documents_outside_the_corpus_are_named() -> None:
    data = Dataset.from_texts(CORPUS, QUERIES, {"q1": {"d1": 1, "d9": 1}})

    assert data.outside == ["d9"]
    assert repr(data) == (
        "<Dataset texts: 2 documents, 1 query, 2 judgments, 1 judged document outside the corpus>"
    )


@pytest.mark.parametrize(
    ("corpus", "options", "reason"),
    [
        (["a", "b"], {"corpus_ids": ["d1"]}, r"corpus: expected 2 ids, one per text, found 1"),
        (["a", "b"], {"corpus_ids": ["d1", "d1"]}, r"corpus: id 1: duplicate 'd1', also at 0"),
        (["a", "b"], {"corpus_ids": ["d1", 1.5]}, r"corpus: id 1: .* found the float 1.5"),
        ({"d1": "a", "d2": None}, {}, r"corpus: 'd2': expected a str, found NoneType: None"),
        ({"d1": {"title": "a"}}, {}, r"corpus: 'd1': expected a str, found dict"),
        (CORPUS, {"corpus_ids": ["d1"]}, r"corpus: expected no ids for a dict"),
        ({}, {}, r"texts: the corpus is empty"),
        ("text", {}, r"corpus: expected a dict or a list of texts, found a str"),
        ({"a", "b"}, {}, r"corpus: expected a dict or a list, found set, which has no order"),
        (["a", "b"], {"corpus_ids": {"d1", "d2"}}, r"corpus: expected .* found set"),
        (
            {"1": "a"},
            {},
            r"no judged document is in the corpus \(judged: 'd1', 'd2'; corpus: '1'\)$",
        ),
    ],
)
def test_what_is_no_corpus(corpus: Any, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Dataset.from_texts(corpus, QUERIES, QRELS, **options)


def test_judgments_of_other_queries() -> None:
    """Ids of another kind would give 0 for every measure."""
    with pytest.raises(
        InputError, match=r"no query has judgments \(judged: '1'; queries: 'q1', 'q2'\)$"
    ):
        Dataset.from_texts(CORPUS, QUERIES, {1: {"d1": 1}})


# BEIR


def test_folder_of_beir(tmp_path: Path) -> None:
    data = Dataset.from_beir(beir_folder(tmp_path))

    assert data.corpus == ["Red apples", "blue plums"]
    assert data.query_ids == ["q1"]
    assert data.qrels.to_dict() == {"q1": {"d1": 1}}
    assert data.name == tmp_path.name


def test_folder_of_beir_compressed(tmp_path: Path) -> None:
    assert len(Dataset.from_beir(beir_folder(tmp_path, gzip.compress, ".gz")).corpus) == 2


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_package_beir_reads_the_same(tmp_path: Path) -> None:
    loader = pytest.importorskip("beir.datasets.data_loader")
    folder = beir_folder(tmp_path)
    corpus, queries, qrels = loader.GenericDataLoader(str(folder)).load("test")

    from_memory = Dataset.from_texts(corpus, queries, qrels)
    data = Dataset.from_beir(folder)

    assert (data.corpus_ids, data.corpus) == (from_memory.corpus_ids, from_memory.corpus)
    assert (data.query_ids, data.queries) == (from_memory.query_ids, from_memory.queries)
    assert data.qrels.to_dict() == qrels


def test_split_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"qrels/dev\.tsv: no such .*; available splits: test"):
        Dataset.from_beir(beir_folder(tmp_path), "dev")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"_id": "d3"}', r"expected a text \(text, .*\), found _id"),
        ('{"text": "a"}', r"expected an id \(_id, id, .*\), found text"),
        ('{"_id": "d3", "text": 5}', r"text: expected a str, found int: 5"),
        ('{"_id": null, "text": "a"}', "_id: expected an id, found None"),
        ('{"_id": "d1", "text": "a"}', r"duplicate document 'd1'"),
        ('{"_id": "d3", "text": "a"', r"Expecting ',' delimiter at column 26"),
        ('["d3", "a"]', r"expected an object with an id and a text, found list"),
    ],
)
def test_line_of_a_corpus_that_is_none(tmp_path: Path, line: str, reason: str) -> None:
    folder = beir_folder(tmp_path)
    with (folder / "corpus.jsonl").open("a") as file:
        file.write(f"\n{line}\n")

    with pytest.raises(FormatError, match=rf"corpus\.jsonl:4: {reason}"):
        Dataset.from_beir(folder)


def test_line_that_is_not_in_the_encoding(tmp_path: Path) -> None:
    folder = beir_folder(tmp_path)
    with (folder / "queries.jsonl").open("ab") as file:
        file.write(b'{"_id": "q3", "text": "caf\xe9"}\n')

    with pytest.raises(FormatError, match=r"queries.jsonl:3: the byte 0xe9 at column 27 is not"):
        Dataset.from_beir(folder)


@pytest.mark.parametrize("length", [1 << 20, (1 << 20) - 1, 3 << 20])
def test_lines_longer_than_what_is_read_at_once(length: int) -> None:
    found = documents(b"d1\t" + b"a" * length + b"\nd2\tb")

    assert found == {"d1": "a" * length, "d2": "b"}


# TREC and other files


def test_documents_of_trec() -> None:
    """All text but the ids, with a blank where tags were."""
    found = documents(
        b"<!DOCTYPE x>\n<doc>\n<DOCNO> d1 </DOCNO>\n<HEADLINE>Red <i>apples</i></HEADLINE>\n"
        b"<TEXT>\n<P>1 < 2 &amp; 3<P>AT&T\n</TEXT>\n</doc><DOC><DOCNO>d2</DOCNO>one line</DOC>"
    )

    assert {own: text.split() for own, text in found.items()} == {
        "d1": ["Red", "apples", "1", "<", "2", "&", "3", "AT&T"],
        "d2": ["one", "line"],
    }


def test_fields_of_documents() -> None:
    """An element ends what was opened in it and never closed."""
    text = b"<DOC><DOCNO>d1</DOCNO><HEAD>a</HEAD><TEXT><P>b<P>c</TEXT><NOTE>d</NOTE></DOC>"

    assert documents(text, fields=["TEXT"]) == {"d1": "b c"}
    assert documents(text, fields=["head", "note"]) == {"d1": "a d"}


def test_text_without_tags_is_as_it_stands() -> None:
    assert documents(b"<DOC><DOCNO>d1</DOCNO>\n a  b\nc\n</DOC>") == {"d1": "\n a  b\nc\n"}


words = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=8)


@examples(200)
@given(st.lists(st.lists(words, max_size=3).map("\n".join), min_size=1, max_size=9))
def test_any_text_comes_back(texts: list[str]) -> None:
    """From SGML, where what would be markup is written as references; from JSON; from tables."""
    expected = {f"d{i}": text for i, text in enumerate(texts)}
    escaped = [f"<DOC><DOCNO>{own}</DOCNO>{escape(text)}</DOC>" for own, text in expected.items()]
    lines = [json.dumps({"id": own, "text": text}) for own, text in expected.items()]
    cells = {own: text.replace("\t", " ").replace("\n", " ") for own, text in expected.items()}

    found = documents("\n".join(escaped).encode())
    assert {own: text.strip() for own, text in found.items()} == {
        own: text.strip() for own, text in expected.items()
    }
    assert documents("\n".join(lines).encode()) == expected
    assert documents("".join(f"{o}\t{t}\n" for o, t in cells.items()).encode()) == cells


TOPICS = """
<top>
<num> Number: 301
<title> Topic: Red apples
<desc> Description:
Which apples are red?
<narr> Narrative:
Any.
</top>
"""


def test_topics_without_end_tags() -> None:
    assert topics(TOPICS) == {"301": "Red apples"}
    assert topics(TOPICS, query_fields=["desc"]) == {"301": "Which apples are red?"}
    assert topics(TOPICS, query_fields=["title", "narr"]) == {"301": "Red apples Any."}


@pytest.mark.parametrize(
    "text",
    [
        "<top>\n<num>7</num><title>\nred\n</title>\n</top>",
        "<DOC>\n<DOCNO> 7 </DOCNO>\nred</DOC>",
        '<topics task="x"><topic number="7"><query>red</query><question>why?</question></topic>\n'
        "</topics>",
        "7\tred",
        "\ufeffqid\tquery\n7\tred\n",
        '{"qid": 7, "query": "red"}',
        '{"_id": "7", "text": "red"}',
    ],
)
def test_forms_of_queries(text: str) -> None:
    assert topics(text) == {"7": "red"}


def test_text_and_title_of_tables_with_a_header() -> None:
    """As in the passages of DPR."""
    found = documents(b"id\ttext\ttitle\r\nd1\tapples\tRed\r\n")

    assert found == {"d1": "Red apples"}


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
def test_cells_below_a_header_may_be_quoted(cell: str, text: str) -> None:
    """As csv, with which DPR reads and writes its passages; MS MARCO has neither."""
    assert documents(f"id\ttext\nd1\t{cell}\n".encode()) == {"d1": text}
    assert documents(f"d1\t{cell}\n".encode()) == {"d1": cell}


def test_cells_in_quotes_are_read_as_csv_writes_them_where_there_is_a_header() -> None:
    """DPR's passages are; those of MS MARCO have quotes of their own, and no header."""
    said = 'He said "no", and left'
    file = io.StringIO()
    writer = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    file.write("id\ttext\ttitle\n")
    writer.writerows([["d1", said, ""], ["d2", '""', "Two"]])
    lines = 'd3\t"no" is "yes"\tThree\nd4\t"\tFour\n'

    found = documents((file.getvalue() + lines).encode())

    assert found == {"d1": said, "d2": 'Two ""', "d3": 'Three "no" is "yes"', "d4": 'Four "'}
    assert documents(b'd1\t"no"\n') == {"d1": '"no"'}


def test_corpus_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "part" / "deep").mkdir(parents=True)
    (tmp_path / "b.trec").write_bytes(b"<DOC><DOCNO>d2</DOCNO>b</DOC>")
    (tmp_path / "part" / "deep" / "c.gz").write_bytes(gzip.compress(b"d3\tc"))
    (tmp_path / ".hidden").write_bytes(b"x")

    data = Dataset.from_files(tmp_path, io.BytesIO(b"q1\tq"), {"q1": {"d3": 1}})

    assert dict(zip(data.corpus_ids, data.corpus, strict=True)) == {"d2": "b", "d3": "c"}


def test_corpus_in_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"_id": ["d1", "d2"], "title": ["Red", ""], "text": ["apples", "plums"]})
    parquet.write_table(table, tmp_path / "corpus.parquet")

    data = Dataset.from_files(tmp_path / "corpus.parquet", io.BytesIO(b"q1\tq"), {"q1": {"d1": 1}})

    assert data.corpus == ["Red apples", "plums"]


def test_other_encodings() -> None:
    assert documents(b"d1\tcaf\xe9", encoding="latin-1") == {"d1": "café"}


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
def test_files_that_hold_no_texts(text: bytes, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        documents(text)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"encoding": "latin-99"}, "encoding: unknown encoding: latin-99"),
        ({"fields": "text"}, "fields: expected a list of names, found the str 'text'"),
    ],
)
def test_options_of_files_that_are_wrong(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        documents(b"d1\ta", **options)


def test_field_that_is_not_there() -> None:
    with pytest.raises(FormatError, match=r":1: expected 'abstract' .*, found id, text"):
        documents(b'{"id": "d1", "text": "a"}', fields=["abstract"])


@needs_collections
def test_vaswani() -> None:
    folder = COLLECTIONS / "vaswani"
    data = Dataset.from_files(
        folder / "corpus.trec", folder / "queries.trec", folder / "qrels.txt", name="vaswani"
    )

    assert repr(data) == "<Dataset vaswani: 11429 documents, 93 queries, 2083 judgments>"
    assert data.queries[3] == "SYSTEMS OF DATA CODING FOR INFORMATION TRANSFER"


@needs_collections
def test_cacm() -> None:
    """Twelve topics have no judgments, and 46 judged ids are not written as in the corpus."""
    folder = COLLECTIONS / "cacm"
    data = Dataset.from_files(
        folder / "corpus.jsonl", folder / "topics.cacm.txt", folder / "qrels.cacm.txt"
    )

    assert (len(data.corpus), len(data.queries), len(data.unjudged)) == (3204, 52, 12)
    assert len(data.outside) == 46
    assert "CACM-756" in data.outside


# Hugging Face


def tables() -> tuple[Table, Table, Table]:
    corpus = Table(
        {"_id": ["d1", "d2"], "title": ["Red", None], "text": ["apples", "plums"], "x": [1, 2]}
    )
    queries = Table({"_id": ["q1", "q2"], "text": ["apples", "plums"]})
    qrels = Table({"query-id": ["q1"], "corpus-id": ["d1"], "score": [1]})
    return corpus, queries, qrels


def test_tables_of_hugging_face() -> None:
    data = Dataset.from_huggingface(*tables())

    assert (data.corpus_ids, data.corpus[:]) == (["d1", "d2"], ["Red apples", "plums"])
    assert list(data.corpus) == data.corpus[:]
    assert (data.query_ids, data.queries[:], data.unjudged) == (["q1"], ["apples"], ["q2"])
    assert data.qrels.to_dict() == {"q1": {"d1": 1}}


def test_the_package_datasets() -> None:
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
    assert data.corpus[1] == "Red apples"
    assert data.query_ids == ["q1"]


def test_tables_with_other_names_of_columns() -> None:
    corpus = Table({"number": [7, 8], "passage": ["red", "blue"], "text": ["x", "y"]})
    queries = Table({"words": ["azure"]})
    qrels = Table({"asked": [0], "found": [8], "how": [2]})

    data = Dataset.from_huggingface(
        corpus, queries, {"test": qrels},
        columns={
            "corpus": {"id": "number", "text": "passage"},
            "queries": {"id": None, "text": "words"},
            "qrels": {"query": "asked", "doc": "found", "grade": "how"},
        },
    )  # fmt: skip

    assert (data.corpus_ids, data.corpus[:]) == (["7", "8"], ["red", "blue"])
    assert (data.query_ids, data.queries[:]) == (["0"], ["azure"])
    assert data.qrels.to_dict() == {"0": {"8": 2}}


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"texts": {}}, r"columns: expected the roles corpus, queries, qrels.*, found 'texts'"),
        (
            {"corpus": {"body": "x"}},
            r"corpus: columns: expected the roles id, title, text.*, found"
            r" 'body'",
        ),
        ({"corpus": {"text": "y"}}, r"corpus: no column 'y' for the text, found _id, title, text"),
        ({"qrels": {"doc": "y"}}, r"qrels: columns: no column 'y' for the doc"),
    ],
)
def test_names_of_columns_that_are_not_there(columns: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Dataset.from_huggingface(*tables(), columns=columns)


def test_tables_that_lack_something() -> None:
    corpus, queries, qrels = tables()

    with pytest.raises(InputError, match=r"corpus: expected a column of texts .* found _id, x"):
        Dataset.from_huggingface(corpus.select_columns(["_id", "x"]), queries, qrels)
    with pytest.raises(InputError, match=r"queries: expected a column of ids .* found text"):
        Dataset.from_huggingface(corpus, queries.select_columns(["text"]), qrels)
    with pytest.raises(InputError, match="corpus: expected split=, one of a, b"):
        Dataset.from_huggingface({"a": corpus, "b": corpus}, queries, qrels)
    with pytest.raises(InputError, match=r"corpus: no split 'test'; expected one of a, b"):
        Dataset.from_huggingface({"a": corpus, "b": corpus}, queries, qrels, split="test")
    with pytest.raises(InputError, match=r"corpus: expected a Hugging Face Dataset .* list"):
        Dataset.from_huggingface([1], queries, qrels)
    with pytest.raises(InputError, match=r"no grade column"):
        Dataset.from_huggingface(corpus, queries, qrels.select_columns(["query-id", "corpus-id"]))


# Queries with positives


def test_rows_of_flag_embedding() -> None:
    """Lists of positives and negatives, which are judged 1 and 0."""
    data = Dataset.from_pairs([
        {"query": "apples", "pos": ["red apples", "green apples"], "neg": ["blue plums"]},
        {"query": "plums", "pos": ["blue plums"], "neg": []},
    ])  # fmt: skip

    assert data.corpus == ["blue plums", "red apples", "green apples"]
    assert data.queries == ["apples", "plums"]
    assert data.qrels.to_dict() == {"0": {"0": 0, "1": 1, "2": 1}, "1": {"0": 1}}


def test_rows_of_sentence_transformers() -> None:
    """A positive a row: rows with one anchor are one query."""
    rows = {"anchor": ["a", "a", "b"], "positive": ["x", "y", "z"], "negative_1": ["y", "z", "x"]}

    data = Dataset.from_pairs(Table(rows))

    assert (data.query_ids, data.queries, data.corpus) == (["0", "2"], ["a", "b"], ["y", "x", "z"])
    assert data.qrels.to_dict() == {"0": {"0": 1, "1": 1, "2": 0}, "2": {"1": 0, "2": 1}}


def test_positives_in_a_corpus_that_is_given() -> None:
    """The tutorial of FlagEmbedding searches the positives of more queries than it asks."""
    rows = [{"query": "a", "positive": ["x", "y"]}]

    data = Dataset.from_pairs(rows, corpus=["w", "x", "w", "v"])

    assert (data.corpus, data.corpus_ids) == (["w", "x", "v"], ["0", "1", "2"])
    assert (data.qrels.to_dict(), data.outside) == ({"0": {"1": 1, "3": 1}}, ["3"])


def test_duplicates_that_are_kept_are_documents_of_their_own() -> None:
    rows = [{"query": "a", "pos": ["x", "y"]}, {"query": "a", "pos": ["y"], "neg": ["x"]}]

    data = Dataset.from_pairs(rows, duplicates="keep")

    assert (data.corpus, data.queries) == (["x", "y", "x", "y"], ["a", "a"])
    assert data.qrels.to_dict() == {
        "0": {"0": 1, "1": 1, "2": 1, "3": 1}, "1": {"0": 0, "1": 1, "2": 0, "3": 1},
    }  # fmt: skip


def test_duplicates_are_merged_or_kept() -> None:
    with pytest.raises(OptionError, match="duplicates: expected one of 'merge', 'keep', found"):
        Dataset.from_pairs([{"query": "a", "pos": "x"}], duplicates="drop")  # type: ignore[arg-type]


def test_duplicates_that_are_kept_give_the_numbers_of_flag_embeddings_tutorial() -> None:
    """Its code compares texts, of which a corpus made of the positives has several copies."""
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(7)
    texts = [f"text {i}" for i in range(12)]
    rows = [
        {"query": f"query {i}", "pos": random.choice(texts, 2, replace=False).tolist()}
        for i in range(9)
    ]
    data = Dataset.from_pairs(rows, duplicates="keep")
    assert data.corpus == [text for row in rows for text in row["pos"]]
    vectors = {text: random.normal(size=4) for text in (*data.queries, *texts)}
    queries, corpus = (
        np.array([vectors[text] for text in side], "float32")
        for side in (data.queries, data.corpus)
    )
    run = fr.search(queries, corpus, 5, query_ids=data.query_ids)
    reciprocal, flags, scores = 0.0, [], []
    for i, row in enumerate(rows):
        ranked = sorted(run[str(i)].items(), key=lambda own: -own[1])
        found = [data.corpus[int(doc)] for doc, _ in ranked]
        reciprocal += next((1 / j for j, text in enumerate(found, 1) if text in row["pos"]), 0.0)
        flags.append(np.isin(found, row["pos"]).astype(int))
        scores.append([score for _, score in ranked])

    mean = fr.evaluate(data.qrels, run, "RR@5 nDCG(ideal='retrieved')@5").mean

    assert mean["RR@5"] == pytest.approx(reciprocal / len(rows), rel=1e-15)
    assert mean["nDCG(ideal='retrieved')@5"] == pytest.approx(
        metrics.ndcg_score(flags, scores, k=5), rel=1e-13
    )


@pytest.mark.parametrize("kind", [Table, lambda columns: [{"passage": "w"}, {"passage": "x"}]])
def test_corpus_of_positives_in_a_table(kind: Any) -> None:
    rows = [{"asked": "a", "told": "x"}]
    columns = {"query": "asked", "positive": "told", "text": "passage"}

    data = Dataset.from_pairs(rows, corpus=kind({"passage": ["w", "x"]}), columns=columns)

    assert (data.corpus, data.qrels.to_dict()) == (["w", "x"], {"0": {"1": 1}})


@pytest.mark.parametrize(
    ("rows", "options", "reason"),
    [
        ([], {}, "pairs: expected rows with a query and a positive, found none"),
        (
            [{"query": "a"}],
            {},
            r"expected a column with the positive \(positive, pos.* found query",
        ),
        ([{"query": None, "pos": "x"}], {}, "row 0, query.: expected a str, found NoneType"),
        ([{"query": "a", "pos": [5]}], {}, "row 0, pos.: expected a str, found int: 5"),
        (
            [{"query": "a", "pos": "x"}],
            {"columns": {"pos": "x"}},
            "expected the roles query.*, found 'pos'",
        ),
        ([{"query": "a", "pos": "x"}], {"corpus": [{"id": 1}]}, r"corpus: row 0: expected a text"),
        ([{"query": "a", "pos": []}], {}, "the corpus is empty"),
    ],
)
def test_rows_that_are_no_pairs(rows: Any, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Dataset.from_pairs(rows, **options)


# Articles


def articles() -> list[dict[str, Any]]:
    return [
        {"id": 1, "text": "a", "similar": [3, 2]},
        {"id": 2, "text": "b"},
        {"id": 3, "text": "c", "similar": [3, 1]},
        {"id": 4, "text": "d", "similar": []},
    ]


def test_labelled_articles_are_queries() -> None:
    """Each against all others: none is a result of itself, though it may name itself."""
    data = Dataset.from_articles(articles())

    assert (data.corpus_ids, data.query_ids) == (["1", "2", "3", "4"], ["1", "3"])
    assert data.queries == ["a", "c"]
    assert data.query_rows is not None
    assert data.query_rows.tolist() == [0, 2]
    assert data.qrels.to_dict() == {"1": {"3": 1, "2": 1}, "3": {"1": 1}}
    assert data.ignore_identical_ids
    assert data.vectors is None


def test_articles_with_embeddings() -> None:
    given = [
        {"key": "a", "vector": np.array([1, 2], np.float16), "like": ["b"]},
        {"key": "b", "vector": [0.5, 0.25]},
    ]

    data = Dataset.from_articles(
        given, columns={"id": "key", "embedding": "vector", "similar": "like"}
    )

    assert data.vectors is not None
    assert data.vectors.dtype == np.float32
    assert data.vectors.tolist() == [[1, 2], [0.5, 0.25]]


def test_articles_in_a_file() -> None:
    lines = "".join(json.dumps(article) + "\n" for article in articles())

    assert Dataset.from_articles(io.BytesIO(lines.encode())).query_ids == ["1", "3"]


def test_labels_that_are_articles() -> None:
    """The format of a thesis on document embeddings: similar articles with their texts."""
    labels = [{"id": 3, "text": "c"}, {"id": 2, "text": "b"}]
    given = [{"id": 1, "text": "a", "labels": labels}, *({"id": i, "text": "b"} for i in (2, 3))]

    data = Dataset.from_articles(given)

    assert data.qrels.to_dict() == {"1": {"3": 1, "2": 1}}


def test_labels_as_hugging_face_stores_a_sequence_of_articles() -> None:
    given = [{"id": 1, "text": "a", "labels": {"id": [2], "text": ["b"]}}, {"id": 2, "text": "b"}]

    assert Dataset.from_articles(given).qrels.to_dict() == {"1": {"2": 1}}


def test_labels_under_two_names_must_be_chosen_from() -> None:
    first, *others = articles()
    given = [{**first, "labels": [2]}, *others]

    with pytest.raises(
        InputError,
        match=r"fields? of similar articles: 'labels' and 'similar';"
        r" set columns=\{'similar': NAME\}",
    ):
        Dataset.from_articles(given)
    assert Dataset.from_articles(given, columns={"similar": "labels"}).qrels.to_dict() == {
        "1": {"2": 1}
    }


def columns_of_articles() -> dict[str, list[Any]]:
    keys = ("id", "text", "similar")
    return {key: [article.get(key) for article in articles()] for key in keys}


def test_articles_in_a_dataset_of_hugging_face() -> None:
    table = Table(columns_of_articles(), kind="torch")

    assert Dataset.from_articles(table).query_ids == ["1", "3"]


def test_articles_in_a_dict_of_splits() -> None:
    table = Table(columns_of_articles())

    assert Dataset.from_articles({"test": table}).query_ids == ["1", "3"]
    assert Dataset.from_articles({"a": table, "b": table}, split="b").query_ids == ["1", "3"]
    with pytest.raises(InputError, match="articles: expected split=, one of a, b"):
        Dataset.from_articles({"a": table, "b": table})


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_articles_in_a_frame(library: str) -> None:
    frames = pytest.importorskip(library)

    data = Dataset.from_articles(frames.DataFrame(columns_of_articles()))

    assert data.qrels.to_dict() == {"1": {"3": 1, "2": 1}, "3": {"1": 1}}


def test_articles_in_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table(columns_of_articles())
    parquet.write_table(table, tmp_path / "articles.parquet")

    assert Dataset.from_articles(table).query_ids == ["1", "3"]
    assert Dataset.from_articles(tmp_path / "articles.parquet").query_ids == ["1", "3"]


def test_ids_of_articles_that_are_arrays_of_one_value() -> None:
    """As rows in the format of numpy or torch have them."""
    given = [
        {"id": np.array(1), "text": "a", "similar": np.array([2])},
        {"id": np.array(2), "text": "b", "similar": np.array([], int)},
    ]

    assert Dataset.from_articles(given).qrels.to_dict() == {"1": {"2": 1}}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"similar": [{"key": 2}]}, r"article '1': 'similar': expected an article with 'id'"),
        (
            {"similar": [9]},
            r"article '1': 'similar': no article has the id '9'; use unknown='keep'",
        ),
        (
            {"similar": "2"},
            r"article '1': 'similar': expected a list of ids or of articles, found '2'",
        ),
        ({"similar": [1.5]}, r"article '1': 'similar': expected an id, found the float 1.5"),
        ({"id": 2}, r"id 1: duplicate '2', also at 0"),
        ({"text": None}, r"article '1' has no 'text', unlike others"),
        ({"text": 5}, r"'1': expected a str, found int: 5"),
        ({"embedding": [1.0]}, r"article '2' has no 'embedding', unlike others"),
    ],
)
def test_articles_that_are_wrong(change: dict[str, Any], reason: str) -> None:
    first, *others = articles()

    with pytest.raises(InputError, match=reason):
        Dataset.from_articles([{**first, **change}, *others])


def test_articles_of_nothing() -> None:
    with pytest.raises(
        InputError, match=r"expected articles with ids in 'labels' or 'similar', found none"
    ):
        Dataset.from_articles([{"id": 1, "text": "a"}])
    with pytest.raises(InputError, match=r"expected articles with 'text' or 'embedding'"):
        Dataset.from_articles([{"id": 1}])
    with pytest.raises(InputError, match=r"article 0: expected 'id', found text"):
        Dataset.from_articles([{"text": "a"}])
    with pytest.raises(InputError, match=r"row 0: expected a mapping, found str"):
        Dataset.from_articles(["a"])  # type: ignore[list-item]


def test_embeddings_of_articles_that_are_none() -> None:
    rows: list[Any] = [[1.0, 2.0], [1.0, float("nan")], [1.0]]
    given = [{"id": "abc"[i], "embedding": row, "similar": ["a"]} for i, row in enumerate(rows)]

    with pytest.raises(fr.ArrayError, match=r"articles\[2\]: 'c': expected shape \(2,\), as"):
        Dataset.from_articles(given)
    with pytest.raises(fr.ArrayError, match=r"articles\[1, 1\]: 'b': expected a finite .* nan"):
        Dataset.from_articles(given[:2])


def test_similar_articles_that_are_not_there() -> None:
    given = [{"id": "a", "text": "a", "similar": ["b", "z"]}, {"id": "b", "text": "b"}]

    assert Dataset.from_articles(given, unknown="drop").qrels.to_dict() == {"a": {"b": 1}}
    assert Dataset.from_articles(given, unknown="keep").outside == ["z"]
