"""Spans and chunks in files and tables of any form, and what is refused."""

from __future__ import annotations

import io
import json
from typing import Any

import pandas
import polars
import pyarrow
import pytest
from pyarrow import parquet

import fastrank as fr
from fastrank.analysis.spans.readers import Spans
from fastrank.errors import FormatError
from tests.helpers.spans import table
from tests.helpers.tables import refusing

COLUMNS = table("query document start end", ("q1", "a", 0, 4), ("q1", "b", 3, 9))
RECORDS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
TEXTS = {"a": "One two  three.\n\nOne\ttwo four.", "b": "Äpfel, Öl"}


def _rows(spans: Spans) -> list[tuple[Any, ...]]:
    ids = spans.queries.decoded(), spans.documents.decoded()
    return list(zip(*ids, spans.starts.tolist(), spans.ends.tolist(), strict=True))


def _parquet() -> io.BytesIO:
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(COLUMNS), file)
    file.seek(0)
    return file


FORMS = {
    "dict": COLUMNS,
    "records": RECORDS,
    "pandas": pandas.DataFrame(COLUMNS),
    "polars": polars.DataFrame(COLUMNS),
    "arrow": pyarrow.table(COLUMNS),
    "csv": io.BytesIO(b"query,document,start,end\nq1,a,0,4\nq1,b,3,9\n"),
    "tsv": io.BytesIO(b"qid\tdoc_id\tstart_char\tend_char\nq1\ta\t0\t4\nq1\tb\t3\t9\n"),
    "json": io.BytesIO(json.dumps(RECORDS).encode()),
    "jsonl": io.BytesIO("\n".join(map(json.dumps, RECORDS)).encode()),
    "parquet": _parquet(),
    "benchmark": [
        {
            "question": "Who?",
            "corpus_id": own,
            "query_id": "q1",
            "references": [{"start_index": start, "end_index": end, "content": "text"}],
        }
        for own, start, end in (("a", 0, 4), ("b", 3, 9))
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_spans_are_read_from_any_table(form):
    assert _rows(fr.spans.read_spans(FORMS[form])) == [("q1", "a", 0, 4), ("q1", "b", 3, 9)]


def test_questions_of_the_benchmark_are_named_by_number():
    references = json.dumps([{"content": "x", "start_index": 5, "end_index": 6}]).replace('"', '""')
    lines = (
        f'question,references,corpus_id\n"Who, what?","{references}",a\nWhen?,"{references}",b\n'
    )

    found = fr.spans.read_spans(io.BytesIO(lines.encode()))

    assert _rows(found) == [("0", "a", 5, 6), ("1", "b", 5, 6)]


def test_evidence_without_a_name_is_its_own_piece():
    names = ["x", "", None, "x", "y"]
    rows = [("q", "a", place, place + 1, name) for place, name in enumerate(names)]

    spans = fr.spans.read_spans(pandas.DataFrame(table("query document start end evidence", *rows)))

    assert spans.pieces[0] == spans.pieces[3]
    assert len(set(spans.pieces.tolist())) == 4


@pytest.mark.parametrize(
    ("text", "place"),
    [("two  three.", (4, 15)), ("two three. One", (4, 20)), (" One two four. ", (17, 30))],
)
def test_texts_are_found_exactly_or_with_blanks_folded(text, place):
    chunks = fr.spans.read_chunks([{"id": "c", "document": "a", "text": text}], TEXTS)

    assert (chunks.starts[0], chunks.ends[0]) == place


def test_places_are_characters_of_the_files_of_a_folder(tmp_path):
    (tmp_path / "b.md").write_bytes("x\r\nÄpfel, Öl".encode())
    spans = [{"query": "q", "document": "b", "text": "Öl"}]

    assert _rows(fr.spans.read_spans(spans, tmp_path)) == [("q", "b", 10, 12)]


def spans_of(names: str, *row: Any) -> Spans:
    return fr.spans.read_spans(table(names, row), {**TEXTS, "7": None})


def chunks_of(names: str, *rows: tuple[Any, ...]) -> Any:
    return fr.spans.read_chunks(table(names, *rows), TEXTS)


def read(kind: str, *lines: str) -> Any:
    return getattr(fr.spans, kind)(io.BytesIO("\n".join(lines).encode()))


PLACES = "query document start end"
REFERENCES = "query references document"
ID_PLACES = "chunk document start end"

test_what_is_wrong_is_refused_with_its_place = refusing("""
spans_of(PLACES, "q", "a", 5, 2) =>
  InputError: ...row 0 (from 0), expected 0 <= start < end, found 5 and 2
spans_of(PLACES, "q", "a", 3, 3) =>
  InputError: ...row 0 (from 0), expected 0 <= start < end, found 3 and 3
spans_of(PLACES, "q", "a", -1, 3) =>
  InputError: ...row 0 (from 0), expected 0 <= start < end, found -1 and 3
spans_of(PLACES, "q", "a", 1.5, 3) =>
  InputError: ...row 0 (from 0), column 'start': expected a place, found 1.5
spans_of(PLACES, "q", "b", 3, 10) =>
  InputError: ...place 3:10 is outside of document 'b', of 9 characters
spans_of(PLACES, "q", "A", 3, 10) =>
  InputError: ...row 0 (from 0), texts: no text for 'A'; did you mean 'a'?
spans_of(PLACES, "q", 7, 3, 10) => InputError: ...texts: '7': expected a str, or a title and...
spans_of(PLACES, "q", "a", 0, 2**62) =>
  InputError: ...column 'end': expected a place of at most 2147483648, found 4...
spans_of(PLACES + " text", "q", "b", 6, 9, "Öl") =>
  InputError: ...document 'b' has ' Öl' at 6:9, not 'Öl'; are places counted in characters?
spans_of(PLACES + " grade", "q", "a", 0, 1, -1) =>
  InputError: ...column 'grade': expected 0 or more, found -1
spans_of("query document start", "q", "a", 0) =>
  InputError: ...no places: expected columns start and end, or text and the texts of documents
  (texts=), found 'query', 'document', 'start'
spans_of("query document first last", "q", "a", 0, 1) =>
  InputError: ...no places: expected columns start and end...
spans_of("query start end", "q", 0, 1) =>
  InputError: ...no document column: found 'query', 'start', 'end'...
spans_of("document start end", "a", 0, 1) => InputError: ...no query column...
spans_of("query document text", "q", "a", "") =>
  InputError: ...row 0 (from 0), expected a text, found ''
spans_of(REFERENCES, "q", "[{", "a") => InputError: ...row 0 (from 0), references: Expecting...
spans_of(REFERENCES, "q", '[{"start_index": 1}]', "a") =>
  InputError: ...references: expected objects with start_index, end_index, content, found
  {'start_index'...
spans_of(REFERENCES, "q", "[]", "a") =>
  InputError: ...references: expected a list of places, found '[]'
chunks_of(ID_PLACES, ("c", "a", 0, 1), ("c", "a", 1, 2)) =>
  InputError: ...row 1 (from 0), the chunk 'c' occurs twice
chunks_of(ID_PLACES + " tokens", ("c", "a", 0, 1, -2)) => InputError: ...expected 0 tokens or more
chunks_of("chunk document", ("c", "a")) => InputError: ...no places...
chunks_of("chunk document text", ("c1", "a", "Two"), ("c2", "a", "One"), ("c3", "a", "one")) =>
  InputError: ...2 texts not found in the document: 'c1' ('Two'), 'c3' ('one'); 1 text found more
  than once in the document: 'c2' ('One'); give the places of these as start and end
read("read_spans", "query,document,start,end", "q,a,0,4", "q,a,9,4") =>
  FormatError: <file object>:3: expected 0 <= start < end, found 9...
read("read_chunks", "c1,a,0,4") =>
  FormatError: ...1: expected a header with names for chunk and document...
read("read_chunks", "chunk,document,start,end") => InputError: <file object>: no rows
""")


def test_two_files_of_one_document_are_refused(tmp_path):
    for name in ("a.md", "a.txt"):
        (tmp_path / name).write_text(name)

    with pytest.raises(FormatError, match=r"a\.txt:1: duplicate id 'a' with a different text"):
        fr.spans.read_spans(COLUMNS, tmp_path)
