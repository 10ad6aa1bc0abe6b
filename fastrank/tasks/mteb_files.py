"""Write and read results as the JSON files of MTEB 2."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import NamedTuple

from fastrank.errors import FormatError, InputError, OptionError
from fastrank.formats.source import is_url, name_of, read_all
from fastrank.formats.table_files import why_not_json
from fastrank.scores.records import json_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Any

    from fastrank.tasks.results import TaskScore

# MTEB's names of measures with a cutoff, by ours and those of trec_eval.
CUT = {
    "nDCG@": "ndcg",
    "ndcg_cut_": "ndcg",
    "AP@": "map",
    "map_cut_": "map",
    "R@": "recall",
    "recall_": "recall",
    "P@": "precision",
    "P_": "precision",
    "RR@": "mrr",
    "Success@": "hit_rate",
    "success_": "hit_rate",
}
UNKNOWN_REVISION = "no_revision_available"
# The split that counts if there are several.
TEST = "test"


class MtebResult(NamedTuple):
    """The main scores of a model in a task. revision: of the data set, empty if it is not known.

    scores: {subset: main score}; of several splits, none of which is the test split, {split and
    subset: main score}.
    """

    task: str
    revision: str
    scores: dict[str, float]


def read_result(path: str | os.PathLike[str]) -> MtebResult:
    """Read the result of a task. Raises ReadError, FormatError and InputError."""
    name = name_of(path)
    try:
        found = json.loads(read_all(path))
    except json.JSONDecodeError as error:
        raise FormatError(name, error.lineno, f"invalid JSON: {why_not_json(error)}") from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise FormatError(name, 1, f"invalid JSON: {error}") from None
    try:
        splits: dict[str, Any] = found["scores"]
        of_test = {TEST: splits[TEST]} if TEST in splits else splits
        scores = {
            one["hf_subset"] if len(of_test) == 1 else f"{split} {one['hf_subset']}": float(
                one["main_score"]
            )
            for split, own in of_test.items()
            for one in own
        }
        task, revision = found["task_name"], found["dataset_revision"] or UNKNOWN_REVISION
        valid = isinstance(task, str) and isinstance(revision, str) and scores
    except (AttributeError, KeyError, TypeError, ValueError):
        valid = False
    if not valid:
        reason = "expected a result of MTEB 2, with task_name, dataset_revision and scores"
        raise InputError(name, f"{reason} by split, each with hf_subset and main_score")
    wrong = [subset for subset, score in scores.items() if not math.isfinite(score)]
    if wrong:
        raise InputError(name, f"the main score of {wrong[0]} is not a number")
    return MtebResult(task, "" if revision == UNKNOWN_REVISION else revision, scores)


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
