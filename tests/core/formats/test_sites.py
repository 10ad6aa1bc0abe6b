"""Folders of pages: what they replace, and what a failure leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fastrank.analysis.inspecting import sites
from fastrank.analysis.inspecting.sites import check_folder, write_site
from fastrank.errors import InputError
from tests.helpers.paths import REPOSITORY

OLD = {"index.html": b"old", "pages/1.html": b"1"}
NEW = {"index.html": b"new", "pages/2.html": b"2"}


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*.*")
        if path.name != "manifest.json"
    }


def test_a_site_replaces_an_empty_folder_and_its_own_pages(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    write_site(OLD, site)
    assert content(site) == OLD
    (site / "index.html").write_text("edited")

    write_site(NEW, site)

    assert content(site) == NEW
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_with_files_of_others_is_an_error(tmp_path):
    site = tmp_path / "site"
    write_site(OLD, site)
    (site / "notes.txt").write_text("mine")

    for call in (lambda: check_folder(site), lambda: write_site(NEW, site)):
        with pytest.raises(InputError, match=r"notes.txt; choose an empty folder"):
            call()

    assert content(site) == {**OLD, "notes.txt": b"mine"}
    with pytest.raises(NotADirectoryError):
        check_folder(site / "notes.txt")
    with pytest.raises(FileNotFoundError):
        write_site(NEW, tmp_path / "none/site")


@pytest.mark.parametrize("link", [False, True])
def test_links_and_empty_folders_of_others_are_not_deleted(tmp_path, link):
    site, mine, theirs = tmp_path / "site", tmp_path / "site/pages/mine", tmp_path / "theirs"
    write_site(OLD, site)
    theirs.mkdir()
    (theirs / "notes.txt").write_text("mine")
    if link:
        mine.symlink_to(theirs)
    else:
        mine.mkdir()

    with pytest.raises(InputError, match=r"pages/mine; choose an empty folder"):
        write_site(NEW, site)

    assert mine.is_symlink() == link
    assert mine.exists()
    assert (theirs / "notes.txt").exists()


def fail_at_renames(monkeypatch: pytest.MonkeyPatch, to: str = "") -> None:
    rename = os.rename

    def fail(source: str, target: str) -> None:
        if os.path.basename(target).startswith(to):
            monkeypatch.setattr(os, "rename", rename)
            raise OSError(28, "No space left on device", target)
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail)


def test_no_moment_is_without_a_site(tmp_path, monkeypatch):
    site = tmp_path / "site"
    write_site(OLD, site)
    if not sites._swapped(str(site), str(site)):
        pytest.skip("two folders cannot be swapped here")

    # They are swapped in one call.
    fail_at_renames(monkeypatch)
    write_site(NEW, site)

    assert content(site) == NEW
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_site_that_cannot_be_swapped_is_replaced(tmp_path, monkeypatch):
    site = tmp_path / "site"
    write_site(OLD, site)
    monkeypatch.setattr(sites, "_swapped", lambda *_: False)

    fail_at_renames(monkeypatch, to="site")
    with pytest.raises(OSError, match="No space"):
        write_site(NEW, site)
    assert content(site) == OLD
    write_site(NEW, site)

    assert content(site) == NEW
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


SIGNALLED = """
import os, signal, sys

import fastrank.analysis.inspecting.sites as sites

name, function = sys.argv[1:]
if name == "SIGHUP":
    # nohup ignores it.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
module = sites if function == "_swapped" else os
wrapped = getattr(module, function)

def signalled(*arguments, **options):
    result = wrapped(*arguments, **options)
    os.kill(os.getpid(), getattr(signal, name))
    return result

setattr(module, function, signalled)
sites.write_site({"index.html": b"new", "pages/2.html": b"2"}, "site")
"""


@pytest.mark.parametrize("function", ["makedirs", "_swapped", "rmdir"])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_leaves_the_old_or_the_new_site_and_nothing_else(tmp_path, name, function):
    site = tmp_path / "site"
    write_site(OLD, site)

    command = [sys.executable, "-c", SIGNALLED, name, function]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    process = subprocess.run(
        command, cwd=tmp_path, capture_output=True, check=False, env=environment
    )

    assert process.returncode == -getattr(signal, name)
    assert content(site) == (OLD if function == "makedirs" else NEW)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
