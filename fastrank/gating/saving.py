"""Save a baseline."""

from __future__ import annotations

import os

from fastrank.errors import InputError
from fastrank.formats import files
from fastrank.formats.inputs import is_file
from fastrank.formats.runs import run_metadata
from fastrank.gating.measuring import judgments_of, measure
from fastrank.gating.settings import checked
from fastrank.judging.keywords import EVALUATION, EvaluationOptions
from fastrank.keywords import takes, with_defaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.formats.files import Source
    from fastrank.formats.inputs import QrelsLike, RunLike
    from fastrank.gating.baseline import Baseline
    from fastrank.gating.measuring import Measured
    from fastrank.measures.selection import Measures


@takes(EvaluationOptions, EVALUATION)
def save_baseline(
    path: Source,
    qrels: QrelsLike,
    run: RunLike,
    measures: Measures,
    *,
    command: Sequence[str] | None = None,
    ir_metadata: bool = False,
    **options: Unpack[EvaluationOptions],
) -> Baseline:
    """Evaluate a run, and save its values for `gate`.

    path: the file to write, JSON; compressed if its name ends in .gz, .bz2, .xz or .zst.
    qrels, run: as `evaluate` takes them.
    measures: as `evaluate` takes them. Those without values per query, and those of which neither
        higher nor lower values are better, are skipped if a set of measures includes them.
    command: recorded in the file.
    ir_metadata: copy the `run_metadata` of the run, which must be a file.
    **options: see `EvaluationOptions`.

    The same inputs give the same bytes at the same commit if SOURCE_DATE_EPOCH is set.

    Raises what `evaluate` raises; MeasureError for a measure that a gate cannot judge; GroupError
    for infinite values; InputError for a run without metadata; OSError if the file cannot be
    written.

    >>> import io
    >>> saved = fr.save_baseline(io.BytesIO(), "data/digits.qrels", "data/pixels.run", "map P.10")
    >>> saved.mean
    {'map': 0.43476959975458557, 'P_10': 0.9510...}
    """
    given = with_defaults(save_baseline, options)
    made = new_baseline(qrels, run, measures, given, command, ir_metadata=ir_metadata)
    made.content.write(path)
    return made.content


def new_baseline(
    qrels: QrelsLike,
    run: RunLike,
    measures: Measures,
    options: Mapping[str, Any],
    command: Sequence[str] | None,
    *,
    ir_metadata: bool,
) -> Measured:
    """What `save_baseline` saves, and notes. options: all those of an evaluation."""
    made = checked(options, EVALUATION)
    source: dict[str, Any] = {"command": list(command)} if command else {}
    if ir_metadata:
        source["ir_metadata"] = _metadata(run)
    return measure(judgments_of(qrels, made["trec_eval_version"]), run, measures, made, source)


def _metadata(run: Any) -> str:
    found = run_metadata(run) if isinstance(run, (str, os.PathLike)) and run != "-" else None
    if found is None:
        name = files.name_of(run) if is_file(run) else "run"
        raise InputError(name, "no file that begins with the metadata of ir_metadata")
    return found
