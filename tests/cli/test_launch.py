"""The installed command trec_eval starts whatever the path of its environment is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.helpers.commands import printed
from tests.helpers.paths import DATA, PACKAGE
from tests.helpers.tables import cases

LAUNCHER = PACKAGE / "cli" / "native" / "launch.sh"
# An option that the executable leaves to Python.
ARGUMENTS = ["-R", "qrels", "-m", "map", str(DATA / "digits.qrels"), str(DATA / "pixels.run")]
EXPECTED = b"map                   \tall\t0.4348\n"
VERSION = f"python{sysconfig.get_python_version()}"


@pytest.fixture(scope="module", params=["launcher", "executable"])
def script(request: pytest.FixtureRequest) -> Path:
    """What a build installs as the command."""
    if request.param == "launcher":
        return LAUNCHER
    path: Path = request.getfixturevalue("executable")
    return path


def environment(folder: Path, script: Path) -> Path:
    """A virtual environment with the package and the command; returns the command."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (folder / "lib" / VERSION / "site-packages" / "package.pth").write_text(f"{PACKAGE.parent}\n")
    return installed(folder / "bin", script)


def installed(folder: Path, script: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(script, folder / "trec_eval")
    (folder / "trec_eval").chmod(0o755)
    return folder / "trec_eval"


def output(*command: str | Path, cwd: Path | None = None, path: str | Path = "") -> bytes:
    """What the command prints, with a folder before the others on PATH."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables["PATH"] = f"{path}:{variables['PATH']}" if path else variables["PATH"]
    found = subprocess.run([*command, *ARGUMENTS], capture_output=True, cwd=cwd, env=variables)
    assert (found.returncode, found.stderr) == (0, b"")
    return found.stdout


@pytest.mark.parametrize(
    "name", ["plain", "with spaces and a ' quote", f"{'long' * 40}/{'path' * 40}", "$(false) `ls`"]
)
def test_any_path_of_an_environment(name, tmp_path, script: Path):
    assert output(environment(tmp_path / name, script)) == EXPECTED


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory, script: Path) -> Path:
    return environment(tmp_path_factory.mktemp("sp ace") / "venv", script)


def test_symbolic_links(command, tmp_path):
    (tmp_path / "first").symlink_to(command)
    (tmp_path / "trec_eval").symlink_to("first")
    (tmp_path / "folder").symlink_to(command.parent)

    assert output(tmp_path / "trec_eval") == EXPECTED
    assert output("trec_eval", path=tmp_path) == EXPECTED
    assert output(tmp_path / "folder" / "trec_eval") == EXPECTED


def test_path_and_relative_paths(command):
    assert output("trec_eval", path=command.parent) == EXPECTED
    assert output("./trec_eval", cwd=command.parent) == EXPECTED
    assert output("bin/trec_eval", cwd=command.parent.parent) == EXPECTED


def test_an_environment_that_was_moved(tmp_path, script: Path):
    environment(tmp_path / "before", script)

    (tmp_path / "before").rename(tmp_path / "now here")

    assert output(tmp_path / "now here" / "bin" / "trec_eval") == EXPECTED


def test_arguments_arrive_as_they_are(command):
    found = subprocess.run([command, "a  b", "", "*", "$HOME"], capture_output=True, text=True)

    assert found.stderr.startswith("trec_eval: expected 2 files, found 4\n")


@pytest.mark.parametrize("packages", ["lib/{}/site-packages", "lib64/{}/dist-packages"])
def test_without_a_virtual_environment_the_version_of_the_packages_is_used(
    packages, tmp_path, command, script: Path
):
    """As after `pip install --user`: Python is elsewhere on PATH, by the name of its version."""
    user = installed(tmp_path / "user" / "bin", script)
    (tmp_path / "user" / packages.format(VERSION) / "fastrank_eval-0.1.0.dist-info").mkdir(
        parents=True
    )
    folder = tmp_path / "path"
    folder.mkdir()
    for name, started in ((VERSION, command.parent / "python"), ("python3", "false")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{started}" "$@"\n')
        (folder / name).chmod(0o755)

    assert output(user, path=folder) == EXPECTED


def test_an_ordinary_entry_point_does_the_same():
    """That of the wheel for any system."""
    program = "from fastrank.cli.main import launch_trec_eval; launch_trec_eval()"
    code = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); {program}"

    assert output(sys.executable, "-c", code) == EXPECTED


# Redirections of a shell, the exit status, and what is said on standard error.
STREAMS = """
>/dev/full => 1 trec_eval: cannot write the results: No space left on device
2>/dev/full => 0
>&- => 1 trec_eval: cannot write the results: standard output is closed
2>&- => 0
<&- => 0
>/dev/full 2>&- => 1
| true; exit ${PIPESTATUS[0]} => 141
"""


@pytest.mark.parametrize(("redirection", "expected"), cases(STREAMS))
def test_streams(redirection, expected, command: Path):
    """What is written to, read from or closed, also by the executable itself."""
    run = 'sleep 0.1; exec "$0" -q "$@"'
    line = ["bash", "-c", f'(sh -c \'{run}\' "$0" "$@") {redirection}', command, *ARGUMENTS[4:]]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found = subprocess.run(line, capture_output=True, env=variables, text=True, check=False)

    status, _, told = expected.partition(" ")
    assert (found.returncode, found.stderr.rstrip()) == (int(status), told)


def test_an_error_has_a_color_on_a_terminal_unless_that_is_unwanted(command):
    shown = []
    for more in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}):
        reader, terminal = os.openpty()
        with open("/dev/full", "wb") as full:
            variables = {"PATH": os.environ["PATH"], "TERM": "xterm", **more}
            arguments = [command, *ARGUMENTS[4:]]
            subprocess.run(arguments, stdout=full, stderr=terminal, env=variables, check=False)
        shown.append(os.read(reader, 1000))
        os.close(terminal)
        os.close(reader)

    told = b"trec_eval: cannot write the results: No space left on device\r\n"
    assert shown == [told.replace(b"trec_eval", b"\x1b[31mtrec_eval\x1b[0m"), told, told]


def test_the_version_says_which_trec_eval_runs(command, script, tmp_path, monkeypatch):
    kind = "starts Python" if script == LAUNCHER else "compiled"
    other = installed(tmp_path, DATA / "digits.qrels")

    for folder, told in (
        (command.parent, f"{command}, {kind}"),
        (tmp_path, f"{other}, another program"),
        (tmp_path / "nothing", "not on the PATH"),
    ):
        monkeypatch.setenv("PATH", str(folder))
        assert printed("--version").splitlines()[1] == f"trec_eval: {told}"
