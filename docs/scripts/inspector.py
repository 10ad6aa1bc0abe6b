"""A mkdocs hook that puts the inspector of the example data on the site: inspector.html.

Its picture is a link to it there, and not in the pages themselves: in a checkout, there is none.

As a program, it takes the pictures of docs/explaining.md: python docs/scripts/inspector.py writes
docs/images/inspector.png and inspector-phone.png. That needs Chromium and the extra `browser`.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import fastrank as fr

ROOT = Path(__file__).parents[2]
# On narrower pages, the results are below the queries.
PHONE = 600
PICTURE = re.compile(r"!\[[^\]]*\]\(images/inspector\.png\)")


def write(path: Path) -> None:
    """Write the page of two of the example runs."""
    runs = {name: ROOT / f"data/{name}.run" for name in ("pixels", "pca")}
    found = fr.inspect(ROOT / "data/digits.qrels", runs, "map P.10", title="Handwritten digits")
    found.write(path)


def on_files(files: Any, *, config: Any) -> Any:
    """Add the page to the files of the site."""
    from mkdocs.structure.files import File

    with tempfile.TemporaryDirectory() as folder:
        write(page := Path(folder, "inspector.html"))
        content = page.read_bytes()
    files.append(File.generated(config, "inspector.html", content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Make the picture a link to the page."""
    return PICTURE.sub(r"[\g<0>](inspector.html)", markdown)


def take(page: Path, picture: str, size: tuple[int, int], **options: Any) -> None:
    """Take a picture of a page into docs/images. options: of Playwright's pages."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=flags)
        viewport = {"width": size[0], "height": size[1]}
        shown = browser.new_page(viewport=viewport, **options)
        shown.goto(page.as_uri())
        shown.wait_for_timeout(500)
        if size[0] < PHONE:
            shown.evaluate("document.querySelector('.results').scrollIntoView()")
        shown.screenshot(path=ROOT / "docs/images" / picture)
        browser.close()


def main() -> None:
    """Take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        write(page := Path(folder, "inspector.html"))
        take(page, "inspector.png", (1200, 720))
        take(page, "inspector-phone.png", (400, 720), color_scheme="dark")


if __name__ == "__main__":
    main()
