"""Accept judgments and runs in any form: dicts, data frames, tables, tuples, files."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.arguments import DEFAULT_VERSION
from fastrank.data.preferences import Preferences
from fastrank.data.qrels import Qrels
from fastrank.data.run import Run
from fastrank.formats import sniff
from fastrank.formats.run_order import apply_order
from fastrank.formats.source import is_unusual
from fastrank.formats.splits import choose_split

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from typing import Any

    from fastrank.choices import RankBy, TrecEvalVersion
    from fastrank.formats.files import Source
    from fastrank.formats.source import Pieces
    from fastrank.formats.tables import Table

    QrelsLike = Qrels | Preferences | Source | Any
    """Judgments: Qrels or Preferences, a file, or anything they can be made from: a dict of dicts,
    a frame of pandas or polars, an Arrow table, a Hugging Face Dataset, an object of ranx, or
    tuples. See [In-memory data](../index.md#in-memory-data)."""
    RunLike = Run | Source | Any
    """A run: a Run, a file, or anything one can be made from, as for `QrelsLike`."""
    RunsLike = (
        list[Any] | tuple[Any, ...] | Iterator[Any]
        | Mapping[Any, Run | str | os.PathLike[str] | Mapping[Any, Mapping[Any, Any]]]
    )  # fmt: skip
    """Several runs, in a list or an iterator or as {name: run}, each as for `RunLike`."""

KINDS = "a dict, a pandas or polars DataFrame, an Arrow table, tuples or a file"


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
    given = choose_split("qrels", given, None)
    if isinstance(given, Mapping):
        from fastrank.formats.dicts import qrels_from_dict

        return qrels_from_dict(given, source="qrels")
    table = frame_of(given)
    if table is None and _is_of_ranx(given, "qrels"):
        return Qrels.from_dict(given.to_dict())
    if table is None and is_file(given):
        from fastrank.formats.load import read_qrels

        return read_qrels(given, trec_eval_version=trec_eval_version)
    table = table or _of_tuples(given, "qrels")
    if table is None:
        found = type(given).__name__
        raise TypeError(f"qrels: expected Qrels or Preferences, {KINDS}, found {found}")
    from fastrank.formats.rows import qrels_of

    table.source = f"qrels {table.source}"
    return qrels_of(table)


def as_run(given: Any, *, trec_eval_version: TrecEvalVersion = DEFAULT_VERSION) -> Run:
    """Convert a dict, data frame, Arrow table or file to a run; a Run is returned unchanged.

    Also accepts ranx Runs, Hugging Face Datasets, and tuples: those of ir_measures, or plain ones
    of query, document and score.
    Raises TypeError for other objects, and what Run.from_dict and so on and read_run raise.
    """
    made = open_run(given, trec_eval_version=trec_eval_version)
    if isinstance(made, Run):
        return made
    if isinstance(made, Mapping):
        return Run.from_dict(made)
    from fastrank.formats.trec import read_trec_run

    return read_trec_run(made, trec_eval_version=trec_eval_version)


def open_run(
    given: Any, *, trec_eval_version: TrecEvalVersion, rank_by: RankBy = "score"
) -> Run | Pieces | Mapping[Any, Any]:
    """Like `as_run`, but keeps what can be judged without making a Run.

    That is a dict, and a file in TREC format, which is only opened. Options: as in `read_run`.
    """
    if isinstance(given, Run):
        return apply_order(given, rank_by)
    given = choose_split("run", given, None)
    if isinstance(given, Mapping):
        return given
    table = frame_of(given)
    if table is None and _is_of_ranx(given, "run"):
        return apply_order(
            Run.from_dict(given.to_dict(), tag=getattr(given, "name", None)), rank_by
        )
    if table is None and is_file(given):
        file, head = sniff.head_of(sniff.open_source(given))
        if sniff.format_of(head, file.name, "run") == "trec" and not is_unusual(head):
            return file
        from fastrank.formats.load import read_run

        return read_run(file, rank_by=rank_by, trec_eval_version=trec_eval_version)
    table = table or _of_tuples(given, "run")
    if table is None:
        found = type(given).__name__
        raise TypeError(f"run: expected a Run, {KINDS}, found {found}")
    from fastrank.formats.rows import run_of

    table.source = f"run {table.source}"
    return run_of(table, rank_by=rank_by)


def is_file(given: Any) -> bool:
    """Whether this is a path or an open file."""
    return isinstance(given, str) or hasattr(given, "read") or hasattr(given, "__fspath__")


def _is_of_ranx(given: Any, noun: str) -> bool:
    """Whether this is a ranx Qrels or Run, which stores its content under that name."""
    return hasattr(given, "to_dict") and hasattr(given, noun)


def frame_of(given: Any) -> Table | None:
    """The table of a data frame, found by its type's module, so that no library is imported."""
    modules = {base.__module__.partition(".")[0] for base in type(given).__mro__}
    if modules & {"pandas", "polars"}:
        from fastrank.formats.frames import PandasTable, PolarsTable

        return PandasTable(given) if "pandas" in modules else PolarsTable(given)
    if modules & {"pyarrow", "datasets"} or hasattr(given, "__arrow_c_stream__"):
        from fastrank.formats.arrow import arrow_table

        return arrow_table(given)
    return None


def _of_tuples(given: Any, kind: str) -> Table | None:
    """The table of an iterable of tuples, or None for anything else."""
    if not hasattr(given, "__iter__"):
        return None
    from fastrank.formats.tuples import table_of_tuples

    return table_of_tuples(given, kind)
