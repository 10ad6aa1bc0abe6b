"""Where all commands write, in which format, and what they say if they cannot."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from fastrank.cli import output
from fastrank.cli.compare import HINT
from fastrank.cli.main import COMMANDS, main
from fastrank.core.formats.files.source import read_all
from tests.helpers.commands import Done, fastrank, printed, process, words_of, write
from tests.helpers.tables import cases

SMALL = {
    "qrels": "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\nq3 0 b 2\n",
    "a.run": "q1 Q0 a 1 2 a\nq1 Q0 b 2 1 a\nq2 Q0 c 1 9 a\nq3 Q0 c 1 2 a\nq3 Q0 b 2 1 a\n",
    "b.run": "q1 Q0 b 1 2 b\nq1 Q0 a 2 1 b\nq2 Q0 c 1 9 b\nq3 Q0 b 1 2 b\nq3 Q0 c 2 1 b\n",
    "other.qrels": "q1 0 a 0\nq1 0 b 0\nq2 0 c 1\nq3 0 b 2\nq4 0 b 1\n",
    "some.qrels": "q1 0 a 1\nq2 0 c 2\nq3 0 b 0\n",
    "spans.csv": "query,document,start,end\nq1,d,0,4\n",
    "chunks.csv": "chunk,document,start,end\na,d,0,5\n",
}
VECTORS = "--corpus corpus.npy --queries queries.npy"
# The arguments with which each command writes to standard output.
WRITING = {
    "eval": "qrels a.run",
    "compare": "-m map qrels a.run b.run",
    "search": f"{VECTORS} -k 5 -o -",
    "eval-embeddings": f"{VECTORS} --qrels numbers -k 5",
    "hard-negatives": "qrels a.run",
    "compare-indexes": f"{VECTORS} -k 5 Flat",
    "gate": "check baseline.json qrels a.run",
    "agree": "a.run b.run",
    "judges": "qrels other.qrels",
    "estimate": "--human some.qrels --judge other.qrels -m P.5 a.run",
    "plan": "-n 2 --plan plan.json a.run",
    "qrels": "merge qrels other.qrels",
    "spans": "spans.csv chunks.csv",
    "explain": "--query q1 -m map qrels a.run",
    "fuse": "a.run b.run",
    "convert": "--format jsonl a.run -",
    "trec_eval": "qrels a.run",
    "measures": "",
    "check": "qrels a.run",
    "completion": "bash",
    "conformance": "",
}
HELP = ["", *COMMANDS, "gate save", "gate check"]
NEEDS = {"search": "faiss", "eval-embeddings": "faiss", "compare-indexes": "faiss"}
# Commands without -o.
PRINTING = ("convert", "trec_eval", "measures", "completion")
# Those that write a page, which needs a name.
PAGES = ("inspect",)
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")


@pytest.fixture(autouse=True)
def _inputs(folder: Path) -> None:
    write({**SMALL, "numbers": "1 0 5 1\n"})
    rng = np.random.default_rng(1)
    for name, rows in {"corpus": 30, "queries": 4}.items():
        np.save(name, rng.standard_normal((rows, 3)))
    assert fastrank("gate save -m map -o baseline.json qrels a.run").status == 0


def _line(command: str) -> str:
    if command in NEEDS:
        pytest.importorskip(NEEDS[command])
    return f"{command} {WRITING[command]}"


# Command lines, and by the name of the file that -o names the format in which they write.
FORMATS = """
eval qrels a.run b.run
  x.csv csv, x.json json, x.jsonl jsonl, x.ndjson jsonl, x.MD markdown, x.tex latex, x.txt table,
    x table, x.csv.gz csv, x.pdf.x table
eval -q qrels a.run => x trec, x.csv csv, x.tex latex, x.json json
compare -m map qrels a.run b.run
  x.csv csv, x.json json, x.md markdown, x.tex latex, x.txt table, x table
agree a.run b.run
  x.csv csv, x.csv.gz csv, X.CSV.XZ csv, x.json json, x.md markdown, x.tex latex, x.txt table
gate check baseline.json qrels b.run
  x.json json, x.md markdown, x.csv csv, x.tex latex, x.txt text
check qrels a.run => x.json json, x.jsonl jsonl, x.md markdown, x.csv csv, x text
explain --query q1 -m map qrels a.run
  x.md md, x.tex tex, x.json json, x.csv csv, x.txt text
fuse a.run b.run => x.run trec, x.csv csv, x.csv.gz csv, x.jsonl.xz jsonl, x.json json, x trec
"""


@pytest.mark.parametrize(("line", "formats"), cases(FORMATS))
def test_a_file_has_what_is_printed_in_the_format_of_its_name(line, formats):
    before = {*os.listdir()}
    for pair in formats.split(", "):
        name, form = pair.split()
        shown = fastrank(f"{line} --format {form}")

        assert fastrank(f"{line} -o {name}") == shown._replace(out="")

        assert {*os.listdir()} - before == {name}
        # The hint is for readers of a terminal.
        assert os.fsdecode(read_all(name)) == shown.out.removesuffix(f"{HINT}\n") != ""
        Path(name).unlink()


@pytest.mark.parametrize(
    "line",
    [
        "compare -m map qrels a.run b.run",
        "explain --query q1 -m map qrels a.run",
        "eval -m map qrels a.run b.run",
        "check qrels a.run",
        "gate check baseline.json qrels b.run",
        "agree a.run b.run",
        "judges qrels qrels",
        "qrels holes qrels a.run",
    ],
)
def test_a_file_of_html_is_a_page(line):
    shown = fastrank(f"{line} --format html")

    assert fastrank(f"{line} -o x.html") == shown._replace(out="")

    page = Path("x.html").read_text()
    assert page.startswith("<!DOCTYPE html>") != shown.out.startswith("<!DOCTYPE html>")
    assert shown.out.split("\n", 1)[1].rstrip("\n") in page


@pytest.mark.parametrize("form", ["trec", "table", "csv", "json", "jsonl", "markdown", "latex"])
def test_a_format_that_is_given_comes_before_the_name_of_the_output(form):
    line = f"eval --format {form} qrels a.run"

    assert printed(f"{line} -o x.csv") == ""

    assert printed(line) == printed(f"{line} -o -") == Path("x.csv").read_text()


@pytest.mark.parametrize("line", ["agree a.run b.run", "explain --query q1 -m map qrels a.run"])
def test_a_result_is_drawn_into_a_file_beside_what_is_printed(line):
    pytest.importorskip("matplotlib")

    assert printed(f"{line} --plot x.svg") == printed(line)

    assert b'<svg role="img"' in Path("x.svg").read_bytes()


def test_only_the_table_of_indexes_goes_into_the_file():
    pytest.importorskip("faiss")
    pytest.importorskip("matplotlib")
    before = {*os.listdir()}

    assert printed(f"compare-indexes {VECTORS} -k 5 -o x.csv --plot x.svg SQ8") == ""

    assert Path("x.csv").read_text().startswith("index,recall@5,queries/s,bytes,build s\n")
    assert b"<svg" in Path("x.svg").read_bytes()
    assert {*os.listdir()} - before == {"x.csv", "x.svg"}


def test_one_device_takes_two_outputs():
    pytest.importorskip("matplotlib")

    printed("compare -o /dev/null --report /dev/null -m map qrels a.run b.run")


def _failure(command: str) -> int:
    return 2 if command == "gate" else 1


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in PRINTING + PAGES])
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("none/out", "No such file or directory"),
        ("folder", "Is a directory"),
        # As an unset variable of a shell script makes it.
        ("''", "No such file or directory"),
    ],
)
def test_what_cannot_be_written_is_named(command, path, reason):
    Path("folder").mkdir()

    found = fastrank(f"{_line(command)} -o {path}")

    name = {"gate": "gate check", "qrels": "qrels merge"}.get(command, command)
    text = f"fastrank {name}: cannot write {path.strip(chr(39))}: {reason}\n"
    assert found == Done(_failure(command), "", text)


@FULL
@pytest.mark.parametrize(
    "line",
    [
        "compare --report x.html --plot x.svg -m map -o /dev/full qrels a.run b.run",
        "gate check --update -o /dev/full baseline.json qrels better.run",
        f"search {VECTORS} -o /dev/full",
        "eval -o /dev/full qrels a.run",
        "agree --plot x.svg -o /dev/full a.run b.run",
        "convert --kind qrels --format trec --number-queries map qrels /dev/full",
    ],
)
def test_no_file_changes_if_one_cannot_be_written(line):
    command = line.split()[0]
    pytest.importorskip("faiss" if command == "search" else "matplotlib")
    write({"better.run": "q1 Q0 a 1 2 a\nq2 Q0 c 1 9 a\nq3 Q0 b 1 2 a\n", "x.svg": "old"})
    before = {path: path.read_bytes() for path in Path().iterdir()}

    found = fastrank(line)

    assert found.err.endswith("cannot write /dev/full: No space left on device\n")
    assert found.status == _failure(command)
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize(
    "line",
    [
        "convert --kind qrels --format csv other.qrels other.qrels",
        "qrels merge other.qrels a.csv -o other.qrels",
    ],
)
def test_judgments_are_replaced_by_what_is_made_of_them(line):
    write({"a.csv": "query_id,doc_id,relevance\nq1,x,1\n"})
    before = Path("other.qrels").read_bytes()

    printed(line)

    assert Path("other.qrels").read_bytes() != before


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in PAGES])
def test_a_closed_standard_output_is_reported(command, monkeypatch, capfd):
    line = _line(command)
    # As Python starts if file descriptor 1 is closed.
    monkeypatch.setattr(sys, "stdout", None)

    status = main(line.split())

    assert "cannot write the results: standard output is closed\n" in capfd.readouterr().err
    assert status == _failure(command)


@pytest.mark.parametrize("line", ["--version", *(f"{command} --help" for command in HELP)])
def test_help_for_a_closed_standard_output_is_an_error(line, monkeypatch, capfd):
    monkeypatch.setattr(sys, "stdout", None)

    try:
        status = main(line.split())
    except SystemExit as stop:
        status = stop.code

    assert status == 1
    assert "cannot write the results: standard output is closed\n" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("--help", 1),
        ("help", 1),
        ("fuse a.run b.run", 1),
        ("trec_eval qrels a.run", 1),
        ("gate check baseline.json qrels a.run", 2),
    ],
)
@pytest.mark.parametrize("target", ["&-", pytest.param("/dev/full", marks=FULL)])
def test_the_shell_sees_that_nothing_was_written(target, line, status):
    """What was closed in the test before is closed by the shell here."""
    command = ["sh", "-c", f'"$@" >{target}', "sh", *words_of(line)]

    found = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)

    reason = "standard output is closed" if target == "&-" else "No space left on device"
    assert found.returncode == status
    assert found.stderr.endswith(f": cannot write the results: {reason}\n")
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        "eval -q qrels a.run",
        "eval -q -o - qrels a.run",
        f"search {VECTORS} -o -",
        f"eval-embeddings {VECTORS} --qrels numbers -m all_trec -q",
        f"eval-embeddings {VECTORS} --qrels numbers -m map -q -o -",
        f"eval-embeddings {VECTORS} --qrels numbers -o a --run -",
        f"compare-indexes {VECTORS} -k 3 HNSW8 -o -",
    ],
)
def test_a_closed_pipe_ends_quietly(line):
    if line.split()[0] in NEEDS:
        pytest.importorskip("faiss")
    read, closed = os.pipe()
    os.close(read)

    found = process(line, stdout=closed)

    os.close(closed)
    notes = re.compile("have no judgments|ids are row numbers")
    told = [line for line in found.err.splitlines() if not notes.search(line)]
    assert (found.status, told) == (141, [])


@pytest.mark.parametrize(
    "line",
    [
        "eval qrels nul.run",
        "compare -m map qrels nul.run a.run",
        "gate save -m map -o new.json qrels nul.run",
        "agree nul.run a.run",
        "explain --query q1 -m map qrels nul.run",
        "fuse nul.run a.run",
    ],
)
def test_a_warning_is_a_line_of_the_command(line):
    """Not one of Python with the line of the source that called the reader."""
    write({"nul.run": SMALL["a.run"] + "\0q1 Q0 a 1 2 a\n"})

    told = fastrank(line).err.splitlines()

    assert [own for own in told if "begins with a NUL byte" in own] == [told[0]]
    assert told[0].startswith(f"fastrank {line.split()[0]}")


@pytest.mark.parametrize(
    "line",
    [
        f"search {VECTORS} --batch-size 1 -o out",
        f"eval-embeddings {VECTORS} --batch-size 1 --qrels numbers --run out",
        f"compare-indexes {VECTORS} -k 5 -o out --plot p.svg SQ8",
    ],
)
def test_an_interrupt_leaves_files_as_they_were(line, monkeypatch):
    pytest.importorskip("faiss")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fastrank.vectors.searching.engines.VectorSearch._compare", interrupted)
    monkeypatch.setattr("fastrank.vectors.embeddings.index_benchmark._Runner.time", interrupted)
    write({"out": "old"})
    before = {*os.listdir()}

    assert fastrank(line) == Done(130, "", "")

    assert Path("out").read_text() == "old"
    assert {*os.listdir()} == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_an_interrupted_process_leaves_nothing_behind(tmp_path):
    """Between two runs: the first is evaluated, the second is a pipe into which nobody writes."""
    target = tmp_path / "folder"
    target.mkdir()
    os.mkfifo("pipe")
    command = subprocess.Popen(
        words_of("eval -o folder/values qrels a.run pipe"), stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while not list(target.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert list(target.iterdir()) != []

    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=60)

    assert (command.returncode, said) == (130, b"")
    assert list(target.iterdir()) == []


FORGED = "x\n::error::forged\ty"


@pytest.mark.parametrize(
    "command",
    ["eval --format trec", "eval", "eval -q --format trec", "check", "check --format github"],
)
def test_a_name_of_a_file_begins_no_line(command):
    write({FORGED: SMALL["a.run"].replace("q2 Q0 c 1 9 a\n", ""), f"{FORGED}2": "q1 Q0 a 1 2\n"})
    shown = fastrank(command, "qrels", FORGED, f"{FORGED}2")
    lines = [*shown.out.splitlines(), *shown.err.splitlines()]
    assert any("forged" in line for line in lines)
    assert not any(line.startswith("::error::forged") for line in lines)


def test_severities_of_check_have_a_color_on_a_terminal_only(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    write({"twice.run": "q1 Q0 a 1 2 a\nq1 Q0 a 2 1 a\n"})
    plain = fastrank("check qrels twice.run").out
    monkeypatch.setattr(output, "is_terminal", lambda stream: stream is not None)
    shown = fastrank("check qrels twice.run").out
    assert ": \x1b[31merror\x1b[0m: duplicate" in shown
    assert re.sub("\x1b\\[[0-9]+m", "", shown) == plain
    assert fastrank("check qrels twice.run -o report").status == 1
    assert Path("report").read_text() == plain


def test_an_interrupt_while_a_command_is_imported_ends_it(monkeypatch):
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fastrank.cli.main.command_of", interrupted)
    assert main(["fuse", "a.run", "b.run"]) == 130
