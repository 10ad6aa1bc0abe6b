"""`fastrank eval`: any number of runs, the judgments read once."""

from __future__ import annotations

import gzip
import io
from functools import partial
from pathlib import Path

import pytest

import fastrank as fr
from tests.helpers.commands import PCA, PIXELS, QRELS, fastrank, printed, process, write

TWO = f"{QRELS} {PIXELS} {PCA}"


def _heading(name: str) -> str:
    return f"{'run':22}\tall\t{name}\n"


def test_every_run_gets_the_lines_of_trec_eval_under_its_name():
    measures = "-m map -m P.5,10"

    assert printed(f"eval --format trec {measures} {TWO}") == "".join(
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
def test_options_mean_what_they_mean_to_trec_eval(options, same):
    write({"run.gz": gzip.compress(Path(PCA).read_bytes())})

    for run in (PCA, "run.gz"):
        found = printed(f"eval {options} {QRELS} {run}")
        assert found.partition("\n")[2] == printed(f"trec_eval {same} {QRELS} {run}")


def test_the_command_is_a_process():
    assert process(f"eval -m map {TWO}") == fastrank(f"eval -m map {TWO}")


@pytest.mark.parametrize("form", ["trec", "csv"])
def test_a_run_that_fails_leaves_the_others_and_the_exit_status_says_so(form):
    write({"broken": "5 Q0 d1\n"})

    found = fastrank(f"eval -m map --format {form} {QRELS} broken {PCA}")

    assert found.status == 1
    assert found.out == printed(f"eval -m map --format {form} {QRELS} {PCA}")
    assert found.err.splitlines() == [
        "fastrank eval: broken:1: malformed line: expected at least 6 fields"
        " (query Q0 doc rank score tag), found 3: '5 Q0 d1'",
        "fastrank eval: 1 of 2 runs could not be evaluated",
    ]


@pytest.mark.parametrize(
    "command",
    [
        "eval -m map q a.run b",
        "eval --jobs 2 -m map q a.run b",
        "eval -m map --rank-by rank q a.run",
        "eval -m map --ties average q a.run",
        "compare -m map q a.run b",
        "gate save -m map q a.run -o g.json",
        "inspect q a.run b -o page.html",
        "explain q a.run --query q",
        "agree a.run b",
        "fuse a.run b -o fused.run",
        "convert a.run a.json",
        "hard-negatives q a.run --negatives 1",
    ],
)
def test_a_file_whose_last_line_has_another_tag_is_noted_once(command):
    write({"q": "q 0 d 1\np 0 e 1\n", "b": "q Q0 d 1 2 b\np Q0 d 1 2 b\n"})
    write({"a.run": "# by x\nq Q0 d 1 2 a\np Q0 d 1 1 c\n"})

    told = [line.partition(": ")[2] for line in fastrank(command).err.splitlines() if "tag" in line]

    assert told == [
        "a.run: the first line has the tag 'a', the last one 'c'; does the file contain several"
        " runs? All lines are read as one"
    ]


@pytest.mark.parametrize("command", ["trec_eval -m map q a.run", "eval -m map q b.run"])
def test_trec_eval_and_a_file_with_one_tag_have_no_note(command):
    write({"q": "q 0 d 1\n", "a.run": "q Q0 d 1 2 a\np Q0 d 1 1 c\n"})
    write({"b.run": "# by x\n\n q Q0 d 1 2 b c d\r\nq Q0 e 1 1 b d\n"})

    assert fastrank(command).err == ""


def test_functions_warn_of_another_tag_too():
    run = b"q Q0 d 1 2 a\nq Q0 e 2 1 c\n"
    write({"a.run": run.decode()})
    reading = [partial(fr.evaluate, {"q": {"d": 1}}), fr.Evaluator({"q": {"d": 1}}).evaluate]
    for read in (*reading, fr.read_run, lambda given: fr.evaluate({"q": {"d": 1}}, [given])):
        for source in ("a.run", io.BytesIO(run)):
            with pytest.warns(UserWarning, match="has the tag 'a', the last one 'c'"):
                read(source)
