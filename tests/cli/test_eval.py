"""`fastrank eval`: any number of runs, the judgments read once."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.helpers.commands import (
    PCA,
    PIXELS,
    QRELS,
    fastrank,
    printed,
    process,
    write,
)

TWO = f"{QRELS} {PIXELS} {PCA}"


def _heading(name: str) -> str:
    return f"{'run':22}\tall\t{name}\n"


def test_every_run_gets_the_lines_of_trec_eval_under_its_name() -> None:
    measures = "-m map -m P.5,10"

    assert printed(f"eval {measures} {TWO}") == "".join(
        _heading(Path(run).stem) + printed(f"trec_eval {measures} {QRELS} {run}")
        for run in (PIXELS, PCA)
    )


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ("", ""),
        ("-m all_trec -q -n", "-m all_trec -q -n"),
        ("-m all_trec --per-query --missing zero", "-m all_trec -q -c"),
        ("-m all_trec -c", "-m all_trec -c"),
        ("-m all_trec --relevance-level 2 --judged-only", "-m all_trec -l2 -J"),
        ("-m all_trec -M 20 -N 5000", "-m all_trec -M20 -N5000"),
    ],
)
def test_options_mean_what_they_mean_to_trec_eval(options: str, same: str) -> None:
    write({"run.gz": gzip.compress(Path(PCA).read_bytes())})

    for run in (PCA, "run.gz"):
        found = printed(f"eval {options} {QRELS} {run}")
        assert found.partition("\n")[2] == printed(f"trec_eval {same} {QRELS} {run}")


def test_the_command_is_a_process() -> None:
    assert process(f"eval -m map {TWO}") == fastrank(f"eval -m map {TWO}")


@pytest.mark.parametrize("form", ["trec", "csv"])
def test_a_run_that_fails_leaves_the_others_and_the_exit_status_says_so(form: str) -> None:
    write({"broken": "5 Q0 d1\n"})

    found = fastrank(f"eval -m map --format {form} {QRELS} broken {PCA}")

    assert found.status == 1
    assert found.out == printed(f"eval -m map --format {form} {QRELS} {PCA}")
    assert found.err.splitlines() == [
        "fastrank eval: broken:1: malformed line: expected at least 6 fields"
        " (query Q0 doc rank score tag), found 3: '5 Q0 d1'",
        "fastrank eval: 1 of 2 runs could not be evaluated",
    ]


def test_missing_queries_are_told_with_the_run() -> None:
    write({"run": "".join(Path(PCA).read_text().splitlines(keepends=True)[:50])})

    found = fastrank(f"eval -m map {QRELS} run")

    assert found.status == 0
    assert found.err.startswith("fastrank eval: run: the run lacks 199 of 200 judged queries (")
    assert found.err.endswith("...); they are left out (--missing zero counts them as 0)\n")


# Judgments, lines of a run, options, and what `fastrank eval` and `trec_eval` tell.
TOLD = {
    "a run without judged documents": (
        *("q1 0 d1 1\n", "q1 Q0 D1 1 1 t\n", ""),
        "run: no retrieved document is judged: do the document ids of run and qrels match?",
        "",
    ),
    "a relevance level above all grades": (
        *("q1 0 d1 1\n", "q1 Q0 d1 1 1 t\n", "-l 2"),
        "run: no judged document is relevant: is the relevance level above all grades?",
        "",
    ),
    "one missing query": (
        *("q1 0 d1 1\nq2 0 d1 1\n", "q1 Q0 d1 1 1 t\n", ""),
        "run: the run lacks 1 of 2 judged queries (q2); it is left out (--missing zero counts it as"
        " 0)",
        "the run lacks 1 of 2 judged queries (q2); it is left out (-c counts it as 0)",
    ),
    "one missing query that counts": (
        *("q1 0 d1 1\nq2 0 d1 1\n", "q1 Q0 d1 1 1 t\n", "-c"),
        "run: the run lacks 1 of 2 judged queries (q2); it counts as 0",
        "",
    ),
}


@pytest.mark.parametrize("case", TOLD)
def test_what_is_odd_is_told(case: str) -> None:
    qrels, run, options, told, by_trec_eval = TOLD[case]
    write({"qrels": qrels, "run": run})

    found = fastrank(f"eval -m map {options} qrels run")
    original = fastrank(f"trec_eval -m map {options} qrels run")

    assert (found.status, found.err) == (0, f"fastrank eval: {told}\n")
    assert original.status == 0
    assert original.err == (f"trec_eval: {by_trec_eval}\n" if by_trec_eval else "")


def test_queries_without_judgments_are_told_of_files_of_all_formats() -> None:
    write({"qrels": "q1 0 d1 1\n", "run": "q1 Q0 d1 1 1 t\nx Q0 d1 1 1 t\ny Q0 d1 1 1 t\n"})
    write({"run.csv": "query_id,doc_id,score\nq1,d1,1\nx,d1,1\ny,d1,1\n"})

    found = fastrank("eval -m map qrels run run.csv")

    assert found.status == 0
    assert found.err.splitlines() == [
        f"fastrank eval: {path}: 2 queries of the run have no judgments (x, y)"
        for path in ("run", "run.csv")
    ]


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ("q1 0 d1 high\n", "q1 Q0 d1 1 1 t\n"),
        ("q1 0 d1 1\n", "q1 Q0 d1 1 0,9 t\n"),
        ("q1 0 d1 1\n", "q1 Q0 d1 1 nan t\n"),
    ],
)
def test_what_is_no_number_is_an_error_that_trec_eval_does_not_have(qrels: str, run: str) -> None:
    """The errors are in test_refused.py."""
    write({"qrels": qrels, "run": run})

    assert fastrank("eval qrels run").status != 0
    assert printed("trec_eval qrels run") != ""


def test_a_setting_of_the_environment_that_is_wrong_is_refused_by_the_process() -> None:
    found = process(f"eval {TWO}", env={"FASTRANK_THREADS": "eleven"})

    assert (found.status, found.out) == (2, "")
    assert "eleven" in found.err
