"""Folders of pages: what they replace, and what a failure leaves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fastrank.analysis.inspecting.sites import check_folder, write_site
from fastrank.errors import InputError

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


def test_a_site_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    site, rename = tmp_path / "site", os.rename
    write_site(OLD, site)

    def fail(source: str, target: str) -> None:
        if os.path.basename(source).startswith(".site-new"):
            raise OSError(28, "No space left on device", target)
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(OSError, match="No space"):
        write_site(NEW, site)

    assert content(site) == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
