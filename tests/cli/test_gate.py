"""`fastrank gate`: what it prints and writes, and its exit status."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import fastrank as fr
from fastrank.cli.main import main
from fastrank.gating.shown import to_markdown
from tests.helpers.paths import DATA, REPOSITORY

QRELS, PIXELS, PCA = (str(DATA / name) for name in ("digits.qrels", "pixels.run", "pca.run"))
Capture = pytest.CaptureFixture[bytes]


@pytest.fixture
def baseline(tmp_path: Path) -> str:
    """The baseline of pixels.run."""
    path = str(tmp_path / "baseline.json")
    assert main(["gate", "save", "-m", "map", "-m", "nDCG@10", "-o", path, QRELS, PIXELS]) == 0
    return path


def _check(capture: Capture, *arguments: str) -> tuple[int, str, str]:
    status = main(["gate", "check", *arguments])

    out, err = capture.readouterr()
    return status, out.decode(), err.decode()


def test_save_writes_what_the_function_writes(
    baseline: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: Capture
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setattr(sys, "argv", ["/bin/fastrank", "gate", "save", "..."])
    made = io.BytesIO()
    command = ["fastrank", "gate", "save", "..."]
    fr.save_baseline(made, QRELS, PIXELS, "map nDCG@10", command=command)

    assert main(["gate", "save", "-m", "map", "-m", "nDCG@10", QRELS, PIXELS]) == 0
    assert capfdbinary.readouterr().out == made.getvalue()


def test_a_run_as_good_as_the_baseline_passes(baseline: str, capfdbinary: Capture) -> None:
    status, out, err = _check(capfdbinary, baseline, QRELS, PIXELS)

    assert (status, err) == (0, "")
    assert out == f"{fr.gate(baseline, QRELS, PIXELS)}\n"


def test_a_worse_run_fails(baseline: str, capfdbinary: Capture) -> None:
    status, out, _ = _check(capfdbinary, baseline, QRELS, PCA)

    assert status == 1
    assert "gate failed: 2 of 2 checks" in out


def test_limits_are_those_of_the_function(baseline: str, capfdbinary: Capture) -> None:
    limits = ["--max-drop", "0.2", "--max-drop", "nDCG@10=0.3", "--min", "map=0.3"]
    more = [
        "--max-unjudged",
        "0.5",
        "--policy",
        "drop",
        "--alpha",
        "0.1",
        "--test",
        "randomization",
    ]
    status, out, _ = _check(capfdbinary, *limits, *more, baseline, QRELS, PCA)
    expected = fr.gate(
        baseline, QRELS, PCA, max_drop={"nDCG@10": 0.3, None: 0.2}, min={"map": 0.3},
        max_unjudged=0.5, policy="drop", alpha=0.1, test="randomization",
    )  # fmt: skip

    assert (status, out) == (0, f"{expected}\n")


def test_an_undecided_verdict_fails_unless_it_only_warns(
    tmp_path: Path, capfdbinary: Capture
) -> None:
    (tmp_path / "q").write_text("q 0 d 1\n")
    (tmp_path / "good").write_text("q Q0 d 1 1 t\n")
    (tmp_path / "bad").write_text("q Q0 x 1 1 t\n")
    saved, qrels = str(tmp_path / "b.json"), str(tmp_path / "q")
    assert main(["gate", "save", "-m", "RR", "-o", saved, qrels, str(tmp_path / "good")]) == 0

    files = (saved, qrels, str(tmp_path / "bad"))
    assert _check(capfdbinary, *files)[0] == 1
    assert _check(capfdbinary, "--on-few", "warn", *files)[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("--max-drop", "MAP=0.1x", "BASELINE", QRELS, PIXELS),
        ("--min", "0.5", "BASELINE", QRELS, PIXELS),
        ("--no-such-flag", "BASELINE", QRELS, PIXELS),
        ("BASELINE", QRELS),
    ],
)
def test_wrong_usage_is_status_2(arguments: tuple[str, ...], capfdbinary: Capture) -> None:
    with pytest.raises(SystemExit) as error:
        main(["gate", "check", *arguments])

    assert error.value.code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--min", "P_5=0.5"), "min: 'P_5' is not in the baseline, which has map, nDCG@10"),
        (("--ties", "average"), "saved with other options (ties 'docno_desc', now 'average')"),
        (("-J",), "saved with other options (judged_only False, now True)"),
        (("-m", "map"), "saved with other measures (map, nDCG@10)"),
        (("-o", "/no/such/folder/x"), "cannot write /no/such/folder/x: No such file or directory"),
    ],
)
def test_what_cannot_be_judged_is_status_2_and_one_line(
    arguments: tuple[str, ...], message: str, baseline: str, capfdbinary: Capture
) -> None:
    status, out, err = _check(capfdbinary, *arguments, baseline, QRELS, PIXELS)

    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("fastrank gate check: ")
    assert message in err


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_missing_file_is_status_2(place: int, baseline: str, capfdbinary: Capture) -> None:
    files = [baseline, QRELS, PIXELS]
    files[place] = "none"

    status, out, err = _check(capfdbinary, *files)
    assert (status, out) == (2, "")
    assert err == "fastrank gate check: none: no such file or directory\n"


def test_output_that_cannot_be_written_is_status_2(baseline: str) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    command = [sys.executable, "-m", "fastrank", "gate", "check", baseline, QRELS, PIXELS]
    with open("/dev/full", "wb") as full:
        found = subprocess.run(command, cwd=REPOSITORY, stdout=full, stderr=subprocess.PIPE)

    assert found.returncode == 2
    assert found.stderr.startswith(b"fastrank gate check: cannot write")


def test_the_version_in_the_environment_must_be_that_of_the_baseline(
    baseline: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: Capture
) -> None:
    monkeypatch.setenv("FASTRANK_TREC_EVAL_VERSION", "10.0")

    status, _, err = _check(capfdbinary, baseline, QRELS, PIXELS)
    assert status == 2
    assert "saved with the numbers of trec_eval 9.0.8, not 10.0" in err


def test_save_names_queries_without_results(tmp_path: Path, capfdbinary: Capture) -> None:
    (tmp_path / "q").write_text("q1 0 d 1\nq2 0 d 1\n")
    (tmp_path / "r").write_text("q1 Q0 d 1 1 t\n")

    assert main(["gate", "save", "-m", "RR", str(tmp_path / "q"), str(tmp_path / "r")]) == 0
    assert capfdbinary.readouterr().err.decode() == (
        f"fastrank gate save: {tmp_path / 'r'}: the run lacks 1 of 2 judged queries (q2); it is"
        " left out (--missing zero counts it as 0)\n"
    )


def test_save_writes_no_file_if_it_fails(tmp_path: Path, capfdbinary: Capture) -> None:
    path = tmp_path / "b.json"

    assert main(["gate", "save", "-m", "num_ret", "-o", str(path), QRELS, PIXELS]) == 2
    assert not path.exists()


@pytest.mark.parametrize("name", ["gate.json", "gate.md", "gate.xml", "gate.txt"])
def test_the_name_of_the_output_file_determines_the_format(
    name: str, tmp_path: Path, baseline: str, capfdbinary: Capture
) -> None:
    path = tmp_path / name

    assert _check(capfdbinary, "-o", str(path), baseline, QRELS, PCA) == (1, "", "")
    text = path.read_text()
    if name == "gate.json":
        assert json.loads(text)["status"] == "fail"
    elif name == "gate.md":
        assert text == to_markdown(fr.gate(baseline, QRELS, PCA))
    elif name == "gate.xml":
        assert len(ElementTree.fromstring(text).findall(".//failure")) == 2
    else:
        assert text == f"{fr.gate(baseline, QRELS, PCA)}\n"


def test_github_appends_the_summary_and_the_verdict(
    tmp_path: Path, baseline: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: Capture
) -> None:
    summary, output = tmp_path / "summary", tmp_path / "output"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_OUTPUT", str(output))

    status, out, _ = _check(capfdbinary, "--format", "github", baseline, QRELS, PCA)
    assert status == 1
    assert out.startswith("::error title=map fell by 0.0854::map fell by 0.0854 to 0.3493;")
    assert summary.read_text() == "before\n" + to_markdown(fr.gate(baseline, QRELS, PCA))
    assert output.read_text() == "verdict=fail\n"


def test_other_formats_leave_the_files_of_github_alone(
    tmp_path: Path, baseline: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: Capture
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))

    _check(capfdbinary, "--format", "markdown", baseline, QRELS, PCA)
    assert not (tmp_path / "summary").exists()


def test_update_replaces_the_baseline_by_a_better_run(tmp_path: Path, capfdbinary: Capture) -> None:
    path = str(tmp_path / "b.json")
    assert main(["gate", "save", "-m", "map", "-o", path, QRELS, PCA]) == 0

    status, out, _ = _check(capfdbinary, "--update", path, QRELS, PIXELS)
    assert status == 0
    assert f"note: {path}: replaced by this run\n" in out
    assert json.loads(Path(path).read_text())["run"]["name"] == "pixels.run"


@pytest.mark.parametrize("run", [PIXELS, PCA])
def test_update_keeps_the_baseline_if_nothing_is_better(
    run: str, baseline: str, capfdbinary: Capture
) -> None:
    before = Path(baseline).read_bytes()

    _, out, _ = _check(capfdbinary, "--update", "--max-drop", "0.5", baseline, QRELS, run)
    assert "not replaced, because the gate did not pass, no mean is better, or one is worse" in out
    assert Path(baseline).read_bytes() == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_update_keeps_the_baseline_if_the_output_cannot_be_written(
    tmp_path: Path, capfdbinary: Capture
) -> None:
    path = tmp_path / "baseline.json"
    assert main(["gate", "save", "-m", "map", "-o", str(path), QRELS, PCA]) == 0
    before = path.read_bytes()

    status, _, err = _check(capfdbinary, "--update", "-o", "/dev/full", str(path), QRELS, PIXELS)

    assert (status, err) == (
        2, "fastrank gate check: cannot write /dev/full: No space left on device\n",
    )  # fmt: skip
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["baseline.json"]


def test_the_output_cannot_replace_the_baseline(baseline: str, capfdbinary: Capture) -> None:
    before = Path(baseline).read_bytes()

    status, _, err = _check(capfdbinary, "-o", baseline, baseline, QRELS, PIXELS)

    assert status == 2
    assert err == (
        f"fastrank gate check: -o: {baseline} is also the file of BASELINE; name another\n"
    )
    assert Path(baseline).read_bytes() == before


def test_update_cannot_replace_standard_input(capfdbinary: Capture) -> None:
    status, _, err = _check(capfdbinary, "--update", "-", QRELS, PIXELS)

    assert status == 2
    assert err == (
        "fastrank gate check: --update: standard input cannot be replaced; name a file\n"
    )


def test_update_does_not_take_values_on_other_judgments(
    baseline: str, capfdbinary: Capture
) -> None:
    before = Path(baseline).read_bytes()

    status, _, err = _check(capfdbinary, "--update", "--allow-other-qrels", baseline, QRELS, PIXELS)

    assert status == 2
    assert "--update: a baseline is not replaced by values on other judgments" in err
    assert Path(baseline).read_bytes() == before


@pytest.mark.parametrize("step", [(), ("save",), ("check",)])
def test_help_fits_80_columns(step: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-m", "fastrank", "gate", *step, "--help"]
    found = subprocess.run(
        command, cwd=REPOSITORY, env={**os.environ, "COLUMNS": "80"}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip

    assert max(map(len, found.stdout.splitlines())) <= 80


@pytest.mark.parametrize("given", ["0.5", "map", "map=x"])
def test_a_floor_needs_a_measure_and_a_number(given: str, capfdbinary: Capture) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["gate", "check", "--min", given, "none", "none", "none"])

    assert stopped.value.code == 2
    err = capfdbinary.readouterr().err.decode()
    assert f"argument --min: expected MEASURE=NUMBER, found '{given}'" in err
