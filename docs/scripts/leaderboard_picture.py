"""Takes the picture of a leaderboard: docs/images/leaderboard.png.

python docs/scripts/leaderboard_picture.py

The systems are the example runs and fusions of them, the data sets quarters of their queries. Needs
Chromium and the extra `browser`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from itertools import combinations
from pathlib import Path

import fastrank as fr

ROOT = Path(__file__).parents[2]
RUNS = ("pixels", "pca", "profile")
SIZE = {"width": 1200, "height": 760}


def results(folder: Path) -> None:
    """Write the runs and the judgments of each data set."""
    qrels = fr.read_qrels(ROOT / "data/digits.qrels").to_dict()
    runs = {name: fr.read_run(ROOT / f"data/{name}.run") for name in RUNS}
    for size in (2, 3):
        for own in combinations(RUNS, size):
            for method in ("rrf", "combmnz", "borda"):
                runs[f"{method} {' + '.join(own)}"] = fr.fuse([runs[name] for name in own], method)
    for place in range(4):
        quarter, queries = f"part {place + 1}", sorted(qrels)[place::4]
        (folder / quarter).mkdir()
        chosen = fr.Qrels.from_dict({query: qrels[query] for query in queries})
        fr.write_qrels(chosen, folder / quarter / "qrels.txt")
        for name, run in runs.items():
            own = run.to_dict()
            path = folder / quarter / f"{name}.run"
            fr.write_run(fr.Run.from_dict({query: own[query] for query in queries}), path)


def main() -> None:
    """Make the site, and take the picture of its first page."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name, "results")
        folder.mkdir()
        results(folder)
        fr.board(folder, Path(name, "site"), title="Search for handwritten digits")
        browser = driver.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page(viewport=SIZE)
        page.goto(Path(name, "site/index.html").as_uri())
        page.screenshot(path=ROOT / "docs/images/leaderboard.png")
        browser.close()


if __name__ == "__main__":
    main()
