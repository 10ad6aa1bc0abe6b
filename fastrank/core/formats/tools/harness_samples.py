"""Files of lm-evaluation-harness (`--log_samples`): MODEL/samples_TASK_TIME.jsonl."""

from __future__ import annotations

import os
import re

from fastrank.core.formats.inputs import is_path, run_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Source: EvaluationTracker.save_results_samples; the time is datetime.isoformat(), `-` for `:`.
SAMPLES = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?\.jsonl?(?:\.\w+)?")


def named_samples(files: Sequence[object]) -> list[tuple[str, str]]:
    """The system and the data set of each file: the folder and the task of samples.

    Other files are named as runs are, and have no data set; so are all, if one folder has several
    runs of a task.
    """
    tasks = [_task_of(file) for file in files]
    folders = [
        os.path.dirname(os.path.abspath(os.fsdecode(file))) if is_path(file) and task else file
        for file, task in zip(files, tasks, strict=True)
    ]
    names = list(zip(run_names(folders), tasks, strict=True))
    if len({*names}) < len(names):
        names = list(zip(run_names(files), tasks, strict=True))
    return names


def _task_of(file: object) -> str:
    name = SAMPLES.fullmatch(os.path.basename(os.fsdecode(file))) if is_path(file) else None
    return name[1] if name else ""
