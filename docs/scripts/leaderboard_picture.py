"""Takes the picture of a leaderboard: docs/images/leaderboard.png.

python docs/scripts/leaderboard_picture.py

The systems are the example runs and fusions of them, the data sets quarters of their queries. Needs
Chromium and the extra `browser`.
"""

from __future__ import annotations

import tempfile
from itertools import combinations
from pathlib import Path

from inspector import ROOT, take

import fastrank as fr

RUNS = ("pixels", "pca", "profile")


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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "results")
        folder.mkdir()
        results(folder)
        fr.board(folder, Path(name, "site"), title="Search for handwritten digits")
        take(Path(name, "site/index.html"), "leaderboard.png", (1200, 760))


if __name__ == "__main__":
    main()
