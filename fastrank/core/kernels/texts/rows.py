"""Rows of a file, of a run, or of judgments: grouped by query, filtered, taken, and copied."""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.texts.text import (
    are_equal,
    find_slot,
    find_text,
    intern_range,
    is_blank,
    part_of,
    sort_texts,
    table_mask,
)
from fastrank.core.native.declare import kernel


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
def take_words(values, order, taken):
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
        query_order = order[first:stop]
        sort_texts(part_of(texts, first, stop), query_order, stop - first, scratch)
        for i in range(stop - first):
            query_order[i] += first
            if i == 0 or not are_equal(texts, query_order[i - 1], texts, query_order[i]):
                group_rows[groups] = first + i
                groups += 1
        group_offsets[q + 1] = groups
    group_rows[groups] = offsets[len(offsets) - 1]
    return groups


@kernel("int64(TextsByQuery, Interning, int64[::1])")
def note_repeats(rows, interning, earlier):
    """earlier[row] = the first row of its query with the same text, or -1; how many have one.

    `interning` has room for the rows of any query.
    """
    texts, offsets = rows
    ids, firsts = interning.ids, interning.firsts
    repeats = 0
    for q in range(len(offsets) - 1):
        first, stop = offsets[q], offsets[q + 1]
        distinct = intern_range(texts, first, stop, interning)
        for i in range(stop - first):
            earlier[first + i] = -1
            if distinct < stop - first and firsts[ids[i]] != i:
                earlier[first + i] = first + firsts[ids[i]]
                repeats += 1
    return repeats


@kernel("int64(Run, Texts, int64, TextsByQuery, int64[::1], uint8[::1])")
def drop_excluded(run, queries, drop_identical, excluded, table, dropped):
    """Mark in `dropped` the documents that are excluded for their query; return how many.

    `drop_identical` also marks a document whose id is the query's. `table` is scratch.
    """
    docs, offsets, _ = run
    ids, ends = excluded
    total = 0
    for q in range(len(offsets) - 1):
        first, count = ends[q], ends[q + 1] - ends[q]
        slots = table[: table_mask(count) + 1]
        slots[:] = 0
        for i in range(first, first + count):
            slots[find_slot(ids, i, slots, ids, 0)] = i + 1
        for row in range(offsets[q], offsets[q + 1]):
            drop = drop_identical != 0 and are_equal(docs, row, queries, q)
            if drop or (count > 0 and slots[find_slot(docs, row, slots, ids, 0)] != 0):
                dropped[row] = 1
                total += 1
    return total


@kernel("int64(Run, int64, int64[::1], uint8[::1])")
def drop_repeats(run, by_score, table, dropped):
    """Mark in `dropped` all but one of the lines of a document in a ranking; return how many.

    The first line is kept or, `by_score`, the first of those with the highest score; NaN is below
    every score. `table` is scratch.
    """
    docs, offsets, scores = run
    total = 0
    for q in range(len(offsets) - 1):
        first, stop = offsets[q], offsets[q + 1]
        slots = table[: table_mask(stop - first) + 1]
        slots[:] = 0
        for row in range(first, stop):
            slot = find_slot(docs, row, slots, docs, first)
            if slots[slot] == 0:
                slots[slot] = row - first + 1
                continue
            best = first + slots[slot] - 1
            better = scores[row] > scores[best] or (
                scores[best] != scores[best] and scores[row] == scores[row]
            )
            total += 1
            if by_score and better:
                dropped[best] = 1
                slots[slot] = row - first + 1
            else:
                dropped[row] = 1
    return total


@kernel("void(uint8[::1], int64[::1], int64[::1], int64[::1])")
def kept_rows(dropped, offsets, order, kept_offsets):
    """order = the rows that are not dropped, kept_offsets[q] : kept_offsets[q + 1] those of q."""
    count = 0
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            if not dropped[row]:
                order[count] = row
                count += 1
        kept_offsets[q + 1] = count


@kernel("int64(int64[::1], int64[::1], int64, int64[::1])")
def with_relevant(offsets, grades, level, queries):
    """The queries that have a grade >= 0 of at least `level`; returns how many they are."""
    count = 0
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            if grades[row] >= level and grades[row] >= 0:
                queries[count] = q
                count += 1
                break
    return count


@kernel("void(int64[::1], int64[::1], int64[::1], int64[::1])")
def picked_rows(offsets, picks, order, picked_offsets):
    """order = the rows of the picked queries, picked_offsets[i] : picked_offsets[i + 1] of one."""
    taken = 0
    for i in range(len(picks)):
        for row in range(offsets[picks[i]], offsets[picks[i] + 1]):
            order[taken] = row
            taken += 1
        picked_offsets[i + 1] = taken


@kernel("void(TextTable, Run, int64[::1], int64[::1], int64[::1])")
def known_rows(docs, run, rankings, order, known_offsets):
    """order = the rows of the rankings whose documents are in the table.

    Those of rankings[i] are known_offsets[i] : known_offsets[i + 1]; the table is that of
    `intern_texts`.
    """
    (text, starts, lengths), offsets, _ = run
    count = 0
    for i in range(len(rankings)):
        for row in range(offsets[rankings[i]], offsets[rankings[i] + 1]):
            if find_text(text, starts[row], lengths[row], docs) >= 0:
                order[count] = row
                count += 1
        known_offsets[i + 1] = count


U = np.uint64
TEN = U(10)
MINUS, DIGIT_0 = 45, 48


@kernel("int64(int64[::1], Texts)")
def print_integers(values, texts):
    """Write integers as decimals, one after the other; returns how many bytes that takes.

    The buffer of the texts has room for 20 bytes for each.
    """
    text, starts, lengths = texts
    offset = 0
    for i in range(len(values)):
        value = values[i]
        starts[i] = offset
        rest = U(max(value, 0))
        if value < 0:
            text[offset] = MINUS
            offset += 1
            # The least integer has no counterpart.
            rest = U(-(value + 1)) + U(1)
        digits, limit = 1, TEN
        while rest >= limit:
            digits, limit = digits + 1, limit * TEN
        for digit in range(digits - 1, -1, -1):
            shorter = rest // TEN
            text[offset + digit] = DIGIT_0 + np.int64(rest - shorter * TEN)
            rest = shorter
        offset += digits
        lengths[i] = offset - starts[i]
    return offset


@kernel("int64(Texts, int64[::1])")
def find_stretches(texts, firsts):
    """Note where the text differs from the one before; returns how many such places there are."""
    count = 0
    for i in range(len(texts.starts)):
        if i == 0 or not are_equal(texts, i - 1, texts, i):
            firsts[count] = i
            count += 1
    return count


@kernel("void(Texts, uint8[::1], int64[::1])")
def copy_texts(texts, copy, offsets):
    """Write the texts one behind the other, text i to copy[offsets[i] : offsets[i + 1]]."""
    text, starts, lengths = texts
    offset = 0
    for i in range(len(starts)):
        offsets[i] = offset
        for j in range(lengths[i]):
            copy[offset + j] = text[starts[i] + j]
        offset += lengths[i]
    offsets[len(starts)] = offset


@kernel("int64(Texts)")
def find_no_field(texts):
    """The first text that is not a field of a line: empty, or with a blank or NUL; or -1."""
    text, starts, lengths = texts
    for i in range(len(starts)):
        if lengths[i] == 0:
            return i
        for j in range(starts[i], starts[i] + lengths[i]):
            if text[j] == 0 or is_blank(text[j]):
                return i
    return np.int64(-1)
