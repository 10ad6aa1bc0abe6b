"""The man pages, which docs/scripts/man_pages.py generates."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from fastrank.cli.main import COMMANDS
from fastrank.cli.trec_eval import LONG
from tests.helpers.commands import flags_of
from tests.helpers.paths import REPOSITORY

FOLDER = REPOSITORY / "docs" / "man"
PAGES = ["fastrank", "trec_eval", *(f"fastrank-{name}" for name in COMMANDS if name != "trec_eval")]


def flags_on(page: str) -> set[str]:
    if page == "trec_eval":
        return {f"--{name}" for name in LONG}
    if page == "fastrank":
        return {"--version", *(name for name in COMMANDS)}
    return flags_of(page.removeprefix("fastrank-"))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_all_flags(page: str) -> None:
    """If this fails, run docs/scripts/man_pages.py."""
    text = (FOLDER / f"{page}.1").read_text().replace("\\-", "-")

    assert [flag for flag in flags_on(page) if flag not in text] == []


def test_there_are_no_other_pages() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {*PAGES}


@pytest.mark.skipif(not shutil.which("man"), reason="needs man")
@pytest.mark.parametrize("page", ["fastrank-gate", "trec_eval"])
def test_man_shows_the_help(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MANWIDTH", "80")
    found = subprocess.run(
        ["man", "--warnings", "-l", FOLDER / f"{page}.1"], capture_output=True, text=True
    )

    assert found.stderr == ""
    expected = {
        "fastrank-gate": "  drop          fail if a mean is worse by more than --max-drop\n",
        "trec_eval": " -n, --nosummary                 do not print the summary\n",
    }
    assert expected[page] in found.stdout
