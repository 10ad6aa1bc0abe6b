"""The tasks of Ulysses SentEval, from its files."""

from __future__ import annotations

import os

from fastrank.common.messages import first_few
from fastrank.core.formats.tables.sniff import read_text
from fastrank.core.formats.tables.table_files import delimited_records
from fastrank.errors import InputError, OptionError, ReadError
from fastrank.vectors.datasets.text_task import TextTask
from fastrank.vectors.tasks.task import Task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


FILES = {
    "F1A": "masked_law_name_in_summaries.csv",
    "F1B": "masked_law_name_in_news.csv",
    "F2": "code_estatutes_cf88.csv",
    "F3": "oab_first_part.csv",
    "F4": "oab_second_part.csv",
    "F5": "trf_examinations.csv",
    "F6": "stj_summary.csv",
    "G1": "bill_summary_to_topics.csv",
    "G2A": "sts_state_news.csv",
    "G2B": "summary_vs_bill.csv",
    "G3": "faqs.csv",
    "G4": "ulysses_sd.csv",
    "T1A": "hatebr_offensive_lang.csv",
    "T1B": "offcombr2.csv",
    "T2A": "factnews_news_bias.csv",
    "T2B": "factnews_news_factuality.csv",
    "T3": "fakebr_size_normalized.csv",
    "T4": "tampered_leg.csv",
}
# Tasks whose second text holds the alternatives of an examination, and their hidden layers.
WITH_ALTERNATIVES = ("F3", "F5")
HIDDEN = (256,)
# The most missing files to name.
MAX_LISTED = 5


def ulysses(folder: str | os.PathLike[str], tasks: str | Sequence[str] = "all") -> dict[str, Task]:
    """{id: Task} of Ulysses SentEval, of classification, from a folder with its CSV files.

    folder: as the package downloads it, such as ulysses_senteval_datasets. tasks: an id such as
        "T1A", several, or "all", which are those that the folder has.

    F3 and F5 have alternatives and a hidden layer of 256 units. Raises OptionError for unknown ids,
    ReadError for missing files, and what `TextTask.from_table` raises.

    >>> fr.tasks.ulysses("data", "T9")
    Traceback (most recent call last):
    fastrank.errors.OptionError: tasks: unknown 'T9'; expected 'all' or some of F1A, F1B, F2, ...
    """
    chosen = known_tasks(tasks)
    missing = missing_files(folder, chosen)
    if missing and tasks != "all":
        raise ReadError(os.fspath(folder), described(missing))
    by_id = {
        task: Task(
            "classification",
            read_task(os.path.join(folder, FILES[task]), task),
            name=task,
            **options_of(task),
        )
        for task in chosen
        if task not in missing
    }
    if not by_id:
        raise ReadError(os.fspath(folder), "expected files of Ulysses SentEval, found none")
    return by_id


def known_tasks(tasks: str | Sequence[str]) -> list[str]:
    """The ids of tasks. Raises OptionError for unknown ones."""
    chosen = list(FILES) if tasks == "all" else [tasks] if isinstance(tasks, str) else list(tasks)
    unknown = sorted({str(task) for task in chosen if task not in FILES})
    if unknown:
        names = ", ".join(map(repr, unknown))
        raise OptionError("tasks", f"unknown {names}; expected 'all' or some of {', '.join(FILES)}")
    return chosen


def missing_files(folder: str | os.PathLike[str], tasks: Sequence[str]) -> list[str]:
    """The tasks whose files the folder does not have."""
    return [task for task in tasks if not os.path.exists(os.path.join(folder, FILES[task]))]


def described(missing: Sequence[str]) -> str:
    """The missing files of these tasks in words."""
    names = first_few([f"{FILES[task]} ({task})" for task in missing], MAX_LISTED, count=True)
    return f"expected the file of each task, found no {names}"


def read_task(path: str, task: str) -> TextTask:
    """The texts and labels of a CSV file whose first column has row numbers."""
    _, header = next(delimited_records(read_text(path), path, ","), (1, ["", ""]))
    names = header[1:]
    if len(names) < 2:
        reason = "expected columns of row numbers, texts and labels, found"
        raise InputError(path, f"{reason} {len(names) + 1} columns")
    count = 1 if len(names) == 2 else 2
    columns = {**dict(zip(("text_a", "text_b"), names[:count], strict=False)), "label": names[-1]}
    table = TextTask.from_table(path, columns=columns, name=task)
    return TextTask.from_texts(*table.texts[:count], labels=table.labels, name=task)


def options_of(task: str) -> dict[str, Any]:
    """The options of `evaluate_classification` that belong to a task."""
    return {"alternatives": True, "hidden": HIDDEN} if task in WITH_ALTERNATIVES else {}
