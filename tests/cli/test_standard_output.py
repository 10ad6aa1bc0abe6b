"""Every command says so, and exits with an error, if standard output cannot be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fastrank.cli.main import COMMANDS, main
from tests.helpers.paths import DATA

QRELS, PCA, PIXELS = (str(DATA / name) for name in ("digits.qrels", "pca.run", "pixels.run"))
VECTORS = ("--corpus", str(DATA / "documents.npy"), "--queries", str(DATA / "queries.npy"))
IDS = ("--corpus-ids", str(DATA / "documents.txt"), "--query-ids", str(DATA / "queries.txt"))
# Arguments with which each command writes to standard output.
WRITING = {
    "eval": (QRELS, PCA),
    "compare": ("-m", "map", QRELS, PCA, PIXELS),
    "search": (*VECTORS, "-k", "5", "-o", "-"),
    "eval-embeddings": (*VECTORS, *IDS, "--qrels", QRELS),
    "hard-negatives": (QRELS, PCA),
    "compare-indexes": (*VECTORS, "-k", "5", "Flat"),
    "probe": ("rows.csv", "--vectors", "rows.npy"),
    "gate": ("check", "baseline.json", QRELS, PCA),
    "agree": (PCA, PIXELS),
    "explain": ("--query", "q0004", "-m", "map", QRELS, PCA),
    "fuse": (PCA, PIXELS),
    "convert": ("--format", "jsonl", PCA, "-"),
    "trec_eval": (QRELS, PCA),
    "measures": (),
    "check": (QRELS, PCA),
    "completion": ("bash",),
}
HELP = [[], *([name] for name in COMMANDS), ["gate", "save"], ["gate", "check"]]
NEEDS = {"search": "faiss", "eval-embeddings": "faiss", "compare-indexes": "faiss"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_standard_output_is_reported(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if command in NEEDS:
        pytest.importorskip(NEEDS[command])
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    np.save("rows.npy", rng.standard_normal((40, 3)))
    Path("rows.csv").write_text("text,label\n" + "".join(f"t{i},{i % 2}\n" for i in range(40)))
    main(["gate", "save", "-m", "map", "-o", "baseline.json", QRELS, PCA])
    capfd.readouterr()
    # As Python starts if file descriptor 1 is closed.
    monkeypatch.setattr(sys, "stdout", None)

    status = main([command, *WRITING[command]])

    told = capfd.readouterr().err
    assert "cannot write the results: standard output is closed\n" in told
    assert status == (2 if command == "gate" else 1)


@pytest.mark.parametrize("words", [["--version"], *([*words, "--help"] for words in HELP)])
def test_help_for_a_closed_standard_output_is_an_error(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)

    try:
        status = main(words)
    except SystemExit as stop:
        status = stop.code

    assert status == 1
    assert "cannot write the results: standard output is closed\n" in capfd.readouterr().err


@pytest.mark.parametrize("words", [["--help"], ["eval", "--help"], ["help"], ["fuse", PCA, PIXELS]])
@pytest.mark.parametrize("target", ["&-", "/dev/full"])
def test_the_shell_sees_that_nothing_was_written(target: str, words: list[str]) -> None:
    command = [sys.executable, "-m", "fastrank", *words]

    found = subprocess.run(
        ["sh", "-c", f'"$@" >{target}', "sh", *command],
        stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip

    assert found.returncode == 1
    assert found.stderr.count("\n") == 1
    assert "cannot write the results: " in found.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("eval", QRELS, "nul.run"),
        ("compare", "-m", "map", QRELS, "nul.run", PCA),
        ("gate", "save", "-m", "map", "-o", "baseline.json", QRELS, "nul.run"),
        ("agree", "nul.run", PCA),
        ("explain", "--query", "q0004", "-m", "map", QRELS, "nul.run"),
        ("fuse", "nul.run", PCA),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_warning_is_a_line_of_the_command(
    arguments: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Not one of Python with the line of the source that called the reader."""
    monkeypatch.chdir(tmp_path)
    line = b"q0004 Q0 d0464 1 0.5 x\n"
    Path("nul.run").write_bytes(line + b"\0" + line)

    main([*arguments])

    told = capfd.readouterr().err.splitlines()
    assert [own for own in told if "begins with a NUL byte" in own] == [told[0]]
    assert told[0].startswith(f"fastrank {arguments[0]}")


@pytest.mark.parametrize("command", ["eval", "check", "fuse", "agree", "gate"])
def test_an_empty_name_is_no_standard_output(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As an unset variable of a shell script makes it."""
    monkeypatch.chdir(tmp_path)
    main(["gate", "save", "-m", "map", "-o", "baseline.json", QRELS, PCA])
    capfd.readouterr()

    status = main([command, *WRITING[command], "-o", ""])

    told = capfd.readouterr()
    assert told.err.endswith(": cannot write : No such file or directory\n")
    assert told.out == ""
    assert status == (2 if command == "gate" else 1)
