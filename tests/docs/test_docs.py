"""The README and the documentation are true: their code runs, and prints what they show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import fastrank as fr
from tests.helpers.code_blocks import REPOSITORY, blocks_of, python, read, sets_up

DOCS, README = REPOSITORY / "docs", REPOSITORY / "README.md"
PAGES = [*sorted(DOCS.rglob("*.md")), README]
BLOCKS = [(page, block) for page in PAGES for block in blocks_of(page)]
SETUP = [block.text for block in blocks_of(README) if sets_up(block)]
RUNS = ("pca.run", "pixels.run", "profile.run")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder with the example data, as a reader has it, and results of other tools."""
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    (tmp_path / "results").symlink_to(REPOSITORY / "tests/recorded/values")
    return tmp_path


def test_every_block_is_of_a_kind_that_is_tested():
    """Shell, Python, a Python session, a workflow, or text that says which command prints it.

    bash is for commands that install something; bibtex is for the citation; console for commands
    and output on data that are not here, of docs/scripts/judging_page.py and docs/examples. A block
    that begins with the name of a file is written to it, in any language.
    """
    kinds = {"sh", "bash", "console", "python", "pycon", "text", "yaml", "bibtex"}
    kinds |= {"javascript", "rust"}
    of_readme = {block.kind for page, block in BLOCKS if page == README}
    assert {block.kind for _, block in BLOCKS} == kinds
    assert of_readme == {"sh", "python", "text"}
    assert all(block.command for _, block in BLOCKS if block.kind == "text")


def test_two_commands_do_all_the_set_up():
    """One installs and evaluates, one installs and tests; what follows the installation runs."""
    evaluate, test = ([part.strip() for part in block.split("&&")] for block in SETUP)

    activated = ["python3 -m venv .venv", ". .venv/bin/activate"]
    run_tests = "python -m pytest -n auto --dist worksteal"
    assert evaluate[:3] == [*activated, "pip install '.[embeddings]'"]
    assert test == [*activated, "pip install -e '.[test]'", run_tests]
    assert run_tests.removeprefix("python ") in (REPOSITORY / ".ci/tests").read_text("utf-8")
    # What is shown below it is its output.
    (shown,) = (
        after.command for before, after in pairwise(blocks_of(README)) if before.text == SETUP[0]
    )
    assert [shown] == evaluate[3:]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks_of(page)], ids=lambda page: page.stem
)
def test_pages_can_be_followed_from_top_to_bottom(page, folder):
    """In one folder: commands succeed without complaint, programs run and print something, and
    where output is shown, it is that. Blocks whose libraries are missing are left out."""
    assert read(page, folder) == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```sh\necho 1 > one\n```\n```python\nprint(open('one').read())\n```\n", ""),
        ("```python\nnumber = 1\nprint(number)\n```\n```pycon\n>>> number\n1\n```\n", ""),
        ("```python\nprint(number)\n```\n", "name 'number' is not defined"),
        ("```python\nnumber = 1\n```\n", "no output"),
        ("```pycon\n>>> 1\n2\n```\n", "Expected:\n    2\nGot:\n    1\n"),
        ("```sh\nfalse\n```\n", "exit status 1"),
        ("```sh\necho no >&2\n```\n", "no\nexit status 0"),
        ("<!-- output of: echo 1 -->\n```text\n2\n```\n", "-2\n+1\n"),
        ("```python\nprint(1)\n```\n<!-- output of: echo 2 -->\n```text\n2\n```\n", "-2\n+1\n"),
        ("```python\nimport no_library as some\n```\n```python\nsome.call()\n```\n", ""),
    ],
)
def test_what_a_reader_meets_is_told(text, problem, tmp_path):
    (tmp_path / "page.md").write_text(text, "utf-8")

    found = read(tmp_path / "page.md", tmp_path)

    assert problem in found
    assert (found == "") is (problem == "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_readers_see_the_command_above_its_output(page):
    """The comment that names the command is invisible; a program prints its output, too."""
    blocks = blocks_of(page)
    for above, block in pairwise(blocks):
        if block.kind == "text" and above.kind != "python" and above.text not in SETUP:
            assert _in_one_line(above.text) == _in_one_line(block.command)


def _in_one_line(commands: str) -> list[str]:
    return re.split(r"\s+", commands.replace("\\\n", "").replace("&&", " ").strip())


def test_comments_are_above_commands():
    """At the end of a line they would be beyond the edge of a narrow screen."""
    lines = [line for _, block in BLOCKS if block.kind == "sh" for line in block.text.splitlines()]

    assert [line for line in lines if re.search(r"\S  +# ", line)] == []


def test_the_first_program_of_the_readme_prints_what_its_first_command_does():
    program = next(block.text for block in blocks_of(README) if block.kind == "python")

    assert python(program).startswith("map   0.4348\n")


def test_the_function_for_spark_gives_the_values_of_compare(folder):
    """The block is a program of its own, too."""
    blocks = blocks_of(DOCS / "scale-out.md")
    (block,) = (block.text for block in blocks if "applyInPandas" in block.text)
    printed = python(block, folder)

    runs = {name.removesuffix(".run"): REPOSITORY / "data" / name for name in RUNS}
    assert printed == f"{fr.compare(REPOSITORY / 'data' / 'digits.qrels', runs, 'map P.10')}\n"


def test_page_of_measures_is_what_its_script_makes():
    """It has every measure of the table, each with what the table says."""
    script = "docs/scripts/measures_page.py"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}

    made = subprocess.check_output([sys.executable, script], cwd=REPOSITORY, env=environment)

    assert (DOCS / "measures.md").read_bytes() == made, f"run {script}"


@pytest.mark.parametrize(
    ("package", "public"),
    [
        # Only the table of measures is not generated.
        (r"(?:types\.)?", {*fr.__all__, *fr.types.__all__} - {"MEASURES"}),
        (r"tasks\.", {*fr.tasks.__all__}),
    ],
    ids=["fastrank", "fastrank.tasks"],
)
def test_every_public_name_has_its_place_in_the_reference(package, public):
    pages = [page for page in (DOCS / "api").glob("*.md") if page.stem != "types"]
    text = "".join(page.read_text("utf-8") for page in pages)
    found = re.findall(rf"^::: fastrank\.{package}(\w+)$", text, re.MULTILINE)

    assert sorted(found) == sorted(public)


def test_the_readme_is_read_to_the_end():
    """It has at most 1,500 words; everything else is in docs/."""
    assert len(README.read_text("utf-8").split()) <= 1500


def test_times_in_the_readme_are_those_of_the_page_of_speed():
    """Each row's time and factor stand in a table of docs/speed.md."""
    times = re.findall(r"^\|.*\| ([\d.,]+ \([\d.]+ ×\)) \|.*\|$", README.read_text("utf-8"), re.M)
    speed = (DOCS / "speed.md").read_text("utf-8")

    assert len(times) == 5
    assert [time for time in times if f"| {time} |" not in speed] == []
