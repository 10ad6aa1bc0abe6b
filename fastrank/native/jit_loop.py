"""A loop over queries around a user's function that numba has compiled."""

from __future__ import annotations

from typing import Any

import numba


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def call_for_each(
    function: Any, make: Any, offsets: Any, ranks: Any, grades: Any, grade_offsets: Any,
    grade_values: Any, grade_counts: Any, num_ret: Any, num_rel: Any, num_rel_ret: Any,
    level: float, collection_size: int, parameters: Any, values: Any,
) -> None:  # fmt: skip
    """values[q] = function of what `make` makes of the columns of query q and of `parameters`."""
    for q in range(len(values)):
        first, stop = offsets[q], offsets[q + 1]
        first_grade, stop_grade = grade_offsets[q], grade_offsets[q + 1]
        values[q] = function(
            make(
                ranks[first:stop],
                grades[first:stop],
                grade_values[first_grade:stop_grade],
                grade_counts[first_grade:stop_grade],
                num_ret[q],
                num_rel[q],
                num_rel_ret[q],
                level,
                collection_size,
            ),
            *parameters,
        )
