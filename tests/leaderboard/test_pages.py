"""The pages of a leaderboard in a real browser: how they look, and what their readers can do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from tests.helpers.browser import PHONE, WIDE, Pages, faults, fits
from tests.leaderboard.test_site import HOSTILE, hostile, per_query


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of six systems on four data sets of two types, and one of hostile names."""
    folder = tmp_path_factory.mktemp("sites")
    fr.board(per_query(folder / "results"), folder / "plain", title="Search")
    results = hostile(folder / "hostile", HOSTILE, HOSTILE[:3])
    fr.board(results, folder / "shown", title=HOSTILE[1], resamples=100)
    return folder


def systems(page: Any) -> list[str]:
    """The systems that the first table shows, from top to bottom."""
    return page.locator("table").first.locator("tbody tr:visible th").all_inner_texts()


@pytest.mark.parametrize("name", ["index.html", "systems/s5.html", "datasets/d1.html"])
def test_pages_have_no_fault_of_accessibility_and_fit(pages: Pages, sites: Path, name: str) -> None:
    assert faults(pages.open(sites / "plain" / name)) == []


def test_tables_are_sorted_and_filtered(pages: Pages, sites: Path) -> None:
    page = pages.open(sites / "plain/index.html")
    table = page.locator("table").first
    ranked = fr.board(sites / "results").systems
    assert systems(page) == ranked

    table.get_by_role("button", name=re.compile(r"^rank\W*$")).click()
    assert systems(page) == ranked[::-1]
    table.get_by_role("button", name="system").press("Enter")
    assert systems(page) == sorted(ranked)
    page.get_by_label("Systems").fill("S3")
    assert systems(page) == ["s3"]
    page.get_by_label("Systems").fill("")
    page.get_by_label("Data sets").select_option("b")
    shown = table.locator("thead th:visible").all_inner_texts()
    assert {"d1", "d3", "mean"} <= {*shown}
    assert not {"d0", "d2"} & {*shown}


def test_links_lead_from_page_to_page_and_files_are_downloaded(pages: Pages, sites: Path) -> None:
    page = pages.open(sites / "plain/index.html")
    page.get_by_role("link", name="s4").first.click()
    assert page.locator("h1").inner_text() == "s4"
    page.get_by_role("link", name="d2").click()
    assert page.locator("h1").inner_text() == "d2"
    page.get_by_role("link", name="Search").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").first.click()

    pages.requests.remove((sites / "plain/index.csv").as_uri())
    assert download.value.path().read_bytes() == (sites / "plain/index.csv").read_bytes()


def test_pages_are_read_without_javascript(pages: Pages, sites: Path) -> None:
    page = pages.open(sites / "plain/index.html", java_script_enabled=False)

    assert len(systems(page)) == 6
    assert page.locator("input:visible, select:visible").count() == 0


def test_hostile_names_are_shown_and_not_run(pages: Pages, sites: Path) -> None:
    files = sorted((sites / "shown").rglob("*.html"))
    assert len(files) == 1 + len(HOSTILE) + 3
    page = pages.open(sites / "shown/index.html")
    assert HOSTILE[0] in systems(page)
    page.get_by_label("Data sets").select_option(HOSTILE[0])
    assert HOSTILE[0] in page.locator("table").first.locator("thead th:visible").all_inner_texts()
    for file in files:
        page.goto(file.as_uri())
        for viewport in (WIDE, PHONE):
            page.set_viewport_size(viewport)
            assert fits(page), file
        assert page.locator("h1").inner_text().strip()
        links = page.locator("a").evaluate_all("all => all.map((own) => own.getAttribute('href'))")
        assert all((file.parent / link).exists() for link in links)
        assert page.locator("script:not([type])").count() == 1
