"""Judgments and runs in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fastrank as fr


def written(folder: Path, qrels: dict[str, Any], runs: dict[str, Any]) -> list[str]:
    """The paths of judgments NAME.qrels and then of runs NAME.run, written into a folder."""
    paths = [folder / f"{name}.qrels" for name in qrels] + [folder / f"{name}.run" for name in runs]
    for path, judgments in zip(paths, qrels.values(), strict=False):
        fr.write_qrels(fr.Qrels.from_dict(judgments), path)
    for path, run in zip(paths[len(qrels) :], runs.values(), strict=True):
        fr.write_run(fr.Run.from_dict(run), path)
    return list(map(str, paths))
