"""A mkdocs hook that puts the inspector of the example data on the site: inspector.html.

As a program, it takes the picture of it: python docs/scripts/inspector.py writes
docs/images/inspector.png. That needs Chromium and the extra `browser`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import fastrank as fr

ROOT = Path(__file__).parents[2]
SIZE = {"width": 1200, "height": 720}


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


def main() -> None:
    """Take the picture."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        write(page := Path(folder, "inspector.html"))
        browser = driver.chromium.launch(executable_path=chromium, args=flags)
        shown = browser.new_page(viewport=SIZE)
        shown.goto(page.as_uri())
        shown.wait_for_timeout(500)
        shown.screenshot(path=ROOT / "docs/images/inspector.png")
        browser.close()


if __name__ == "__main__":
    main()
