"""The action for a forge: its steps run as a runner runs them, with inputs as variables."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import fastrank as fr
from tests.helpers.code_blocks import blocks_of
from tests.helpers.paths import DATA, PACKAGE, REPOSITORY

yaml = pytest.importorskip("yaml")
ACTION = yaml.safe_load((REPOSITORY / ".github/actions/gate/action.yml").read_text("utf-8"))
(WORKFLOW,) = (
    yaml.safe_load(block.text)
    for block in blocks_of(REPOSITORY / "docs/gate.md")
    if block.kind == "yaml"
)
INPUTS = WORKFLOW["jobs"]["gate"]["steps"][-1]["with"]
# Programs of the runner: one that makes environments, and the forge's, which notes a comment.
PROGRAMS = {
    "python3": f"""#!/bin/sh
[ "$1 $2" = "-m venv" ] && mkdir -p "$3/bin" && cd "$3/bin"
printf '#!/bin/sh\\nprintf "%%s\\\\n" "$@" >"$RUNNER_TEMP/installed"\\n' >python
printf '#!/bin/sh\\n[ ! "$GH_TOKEN" ] && exec {sys.executable} -m fastrank "$@"\\n' >fastrank
chmod +x python fastrank
""",
    "gh": """#!/bin/sh
[ "$1 $2 $4" = "pr comment --body-file" ] && [ "$GH_TOKEN" ] && cp "$5" "$RUNNER_TEMP/comment-$3"
""",
}
HOSTILE = "a $(touch owned) `touch owned`; touch owned # ' \" && touch owned *"


class Result(NamedTuple):
    status: int
    told: str
    comment: str | None


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the files of the documented workflow, and beside it what a runner has."""
    for name in ("runner", "checkout", "checkout/data", "programs"):
        (tmp_path / name).mkdir()
    for name, text in PROGRAMS.items():
        (tmp_path / "programs" / name).write_text(text)
        (tmp_path / "programs" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path / "checkout")
    shutil.copy(DATA / "digits.qrels", INPUTS["judgments"])
    fr.save_baseline(INPUTS["baseline"], INPUTS["judgments"], DATA / "pixels.run", "nDCG@10")
    return tmp_path


def act(folder: Path, system: str, /, number: str = "7", **inputs: str) -> Result:
    """Run the steps on a run until one fails."""
    shutil.copy(DATA / system, INPUTS["run"])
    runner = folder / "runner"
    context = {
        "github.event.pull_request.number": number,
        "github.repository": "someone/something",
        "github.token": "secret",
    }
    for name, declared in ACTION["inputs"].items():
        context[f"inputs.{name}"] = (INPUTS | inputs).get(name, declared.get("default"))
    variables = {**os.environ, "RUNNER_TEMP": str(runner), "PYTHONPATH": str(PACKAGE.parent)}
    for index, step in enumerate(ACTION["runs"]["steps"]):
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
            variables[name] = str(runner / f"{name}-{index}")
        for name, text in step["env"].items():
            variables[name] = re.sub(r"\$\{\{ (\S+) \}\}", lambda found: context[found[1]], text)
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        if done.returncode:
            break
    comment = runner / f"comment-{number}"
    text = comment.read_text() if comment.exists() else None
    return Result(done.returncode, done.stdout + done.stderr, text)


def test_a_run_that_is_as_good_passes(folder):
    result = act(folder, "pixels.run")

    assert (result.status, result.told.count("::")) == (0, 2)
    assert result.comment.startswith("### Gate passed (200 queries, ")
    assert (folder / "runner/GITHUB_OUTPUT-1").read_text() == "verdict=pass\n"
    assert ACTION["outputs"]["verdict"]["value"] == "${{ steps.gate.outputs.verdict }}"
    assert WORKFLOW["permissions"]["pull-requests"] == "write"


def test_a_regression_fails_with_its_table_as_the_comment(folder):
    result = act(folder, "pca.run")

    verdict = fr.gate(INPUTS["baseline"], INPUTS["judgments"], INPUTS["run"])
    assert (result.status, result.comment) == (1, verdict.to_markdown())
    assert "::error title=nDCG@10 fell by 0.1571::" in result.told


@pytest.mark.parametrize(
    ("system", "inputs", "status", "told"),
    [
        ("pca.run", {"number": ""}, 1, "::error title=fastrank gate::gate failed"),
        ("pca.run", {"run": "none"}, 2, "none: no such file or directory"),
        ("pixels.run", {"measures": "nDCG@10 map"}, 2, "saved with other measures (nDCG@10)"),
    ],
)
def test_without_a_pull_request_or_a_verdict_nothing_is_commented(
    system, inputs, status, told, folder
):
    result = act(folder, system, **inputs)

    assert (result.status, result.comment) == (status, None)
    assert told in result.told


def test_a_comment_that_is_forbidden_fails_nothing(folder):
    (folder / "programs/gh").write_text("#!/bin/sh\nexit 1\n")

    result = act(folder, "pixels.run")

    assert (result.status, result.comment) == (0, None)
    assert "\n::warning::No comment; gh says why." in result.told


def test_measures_options_and_the_version_are_inputs(folder):
    result = act(
        folder,
        "pca.run",
        measures="nDCG@10",
        arguments="--max-drop 0.5  --policy drop\n",
        package="fastrank-eval==0.1.0",
    )

    assert result.status == 0
    assert "drop \\<= 0.5" in result.comment
    installed = (folder / "runner/installed").read_text().split()
    assert installed == ["-m", "pip", "install", "--quiet", "--", "fastrank-eval==0.1.0"]


@pytest.mark.parametrize("name", [*ACTION["inputs"]])
def test_no_input_is_a_command_of_the_shell(name, folder):
    """Files may have such names."""
    files = INPUTS | {"run": DATA / "pixels.run"}
    if name in files:
        shutil.copy(files[name], HOSTILE)

    result = act(folder, "pixels.run", **{name: HOSTILE})

    assert result.status == (2 if name in ("measures", "arguments") else 0)
    assert [*folder.rglob("owned")] == []
