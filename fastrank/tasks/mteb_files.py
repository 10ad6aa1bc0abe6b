"""Write results as the JSON files of MTEB 2."""

from __future__ import annotations

import re
from pathlib import Path

from fastrank.errors import OptionError
from fastrank.formats.source import is_url, name_of
from fastrank.scores.records import json_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Any

    from fastrank.tasks.results import TaskScore

# MTEB's names of measures with a cutoff, by ours and those of trec_eval.
CUT = {
    "nDCG@": "ndcg", "ndcg_cut_": "ndcg", "AP@": "map", "map_cut_": "map", "R@": "recall",
    "recall_": "recall", "P@": "precision", "P_": "precision", "RR@": "mrr",
    "Success@": "hit_rate", "success_": "hit_rate",
}  # fmt: skip
UNKNOWN_REVISION = "no_revision_available"


def write_results(
    scores: Sequence[TaskScore],
    folder: str | os.PathLike[str],
    revision: str,
    split: str,
    subset: str,
    languages: Sequence[str],
) -> list[Path]:
    """See `TaskResults.to_mteb`."""
    if isinstance(languages, str) or not languages:
        raise OptionError("languages", f"expected a list such as ['eng-Latn'], found {languages!r}")
    if is_url(folder):
        raise OptionError("folder", f"expected a local folder, found {name_of(folder)}")
    files: dict[Path, Any] = {}
    metas: dict[Path, Any] = {}
    for score in scores:
        model = score.model.replace("/", "__").replace(" ", "_")
        home = Path(folder) / "results" / _part(model) / _part(revision)
        path = home / f"{_part(score.task.replace('/', '_'))}.json"
        if path in files:
            raise OptionError("folder", f"two tasks or models would be written to {path}")
        files[path] = _task_result(score, split, subset, list(languages))
        metas[home / "model_meta.json"] = {"name": score.model, "revision": revision}
    for path, content in {**metas, **files}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json_text(content, 2) + "\n", "utf-8")
    return list(files)


def _task_result(score: TaskScore, split: str, subset: str, languages: list[str]) -> dict[str, Any]:
    """The fields of MTEB's TaskResult."""
    values = {mteb_name(name): float(value) for name, value in score.result.mean.items()}
    found = {**values, "main_score": score.value, "hf_subset": subset, "languages": languages}
    return {
        "dataset_revision": UNKNOWN_REVISION,
        "task_name": score.task,
        # MTEB did not compute these scores.
        "mteb_version": None,
        "scores": {split: [found]},
        "evaluation_time": score.seconds,
        "kg_co2_emissions": None,
    }


def mteb_name(metric: str) -> str:
    """MTEB's name of a metric, or ours."""
    prefixes = "|".join(map(re.escape, CUT))
    found = re.fullmatch(f"({prefixes})([0-9]+)", metric)
    return f"{CUT[found[1]]}_at_{found[2]}" if found else metric


def _part(name: str) -> str:
    """A part of a path. Raises OptionError for one that leads elsewhere."""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise OptionError("folder", f"{name!r} cannot be the name of a file or folder")
    return name
