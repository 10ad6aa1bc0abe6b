"""What the parts of a run gave, put together in the order in which queries are evaluated."""

from __future__ import annotations

from fastrank.kernels.judging.listing import count_judgments
from fastrank.native.codes import FINE
from fastrank.native.declare import kernel


@kernel("int64(int64, int64[::1])")
def is_in_two_parts(parts, part_firsts):
    """Whether two parts have results of the same query."""
    queries = len(part_firsts) // parts
    for query in range(queries):
        found = 0
        for part in range(parts):
            found += part_firsts[part * queries + query] != 0
        if found > 1:
            return 1
    return 0


@kernel(
    "int64(int64[::1], int64, int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1])"
)
def gather_judged(
    order,
    parts,
    part_firsts,
    part_counts,
    part_num_ret,
    part_num_rel_ret,
    part_ranks,
    part_codes,
    qrels_offsets,
    grades,
    options,
    queries,
    offsets,
    ranks,
    codes,
    grade_offsets,
    grade_values,
    grade_counts,
    num_ret,
    num_rel,
    num_rel_ret,
):
    """Gather the queries of `order` that have results; returns how many.

    Each of the `parts` has its own stretch of the part_* columns. queries[i] becomes the i-th query
    that has results. -1: a query cannot be evaluated.
    """
    rooms = len(part_ranks) // parts
    everything = len(part_firsts) // parts
    gathered = listed = distinct = 0
    for query in order:
        part = 0
        while part < parts and part_firsts[part * everything + query] == 0:
            part += 1
        if part == parts:
            continue
        at = part * everything + query
        queries[gathered] = query
        levels, num_rel[gathered], problem = count_judgments(
            grades[qrels_offsets[query] : qrels_offsets[query + 1]],
            options,
            gathered == 0,
            grade_values[distinct:],
            grade_counts[distinct:],
        )
        if problem != FINE:
            return -1
        distinct += levels
        num_ret[gathered], num_rel_ret[gathered] = part_num_ret[at], part_num_rel_ret[at]
        first = part * rooms + part_firsts[at] - 1
        for i in range(part_counts[at]):
            ranks[listed], codes[listed] = part_ranks[first + i], part_codes[first + i]
            listed += 1
        gathered += 1
        offsets[gathered], grade_offsets[gathered] = listed, distinct
    return gathered
