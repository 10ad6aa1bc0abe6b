"""The files that `fastrank compare` writes: all of them or none, each in its own place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import fastrank as fr
from fastrank.cli.main import main
from tests.helpers.paths import DATA

QRELS, *RUNS = (
    str(DATA / name) for name in ("digits.qrels", "pixels.run", "pca.run", "profile.run")
)
FILES = [QRELS, *RUNS]
Capture = pytest.CaptureFixture[bytes]


def _failed(capture: Capture, *arguments: str) -> tuple[int, str]:
    status = main(["compare", *arguments])

    out, err = capture.readouterr()
    assert out == b""
    return status, err.decode()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "x", "--report", "x"], "--report: x is also the file of -o"),
        (
            ["-o", "x.svg", "--format", "table", "--plot", "./none/../x.svg"],
            "--plot: ./none/../x.svg is also the file",
        ),
        (["--plot", "x.svg", "--report", "x.svg"], "--report: x.svg is also the file of --plot"),
        (["--report", "x", "--save", "link"], "--save: link is also the file of --report"),
        (["--report", "-"], "--report: - is also the file of -o"),
    ],
)
def test_two_outputs_in_one_file_are_an_error(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capfdbinary: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    os.symlink("x", "link")
    os.mkdir("none")

    status, error = _failed(capfdbinary, *arguments, "none.qrels", "none.run")

    assert status == 2
    assert error.startswith(f"fastrank compare: {message}")


def test_one_device_takes_two_outputs(capfdbinary: Capture) -> None:
    pytest.importorskip("matplotlib")

    assert main(["compare", "-o", os.devnull, "--report", os.devnull, "-m", "map", *FILES]) == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_no_file_changes_if_one_cannot_be_written(tmp_path: Path, capfdbinary: Capture) -> None:
    pytest.importorskip("matplotlib")
    report, plot = tmp_path / "report.html", tmp_path / "plot.svg"
    plot.write_text("old")

    status, error = _failed(
        capfdbinary, "--report", str(report), "--plot", str(plot), "-o", "/dev/full", *FILES
    )

    assert (status, error) == (
        1, "fastrank compare: cannot write /dev/full: No space left on device\n",
    )  # fmt: skip
    assert plot.read_text() == "old"
    assert os.listdir(tmp_path) == ["plot.svg"]


@pytest.mark.parametrize(
    ("runs", "options"), [(RUNS, ["-b", "pca"]), (RUNS, ["-b", RUNS[1]]), ([RUNS[1]], [])]
)
def test_the_saved_baseline_is_that_of_the_gate(
    runs: list[str],
    options: list[str],
    tmp_path: Path,
    capfdbinary: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    saved, expected = tmp_path / "saved.json", tmp_path / "expected.json"
    fr.save_baseline(expected, QRELS, RUNS[1], "map P.10", relevance_level=2)

    arguments = ["-m", "map", "-m", "P.10", "-l", "2", *options, QRELS, *runs]
    assert main(["compare", "--save", str(saved), *arguments]) == 0

    found = json.loads(saved.read_bytes())
    assert found["source"].pop("command")[0] == "fastrank"
    assert found == json.loads(expected.read_bytes())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (FILES, "--save: needs one run, or one --baseline"),
        (["-b", "pca", "-b", "pixels", *FILES], "--save: needs one run, or one --baseline"),
        (["-b", "pca", QRELS, RUNS[0], "-"], "--save: standard input cannot be read twice"),
        (["-R", "prefs", QRELS, RUNS[0]], "--save: a gate does not read prefs"),
        (["-m", "num_rel", QRELS, RUNS[0]], "neither higher nor lower values are better"),
    ],
)
def test_a_baseline_that_cannot_be_saved_is_an_error(
    arguments: list[str], message: str, tmp_path: Path, capfdbinary: Capture
) -> None:
    status, error = _failed(capfdbinary, "--save", str(tmp_path / "saved.json"), *arguments)

    assert status == 2
    assert message in error
    assert os.listdir(tmp_path) == []


def test_clusters_are_those_of_the_file(tmp_path: Path, capfdbinary: Capture) -> None:
    queries = fr.read_qrels(QRELS).to_dict()
    clusters = {query: str(place // 4) for place, query in enumerate(queries)}
    path = tmp_path / "clusters.txt"
    path.write_text("".join(f"{query} {own}\n" for query, own in clusters.items()))
    options = {"test": "randomization", "interval": "percentile", "resamples": 200}
    compared = fr.compare(QRELS, RUNS, "map", clusters=clusters, **options)  # type: ignore[arg-type]

    flags = [f"--{name}={value}" for name, value in options.items()]
    status = main(["compare", "-m", "map", "--clusters", str(path), *flags, "--pairs", *FILES])

    out = capfdbinary.readouterr().out.decode()
    assert status == 0
    assert f"{compared.pair('map', 'pca', 'profile').p_adjusted:.4f}" in out.splitlines()[4]


@pytest.mark.parametrize(
    ("content", "flags", "status", "message"),
    [
        ("q0000\n", [], 2, "{path}:1: expected 2 fields (query cluster), found 1"),
        ("q0000 a\n", [], 1, "clusters: no cluster for 199 of 200 queries"),
        ("q0000 a\n", ["--test", "t"], 2, "clusters: the test 't' treats queries as independent"),
        (None, [], 2, "{path}: "),
    ],
)
def test_wrong_clusters_are_an_error(
    content: str | None,
    flags: list[str],
    status: int,
    message: str,
    tmp_path: Path,
    capfdbinary: Capture,
) -> None:
    path = tmp_path / "clusters.txt"
    if content is not None:
        path.write_text(content)

    found, error = _failed(
        capfdbinary, "--clusters", str(path), "--test=randomization", "--interval=none", *flags,
        *FILES,
    )  # fmt: skip

    assert found == status
    assert message.format(path=path) in error
