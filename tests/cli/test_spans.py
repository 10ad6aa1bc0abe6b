"""`fastrank spans`: what it writes is what its functions give."""

from __future__ import annotations

from pathlib import Path

import pytest

import fastrank as fr
from tests.helpers.commands import assert_refused, printed, write

FILES: dict[str, str | bytes] = {
    "spans.csv": "query,document,start,end\nq1,a,3,9\nq1,a,20,24\n",
    "chunks.csv": "chunk,document,start,end\nc1,a,0,10\nc2,a,8,18\nc3,a,16,26\n",
    "texts.jsonl": '{"id": "c1", "document": "a", "text": "one"}\n',
    "r.run": "q1 Q0 c3 1 3 t\nq1 Q0 c1 2 2 t\n",
    "wrong.csv": "query,document,start,end\nq1,a,9,3\n",
}


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    write(FILES)


def test_judgments_of_the_chunks_are_written() -> None:
    line = "spans --of chunk --characters 1 --grade share spans.csv chunks.csv"

    assert printed("spans spans.csv chunks.csv") == "q1 0 c1 1\nq1 0 c2 0\nq1 0 c3 1\n"
    assert printed(f"{line} -o chunks.parquet") == ""
    expected = fr.span_qrels("spans.csv", "chunks.csv", of="chunk", characters=1, grade="share")
    assert fr.read_qrels("chunks.parquet").to_dict() == expected.to_dict()


def test_measures_of_runs_are_written() -> None:
    line = "spans -m 'SpanRecall@1 SpanIoU' spans.csv chunks.csv r.run"

    assert printed(f"{line} -o means.csv") == ""
    assert Path("means.csv").read_text() == "run,SpanRecall@1,SpanIoU\nr,0.4,0.5\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "spans wrong.csv chunks.csv -o out.qrels",
            "1 wrong.csv:2: expected 0 <= start < end, found 9 and 3",
        ),
        ("spans spans.csv texts.jsonl -o out.qrels", "1 texts.jsonl: no places: expected colum..."),
        (
            "spans --documents none spans.csv chunks.csv",
            "1 none: expected a folder with a file for each document",
        ),
        ("spans -m SpanRecall spans.csv chunks.csv", "2 --measure: no effect without a RUN"),
        ("spans --subtopics spans.csv chunks.csv r.run", "2 --subtopics: no effect with a RUN"),
        ("spans -m map spans.csv chunks.csv r.run", "2 unknown measure of spans 'map'..."),
    ],
)
def test_what_is_refused_leaves_no_file(line: str, message: str) -> None:
    assert_refused(line, message)

    assert not Path("out.qrels").exists()
