"""From the values of queries to one for all of them, in the way that each measure asks for."""

from __future__ import annotations

from fastrank.native import kernels
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.measures.selection import BoundMeasure

# The averages for which a query without results is not simply one that counts 0.
OVER_VALUES = ("pooled", "defined", "median")


def average(
    own: BoundMeasure, values: Any, count: int, evaluated: int, *, zscored: bool = False
) -> list[float]:
    """The summary of a measure, a number for each of its names.

    values: queries * width of them. count: how many queries are averaged over, of which only those
    `evaluated` have values, and the others count 0. zscored: of z-scores there is only a mean.
    """
    kind = own.measure.average
    if zscored and kind in OVER_VALUES:
        kind = "mean"
    if kind in ("defined", "median"):
        return [_over_defined(kind, values[:: own.width])]
    totals = zeros("d", own.width)
    kernels.add_up(values, own.width, totals)
    if kind == "pooled":
        # Nothing to pool has no value, and no measure is an average of nothing.
        return [totals[1] / totals[2] if totals[2] else float("nan")]
    return [_average(kind, totals[j], count, evaluated) for j in range(len(own.names))]


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
