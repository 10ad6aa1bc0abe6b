"""The command trec_eval beyond the recordings: messages, help, pipes, traces."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess

import pytest

from fastrank.cli.trec_eval import LONG
from fastrank.core.measures.trec import MEASURES, NICKNAMES
from tests.helpers.checks import unescaped
from tests.helpers.commands import process, words_of, write
from tests.helpers.tables import cases

QRELS = b"q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n"
RUN = b"q1 Q0 b 1 2.0 tag\nq1 Q0 a 2 1.0 tag\nq2 Q0 c 1 9 tag\n"
FILES = {"qrels": QRELS, "run": RUN}


# Judgments and a run (- for none); the original's exit status, and what is wrong.
BAD_FILES = r"""
QRELS => - => 2 get_results: Cannot read results file 'run': no such file
- => RUN => 2 get_qrels: Cannot read qrels file 'qrels': no such file
q 0 a\n => RUN => 2 qrels:1: malformed line: expected 4 fields
QRELS => RUN\n\nq1 Q0 x 1 2.0\n
  2 run:6: malformed line: expected at least 6 fields (query Q0 doc rank score tag), found 5: 'q1 Q0
    x 1 2.0'
QRELS => q1 Q0 a\x00b 1 1 t\n => 2 run:1: NUL byte
QRELS => \x7fELF\x01\x02\x7fELF\x01\x02 => 2 run:1: malformed line
QRELS => \x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03K
  2 Cannot read results file 'run': broken gzip data
QRELS => RUNq1 Q0 a 3 0 tag\n => 4 query 'q1': duplicate docs a, lines 2 and 4 of run
QRELSq2 0 c 0\n => RUN => 4 query 'q2': duplicate docs c, lines 3 and 4 of qrels
x 0 a 1\n => RUN => 7 No queries with both results and relevance
"""


@pytest.mark.parametrize(("qrels", "run", "expected"), cases(BAD_FILES))
def test_bad_files_are_explained(qrels, run, expected, trec_eval):
    files = {
        name: unescaped(text).replace(b"QRELS", QRELS).replace(b"RUN", RUN)
        for name, text in (("qrels", qrels), ("run", run))
        if text != "-"
    }

    found = trec_eval("-m", "map", "qrels", "run", files=files)

    status, _, told = expected.partition(" ")
    assert (found.status, found.stdout) == (int(status), b"")
    assert told in found.stderr
    assert "Traceback" not in found.stderr


# Arguments; the original's exit status, and what is wrong.
WRONG = """
-m maap qrels run => 1 illegal measure 'maap'; did you mean map
-m map+ndcg qrels run => 1 illegal measure 'map ndcg'; repeat -m: -m map -m ndcg
-m map,P.10 qrels run => 1 illegal measure 'map,P.10'; repeat -m: -m map -m P.10
-m P.-1 qrels run => 2 Cannot initialize measure 'P'
-m AUC -M 5 qrels run => 2 trec_eval: 'AUC' does not support a depth
-m infNDCG qrels run => 2 'infNDCG' needs judgments with strata
-M -3 qrels run => 1 -M -3: expected 0 or more
-R qrel qrels run => 2 Illegal rel_format 'qrel': expected qrels, qrels_jg, prefs
-m utility.1,2 qrels run => 4 'utility' takes 4, found 2
-m map_avgjg qrels run => 4 rel_info format not qrels_jg: 'map_avgjg'
-Z nothing qrels run => 255 get_zscores: Cannot read zscores file 'nothing'
-Z run qrels run => 255 get_zscores: run:1: malformed line: expected 4 fields
extra qrels run => 1 expected 2 files, found 3
irds:vaswani run => 2 irds:vaswani': no such file or directory; `fastrank eval` reads datasets
"""


@pytest.mark.parametrize(("arguments", "expected"), cases(WRONG))
def test_bad_arguments_are_explained(arguments, expected, trec_eval):
    words = [word.replace("+", " ") for word in arguments.split()]

    found = trec_eval(*words, files=FILES)

    status, _, told = expected.partition(" ")
    assert (found.status, found.stdout) == (int(status), b"")
    assert told in found.stderr


def test_a_failing_query_leaves_the_queries_before_it_on_standard_output(trec_eval):
    files = {"qrels": QRELS, "run": RUN + b"q2 Q0 c 2 8 tag\n"}

    found = trec_eval("-q", "-m", "map", "qrels", "run", files=files)

    assert found[:2] == (4, b"map                   \tq1\t0.5000\n")


def test_contradictory_preferences_exit_as_the_original_aborts(trec_eval):
    prefs = b"q g s1 a 2\nq g s1 b 1\nq g s2 b 2\nq g s2 a 1\n"
    files = {"prefs": prefs, "run": b"q Q0 a 1 2 t\nq Q0 b 2 1 t\n"}

    found = trec_eval("-R", "prefs", "-m", "prefs", "prefs", "run", files=files)

    assert found.status == 134
    assert "prefs:1: Pref inconsistency found" in found.stderr


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("version", ["9.0.8", "10.0"])
def test_compressed_files_and_pipes(pack, version, trec_eval):
    plain = trec_eval("qrels", "run", files=FILES, trec_eval_version=version)

    files = {"packed": pack(QRELS)}
    packed = trec_eval("packed", "-", files=files, stdin=pack(RUN), trec_eval_version=version)

    assert packed == plain
    assert plain.status == 0


def test_help_documents_every_option_measure_and_set(trec_eval):
    names = [word for measure in MEASURES for word in ("-m", measure.name)]

    text = trec_eval("-h", *names, trec_eval_version="10.0").stdout.decode()

    assert [name for name in LONG if f"--{name}" not in text] == []
    first_lines = {one.name: one.help.splitlines()[0] for one in MEASURES}
    assert [name for name in first_lines if f"\n{name}\n    {first_lines[name]}" not in text] == []
    assert [name for name in NICKNAMES if f"\n {name} " not in text] == []
    assert max(map(len, text.splitlines())) <= 100


def test_bytes_that_are_not_text_come_out_as_they_went_in(trec_eval):
    files = {"qrels": b"\xff\xfe 0 a 1\n", "run": b"\xff\xfe Q0 a 1 1 \xe9t\xe9\n"}

    found = trec_eval("-q", "-m", "map", "-m", "runid", "qrels", "run", files=files)

    assert found.stdout == (
        b"map                   \t\xff\xfe\t1.0000\n"
        b"runid                 \tall\t\xe9t\xe9\n"
        b"map                   \tall\t1.0000\n"
    )


def test_control_characters_of_ids_do_not_reach_a_terminal(trec_eval):
    """On standard error; standard output is that of the original, byte for byte."""
    files = {"qrels": b"q\x1b[2J 0 d 1\n", "run": b"q\x1b[2J Q0 d 1 2 t\n"}
    twice = {**files, "run": files["run"] * 2}

    shown = trec_eval("-q", "-m", "map", "qrels", "run", files=files)
    refused = trec_eval("qrels", "run", files=twice)

    assert b"map                   \tq\x1b[2J\t1.0000\n" in shown.stdout
    assert "\\x1b[2J" in refused.stderr
    assert "\x1b" not in refused.stderr


# --- in a process of its own ---


@pytest.fixture
def _files(folder: object) -> None:
    write({**FILES})


@pytest.mark.usefixtures("_files")
def test_an_engine_that_does_not_exist_is_explained():
    found = process("trec_eval qrels run", env={"FASTRANK_ENGINE": "gpu"})

    told = "trec_eval: FASTRANK_ENGINE='gpu': expected 'precompiled', 'jit' or 'plain'\n"
    assert found == (1, "", told)


@pytest.mark.usefixtures("_files")
def test_options_end_at_the_first_operand_under_posixly_correct():
    """As GNU getopt does."""
    found = process("trec_eval qrels run -q", env={"POSIXLY_CORRECT": "1"})

    assert found.status == 1
    assert "expected 2 files, found 3" in found.err


def test_a_pipe_that_is_closed_after_the_first_line_ends_quietly():
    """`trec_eval -q ... | head -1` prints nothing on standard error."""
    queries = range(20_000)
    write({"qrels": "".join(f"q{i} 0 a 1\n" for i in queries)})
    write({"run": "".join(f"q{i} Q0 a 1 1 t\n" for i in queries)})

    command = words_of("trec_eval -q -m official qrels run")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        complaint = process.stderr.read()

    assert (complaint, process.returncode) == (b"", 141)


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize(
    ("redirection", "status", "words"),
    [
        ("qrels - <&-", 2, "Cannot read results file '-': standard input is closed"),
        ("nothing run 2>&-", 2, ""),
        ("nothing run 2>/dev/full", 2, ""),
        ("-v 2>&-", 0, ""),
    ],
)
def test_closed_streams(redirection, status, words):
    command = " ".join([*words_of("trec_eval"), redirection])

    found = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)

    assert found.returncode == status
    assert words in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.usefixtures("_files")
def test_output_is_buffered_whatever_python_is_told():
    """PYTHONUNBUFFERED=1 changes nothing but the number of system calls."""
    answers = [
        process("trec_eval -q qrels run", env={"PYTHONUNBUFFERED": value}) for value in ("", "1")
    ]

    assert answers[0] == answers[1]
    assert answers[0].out
