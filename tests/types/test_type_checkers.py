"""What type checkers find in programs of users: nothing in correct ones, and each mistake."""

from __future__ import annotations

import inspect
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import fastrank as fr
from fastrank.analysis.comparing.options import COMPARISON
from fastrank.analysis.fusion.methods import METHODS
from fastrank.common import choices
from fastrank.common.keywords import Keyword
from fastrank.core.evaluation.labels import TIES
from fastrank.core.formats.formats import FORMATS
from fastrank.core.matching.keywords import EVALUATION
from fastrank.vectors.searching.vectors import METRICS
from tests.helpers.paths import REPOSITORY

FOLDER = Path(__file__).parent
PROGRAM, MISTAKES = FOLDER / "program.py", FOLDER / "mistakes.py"
CHECKERS = [
    ("mypy", ["--strict"]),
    ("pyright", []),
    ("ty", ["check", "--output-format", "concise"]),
]


def test_the_program_runs(capsys):
    runpy.run_path(str(PROGRAM))

    assert "1.0" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "options"), CHECKERS)
def test_each_mistake_is_a_type_error_and_a_correct_program_has_none(name, options):
    checker = shutil.which(name, path=str(Path(sys.executable).parent))
    if checker is None:
        pytest.skip(f"{name} is not installed")
    command = [checker, *options, str(PROGRAM), str(MISTAKES)]

    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)

    found = re.findall(r"(\w+\.py):(\d+):.*error", done.stdout)
    lines = enumerate(MISTAKES.read_text("utf-8").splitlines(), 1)
    assert {(file, int(line)) for file, line in found} == {
        (MISTAKES.name, number)
        for number, line in lines
        if "# error" in line and f"but not for {name}" not in line
    }


KEYWORDS = {one.name: one for one in (*EVALUATION, *COMPARISON)}
NAMES = "trec_eval_version rank_by ties missing no_relevant duplicates test correction family"
NAMES += " interval zeros"
TYPES = {name: getattr(choices, name.title().replace("_", "")) for name in NAMES.split()}


@pytest.mark.parametrize("name", TYPES)
def test_the_type_of_an_option_has_all_of_its_choices(name):
    keyword: Keyword = KEYWORDS[name]

    assert set(get_args(TYPES[name])) == set(keyword.choices)


def test_every_option_with_choices_has_a_type():
    assert {name for name, keyword in KEYWORDS.items() if keyword.choices} == set(TYPES)


def test_other_types_have_all_choices():
    assert get_args(choices.Format) == (*FORMATS,)
    assert get_args(choices.Metric)[: len(METRICS)] == METRICS
    assert set(get_args(choices.LabelTies)) == set(TIES)
    assert set(get_args(choices.FusionMethod)) == set(METHODS)


def test_judgments_and_runs_have_types_that_say_what_they_may_be():
    functions = {getattr(fr, name) for name in fr.__all__}
    types = {
        parameter.annotation.removesuffix(" | None")
        for function in filter(inspect.isfunction, functions)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name in ("qrels", "run", "runs", "run_a", "other")
    }

    assert "Any" not in types
    assert types >= {"QrelsLike", "ArrayQrelsLike", "RunLike", "RunsLike", "RunsLike | RunLike"}


@pytest.mark.parametrize(
    "function", [fr.compare_indexes, fr.evaluate_arrays, fr.evaluate_embeddings, fr.search]
)
def test_vectors_and_arrays_have_types_that_say_what_they_may_be(function):
    parameters = inspect.signature(function).parameters

    assert "Any" not in {parameter.annotation for parameter in parameters.values()}
