"""`fastrank eval`: any number of runs, the judgments read once."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.paths import DATA

QRELS, PIXELS, PCA = (str(DATA / name) for name in ("digits.qrels", "pixels.run", "pca.run"))


def fastrank(
    *arguments: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fastrank", *arguments],
        capture_output=True, text=True, check=False, env=env,
    )  # fmt: skip


def trec_eval(*arguments: str) -> str:
    return fastrank("trec_eval", *arguments).stdout


def test_every_run_gets_the_lines_of_trec_eval_under_its_name() -> None:
    found = fastrank("eval", "-m", "map", "-m", "P.5,10", QRELS, PIXELS, PCA)

    blocks = [
        f"{'run':22}\tall\t{Path(run).stem}\n" + trec_eval("-m", "map", "-m", "P.5,10", QRELS, run)
        for run in (PIXELS, PCA)
    ]
    assert (found.stdout, found.stderr, found.returncode) == ("".join(blocks), "", 0)


def test_official_measures_are_the_default() -> None:
    found = fastrank("eval", QRELS, PIXELS)

    assert found.stdout.partition("\n")[2] == trec_eval(QRELS, PIXELS)


@pytest.mark.parametrize(
    ("options", "same"),
    [
        (["-q", "-n"], ["-q", "-n"]),
        (["--per-query", "--missing", "zero"], ["-q", "-c"]),
        (["-c"], ["-c"]),
        (["--relevance-level", "2", "--judged-only"], ["-l2", "-J"]),
        (["-M", "20", "-N", "5000"], ["-M20", "-N5000"]),
    ],
)
def test_options_mean_what_they_mean_to_trec_eval(options: list[str], same: list[str]) -> None:
    found = fastrank("eval", "-m", "all_trec", *options, QRELS, PCA)

    assert found.stdout.partition("\n")[2] == trec_eval("-m", "all_trec", *same, QRELS, PCA)


def test_a_run_that_fails_leaves_the_others_and_the_exit_status_says_so(tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("5 Q0 d1\n")

    found = fastrank("eval", "-m", "map", QRELS, str(tmp_path / "broken"), PCA)

    assert found.stdout == f"{'run':22}\tall\tpca\n" + trec_eval("-m", "map", QRELS, PCA)
    assert found.returncode == 1
    assert found.stderr.splitlines() == [
        f"fastrank eval: {tmp_path}/broken:1: malformed line: expected at least 6 fields"
        " (query Q0 doc rank score tag), found 3: '5 Q0 d1'",
        "fastrank eval: 1 of 2 runs could not be evaluated",
    ]


def test_a_run_without_a_column_is_named_once(tmp_path: Path) -> None:
    run = tmp_path / "run.csv"
    run.write_text("query_id,doc_id\nq1,a\n")

    found = fastrank("eval", "-m", "map", QRELS, str(run))

    assert found.returncode == 1
    assert found.stderr.startswith(f"fastrank eval: {run}: no score column: found")


def test_a_run_that_cannot_be_evaluated_is_named(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.write_text("1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n1 Q0 a 3 1 t\n")
    (tmp_path / "qrels").write_text("1 0 a 1\n")

    found = fastrank("eval", str(tmp_path / "qrels"), str(run))

    assert found.returncode == 1
    assert found.stdout == ""
    assert f"{run}: query '1': duplicate docs a, lines 1 and 3 of {run}" in found.stderr


def test_judgments_that_repeat_a_document_are_named_instead_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("1 Q0 a 1 3 t\n")
    qrels = tmp_path / "qrels"
    qrels.write_text("1 0 a 1\n1 0 a 1\n")

    found = fastrank("eval", str(qrels), str(tmp_path / "run"))

    assert found.returncode == 1
    assert found.stderr == (
        f"fastrank eval: query '1': duplicate docs a, lines 1 and 2 of {qrels}\n"
    )


def test_a_run_without_judged_queries_is_named(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("unknown Q0 a 1 3 t\n")

    found = fastrank("eval", QRELS, str(tmp_path / "run"))

    assert (found.stdout, found.returncode) == ("", 1)
    assert f"{tmp_path}/run: the run and the qrels share no query ids" in found.stderr
    assert "(run: 'unknown'; qrels: 'q0000', 'q0001', 'q0002', ...)" in found.stderr


def test_missing_queries_are_told_with_the_run(tmp_path: Path) -> None:
    lines = Path(PCA).read_text().splitlines(keepends=True)
    first = lines[0].split()[0]
    own = [line for line in lines if line.split()[0] == first]
    (tmp_path / "run").write_text("".join(own))

    found = fastrank("eval", "-m", "map", QRELS, str(tmp_path / "run"))

    assert found.returncode == 0
    assert f"{tmp_path}/run: the run lacks 199 of 200 judged queries (" in found.stderr
    assert "...); they are left out (--missing zero counts them as 0)\n" in found.stderr


def test_compressed_runs_are_read(tmp_path: Path) -> None:
    packed = tmp_path / "run.gz"
    packed.write_bytes(gzip.compress(Path(PCA).read_bytes()))

    found = fastrank("eval", QRELS, str(packed))

    assert found.stdout.partition("\n")[2] == trec_eval(QRELS, PCA)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["-m", "mapp", QRELS, PCA], 2, "mapp"),
        (["nowhere", PCA], 2, "nowhere: no such file or directory"),
        (["--threads", "0", QRELS, PCA], 2, "expected 1 or more, found 0"),
        (["-M", "-1", QRELS, PCA], 2, "expected 1 or more"),
        ([QRELS], 2, "required: RUN"),
    ],
)
def test_what_is_asked_wrongly_is_explained(
    arguments: list[str], status: int, message: str
) -> None:
    found = fastrank("eval", *arguments)

    assert (found.returncode, found.stdout) == (status, "")
    assert message in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("variable", ["FASTRANK_TREC_EVAL_VERSION", "FASTRANK_THREADS"])
def test_settings_in_the_environment_are_checked(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "eleven")

    found = fastrank("eval", QRELS, PCA)

    assert (found.returncode, found.stdout) == (2, "")
    assert "eleven" in found.stderr


def test_help_shows_examples() -> None:
    found = fastrank("eval", "--help")

    assert found.returncode == 0
    assert "fastrank eval -m map" in found.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(
            [sys.executable, "-m", "fastrank", "eval", QRELS, PCA],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip

    assert found.returncode == 1
    assert "cannot write the results: No space left on device" in found.stderr


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], str]:
    """Writes a file; returns its path."""

    def written(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return written


def test_queries_without_judgments_are_told_of_files_of_all_formats(
    write: Callable[[str, str], str],
) -> None:
    qrels = write("qrels", "q1 0 d1 1\n")
    trec = write("run", "q1 Q0 d1 1 1 t\nx Q0 d1 1 1 t\ny Q0 d1 1 1 t\n")
    table = write("run.csv", "query_id,doc_id,score\nq1,d1,1\nx,d1,1\ny,d1,1\n")

    found = fastrank("eval", "-m", "map", qrels, trec, table)

    assert found.returncode == 0
    assert found.stderr.splitlines() == [
        f"fastrank eval: {path}: 2 queries of the run have no judgments (x, y)"
        for path in (trec, table)
    ]


def test_a_run_without_judged_documents_is_told(write: Callable[[str, str], str]) -> None:
    run = write("run", "q1 Q0 D1 1 1 t\n")

    found = fastrank("eval", "-m", "map", write("qrels", "q1 0 d1 1\n"), run)

    question = "do the document ids of run and qrels match?"
    assert found.stderr == f"fastrank eval: {run}: no retrieved document is judged: {question}\n"


def test_a_relevance_level_above_all_grades_is_noted(write: Callable[[str, str], str]) -> None:
    qrels, run = write("qrels", "q1 0 d1 1\n"), write("run", "q1 Q0 d1 1 1 t\n")

    found = fastrank("eval", "-m", "map", "-l", "2", qrels, run)
    original = fastrank("trec_eval", "-m", "map", "-l", "2", qrels, run)

    question = "no judged document is relevant: is the relevance level above all grades?"
    assert (found.returncode, found.stderr) == (0, f"fastrank eval: {run}: {question}\n")
    assert original.stderr == ""


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [
        ("q1 0 d1 high\n", "q1 Q0 d1 1 1 t\n", "qrels:1: expected a grade, found 'high'"),
        ("q1 0 d1 1\n", "q1 Q0 d1 1 0,9 t\n", "run:1: expected a score, found '0,9': use a point"),
        ("q1 0 d1 1\n", "q1 Q0 d1 1 nan t\n", "run:1: expected a score, found NaN"),
    ],
)
def test_what_is_no_number_is_an_error_that_trec_eval_does_not_have(
    qrels: str, run: str, message: str, write: Callable[[str, str], str]
) -> None:
    paths = write("qrels", qrels), write("run", run)

    found, original = fastrank("eval", *paths), fastrank("trec_eval", *paths)

    assert found.returncode != 0
    assert message in found.stderr
    assert (original.returncode, original.stderr) == (0, "")


def test_one_missing_query_is_reported_in_the_singular(write: Callable[[str, str], str]) -> None:
    qrels = write("qrels", "q1 0 d1 1\nq2 0 d1 1\n")
    run = write("run", "q1 Q0 d1 1 1 t\n")

    message = "the run lacks 1 of 2 judged queries (q2); it "
    found = fastrank("trec_eval", "-m", "map", qrels, run).stderr
    assert found == f"trec_eval: {message}is left out (-c counts it as 0)\n"
    found = fastrank("eval", "-m", "map", qrels, run).stderr
    assert found.endswith(f"{message}is left out (--missing zero counts it as 0)\n")
    assert fastrank("eval", "-c", qrels, run).stderr.endswith(f"{message}counts as 0\n")
