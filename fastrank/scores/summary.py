"""What is said of all queries together: the summary of each measure, and who was evaluated."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.data.preferences import Preferences
from fastrank.data.texts import remaining
from fastrank.native import kernels
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.grade_scale import Graded
    from fastrank.data.qrels import Qrels
    from fastrank.data.texts import Texts
    from fastrank.measures.binding import BoundMeasure

# The averages for which a query without results is not simply one that counts 0.
OVER_VALUES = ("pooled", "defined", "median")


class Coverage(Frozen):
    """The queries of judgments and run, compared.

    complete: the summary is over all judged queries (-c), not only over those with results.
    judged: the ids of the judged queries. found: the places in `judged` of those with results.
    unknown: the ids of the run's queries without judgments, None where nobody has kept them.
    positive: for each judged query how many of its grades are above zero, None where no summary
    needs it.
    """

    __slots__ = ("complete", "found", "judged", "positive", "unknown")

    complete: bool
    judged: Texts | list[bytes]
    found: Any
    unknown: list[bytes] | None
    positive: Any

    def missing(self) -> list[bytes]:
        """The ids of the judged queries without results, in byte order.

        Looked up when asked for: judgments may have many more queries than a run.
        """
        return sorted(remaining(self.judged, self.found))

    def __reduce__(self) -> Any:
        # A pickle holds the ids, and not the file of judgments that they are a part of.
        fields = {name: getattr(self, name) for name in self.field_names()}
        fields["found"], fields["judged"] = list(self.found), list(self.judged)
        if self.positive is not None:
            fields["positive"] = list(self.positive)
        return _rebuild_coverage, (fields,)


def _rebuild_coverage(fields: dict[str, Any]) -> Coverage:
    return Coverage(**fields)


def positive_grades(judgments: Qrels | Preferences | Graded, bound: list[BoundMeasure]) -> Any:
    """For each judged query the number of grades above zero, if the summary of num_rel asks."""
    if isinstance(judgments, Preferences) or all(
        bound_measure.measure.name != "num_rel" for bound_measure in bound
    ):
        return None
    counts = zeros("q", len(judgments))
    kernels.count_positive(judgments.offset_column, judgments.grade_column, counts)
    return counts


def counts_missing(bound: BoundMeasure) -> bool:
    """Whether queries without results have values of their own where they count."""
    return bound.measure.average in OVER_VALUES or bound.measure.name == "NumRel"


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
    for bound_measure, column, longer in zip(bound, values, extended, strict=True):
        measure = bound_measure.measure
        if measure.needs == "run":
            made.append([tag])
        elif measure.needs == "queries":
            made.append([float(count)])
        elif measure.average == "":
            made.append([])
        elif measure.name == "num_rel" and coverage.positive is not None:
            made.append([float(sum(coverage.positive))])
        else:
            made.append(
                average(
                    bound_measure,
                    column if longer is None else longer,
                    count,
                    evaluated,
                    zscored=zscored,
                )
            )
    return made


def average(
    bound: BoundMeasure, values: Any, count: int, evaluated: int, *, zscored: bool = False
) -> list[float]:
    """The summary of a measure, a number for each of its names.

    values: queries * width of them. count: how many queries are averaged over, of which only those
    `evaluated` have values, and the others count 0. zscored: of z-scores there is only a mean.
    """
    kind = bound.measure.average
    if zscored and kind in OVER_VALUES:
        kind = "mean"
    if kind in ("defined", "median"):
        return [_over_defined(kind, values[:: bound.width])]
    totals = zeros("d", bound.width)
    kernels.add_up(values, bound.width, totals)
    if kind == "pooled":
        # Nothing to pool has no value, and no measure is an average of nothing.
        return [totals[1] / totals[2] if totals[2] else float("nan")]
    return [_average(kind, totals[j], count, evaluated) for j in range(len(bound.names))]


def _average(kind: str, total: float, count: int, evaluated: int) -> float:
    if kind == "sum":
        return total
    if kind == "mean":
        return total / count
    return float(kernels.geometric_mean(total, count, count - evaluated))


def _over_defined(kind: str, values: Any) -> float:
    """The mean or the median of the values that are not NaN; NaN if there is none."""
    defined = [value for value in values if value == value]
    if not defined:
        return float("nan")
    if kind == "median":
        from statistics import median

        return float(median(defined))
    total = 0.0
    for value in defined:
        total += value
    return total / len(defined)
