"""Judgments and runs that exist already, as cases beside the generated ones."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

from bench import commands, expected, trec_files
from bench.cases import CASES, JUDGED_TASKS, Case
from bench.errors import BenchError
from bench.manifest import NAME, Manifest, Stored, load

# The folder of cases whose added ones `pytest bench` measures too.
VARIABLE = "FASTRANK_BENCH_DATA"


def add(folder: Path, name: str, qrels: Path, run: Path) -> None:
    """Copy a pair of files into a folder of cases, with the expected answers."""
    if name in CASES or not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
        raise BenchError(f"{name!r} cannot be the name of added files: use letters and digits")
    texts = trec_files.content(qrels), trec_files.content(run)
    try:
        judged, ranked = trec_files.parse_qrels(texts[0]), trec_files.parse_run(texts[1])
    except ValueError as error:
        raise BenchError(f"{qrels} and {run} are not judgments and a run: {error}") from None
    own = folder / name
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True)
    for file, text in zip(("qrels", "run"), texts, strict=True):
        (own / file).write_bytes(text)
    made = Manifest(
        case=name,
        seed=None,
        scale=1.0,
        queries=len(ranked),
        lines=sum(map(len, ranked.values())),
        bytes=len(texts[1]),
        judgments=sum(map(len, judged.values())),
        score_sum=sum(sum(docs.values()) for docs in ranked.values()),
        doc_bytes=sum(len(doc.encode()) for docs in ranked.values() for doc in docs),
        expected=expected.over_all(expected.per_query(judged, ranked)),
        versions={"pytrec_eval-terrier": commands.version("pytrec_eval-terrier")},
    )
    made.write(own)
    print(f"{name}: {made.queries} queries, {made.lines} lines, {made.judgments} judgments")


def cases(folder: Path) -> dict[str, Case]:
    """What was added to a folder of cases."""
    names = sorted(path.parent.name for path in folder.glob(f"*/{NAME}"))
    return {
        name: Case(name, "files that were added", tasks=JUDGED_TASKS)
        for name in names
        if name not in CASES
    }


def stored() -> dict[str, Stored]:
    """What was added to the folder that the environment names."""
    folder = Path(os.environ.get(VARIABLE, os.devnull))
    return {name: load(folder, case) for name, case in cases(folder).items()}


def parameters() -> list[Any]:
    """The names of what was added, for tests; or one that is skipped, with the reason."""
    import pytest

    names = list(stored())
    reason = f"{VARIABLE} names no folder with judgments that `python -m bench add` has added"
    return names or [pytest.param("added", marks=pytest.mark.skip(reason=reason))]
