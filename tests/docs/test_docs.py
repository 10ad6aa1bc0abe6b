"""The README and the documentation are true: their code runs, and prints what they show."""

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

DOCS, README = REPOSITORY / "docs", REPOSITORY / "README.md"
PAGES = [*sorted(DOCS.rglob("*.md")), README]
BLOCKS = [(page, block) for page in PAGES for block in blocks_of(page)]
SETUP = [block.text for page, block in BLOCKS if page == README and "-m venv" in block.text]
END = README, Block("", "", "")
RUNS = ("pca.run", "pixels.run", "profile.run")


def _of_kind(kind: str) -> list[object]:
    """The blocks that are run: of commands whose output follows, only the output is looked at."""
    return [
        pytest.param(block, id=f"{page.stem}-{block.text.splitlines()[0]}")
        for (page, block), (_, next_) in pairwise([*BLOCKS, END])
        if block.kind == kind and not (kind == "sh" and next_.kind == "text")
        if block.text not in SETUP
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder with the example data, as a reader has it."""
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    return tmp_path


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    """Shell, Python, a Python session, a workflow, or text that says which command prints it.

    bash is for commands that install something; bibtex is for the citation; console for commands
    and output on data that are not here, of docs/scripts/judging_page.py and docs/examples.
    """
    kinds = {"sh", "bash", "console", "python", "pycon", "text", "yaml", "bibtex"}
    of_readme = {block.kind for page, block in BLOCKS if page == README}
    assert {block.kind for _, block in BLOCKS} == kinds
    assert of_readme == {"sh", "python", "text"}
    assert all(block.command for _, block in BLOCKS if block.kind == "text")


def test_two_commands_do_all_the_set_up() -> None:
    """One installs and evaluates, one installs and tests; what follows the installation runs."""
    evaluate, test = ([part.strip() for part in block.split("&&")] for block in SETUP)

    activated = ["python3 -m venv .venv", ". .venv/bin/activate"]
    run_tests = "python -m pytest -n auto --dist worksteal"
    assert evaluate[:3] == [*activated, "pip install '.[embeddings,jit]'"]
    assert test == [*activated, "pip install -e '.[test]'", run_tests]
    assert run_tests.removeprefix("python ") in (REPOSITORY / ".ci/tests").read_text("utf-8")
    # What is shown below it is its output.
    assert [next(block.command for block in blocks_of(README) if block.command)] == evaluate[3:]


@pytest.mark.parametrize("block", _of_kind("sh"))
def test_commands_run(block: Block, folder: Path) -> None:
    """They succeed one after the other, without complaint."""
    found = shell(block.text, folder)

    assert found.stderr == ""
    assert found.returncode == 0
    assert found.stdout or block not in blocks_of(README)


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
    """The text in a page is the command's output; it succeeds without complaint."""
    found = shell(block.command, folder)

    assert found.stdout == block.text
    assert found.stderr == ""
    assert found.returncode == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_readers_see_the_command_above_its_output(page: Path) -> None:
    """The comment that names the command is invisible; a program prints its output, too."""
    blocks = blocks_of(page)
    for above, block in pairwise(blocks):
        if block.kind == "text" and above.kind != "python" and above.text not in SETUP:
            assert _in_one_line(above.text) == _in_one_line(block.command)


def _in_one_line(commands: str) -> list[str]:
    return re.split(r"\s+", commands.replace("\\\n", "").replace("&&", " ").strip())


def test_comments_are_above_commands() -> None:
    """At the end of a line they would be beyond the edge of a narrow screen."""
    lines = [line for _, block in BLOCKS if block.kind == "sh" for line in block.text.splitlines()]

    assert [line for line in lines if re.search(r"\S  +# ", line)] == []


@pytest.mark.parametrize("block", _of_kind("python"))
def test_programs_run(block: Block, folder: Path) -> None:
    """Each runs in a process of its own and prints something; with its framework where that is."""
    for module in re.findall(r"^from (\w+)", block.text, re.MULTILINE):
        pytest.importorskip(module)
    assert python(block.text, folder)


def test_the_first_program_of_the_readme_prints_what_its_first_command_does() -> None:
    program = next(block.text for block in blocks_of(README) if block.kind == "python")

    assert python(program).startswith("map   0.4348\n")


def _block_of_scale_out(part: str) -> str:
    (found,) = (block.text for block in blocks_of(DOCS / "scale-out.md") if part in block.text)
    return found


def test_the_tasks_of_a_slurm_array_evaluate_each_run_once(folder: Path) -> None:
    array = shell(_block_of_scale_out("SLURM_ARRAY_TASK_ID"), folder)
    merged = shell(_block_of_scale_out("-o all.csv"), folder)

    assert (array.returncode, array.stderr) == (0, "")
    assert (folder / "scores.jsonl").read_text().count('"values":') == len(RUNS)
    assert merged.stderr == "fastrank eval: 3 of 3 runs taken from scores.jsonl\n"
    names = set(fr.load_scores(folder / "scores.jsonl"))
    assert names == {name.removesuffix(".run") for name in RUNS}


def test_the_function_for_spark_gives_the_values_of_compare(folder: Path) -> None:
    printed = python(_block_of_scale_out("applyInPandas"), folder)

    runs = {name.removesuffix(".run"): REPOSITORY / "data" / name for name in RUNS}
    assert printed == f"{fr.compare(REPOSITORY / 'data' / 'digits.qrels', runs, 'map P.10')}\n"


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if "```pycon" in page.read_text("utf-8")],
    ids=lambda page: page.stem,
)
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
def test_every_public_name_has_its_place_in_the_reference(package: str, public: set[str]) -> None:
    pages = [page for page in (DOCS / "api").glob("*.md") if page.stem != "types"]
    text = "".join(page.read_text("utf-8") for page in pages)
    found = re.findall(rf"^::: fastrank\.{package}(\w+)$", text, re.MULTILINE)

    assert sorted(found) == sorted(public)


def test_the_readme_is_read_to_the_end() -> None:
    """It has at most 1,500 words; everything else is in docs/."""
    assert len(README.read_text("utf-8").split()) <= 1500


def test_times_in_the_readme_are_those_of_the_page_of_speed() -> None:
    """Each row's time and factor stand in a table of docs/speed.md."""
    times = re.findall(r"^\|.*\| ([\d.,]+ \([\d.]+ ×\)) \|.*\|$", README.read_text("utf-8"), re.M)
    speed = (DOCS / "speed.md").read_text("utf-8")

    assert len(times) == 5
    assert [time for time in times if f"| {time} |" not in speed] == []
