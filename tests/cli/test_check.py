"""`fastrank check`: its output in every format, and its exit status."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from fastrank.analysis.checking.checker import KINDS
from tests.helpers.commands import FILES, Done, fastrank, printed, write

TEXT = """\
qrels:2: error: grade '0.5' of document 'e' is not an integer; trec_eval reads 0 [float-grade]
run:3: warning: query 'x' has no judgments in qrels and is not evaluated [unknown-query]

qrels: 2 lines, 2 judgments, 1 query, 2 documents
  error    float-grade: 1
run: 3 lines, 3 results, 2 queries, 2 documents
  warning  unknown-query: 1
1 error, 1 warning, 0 notes
"""


@pytest.fixture(autouse=True)
def _inputs(folder: object) -> None:
    write({"qrels": "q 0 d 1\nq 0 e 0.5\n", "good": "q 0 d 1\n"})
    write({"run": "q Q0 d 1 2 t\nq Q0 e 2 1 t\nx Q0 d 1 2 t\n"})
    write({"unknown": "q Q0 d 1 2 t\nx Q0 d 1 2 t\n"})


def test_findings_come_before_a_summary_of_each_file():
    assert fastrank("check qrels run") == Done(1, TEXT, "")


# Arguments by the exit status.
STATUS = {
    0: "good run | good unknown | -- good unknown | --no-qrels run unknown"
    " | --strict --ignore unknown-query good unknown | --ignore float-grade qrels"
    f" | --ignore unknown-query,deep --ignore tied-scores good unknown | --strict {FILES}",
    1: "--strict good unknown | qrels | --no-qrels qrels",
    2: "good nowhere | qrels nowhere run | --ignore nonsense good | --max-per-kind -1 good | ",
}


@pytest.mark.parametrize(
    ("arguments", "status"), [(own, n) for n, lines in STATUS.items() for own in lines.split(" | ")]
)
def test_the_exit_status_says_what_was_found(arguments, status):
    found = fastrank(f"check {arguments}")

    assert found.status == status
    assert (found.err == "") == (status != 2)


def test_a_file_that_cannot_be_read_leaves_the_others():
    found = fastrank("check qrels nowhere run")

    assert found.out == TEXT.replace("0 notes\n", "0 notes, 1 file not read\n")
    assert found.err == "fastrank check: nowhere: no such file or directory\n"


@pytest.mark.parametrize("form", ["text", "github"])
def test_where_nothing_could_be_read_there_is_no_summary(form):
    """It would say that nothing is wrong."""
    write({"empty": ""})

    found = fastrank(f"check --format {form} nowhere empty")

    assert (found.status, found.out) == (2, "")
    assert found.err.count("\n") == 2


def test_findings_that_are_not_listed_are_counted():
    write({"run": "".join(f"q{i} Q0 d 1 x t\n" for i in range(5))})

    assert fastrank("check --max-per-kind 1 --no-qrels run").out == (
        "run:1: error: score 'x' of document 'd' is not a number; trec_eval reads 0 [bad-score]"
        "\n\nrun: 5 lines, 5 results, 5 queries, 1 document\n  error    bad-score: 5 (4 not"
        " listed)\n5 errors, 0 warnings, 0 notes\n"
    )


def test_a_file_that_is_given_twice_is_reported_once_for_each_role():
    """What is odd in its bytes does not depend on the role, and a run given twice is one run."""
    write({"both": "q Q0 d 1 0.5 t\r\nq Q0 e 2 0.25 t"})

    lines = fastrank("check both both both").out.splitlines()

    assert len(lines) == len(set(lines))
    assert sum("[crlf]" in line for line in lines) == 1
    start = lines.index("both: 2 lines, 2 results, 1 query, 2 documents")
    assert "  error    malformed: 2" in lines[:start]
    assert lines[start + 1 :] == ["3 errors, 0 warnings, 2 notes"]


def test_json_is_one_object_and_jsonl_has_a_record_per_line():
    count = {"kind": "float-grade", "file": "qrels", "found": 1, "listed": 1, "role": "qrels"}
    counts = {"lines": 3, "rows": 3, "queries": 2, "documents": 2}

    found = json.loads(fastrank("check --format json qrels run").out)
    records = [*map(json.loads, fastrank("check --format jsonl qrels run").out.splitlines())]

    assert set(found) == {"findings", "counts", "files", "errors", "warnings", "notes"}
    assert found["findings"][0] == {
        "severity": "error",
        "kind": "float-grade",
        "file": "qrels",
        "line": 2,
        "query": "q",
        "document": "e",
        "message": "grade '0.5' of document 'e' is not an integer; trec_eval reads 0",
    }
    assert found["counts"][0] == {"severity": "error", **count}
    assert found["files"][1] == {"file": "run", "role": "run", **counts}
    assert (found["errors"], found["warnings"], found["notes"]) == (1, 1, 0)
    assert records == [
        {"record": part.removesuffix("s"), **item}
        for part in ("findings", "counts", "files")
        for item in found[part]
    ]


def test_github_shows_findings_at_their_lines():
    write({"a,b": "q 0 50% yes\n"})

    assert fastrank("check --format github a,b").out.splitlines()[0] == (
        "::error file=a%2Cb,line=1,title=bad-grade::grade 'yes' of document '50%25' is not a"
        " number; trec_eval reads 0; write 1 for yes and 0 for no"
    )
    assert fastrank("check --format github good unknown").out.startswith("::warning")


@pytest.mark.parametrize("form", ["text", "github"])
def test_names_of_files_begin_no_line_and_move_no_cursor(form):
    """A workflow would obey the first, a terminal the second."""
    name = "x\n::error::f\x1b[2J"
    write({name: "q 0 d 1\n"})

    assert printed(f"check --format {form}", name) == (
        "x\\n::error::f\\x1b[2J: 1 line, 1 judgment, 1 query, 1 document\n"
        "0 errors, 0 warnings, 0 notes\n"
    )


def test_output_goes_into_a_file_whatever_was_found():
    assert fastrank("check -o report qrels run") == Done(1, "", "")

    assert Path("report").read_text() == TEXT


def test_compressed_files_are_read():
    write({"qrels.gz": gzip.compress(b"q 0 d 1\nq 0 e 0.5\n")})

    assert fastrank("check qrels.gz").out.startswith("qrels.gz:2: error")


def test_help_explains_every_kind():
    text = printed("check --help")

    for kind, (severity, meaning) in KINDS.items():
        assert kind in text
        assert meaning in " ".join(text.split())
        assert f"{severity}s (" in text
