"""`fastrank gate`: what it prints and writes, and its exit status."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import fastrank as fr
from fastrank.analysis.gating.shown import to_markdown
from tests.helpers.commands import PCA, PIXELS, QRELS, Done, assert_refused, fastrank, write

MEASURES = "-m map -m nDCG@10"
GOOD, WORSE = f"base.json {QRELS} {PIXELS}", f"base.json {QRELS} {PCA}"


@pytest.fixture(autouse=True)
def _baseline(folder: Path) -> None:
    """The baseline of pixels.run."""
    assert fastrank(f"gate save {MEASURES} -o base.json {QRELS} {PIXELS}") == Done(0, "", "")


def check(arguments: str) -> Done:
    return fastrank(f"gate check {arguments}")


def test_save_writes_what_the_function_writes(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setattr(sys, "argv", ["/bin/fastrank", "gate", "save", "..."])
    command = ["fastrank", "gate", "save", "..."]
    fr.save_baseline(made := io.BytesIO(), QRELS, PIXELS, "map nDCG@10", command=command)

    found = fastrank(f"gate save {MEASURES} {QRELS} {PIXELS}")

    assert found == Done(0, made.getvalue().decode(), "")


MANY = (
    "--max-drop 0.2 --max-drop nDCG@10=0.3 --min map=0.3 --max-unjudged 0.5 --policy drop"
    " --alpha 0.1 --test randomization"
)
LIMITS = {"max_drop": {"nDCG@10": 0.3, None: 0.2}, "min": {"map": 0.3}, "max_unjudged": 0.5}
LIMITS |= {"policy": "drop", "alpha": 0.1, "test": "randomization"}


@pytest.mark.parametrize(
    ("limits", "run", "options", "status"),
    [("", PIXELS, {}, 0), ("", PCA, {}, 1), (MANY, PCA, LIMITS, 0)],
)
def test_the_verdict_is_that_of_the_function(limits, run, options, status):
    expected = fr.gate("base.json", QRELS, run, **options)

    assert check(f"{limits} base.json {QRELS} {run}") == Done(status, f"{expected}\n", "")
    assert str(expected).count("gate failed: 2 of 2 checks") == status


def test_an_undecided_verdict_fails_unless_it_only_warns():
    write({"q": "q 0 d 1\n", "good": "q Q0 d 1 1 t\n", "bad": "q Q0 x 1 1 t\n"})
    assert fastrank("gate save -m RR -o b.json q good").status == 0

    assert check("b.json q bad").status == 1
    assert check("--on-few warn b.json q bad").status == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (f"--min P_5=0.5 {GOOD}", "min: 'P_5' is not in the baseline, which has map, nDCG@10"),
        (f"--ties average {GOOD}", "...other options (ties 'docno_desc', now 'average')..."),
        (f"-J {GOOD}", "...saved with other options (judged_only False, now True)..."),
        (f"-m map {GOOD}", "...saved with other measures (map, nDCG@10)..."),
        (f"--trec-eval-version 10.0 {GOOD}", "...with the numbers of trec_eval 9.0.8, not 10.0..."),
        (f"-o base.json {GOOD}", "-o: base.json is also the file of BASELINE; name another"),
        (
            f"--update --allow-other-qrels {GOOD}",
            "--update: a baseline is not replaced by values on other judgments...",
        ),
        (f"none {QRELS} {PIXELS}", "none: no such file or directory"),
        (f"base.json none {PIXELS}", "none: no such file or directory"),
        (f"base.json {QRELS} none", "none: no such file or directory"),
    ],
)
def test_what_cannot_be_judged_is_status_2_and_leaves_the_baseline(arguments, message):
    before = Path("base.json").read_bytes()

    assert_refused(f"gate check {arguments}", f"2 {message}")

    assert Path("base.json").read_bytes() == before


def test_the_version_in_the_environment_must_be_that_of_the_baseline(monkeypatch):
    monkeypatch.setenv("FASTRANK_TREC_EVAL_VERSION", "10.0")

    expected = "2 ...saved with the numbers of trec_eval 9.0.8, not 10.0..."
    assert_refused(f"gate check {GOOD}", expected)


def test_formats_are_those_of_the_verdict():
    verdict = fr.gate("base.json", QRELS, PCA)
    found = {form: check(f"--format {form} {WORSE}").out for form in ("json", "markdown", "text")}

    assert json.loads(found["json"])["status"] == "fail"
    assert found["markdown"] == to_markdown(verdict)
    assert found["text"] == f"{verdict}\n"


@pytest.mark.parametrize("form", ["github", "markdown"])
def test_only_github_appends_the_summary_and_the_verdict(form, monkeypatch):
    write({"summary": "before\n", "output": "before\n"})
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary")
    monkeypatch.setenv("GITHUB_OUTPUT", "output")

    found = check(f"--format {form} {WORSE}")

    summary = to_markdown(fr.gate("base.json", QRELS, PCA)) if form == "github" else ""
    verdict = "verdict=fail\n" if form == "github" else ""
    assert found.status == 1
    assert Path("summary").read_text() == f"before\n{summary}"
    assert Path("output").read_text() == f"before\n{verdict}"
    told = found.out.startswith("::error title=map fell by 0.0854::map fell by 0.0854 to 0.3493;")
    assert told == (form == "github")


def test_update_replaces_the_baseline_by_a_better_run():
    assert fastrank(f"gate save -m map -o b.json {QRELS} {PCA}").status == 0

    found = check(f"--update b.json {QRELS} {PIXELS}")

    assert found.status == 0
    assert "note: b.json: replaced by this run\n" in found.out
    assert json.loads(Path("b.json").read_text())["run"]["name"] == "pixels.run"


@pytest.mark.parametrize("files", [GOOD, WORSE])
def test_update_keeps_the_baseline_if_nothing_is_better(files):
    before = Path("base.json").read_bytes()

    out = check(f"--update --max-drop 0.5 {files}").out

    assert "not replaced, because the gate did not pass, no mean is better, or one is worse" in out
    assert Path("base.json").read_bytes() == before
