"""The runs to fuse: their names, and the queries that they have."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property

from fastrank.common.messages import counted, first_few
from fastrank.core.data.columns import PerQuery
from fastrank.core.data.texts import decoded
from fastrank.core.formats.inputs import are_named, are_rows, as_run, frame_of, is_file, is_path
from fastrank.core.scores.text import lacks
from fastrank.errors import GroupError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.common.choices import TrecEvalVersion
    from fastrank.core.formats.inputs import RunLike, RunsLike
    from fastrank.core.formats.run import Run

# How many ids a message lists.
MAX_LISTED = 3


class NamedRun:
    """A run, and its name for messages."""

    def __init__(self, name: str, run: Run) -> None:
        self.name, self.run = name, run

    @cached_property
    def places(self) -> dict[bytes, int]:
        """The index of each query in the run."""
        return {query: row for row, query in enumerate(self.run.queries)}


def named_runs(runs: RunsLike, trec_eval_version: TrecEvalVersion) -> list[NamedRun]:
    """The runs of a list or of {name: run}.

    Raises TypeError for other objects, GroupError for no run, and what reading a run raises.
    """
    if are_named(runs):
        by_name = {f"run {name!r}": run for name, run in runs.items()}
    elif _is_run(runs) or not isinstance(runs, Iterable):
        raise TypeError(
            f"runs: expected a list of runs, or {{name: run}}, found {type(runs).__name__}"
        )
    else:
        by_name = {_name(number, run): run for number, run in enumerate(runs, 1)}
    if not by_name:
        raise GroupError("runs: expected at least one run, found none")
    return [NamedRun(name, _loaded(name, run, trec_eval_version)) for name, run in by_name.items()]


def _loaded(name: str, run: RunLike, trec_eval_version: TrecEvalVersion) -> Run:
    """A run; errors about objects, which have no names, are raised with that of the run."""
    try:
        return as_run(run, trec_eval_version=trec_eval_version)
    except InputError as error:
        if not error.source.startswith("<"):
            raise
        raise InputError(name, error.reason) from None
    except TypeError as error:
        raise TypeError(f"{name}: {str(error).removeprefix('run: ')}") from None


def _name(number: int, run: RunLike) -> str:
    """The number of a run, with its file or its tag, if there is one."""
    label = run.source if isinstance(run, PerQuery) and not run.source.startswith("<") else ""
    if is_path(run):
        label = os.fspath(run)
    label = label or getattr(run, "tag", "")
    return f"run {number} ({label})" if label else f"run {number}"


def _is_run(runs: object) -> bool:
    """Whether this is a single run instead of several."""
    if isinstance(runs, PerQuery) or is_file(runs) or isinstance(runs, bytes):
        return True
    if isinstance(runs, Mapping):
        return bool(runs)
    if isinstance(runs, (list, tuple)):
        return are_rows(runs)
    return frame_of(runs) is not None


def union_of(runs: list[NamedRun]) -> list[bytes]:
    """The queries of all runs, in byte order.

    Raises GroupError for a run that has no query, or shares none with any other.
    """
    sharing: dict[bytes, int] = {}
    for run in runs:
        for query in run.places:
            sharing[query] = sharing.get(query, 0) + 1
    for run in runs:
        if not run.places:
            raise GroupError(f"{run.name} has no queries")
    for run in runs:
        if len(runs) > 1 and not any(sharing[query] > 1 for query in run.places):
            others = [query for query in sharing if query not in run.places]
            raise GroupError(
                f"{run.name} shares no query with the other runs: it has"
                f" {_some([*run.places])}, they have {_some(others)}"
            )
    return sorted(sharing)


def missing_queries(runs: list[NamedRun], queries: list[bytes]) -> list[str]:
    """A note for each run that lacks some queries, and one for a single run."""
    notes = []
    if len(runs) == 1:
        notes.append("there is only one run to fuse")
    for run in runs:
        missing = [query for query in queries if query not in run.places]
        if missing:
            of = counted(len(queries), "query", "queries")
            notes.append(lacks(run.name, list(map(decoded, missing)), of))
    return notes


def _some(queries: list[bytes]) -> str:
    ids = first_few([repr(decoded(query)) for query in queries], MAX_LISTED)
    return f"{counted(len(queries), 'query', 'queries')} ({ids})"
