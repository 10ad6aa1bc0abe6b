"""`fastrank fuse`: what it writes, and its exit status."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import fastrank as fr
from fastrank.cli.main import main
from tests.helpers.paths import DATA, REPOSITORY

QRELS, PCA, PROFILE = (str(DATA / name) for name in ("digits.qrels", "pca.run", "profile.run"))
Capture = pytest.CaptureFixture[bytes]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two small runs."""
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text("q Q0 d1 1 3.0 a\nq Q0 d2 2 2.0 a\n")
    Path("b.run").write_text("q Q0 d2 1 9.0 b\nq Q0 d3 2 8.0 b\np Q0 d3 1 8.0 b\n")
    return tmp_path


def _failed(capture: Capture, *arguments: str) -> tuple[int, str]:
    status = main(["fuse", *arguments])

    out, err = capture.readouterr()
    assert out == b""
    return status, err.decode()


def test_lines_in_trec_format_go_to_standard_output(capfdbinary: Capture) -> None:
    assert main(["fuse", "--tag", "both", "a.run", "b.run"]) == 0

    out, err = capfdbinary.readouterr()
    assert out.decode() == (
        f"p Q0 d3 1 {1 / 61!r} both\n"
        f"q Q0 d2 1 {1 / 61 + 1 / 62!r} both\n"
        f"q Q0 d1 2 {1 / 61!r} both\n"
        f"q Q0 d3 3 {1 / 62!r} both\n"
    )
    assert err == b"fastrank fuse: run 1 (a.run) lacks 1 of 2 queries (p)\n"


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (["--rrf-k", "10", "--weights", "1,.5"], {"rrf_k": 10, "weights": [1, 0.5]}),
        (["--method", "rbc", "-p", "0.9"], {"method": "rbc", "p": 0.9}),
        (["--method", "gmnz", "--gamma", "2"], {"method": "gmnz", "gamma": 2}),
        (["--method", "logn_isr", "--sigma", "1"], {"method": "logn_isr", "sigma": 1}),
        (
            ["--method", "combsum", "--normalization", "z", "--missing", "zero"],
            {"method": "combsum", "normalization": "z", "missing": "zero"},
        ),
        (
            ["--depth", "20", "--keep", "10", "--ties", "docno_asc", "--threads", "1"],
            {"depth": 20, "keep": 10, "ties": "docno_asc"},
        ),
        (["--trec-eval-version", "10.0"], {"trec_eval_version": "10.0"}),
    ],
)
@pytest.mark.parametrize("name", ["fused.run", "fused.csv.gz", "fused.jsonl.xz", "fused"])
def test_flags_are_the_options_and_the_name_sets_the_format(
    flags: list[str], options: dict[str, object], name: str, capfdbinary: Capture
) -> None:
    assert main(["fuse", *flags, "-o", name, PCA, PROFILE]) == 0

    assert capfdbinary.readouterr() == (b"", b"")
    assert fr.read_run(name).to_dict() == fr.fuse([PCA, PROFILE], **options).to_dict()  # type: ignore[arg-type]


def test_the_output_is_what_trec_eval_takes() -> None:
    def command(name: str) -> list[str]:
        return [sys.executable, "-m", "fastrank", name]

    fused = subprocess.run(
        [*command("fuse"), PCA, PROFILE], cwd=REPOSITORY, check=True, capture_output=True
    )
    found = subprocess.run(
        [*command("trec_eval"), "-m", "map", QRELS, "-"], cwd=REPOSITORY, input=fused.stdout,
        check=True, capture_output=True,
    )  # fmt: skip

    assert found.stdout == b"map                   \tall\t0.4494\n"
    assert fused.stderr == found.stderr == b""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "rff", "a.run", "b.run"], "method: unknown name 'rff'; did you mean 'rrf'?"),
        (["--weights", "1", "a.run", "b.run"], "weights: expected 2 numbers, one per run, found 1"),
        (["--weights", "1,nan", "a.run", "b.run"], "weights: expected a finite number, found nan"),
        (
            ["--normalization", "zscore", "--method", "combsum", "a.run", "b.run"],
            "normalization: unknown name 'zscore'; did you mean 'z'?",
        ),
        (
            ["--format", "parquet", "a.run", "b.run"],
            "parquet cannot be written to standard output; use -o FILE",
        ),
        (
            ["-o", "x.html", "a.run", "b.run"],
            "--output: x.html cannot be written in the format of .html files; set --format, or use"
            " a name that ends in .csv, .tsv, .json, .jsonl, .ndjson, .parquet, .parq, .pq, .trec,"
            " .run, .res, .txt",
        ),
    ],
)
def test_an_invalid_option_is_exit_status_2(
    arguments: list[str], message: str, capfdbinary: Capture
) -> None:
    assert _failed(capfdbinary, *arguments) == (2, f"fastrank fuse: {message}\n")


def test_the_environment_sets_the_version_of_trec_eval(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: Capture
) -> None:
    Path("a.run").write_text("q Q0 a 1 1.0000000001 t\nq Q0 b 2 1.0 t\n")
    monkeypatch.setenv("FASTRANK_TREC_EVAL_VERSION", "10.0")

    assert main(["fuse", "--keep", "1", "a.run", "a.run"]) == 0

    assert capfdbinary.readouterr().out.startswith(b"q Q0 a ")
    monkeypatch.setenv("FASTRANK_TREC_EVAL_VERSION", "9")
    assert _failed(capfdbinary, "a.run", "a.run") == (
        2, "fastrank fuse: FASTRANK_TREC_EVAL_VERSION=9: expected 9.0.8 or 10.0\n"
    )  # fmt: skip


@pytest.mark.parametrize("weights", ["1,x", "1;2", ""])
def test_weights_are_numbers_with_commas_between(weights: str, capfdbinary: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["fuse", "--weights", weights, "a.run", "b.run"])

    assert caught.value.code == 2
    assert b"argument --weights: invalid weights value" in capfdbinary.readouterr().err


def test_a_missing_file_is_exit_status_1(capfdbinary: Capture) -> None:
    found = _failed(capfdbinary, "a.run", "missing.run")

    assert found == (1, "fastrank fuse: missing.run: no such file or directory\n")


def test_a_failed_fusion_keeps_the_old_file(capfdbinary: Capture) -> None:
    Path("c.run").write_text("q Q0 d1 1 inf a\n")
    Path("out.run").write_text("old")

    status, message = _failed(
        capfdbinary, "--method", "combsum", "-o", "out.run", "a.run", "b.run", "c.run"
    )

    assert status == 1
    assert "run 3 (c.run): query 'q', document 'd1': expected a finite score, found inf" in message
    assert Path("out.run").read_text() == "old"
    assert sorted(path.name for path in Path().iterdir()) == ["a.run", "b.run", "c.run", "out.run"]


def test_a_folder_that_is_missing_is_reported_before_the_runs_are_read(
    capfdbinary: Capture,
) -> None:
    found = _failed(capfdbinary, "-o", "no/out.run", "missing.run", "b.run")

    assert found == (1, "fastrank fuse: cannot write no/out.run: No such file or directory\n")
