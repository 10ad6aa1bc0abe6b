"""The documentation is true and whole: its code runs, and nothing public is missing from it."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest

import fastrank as fr
from tests.helpers.code_blocks import REPOSITORY, Block, blocks_of, python, shell

DOCS = REPOSITORY / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
BLOCKS = [(page, block) for page in PAGES for block in blocks_of(page)]


def _of_kind(kind: str) -> list[object]:
    return [
        pytest.param(block, id=f"{page.stem}-{block.text.splitlines()[0]}")
        for page, block in BLOCKS
        if block.kind == kind
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder with the example data, as a reader has it."""
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    return tmp_path


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    """Shell, Python, a Python session, a workflow, or text that says which command prints it.

    bash is for commands that install something; bibtex is for the citation.
    """
    kinds = {"sh", "bash", "python", "pycon", "text", "yaml", "bibtex"}
    assert {block.kind for _, block in BLOCKS} == kinds
    assert all(block.command for _, block in BLOCKS if block.kind == "text")


@pytest.mark.parametrize("block", _of_kind("sh"))
def test_commands_run(block: Block, folder: Path) -> None:
    """They succeed one after the other, without complaint."""
    found = shell(block.text, folder)

    assert found.stderr == ""
    assert found.returncode == 0


def test_steps_of_the_workflow_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each succeeds but the installation, whose result is this environment."""
    workflow, leaderboard = (block.text for _, block in BLOCKS if block.kind == "yaml")
    # Of a script that is in the block above it.
    assert re.findall(r" run: (.*)", leaderboard) == ["pip install fastrank-eval", "sh board.sh"]
    steps = [
        textwrap.dedent(lines or line)
        for lines, line in re.findall(r" run: (?:\|\n((?: {10}.*\n)+)|(.*)\n)", workflow)
    ]
    summary, output = folder / "summary.md", folder / "output"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_OUTPUT", str(output))
    shell(
        "fastrank gate save -m nDCG@10 -m R@100 -o baseline.json data/digits.qrels data/pixels.run",
        folder,
    )

    install, *others = steps
    assert install == "pip install '.[embeddings]'"
    assert len(others) == workflow.count(" run: ") - 1 == 2
    for step in others:
        found = shell(step, folder)
        assert (found.returncode, found.stderr) == (0, "")
    assert summary.read_text("utf-8").startswith("### Gate passed (200 queries, ")
    assert output.read_text("utf-8") == "verdict=pass\n"


@pytest.mark.parametrize("block", _of_kind("text"))
def test_output_is_what_is_shown(block: Block, folder: Path) -> None:
    """The text in a page is the command's output."""
    assert shell(block.command, folder).stdout == block.text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_readers_see_the_command_above_its_output(page: Path) -> None:
    """The comment that names the command is invisible; a program prints its output, too."""
    blocks = blocks_of(page)
    for above, block in pairwise(blocks):
        if block.kind == "text" and above.kind != "python":
            assert _in_one_line(above.text) == _in_one_line(block.command)


def _in_one_line(commands: str) -> list[str]:
    return re.split(r"\s+", commands.replace("\\\n", "").replace("&&", " ").strip())


def test_comments_are_above_commands() -> None:
    """At the end of a line they would be beyond the edge of a narrow screen."""
    lines = [line for _, block in BLOCKS if block.kind == "sh" for line in block.text.splitlines()]

    assert [line for line in lines if re.search(r"\S  +# ", line)] == []


@pytest.mark.parametrize("block", _of_kind("python"))
def test_programs_run(block: Block, folder: Path) -> None:
    """Each runs in a process of its own and prints something."""
    assert python(block.text, folder)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_sessions_print_what_they_show(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python sessions of a page follow one another."""
    session = "\n".join(block.text for block in blocks_of(page) if block.kind == "pycon")
    # As doctest marks blank lines of output.
    session = re.sub(r"\n\n(?!>>>|\n)", "\n<BLANKLINE>\n", session)
    for module in re.findall(r"^>>> import (\w+)", session, re.MULTILINE):
        pytest.importorskip(module)
    monkeypatch.chdir(folder)
    test = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)

    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)

    assert found.failed == 0


def test_page_of_measures_is_what_its_script_makes() -> None:
    """It has every measure of the table, each with what the table says."""
    command = [sys.executable, "docs/scripts/measures_page.py"]

    made = subprocess.run(
        command, cwd=REPOSITORY, env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True, check=True,
    ).stdout.decode()  # fmt: skip

    assert (DOCS / "measures.md").read_text("utf-8") == made, f"run {' '.join(command[1:])}"


def test_every_public_name_has_its_place_in_the_reference() -> None:
    """Of fastrank.__all__ only the table of measures is not generated."""
    pages = [page for page in (DOCS / "api").glob("*.md") if page.stem != "types"]
    text = "".join(page.read_text("utf-8") for page in pages)
    found = re.findall(r"^::: fastrank\.(?:types\.)?(\w+)$", text, re.MULTILINE)

    assert len(found) == len(set(found))
    assert set(found) == {*fr.__all__, *fr.types.__all__} - {"MEASURES"}


def test_every_name_of_tasks_has_its_place_in_the_reference() -> None:
    pages = [DOCS / "api" / f"{name}.md" for name in ("metrics", "tasks")]
    text = "".join(page.read_text("utf-8") for page in pages)
    found = re.findall(r"^::: fastrank\.tasks\.(\w+)$", text, re.MULTILINE)

    assert sorted(found) == sorted(fr.tasks.__all__)
