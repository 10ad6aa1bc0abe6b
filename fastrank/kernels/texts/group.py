"""Rows of a file brought together by query."""

from __future__ import annotations

from fastrank.kernels.texts.text import are_equal, intern_range, part_of, sort_texts
from fastrank.native.declare import kernel


@kernel("void(int64[::1], int64[::1], int64, int64[::1], int64[::1])")
def gather_rows(stretch_queries, stretch_rows, rows, offsets, order):
    """The rows of each query, in file order: order[offsets[q] : offsets[q + 1]].

    Stretch s holds the rows from stretch_rows[s] to the next stretch, all of query
    stretch_queries[s]. A counting sort: linear in rows, however scattered the queries are.
    `offsets` comes zeroed, with one place more than there are queries.
    """
    stretches = len(stretch_queries)
    for s in range(stretches):
        stop = stretch_rows[s + 1] if s + 1 < stretches else rows
        offsets[stretch_queries[s] + 1] += stop - stretch_rows[s]
    for q in range(1, len(offsets)):
        offsets[q] += offsets[q - 1]
    for s in range(stretches):
        stop = stretch_rows[s + 1] if s + 1 < stretches else rows
        q = stretch_queries[s]
        for row in range(stretch_rows[s], stop):
            order[offsets[q]] = row
            offsets[q] += 1
    for q in range(len(offsets) - 1, 0, -1):
        offsets[q] = offsets[q - 1]
    offsets[0] = 0


@kernel("void(int64[::1], int64[::1], int64[::1])")
def take_integers(values, order, taken):
    """taken[i] = values[order[i]]."""
    for i in range(len(order)):
        taken[i] = values[order[i]]


@kernel("void(float64[::1], int64[::1], float64[::1])")
def take_numbers(values, order, taken):
    """taken[i] = values[order[i]]."""
    for i in range(len(order)):
        taken[i] = values[order[i]]


@kernel("int64(int64[::1])")
def widest(offsets):
    """The largest number of rows that a query has."""
    most = 0
    for q in range(len(offsets) - 1):
        most = max(most, offsets[q + 1] - offsets[q])
    return most


@kernel("int64(int64[::1], int64[::1])")
def count_picked(offsets, picks):
    """How many rows the picked queries have together."""
    rows = 0
    for pick in picks:
        rows += offsets[pick + 1] - offsets[pick]
    return rows


@kernel("int64(TextsByQuery, int64[::1], int64[::1], int64[::1], int64[::1])")
def sort_groups(names, order, scratch, group_offsets, group_rows):
    """Bring the rows of each query's groups together, groups in byte order of their names.

    order lists the rows; the groups of query q are group_offsets[q] : group_offsets[q + 1], and
    group g has the rows order[group_rows[g] : group_rows[g + 1]]. Returns the number of groups.
    """
    texts, offsets = names
    groups = 0
    for q in range(len(offsets) - 1):
        first, stop = offsets[q], offsets[q + 1]
        own = order[first:stop]
        sort_texts(part_of(texts, first, stop), own, stop - first, scratch)
        for i in range(stop - first):
            own[i] += first
            if i == 0 or not are_equal(texts, own[i - 1], texts, own[i]):
                group_rows[groups] = first + i
                groups += 1
        group_offsets[q + 1] = groups
    group_rows[groups] = offsets[len(offsets) - 1]
    return groups


@kernel("int64(TextsByQuery, Interning)")
def find_repeat(rows, interning):
    """The first row whose text stands earlier among the rows of its query, or -1.

    `interning` has room for the rows of any query.
    """
    texts, offsets = rows
    for q in range(len(offsets) - 1):
        first, stop = offsets[q], offsets[q + 1]
        if intern_range(texts, first, stop, interning) < stop - first:
            for i in range(stop - first):
                if interning.firsts[interning.ids[i]] != i:
                    return first + i
    return -1
