"""A loop over queries around a user's function that numba has compiled."""

from __future__ import annotations

from typing import Any

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
            ranks[rows], grades[rows], grade_values[distinct], grade_counts[distinct],
            num_ret[q], num_rel[q], num_rel_ret[q], level, collection_size,
        )  # fmt: skip
        values[q] = function(ranking, *parameters)
