"""How runs are named, and which objects are several runs with names."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping

from fastrank.data.columns import PerQuery
from fastrank.errors import InputError
from fastrank.formats.inputs import frame_of, is_file
from fastrank.formats.sniff import COMPRESSED, SUFFIXES
from fastrank.formats.source import name_of
from fastrank.formats.splits import is_dict_of_splits
from fastrank.formats.tuples import is_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeGuard


def run_name(path: str | os.PathLike[str]) -> str:
    """The name of a file's run: that of the file, without suffixes of format and compression.

    >>> from fastrank.formats.run_names import run_name
    >>> run_name("runs/pixels.run"), run_name("input.humR03dc.gz"), run_name("a.run.gz")
    ('pixels', 'input.humR03dc', 'a')
    """
    return _names(os.fsdecode(name_of(path)))[0]


def run_names(runs: Iterable[Any]) -> list[str]:
    """The name of each run that is a file, and "" for other objects.

    Different files that would have the same name keep their suffixes, and as many folders as it
    takes to distinguish them.
    """
    paths = [os.fsdecode(name_of(run)) if is_path(run) else "" for run in runs]
    names = {path: _names(path) for path in paths if path}
    while True:
        counts = Counter(longer[0] for longer in names.values())
        repeated = [own for own in names.values() if counts[own[0]] > 1 and len(own) > 1]
        if not repeated:
            return [names[path][0] if path else "" for path in paths]
        for longer in repeated:
            del longer[0]


def is_path(run: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a run is given by the path of its file."""
    return isinstance(run, (str, os.PathLike))


def _names(path: str) -> list[str]:
    """The names of a file, from the shortest to its path."""
    parts = path.split("/")
    names = ["/".join(parts[place:]) for place in range(len(parts) - 1, -1, -1)]
    if not parts[-1]:
        return [path]
    short = _without(_without(parts[-1], COMPRESSED), SUFFIXES)
    return [short, *names] if short != parts[-1] else names


def _without(name: str, suffixes: Iterable[str]) -> str:
    """The name without one of the suffixes, unless there is nothing else."""
    for suffix in suffixes:
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def are_named(given: Any) -> TypeGuard[Mapping[Any, Any]]:
    """Whether this is {name: run}, not a run {query: {document: score}} or another object.

    Raises InputError for a dict that is both.
    """
    if not isinstance(given, Mapping):
        return False
    if type(given) is not dict and is_dict_of_splits(given):
        return False
    first = next((key for key, value in given.items() if _is_run(value) is not None), None)
    if first is None or not _is_run(given[first]):
        return False
    for key, value in given.items():
        if _is_run(value) is False:
            raise InputError(
                "run", f"expected {{query: {{document: score}}}} or {{name: run}}, found both:"
                f" {first!r:.60} has a run, {key!r:.60} has {type(value).__name__}"
            )  # fmt: skip
    return True


def _is_run(value: Any) -> bool | None:
    """Whether a value of a dict is a run instead of documents; None for an empty dict."""
    if isinstance(value, Mapping):
        documents = next(iter(value.values()), None)
        return isinstance(documents, Mapping) if value else None
    if isinstance(value, (list, tuple)):
        return is_row(next(iter(value), None))
    return isinstance(value, PerQuery) or is_file(value) or frame_of(value) is not None
