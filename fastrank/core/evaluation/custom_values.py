"""The values of user-defined measures."""

from __future__ import annotations

from functools import lru_cache
from numbers import Real

from fastrank.core.data.columns import as_array
from fastrank.core.matching.judged import QueryError
from fastrank.core.measures.custom import Ranking
from fastrank.core.native import kernels
from fastrank.core.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.core.data.grades import Scale
    from fastrank.core.matching.judged import Judged
    from fastrank.core.measures.custom import CustomMeasure, Function
    from fastrank.core.native.record import Float64Array


def custom_values(
    measure: CustomMeasure,
    judged: Judged,
    scale: Scale | None,
    level: float,
    options: dict[str, object],
) -> Float64Array:
    """The values of a user-defined measure, with these options, for every judged ranking.

    With a scale, the function gets grades with fractions instead of their integer codes. Raises
    QueryError for the first query for which the function does not return a number.
    """
    if options.get("cutoff") is not None:
        judged = judged.copied()
        rankings = judged.columns
        kernels.list_otherwise(rankings, rankings.level, options["cutoff"], False, rankings)
    columns = [as_array(column) for column in judged.columns[:9]]
    shared = judged.columns[9:]
    parameters = tuple(measure.value(name, options) for name in measure.passed)
    if scale is not None:
        columns[2], columns[4] = scale.ranked_grades(columns[2]), scale.grades(columns[4])
        shared = (float(level), *shared[1:])
    if hasattr(measure.function, "py_func"):
        values = zeros("d", len(judged))
        if _called_compiled(measure.function, (*columns, *shared), parameters, values):
            return values
    offsets, ranks, grades, grade_offsets, grade_values, grade_counts, *counts = columns
    numbers = []
    for i in range(len(judged)):
        rows = slice(offsets[i], offsets[i + 1])
        distinct = slice(grade_offsets[i], grade_offsets[i + 1])
        ranking = Ranking(
            ranks[rows],
            grades[rows],
            grade_values[distinct],
            grade_counts[distinct],
            *(int(column[i]) for column in counts),
            *shared,
        )
        try:
            numbers.append(_number(measure.function(ranking, *parameters)))
        except Exception as error:
            raise QueryError(i, f"{type(error).__name__}: {error}") from error
    return filled("d", numbers)


def _called_compiled(
    function: Function,
    columns: tuple[object, ...],
    parameters: tuple[object, ...],
    values: Float64Array,
) -> bool:
    """Whether a compiled loop could call the function; errors are reported query by query."""
    import numpy

    try:
        _compiled_loop()(function, Ranking, columns, parameters, numpy.asarray(values))
    except Exception:
        return False
    return True


@lru_cache(maxsize=1)
def _compiled_loop() -> Callable[..., None]:
    import numba

    @numba.njit(nogil=True)  # type: ignore[untyped-decorator]
    def call_for_each(function: Any, make: Any, columns: Any, parameters: Any, values: Any) -> None:
        """values[q] = function of what `make` makes of the columns of query q and of `parameters`.

        columns: those of `Rankings` (native/records).
        """
        offsets, ranks, grades, grade_offsets, grade_values, grade_counts = columns[:6]
        num_ret, num_rel, num_rel_ret, level, collection_size = columns[6:]
        for q in range(len(values)):
            rows = slice(offsets[q], offsets[q + 1])
            distinct = slice(grade_offsets[q], grade_offsets[q + 1])
            ranking = make(
                ranks[rows],
                grades[rows],
                grade_values[distinct],
                grade_counts[distinct],
                num_ret[q],
                num_rel[q],
                num_rel_ret[q],
                level,
                collection_size,
            )
            values[q] = function(ranking, *parameters)

    loop: Callable[..., None] = call_for_each
    return loop


def _number(value: object) -> float:
    if not isinstance(value, Real):
        raise TypeError(f"expected a number, found {type(value).__name__}")
    return float(value)
