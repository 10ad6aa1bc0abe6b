"""Tables of a page are sorted by a click on a header, in a real browser."""

from __future__ import annotations

import re
from typing import Any

import fastrank as fr
from tests.helpers.paths import DATA


def systems(page: Any) -> list[str]:
    """The systems that the table shows, from top to bottom."""
    found: list[str] = page.locator("table tbody th").all_inner_texts()
    return found


def test_tables_are_sorted(pages, tmp_path):
    runs = [str(DATA / f"{name}.run") for name in ("pca", "pixels", "profile")]
    found = fr.compare(DATA / "digits.qrels", runs, "map")
    (tmp_path / "x.html").write_text(found.to_html(page=True), "utf-8")
    page = pages.open(tmp_path / "x.html")
    assert systems(page) == ["pca", "pixels", "profile"]

    page.get_by_role("button", name=re.compile(r"^map\W*$")).click()
    assert systems(page) == ["pixels", "pca", "profile"]
    page.get_by_role("button", name=re.compile(r"^map\W*$")).click()
    assert systems(page) == ["profile", "pca", "pixels"]
    page.get_by_role("button", name="system").press("Enter")
    assert systems(page) == ["pca", "pixels", "profile"]
