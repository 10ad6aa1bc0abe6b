"""The values over all queries: the summary of each measure, and which queries it covers."""

from __future__ import annotations

from fastrank.core.data.columns import Frozen
from fastrank.core.data.texts import remaining
from fastrank.core.formats.qrels import Preferences
from fastrank.core.native import kernels
from fastrank.core.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.core.data.texts import Ids, Texts
    from fastrank.core.formats.qrels import Graded, Qrels
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.native.record import Float64Array, Int64Array


# The averages for which a query without results does not simply count as 0.
OVER_VALUES = ("pooled", "defined", "median")
# The number of values up to which calling a kernel takes longer than adding them.
FEW = 64


class Coverage(Frozen):
    """The queries of the judgments and the run.

    complete: whether the summary is over all judged queries (-c) or only those with results.
    judged: the ids of the judged queries. found: the indexes of those with results.
    unknown: the ids of the run's queries without judgments, None if they are not known.
    positive: for each judged query the number of grades above zero, None if no summary needs it.
    """

    complete: bool
    judged: Texts | list[bytes]
    found: Int64Array | list[int]
    unknown: list[bytes] | None
    positive: Int64Array | None

    def missing(self) -> list[bytes]:
        """The ids of the judged queries without results, in byte order.

        Computed on demand: judgments may have many more queries than a run.
        """
        return sorted(remaining(self.judged, self.found))

    def __reduce__(self) -> Any:
        # Pickle only the ids, not the whole file of judgments that contains them.
        positive = None if self.positive is None else list(self.positive)
        judged, found = list(self.judged), list(self.found)
        return Frozen.__reduce__(self.changed(judged=judged, found=found, positive=positive))


def positive_grades(
    judgments: Qrels | Preferences | Graded, bound_measures: list[BoundMeasure]
) -> Int64Array | None:
    """For each judged query the number of grades above zero, if a measure counts them."""
    if isinstance(judgments, Preferences) or not any(map(counts_positive_grades, bound_measures)):
        return None
    counts = zeros("q", len(judgments))
    kernels.count_positive(judgments.offset_column, judgments.grade_column, counts)
    return counts


def counts_missing(bound: BoundMeasure) -> bool:
    """Whether queries without results can have values other than 0."""
    measure = bound.measure
    return measure.average in OVER_VALUES or measure.without_results == "judgments"


def counts_positive_grades(bound: BoundMeasure) -> bool:
    """Whether a query without results has as its value its number of grades above zero."""
    return bound.measure.without_results == "positive grades"


def summaries(
    bound_measures: list[BoundMeasure],
    values: list[Any],
    extended: list[Any],
    evaluated_count: int,
    coverage: Coverage,
    tag: bytes,
    *,
    zscored: bool,
) -> list[Any]:
    """The summary of every measure: a list with one number for each name, or the run's tag.

    values: of the evaluated queries. extended: None, or these followed by the values of judged
    queries without results, if the average includes them.
    """
    query_count = len(coverage.judged) if coverage.complete else evaluated_count
    results: list[Any] = []
    for bound, column, with_missing in zip(bound_measures, values, extended, strict=True):
        measure = bound.measure
        if measure.needs == "run":
            results.append([tag])
        elif measure.needs == "queries":
            results.append([float(query_count)])
        elif measure.average == "":
            results.append([])
        elif counts_positive_grades(bound) and coverage.positive is not None:
            results.append([float(sum(coverage.positive))])
        else:
            results.append(
                average(
                    bound,
                    column if with_missing is None else with_missing,
                    query_count,
                    evaluated_count,
                    zscored=zscored,
                )
            )
    return results


def average(
    bound: BoundMeasure,
    values: Float64Array,
    divisor: int,
    evaluated_count: int,
    *,
    zscored: bool = False,
) -> list[float]:
    """The summary of a measure, a number for each of its names.

    values: float64[queries * width]. divisor: the number of queries to average over; only the
    evaluated ones have values, the others count as 0. zscored: z-scores are always averaged by
    their mean.
    """
    kind = bound.measure.average
    if zscored and kind in OVER_VALUES:
        kind = "mean"
    if kind in ("defined", "median"):
        return [_over_defined(kind, values[:: bound.width])]
    # Added in the order of the queries.
    column_sums: Float64Array = [0.0] * bound.width
    if len(values) > FEW:
        column_sums = zeros("d", bound.width)
        kernels.add_up(values, bound.width, column_sums)
    else:
        for i, value in enumerate(values):
            column_sums[i % bound.width] += value
    if kind == "pooled":
        # NaN if there is nothing to pool.
        return [column_sums[1] / column_sums[2] if column_sums[2] else float("nan")]
    named_sums = [column_sums[j] for j in range(len(bound.names))]
    if kind == "mean":
        return [total / divisor for total in named_sums]
    if kind == "geometric":
        missing_count, mean_of = divisor - evaluated_count, kernels.geometric_mean
        return [float(mean_of(total, divisor, missing_count)) for total in named_sums]
    return named_sums


def _over_defined(kind: str, values: Float64Array) -> float:
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


def insert_zero_rows(
    bound_measures: list[BoundMeasure],
    values: list[Any],
    extended: list[Any],
    coverage: Coverage,
    evaluated_ids: Ids,
    order: Sequence[bytes] | None = None,
) -> tuple[list[bytes], list[Any], list[int]]:
    """Insert judged queries without results: all ids, their values, and the indexes of these rows.

    values, extended: as in `summaries`; without the latter, values of queries without results are
    0, the number of their grades above zero, or empty texts. evaluated_ids: of the evaluated
    queries. order: the ids of all judged queries in the desired order; None means byte order, which
    `evaluated_ids` must have, too.
    """
    with_values = set(evaluated_ids)
    missing = [i for i, query in enumerate(coverage.judged) if query not in with_values]
    all_ids = [*evaluated_ids, *(coverage.judged[i] for i in missing)]
    row_of = {query: row for row, query in enumerate(all_ids)}
    query_ids = sorted(row_of) if order is None else list(order)
    source_rows = [row_of[query] for query in query_ids]
    columns: list[Any] = []
    for bound, column, with_missing in zip(bound_measures, values, extended, strict=True):
        if column is None:
            columns.append(None)
            continue
        if isinstance(column, list):
            texts = [*column, *[b""] * len(missing)]
            columns.append([texts[row] for row in source_rows])
            continue
        if with_missing is None:
            values_of_missing = [0.0] * (len(missing) * bound.width)
            if coverage.positive is not None and counts_positive_grades(bound):
                values_of_missing = [float(coverage.positive[i]) for i in missing]
            with_missing = [*column, *values_of_missing]
        starts = [row * bound.width for row in source_rows]
        cells = [with_missing[i + j] for i in starts for j in range(bound.width)]
        columns.append(filled("d", cells))
    return query_ids, columns, [i for i, row in enumerate(source_rows) if row >= len(evaluated_ids)]
