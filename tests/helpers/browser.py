"""A real browser without a network: the Chromium of the system, driven by Playwright.

Tests of pages are skipped where there is no Chromium, or no Playwright (`pip install -e
'.[browser]'`). Nothing is downloaded: Playwright uses the browser that it is given.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
WIDE, PHONE = {"width": 1400, "height": 1000}, {"width": 400, "height": 800}


class Pages:
    """Opens files in the browser. What they log and ask for is kept, and must be nothing else."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def open(self, path: Path, address: str = "", **context: Any) -> Any:
        """A page. context: options of Playwright's contexts, such as color_scheme."""
        page = self._browser.new_context(**{"viewport": WIDE, **context}).new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.goto(path.as_uri() + address)
        return page

    def check(self) -> None:
        """Raise AssertionError for a message, an error, a dialog, or a request for other files."""
        assert self.complaints == []
        assert [url for url in self.requests if not url.startswith(("file:", "blob:"))] == []
        assert all(url.partition("#")[0].endswith(".html") for url in self.requests)


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser. Skips the test where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")
    if not CHROMIUM:
        pytest.skip("needs Chromium: apt install chromium, or the like")
    # The sandbox refuses to run as root, as in most containers.
    flags = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


def faults(page: Any) -> list[str]:
    """What is wrong with a page, wide and on a phone, in light and in dark colors.

    That are the serious faults of accessibility that axe-core finds, and a page that does not fit
    the width of the screen.
    """
    found = []
    for name, viewport in (("wide", WIDE), ("phone", PHONE)):
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme="light")
        found += [f"{name}: {own}" for own in _serious(page)]
        page.emulate_media(color_scheme="dark")
        found += [f"{name}, dark: {own}" for own in _serious(page, "color-contrast")]
        if not fits(page):
            found.append(f"{name}: wider than the screen")
    return found


def _serious(page: Any, *rules: str) -> list[str]:
    """The serious faults of accessibility, by some rules or all."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    options = {"runOnly": list(rules)} if rules else None
    violations = axe.Axe().run(page, options=options).response["violations"]
    return [
        f"{own['id']}: {own['nodes'][0]['html'][:200]}"
        for own in violations
        if own["impact"] in ("serious", "critical")
    ]


def fits(page: Any) -> bool:
    """Whether a page is no wider than the screen."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The browser, once for all tests."""
    with chromium() as found:
        yield found


@pytest.fixture
def pages(browser: Any) -> Iterator[Pages]:
    """Pages that check themselves at the end."""
    found = Pages(browser)
    yield found
    found.check()
