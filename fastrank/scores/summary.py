"""The summary of measures over queries: means, sums and other averages."""

from __future__ import annotations

from fastrank.data.preferences import Preferences
from fastrank.native import kernels
from fastrank.native.buffers import zeros
from fastrank.scores.averages import OVER_VALUES, average

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.grade_scale import Graded
    from fastrank.data.qrels import Qrels
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure
    from fastrank.scores.coverage import Coverage


def positive_grades(judgments: Qrels | Preferences | Graded, bound: list[BoundMeasure]) -> Any:
    """For each judged query the number of grades above zero, if the summary of num_rel asks."""
    if isinstance(judgments, Preferences) or all(own.measure.name != "num_rel" for own in bound):
        return None
    counts = zeros("q", len(judgments))
    kernels.count_positive(judgments.offset_column, judgments.grade_column, counts)
    return counts


def counts_missing(own: BoundMeasure, options: Options) -> bool:
    """Whether queries without results have values of their own in the summary."""
    measure = own.measure
    return options.complete and (measure.average in OVER_VALUES or measure.name == "NumRel")


def summaries(
    bound: list[BoundMeasure],
    values: list[Any],
    extended: list[Any],
    evaluated: int,
    coverage: Coverage,
    tag: bytes,
    *,
    zscored: bool,
) -> list[Any]:
    """The summary of every measure: a list with one number for each name, or the run's tag.

    values: of the `evaluated` queries. extended: None, or these and after them the values of
    judged queries without results, where the average is over them too.
    """
    count = len(coverage.judged) if coverage.complete else evaluated
    made: list[Any] = []
    for own, column, longer in zip(bound, values, extended, strict=True):
        measure = own.measure
        if measure.on == "run":
            made.append([tag])
        elif measure.on == "queries":
            made.append([float(count)])
        elif measure.average == "":
            made.append([])
        elif measure.name == "num_rel" and coverage.positive is not None:
            made.append([float(sum(coverage.positive))])
        else:
            made.append(
                average(
                    own, column if longer is None else longer, count, evaluated, zscored=zscored
                )
            )
    return made
