"""The command trec_eval beyond the recordings: messages, help, pipes, traces."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fastrank.measures.trec import MEASURES, NICKNAMES
from tests.helpers.commands import Command

QRELS = b"q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n"
RUN = b"q1 Q0 b 1 2.0 tag\nq1 Q0 a 2 1.0 tag\nq2 Q0 c 1 9 tag\n"
FILES = {"qrels": QRELS, "run": RUN}
COMMAND = [sys.executable, "-m", "fastrank", "trec_eval"]


@pytest.mark.parametrize(
    ("files", "status", "words"),
    [
        ({"qrels": QRELS}, 2, "get_results: Cannot read results file 'run': no such file"),
        ({"run": RUN}, 2, "get_qrels: Cannot read qrels file 'qrels': no such file"),
        ({"qrels": b"", "run": RUN}, 2, "'qrels': the file is empty"),
        ({"qrels": b"q 0 a\n", "run": RUN}, 2, "qrels:1: malformed line: expected 4 fields"),
        (
            {"qrels": QRELS, "run": RUN + b"\n\nq1 Q0 x 1 2.0\n"},
            2,
            "run:6: malformed line: expected at least 6 fields (query Q0 doc rank score tag),"
            " found 5: 'q1 Q0 x 1 2.0'",
        ),
        ({"qrels": QRELS, "run": b"q1 Q0 a\x00b 1 1 t\n"}, 2, "run:1: NUL byte"),
        ({"qrels": QRELS, "run": b"\x7fELF\x01\x02" * 9}, 2, "run:1: malformed line"),
        ({"qrels": QRELS, "run": b"q1 Q0 " + b"x" * 10**7 + b"\n"}, 2, "run:1: malformed line"),
        (
            {"qrels": QRELS, "run": RUN + b"q1 Q0 a 3 0 tag\n"},
            4,
            "query 'q1': duplicate docs a, lines 2 and 4 of run",
        ),
        (
            {"qrels": QRELS + b"q2 0 c 0\n", "run": RUN},
            4,
            "query 'q2': duplicate docs c, lines 3 and 4 of qrels",
        ),
        ({"qrels": b"x 0 a 1\n", "run": RUN}, 7, "No queries with both results and relevance"),
    ],
)
def test_bad_files_are_explained(
    files: dict[str, bytes], status: int, words: str, trec_eval: Any
) -> None:
    """The original's exit status, and a message that names file, line and expectation."""
    found = trec_eval("-m", "map", "qrels", "run", files=files)

    assert found.status == status
    assert words in found.stderr
    assert "Traceback" not in found.stderr
    assert found.stdout == b""


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("-m", "maap"), 1, "illegal measure 'maap'; did you mean map"),
        (("-m", "map ndcg"), 1, "illegal measure 'map ndcg'; repeat -m: -m map -m ndcg"),
        (("-m", "map,P.10"), 1, "illegal measure 'map,P.10'; repeat -m: -m map -m P.10"),
        (("-m", "P.-1"), 2, "Cannot initialize measure 'P'"),
        (("-m", "AUC", "-M", "5"), 2, "trec_eval: 'AUC' does not support a depth"),
        (("-M", "-3"), 1, "-M -3: expected 0 or more"),
        (("-R", "qrel"), 2, "Illegal rel_format 'qrel': expected qrels, qrels_jg, prefs"),
        (("-m", "utility.1,2"), 4, "'utility' takes 4, found 2"),
        (("-m", "map_avgjg"), 4, "rel_info format not qrels_jg: 'map_avgjg'"),
        (("-Z", "nothing"), 255, "get_zscores: Cannot read zscores file 'nothing'"),
        (("-Z", "run"), 255, "get_zscores: run:1: malformed line: expected 4 fields"),
        (("extra",), 1, "expected 2 files, found 3"),
    ],
)
def test_bad_arguments_are_explained(
    arguments: tuple[str, ...], status: int, words: str, trec_eval: Any
) -> None:
    """The original's exit status and what is wrong."""
    found = trec_eval(*arguments, "qrels", "run", files=FILES)

    assert found.status == status
    assert words in found.stderr
    assert found.stdout == b""


def test_the_name_of_a_dataset_is_not_a_file(trec_eval: Any) -> None:
    found = trec_eval("irds:vaswani", "run", files=FILES)

    words = "irds:vaswani': no such file or directory; `fastrank eval` reads datasets"
    assert found.status == 2
    assert words in found.stderr


def test_an_unknown_version_is_refused(trec_eval: Any) -> None:
    """FASTRANK_TREC_EVAL_VERSION has two values."""
    found = trec_eval("qrels", "run", files=FILES, trec_eval_version="9")

    assert found.status == 1
    assert "FASTRANK_TREC_EVAL_VERSION=9: expected 9.0.8 or 10.0" in found.stderr


def test_an_engine_that_does_not_exist_is_explained(tmp_path: Path) -> None:
    """A message and status 1, no traceback."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)

    found = subprocess.run(
        [*COMMAND, "qrels", "run"], cwd=tmp_path, capture_output=True, check=False,
        env={**os.environ, "FASTRANK_ENGINE": "gpu"},
    )  # fmt: skip

    assert found.returncode == 1
    assert found.stderr == b"trec_eval: FASTRANK_ENGINE='gpu': expected 'precompiled' or 'jit'\n"


def test_missing_queries_are_counted_on_standard_error(trec_eval: Any) -> None:
    """One line without -c, none with it."""
    files = {"qrels": QRELS + b"q3 0 d 1\nq4 0 d 1\n", "run": RUN}

    without = trec_eval("-m", "map", "qrels", "run", files=files)
    complete = trec_eval("-c", "-m", "map", "qrels", "run", files=files)

    assert "the run lacks 2 of 4 judged queries" in without.stderr
    assert without.stderr.count("\n") == 1
    assert without.stdout == b"map                   \tall\t0.7500\n"
    assert complete.stderr == ""
    assert complete.stdout == b"map                   \tall\t0.3750\n"


def test_a_failing_query_leaves_the_queries_before_it_on_standard_output(trec_eval: Any) -> None:
    """Per-query lines up to the failure, no summary."""
    files = {"qrels": QRELS, "run": RUN + b"q2 Q0 c 2 8 tag\n"}

    found = trec_eval("-q", "-m", "map", "qrels", "run", files=files)

    assert found.status == 4
    assert found.stdout == b"map                   \tq1\t0.5000\n"


def test_contradictory_preferences_exit_as_the_original_aborts(trec_eval: Any) -> None:
    """A cycle over two subgroups: status 134 and the place."""
    prefs = b"q g s1 a 2\nq g s1 b 1\nq g s2 b 2\nq g s2 a 1\n"
    files = {"prefs": prefs, "run": b"q Q0 a 1 2 t\nq Q0 b 2 1 t\n"}

    found = trec_eval("-R", "prefs", "-m", "prefs", "prefs", "run", files=files)

    assert found.status == 134
    assert "prefs:1: Pref inconsistency found" in found.stderr


def test_a_nul_at_the_start_of_a_line_is_not_silent(trec_eval: Any) -> None:
    """It ends the file, as in the original, and says how much is not read."""
    files = {"qrels": QRELS, "run": RUN + b"\x00q1 Q0 z 9 9 t\n"}

    found = trec_eval("-m", "num_ret", "qrels", "run", files=files)

    assert found.stdout == b"num_ret               \tall\t3\n"
    assert "run:4: the line begins with a NUL byte, which ends the file: 15 bytes" in found.stderr


def test_a_nul_on_standard_input_is_an_error(trec_eval: Any) -> None:
    """10.0 would join the lines around it."""
    found = trec_eval("qrels", "-", files=FILES, stdin=RUN + b"\0\n", trec_eval_version="10.0")

    assert found.status == 2
    assert "-:4: NUL byte" in found.stderr


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
def test_compressed_files_and_pipes(pack: Any, trec_eval_version: str, trec_eval: Any) -> None:
    """Both files compressed, the run from standard input: the same answer."""
    plain = trec_eval("qrels", "run", files=FILES, trec_eval_version=trec_eval_version)

    packed = trec_eval(
        "packed",
        "-",
        files={"packed": pack(QRELS)},
        stdin=pack(RUN),
        trec_eval_version=trec_eval_version,
    )

    assert packed == plain
    assert plain.status == 0


def test_a_broken_compressed_file_gives_no_result(trec_eval: Any) -> None:
    """Exit status 2 and the reason."""
    files = {"qrels": QRELS, "run": gzip.compress(RUN)[:-9]}

    found = trec_eval("qrels", "run", files=files)

    assert found.status == 2
    assert "Cannot read results file 'run': broken gzip data" in found.stderr
    assert found.stdout == b""


def test_help_documents_every_option_measure_and_set(trec_eval: Any) -> None:
    """-h -m NICKNAME for all of them, at both levels."""
    from fastrank.cli.trec_eval import LONG

    names = [word for measure in MEASURES for word in ("-m", measure.name)]

    text = trec_eval("-h", *names, trec_eval_version="10.0").stdout.decode()

    assert [name for name in LONG if f"--{name}" not in text] == []
    assert [
        m.name for m in MEASURES if f"\n{m.name}\n    {m.help.splitlines()[0]}" not in text
    ] == []
    assert [name for name in NICKNAMES if f"\n {name} " not in text] == []
    assert max(map(len, text.splitlines())) <= 100


def test_version_names_both_programs(trec_eval: Any) -> None:
    """The original's line, with ours after it, on standard error."""
    found = trec_eval("-v")

    assert found.stderr.startswith("trec_eval version 9.0.7 (fastrank ")
    assert (found.status, found.stdout) == (0, b"")


def test_options_end_at_the_first_operand_under_posixly_correct(
    trec_eval: Any, tmp_path: Path
) -> None:
    """As GNU getopt does."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)

    found = subprocess.run(
        [*COMMAND, "qrels", "run", "-q"], cwd=tmp_path, capture_output=True, check=False,
        env={**os.environ, "POSIXLY_CORRECT": "1"},
    )  # fmt: skip

    assert found.returncode == 1
    assert b"expected 2 files, found 3" in found.stderr


def test_debug_shows_what_measures_see_and_only_on_standard_error(trec_eval: Any) -> None:
    """-D 2.q1 evaluates q1 only and traces ranks and grades."""
    found = trec_eval("-D", "2.q1", "-m", "map", "qrels", "run", files=FILES)

    assert found.stdout == b"map                   \tall\t0.5000\n"
    assert found.stderr == (
        "debug: query q1: retrieved 2, relevant 1, relevant retrieved 1; rank:grade 1:0 2:1\n"
    )


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    """`trec_eval -q ... | head -1` prints nothing on standard error."""
    queries = range(20_000)
    (tmp_path / "qrels").write_text("".join(f"q{i} 0 a 1\n" for i in queries))
    (tmp_path / "run").write_text("".join(f"q{i} Q0 a 1 1 t\n" for i in queries))

    with subprocess.Popen(
        [*COMMAND, "-q", "-m", "official", "qrels", "run"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        complaint = process.stderr.read()

    assert complaint == b""
    assert process.returncode == 141


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    """Writing to /dev/full fails with a message and a non-zero status."""
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)

    with open("/dev/full", "wb") as full:
        found = subprocess.run(
            [*COMMAND, "qrels", "run"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE,
            check=False,
        )  # fmt: skip

    assert found.returncode == 1
    assert found.stderr == b"trec_eval: cannot write the results: No space left on device\n"


@pytest.mark.parametrize(
    ("redirection", "status", "words"),
    [
        ("qrels run >&-", 1, "cannot write the results: standard output is closed"),
        ("qrels - <&-", 2, "Cannot read results file '-': standard input is closed"),
        ("nothing run 2>&-", 2, ""),
        ("nothing run 2>/dev/full", 2, ""),
        ("-v 2>&-", 0, ""),
    ],
)
def test_closed_streams(redirection: str, status: int, words: str, tmp_path: Path) -> None:
    """A message where there is somebody to read it, and the right status in any case."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    command = " ".join([*COMMAND, redirection])

    found = subprocess.run(
        command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert found.returncode == status
    assert words in found.stderr
    assert "Traceback" not in found.stderr


def test_output_is_buffered_whatever_python_is_told(tmp_path: Path) -> None:
    """PYTHONUNBUFFERED=1 changes nothing but the number of system calls."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    answers = [
        subprocess.run(
            [*COMMAND, "-q", "qrels", "run"], cwd=tmp_path, capture_output=True, check=True,
            env={**os.environ, "PYTHONUNBUFFERED": value},
        ).stdout
        for value in ("", "1")
    ]  # fmt: skip

    assert answers[0] == answers[1] != b""


def test_bytes_that_are_not_text_come_out_as_they_went_in(trec_eval: Any) -> None:
    """Query ids and tags are bytes."""
    files = {"qrels": b"\xff\xfe 0 a 1\n", "run": b"\xff\xfe Q0 a 1 1 \xe9t\xe9\n"}

    found = trec_eval("-q", "-m", "map", "-m", "runid", "qrels", "run", files=files)

    assert found.stdout == (
        b"map                   \t\xff\xfe\t1.0000\n"
        b"runid                 \tall\t\xe9t\xe9\n"
        b"map                   \tall\t1.0000\n"
    )


def test_the_fastrank_command(capsys: pytest.CaptureFixture[str]) -> None:
    """--version names the engine; without a command there is help and status 2."""
    from fastrank.cli.main import main

    assert main(["--version"]) == 0
    assert ", engine: " in capsys.readouterr().out
    assert main([]) == 2
    assert "trec_eval" in capsys.readouterr().err


def test_control_characters_of_ids_do_not_reach_a_terminal(trec_eval: Command) -> None:
    """On standard error; standard output is that of the original, byte for byte."""
    files = {"qrels": b"q\x1b[2J 0 d 1\n", "run": b"q\x1b[2J Q0 d 1 2 t\n"}
    twice = {**files, "run": files["run"] + files["run"]}

    shown = trec_eval("-q", "-m", "map", "qrels", "run", files=files)
    refused = trec_eval("qrels", "run", files=twice)

    assert b"map                   \tq\x1b[2J\t1.0000\n" in shown.stdout
    assert "\\x1b[2J" in refused.stderr
    assert "\x1b" not in refused.stderr


def test_measures_of_strata_are_refused(trec_eval: Any) -> None:
    """Judgments in trec_eval's formats have none."""
    found = trec_eval("-m", "infNDCG", "qrels", "run", files=FILES)

    assert found.status == 2
    assert "'infNDCG' needs judgments with strata" in found.stderr
