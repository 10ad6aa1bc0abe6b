"""`fastrank --version`, and another package on the index that writes the same folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fastrank.cli.version import version
from tests.helpers.paths import PACKAGE

# The files of the other package, as far as they matter here.
METADATA = "fastrank-0.8.0.dist-info/METADATA", "Name: fastrank\nVersion: 0.8.0\n"
INIT = "fastrank/__init__.py", '__version__ = "0.7.0"\n'
AGAIN = "`pip install --force-reinstall --no-deps fastrank-eval`"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with our package, whose __init__.py may be written."""
    package = tmp_path / "fastrank"
    package.mkdir()
    for path in PACKAGE.iterdir():
        (package / path.name).symlink_to(path)
    (package / "__init__.py").unlink()
    shutil.copy(PACKAGE / "__init__.py", package)
    return tmp_path


def write(site: Path, *files: tuple[str, str]) -> None:
    for name, text in files:
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(text)


def run(site: Path, *words: str, flags: str = "-m") -> tuple[int, str, str]:
    """The exit status, standard output and standard error of `python -m fastrank`."""
    command = [sys.executable, flags, "fastrank", *words]
    ignored = "FASTRANK_ENGINE", "PYTHONPATH"
    variables = {name: value for name, value in os.environ.items() if name not in ignored}
    done = subprocess.run(
        command, cwd=site, env=variables, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_the_version_names_another_package_of_the_same_folder(site):
    alone = run(site, "--version")
    assert (alone[0], alone[1].count("\n"), alone[2]) == (0, 2, "")

    write(site, METADATA)

    more = (
        "also installed: fastrank 0.8.0, another package, which writes the folder"
        f" {site}/fastrank: `pip uninstall fastrank`, then {AGAIN}\n"
    )
    assert run(site, "--version") == (0, alone[1] + more, "")


@pytest.mark.parametrize("metadata", [b"", b"Name: fastrank\n", b"Version: \xff\n"])
def test_the_other_package_may_be_elsewhere_and_its_metadata_broken(metadata, site, monkeypatch):
    (site / "more/fastrank-0.8.0.dist-info").mkdir(parents=True)
    (site / "more/fastrank-0.8.0.dist-info/METADATA").write_bytes(metadata)
    monkeypatch.syspath_prepend(site / "more")

    line = version().splitlines()[2]

    named = (
        f"also installed: fastrank, another package, which writes the folder {site}/more/fastrank:"
    )
    assert line.startswith(named)


@pytest.mark.parametrize("words", [["--version"], ["eval", "qrels", "run"], ["measures"]])
def test_commands_say_how_to_mend_files_that_were_overwritten(words, site):
    write(site, METADATA, INIT)

    assert run(site, *words) == (
        1,
        "",
        "fastrank: fastrank 0.8.0, another package, has overwritten files of fastrank-eval in"
        f" {site}/fastrank: `pip uninstall fastrank`, then {AGAIN}\n",
    )


def test_commands_say_how_to_mend_files_that_went_with_the_other_package(site):
    (site / "fastrank" / "__init__.py").unlink()

    told = f"fastrank: the __init__.py of fastrank-eval is missing in {site}/fastrank: {AGAIN}\n"
    # Without site-packages, where another fastrank-eval may be.
    assert run(site, "--version", flags="-Sm") == (1, "", told)
