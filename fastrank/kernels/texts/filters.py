"""Which rows of a run or of judgments to keep, and the columns of those that are kept."""

from __future__ import annotations

from fastrank.kernels.texts.text import are_equal, find_text, slot_of_text, table_mask
from fastrank.native.declare import kernel


@kernel("int64(Run, Texts, int64, TextsByQuery, int64[::1], uint8[::1])")
def drop_excluded(run, queries, drop_identical, excluded, table, dropped):
    """Mark in `dropped` the documents that are excluded for their query; return how many.

    `drop_identical` also marks a document whose id is the query's. `table` is scratch.
    """
    docs, offsets, _ = run
    ids, ends = excluded
    found = 0
    for q in range(len(offsets) - 1):
        first, count = ends[q], ends[q + 1] - ends[q]
        mask = table_mask(count)
        if count:
            table[: mask + 1] = 0
        for i in range(first, first + count):
            slot = slot_of_text(ids, i, mask)
            while table[slot] != 0:
                slot = (slot + 1) & mask
            table[slot] = i + 1
        for row in range(offsets[q], offsets[q + 1]):
            drop = drop_identical != 0 and are_equal(docs, row, queries, q)
            if count and not drop:
                slot = slot_of_text(docs, row, mask)
                while table[slot] != 0 and not drop:
                    drop = are_equal(docs, row, ids, table[slot] - 1)
                    slot = (slot + 1) & mask
            if drop:
                dropped[row] = 1
                found += 1
    return found


@kernel("int64(Run, int64, int64[::1], uint8[::1])")
def drop_repeats(run, by_score, table, dropped):
    """Mark in `dropped` all but one of the lines of a document in a ranking; return how many.

    The first line is kept or, `by_score`, the first of those with the highest score; NaN is below
    every score. `table` is scratch.
    """
    docs, offsets, scores = run
    found = 0
    for q in range(len(offsets) - 1):
        first, stop = offsets[q], offsets[q + 1]
        mask = table_mask(stop - first)
        table[: mask + 1] = 0
        for row in range(first, stop):
            slot = slot_of_text(docs, row, mask)
            while table[slot] != 0:
                if are_equal(docs, row, docs, first + table[slot] - 1):
                    break
                slot = (slot + 1) & mask
            if table[slot] == 0:
                table[slot] = row - first + 1
                continue
            other = first + table[slot] - 1
            better = scores[row] > scores[other] or (
                scores[other] != scores[other] and scores[row] == scores[row]
            )
            found += 1
            if by_score and better:
                dropped[other] = 1
                table[slot] = row - first + 1
            else:
                dropped[row] = 1
    return found


@kernel("void(uint8[::1], int64[::1], int64[::1], int64[::1])")
def kept_rows(dropped, offsets, order, kept_offsets):
    """order = the rows that are not dropped, kept_offsets[q] : kept_offsets[q + 1] those of q."""
    kept = 0
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            if not dropped[row]:
                order[kept] = row
                kept += 1
        kept_offsets[q + 1] = kept


@kernel("int64(int64[::1], int64[::1], int64, int64[::1])")
def with_relevant(offsets, grades, level, queries):
    """The queries that have a grade >= 0 of at least `level`; returns how many they are."""
    found = 0
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            if grades[row] >= level and grades[row] >= 0:
                queries[found] = q
                found += 1
                break
    return found


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
def known_rows(known, run, rankings, order, known_offsets):
    """order = the rows of the rankings whose documents are among the known ones.

    Those of rankings[i] are known_offsets[i] : known_offsets[i + 1]; the table is that of
    `intern_texts`.
    """
    (text, starts, lengths), offsets, _ = run
    kept = 0
    for i in range(len(rankings)):
        for row in range(offsets[rankings[i]], offsets[rankings[i] + 1]):
            if find_text(text, starts[row], lengths[row], known) >= 0:
                order[kept] = row
                kept += 1
        known_offsets[i + 1] = kept
