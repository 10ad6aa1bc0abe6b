"""The README is true: its commands run, and what it shows is what they print."""

from __future__ import annotations

import re

import pytest

from tests.helpers.code_blocks import REPOSITORY, Block, blocks_of, python, shell

BLOCKS = blocks_of(REPOSITORY / "README.md")
SETUP = [block for _, kind, block in BLOCKS if kind == "sh" and "-m venv" in block]
COMMANDS = [
    line
    for _, kind, block in BLOCKS
    if kind == "sh" and block not in SETUP
    for line in block.strip().splitlines()
]
OUTPUTS = [block for block in BLOCKS if block.kind == "text"]
PYTHON = [block for _, kind, block in BLOCKS if kind == "python"]


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    """Shell, Python, or text that says which command prints it."""
    assert {kind for _, kind, _ in BLOCKS} == {"sh", "python", "text"}
    assert all(block.command for block in OUTPUTS)
    assert len(COMMANDS) >= 4
    assert len(PYTHON) >= 2


def test_two_commands_do_all_the_set_up() -> None:
    """One installs and evaluates, one installs and tests; what follows the installation runs."""
    assert len(SETUP) == 2
    evaluate, test = ([part.strip() for part in block.split("&&")] for block in SETUP)

    activated = ["python3 -m venv .venv", ". .venv/bin/activate"]
    assert evaluate[:3] == [*activated, "pip install '.[embeddings,jit]'"]
    run_tests = "python -m pytest -n auto --dist worksteal"
    assert test == [*activated, "pip install -e '.[test]'", run_tests]
    assert run_tests.removeprefix("python ") in (REPOSITORY / ".ci/tests").read_text("utf-8")
    # What is shown below it is its output.
    assert evaluate[3:] == [OUTPUTS[0].command]


@pytest.mark.parametrize("command", COMMANDS)
def test_command_runs(command: str) -> None:
    """Each command of the README succeeds and prints something, without complaint."""
    found = shell(command)

    assert found.returncode == 0
    assert found.stdout
    assert found.stderr == ""


@pytest.mark.parametrize("block", OUTPUTS, ids=lambda block: block.command)
def test_output_is_what_is_shown(block: Block) -> None:
    """The text in the README is the command's output."""
    assert shell(block.command).stdout == block.text


@pytest.mark.parametrize("block", PYTHON)
def test_python_runs(block: str) -> None:
    """Each Python example runs in a process of its own; the first prints the mean."""
    found = python(block)

    assert found
    assert block != PYTHON[0] or found.startswith("map   0.4348\n")


def test_it_is_read_to_the_end() -> None:
    """It has at most 1,500 words; everything else is in docs/."""
    assert len((REPOSITORY / "README.md").read_text("utf-8").split()) <= 1500


def test_times_are_those_of_the_page_of_speed() -> None:
    """Each row's time and factor stand in a table of docs/speed.md."""
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    speed = (REPOSITORY / "docs" / "speed.md").read_text("utf-8")
    times = re.findall(r"^\|.*\| ([\d.,]+ \([\d.]+ ×\)) \|.*\|$", readme, re.M)

    assert len(times) == 5
    assert [time for time in times if f"| {time} |" not in speed] == []
