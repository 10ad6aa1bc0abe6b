"""What a public forge would run, .ci/run runs: workflows call scripts that it calls, too."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.installations import needs_checkout
from tests.helpers.paths import REPOSITORY

yaml = pytest.importorskip("yaml")
WORKFLOWS = sorted(REPOSITORY.glob(".github/workflows/*.yml"))
SCRIPTS = sorted(path for path in REPOSITORY.glob(".ci/*") if not path.suffix)
CHECK_VERSION = REPOSITORY / ".ci/check-version"


def _steps(path: Path) -> list[dict[str, str]]:
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
    return [step for job in jobs for step in job.get("steps", [])]


COMMANDS = sorted({step["run"] for path in WORKFLOWS for step in _steps(path) if "run" in step})


def _called_by(script: Path) -> set[str]:
    return set(re.findall(r"\.ci/([a-z][a-z0-9-]*)", script.read_text("utf-8")))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_step_of_a_workflow_is_a_script_that_ci_runs(command):
    script, *_ = command.split()
    folder, name = script.split("/")

    assert "\n" not in command.strip()
    assert folder == ".ci"
    assert os.access(REPOSITORY / script, os.X_OK)
    assert name in _called_by(REPOSITORY / ".ci/run")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_executable_and_calls_only_scripts_that_exist(path):
    assert os.access(path, os.X_OK)
    assert all((REPOSITORY / ".ci" / name).exists() for name in _called_by(path))
    if path.read_text("utf-8").startswith("#!/usr/bin/env bash"):
        subprocess.run(["bash", "-n", str(path)], check=True)


def test_wheels_are_tested_by_scripts_that_ci_runs():
    tomllib = pytest.importorskip("tomllib", reason="from Python 3.11 on")
    config = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    command = config["tool"]["cibuildwheel"]["test-command"]

    called = re.findall(r"\{project\}/\.ci/([a-z-]+)", command)

    assert {"smoke", "test-wheel"} == set(called) <= _called_by(REPOSITORY / ".ci/run")


def test_the_versions_of_python_that_are_tested_are_those_that_are_claimed():
    tests = yaml.safe_load((REPOSITORY / ".github/workflows/tests.yml").read_text("utf-8"))
    project = (REPOSITORY / "pyproject.toml").read_text("utf-8")
    claimed = re.findall(r"Programming Language :: Python :: (3\.\d+)", project)
    readme = (REPOSITORY / "README.md").read_text("utf-8")

    assert tests["jobs"]["tests"]["strategy"]["matrix"]["python"] == claimed
    assert f'requires-python = ">={claimed[0]}"' in project
    assert f"Python {claimed[0]} or newer (tested up to {claimed[-1]})" in readme


def _check_version(folder: Path, *tag: str) -> tuple[int, str]:
    script = folder / ".ci/check-version"
    done = subprocess.run(
        [sys.executable, str(script), *tag], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A repository whose version, changelog, and citation are those of the tag v1.2.3."""
    for name, text in {
        ".ci/check-version": CHECK_VERSION.read_text("utf-8"),
        "fastrank/__init__.py": '__version__ = "1.2.3"\n',
        "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2030-01-02\n\n- New.\n",
        "CITATION.cff": "version: 1.2.3\ndate-released: 2030-01-02\n",
        "docs/install.md": "pip install fastrank-eval\n",
        "pyproject.toml": 'Repository = "https://github.com/someone/fastrank"\n',
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


@needs_checkout
def test_this_commit_is_consistent():
    assert _check_version(REPOSITORY) == (0, "version, changelog, citation: consistent\n")


def test_a_release_is_consistent(released):
    assert _check_version(released, "v1.2.3") == (0, "version, changelog, citation: consistent\n")


@pytest.mark.parametrize(
    ("path", "old", "new", "problem"),
    [
        ("fastrank/__init__.py", "1.2.3", "1.2.4", "has version 1.2.4, but the tag is v1.2.3"),
        ("CHANGELOG.md", " - 2030-01-02", "", "has no line '## [1.2.3] - YYYY-MM-DD'"),
        ("CHANGELOG.md", "leased]\n", "leased]\n\n- More.\n", "entries under [Unreleased]"),
        ("CITATION.cff", "1.2.3", "1.2.2", "CITATION.cff is not of version 1.2.3"),
        ("CITATION.cff", "2030-01-02", "2030-01-01", "needs the line 'date-released: 2030-01-02'"),
        ("docs/install.md", "pip", "before the first release", "says that there is no release"),
        ("pyproject.toml", "someone", "OWNER", "has the placeholder OWNER"),
    ],
)
def test_what_does_not_belong_to_the_tag_is_named(path, old, new, problem, released):
    file = released / path
    file.write_text(file.read_text().replace(old, new, 1))

    status, said = _check_version(released, "v1.2.3")

    assert status == 1
    assert problem in said
