"""Compute user-defined measures."""

from __future__ import annotations

from fastrank.data.columns import as_array
from fastrank.judging.judged import QueryError
from fastrank.measures.custom import Ranking
from fastrank.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.grade_scale import Scale
    from fastrank.judging.judged import Judged
    from fastrank.measures.custom import CustomMeasure, Function


def custom_values(
    own: CustomMeasure,
    judged: Judged,
    scale: Scale | None,
    level: float,
    options: dict[str, Any],
) -> Any:
    """The values of a user-defined measure, with these options, for every judged ranking.

    With a scale, the function gets grades with fractions instead of their integer codes. Raises
    QueryError for the first query for which the function does not return a number.
    """
    columns = [as_array(column) for column in judged.columns[:9]]
    shared = judged.columns[9:]
    if options.get("cutoff") is not None:
        columns = _cut(columns, options["cutoff"], shared[0])
    parameters = tuple(own.value(name, options) for name in own.passed)
    if scale is not None:
        columns[2], columns[4] = scale.ranked_grades(columns[2]), scale.grades(columns[4])
        shared = (float(level), *shared[1:])
    if hasattr(own.function, "py_func"):
        values = zeros("d", len(judged))
        if _called_compiled(own.function, (*columns, *shared), parameters, values):
            return values
    offsets, ranks, grades, grade_offsets, grade_values, grade_counts, *counts = columns
    found = []
    for i in range(len(judged)):
        rows = slice(offsets[i], offsets[i + 1])
        distinct = slice(grade_offsets[i], grade_offsets[i + 1])
        ranking = Ranking(
            ranks[rows], grades[rows], grade_values[distinct], grade_counts[distinct],
            *(int(column[i]) for column in counts), *shared,
        )  # fmt: skip
        try:
            found.append(_number(own.function(ranking, *parameters)))
        except Exception as error:
            raise QueryError(i, f"{type(error).__name__}: {error}") from error
    return filled("d", found)


def _cut(columns: list[Any], cutoff: int, level: int) -> list[Any]:
    """The columns of rankings of the first `cutoff` documents."""
    import numpy

    offsets, ranks, grades, *judgments, num_ret, num_rel, _ = columns
    listed = slice(int(offsets[0]), int(offsets[-1]))
    kept = ranks[listed] <= cutoff
    ends = numpy.concatenate([[0], numpy.cumsum(kept)])
    relevant = kept & (grades[listed] >= level) & (grades[listed] >= 0)
    hits = numpy.concatenate([[0], numpy.cumsum(relevant)])
    places = offsets - offsets[0]
    cut = [
        ends[places], ranks[listed][kept], grades[listed][kept], *judgments,
        numpy.minimum(num_ret, cutoff), num_rel, numpy.diff(hits[places]),
    ]  # fmt: skip
    for column in cut:
        column.flags.writeable = False
    return cut


def _called_compiled(
    function: Function, columns: tuple[Any, ...], parameters: tuple[Any, ...], values: Any
) -> bool:
    """Whether a compiled loop could call the function; errors are reported query by query."""
    import numpy

    from fastrank.native.jit_loop import call_for_each

    try:
        call_for_each(function, Ranking, *columns, parameters, numpy.asarray(values))
    except Exception:
        return False
    return True


def _number(value: object) -> float:
    from numbers import Real

    if not isinstance(value, Real):
        raise TypeError(f"expected a number, found {type(value).__name__}")
    return float(value)
