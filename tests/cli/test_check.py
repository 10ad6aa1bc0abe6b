"""`fastrank check`: its output in every format, and its exit status."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from fastrank.checking.checker import KINDS
from tests.helpers.paths import DATA

QRELS, PIXELS, PCA = (str(DATA / name) for name in ("digits.qrels", "pixels.run", "pca.run"))
FILES = {
    "qrels": b"q 0 d 1\nq 0 e 0.5\n",
    "run": b"q Q0 d 1 2 t\nq Q0 e 2 1 t\nx Q0 d 1 2 t\n",
    "good": b"q 0 d 1\n",
    "unknown": b"q Q0 d 1 2 t\nx Q0 d 1 2 t\n",
}
TEXT = """\
qrels:2: error: grade '0.5' of document 'e' is not an integer; trec_eval reads 0 [float-grade]
run:3: warning: query 'x' has no judgments in qrels and is not evaluated [unknown-query]

qrels: 2 lines, 2 judgments, 1 query, 2 documents
  error    float-grade: 1
run: 3 lines, 3 results, 2 queries, 2 documents
  warning  unknown-query: 1
1 error, 1 warning, 0 notes
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def check(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fastrank", "check", *arguments],
        capture_output=True, text=True, check=False, cwd=cwd,
        env={"PYTHONPATH": str(DATA.parent), "PATH": ""},
    )  # fmt: skip


def test_findings_come_before_a_summary_of_each_file(folder: Path) -> None:
    found = check("qrels", "run", cwd=folder)

    assert (found.stdout, found.stderr, found.returncode) == (TEXT, "", 1)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["good", "run"], 0),
        (["good", "unknown"], 0),
        (["--strict", "good", "unknown"], 1),
        (["--strict", "--ignore", "unknown-query", "good", "unknown"], 0),
        (["--ignore", "unknown-query,deep", "--ignore", "tied-scores", "good", "unknown"], 0),
        (["qrels"], 1),
        (["--ignore", "float-grade", "qrels"], 0),
        (["--no-qrels", "run", "unknown"], 0),
        (["--no-qrels", "qrels"], 1),
        (["good", "nowhere"], 2),
        (["qrels", "nowhere", "run"], 2),
        (["--ignore", "nonsense", "good"], 2),
        (["--max-per-kind", "-1", "good"], 2),
        ([], 2),
    ],
)
def test_the_exit_status_says_what_was_found(
    arguments: list[str], status: int, folder: Path
) -> None:
    found = check(*arguments, cwd=folder)

    assert found.returncode == status
    assert "Traceback" not in found.stderr


def test_a_file_that_cannot_be_read_leaves_the_others(folder: Path) -> None:
    found = check("qrels", "nowhere", "run", cwd=folder)

    assert found.stdout == TEXT.replace("0 notes\n", "0 notes, 1 file not read\n")
    assert found.stderr == "fastrank check: nowhere: no such file or directory\n"


@pytest.mark.parametrize("form", ["text", "github"])
def test_where_nothing_could_be_read_there_is_no_summary(form: str, folder: Path) -> None:
    """It would say that nothing is wrong."""
    (folder / "empty").touch()

    found = check("--format", form, "nowhere", "empty", cwd=folder)

    assert (found.stdout, found.returncode) == ("", 2)
    assert found.stderr.count("\n") == 2


def test_findings_that_are_not_listed_are_counted(folder: Path) -> None:
    (folder / "run").write_bytes(b"".join(b"q%d Q0 d 1 x t\n" % i for i in range(5)))

    found = check("--max-per-kind", "1", "--no-qrels", "run", cwd=folder)

    assert found.stdout == (
        "run:1: error: score 'x' of document 'd' is not a number; trec_eval reads 0 [bad-score]"
        "\n\nrun: 5 lines, 5 results, 5 queries, 1 document\n  error    bad-score: 5 (4 not"
        " listed)\n5 errors, 0 warnings, 0 notes\n"
    )


def test_a_file_that_is_given_twice_is_reported_once_for_each_role(folder: Path) -> None:
    """What is odd in its bytes does not depend on the role, and a run given twice is one run."""
    (folder / "both").write_bytes(b"q Q0 d 1 0.5 t\r\nq Q0 e 2 0.25 t")

    lines = check("both", "both", "both", cwd=folder).stdout.splitlines()

    assert len(lines) == len(set(lines))
    assert sum("[crlf]" in line for line in lines) == 1
    start = lines.index("both: 2 lines, 2 results, 1 query, 2 documents")
    assert "  error    malformed: 2" in lines[:start]
    assert lines[start + 1 :] == ["3 errors, 0 warnings, 2 notes"]


def test_json_is_one_object_with_findings_counts_and_files(folder: Path) -> None:
    found = json.loads(check("--format", "json", "qrels", "run", cwd=folder).stdout)

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
    assert found["counts"][0] == {
        "severity": "error", "kind": "float-grade", "file": "qrels", "found": 1, "listed": 1,
        "role": "qrels",
    }  # fmt: skip
    assert found["files"][1] == {
        "file": "run", "role": "run", "lines": 3, "rows": 3, "queries": 2, "documents": 2
    }  # fmt: skip
    assert (found["errors"], found["warnings"], found["notes"]) == (1, 1, 0)


def test_jsonl_has_a_record_per_line(folder: Path) -> None:
    plain = json.loads(check("--format", "json", "qrels", "run", cwd=folder).stdout)

    lines = check("--format", "jsonl", "qrels", "run", cwd=folder).stdout.splitlines()

    records = [json.loads(line) for line in lines]
    for record, items in (("finding", "findings"), ("count", "counts"), ("file", "files")):
        own = [item for item in records if item["record"] == record]
        assert own == [{"record": record, **item} for item in plain[items]]


def test_github_shows_findings_at_their_lines(folder: Path) -> None:
    (folder / "a,b").write_bytes(b"q 0 50% yes\n")

    found = check("--format", "github", "a,b", cwd=folder).stdout.splitlines()

    assert found[0] == (
        "::error file=a%2Cb,line=1,title=bad-grade::grade 'yes' of document '50%25' is not a"
        " number; trec_eval reads 0"
    )
    assert check("--format", "github", "good", "unknown", cwd=folder).stdout.startswith("::warning")


@pytest.mark.parametrize("form", ["text", "github"])
def test_names_of_files_begin_no_line_and_move_no_cursor(form: str, folder: Path) -> None:
    """A workflow would obey the first, a terminal the second."""
    name = "x\n::error::f\x1b[2J"
    (folder / name).write_bytes(FILES["good"])

    found = check("--format", form, name, cwd=folder)

    assert found.stdout == (
        "x\\n::error::f\\x1b[2J: 1 line, 1 judgment, 1 query, 1 document\n"
        "0 errors, 0 warnings, 0 notes\n"
    )


def test_output_goes_into_a_file(folder: Path) -> None:
    found = check("-o", "report", "qrels", "run", cwd=folder)

    assert (found.stdout, found.returncode) == ("", 1)
    assert (folder / "report").read_text() == TEXT


def test_compressed_files_are_read(folder: Path) -> None:
    (folder / "qrels.gz").write_bytes(gzip.compress(FILES["qrels"]))

    assert check("qrels.gz", cwd=folder).stdout.startswith("qrels.gz:2: error")


def test_good_runs_pass_the_strict_check(folder: Path) -> None:
    found = check("--strict", QRELS, PIXELS, PCA, cwd=folder)

    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.endswith("\n0 errors, 0 warnings, " + found.stdout.rpartition(", ")[2])


def test_help_explains_every_kind(folder: Path) -> None:
    found = check("--help", cwd=folder)

    assert found.returncode == 0
    for kind, (severity, meaning) in KINDS.items():
        assert kind in found.stdout
        assert meaning in " ".join(found.stdout.split())
        assert f"{severity}s (" in found.stdout
