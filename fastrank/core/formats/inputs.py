"""Accept judgments and runs in any form: dicts, data frames, tables, tuples, files; name runs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.messages import python_warning
from fastrank.core.data.columns import PerQuery
from fastrank.core.formats.files.source import is_unusual, name_of
from fastrank.core.formats.formats import SUFFIXES, format_of
from fastrank.core.formats.qrels import Preferences, Qrels
from fastrank.core.formats.run import Run
from fastrank.core.formats.tables import sniff
from fastrank.core.formats.tables.arrow_files import is_folder
from fastrank.core.formats.tables.dicts import INNER, part_of
from fastrank.core.formats.tables.forms import are_cells
from fastrank.core.formats.tables.forms import are_rows as are_rows
from fastrank.core.formats.tables.forms import choose_split as choose_split
from fastrank.core.formats.tables.forms import is_dict_of_splits as is_dict_of_splits
from fastrank.core.formats.tables.forms import is_file as is_file
from fastrank.core.formats.tables.forms import is_row as is_row
from fastrank.core.formats.tables.reading import frame_of as frame_of
from fastrank.core.formats.tables.records import are_columns, table_of_columns, table_of_records
from fastrank.core.formats.tables.roles import RECORD_ROLES, is_header
from fastrank.core.formats.tables.sniff import COMPRESSED
from fastrank.core.formats.tables.to_run import apply_order
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, TypeGuard

    from fastrank.common.choices import RankBy, TrecEvalVersion
    from fastrank.core.formats.files.files import Source
    from fastrank.core.formats.files.source import SourceFile
    from fastrank.core.formats.tables.table import Table

    QrelsLike = Qrels | Preferences | Source | Any
    """Judgments: Qrels or Preferences, a file, or anything they can be made from: a dict of dicts,
    a frame of pandas or polars, an Arrow table, a Hugging Face Dataset, an object of ranx, or
    tuples. See [Inputs](../features.md#inputs)."""
    RunLike = Run | Source | Any
    """A run: a Run, a file, or anything one can be made from, as for `QrelsLike`."""
    RunsLike = (
        list[Any]
        | tuple[Any, ...]
        | Iterator[Any]
        | Mapping[Any, Run | str | os.PathLike[str] | Mapping[Any, Mapping[Any, Any]]]
    )
    """Several runs, in a list or an iterator or as {name: run}, each as for `RunLike`."""

KINDS = "a dict, a pandas or polars DataFrame, an Arrow table, records, tuples or a file"


def as_qrels(
    given: Any, *, trec_eval_version: TrecEvalVersion = DEFAULT_VERSION
) -> Qrels | Preferences:
    """Convert a dict, data frame, Arrow table or file to judgments; Qrels are returned unchanged.

    Also accepts ranx Qrels, Hugging Face Datasets, and tuples: those of ir_measures, or plain ones
    of query, document and grade.
    Raises TypeError for other objects, and what Qrels.from_dict and so on and read_qrels raise.
    """
    if isinstance(given, (Qrels, Preferences)):
        return given
    found = in_memory(given, "qrels", "Qrels or Preferences")
    if found is None:
        from fastrank.core.formats.load import read_qrels

        return read_qrels(given, trec_eval_version=trec_eval_version)
    if isinstance(found, Mapping):
        from fastrank.core.formats.tables.dicts import SOURCE
        from fastrank.core.formats.tables.to_qrels import qrels_from_dict

        source = "qrels" if found is given else SOURCE
        return qrels_from_dict(found, source=source, warn=python_warning)
    from fastrank.core.formats.tables.to_qrels import qrels_of

    return qrels_of(found)


def as_run(given: Any, *, trec_eval_version: TrecEvalVersion = DEFAULT_VERSION) -> Run:
    """Convert a dict, data frame, Arrow table or file to a run; a Run is returned unchanged.

    Also accepts ranx Runs, Hugging Face Datasets, and tuples: those of ir_measures, or plain ones
    of query, document and score.
    Raises TypeError for other objects, and what Run.from_dict and so on and read_run raise.
    """
    made: Any = open_run(given, trec_eval_version=trec_eval_version)
    if isinstance(made, Run):
        return made
    if isinstance(made, Mapping):
        return Run.from_dict(made)
    from fastrank.core.formats.trec.reader import read_trec_run

    with made:
        return read_trec_run(made, trec_eval_version=trec_eval_version)


def open_run(
    given: Any, *, trec_eval_version: TrecEvalVersion, rank_by: RankBy = "score"
) -> Run | SourceFile | Mapping[Any, Any]:
    """Like `as_run`, but keeps what can be judged without making a Run.

    That is a dict, and a file in TREC format, which is only opened.
    Options: as in `read_run`.
    """
    if isinstance(given, Run):
        return apply_order(given, rank_by)
    found = in_memory(given, "run", "a Run")
    if isinstance(found, Mapping):
        if isinstance(given, Mapping):
            return found
        return apply_order(Run.from_dict(found, tag=getattr(given, "name", None)), rank_by)
    if found is not None:
        from fastrank.core.formats.tables.to_run import run_of

        return run_of(found, rank_by=rank_by)
    if is_folder(given):
        from fastrank.core.formats.load import read_run

        return read_run(given, rank_by=rank_by)
    file, head = sniff.head_of(given)
    form = format_of(head, file.name, "run")
    if form == "trec" and not is_unusual(head):
        return file
    from fastrank.core.formats.load import read_run

    return read_run(file, rank_by=rank_by, trec_eval_version=trec_eval_version)


def in_memory(given: Any, kind: str, noun: str) -> Table | Mapping[Any, Any] | None:
    """The table or the dict that this is or converts to, or None for a file.

    kind: qrels or run. Raises TypeError for other objects; noun: what they are expected to be.
    """
    if isinstance(given, Mapping):
        given = choose_split(kind, given, None)
    if isinstance(given, Mapping):
        if not are_columns(given):
            is_whole = any(name in given for name in INNER.values())
            return part_of(given, kind, kind) if is_whole else given
        columns = table_of_columns(given, f"{kind} <dict>")
        columns.method = ""
        return columns
    table = frame_of(given)
    if table is None and hasattr(given, "to_dict") and hasattr(given, kind):
        # Qrels or Run of ranx, which stores its content under that name.
        made: Mapping[Any, Any] = given.to_dict()
        return made
    if table is None and is_file(given):
        return None
    if table is None and hasattr(given, "__iter__"):
        table = _table_of_rows(given, kind)
    if table is None:
        found = type(given).__name__
        raise TypeError(f"{kind}: expected {noun}, {KINDS}, found {found}")
    table.source = f"{kind} {table.source}"
    # No reader takes records with `columns=`.
    table.method = table.method or ""
    return table


def _table_of_rows(given: Iterable[Any], kind: str) -> Table | None:
    """The table of records, tuples, or a tuple of columns; None for other objects."""
    from fastrank.core.formats.tables.frames import plain_fields, table_of_tuples

    rows = list(given)
    first = next(iter(rows), None)
    if isinstance(given, tuple) and not is_row(first) and are_cells(given):
        names = plain_fields(kind, rows, f"{kind} <tuple>")
        return table_of_columns(dict(zip(names, rows, strict=False)), "<tuple>")
    if not rows or isinstance(first, Mapping):
        is_table = not rows or is_row(first)
        return table_of_records(rows, f"<{type(given).__name__}>") if is_table else None
    return table_of_tuples(rows, kind)


def run_name(path: str | os.PathLike[str]) -> str:
    """The name of a file's run: that of the file, without suffixes of format and compression.

    >>> from fastrank.core.formats.inputs import run_name
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
    parts = path.replace(os.sep, "/").split("/")
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
    if are_columns(given) or (type(given) is not dict and is_dict_of_splits(given)):
        return False
    first = next((key for key, value in given.items() if _is_run(value) is not None), None)
    if first is None or not _is_run(given[first]):
        return False
    refuse_mixed(given)
    return True


def refuse_mixed(given: Mapping[Any, Any]) -> None:
    """Raise InputError for a dict of which some values are runs and others are documents."""
    keys: dict[bool | None, Any] = {}
    for key, value in given.items():
        keys.setdefault(_is_run(value), key)
    if True in keys and False in keys:
        run, other = keys[True], keys[False]
        raise InputError(
            "run",
            "expected {query: {document: score}} or {name: run}, found both:"
            f" {run!r:.60} has a run, {other!r:.60} has {type(given[other]).__name__}",
        )


def _is_run(value: Any) -> bool | None:
    """Whether a value of a dict is a run instead of documents; None for an empty dict."""
    if isinstance(value, Mapping):
        documents = next(iter(value.values()), None)
        return isinstance(documents, Mapping) if value else None
    if isinstance(value, (list, tuple)):
        first = next(iter(value), None)
        # Objects of documents have no query.
        return are_rows(value) and not (
            isinstance(first, Mapping) and not is_header(first, RECORD_ROLES)
        )
    return isinstance(value, PerQuery) or is_file(value) or frame_of(value) is not None
